"""`extrapolate`: the accuracy with more classes than were observed, with an interval, or that it is not identified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate, exact, normal_quantile
from ...result import Result, parts_of
from ..curve.curve import Curve, expect_curve
from ..curve.jackknife import jackknife_error, leave_groups_out
from ..ranks.evidence import chance_table
from .methods import METHODS, SHRINK, combine, family_of_scores, fit_family, methods_for, normal_family
from .u_distribution import (
    DEFAULT,
    LEAST_CLASSES,
    BackTest,
    UDistribution,
    back_test,
    expect_method,
    observed,
    share_text,
    size_of,
)  # fmt: skip

__all__ = ["BackTest", "Extrapolation", "extrapolate"]
STEPS = 24
"""Sizes from K to the largest requested k, for a chart."""


@dataclass(frozen=True, eq=False)
class Extrapolation(Result, chart="curve:extrapolation_chart"):
    """The result of `extrapolate` for several numbers of classes.

    `estimates[i]` is the accuracy with `k[i]` classes; `by_method` that of each method for the same sizes, `path_k` and
    `path` the curve up to there for a chart. `back_tests` report how well the method predicted the accuracy with all
    classes from some of them, `trusted` the largest k/K at which the error stays within .05 in 95 % of cases (or
    another level): both the interval and twice the typical error of the back-test are within that.
    """

    k: tuple[int, ...]
    estimates: tuple[Estimate, ...]
    method: str
    by_method: dict[str, Floats]
    path_k: tuple[int, ...]
    path: tuple[Estimate, ...]
    back_tests: tuple[BackTest, ...]
    trusted: float
    notes: tuple[str, ...]
    curve: Curve = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, k, method, value, low, high, level, kind; back-tests also have `actual`."""
        rows: list[dict[str, Any]] = [
            {"figure": "accuracy", "k": k, "method": self.method, **parts_of(estimate)}
            for k, estimate in zip(self.k, self.estimates)
        ]
        for name, values in self.by_method.items():
            about: dict[str, Any] = {"figure": "by method", "method": name}
            rows += [about | {"k": k, "value": value} for k, value in zip(self.k, values)]
        for test in self.back_tests:
            about = {"figure": f"back-test from {test.n_classes} classes", "k": self.curve.n_classes}
            rows += [about | {"method": self.method, "value": value, "actual": test.actual} for value in test.foreseen]
        columns = ["figure", "k", "method", "value", "low", "high", "level", "kind", "actual"]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        here = self.curve.n_classes
        estimates = "; ".join(f"{share_text(estimate)} with {k:,}" for k, estimate in zip(self.k, self.estimates))
        text = f"Accuracy {self.curve.at(here)} with the {here:,} observed classes, and by {self.method}: {estimates}."
        for test in self.back_tests:
            text += (
                f" Back-test: sets of {test.n_classes} classes predicted {np.mean(test.foreseen):.3g} for all "
                f"{here:,}; the actual accuracy is {test.actual:.3g} (typical error {test.error:.2g})."
            )
        return " ".join([text, *self.notes])


@overload
def extrapolate(curve: Curve, k: int, method: str = "auto", random_state: int | None = 0) -> Estimate: ...


@overload
def extrapolate(
    curve: Curve, k: Sequence[int], method: str = "auto", random_state: int | None = 0
) -> Extrapolation: ...


