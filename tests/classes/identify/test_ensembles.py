"""Identification with an encoder of the user, with rows that belong together, and by the number of responses."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import classay
from classay.classes.identify.ensembles import saturation
from classay.classes.identify.responses import dependent_splits, trials_of
from classay.expect import InputError


def data(n=120, p=5, q=12, noise=2.0, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p))
    return x, x @ rng.normal(size=(p, q)) + noise * rng.normal(size=(n, q))


def test_a_regressor_of_the_user_does_as_well_as_ridge():
    x, y = data()
    own, ours = classay.identify(x, y, model=Ridge(1.0)), classay.identify(x, y)
    assert own.model == "Ridge"
    assert "Ridge on 5 columns" in str(own)
    assert abs(own.accuracy.value - ours.accuracy.value) < 0.1


def test_a_regressor_finds_what_is_not_linear():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(200, 1))
    y = np.cos(4 * x) + 0.02 * rng.normal(size=(200, 1))
    linear, local = (classay.identify(x, y, model=model) for model in ("ridge", KNeighborsRegressor(3)))
    assert local.curve.at(2).value > linear.curve.at(2).value + 0.1


def test_groups_stay_together():
    trials = trials_of(*data())
    groups = np.arange(120) // 8
    parts = dependent_splits(trials, 4, groups, False, seed=0)
    held = [set(groups[part].tolist()) for _, part in parts]
    assert all(not one & two for place, one in enumerate(held) for two in held[place + 1 :])
    assert set().union(*held) == set(range(15))
    assert len({candidates.size for candidates, _ in parts}) == 1
    assert all(np.isin(candidates, part).all() for candidates, part in parts)


def test_blocks_are_neighbours():
    parts = dependent_splits(trials_of(*data()), 5, None, True, seed=0)
    assert [(part.min(), part.max()) for _, part in parts] == [(0, 23), (24, 47), (48, 71), (72, 95), (96, 119)]


def test_drifting_noise_is_no_information_across_blocks():
    rng = np.random.default_rng(1)
    # Stimuli and responses both drift, and have nothing else in common.
    x, y = (np.cumsum(rng.normal(size=(300, 4)), axis=0) for _ in range(2))
    random, blocked = classay.identify(x, y), classay.identify(x, y, blocked=True)
    assert random.curve.at(2).value > 0.8
    assert blocked.curve.at(2).value < random.curve.at(2).value - 0.1


def test_bits_grow_with_responses_and_beyond():
    x, y = data(q=16, noise=5.0)
    found = classay.identify(x, y, ensembles=[4, 8, 16], draws=3)
    assert found.sizes == (4, 8, 16)
    assert found.bits[0].value < found.bits[2].value < found.bits_with(32)
    assert found.accuracy[2].value == classay.identify(x, y).accuracy.value
    assert found.accuracy_with(16) == pytest.approx(found.accuracy[2].value, abs=0.1)
    assert found.accuracy_with(32, k=1000) < found.accuracy_with(32)
    assert "Extrapolated" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    again = classay.identify(x, y, ensembles=[4, 8, 16], draws=3)
    assert found.bits == again.bits


@pytest.mark.parametrize(("rate", "half"), [(0.5, 40.0), (2.0, 200.0)])
def test_saturation_is_found_again(rate, half):
    sizes = np.array([10.0, 20, 40, 80, 160])
    found = saturation(sizes, rate * sizes / (1 + sizes / half))
    assert found == pytest.approx((rate, half), rel=0.05)


def test_what_only_adds_up_does_not_saturate():
    rate, half = saturation(np.array([5.0, 10, 20]), np.array([1.0, 2.0, 4.0]))
    assert (rate, half) == (pytest.approx(0.2), math.inf)
    assert saturation(np.array([5.0, 10]), np.array([0.0, 0.0])) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": "rigde"}, "Did you mean ridge"),
        ({"model": Ridge}, "unfitted regressor"),
        ({"model": LogisticRegression()}, "a classifier"),
        ({"groups": np.arange(5)}, "one group for each"),
        ({"groups": np.zeros(120)}, "at least 5"),
        ({"groups": np.arange(120), "blocked": True}, "exclude each other"),
        ({"blocked": True, "test_size": 0.5}, "exclude each other"),
        ({"blocked": True, "folds": 100}, "Use fewer folds"),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(InputError, match=words):
        classay.identify(*data(), **options)


def test_more_bad_input():
    with pytest.raises(InputError, match="from 1 to 12"):
        classay.identify(*data(), ensembles=[13])
    with pytest.raises(InputError, match="could not be fitted"):
        classay.identify(*data(), model=KNeighborsRegressor(500))
