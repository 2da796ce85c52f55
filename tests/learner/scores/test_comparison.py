"""Metrics of cross-validated predictions: scikit-learn's values, intervals that hold, and paired differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, balanced_accuracy_score, f1_score, roc_auc_score

from classay import InputError
from classay.auc import auc
from classay.learner.records.base import OutOfFold
from classay.learner.scores.comparison import (
    check_metric,
    difference_over_rows,
    mean_over_rows,
    metric_for,
    nearly_constant,
    ranks_by_row,
    scored,
)


def held(probability, y=None):
    rows = np.arange(probability.size)
    table = np.column_stack([1 - probability, probability])
    truth = world(0)[0] if y is None else y
    return OutOfFold((probability > 0.5).astype(np.int64), truth, np.arange(2), rows, table, table)


def world(seed, n=300, share=0.3, shift=1.2):
    """Labels, and two probabilities that know something of them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int64)
    shared = rng.normal(size=n)
    scores = [1 / (1 + np.exp(-(shift * y + 0.7 * shared + 0.7 * rng.normal(size=n)))) for _ in range(2)]
    return y, *scores


def test_values_are_those_of_scikit_learn():
    y, one, _ = world(0)
    names = {"roc_auc": roc_auc_score, "balanced_accuracy": balanced_accuracy_score, "f1": f1_score}
    for name, function in names.items():
        answers = one if name == "roc_auc" else one > 0.5
        assert scored(name, "one", held(one)).estimate.value == pytest.approx(function(y, answers))
    assert ranks_by_row(held(one)).mean() == pytest.approx(roc_auc_score(y, one))
    # Average precision of few positive rows is too high, and corrected for that.
    assert 0 < average_precision_score(y, one) - scored("average_precision", "one", held(one)).estimate.value < 0.01


def test_blocks_and_placements_give_the_same_interval():
    y, one, other = world(0)
    blocks = [scored("roc_auc", "", held(each)) for each in (one, other)]
    rows = [auc(each, y == 1).by_row for each in (one, other)]
    by_rows = mean_over_rows(rows[0], 0.95)
    assert blocks[0].estimate.low == pytest.approx(by_rows.low, abs=0.012)
    paired = difference_over_rows(*rows, 0.95)
    assert blocks[0].ahead_of(blocks[1]).high == pytest.approx(paired.high, abs=0.012)
    # Paired, as both have half of their noise in common.
    alone = by_rows.high - by_rows.low
    assert paired.high - paired.low < 1.2 * alone
    # Models that never differ on these rows may on others.
    assert blocks[0].ahead_of(blocks[0]).low < 0 < blocks[0].ahead_of(blocks[0]).high


def test_auc_and_difference_are_covered_over_worlds():
    y, one, other = world(0, 40_000)
    truth = roc_auc_score(y, one)
    inside = level = 0
    for seed in range(1, 201):
        y, one, other = world(seed)
        rows = [auc(each, y == 1).by_row for each in (one, other)]
        estimate, paired = mean_over_rows(rows[0], 0.95), difference_over_rows(*rows, 0.95)
        inside += estimate.low <= truth <= estimate.high
        level += paired.low <= 0 <= paired.high
    least = stats.binom.ppf(0.001, 200, 0.95)
    assert inside >= least
    assert level >= least


def test_a_metric_that_is_none_is_refused_before_any_fit():
    with pytest.raises(InputError, match=r"expected a scorer of scikit-learn.*Did you mean roc_auc"):
        check_metric("roc_auk")
    with pytest.raises(InputError, match="expected a scorer"):
        check_metric("r2")
    assert check_metric("f1", 5) == "f1"


def test_ranking_is_the_metric_where_nearly_all_predictions_are_equal():
    rare = held(np.full(300, 0.1))
    assert nearly_constant(rare.labels)
    assert metric_for(None, {"rare": rare}) == "roc_auc"
    assert metric_for("f1", {"rare": rare}) == "f1"
    assert metric_for(None, {"one": held(world(0)[1])}) == "accuracy"


def test_a_metric_without_what_it_needs_is_not_made_up():
    labels_only = replace(held(world(0)[1]), scores=None, probabilities=None)
    assert scored("neg_log_loss", "", labels_only) is None
    assert ranks_by_row(labels_only) is None
