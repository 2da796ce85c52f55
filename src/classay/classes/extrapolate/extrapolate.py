"""`extrapolate`: the accuracy with more classes than were observed, with an interval, or that it is not identified."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ... import expect, seeds
from ...arrays import Floats
from ...intervals import Estimate
from ...result import Result, plain
from ..curve.curve import Curve, accuracy_curve, band, class_samples, expect_curve, standard_error
from ..curve.risk import RiskCurve
from ..information.channel import inverse_mean_top, mean_top
from ..ranks.ranks import Evidence
from .back_test import (
    LEAST_CLASSES,
    MOST_RATIO,
    NARROWEST,
    TOLERANCE,
    BackTest,
    back_test,
    narrow_ratio,
    trusted_ratio,
)
from .beaten_share import BeatenShare
from .class_pairs import class_pairs
from .methods import METHODS as OF_CURVES
from .methods import (
    SHARES,
    Method,
    basis_of,
    best_bandwidth,
    calibrated,
    family_of_scores,
    family_parameters,
    logit_of,
    moments,
    moments_of_basis,
    moments_share,
    shrunk_normal,
)
from .mixture import likelihood, likelihood_share
from .refits import LEAST_SIZES, from_refits, training_changes
from .risk_ahead import risk_ahead
from .share_interval import OF_GAP, share_intervals
from .stacked import StackedMethod, stack_of, stacked

BY_NAME: dict[str, Method] = {**OF_CURVES, "likelihood": likelihood, "stacked": stacked}
METHODS = ("auto", *BY_NAME)
DEFAULT = "combined"
MOST_CLASSES = 10**12
STEPS = 24
"""Sizes from K to the largest requested k, for a chart."""


@dataclass(frozen=True, eq=False)
class Extrapolation(Result, chart="classes.extrapolation:extrapolation_chart"):
    """The result of `extrapolation`.

    `estimates[i]` is the accuracy with `k[i]` classes; `by_method` that of each method for the same sizes, `path_k` and
    `path` the curve up to there for a chart. `back_tests` report how well the method predicted the accuracy with all
    classes from some of them, `trusted` the largest k/K at which the error stays within .05 in 95 % of cases (or
    another level): both the interval and twice the typical error of the back-test are within that.
    `parameters` has μ and ν of the two-parameter family (Φ⁻¹(U) normal with mean μ and standard deviation ν), a and b
    of the calibrated one, and the implied information in nats.
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
    curve: Curve
    parameters: dict[str, dict[str, float]] = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: figure, k, method, value, low, high, level, kind; back-tests also have `actual`."""
        rows: list[dict[str, Any]] = [
            {"figure": "accuracy", "k": k, "method": self.method, **_estimate_row(estimate)}
            for k, estimate in zip(self.k, self.estimates)
        ]
        for name, values in self.by_method.items():
            rows += [
                {"figure": "by method", "k": k, "method": name, "value": value} for k, value in zip(self.k, values)
            ]
        for test in self.back_tests:
            rows += [
                {
                    "figure": f"back-test from {test.n_classes} classes",
                    "k": self.curve.n_classes,
                    "method": self.method,
                    "value": value,
                    "actual": test.actual,
                }
                for value in test.foreseen
            ]
        columns = ["figure", "k", "method", "value", "low", "high", "level", "kind", "actual"]
        return pd.DataFrame(rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; only a summary of the curve."""
        names = ("k", "estimates", "method", "by_method", "path_k", "path", "trusted", "notes", "parameters")
        tests = [{**plain(test), "error": test.error, "lean": test.lean} for test in self.back_tests]
        curve = {"n_classes": self.curve.n_classes, "accuracy": plain(self.curve.at(self.curve.n_classes))}
        return {**{name: plain(getattr(self, name)) for name in names}, "back_tests": tests, "curve": curve}

    def __str__(self) -> str:
        here = self.curve.n_classes
        estimates = "; ".join(f"{_estimate_text(estimate)} with {k:,}" for k, estimate in zip(self.k, self.estimates))
        text = f"Accuracy {self.curve.at(here)} with the {here:,} observed classes, and by {self.method}: {estimates}."
        for test in self.back_tests:
            text += (
                f" Back-test: sets of {test.n_classes} classes predicted {np.mean(test.foreseen):.3g} for all "
                f"{here:,}; the actual accuracy is {test.actual:.3g} (typical error {test.error:.2g})."
            )
        return " ".join([text, *self.notes])


