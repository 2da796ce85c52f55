"""A figure of merit of cross-validated predictions: any of scikit-learn's scorers by name, with its interval over rows.

The rows are dealt into blocks, and the metric is computed without each block in turn (the delete-a-group jackknife). As
all learners have the same blocks, the difference between two of them has an interval too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from .. import seeds
from ..arrays import Floats, Ints
from ..expect import InputError, nearest
from ..intervals import Estimate, of_mean, of_proportion_by_group, within_limits
from ..learner.scores.scorers import Answers, metric_named, quiet, scorer_names
from .run.folds import HeldOut
from .score_ranks import nearly_constant, ranks_by_row

if TYPE_CHECKING:
    from .results import DataResults

ACCURACY, RANKING = "accuracy", "roc_auc"
FAR = 1e300
BLOCKS = 50
"""Most blocks of rows: the standard error is then known to within about 10 %."""
OF_MANY = {"f1": "f1_macro", "precision": "precision_macro", "recall": "recall_macro"}
"""What is meant with more than two classes."""
SHARES = {"accuracy", "balanced_accuracy", "average_precision", "f1", "precision", "recall", "jaccard", "roc_auc"}
"""Metrics between 0 and 1."""


@dataclass(frozen=True, eq=False)
class Scored:
    """A metric of one learner: its estimate, and the pseudo-values of the blocks, which all learners share."""

    learner: str
    metric: str
    estimate: Estimate
    blocks: Floats
    rows: int

    def ahead_of(self, other: Scored, level: float = 0.95) -> Estimate:
        """By how much it is better than another learner, over the same blocks of rows."""
        found = of_mean(self.blocks - other.blocks, level, "paired, over blocks of rows")
        value = self.estimate.value - other.estimate.value
        shift = value - found.value
        return Estimate(value, found.low + shift, found.high + shift, level, found.kind)


def is_metric(name: str) -> bool:
    """Whether a scorer of classifiers has this name."""
    return name in scorer_names()


def check_metric(name: str, classes: int = 2) -> str:
    """The name of a scorer of classifiers, before any fit.

    >>> check_metric("roc_auc", 3)
    'roc_auc'
    """
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


def metric_for(metric: str | None, held_out: dict[str, HeldOut], data: DataResults) -> str:
    """The metric that was asked for; else accuracy, or the ranking by scores where nearly all predictions are equal."""
    if metric is not None:
        return metric
    constant = held_out and all(nearly_constant(each.labels) for each in held_out.values())
    ranked = all(each.probabilities is not None or each.scores is not None for each in held_out.values())
    return RANKING if constant and ranked and data.classes.size == 2 else ACCURACY


def scored(metric: str, learner: str, held: HeldOut, data: DataResults, seed: int = 0) -> Scored | None:
    """The metric of a learner; None if its predictions do not allow it, as without probabilities."""
    codes = data.codes[held.tested]
    block = _blocks(codes, data.groups_of(held.tested), seed)
    number = int(block.max()) + 1
    by_row = _by_row(metric, held, data)
    if by_row is not None:
        whole = float(by_row.mean())
        pseudo = whole + np.bincount(block, by_row - whole) * number / codes.size
    else:
        answers = Answers(codes, held.labels, *_scores(held), data.classes.size)
        try:
            whole = _score(metric, answers)
            rows = np.arange(codes.size)
            without = np.array([_score(metric, answers.take(rows[block != each])) for each in range(number)])
        except Exception:  # a scorer may raise anything, such as that there are no probabilities
            return None
        pseudo = number * whole - (number - 1) * without
    if not (math.isfinite(whole) and np.isfinite(pseudo).all()):
        return None
    found = of_mean(pseudo, kind="over groups" if data.per_row.groups is not None else "over rows")
    reach = (found.high - found.low) / 2
    estimate = Estimate(whole, whole - reach, whole + reach, found.level, found.kind)
    if metric == ACCURACY:
        estimate = of_proportion_by_group(held.right(data.codes), data.groups_of(held.tested))
    elif metric.removesuffix("_macro").removesuffix("_weighted").removesuffix("_ovr") in SHARES:
        estimate = within_limits(estimate, 0.0, 1.0)
    return Scored(learner, metric, estimate, pseudo, held.rows)


def _by_row(metric: str, held: HeldOut, data: DataResults) -> Floats | None:
    """A value for every row of which the metric is the mean, for the two metrics that have one."""
    if metric == ACCURACY:
        return held.right(data.codes).astype(float)
    return ranks_by_row(held, data.codes) if metric == RANKING and data.classes.size == 2 else None


def rows_to_decide(lead: Estimate, rows: int, power: float = 0.8) -> float:
    """How many rows would show this difference with this probability, if it is the true one; infinite if it is 0.

    The standard error falls with the root of the number of rows.
    """
    error = (lead.high - lead.low) / 2 / stats.norm.ppf(0.5 + lead.level / 2)
    needed = stats.norm.ppf(0.5 + lead.level / 2) + stats.norm.ppf(power)
    return math.inf if lead.value == 0 else rows * (needed * error / abs(lead.value)) ** 2


def _scores(held: HeldOut) -> tuple[Floats | None, bool]:
    """What a scorer gets, and whether these are probabilities."""
    if held.probabilities is not None:
        return held.probabilities, True
    # A score may be the log of a probability of 0.
    return (None, False) if held.scores is None else (np.nan_to_num(held.scores, posinf=FAR, neginf=-FAR), False)


def _score(metric: str, answers: Answers) -> float:
    name = OF_MANY.get(metric, metric) if answers.n_classes > 2 else metric
    with quiet():
        return metric_named(name).compute(answers)


def _blocks(codes: Ints, groups: Ints | None, seed: int) -> Ints:
    """The block of each row: of about equal size and class shares, or of whole groups."""
    generator = seeds.generator(seed, "blocks of rows")
    if groups is not None:
        _, group = np.unique(groups, return_inverse=True)
        number = min(BLOCKS, int(group.max()) + 1)
        return generator.permutation(int(group.max()) + 1)[group] % number
    order = generator.permutation(codes.size)
    by_class = order[np.argsort(codes[order], kind="stable")]
    block = np.empty(codes.size, dtype=np.int64)
    block[by_class] = np.arange(codes.size) % min(BLOCKS, max(codes.size // 4, 2))
    return block
