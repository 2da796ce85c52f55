"""The one distribution behind all questions about k: how large a share of all classes a row beats.

`UDistribution` holds its estimate by one method, with all classes and without each group of them; `extrapolate` takes
every figure, its interval and what is not identified from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.special import expit, ndtr

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate, share_around
from ...result import Result, plain
from ..curve.curve import Curve, expect_curve
from ..curve.jackknife import class_samples, contributions, interval_limits, jackknife_error, leave_groups_out
from ..information.channel import inverse_mean_top, mean_top
from ..ranks.evidence import RankCost, cost_of_label_sets, costs_of_ranks, top_of_label_sets
from .methods import METHODS, BeatenShare, Method, calibrated, combine, logit_of, methods_for, shrunk_normal

DEFAULT = "combined"
LEAST_CLASSES = 5
"""Fewer classes are not enough of a curve to extrapolate."""
MOST_CLASSES = 10**12
WIDEST = 0.6
"""A wider interval is not a useful forecast: it is reported as not identified."""
OF_ERROR, OF_GAP = 0.85, 0.6
"""Weights of the jackknife's error and of the gap between two methods: set so that intervals hold in simulations."""
SHARES = (0.5, 0.25)
DRAWS = 10
PLACES: Floats = ndtr(np.linspace(-3.0, 5.0, 81))
"""Shares at which the distribution is shown: evenly on the probit scale, up to 1 − 3e-7."""
OBSERVED = "over classes; not extrapolated: an average over label sets"
AHEAD = "over classes, extrapolated"
KIND_NESTED = "over the added classes and over rows; the observed classes fixed"
Figure = Callable[[BeatenShare], Floats]


@dataclass(frozen=True, eq=False)
class BackTest:
    """What random sets of `n_classes` classes predicted for all: `foreseen`, one per set; `actual` is the truth.

    `error` is the root of the mean squared error, `lean` the mean error: above 0 if the prediction was too high.
    """

    n_classes: int
    ratio: float
    actual: float
    foreseen: Floats
    error: float
    lean: float

    @classmethod
    def of(cls, n_part: int, n_classes: int, actual: float, foreseen: Floats) -> BackTest:
        """That of sets of `n_part` of the classes."""
        error = math.sqrt(float(np.mean((foreseen - actual) ** 2)))
        return cls(n_part, n_classes / n_part, actual, foreseen, error, float(np.mean(foreseen) - actual))


def back_test(curve: Curve, methods: tuple[Method, ...], seed: int) -> tuple[BackTest, ...]:
    """Predict accuracy with all K classes from random halves and quarters of them, if these have 5 classes or more."""
    tests = []
    ranks, n_classes = curve.ranks, curve.n_classes
    for share in SHARES:
        if round(share * ranks.n_groups) < 2 or share * n_classes < LEAST_CLASSES:
            continue
        parts = [part for part in class_samples(ranks, curve.ties, DRAWS, seed, share) if part.lower.size]
        foreseen = np.array(
            [float(combine([make(part).accuracy([n_classes]) for make in methods])[0]) for part in parts]
        )
        if foreseen.size:
            n_part = round(float(np.mean([part.n_classes for part in parts])))
            tests.append(BackTest.of(n_part, n_classes, float(curve.accuracy[-1]), foreseen))
    return tuple(tests)