def extrapolate(
    curve: Curve, k: int | Sequence[int], method: str = "auto", random_state: int | None = 0
) -> Estimate | Extrapolation:
    """Estimate the accuracy with k classes, drawn from the same source as these K.

    Accuracy with k classes is E[U^(k−1)], U the share of all classes that a row beats. The distribution of U is
    estimated from the observed curve, and from the scores, by one of:

    - "auto", which is "combined": the mean, on the logit scale, of a normal Φ⁻¹(U) whose spread stays near 1 and of
      "calibrated"; the two err in opposite directions;
    - "calibrated": Φ⁻¹(U) = a + b·z with the standardised true scores z of the rows;
    - "two_parameter": Φ⁻¹(U) normal; "implied": the same with spread 1, the curve of implied information;
    - "moments": a mixture of many normal parts, their width by resampling half of the classes.

    From 0 to 1. The interval is over classes, on the logit scale: the root of (.85·e)² + (.6·g)², times Student's
    quantile. e is the jackknife's error, too large for a figure that depends on pairs of classes, and g the difference
    between the two combined methods. If halves or quarters of the classes predict the accuracy with all of them too
    low, as with easy and hard classes mixed, the upper end is raised by as much per log(k/K); if halves predict too
    high beyond chance, the lower end is lowered. No end rises with k. A value of NaN is *not identified*: all
    predictions were right, or the interval is wider than .6. With k ≤ K the value is the exact average over label sets,
    and nothing is extrapolated.

    It misleads if the new classes are of another kind than the old, or if a learner would be retrained and the score of
    each class depends on the others; and more so, the larger k/K. For several numbers of classes, a list, the result
    has every method, and a back-test: random halves and quarters of the classes predict the accuracy with all of them.
    It shows, with the interval, up to which k/K the error stays within .05 in 95 % of cases (`trusted`).

    Parameters
    ----------
    curve : from `accuracy_curve`, with 5 classes or more
    k : number of classes, for an `Estimate`; or several, for an `Extrapolation` with its back-test
    method : one of the above
    random_state : the seed of resampling, for "moments" and for the back-test

    Examples
    --------
    >>> from classay.classes.curve.curve import accuracy_curve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> curve = accuracy_curve(scores, np.arange(600) % 60)
    >>> extrapolate(curve, k=1000)                              # in truth .243
    0.274 [0.231, 0.364]
    >>> ahead = extrapolate(curve, k=[100, 1000])
    >>> ahead.estimates
    (0.532 [0.491, 0.581], 0.274 [0.231, 0.364])

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19.

    """
    sizes = _sizes(expect_curve(curve), k, method)
    seed = seeds.settle(random_state)
    if np.ndim(k) == 0:
        return forecast(curve, sizes, method, seed)[0]
    return _extrapolation(curve, sizes, method, seed)


def forecast(curve: Curve, k: Sequence[int], method: str, seed: int) -> list[Estimate]:
    """An estimate for each size: exact up to K, extrapolated beyond."""
    if max(k) <= curve.n_classes:
        return [observed(curve, size) for size in k]
    return UDistribution.of(curve, method, seed).accuracies(k)


def _sizes(curve: Curve, k: Any, method: str) -> list[int]:
    """Check the inputs; return the numbers of classes."""
    sizes = [size_of(size) for size in np.atleast_1d(np.asarray(k, dtype=object))]
    if not sizes:
        raise expect.InputError("`k` is empty; expected at least one number of classes.")
    expect.one_of(method, "method", ("auto", *METHODS))
    if max(sizes) > curve.n_classes:
        expect_method(curve, method)
    return sizes


def _extrapolation(curve: Curve, sizes: list[int], method: str, seed: int) -> Extrapolation:
    """The estimates for several sizes, by every method, with the back-test of one."""
    name = DEFAULT if method == "auto" else method
    here, most = curve.n_classes, max(sizes)
    ahead = UDistribution.of(curve, name, seed) if most > here else None
    tests = ahead.back_tests if ahead else back_test(curve, methods_for(curve, name, seed), seed)
    path_k: tuple[int, ...] = ()
    if most > here:
        path_k = tuple(int(size) for size in np.unique(np.geomspace(here, most, STEPS).round().astype(np.int64)))[1:]
    near = [int(size) for size in np.unique((here * np.geomspace(1.02, MOST_RATIO, STEPS * 2)).round())]
    # If nothing went wrong, or everything did, every back-test succeeds and is uninformative.
    tested = bool(tests) and most > here and 0 < curve.accuracy[-1] < 1
    every = [*sizes, *path_k, *(near if tested else [])]
    forecasts = ahead.accuracies(every) if ahead else [observed(curve, size) for size in every]
    estimates, path = tuple(forecasts[: len(sizes)]), tuple(forecasts[len(sizes) : len(sizes) + len(path_k)])
    trusted = math.nan
    if tested:
        trusted = min(trusted_ratio(tests, level=curve.level), narrow_ratio(near, forecasts[-len(near) :], here))
    notes = _notes(curve, sizes, estimates, trusted)
    by_method = _all_methods(curve, sizes, seed)
    return Extrapolation(tuple(sizes), estimates, name, by_method, path_k, path, tests, trusted, notes, curve)


