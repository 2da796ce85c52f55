"""`u_distribution`: how large a share of all classes a row beats, and accuracy, top-m, costs and label sets from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate
from ...result import Result, plain
from ..curve.curve import (
    Curve,
    accuracy_curve,
    contributions,
    expect_curve,
    interval_limits,
    jackknife_error,
    leave_groups_out,
)
from ..extrapolate.back_test import LEAST_CLASSES
from ..extrapolate.beaten_share import BeatenShare, RankCost, combine, costs_of_ranks
from ..extrapolate.extrapolate import MOST_CLASSES, shares_of_method
from ..extrapolate.methods import calibrated_share, logit_of, shrunk_normal_share
from ..extrapolate.share_interval import share_intervals, share_limits
from ..ranks.ranks import Ranks
from .label_sets import cost_of_label_sets, top_of_label_sets

PLACES: Floats = ndtr(np.linspace(-3.0, 5.0, 81))
"""Shares at which the distribution is shown: evenly on the probit scale, up to 1 − 3e-7."""
OBSERVED = "over classes; not extrapolated: an average over label sets"


@dataclass(frozen=True, eq=False)
class UDistribution(Result, chart="classes.distribution:distribution_chart"):
    """The result of `u_distribution`: `below[i]`, with `low` and `high`, is the share of rows with U ≤ `u[i]`.

    U is the share of all classes that a row beats. `members` are the estimated distributions, of which figures are the
    mean on the logit scale; `without` the same without each group of classes. `resolution` is 1 − 1/K: what the
    distribution does above that, K classes cannot show, and the method continues it.
    """

    method: str
    u: Floats
    below: Floats
    low: Floats
    high: Floats
    level: float
    resolution: float
    members: tuple[BeatenShare, ...]
    pair: tuple[BeatenShare, BeatenShare]
    without: tuple[tuple[BeatenShare, ...], ...]
    beaten_without: tuple[Floats, ...]
    curve: Curve
    notes: tuple[str, ...] = ()

    def accuracy(self, k: int) -> Estimate:
        """The accuracy with k classes: E[U^(k−1)]; with k ≤ K the exact average over label sets."""
        return self.top(1, k)

    def top(self, m: int, k: int) -> Estimate:
        """How often the true class is among the m highest scores of k classes."""
        m, k = expect.whole(m, "m", at_least=1), self._size(k)
        if k <= m:
            return Estimate(1.0, 1.0, 1.0, self.level, "m classes or fewer: always among the first m")
        if k > self.curve.n_classes:
            return self._ahead(np.array([float(k)]), lambda share, sizes: share.top(m, sizes))[0]
        if m == 1:
            at = self.curve.at(k)
            return Estimate(at.value, at.low, at.high, at.level, OBSERVED)
        return self._observed(lambda beaten: float(top_of_label_sets(beaten, m, np.array([min(k, beaten.size)]))[0]))

    def cost(self, k: int, cost: RankCost) -> Estimate:
        """The expected cost with k classes, if the cost depends on the rank of the true class alone.

        `cost` takes an array of ranks, from 1 (the highest score), and gives their costs: `lambda rank: rank > 5` is
        1 − top-5 accuracy, `lambda rank: 1 - 1 / rank` is 1 − mean reciprocal rank. For a matrix of costs by class use
        `risk_curve` and `extrapolate`.
        """
        k = self._size(k)
        if not callable(cost):
            raise expect.InputError(
                f"`cost` is of type {type(cost).__name__}; expected a function of an array of ranks. For a matrix of "
                "costs by class use `classay.extrapolate(classay.risk_curve(scores, y, costs), k)`."
            )
        some = np.unique(np.concatenate([np.arange(1, min(k, 10_000) + 1), np.geomspace(1, k, 999).astype(np.int64)]))
        every = costs_of_ranks(cost, some)
        least, most = float(every.min()), float(every.max())
        if most == least or k == 1:
            value = float(every[0])
            return Estimate(value, value, value, self.level, "the same cost for every rank")

        def scaled(total: float) -> float:
            return min(max((most - total) / (most - least), 0.0), 1.0)

        if k > self.curve.n_classes:
            share = self._ahead(
                np.array([float(k)]), lambda share, _: np.array([scaled(share.mean_cost(k, cost))]), ceiling=1.0
            )[0]
        else:
            share = self._observed(lambda beaten: scaled(cost_of_label_sets(beaten, min(k, beaten.size), cost)))
        value, high, low = (most - (most - least) * end for end in (share.value, share.low, share.high))
        return Estimate(value, low, high, self.level, share.kind)

    def largest(self, accuracy: float, m: int = 1) -> Estimate:
        """The largest number of classes with at least this accuracy, or top-m accuracy.

        `low` is the largest k at which the lower limit of the accuracy still reaches it, `high` that of the upper
        limit. Infinite: it is reached even with 10^12 classes.
        """
        wanted, m = expect.fraction(accuracy, "accuracy"), expect.whole(m, "m", at_least=1)
        ends = [
            self._largest(lambda k, end=end: getattr(self._raw(m, k), end) >= wanted, m)  # type: ignore[misc]
            for end in ("value", "low", "high")
        ]
        kind = "over classes, extrapolated" if max(ends) > self.curve.n_classes else OBSERVED
        if not 0 < self.curve.accuracy[-1] < 1 and ends[0] >= self.curve.n_classes:
            return Estimate(math.nan, ends[1], ends[2], self.level, "not identified: every prediction was right")
        return Estimate(ends[0], min(ends[1], ends[0]), max(ends[2], ends[0]), self.level, kind)

    def to_frame(self) -> pd.DataFrame:
        """One row per u: figure, u, value, low, high, level, kind."""
        figures = {"figure": "share of rows with U ≤ u", "u": self.u, "value": self.below}
        return pd.DataFrame(
            {**figures, "low": self.low, "high": self.high, "level": self.level, "kind": "over classes"}
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; of the members without each group, only their number."""
        names = ("method", "u", "below", "low", "high", "level", "resolution", "members", "notes")
        curve = {"n_classes": self.curve.n_classes, "accuracy": plain(self.curve.at(self.curve.n_classes))}
        counts = {"pair": len(self.pair), "without": len(self.without), "beaten_without": len(self.beaten_without)}
        return {**{name: plain(getattr(self, name)) for name in names}, **counts, "curve": curve}

    def __str__(self) -> str:
        here = self.curve.n_classes
        median = float(np.interp(0.5, self.below, self.u))
        ahead, first = _text(self.accuracy(10 * here)), _text(self.top(5, 10 * here))
        text = (
            f"{self.curve.ranks.name}: half of the rows beat more than {median:.4g} of all classes (U, by "
            f"{self.method}). Accuracy {self.curve.at(here)} with {here:,} classes and {ahead} with {10 * here:,}; "
            f"among the first 5: {first}. At least half right up to {count_text(self.largest(0.5))} classes."
        )
        return " ".join([text, *self.notes])

    def _size(self, k: Any) -> int:
        size = expect.whole(k, "k", at_least=1)
        if size > MOST_CLASSES:
            raise expect.InputError(f"`k` is {k}; expected at most {MOST_CLASSES:.0e}.")
        return size

    def _ahead(
        self, sizes: Floats, figure: Callable[[BeatenShare, Floats], Floats], ceiling: float | None = None
    ) -> list[Estimate]:
        """Estimates for sizes above K."""
        here, accuracy = self.curve.n_classes, float(self.curve.accuracy[-1])
        if not 0 < accuracy < 1:
            every = "every" if accuracy >= 1 else "no"
            why = f"not identified: {every} prediction was right among {here:,} classes"
            ends = (0.0, 1.0)
            return [Estimate(math.nan, *ends, self.level, why) for _ in sizes]
        value, error, gap = self.figure_parts(sizes, figure)
        most = 1.0 if ceiling is None else ceiling
        return share_intervals(value, error, gap, self.level, most, here, self.curve.ranks.n_groups)

    def figure_parts(
        self, sizes: Floats, figure: Callable[[BeatenShare, Floats], Floats]
    ) -> tuple[Floats, Floats, Floats]:
        """A figure, its jackknife error and the gap of the pair, the last two on the logit scale."""
        value = combine([figure(member, sizes) for member in self.members])
        left = [logit_of(combine([figure(member, sizes) for member in members])) for members in self.without]
        error = np.asarray(jackknife_error(np.array(left), np.bincount(self.curve.ranks.group)))
        ends = [logit_of(figure(member, sizes)) for member in self.pair]
        return value, error, np.abs(ends[0] - ends[1])

    def _observed(self, figure: Callable[[Floats], float]) -> Estimate:
        """A share among the observed classes, with the interval of a proportion over classes."""
        ranks = self.curve.ranks
        value = figure(self.curve.evidence().beaten)
        left = np.array([[figure(beaten)] for beaten in self.beaten_without])
        parts = contributions(left, np.bincount(ranks.group))
        most = ranks.truth.size * (self.curve.n_classes - 1)
        low, high = interval_limits(np.array([value]), parts, int(np.unique(ranks.truth).size), most, self.level)
        return Estimate(value, float(min(low[0], value)), float(max(high[0], value)), self.level, OBSERVED)

    def _raw(self, m: int, k: int) -> Estimate:
        """As `top`, with a value even if the interval is wide, and never rising with k: for a search."""
        if k <= self.curve.n_classes or not 0 < self.curve.accuracy[-1] < 1:
            return self.top(m, k)
        value, error, gap = self.figure_parts(np.array([float(k)]), lambda share, sizes: share.top(m, sizes))
        low, high = share_limits(value, error, gap, self.level, 1.0, self.curve.ranks.n_groups)
        return Estimate(float(value[0]), float(low[0]), float(high[0]), self.level)

    def _largest(self, reaches: Callable[[int], bool], m: int) -> float:
        """The largest k that reaches something that larger ones do not: by doubling, then by halving."""
        here = self.curve.n_classes
        if not reaches(here):
            first, last = min(m, here), here  # m classes or fewer always do
        else:
            first, last = here, 2 * here
            while last < MOST_CLASSES and reaches(last):
                first, last = last, 2 * last
            if last >= MOST_CLASSES:
                if reaches(MOST_CLASSES):
                    return math.inf
                last = MOST_CLASSES
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (middle, last) if reaches(middle) else (first, middle)
        return float(first)


