"""One prediction per row: a metric with its interval, how well scores rank rows, and who is ahead on the same rows.

Any of scikit-learn's scorers can be the metric. The rows are dealt into blocks, and the metric is computed without each
block in turn (the delete-a-group jackknife). As all models have the same blocks, the difference between two of them has
an interval too. Accuracy cannot separate models where predictions are nearly constant, as of a rare class. Ranking can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...arrays import AnyInts, Floats, Ints
from ...auc import auc
from ...expect import InputError, nearest
from ...intervals import Estimate, of_mean, of_proportion_by_group, of_table
from ..records.base import OutOfFold
from .row_blocks import COUNT_LIMITS, block_of_rows, by_points, interval
from .scorers import RANKS, USUAL, Answers, Metric, metric_named, quiet, scorer_names

ACCURACY, RANKING = "accuracy", "roc_auc"
EVENTS = 20
"""Fewest rows of a class, or errors, from which anything is concluded."""
CONSTANT = 0.9
"""From this share of predictions of one class on, predictions are nearly constant, and show little of what it knows."""
FAR = 1e300
BLOCKS = 50
"""Most blocks of rows: the standard error is then known to within about 10 %."""
OF_MANY = {"f1": "f1_macro", "precision": "precision_macro", "recall": "recall_macro"}
"""What is meant with more than two classes."""


# Means over rows, and differences on the same rows


def mean_over_rows(
    values: NDArray[Any], level: float, groups: AnyInts | None = None, limits: tuple[float, float] = (-1.0, 1.0)
) -> Estimate:
    """The mean of a value per row, which is within limits; with groups, its interval is over groups."""
    units, kind = (values.size, "over rows") if groups is None else (np.unique(groups).size, "over groups")
    return of_table(values[None, :].astype(float), level, kind, groups, draws=units, limits=limits)


def difference_over_rows(
    one: NDArray[Any], other: NDArray[Any], level: float, groups: AnyInts | None = None
) -> Estimate:
    """The mean of one minus that of the other, such as how much more often one is right; with groups, over groups."""
    return mean_over_rows(one.astype(float) - other.astype(float), level, groups)


def accuracy_over_rows(held: OutOfFold, level: float = 0.95) -> Estimate:
    """The share of rows that are predicted correctly; of several runs, the mean over them."""
    if np.isin(held.correct, (0.0, 1.0)).all():
        return of_proportion_by_group(held.correct == 1, held.groups, level)
    return mean_over_rows(held.correct, level, held.groups, (0.0, 1.0))


def overconfidence(held: OutOfFold, level: float = 0.95) -> Estimate | None:
    """Mean confidence minus accuracy, over rows with a confidence; None without."""
    if held.confidence is None or (known := np.isfinite(held.confidence)).sum() < 2:
        return None
    groups = None if held.groups is None else held.groups[known]
    return mean_over_rows((held.confidence - held.correct)[known], level, groups)


# How well scores rank rows (AUC), row by row


def nearly_constant(labels: AnyInts) -> bool:
    """Whether nearly all predictions are of one class."""
    known = labels[labels >= 0]
    return bool(known.size and np.bincount(known).max() >= CONSTANT * known.size)


def ranks_by_row(held: OutOfFold) -> Floats | None:
    """A value of each row, of which the mean is the AUC of classes with enough rows, each against the others."""
    by_class = [ranks_of_class(held, code) for code in classes_with_rows(held.truth)]
    known = [placed for placed in by_class if placed is not None]
    if not known:
        return None
    # Of two classes, each ranks as the other does.
    return known[0] if held.truth.max() == 1 else np.mean(known, axis=0)


def ranks_of_class(held: OutOfFold, code: int) -> Floats | None:
    """The same of one class."""
    table = held.probabilities if held.probabilities is not None else held.scores
    positive = held.truth == code
    if table is None or min(positive.sum(), (~positive).sum()) < EVENTS:
        return None
    score = table[:, code]
    return None if np.isnan(score).any() else auc(score, positive).by_row


def classes_with_rows(codes: Ints) -> list[int]:
    return [int(code) for code in np.flatnonzero(np.bincount(codes) >= EVENTS)]


# Any metric


@dataclass(frozen=True, eq=False)
class Scored:
    """A metric of one model: its estimate, and the pseudo-values of the blocks, which all models share.

    `rows` is the number of rows of a fit.
    """

    learner: str
    metric: str
    estimate: Estimate
    blocks: Floats
    rows: int

    def ahead_of(self, other: Scored, level: float = 0.95) -> Estimate:
        """By how much it is better than another model, over the same blocks of rows."""
        most = _metric(self.metric).high - _metric(self.metric).low
        gap = of_mean(self.blocks - other.blocks, level, "paired, over blocks of rows", (-most, most))
        value = self.estimate.value - other.estimate.value
        shift = value - gap.value
        return Estimate(value, gap.low + shift, gap.high + shift, level, gap.kind)


def check_metric(name: str, classes: int = 2) -> str:
    """The name of a scorer of classifiers, before any fit."""
    if name not in scorer_names():
        raise InputError(
            f"`metric` is {name!r}; expected a scorer of scikit-learn, such as accuracy, roc_auc, average_precision, "
            f"neg_log_loss or f1.{nearest(str(name), scorer_names())}"
        )
    truth = np.repeat(np.arange(max(classes, 2)), 4)
    shares = np.full((truth.size, max(classes, 2)), 1 / max(classes, 2))
    try:
        _score(name, Answers(truth, np.roll(truth, 1), shares, True, max(classes, 2)))
    except Exception as error:  # a scorer may raise anything
        reason = str(error).strip().partition("\n")[0]
        raise InputError(f"`metric` is {name!r}, which cannot score {classes} classes: {reason}") from None
    return name


def metric_for(metric: str | None, held_out: Mapping[str, OutOfFold]) -> str:
    """The metric that was asked for; else accuracy, or the ranking by scores where nearly all predictions are equal."""
    if metric is not None:
        return metric
    models = held_out.values()
    constant = bool(models) and all(nearly_constant(held.labels) for held in models)
    ranked = all(held.probabilities is not None or held.scores is not None for held in models)
    return RANKING if constant and ranked and all(held.classes.size == 2 for held in models) else ACCURACY


def scored(metric: str, learner: str, held: OutOfFold, seed: int = 0) -> Scored | None:
    """The metric of a model; None if its predictions do not allow it, as without probabilities."""
    block = block_of_rows(held.truth, held.groups, BLOCKS, seed)
    number, size = int(block.max()) + 1, held.truth.size
    kind = "over rows" if held.groups is None else "over groups"
    answers = Answers(held.truth, held.labels, *_scores(held), held.classes.size)
    by_row = _by_row(metric, held, answers, kind)
    if by_row is not None:
        estimate, values = by_row
        pseudo = estimate.value + np.bincount(block, values - values.mean()) * number / size
    else:
        try:
            whole = _score(metric, answers)
            without = np.array([_score(metric, answers.take(np.flatnonzero(block != out))) for out in range(number)])
        except Exception:  # a scorer may raise anything, such as that there are no probabilities
            return None
        pseudo = number * whole - (number - 1) * without
        error, limits = float(pseudo.std(ddof=1)) / math.sqrt(number), (_metric(metric).low, _metric(metric).high)
        estimate = interval(whole, error, number, limits, 0.95, kind, number)
    if not (estimate.known and np.isfinite(pseudo).all()):
        return None
    return Scored(learner, metric, estimate, pseudo, held.fit_rows)


def _by_row(metric: str, held: OutOfFold, answers: Answers, kind: str) -> tuple[Estimate, Floats] | None:
    """A metric, and a value for every row of which it is the mean; None if there is no closed form of that."""
    name = metric.removesuffix("_corrcoef")
    if metric == ACCURACY:
        return accuracy_over_rows(held), held.correct
    needs_scores = USUAL.get(name) == RANKS and answers.scores is not None
    if held.labels.min() < 0 or not (name in COUNT_LIMITS or needs_scores):
        return None
    scores = None if answers.scores is None else answers.scores[None, None]
    figure = by_points(
        name, replace(answers, labels=answers.labels[None, None], scores=scores), held.groups, 0.95, kind
    )
    return figure.estimate, figure.table[0]


def rows_to_decide(lead: Estimate, rows: int, power: float = 0.8) -> float:
    """How many rows would show this difference with this probability, if it is the true one; infinite if it is 0.

    The standard error falls with the root of the number of rows.
    """
    error = (lead.high - lead.low) / 2 / stats.norm.ppf(0.5 + lead.level / 2)
    needed = stats.norm.ppf(0.5 + lead.level / 2) + stats.norm.ppf(power)
    return math.inf if lead.value == 0 else rows * (needed * error / abs(lead.value)) ** 2


def _scores(held: OutOfFold) -> tuple[Floats | None, bool]:
    """What a scorer gets, and whether these are probabilities."""
    if held.probabilities is not None:
        return held.probabilities, True
    # A score may be the log of a probability of 0.
    return (None, False) if held.scores is None else (np.nan_to_num(held.scores, posinf=FAR, neginf=-FAR), False)


def _metric(name: str, classes: int = 2) -> Metric:
    return metric_named(OF_MANY.get(name, name) if classes > 2 else name)


def _score(metric: str, answers: Answers) -> float:
    with quiet():
        return _metric(metric, answers.n_classes).compute(answers)