@dataclass(frozen=True, eq=False)
class UDistribution(Result, chart="curve:distribution_chart"):
    """The result of `Curve.u_distribution`: U is the share of all classes that a row beats.

    `to_frame()` has the share of rows with U ≤ u, with a band; what it does above 1 − 1/K, K classes cannot show, and
    the method continues it. `members` are the distributions that the method estimates, of
    which figures are the mean on the logit scale; `without` has the same without each group of classes, empty where no
    rows are left, and `pair` the two of the default, which fit the same curve and continue it differently: that shows
    how little the curve determines. `back_tests` are the forecasts of halves and quarters of the classes for all.
    """

    curve: Curve
    method: str
    members: tuple[BeatenShare, ...]
    pair: tuple[BeatenShare, BeatenShare]
    without: tuple[tuple[BeatenShare, ...], ...]
    back_tests: tuple[BackTest, ...]

    @classmethod
    def of(cls, curve: Curve, method: str, seed: int) -> UDistribution:
        """The estimate by a method, with all classes and without each group of them."""
        name = DEFAULT if method == "auto" else method
        evidence, makers = curve.evidence(), methods_for(curve, name, seed)
        members = tuple(make(evidence) for make in makers)
        without = tuple(
            tuple(make(part) for make in makers) if part.lower.size else ()
            for part in leave_groups_out(curve.ranks, curve.ties)
        )
        pair = members if name == DEFAULT else (shrunk_normal(evidence), calibrated(evidence))
        return cls(curve, name, members, (pair[0], pair[1]), without, back_test(curve, makers, seed))

    @property
    def level(self) -> float:
        """The confidence level of the intervals, which is that of the curve."""
        return self.curve.level

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before these figures are used."""
        notes: list[str] = []
        if not 0 < self.curve.accuracy[-1] < 1:
            notes.append(f"Figures for more classes are {not_identified(self.curve)}.")
        if self.curve.ranks.marginal is False:
            notes.append(
                "The learner's score of a class depends on the other classes, so the theory holds only roughly."
            )
        return (*notes, *self.curve.ranks.notes)

    @cached_property
    def beaten_without(self) -> tuple[Floats, ...]:
        """`Evidence.beaten` without each group of classes."""
        parts = leave_groups_out(self.curve.ranks, self.curve.ties, statistics=False)
        return tuple(part.beaten for part in parts)

    def accuracies(self, k: Sequence[int]) -> list[Estimate]:
        """The accuracy with each number of classes: the exact average over label sets up to K, extrapolated beyond."""
        ahead = sorted({size for size in k if size > self.curve.n_classes})
        by_size = dict(zip(ahead, self._ahead_of_curve(1, np.array(ahead, dtype=float)) if ahead else []))
        return [by_size[size] if size in by_size else observed(self.curve, size) for size in k]

    def accuracy(self, k: int) -> Estimate:
        """The accuracy with k classes: E[U^(k−1)]; with k ≤ K the exact average over label sets."""
        return self.accuracies([size_of(k)])[0]

    def top(self, m: int, k: int) -> Estimate:
        """How often the true class is among the m highest scores of k classes."""
        m, k = expect.whole(m, "m", at_least=1), size_of(k)
        if k <= m:
            return Estimate(1.0, 1.0, 1.0, self.level, "m classes or fewer: always among the first m")
        if m == 1:
            return self.accuracy(k)
        if k > self.curve.n_classes:
            ahead = self._ahead_of_curve(m, np.array([float(k)]))[0]
            # Whoever is first is among the first m, also where the value is not identified.
            return ahead if ahead.known else replace(ahead, low=max(ahead.low, self.accuracy(k).low))
        return self._observed(lambda beaten: float(top_of_label_sets(beaten, m, np.array([min(k, beaten.size)]))[0]))

    def cost(self, k: int, cost: RankCost) -> Estimate:
        """The expected cost with k classes, if the cost depends on the rank of the true class alone.

        `cost` takes an array of ranks, from 1 (the highest score), and gives their costs: `lambda rank: rank > 5` is
        1 − top-5 accuracy, `lambda rank: 1 - 1 / rank` is 1 − mean reciprocal rank. For a matrix of costs by class,
        among the observed classes, use `Curve.risk`.
        """
        k = size_of(k)
        if not callable(cost):
            raise expect.InputError(
                f"`cost` is of type {type(cost).__name__}; expected a function of an array of ranks. For a matrix of "
                "costs by class use `curve.risk(costs, scores)`."
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
            share = self._cost_ahead(k, lambda share: np.array([scaled(share.mean_cost(k, cost))]))
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

    def nested(self, k: int) -> NestedAccuracy:
        """The accuracy if these classes are kept and others like them are added, k in all; see `Curve.nested`."""
        here = self.curve.n_classes
        if size_of(k) <= here:
            raise expect.InputError(f"`k` is {k} and {here} classes are observed; expected more than that.")
        now, added = self.curve.over_rows(), self.accuracy(k)
        kept = self._kept(now, float(k))
        share = here / k
        ends = [share * getattr(kept, end) + (1 - share) * getattr(added, end) for end in ("value", "low", "high")]
        whole = Estimate(ends[0], ends[1], ends[2], self.level, KIND_NESTED)
        return NestedAccuracy(int(k), here, whole, kept, added, now, self.curve.ranks.name)

    def to_frame(self) -> pd.DataFrame:
        """One row per u: figure, u, value, low, high, level, kind."""
        parts = self.parts(lambda share: share.below(PLACES))
        low, high = self.limits(parts)
        figures = {"figure": "share of rows with U ≤ u", "u": PLACES, "value": parts[0]}
        return pd.DataFrame({**figures, "low": low, "high": high, "level": self.level, "kind": "over classes"})

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: the method, the level, the table of u as columns, and notes."""
        columns = self.to_frame()[["u", "value", "low", "high"]].rename(columns={"value": "below"})
        about = {"method": self.method, "level": self.level, "notes": list(self.notes)}
        return about | {str(name): plain(column.tolist()) for name, column in columns.items()}

    def __str__(self) -> str:
        here = self.curve.n_classes
        median = float(np.interp(0.5, combine([member.below(PLACES) for member in self.members]), PLACES))
        ahead, first = share_text(self.accuracy(10 * here)), share_text(self.top(5, 10 * here))
        half = f"Half of the rows beat more than {median:.4%} of all classes (U, by {self.method}). "
        most = f" At least half right up to {count_text(self.largest(0.5))} classes."
        varies = bool(0 < self.curve.accuracy[-1] < 1)
        text = (
            f"{self.curve.ranks.name}: {half * varies}Accuracy {self.curve.at(here)} with {here:,} classes and {ahead} "
            f"with {10 * here:,}; among the first 5: {first}.{most * varies}"
        )
        return " ".join([text, *self.notes])

    def parts(self, figure: Figure) -> tuple[Floats, Floats, Floats]:
        """A figure, its jackknife error and the gap of the pair, the last two on the logit scale."""
        value = combine([figure(member) for member in self.members])
        left = [
            logit_of(combine([figure(member) for member in members])) if members else np.full(value.shape, math.nan)
            for members in self.without
        ]
        error = np.asarray(jackknife_error(np.array(left), np.bincount(self.curve.ranks.group)))
        ends = [logit_of(figure(member)) for member in self.pair]
        return value, error, np.abs(ends[0] - ends[1])

    @cached_property
    def leans(self) -> tuple[float, float]:
        """How far too high, and how far too low, forecasts may be for each unit of log(k/K), on the logit scale.

        Too high: as halves of the classes show, a, of which a/(a + e) counts, e the jackknife's error: with few errors
        they predict too high by chance, and quarters more so. Too low: the larger of halves and quarters.
        """
        tests = self.back_tests if 0 < self.curve.accuracy[-1] < 1 else ()
        leans = [float(logit_of(test.foreseen.mean()) - logit_of(test.actual)) / math.log(test.ratio) for test in tests]
        chance = float(self.parts(lambda share: share.accuracy([float(self.curve.n_classes)]))[1][0])
        high = [lean**2 / (lean + chance / math.log(2)) for lean in leans[:1] if lean > 0]
        return max([*high, 0.0]), -min([*leans, 0.0])

    def limits(self, parts: tuple[Floats, Floats, Floats], farther: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """Limits of shares: Student's quantile times √((.85·error)² + (.6·gap)²) to each side.

        With `farther`, log(k/K), the side that the back-test missed reaches farther: down if forecasts are too high.
        """
        value, error, gap = parts
        freedom = max(self.curve.ranks.n_groups - 1, 1)
        reach = float(stats.t.ppf(0.5 + self.curve.level / 2, freedom)) * np.hypot(OF_ERROR * error, OF_GAP * gap)
        down, up = (lean * np.asarray(farther) for lean in self.leans)
        low, high = expit(logit_of(value) - reach - down), expit(logit_of(value) + reach + up)
        return np.minimum(low, value), np.maximum(high, value)

    def _limits_ahead(self, m: int, sizes: Floats) -> tuple[Floats, Floats, Floats]:
        """Top-m accuracy with its limits for sizes above K; none of the three rises with k.

        Computed at K, 2K, 4K, … and at k. What is higher than at a smaller one of those sizes, or lower than at the
        next, is replaced by that, so the result for k does not depend on which other sizes are requested.
        """
        here = self.curve.n_classes
        steps = here * 2.0 ** np.arange(1, math.ceil(math.log2(sizes.max() / here)) + 1)
        every = np.concatenate([steps, sizes])
        parts = self.parts(lambda share: share.accuracy(every) if m == 1 else share.top(m, every))
        cell, start = np.searchsorted(steps, sizes), self.top(m, here)
        ends = []
        for end, first in zip(
            (parts[0], *self.limits(parts, np.log(every / here))), (start.value, start.low, start.high)
        ):
            least = np.minimum.accumulate(np.concatenate([[first], end[: steps.size]]))
            ends.append(np.clip(end[steps.size :], least[cell + 1], least[cell]))
        return ends[0], ends[1], ends[2]

    def _ahead_of_curve(self, m: int, sizes: Floats) -> list[Estimate]:
        """The accuracy, or top-m accuracy, with each number of classes above K."""
        curve = self.curve
        accuracy = float(curve.accuracy[-1])
        if 0 < accuracy < 1:
            return [self._estimate(*ends) for ends in zip(*self._limits_ahead(m, sizes))]
        low, high = np.zeros(sizes.shape), np.full(sizes.shape, float(curve.high[-1]) if m == 1 else 1.0)
        if accuracy >= 1:
            lead = inverse_mean_top(max(float(curve.low[-1]), 1e-12), curve.n_classes)
            low, high = mean_top(lead, sizes), np.ones(sizes.shape)
        why = not_identified(curve)
        return [Estimate(math.nan, float(a), float(b), curve.level, why) for a, b in zip(low, high)]

    def _cost_ahead(self, k: int, figure: Figure) -> Estimate:
        """A share that stands for a cost, with more classes than were observed."""
        if not 0 < self.curve.accuracy[-1] < 1:
            return Estimate(math.nan, 0.0, 1.0, self.level, not_identified(self.curve))
        parts = self.parts(figure)
        return self._estimate(*(end[0] for end in (parts[0], *self.limits(parts, math.log(k / self.curve.n_classes)))))

    def _estimate(self, value: float, low: float, high: float) -> Estimate:
        """A share with more classes than were observed; NaN if its interval is too wide."""
        if math.isfinite(low + high) and high - low <= WIDEST:
            return Estimate(float(value), float(low), float(high), self.level, AHEAD)
        low, high = (float(low), float(high)) if math.isfinite(low + high) else (0.0, 1.0)
        why = f"not identified: {self.curve.n_classes:,} classes leave anything from {low:.2g} to {high:.2g} possible"
        return Estimate(math.nan, low, high, self.level, why)

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
        """As `top`, with a value even if the interval is wide: for a search."""
        if k <= self.curve.n_classes or not 0 < self.curve.accuracy[-1] < 1:
            return self.top(m, k)
        value, low, high = (float(end[0]) for end in self._limits_ahead(m, np.array([float(k)])))
        return Estimate(value, low, high, self.level)

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

    def _kept(self, now: Estimate, k: float) -> Estimate:
        """The accuracy of rows of the kept classes among k."""
        here, level = float(self.curve.n_classes), self.level
        if not 0 < now.value < 1:
            return Estimate(math.nan if now.value else 0.0, 0.0, now.high, level, "not identified")

        def stays(share: BeatenShare) -> Floats:
            both = share.accuracy([here, k])
            return np.array([both[1] / max(float(both[0]), 1e-300)]).clip(0.0, 1.0)

        ratio, error, gap = (float(part[0]) for part in self.parts(stays))
        value = now.value * ratio
        # Both parts on the scale of the accuracy; rows of now and classes to come vary independently.
        of_ratio = float(np.hypot(OF_ERROR * error, OF_GAP * gap)) * (ratio * (1 - ratio)) * now.value
        lean = max(self.leans) * math.log(k / here) * value * (1 - value) / 2  # an interval reaches twice as far
        of_now = now.value * (1 - now.value) * float((self.curve.evidence().weights ** 2).sum())
        spread = math.hypot(of_ratio, lean, math.sqrt(of_now) * ratio)
        estimate = share_around(value, spread, level, KIND_NESTED, draws=self.curve.ranks.n_groups)
        return Estimate(value, estimate.low, min(estimate.high, max(now.high, value)), level, KIND_NESTED)


@dataclass(frozen=True, eq=False)
class NestedAccuracy(Result, unit="accuracy"):
    """The result of `Curve.nested`, for `k` classes of which `kept_classes` are the observed ones.

    `accuracy` is that of all rows, each class equally often; `kept` that of rows of the observed classes, `added` that
    of rows of the new ones. `now` is the accuracy of the observed classes alone.
    """

    k: int
    kept_classes: int
    accuracy: Estimate
    kept: Estimate
    added: Estimate
    now: Estimate
    name: str

    def summary(self) -> dict[str, Estimate]:
        """Accuracy now, with all classes, and of the kept and the added ones."""
        sizes = {f"{self.kept_classes:,} classes, now": self.now, f"all {self.k:,} classes": self.accuracy}
        return sizes | {"kept classes": self.kept, "added classes": self.added}

    def __str__(self) -> str:
        return (
            f"{self.name}: the {self.kept_classes:,} classes have accuracy {self.now} now. With "
            f"{self.k - self.kept_classes:,} more like them it is {self.accuracy} among all {self.k:,}: {self.kept} "
            f"for the classes that are kept, {self.added} for those that are added."
        )


def u_distribution(curve: Curve, method: str = "auto", random_state: int | None = 0) -> UDistribution:
    """The distribution of U behind a curve; see `Curve.u_distribution`."""
    expect_method(expect_curve(curve), method)
    distribution = UDistribution.of(curve, method, seeds.settle(random_state))
    if not all(distribution.without):
        raise expect.InputError("All test rows are of classes of one group; rows of more classes are needed.")
    return distribution


def not_identified(curve: Curve) -> str:
    """Why a curve without errors, or without successes, says nothing about more classes."""
    every = "every" if curve.accuracy[-1] >= 1 else "no"
    return f"not identified: {every} prediction was right among {curve.n_classes:,} classes"


def expect_method(curve: Curve, method: str) -> None:
    """Refuse an unknown method, and a curve of too few classes."""
    expect.one_of(method, "method", ("auto", *METHODS))
    if curve.n_classes < LEAST_CLASSES:
        raise expect.InputError(
            f"The curve has {curve.n_classes} classes; at least {LEAST_CLASSES} are needed to extrapolate to more."
        )


def size_of(k: Any) -> int:
    """A number of classes, observed or not."""
    size = expect.whole(k, "k", at_least=1)
    if size > MOST_CLASSES:
        raise expect.InputError(f"`k` is {k}; expected at most {MOST_CLASSES:.0e}.")
    return size


def observed(curve: Curve, k: int) -> Estimate:
    """The accuracy with k ≤ K classes, which is not extrapolated."""
    at = curve.at(k)
    return Estimate(at.value, at.low, at.high, at.level, OBSERVED)


def share_text(estimate: Estimate) -> str:
    """A share with its interval, or that it is not identified."""
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
