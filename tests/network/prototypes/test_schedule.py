"""A budget of time, on a clock that only the network moves."""

import importlib
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from small_networks import mlp
from torch import nn

import classay
from classay import InputError
from classay.network.prototypes.prototypes import prototypes
from classay.network.prototypes.schedule import Pilot, plan
from classay.network.split.split import split


class Clock:
    def __init__(self):
        self.now = 0.0

    def __deepcopy__(self, memo):
        return self


class Slow(nn.Module):
    """Every row takes so many seconds on the way through; `flat`: no input ever reaches the loss."""

    def __init__(self, seconds, clock, classes=5, flat=False):
        super().__init__()
        self.inner, self.seconds, self.clock, self.rows = mlp(classes=classes), seconds, clock, 0
        if flat:
            with torch.no_grad():
                self.inner[-1].weight.mul_(1e-4)

    def forward(self, x):
        self.clock.now += self.seconds * len(x)
        self.rows += len(x)
        return self.inner(x)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: made.now)
    return made


@pytest.mark.parametrize("sensitivity", [True, False])
@pytest.mark.parametrize("flat", [False, True], ids=["arriving", "never arriving"])
@pytest.mark.parametrize(
    ("seconds", "budget", "classes", "starts"),
    [(0.02, 60, 10, 5), (0.1, 60, 30, 2), (0.5, 300, 200, 5), (0.5, 100, 200, 5), (0.05, 20, 8, 1)],
)
def test_a_budget_is_kept_and_buys_something(clock, seconds, budget, classes, starts, flat, sensitivity):
    found = split(Slow(seconds, clock, classes, flat), (6,))
    began = clock.now
    record = prototypes(found, starts=starts, budget=budget, sensitivity=sensitivity)
    assert clock.now - began <= 1.15 * budget
    cores = record.origin >= 0
    assert len(np.unique(record.target[cores])) >= 2  # enough for every figure
    assert np.isfinite(classay.network_quality(record).within.value)


def test_a_budget_that_suffices_changes_nothing(clock):
    found = split(Slow(1e-5, clock), (6,))
    free, within = (prototypes(found, starts=1, max_steps=40, budget=budget) for budget in (None, 60))
    np.testing.assert_array_equal(free.features, within.features)
    assert (within.settings["step"], within.notes) == (free.settings["step"], free.notes)
    assert within.sensitivity == free.sensitivity != {}


def test_the_fresh_network_is_within_the_budget_too(clock):
    found = split(Slow(0.05, clock, classes=10), (6,))
    began = clock.now
    quality = classay.network_quality(found, budget=60, starts=5)
    assert clock.now - began <= 1.15 * 60
    assert "within" in quality.fresh


def test_what_the_budget_bought_is_said(clock):
    record = prototypes(Slow(0.5, clock, classes=200), (6,), starts=5, budget=300)
    words = str(record)
    assert "of the 200 classes" in words
    assert "of the 5 starts" in words
    assert record.settings["starts"] == len(record.starts) < 5
    flat = prototypes(Slow(0.5, clock, classes=200, flat=True), (6,), starts=5, budget=100)
    assert f"limited to {flat.settings['max_steps']} steps, not 300" in str(flat)
    assert (flat.steps <= flat.settings["max_steps"]).all()


def test_seeds_that_take_too_long_leave_time_for_cores(clock, monkeypatch):
    """A judgement that is far too hopeful: the classes reached in half of the time are gone on with."""
    hopeful = Pilot(step=0.3, max_steps=300, batch=4, affordable=1e9, until=0.85, pace=0.05)
    making = importlib.import_module("classay.network.prototypes.prototypes")
    monkeypatch.setattr(making, "run_pilot", lambda *arguments: hopeful)
    record = prototypes(Slow(0.05, clock, classes=60), (6,), starts=1, budget=60, sensitivity=False)
    seeds = record.target[record.origin < 0]
    assert 2 <= len(seeds) < 60
    assert set(record.target[record.origin >= 0]) <= set(seeds)
    assert set(record.origin[record.origin >= 0]) <= set(seeds)
    assert (record.origin >= 0).sum() > 0
    assert f"Time ran out after {len(record)} of 3600 walks" in str(record)


def test_a_budget_for_not_even_a_step_says_what_one_takes(clock):
    with pytest.raises(InputError, match=r"No walk was finished in 1 s: one step of one input takes 5 s"):
        prototypes(Slow(5.0, clock), (6,), budget=1)


def test_the_same_call_goes_on_with_the_same_walks(clock, tmp_path):
    """What a budget buys depends on the time that things take; a call made again keeps to what was found first."""
    options = {"starts": 1, "budget": 60, "sensitivity": False, "store": tmp_path}
    network = Slow(0.02, clock, classes=10)
    found = split(network, (6,))
    first = prototypes(found, **options)
    network.seconds, network.rows = 0.2, 0
    again = prototypes(found, **options)
    np.testing.assert_array_equal(first.features, again.features)
    np.testing.assert_array_equal(first.origin, again.origin)
    assert network.rows <= 600  # probes only


@pytest.mark.parametrize(
    ("affordable", "starts", "classes", "origins"),
    [
        (1e9, 5, 50, 49),
        (5000, 5, 50, 19),
        (500, 2, 50, 4),
        (100, 2, 12, 3),
        (60, 1, 15, 3),
        (20, 1, 5, 3),
        (1, 1, 2, 1),
    ],
)
def test_a_budget_takes_origins_first_then_starts_then_classes(affordable, starts, classes, origins):
    chosen = plan(50, 100, 5, None, None, affordable, 0)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (starts, classes, origins)
    assert chosen.walks <= max(affordable, 4)


def test_what_was_asked_for_is_not_taken_less_of():
    chosen = plan(50, 100, 3, 20, 5, 1, 0)
    assert (chosen.starts, len(chosen.classes), chosen.origins) == (1, 20, 5)
    few = plan(50, 100, 1, None, 5, 6, 0)  # 5 others there are not among 2 classes
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
    with pytest.raises(InputError, match="`walks` is 2; expected"):
        prototypes(mlp(), (6,), walks=2)


def test_without_a_budget_the_load_changes_nothing(clock):
    """A slow machine and a quick one make the same walks."""
    slow, quick = (prototypes(Slow(pace, clock), (6,), starts=2, walks=40) for pace in (50.0, 1e-6))
    np.testing.assert_array_equal(slow.features, quick.features)
    assert slow.probes == quick.probes
    assert slow.notes == quick.notes


def test_a_budget_says_what_it_left_out(clock):
    record = prototypes(Slow(0.5, clock, classes=20), (6,), starts=2, budget=100, sensitivity=False)
    note = next(each for each in record.notes if each.code == "budget-short")
    assert note.numbers["missing"] == 2 * 20 * 20 - len(record)
    assert "depends on the load" in note


def test_threads_are_fixed_meanwhile_and_restored():
    seen, before = [], torch.get_num_threads()

    class Watching(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = mlp()

        def forward(self, x):
            seen.append(torch.get_num_threads())
            return self.inner(x)

    torch.set_num_threads(2)
    try:
        found = split(Watching(), (6,))
        seen.clear()
        prototypes(found, starts=1, sensitivity=False)
        assert torch.get_num_threads() == 2
        assert sum(each > 1 for each in seen) <= 2  # the comparison of outputs that names the network for a store
    finally:
        torch.set_num_threads(before)
    with pytest.raises(InputError, match="`threads` is 0"):
        prototypes(mlp(), (6,), threads=0)