def _all_methods(curve: Curve, k: Sequence[int], seed: int) -> dict[str, Floats]:
    """The estimate of every method, and of refits if there are any; the exact value up to K."""
    if curve.n_classes < LEAST_CLASSES:
        return {}
    evidence, sizes = curve.evidence(), np.array(k, dtype=np.int64)
    inside, ahead = curve.accuracy[np.minimum(sizes, curve.n_classes) - 1], sizes > curve.n_classes
    if not ahead.any():
        return dict.fromkeys(METHODS, inside)
    by_method = {
        name: combine([make(evidence).accuracy(sizes) for make in methods_for(curve, name, seed)]) for name in METHODS
    }
    if len(curve.retrained) >= LEAST_SIZES:
        by_method["refits"] = from_refits(curve, sizes)
    return {name: np.where(ahead, values, inside) for name, values in by_method.items()}


def _notes(curve: Curve, k: Sequence[int], estimates: Sequence[Estimate], trusted: float) -> tuple[str, ...]:
    here = curve.n_classes
    if max(k) <= here:
        return tuple(curve.ranks.notes)
    notes = [_note_on_trust(curve, k, estimates[0].level, trusted)]
    if here >= LEAST_CLASSES and (ratio := class_pair_ratio(curve)) is not None:
        notes.append(
            "Classes seem to come in pairs or small groups: rows lose to exactly one class far more often than "
            f"independent classes allow (ratio {ratio:.2g}, usually .3 to .6). If new classes come with such rivals "
            "too, forecasts are too low, and a back-test does not show it."
        )
    if family_of_scores(curve.ranks.z, curve.evidence().weights) is None:
        unknown = float(np.isnan(curve.ranks.z).mean())
        notes.append(
            f"The size of the scores is unknown in {unknown:.0%} of the rows (−inf, or all others equal), so only "
            "their order is used: half of the default, the calibrated method, falls back to a normal shape."
        )
    if training_changes(curve):
        refits = from_refits(curve, [max(k)])[0]
        notes.append(
            "Training changes with k: refitted on fewer classes, the learner is off the curve by more than chance, so "
            f"the theory does not hold for it. From the refits alone: {refits:.3g} with {max(k):,}."
        )
    elif curve.ranks.marginal is False:
        shown = ", and `accuracy_curve(..., retrain=True)` shows how far off it is."
        if curve.retrained:
            gap = max((each.accuracy.value - curve.accuracy[each.k - 1] for each in curve.retrained), key=abs)
            shown = f"; refits on fewer classes differ from the curve by {gap:+.2g} at most."
        notes.append(
            "The learner's score of a class depends on the other classes, so retrained on more classes it would give "
            f"other scores: the theory holds only roughly{shown}"
        )
    return (*notes, *curve.ranks.notes)


def _note_on_trust(curve: Curve, k: Sequence[int], level: float, trusted: float) -> str:
    """Up to how many classes the error stays small, or why that is unknown."""
    here = curve.n_classes
    if math.isnan(trusted) and not 0 < curve.accuracy[-1] < 1:
        every = "Every" if curve.accuracy[-1] > 0 else "No"
        return f"{every} prediction was right, so a back-test is uninformative: how far to trust it is unknown."
    if math.isnan(trusted):
        return f"{here} classes are too few for a back-test: how far to trust it is unknown."
    if trusted < NARROWEST:
        return (
            f"For more than the {here:,} observed classes, forecasts may be wrong by more than {TOLERANCE:g}: use the "
            f"{level:.0%} intervals, not the forecasts alone."
        )
    beyond = ", ".join(f"{size:,}" for size in k if size > trusted * here)
    return (
        f"In {level:.0%} of cases the error stays within {TOLERANCE:g} up to about {trusted * here:,.0f} classes "
        f"({trusted:.3g} x), by the interval and by the back-test."
        + (f" For {beyond} classes see the interval: it is wider than that." if beyond else "")
    )


# How far to trust a forecast, by its back-test and its interval.

TOLERANCE = 0.05
MOST_RATIO = 100.0
NARROWEST = 1.05
"""Below this ratio nothing is promised about more classes."""


