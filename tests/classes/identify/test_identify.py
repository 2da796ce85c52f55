"""The identification task: an encoding model, candidates it has not seen, and the information in responses."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import classay
from classay.classes.identify.identify import candidate_scores
from classay.classes.identify.responses import distinct_rows, neighbours_alike, shrink_covariance, splits, trials_of
from classay.classes.information.channel import mean_top


def channel(n, d, information, seed=0):
    """Stimuli x ~ N(0, I_d) and responses y = x + noise, with the given information in nats."""
    rng = np.random.default_rng(seed)
    stimuli = rng.normal(size=(n, d))
    # I = d/2 · log(1 + 1/s²)
    return stimuli, stimuli + rng.normal(size=(n, d)) / np.sqrt(np.expm1(2 * information / d))


def test_many_dimensions_follow_the_curve_of_their_information():
    for information in (2.0, 4.0):
        found = classay.identify(*channel(3000, 25, information), test_size=400)
        expected = mean_top(np.sqrt(2 * information), np.array([2, 10, 100, 400]))
        np.testing.assert_allclose(found.curve.accuracy[[1, 9, 99, 399]], expected, atol=0.06)
        assert found.information.nats["implied"].value == pytest.approx(information, rel=0.12)
        assert found.information.nats["bound"].low < information


def test_nothing_to_tell_is_chance_and_never_below():
    accuracies = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        found = classay.identify(rng.normal(size=(60, 5)), rng.normal(size=(60, 30)), random_state=seed)
        accuracies.append(found.curve.accuracy[1])
    assert np.mean(accuracies) == pytest.approx(0.5, abs=0.05)


def test_scores_are_mahalanobis_distances():
    rng = np.random.default_rng(0)
    residuals, seen, told = rng.normal(size=(30, 3)), rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    noise = shrink_covariance(residuals, np.ones(3), 0.3)
    covariance = residuals.T @ residuals / 30
    covariance = 0.7 * covariance + 0.3 * np.diag(np.diag(covariance))
    expected = [[-(y - x) @ np.linalg.inv(covariance) @ (y - x) for x in told] for y in seen]
    np.testing.assert_allclose(candidate_scores(noise, seen, told), expected, rtol=1e-10)


def test_candidates_with_the_same_prediction_tie_exactly():
    rng = np.random.default_rng(0)
    noise = shrink_covariance(rng.normal(size=(30, 7)), np.ones(7), 0.3)
    told = np.repeat(rng.normal(size=(3, 7)), 11, axis=0)
    scores = candidate_scores(noise, rng.normal(size=(9, 7)), told)
    assert all(np.unique(row).size == 3 for row in scores)


@pytest.mark.parametrize("q", [4, 90])
def test_units_of_responses_make_no_difference(q):
    rng = np.random.default_rng(1)
    stimuli = rng.normal(size=(60, 4))
    responses = stimuli @ rng.normal(size=(4, q)) + rng.normal(size=(60, q))
    plain = classay.identify(stimuli, responses)
    units = 10.0 ** rng.integers(-6, 6, q)
    other = classay.identify(stimuli * [1, 2, 4, 8], responses * units + units)
    np.testing.assert_array_equal(other.curve.ranks.lower, plain.curve.ranks.lower)
    np.testing.assert_allclose(other.per_response, plain.per_response, rtol=1e-6)
    assert other.shrinkage == plain.shrinkage


def test_more_responses_than_rows():
    rng = np.random.default_rng(2)
    stimuli = rng.normal(size=(50, 3))
    noise = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 300))
    found = classay.identify(stimuli, stimuli @ rng.normal(size=(3, 300)) + noise + rng.normal(size=(50, 300)))
    assert found.accuracy.value > 0.5
    assert found.per_response.shape == (300,)
    assert all(0 < amount <= 1 for amount in found.shrinkage)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    stimuli, responses = channel(60, 5, 1.0)
    first, again, other = (classay.identify(stimuli, responses, random_state=seed) for seed in (3, 3, 4))
    assert json.dumps(first.to_dict()) == json.dumps(again.to_dict())
    assert not np.array_equal(first.curve.ranks.lower, other.curve.ranks.lower)


def test_repeats_are_one_candidate_and_stay_together():
    rng = np.random.default_rng(0)
    stimuli = rng.normal(size=(40, 3))
    shown = rng.permutation(np.repeat(np.arange(40), 3))
    found = classay.identify(stimuli[shown], stimuli[shown] + 0.3 * rng.normal(size=(120, 3)))
    assert found.n_candidates == 8
    assert found.curve.ranks.truth.size == 120
    assert not found.curve.ranks.tied.any()
    assert "120 rows show 40 different stimuli" in " ".join(found.notes)


def test_splits_are_equal_and_apart():
    trials = trials_of(np.arange(23.0), np.arange(23.0))
    parts = [part for part, _ in splits(trials, None, 5, None, False, 0)]
    assert [part.size for part in parts] == [4] * 5
    assert np.unique(np.concatenate(parts)).size == 20
    assert splits(trials, 0.4, 5, None, False, 0)[0][0].size == 9
    assert splits(trials, 7, 5, None, False, 0)[0][0].size == 7


def test_alike_takes_both_zeros_for_one():
    assert distinct_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 2.0]]))[0].tolist() == [0, 0, 1]


def test_the_model_never_sees_a_candidate():
    # Every stimulus has a column of its own, so that nothing but having seen it could tell it from others.
    rng = np.random.default_rng(0)
    found = classay.identify(np.eye(60), rng.normal(size=(60, 4)))
    assert found.curve.accuracy[1] == pytest.approx(0.5, abs=0.1)


def test_one_column_tables_and_frames():
    stimuli, responses = channel(40, 1, 1.5)
    flat = classay.identify(stimuli[:, 0], responses[:, 0])
    framed = classay.identify(pd.DataFrame({"a": stimuli[:, 0]}), pd.Series(responses[:, 0]))
    assert flat.to_dict() == framed.to_dict() == classay.identify(stimuli, responses).to_dict()


def test_what_is_left_over_and_what_is_constant_is_said():
    stimuli, responses = channel(23, 2, 2.0)
    found = classay.identify(stimuli, np.column_stack([responses, np.full(23, 3.0)]))
    assert "3 stimuli left over" in " ".join(found.notes)
    assert "1 of 3 responses are constant" in " ".join(found.notes)
    assert np.isnan(found.per_response[2])
    assert found.to_dict()["per_response"][2] is None


def test_numbers_far_from_one_are_no_trouble():
    stimuli, responses = channel(40, 3, 2.0)
    far = classay.identify(stimuli * [1e200, 1e-200, 1], responses * [1e-290, 1e290, 1])
    np.testing.assert_allclose(far.per_response, classay.identify(stimuli, responses).per_response, rtol=1e-9)


@pytest.mark.parametrize(("rows", "folds"), [(4, 2), (20, 10), (5, 2)])
def test_the_fewest_that_are_taken(rows, folds):
    rng = np.random.default_rng(0)
    found = classay.identify(rng.normal(size=rows), rng.normal(size=(rows, 2)), folds=folds)
    assert found.n_candidates == 2
    assert 0 <= found.accuracy.low <= found.accuracy.value <= found.accuracy.high <= 1


def test_a_response_that_varies_in_one_fold_only():
    rng = np.random.default_rng(0)
    responses = np.zeros((30, 1))
    responses[0] = 1
    found = classay.identify(rng.normal(size=30), responses)
    assert found.accuracy.value == pytest.approx(1 / 6, abs=0.05)


def test_exact_responses_are_told_apart():
    stimuli = np.random.default_rng(0).normal(size=(50, 3))
    assert classay.identify(stimuli, stimuli @ np.ones((3, 2)) + [0, 1]).accuracy.value > 0.9


X, Y = np.random.default_rng(0).normal(size=(20, 2)), np.random.default_rng(1).normal(size=(20, 2))


def holed(table, value):
    other = table.copy()
    other[3, 1] = value
    return other


@pytest.mark.parametrize(
    ("stimuli", "responses", "options", "message"),
    [
        (X, Y[:19], {}, "20 rows but `responses` has 19"),
        (X[:1], Y[:1], {}, "There is 1 row"),
        (holed(X, np.nan), Y, {}, r"`stimuli` is NaN \(missing\) in row 3, column 1"),
        (X, holed(Y, np.inf), {}, "`responses` is infinite in row 3, column 1"),
        (np.ones((20, 2)), Y, {}, "All 20 rows of `stimuli` are the same"),
        (X, np.ones((20, 2)), {}, "All 20 rows of `responses` are the same"),
        (X.reshape(5, 4, 2), Y, {}, r"shape \(5, 4, 2\).*Flatten each row"),
        (X[:, :0], Y, {}, r"shape \(20, 0\)"),
        (X + 1j, Y, {}, "they are complex"),
        ([["a", "b"]] * 20, Y, {}, "Encode text"),
        (pd.DataFrame({"a": ["x"] * 20}), Y, {}, "columns that are not numbers"),
        ([[1, 2], [3]], Y, {}, "not an array"),
        (X, Y, {"folds": 11}, "fewer folds, at most 10"),
        (X, Y, {"folds": 1}, "at least 2"),
        (X, Y, {"test_size": 19}, "19 of 20 different stimuli"),
        (X, Y, {"test_size": 0.01}, "0 of 20 different stimuli"),
        (X, Y, {"test_size": 1.5}, "between 0 and 1"),
        (X, Y, {"model": "rigde"}, "Did you mean ridge"),
        (X, Y, {"level": 95}, "`level` is 95"),
        (X, Y, {"random_state": -1}, "random_state"),
        (X, Y, {"model": Ridge}, "unfitted regressor"),
        (X, Y, {"model": LogisticRegression()}, "a classifier"),
        (X, Y, {"model": KNeighborsRegressor(500)}, "could not be fitted"),
        (X, Y, {"groups": np.arange(5)}, "one group for each"),
        (X, Y, {"groups": np.zeros(20)}, "at least 5"),
        (X, Y, {"groups": np.arange(20), "blocked": True}, "exclude each other"),
        (X, Y, {"blocked": True, "test_size": 0.5}, "exclude each other"),
        (X, Y, {"blocked": True, "folds": 15}, "Use fewer folds"),
    ],
)
def test_bad_input_gets_a_sentence(stimuli, responses, options, message):
    with pytest.raises(classay.InputError, match=message):
        classay.identify(stimuli, responses, **options)


# With an encoder of the user, and with rows that belong together


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
    parts = splits(trials, None, 4, groups, False, seed=0)
    held = [set(groups[part].tolist()) for _, part in parts]
    assert all(not one & two for place, one in enumerate(held) for two in held[place + 1 :])
    assert set().union(*held) == set(range(15))
    assert len({candidates.size for candidates, _ in parts}) == 1
    assert all(np.isin(candidates, part).all() for candidates, part in parts)


def test_blocks_are_neighbours():
    parts = splits(trials_of(*data()), None, 5, None, True, seed=0)
    assert [(part.min(), part.max()) for _, part in parts] == [(0, 23), (24, 47), (48, 71), (72, 95), (96, 119)]


def test_drifting_noise_is_no_information_across_blocks():
    rng = np.random.default_rng(1)
    # Stimuli and responses both drift, and have nothing else in common.
    x, y = (np.cumsum(rng.normal(size=(300, 4)), axis=0) for _ in range(2))
    random, blocked, auto = (classay.identify(x, y, blocked=chosen) for chosen in (False, True, "auto"))
    assert random.curve.at(2).value > 0.8
    assert blocked.curve.at(2).value < random.curve.at(2).value - 0.1
    assert np.array_equal(auto.curve.accuracy, blocked.curve.accuracy)
    assert auto.information.bound.low == blocked.information.bound.low == 0 < random.information.bound.low
    assert "Folds are blocks" in str(auto)
    assert "alike" not in str(random)
    assert "alike" in str(classay.identify(x, y, test_size=60))
    # One column of each drifts among many that do not.
    hidden = [np.column_stack([walk[:, 0], rng.normal(size=(300, 19))]) for walk in (x, y)]
    assert neighbours_alike(trials_of(*hidden))


def test_rows_in_no_order_keep_their_folds():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 3))
    assert not neighbours_alike(trials_of(x, x + y))
    assert not neighbours_alike(trials_of(np.cumsum(x, axis=0), y))
    # Three rows for each stimulus, one after the other, are no series.
    assert not neighbours_alike(trials_of(np.repeat(x, 3, axis=0), np.repeat(y, 3, axis=0)))