def u_distribution(
    ranks: Ranks | Curve,
    *,
    method: str = "auto",
    ties: str = "random",
    level: float = 0.95,
    random_state: int | None = 0,
) -> UDistribution:
    """Estimate the distribution of U, the share of all classes that a row beats: every figure for k classes follows.

    A row with U = u is right among k classes, drawn from the same source, with chance u^(k−1), and among the first m
    with the chance that at most m − 1 of k − 1 others are above it. So `accuracy(k)`, `top(m, k)`, `cost(k, cost)` and
    `largest(accuracy)`, the inverse question, are integrals of one distribution. Up to K classes they are exact
    averages over label sets.

    D̄(u), the share of rows with U ≤ u, rises from 0 to 1; better classifiers have it lower. The band is a jackknife
    over classes, widened by how far two methods differ. Above `resolution`, 1 − 1/K, K classes cannot show it: there
    the method continues it, and the figures for k far above K depend on that.

    It misleads as `extrapolate` does: if new classes are of another kind, or a learner would be retrained.

    Parameters
    ----------
    ranks : a record (`Ranks`), or a curve from `accuracy_curve`
    method : as in `extrapolate`, except "line", which has no distribution
    ties : a tie with the true class counts as "random", "wrong" or "right"; a curve has its own
    level : confidence level of the intervals
    random_state : the seed of resampling (only for "moments" and "stacked")

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> u = u_distribution(Ranks.from_scores(scores, np.arange(600) % 60))
    >>> u.accuracy(1000), u.top(5, 1000)                    # in truth .243 and .458
    (0.274 [0.231, 0.321], 0.492 [0.443, 0.541])
    >>> u.largest(0.5)                                      # in truth 100 classes
    128 [93, 183]

    References
    ----------
    Zheng (2017), Information, Prediction, and Supervised Learning, Theorem 3.3.1.

    """
    expect.fraction(level, "level")
    if isinstance(ranks, Ranks):
        curve = accuracy_curve(ranks, ties=ties, level=level)
    else:
        curve = expect_curve(ranks, "ranks")
        if curve.level != level:
            curve = accuracy_curve(curve.ranks, ties=curve.ties, level=level)
    if curve.n_classes < LEAST_CLASSES:
        raise expect.InputError(
            f"There are {curve.n_classes} classes; at least {LEAST_CLASSES} are needed to estimate the distribution."
        )
    name, makers = shares_of_method(curve, method, seeds.settle(random_state))
    evidence = curve.evidence()
    members = tuple(make(evidence) for make in makers)
    left = list(leave_groups_out(curve.ranks, curve.ties))
    without = tuple(tuple(make(part) for make in makers) for part in left if part.lower.size)
    pair = members if name == "combined" else (shrunk_normal_share(evidence), calibrated_share(evidence))
    made = UDistribution(
        name, PLACES, *(np.zeros(PLACES.size),) * 3, level, 1 - 1 / curve.n_classes, members,
        (pair[0], pair[1]), without, tuple(part.beaten for part in left), curve, _notes(curve),
    )  # fmt: skip
    if len(without) < len(left):
        raise expect.InputError("All test rows are of classes of one group; rows of more classes are needed.")
    value, error, gap = made.figure_parts(PLACES, lambda share, u: share.below(u))
    low, high = share_limits(value, error, gap, level, 1.0, curve.ranks.n_groups)
    return UDistribution(
        name, PLACES, value, low, high, level, made.resolution, members, made.pair, without, made.beaten_without,
        curve, made.notes,
    )  # fmt: skip


def _notes(curve: Curve) -> tuple[str, ...]:
    notes: list[str] = []
    if not 0 < curve.accuracy[-1] < 1:
        every = "Every" if curve.accuracy[-1] > 0 else "No"
        notes.append(f"{every} prediction was right: figures for more classes are not identified.")
    if curve.ranks.marginal is False:
        notes.append("The learner's score of a class depends on the other classes, so the theory holds only roughly.")
    return (*notes, *curve.ranks.notes)


def _text(estimate: Estimate) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"


def count_text(estimate: Estimate) -> str:
    """A number of classes with its interval, in three digits.

    >>> count_text(Estimate(1234.0, 900.0, math.inf))
    '1,230 [900, more than 10^12]'
    """

    def one(k: float) -> str:
        return f"{float(f'{k:.3g}'):,.0f}" if math.isfinite(k) else "more than 10^12"

    value = one(estimate.value) if estimate.known else "not identified"
    return f"{value} [{one(estimate.low)}, {one(estimate.high)}]"