def extrapolate(
    curve: Curve | RiskCurve,
    k: int,
    method: str = "auto",
    level: float = 0.95,
    random_state: int | None = 0,
    basis: Sequence[Callable[[Floats], ArrayLike]] | None = None,
) -> Estimate:
    """Estimate the accuracy, or the expected cost, with k classes, drawn from the same source as these K.

    Accuracy with k classes is E[U^(k−1)], U the share of all classes that a row beats. The distribution of U is
    estimated from the observed curve, and from the scores, by one of:

    - "auto", which is "combined": the mean, on the logit scale, of a normal Φ⁻¹(U) whose spread stays near 1 and of
      "calibrated"; the two err in opposite directions;
    - "calibrated": Φ⁻¹(U) = a + b·z with the standardised true scores z of the rows;
    - "two_parameter": Φ⁻¹(U) normal; "implied": the same with spread 1, the curve of implied information;
    - "moments": a mixture of many normal parts, their width by resampling half of the classes;
    - "likelihood": a mixture by maximum likelihood of the ranks, drawn towards "combined" where they show little;
    - "stacked": these together, weighted by how well each predicts your own classes from some of them, with a check for
      classes that come in pairs; slower;
    - "kernel": a kernel density of the other classes' scores (needs ranks made with `kernel=True`);
    - "line": a straight line in log k, for comparison.

    From 0 to 1. The interval is over classes, on the logit scale: the root of (.85·e)² + (.6·g)², times Student's
    quantile. e is the jackknife's error, too large for a figure that depends on pairs of classes, and g the difference
    between the two combined methods; `tests/long/test_extrapolation_coverage.py` measures its coverage. A value of NaN
    is *not identified*: all predictions were right, or the interval is wider than .6. With k ≤ K the value is the exact
    average over label sets, and nothing is extrapolated.

    It misleads if the new classes are of another kind than the old, or if a learner would be retrained and the score of
    each class depends on the others; and more so, the larger k/K: `extrapolation` back-tests it and reports how far to
    trust it.

    Parameters
    ----------
    curve : from `accuracy_curve`, or from `risk_curve` for the expected cost, with 5 classes or more
    k : number of classes
    method : one of the above
    level : confidence level of the interval
    random_state : the seed of resampling (only for "moments")
    basis : only for "moments": distribution functions of U to use instead of the normal parts, each a function of an
        array from 0 to 1 that rises from 0 to 1, such as scipy.stats.beta(20, 1).cdf

    Examples
    --------
    >>> from classay.classes.curve import accuracy_curve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> extrapolate(accuracy_curve(scores, np.arange(600) % 60), k=1000)    # in truth .243
    0.274 [0.231, 0.321]

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19; Kay et
    al. (2008), Identifying natural images from human brain activity.

    """
    risk = curve if isinstance(curve, RiskCurve) else None
    own = accuracy_curve(risk.ranks, ties=risk.ties, level=level) if risk is not None else curve
    function, _ = _method_and_seed(own, [k], method, level, random_state, basis)
    if risk is not None and k <= risk.n_classes:
        if level != risk.level:
            raise expect.InputError(f"The curve has level {risk.level:g}; make it with `level={level:g}`.")
        return risk.at(k)
    found = forecast(own, [k], function, level)  # type: ignore[arg-type]  # it was checked
    return found[0] if risk is None else risk_ahead(risk, np.array([float(k)]), found, level)[0]


def extrapolation(
    curve: Curve, k: Sequence[int], method: str = "auto", level: float = 0.95, random_state: int | None = 0
) -> Extrapolation:
    """Estimate the accuracy with several numbers of classes, by every method, and how far to trust it.

    As `extrapolate`, with a back-test: random halves and quarters of the classes predict the accuracy with all of them.
    It shows, with the interval, up to which k/K the error stays within .05 in 95 % of cases (`trusted`).

    Parameters
    ----------
    curve, method, level, random_state : as in `extrapolate`
    k : numbers of classes

    Examples
    --------
    >>> from classay.classes.curve import accuracy_curve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> ahead = extrapolation(accuracy_curve(scores, np.arange(600) % 60), k=[100, 1000])
    >>> ahead.estimates, 1.5 < ahead.trusted < 100
    ((0.532 [0.491, 0.573], 0.274 [0.231, 0.321]), True)

    """
    wanted = list(np.atleast_1d(np.asarray(k, dtype=object)))
    function, seed = _method_and_seed(curve, wanted, method, level, random_state)
    name = DEFAULT if method == "auto" else method
    tests = back_test(curve, function, seed)
    here, most = curve.n_classes, max(wanted)
    path_k: tuple[int, ...] = ()
    if most > here:
        path_k = tuple(int(size) for size in np.unique(np.geomspace(here, most, STEPS).round().astype(np.int64)))[1:]
    near = [int(size) for size in np.unique((here * np.geomspace(1.02, MOST_RATIO, STEPS * 2)).round())]
    # If nothing went wrong, or everything did, every back-test succeeds and is uninformative.
    tested = bool(tests) and most > here and 0 < curve.accuracy[-1] < 1
    forecasts = forecast(curve, [*wanted, *path_k, *(near if tested else [])], function, level)
    estimates, path = tuple(forecasts[: len(wanted)]), tuple(forecasts[len(wanted) : len(wanted) + len(path_k)])
    trusted = math.nan
    if tested:
        trusted = min(trusted_ratio(tests, level=level), narrow_ratio(near, forecasts[-len(near) :], here))
    return Extrapolation(
        tuple(int(size) for size in wanted),
        estimates,
        name,
        _all_methods(curve, wanted, seed),
        path_k,
        path,
        tests,
        trusted,
        _notes(curve, wanted, estimates, trusted),
        curve,
        family_parameters(curve.evidence()) if curve.n_classes >= LEAST_CLASSES else {},
    )