def trusted_ratio(tests: tuple[BackTest, ...], tolerance: float = TOLERANCE, level: float = 0.95) -> float:
    """The largest k/K at which the error stays within `tolerance` at this level; NaN without a back-test.

    The error is assumed normal around 0, with the root mean square of the back-test, and to grow as log(k/K), as fast
    as in the worse of the back-tests. That is conservative, since a back-test uses fewer classes than the whole. At
    most 100: nothing further was tested.
    """
    if not tests:
        return math.nan
    fastest = normal_quantile(level) * max(test.error / math.log(test.ratio) for test in tests)
    return min(math.exp(min(tolerance / max(fastest, 1e-9), 50.0)), MOST_RATIO)


def narrow_ratio(sizes: Sequence[int], forecasts: Sequence[Estimate], n_classes: int) -> float:
    """The largest k/K up to which no interval reaches farther than `TOLERANCE` from its forecast."""
    ratio = 1.0
    for size, forecast in zip(sizes, forecasts):
        reach = max(forecast.high - forecast.value, forecast.value - forecast.low)
        if not (forecast.known and reach <= TOLERANCE):
            return ratio
        ratio = size / n_classes
    return ratio


# Classes that come in pairs or small groups.
#
# If classes are drawn independently, the number N of classes above the true one is a mixture of (nearly) Poisson
# numbers, and its chances p₀, p₁, p₂ satisfy p₁² ≤ 2·p₀·p₂ (Cauchy and Schwarz). Real data and independent sources have
# p₁/√(2p₀p₂) between .3 and .6. Twins, of which each has its own rival, make p₁ large and leave p₂ small. Random
# subsets of the classes separate twins, so no back-test shows them; extrapolation then takes a rival that is always
# there for crowding.

SUSPECT, CERTAIN = 0.8, 0.6
"""The ratio above which classes come in pairs, and where its lower limit, one standard error below, must be: among
independent classes no ratio above .6 was seen."""
LEAST_ROWS = 5
"""So many rows must lose to exactly one class."""


def class_pair_ratio(curve: Curve) -> float | None:
    """p₁/√(2p₀p₂) if it shows, beyond chance, that classes come in pairs; else None."""
    evidence = curve.evidence()
    ratio = pair_ratio(evidence.beaten)
    alone = float(evidence.beaten[-2])
    if evidence.n_classes < 10 or alone * curve.ranks.truth.size < LEAST_ROWS or not ratio > SUSPECT:
        return None
    logs = [math.log(pair_ratio(part.beaten)) for part in leave_groups_out(curve.ranks, curve.ties, statistics=False)]
    error = float(jackknife_error(np.array(logs), np.bincount(curve.ranks.group)))
    return ratio if math.log(ratio) - error > math.log(CERTAIN) else None


def pair_ratio(beaten: Floats) -> float:
    """p₁/√(2p₀p₂), with a little added to p₂ so that no row there is not infinity."""
    p0, p1, p2 = (float(beaten[-1 - place]) for place in range(3))
    little = 0.1 / beaten.size
    return p1 / math.sqrt(2 * max(p0, little) * (p2 + little)) if p1 > 0 else 1e-9


# Learners whose training changes with the number of classes: the theory does not hold for them, their refits do.

LEAST_SIZES = 2


def training_changes(curve: Curve) -> bool:
    """Whether refits are off the curve by more than their intervals, for most sizes and all on one side."""
    tested = [each for each in curve.retrained if each.draws.size > 1 and each.k < curve.n_classes]
    sides = [
        int(each.accuracy.low > curve.accuracy[each.k - 1]) - int(each.accuracy.high < curve.accuracy[each.k - 1])
        for each in tested
    ]
    return len(tested) >= LEAST_SIZES and 2 * abs(sum(sides)) > len(tested)


def from_refits(curve: Curve, k: ArrayLike) -> Floats:
    """Accuracy for each k: the normal family, fitted to the refits and to the accuracy with all classes."""
    points = {each.k: each.accuracy.value for each in curve.retrained} | {curve.n_classes: float(curve.accuracy[-1])}
    sizes = np.array(sorted(points), dtype=np.int64)
    accuracy = np.array([points[size] for size in sizes.tolist()])
    family = normal_family()
    return family.member(*fit_family(family, sizes, accuracy, SHRINK)).accuracy(k)


# How many classes, and rows of each, make a forecast precise enough.

