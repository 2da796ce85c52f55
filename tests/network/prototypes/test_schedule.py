"""Which walks are made: all of them, or as many as were asked for; and with how many threads."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import Watched, mlp

from classay.network.prototypes.prototypes import prototypes
from classay.network.prototypes.schedule import plan
from classay.network.prototypes.split import split


@pytest.mark.parametrize(
    ("limit", "starts", "classes", "origins"),
    [
        (None, 5, 50, 49),
        (5000, 5, 50, 19),
        (500, 2, 50, 4),
        (100, 2, 12, 3),
        (60, 1, 15, 3),
        (20, 1, 5, 3),
        (1, 1, 2, 1),
    ],
)
def test_a_limit_takes_origins_first_then_starts_then_classes(limit, starts, classes, origins):
    chosen = plan(50, 100, 5, None, None, 0, limit)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (starts, classes, origins)
    assert chosen.walks <= max(limit or 12_500, 4)


def test_what_was_asked_for_is_not_taken_less_of():
    chosen = plan(50, 100, 3, 20, 5, 0, 1)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (1, 20, 5)
    few = plan(50, 100, 1, None, 5, 0, 6)  # 5 others there are not among 2 classes
    _, origin, target = few.cores(range(1))
    assert len(origin) == len(target) == few.walks - len(few.classes)


def test_a_number_of_walks_is_kept_and_said():
    whole = prototypes(mlp(classes=10), (6,), starts=5, sensitivity=False)
    some = prototypes(mlp(classes=10), (6,), starts=5, walks=120, sensitivity=False)
    assert len(whole) == 500
    assert len(some) <= 120
    assert len(np.unique(some.target)) == 10
    assert "At most 120 walks were asked for, so 120 of 500 were planned." in some.notes
    assert "2 of the 5 starts were walked." not in whole.notes


def test_threads_are_fixed_meanwhile_and_restored():
    seen, before = [], torch.get_num_threads()
    network = Watched(mlp())
    found = split(network, (6,))
    network.look = lambda x: seen.append(torch.get_num_threads())
    torch.set_num_threads(2)
    try:
        prototypes(found, starts=1, sensitivity=False)
        assert torch.get_num_threads() == 2
        assert sum(threads > 1 for threads in seen) <= 2  # the outputs that name the network for a store
    finally:
        torch.set_num_threads(before)
