"""The AUC and its interval: by hand, against scikit-learn, and near 1 with few rows of one kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, roc_auc_score

from classay.auc import auc, average_precision, of_auc, of_auc_difference


def test_it_is_scikit_learns_with_ties():
    rng = np.random.default_rng(0)
    positive = rng.random(300) < 0.2
    scores = np.round(rng.normal(size=300) + positive, 1)
    area = auc(scores, positive)
    assert area.value == pytest.approx(roc_auc_score(positive, scores))
    assert area.parts.sum() == pytest.approx(0, abs=1e-12)


def test_the_variance_is_delongs_with_one_less_in_each_kind():
    scores, positive = np.array([0.0, 1, 2, 3, 4, 1.5, 2.5, 3.5, 5]), np.arange(9) >= 5
    beats = scores[positive][:, None] > scores[~positive]
    variance = beats.mean(axis=1).var(ddof=1) / 4 + beats.mean(axis=0).var(ddof=1) / 5
    estimate = of_auc(auc(scores, positive))
    value = beats.mean()
    reach = np.log(estimate.high / (1 - estimate.high)) - np.log(value / (1 - value))
    error = reach / stats.t.ppf(0.975, 3) * value * (1 - value)
    assert error**2 == pytest.approx(variance, rel=0.02)
    assert error**2 > variance


def test_copies_of_rows_in_groups_add_no_certainty():
    rng = np.random.default_rng(1)
    positive = np.arange(60) < 20
    scores = rng.normal(size=60) + positive
    alone = of_auc(auc(scores, positive))
    copied = of_auc(auc(np.repeat(scores, 5), np.repeat(positive, 5)), np.repeat(np.arange(60), 5))
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high), abs=0.01)


@pytest.mark.parametrize(("rows", "errors"), [(150, 4), (150, 10), (80, 25)])
def test_intervals_hold_where_it_is_high(rows, errors):
    """Scores of errors have a heavy tail: other worlds than those on which the interval was chosen."""
    rng, held, paired = np.random.default_rng(4), 0, 0
    positive = np.arange(rows) < errors
    many = rng.standard_t(4, (2, 300_000))
    truth = float((many[0] + 2.5 > many[1]).mean())
    for _ in range(250):
        one, other = (rng.standard_t(4, rows) + 2.5 * positive for _ in range(2))
        estimate = of_auc(auc(one, positive))
        held += estimate.low <= truth <= estimate.high
        gap = of_auc_difference(auc(one, positive), auc(other, positive))
        paired += gap.low <= 0 <= gap.high
    assert held >= 0.91 * 250
    assert paired >= 0.91 * 250


def test_average_precision_without_each_row():
    rng = np.random.default_rng(0)
    positive = rng.random(60) < 0.3
    scores = np.round(rng.normal(size=60) + positive, 1)  # with ties
    value, by_row = average_precision(scores, positive)
    without = [average_precision_score(np.delete(positive, row), np.delete(scores, row)) for row in range(60)]
    assert value == pytest.approx(average_precision_score(positive, scores))
    np.testing.assert_allclose(by_row - by_row.mean(), 59 * (np.mean(without) - without))


def test_average_precision_of_few_rows_is_not_too_high():
    values = []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        positive = rng.random(300) < 0.05
        value, by_row = average_precision(rng.normal(size=300) + positive, positive)
        values.append((value, by_row.mean()))
    of_many = 0.173  # 5 % positive rows, normal scores one standard deviation apart
    plain, corrected = np.mean(values, axis=0) - of_many
    assert plain > 0.025
    assert abs(corrected) < 0.015
