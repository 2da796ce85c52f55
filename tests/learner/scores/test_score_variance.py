"""Where the variance of scores comes from: closed forms, invariances, quick coverage, what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.tree import DecisionTreeClassifier

from classay import InputError, Labelings, Subsets, record
from classay.learner.scores.refit_pairs import pair_tables, unequal
from classay.learner.scores.score_variance import score_variance


def two_way(subsets, refits, n, sample, chance, seed=0, middle=0.5):
    """Scores with known variance components, the same at every point."""
    rng = np.random.default_rng(seed)
    p = middle + sample * rng.normal(size=(subsets, 1, n)) + chance * rng.normal(size=(subsets, refits, n))
    return Labelings.from_arrays((p > 0.5).astype(int), np.arange(n) % 2, scores=p.clip(0.001, 0.999))


def test_components_by_hand():
    p = np.array([[[0.2], [0.4]], [[0.5], [0.7]], [[0.3], [0.3]]])
    v = score_variance(Labelings.from_arrays((p > 0.5).astype(int).repeat(2, 2), [0, 1], scores=p.repeat(2, 2)))
    within = np.mean([0.02, 0.02, 0.0])
    over = np.var([0.3, 0.6, 0.3], ddof=1)
    assert v.from_randomness.value == pytest.approx(within, rel=1e-5)
    assert v.raw_from_sample == pytest.approx(over - within / 2, rel=1e-5)
    assert v.total.value == pytest.approx(over + within / 2, rel=1e-5)
    assert v.share_sample.value == pytest.approx((over - within / 2) / (over + within / 2), rel=1e-5)
    assert v.share_sample.value + v.share_randomness.value == pytest.approx(1)
    np.testing.assert_allclose(v.per_point["total"], v.total.value, rtol=1e-5)
    np.testing.assert_allclose(v.per_point["score"], 0.4, rtol=1e-6)


@pytest.mark.parametrize(("sample", "chance"), [(0.06, 0.06), (0.09, 0.03), (0.0, 0.08)])
def test_components_are_unbiased(sample, chance):
    figures = [
        (v.raw_from_sample, v.from_randomness.value)
        for v in (score_variance(two_way(6, 2, 40, sample, chance, seed)) for seed in range(60))
    ]
    raw, within = np.mean(figures, axis=0)
    assert raw == pytest.approx(sample**2, abs=3e-4)
    assert within == pytest.approx(chance**2, rel=0.05)


def test_a_negative_estimate_is_shown_as_none_and_kept():
    found = [score_variance(two_way(4, 2, 3, 0.0, 0.1, seed)) for seed in range(20)]
    negative = [v for v in found if v.raw_from_sample < 0]
    assert negative
    for v in negative:
        assert v.from_sample.value == 0
        assert v.share_sample.value == 0


def test_logits_of_scores():
    rng = np.random.default_rng(0)
    z = -3 + 0.5 * rng.normal(size=(40, 1, 200)) + 0.5 * rng.normal(size=(40, 3, 200))
    p = 1 / (1 + np.exp(-z))
    v = score_variance(Labelings.from_arrays((p > 0.5).astype(int), [0, 1] * 100, scores=p), scale="logit")
    assert v.share_sample.value == pytest.approx(0.5, abs=0.03)
    assert v.total.value == pytest.approx(0.5, rel=0.05)
    assert v.clip == 0


def test_logits_are_cut_at_the_resolution_of_a_forest():
    X, y = make_classification(300, random_state=0)
    labelings = record(RandomForestClassifier(10), X, y, Subsets(5, 0.5), repeats=2, executor=1)
    assert score_variance(labelings, scale="logit").clip == pytest.approx(1 / 20)
    tree = record(DecisionTreeClassifier(), X, y, Subsets(5, 0.5), repeats=2, executor=1)
    with pytest.raises(InputError, match="All probabilities are 0 or 1"):
        score_variance(tree, scale="logit")


def test_two_columns_or_one_and_the_order_of_refits_make_no_difference():
    one = two_way(8, 3, 30, 0.05, 0.05)
    empty = 0 * one.scores.values[..., :1]
    scores = np.concatenate([one.scores.values, empty], axis=-1)
    three = Labelings.from_arrays(one.labels, one.truth, classes=[0, 1, 2], scores=scores)
    assert score_variance(three).total.value == pytest.approx(score_variance(one).total.value, rel=1e-6)
    shuffled = Labelings.from_arrays(one.labels[::-1, ::-1], one.truth, scores=one.scores.values[::-1, ::-1])
    assert score_variance(shuffled).share_sample.value == pytest.approx(score_variance(one).share_sample.value)


def test_a_deterministic_learner_varies_by_the_sample_alone():
    X, y = load_iris(return_X_y=True)
    v = score_variance(record(LogisticRegression(), X, y, Subsets(6, 0.5), executor=1))
    assert (v.share_sample.value, v.share_randomness.value, v.from_randomness.value) == (1, 0, 0)
    assert v.moved(same_sample=True).value == 0


def test_one_refit_cannot_separate_the_sources():
    v = score_variance(two_way(6, 1, 40, 0.05, 0.05))
    assert math.isnan(v.share_sample.value)
    assert "cannot be separated" in str(v)
    assert v.total.value == pytest.approx(0.005, rel=0.3)


def test_decision_values_and_records_without_scores_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="needs probabilities, and the learner gives decision values"):
        score_variance(record(RidgeClassifier(), X, y, Subsets(5), executor=1))
    with pytest.raises(InputError, match="has no scores"):
        score_variance(Labelings.from_arrays(np.zeros((5, 2, 4), int), [0, 1, 0, 1]))
    with pytest.raises(InputError, match="`scale` is 'odds'"):
        score_variance(two_way(4, 2, 5, 0.1, 0.1), scale="odds")
    with pytest.raises(InputError, match="at least 3"):
        score_variance(two_way(2, 2, 5, 0.1, 0.1))


# What moves


def test_moved_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    p = rng.random((5, 1, 30))
    v = score_variance(Labelings.from_arrays((p > 0.5).astype(int), [0, 1] * 15, scores=p))
    pairs = list(itertools.combinations(range(5), 2))
    stored = p.astype(np.float32).astype(float)
    expected = np.mean([np.abs(stored[a, 0] - stored[b, 0]) > 0.1 for a, b in pairs])
    assert v.moved(0.1).value == pytest.approx(expected)
    flips = np.mean([(stored[a, 0] >= 0.3) != (stored[b, 0] >= 0.3) for a, b in pairs])
    assert v.flips(0.3).value == pytest.approx(flips)


def test_moved_has_its_closed_form():
    # Differences of two refits are normal with variance 2·(0.05² + 0.05²).
    from scipy import stats

    v = score_variance(two_way(40, 2, 400, 0.05, 0.05))
    expected = 2 * stats.norm.sf(0.1 / 0.1)
    assert v.moved(0.1).value == pytest.approx(expected, abs=0.01)
    assert v.moved(0.1).low < expected < v.moved(0.1).high
    seed_alone = 2 * stats.norm.sf(0.1 / math.sqrt(2 * 0.05**2))
    assert v.moved(0.1, same_sample=True).value == pytest.approx(seed_alone, abs=0.01)


def test_pairs_of_halves_and_of_refits():
    labels = np.random.default_rng(0).integers(2, size=(4, 3, 20))
    tables = pair_tables(labels, unequal, paired=True)
    expected = np.mean([labels[0, r] != labels[1, s] for r in range(3) for s in range(3)], axis=0)
    np.testing.assert_allclose(tables.table[0], expected)
    inside = np.mean([labels[2, r] != labels[2, s] for r, s in itertools.combinations(range(3), 2)], axis=0)
    np.testing.assert_allclose(tables.within[2], inside)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 0.5, "cost": (1, 1)}, "both given"),
        ({"threshold": 2}, "between 0 and 1"),
        ({"cost": "high"}, "`cost` is 'high'"),
    ],
)
def test_flips_that_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        score_variance(two_way(4, 2, 10, 0.1, 0.1)).flips(**options)