ROWS = (1, 2, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class Plan(Result, unit="classes"):
    """The result of `Curve.plan`: `classes[i]` with `rows[i]` rows each make half the interval at k `width` or less.

    `half` is half of the interval now, from `n_classes` classes of `rows_now` rows (harmonic mean), `by_rows` what is
    left of it with any number of rows of the same classes.
    """

    k: int
    width: float
    rows: tuple[int, ...]
    classes: tuple[int, ...]
    half: float
    by_rows: float
    n_classes: int
    rows_now: float

    def summary(self) -> dict[str, Estimate]:
        """The classes needed, by rows of each."""
        return {f"classes with {rows} rows each": exact(count) for rows, count in zip(self.rows, self.classes)}

    def __str__(self) -> str:
        near = int(np.argmin(np.abs(np.log(np.array(self.rows) / self.rows_now))))
        text = f"Accuracy with {self.k:,} classes is known to ± {self.half:.2g} now, from {self.n_classes:,} classes"
        if self.half <= self.width:
            return f"{text}: ± {self.width:g} is reached."
        other = 0 if near == len(self.rows) - 1 else -1
        alone = "more rows alone would do" if self.by_rows <= self.width else "not by rows alone"
        return (
            f"{text}; ± {self.width:g} needs about {self.classes[near]:,} classes with {self.rows[near]} rows each, or "
            f"{self.classes[other]:,} with {self.rows[other]} ({alone})."
        )


def plan(curve: Curve, k: int, width: float) -> Plan:
    """How many classes make the accuracy with k known to ± width; see `Curve.plan`."""
    here, wanted = curve.n_classes, expect.fraction(width, "width")
    if here < LEAST_CLASSES or not 0 < curve.accuracy[min(size_of(k), here) - 1] < 1:
        raise expect.InputError(
            f"With {here} classes and accuracy {curve.accuracy[-1]:.3g} there is nothing to plan from; a plan needs at "
            f"least {LEAST_CLASSES} classes, some predictions right and some wrong, and k from 2 up. Add classes first."
        )
    of_rows, rows_now = _share_of_rows(curve, min(k, here))
    estimate, model = extrapolate(curve, k), 0.0
    if k > here:
        ahead = UDistribution.of(curve, DEFAULT, 0)
        value, error, gap = ahead.parts(lambda share: share.accuracy([float(k)]))
        low, high = ahead.limits((value, 0 * error, gap), math.log(k / here))
        model = float(high[0] - low[0]) / 2
    half = (estimate.high - estimate.low) / 2
    chance = math.sqrt(max(half**2 - model**2, 0.0))  # what is not due to the model shrinks with classes

    def reach(classes: float, rows: float) -> float:
        share = max(math.log(k / classes), 0.0) / math.log(k / here) if k > here else 0.0
        return math.hypot(chance * math.sqrt(here / classes * (1 - of_rows + of_rows * rows_now / rows)), model * share)

    def needed(rows: int) -> int:
        first, last = k - 1 if k <= here else LEAST_CLASSES - 1, here
        while reach(last, rows) > wanted:
            first, last = last, 2 * last
        while last - first > 1:
            middle = (first + last) // 2
            first, last = (first, middle) if reach(middle, rows) <= wanted else (middle, last)
        return last

    return Plan(int(k), wanted, ROWS, tuple(needed(rows) for rows in ROWS), half, reach(here, math.inf), here, rows_now)


def _share_of_rows(curve: Curve, k: int) -> tuple[float, float]:
    """The share of the variance over classes that is due to few rows, and the (harmonic) mean of rows per class."""
    truth, lower, tied = curve.ranks.truth, curve.ranks.lower, curve.ranks.tied
    hits = chance_table(curve.n_classes, np.array([k]).tobytes())[0][lower + tied // 2]
    rows = np.bincount(truth)
    mean = np.bincount(truth, hits) / np.maximum(rows, 1)
    some = rows > 1
    within = np.bincount(truth, (hits - mean[truth]) ** 2)[some] / (rows[some] - 1)
    left = [part.accuracy([min(k, part.n_classes)]) for part in leave_groups_out(curve.ranks, curve.ties, False)]
    variance = float(np.asarray(jackknife_error(np.array(left), np.bincount(curve.ranks.group)))[0]) ** 2
    usual = 1 / float((1 / rows[rows > 0]).mean())
    noise = float(within.mean()) / usual / np.count_nonzero(rows) if some.any() else 0.0
    return min(noise / max(variance, 1e-12), 1.0), usual