def forecast(curve: Curve, k: Sequence[int], method: Method, level: float) -> list[Estimate]:
    """An estimate for each size: exact up to K, extrapolated beyond."""
    if level != curve.level:
        low, high = band(curve.ranks, curve.accuracy, curve.ties, level)
        curve = replace(curve, low=low, high=high, level=level)
    here = curve.n_classes
    ahead = np.array(sorted({size for size in k if size > here}), dtype=float)
    by_size = dict(zip(ahead.tolist(), _extrapolated(curve, ahead, method, level))) if ahead.size else {}
    return [by_size[float(size)] if size > here else _observed(curve, size) for size in k]


def _observed(curve: Curve, k: int) -> Estimate:
    at = curve.at(k)
    return Estimate(at.value, at.low, at.high, at.level, "over classes; not extrapolated: an average over label sets")


def _extrapolated(curve: Curve, k: Floats, method: Method, level: float) -> list[Estimate]:
    here, accuracy = curve.n_classes, float(curve.accuracy[-1])
    if accuracy >= 1 or accuracy <= 0:
        low = (
            mean_top(inverse_mean_top(max(float(curve.low[-1]), 1e-12), here), k)
            if accuracy >= 1
            else np.zeros(k.shape)
        )
        high = np.ones(k.shape) if accuracy >= 1 else np.full(k.shape, float(curve.high[-1]))
        why = f"not identified: {'every' if accuracy >= 1 else 'no'} prediction was right among {here:,} classes"
        return [Estimate(math.nan, float(a), float(b), level, why) for a, b in zip(low, high)]
    evidence = curve.evidence()
    value = method(evidence, k)

    def on_logit_scale(part: Evidence) -> Floats:
        return logit_of(method(part, k)) if part.lower.size else np.full(k.shape, math.nan)

    error = standard_error(curve.ranks, on_logit_scale, curve.ties)
    # Methods that fit the same curve and continue differently show how little the curve determines.
    if isinstance(method, StackedMethod):
        gap = method.doubt(evidence, k) / OF_GAP
    else:
        gap = np.abs(logit_of(shrunk_normal(evidence, k)) - logit_of(calibrated(evidence, k)))
    most = max(float(curve.high[-1]), accuracy)  # more classes are not easier
    return share_intervals(value, error, gap, level, most, here, curve.ranks.n_groups)


def _all_methods(curve: Curve, k: Sequence[int], seed: int) -> dict[str, Floats]:
    """The estimate of every method; the exact value up to K."""
    evidence, by_method = curve.evidence(), {}
    if curve.n_classes < LEAST_CLASSES:
        return {}
    sizes = np.array(k, dtype=np.int64)
    ahead = sizes > curve.n_classes
    for name, method in BY_NAME.items():
        values = np.full(sizes.size, math.nan)
        values[~ahead] = curve.accuracy[sizes[~ahead] - 1]
        if ahead.any():
            if name == "kernel" and not np.isfinite(evidence.kernel).any():
                continue
            function = method
            if name == "moments":
                function = partial(moments, bandwidth=_bandwidth(curve, seed))
            if name == "stacked":
                function = StackedMethod(stack_of(curve, seed))
            values[ahead] = function(evidence, sizes[ahead].astype(float))
        by_method[name] = values
    if ahead.any() and len(curve.retrained) >= LEAST_SIZES:
        values = np.where(ahead, math.nan, curve.accuracy[np.minimum(sizes, curve.n_classes) - 1])
        values[ahead] = from_refits(curve, sizes[ahead].astype(float))
        by_method["refits"] = values
    return by_method


