import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError, seeds


def test_a_stream_depends_on_its_place_alone():
    alone = seeds.generator(7, "refit", 3, 1).random(4)
    for _ in range(3):
        seeds.generator(7, "refit", 0, 0).random(100)
    np.testing.assert_array_equal(seeds.generator(7, "refit", 3, 1).random(4), alone)


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["refit", "subset"]), st.integers(0, 50), st.integers(0, 50)),
        min_size=2,
        max_size=20,
        unique=True,
    )
)
def test_different_places_give_different_streams(places):
    first = {seeds.generator(*place).integers(2**62) for place in places}
    assert len(first) == len(places)


def test_a_known_stream_stays_as_it_is():
    # Records made by earlier versions must be made again bit for bit.
    assert seeds.integers(0, "refit", 2, 1, count=2) == [1026177559, 1703835787]


def test_integers_fit_in_31_bits():
    drawn = seeds.integers(1, "refit", 0, 0, count=2000)
    assert min(drawn) >= 0
    assert 2**30 < max(drawn) < 2**31


def test_settle():
    assert seeds.settle(5) == 5
    assert seeds.settle(np.int64(5)) == 5
    assert seeds.settle(None) != seeds.settle(None)
    assert seeds.settle(np.random.default_rng(3)) == seeds.settle(np.random.default_rng(3))
    assert seeds.settle(np.random.RandomState(3)) == seeds.settle(np.random.RandomState(3))


@pytest.mark.parametrize("wrong", [-1, "0", 1.5, True])
def test_settle_refuses(wrong):
    with pytest.raises(InputError, match="random_state"):
        seeds.settle(wrong)