def _method_and_seed(
    curve: Any,
    k: Sequence[Any],
    method: str,
    level: float,
    random_state: int | None,
    basis: Sequence[Callable[[Floats], ArrayLike]] | None = None,
) -> tuple[Method, int]:
    """Check the inputs; return the method as a function, and the seed."""
    expect_curve(curve)
    expect.one_of(method, "method", METHODS)
    expect.fraction(level, "level")
    if not k:
        raise expect.InputError("`k` is empty; expected at least one number of classes.")
    for size in k:
        if expect.whole(size, "k", at_least=1) > MOST_CLASSES:
            raise expect.InputError(f"`k` is {size}; expected at most {MOST_CLASSES:.0e}.")
    if curve.n_classes < LEAST_CLASSES and max(k) > curve.n_classes:
        raise expect.InputError(
            f"The curve has {curve.n_classes} classes; at least {LEAST_CLASSES} are needed to extrapolate to more."
        )
    seed = seeds.settle(random_state)
    name = DEFAULT if method == "auto" else method
    if basis is not None:
        if name != "moments":
            raise expect.InputError(f'`basis` is for method="moments", and the method is {name!r}. Set one of the two.')
        return partial(moments_of_basis, basis=basis_of(list(basis))), seed
    if name == "moments":
        return partial(moments, bandwidth=_bandwidth(curve, seed)), seed
    if name == "stacked":
        return StackedMethod(stack_of(curve, seed)), seed
    if name == "kernel":
        BY_NAME["kernel"](curve.evidence(), [1])  # raises if it was not stored
    return BY_NAME[name], seed


def shares_of_method(curve: Curve, method: str, seed: int) -> tuple[str, tuple[Callable[[Evidence], BeatenShare], ...]]:
    """The name of a method and what makes its distributions of U from evidence."""
    expect.one_of(method, "method", ("auto", *SHARES, "likelihood"))
    name = DEFAULT if method == "auto" else method
    if name == "likelihood":
        return name, (likelihood_share,)
    if name == "moments":
        return name, (partial(moments_share, bandwidth=_bandwidth(curve, seed)),)
    return name, SHARES[name]


def _bandwidth(curve: Curve, seed: int) -> float:
    parts = [part for part in class_samples(curve.ranks, curve.ties, 5, seed) if part.n_classes > 2 and part.lower.size]
    return best_bandwidth(parts, curve.n_classes, float(curve.accuracy[-1]))


def _notes(curve: Curve, k: Sequence[int], estimates: Sequence[Estimate], trusted: float) -> tuple[str, ...]:
    notes, here = [], curve.n_classes
    if max(k) > here:
        if math.isnan(trusted) and not 0 < curve.accuracy[-1] < 1:
            every = "Every" if curve.accuracy[-1] > 0 else "No"
            notes.append(
                f"{every} prediction was right, so a back-test is uninformative: how far to trust it is unknown."
            )
        elif math.isnan(trusted):
            notes.append(f"{here} classes are too few for a back-test: how far to trust it is unknown.")
        elif trusted < NARROWEST:
            notes.append(
                f"For more than the {here:,} observed classes an error within {TOLERANCE:g} cannot be promised in "
                f"{estimates[0].level:.0%} of cases: see the intervals."
            )
        else:
            notes.append(
                f"In {estimates[0].level:.0%} of cases the error stays within {TOLERANCE:g} up to about "
                f"{trusted * here:,.0f} classes ({trusted:.3g} x), by the interval and by the back-test."
            )
            beyond = [f"{size:,}" for size in k if size > trusted * here]
            if beyond:
                notes.append(f"Beyond that: {', '.join(beyond)}.")
    if max(k) > here and here >= LEAST_CLASSES and (pairs := class_pairs(curve)).found:
        notes.append(
            f"Classes seem to come in pairs or small groups: rows lose to exactly one class far more often than "
            f"independent classes allow (ratio {pairs.ratio:.2g}, usually .3 to .6). If new classes come with such "
            'rivals too, forecasts are too low, and a back-test does not show it; use method="stacked".'
        )
    if max(k) > here and family_of_scores(curve.ranks.z, curve.evidence().weights) is None:
        unknown = float(np.isnan(curve.ranks.z).mean())
        notes.append(
            f"The size of the scores is unknown in {unknown:.0%} of the rows (−inf, or all others equal), so only "
            "their order is used: half of the default, the calibrated method, falls back to a normal shape."
        )
    if max(k) > here and training_changes(curve):
        refits = from_refits(curve, [max(k)])[0]
        notes.append(
            "Training changes with k: refitted on fewer classes, the learner is off the curve by more than chance, so "
            f"the theory does not hold for it. From the refits alone: {refits:.3g} with {max(k):,}."
        )
    elif curve.ranks.marginal is False and max(k) > here:
        notes.append(
            "The learner's score of a class depends on the other classes, so retrained on more classes it would give "
            "other scores: the theory does not hold, and `curve_of_learner(..., retrain=True)` shows how far off it is."
        )
    return (*notes, *curve.ranks.notes)


def _estimate_text(estimate: Estimate) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"


def _estimate_row(estimate: Estimate) -> dict[str, Any]:
    return {name: getattr(estimate, name) for name in ("value", "low", "high", "level", "kind")}
