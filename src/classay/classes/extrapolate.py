"""`extrapolate`: what accuracy will be with more classes than there are, with an interval, or that nobody can tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from .. import expect, seeds
from ..intervals import Estimate
from .backtest import LEAST_CLASSES, TOLERANCE, back_test, limit_of_trust
from .band import band
from .bayes import expect_curve
from .channel import lead, mean_top
from .curve import Curve
from .evidence import Evidence
from .forecast import Extrapolation
from .methods import METHODS as BY_NAME
from .methods import Method, calibrated, logit_of, shrunk
from .mixture import best_bandwidth, moments
from .resample import halves, standard_error

Floats = NDArray[np.float64]

METHODS = ("auto", *BY_NAME)
DEFAULT = "combined"
WIDEST = 0.6
"""A wider interval is no forecast: «not identified»."""
OF_ERROR, OF_GAP = 0.85, 0.6
"""How much the jackknife's error and the gap between two methods count: set so that intervals hold in simulations."""
MOST = 10**12
STEPS = 24
"""Sizes from K to the largest k asked for, for a picture."""


def extrapolate(
    curve: Curve, k: int, method: str = "auto", level: float = 0.95, random_state: int | None = 0
) -> Estimate:
    """Tell what accuracy will be with k classes, drawn from where these K were drawn.

    Accuracy with k classes is E[U^(k−1)], U the share of all classes that a row beats. How U is spread is told from the
    observed curve, and from the scores, by one of:

    - "auto", which is "combined": the mean, on the logit scale, of a normal Φ⁻¹(U) whose spread stays near 1 and of
      "calibrated"; the two err in opposite directions;
    - "calibrated": Φ⁻¹(U) = a + b·z with the standardised true scores z of the rows;
    - "two_parameter": Φ⁻¹(U) normal; "implied": the same with spread 1, the curve of implied information;
    - "moments": a mixture of many normal parts, their width by resampling half of the classes;
    - "kernel": a kernel density of the other classes' scores (needs ranks made with `kernel=True`);
    - "line": a straight line in log k, for comparison.

    From 0 to 1. The interval is over classes, on the logit scale: the root of (.85·e)² + (.6·g)², times Student's
    quantile. e is the jackknife's error, too large for a figure that hangs on pairs of classes, and g how far the two
    combined methods are apart; `tests/long/test_extrapolation_coverage.py` tells how often it holds. A value of NaN is
    *not identified*: all answers were right, or the interval is wider than .6. With k ≤ K the value is the exact
    average over label sets, and nothing is extrapolated.

    It misleads where the new classes are of another kind than the old, where a learner would be trained anew and
    scores each class in the light of the others, and the more, the larger k/K: `extrapolation` back-tests it and says
    how far to trust it.

    Parameters
    ----------
    curve : from `accuracy_curve`, of 5 classes or more
    k : how many classes there will be
    method : one of the above
    level : of the interval
    random_state : the seed of what is resampled ("moments" alone)

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
    chosen, _ = _ready(curve, [k], method, level, random_state)
    return foresee(curve, [k], chosen, level)[0]


def extrapolation(
    curve: Curve, k: Sequence[int], method: str = "auto", level: float = 0.95, random_state: int | None = 0
) -> Extrapolation:
    """Tell what accuracy will be with several numbers of classes, how each method sees it, and how far to trust it.

    As `extrapolate`, with a back-test: random halves and quarters of the classes foresee the accuracy with all of them.
    From its error follows up to which k/K errors are expected to stay within .05 (`trusted`).

    Parameters
    ----------
    curve, method, level, random_state : as in `extrapolate`
    k : numbers of classes

    Examples
    --------
    >>> from classay.classes.curve import accuracy_curve
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
    >>> found = extrapolation(accuracy_curve(scores, np.arange(600) % 60), k=[100, 1000])
    >>> found.estimates, round(found.trusted) > 2
    ((0.532 [0.491, 0.573], 0.274 [0.231, 0.321]), True)

    """
    wanted = list(np.atleast_1d(np.asarray(k, dtype=object)))
    chosen, seed = _ready(curve, wanted, method, level, random_state)
    name = DEFAULT if method == "auto" else method
    tests = back_test(curve, chosen, seed)
    # Where nothing went wrong, or all did, every back-test comes out right, and tells nothing.
    trusted = limit_of_trust(tests) if 0 < curve.accuracy[-1] < 1 else math.nan
    here, most = curve.n_classes, max(wanted)
    path_k: tuple[int, ...] = ()
    if most > here:
        path_k = tuple(int(size) for size in np.unique(np.geomspace(here, most, STEPS).round().astype(np.int64)))[1:]
    found = foresee(curve, [*wanted, *path_k], chosen, level)
    estimates = tuple(found[: len(wanted)])
    return Extrapolation(
        tuple(int(size) for size in wanted),
        estimates,
        name,
        _all_methods(curve, wanted, seed),
        path_k,
        tuple(found[len(wanted) :]),
        tests,
        trusted,
        _notes(curve, wanted, estimates, trusted),
        curve,
    )


def _ready(curve: Any, k: Sequence[Any], method: str, level: float, random_state: int | None) -> tuple[Method, int]:
    """Look at what was handed in; the method as a function, and the seed."""
    expect_curve(curve)
    expect.one_of(method, "method", METHODS)
    expect.fraction(level, "level")
    if not k:
        raise expect.InputError("`k` is empty; at least one number of classes is expected.")
    for size in k:
        if expect.whole(size, "k", at_least=1) > MOST:
            raise expect.InputError(f"`k` is {size}; at most {MOST:.0e} is expected.")
    if curve.n_classes < LEAST_CLASSES and max(k) > curve.n_classes:
        raise expect.InputError(
            f"The curve is of {curve.n_classes} classes; at least {LEAST_CLASSES} are needed to foresee more of them."
        )
    seed = seeds.settle(random_state)
    name = DEFAULT if method == "auto" else method
    if name == "moments":
        return partial(moments, bandwidth=_bandwidth(curve, seed)), seed
    if name == "kernel":
        BY_NAME["kernel"](curve.evidence(), [1])  # says so, if it was not taken
    return BY_NAME[name], seed


def _bandwidth(curve: Curve, seed: int) -> float:
    parts = [part for part in halves(curve.ranks, curve.ties, 5, seed) if part.n_classes > 2 and part.lower.size]
    return best_bandwidth(parts, curve.n_classes, float(curve.accuracy[-1]))


def foresee(curve: Curve, k: Sequence[int], method: Method, level: float) -> list[Estimate]:
    """An estimate for each size: exact up to K, extrapolated beyond."""
    if level != curve.level:
        low, high = band(curve.ranks, curve.accuracy, curve.ties, level)
        curve = replace(curve, low=low, high=high, level=level)
    here = curve.n_classes
    ahead = np.array(sorted({size for size in k if size > here}), dtype=float)
    found = dict(zip(ahead.tolist(), _beyond(curve, ahead, method, level))) if ahead.size else {}
    return [found[float(size)] if size > here else _observed(curve, size) for size in k]


def _observed(curve: Curve, k: int) -> Estimate:
    at = curve.at(k)
    return Estimate(at.value, at.low, at.high, at.level, "over classes; not extrapolated: an average over label sets")


def _beyond(curve: Curve, k: Floats, method: Method, level: float) -> list[Estimate]:
    here, accuracy = curve.n_classes, float(curve.accuracy[-1])
    if accuracy >= 1 or accuracy <= 0:
        low = mean_top(lead(max(float(curve.low[-1]), 1e-12), here), k) if accuracy >= 1 else np.zeros(k.shape)
        high = np.ones(k.shape) if accuracy >= 1 else np.full(k.shape, float(curve.high[-1]))
        why = f"not identified: {'every' if accuracy >= 1 else 'no'} answer was right among {here:,} classes"
        return [Estimate(math.nan, float(a), float(b), level, why) for a, b in zip(low, high)]
    evidence = curve.evidence()
    value = method(evidence, k)
    centre = logit_of(value)

    def on_logit_scale(part: Evidence) -> Floats:
        return logit_of(method(part, k)) if part.lower.size else np.full(k.shape, math.nan)

    error = standard_error(curve.ranks, on_logit_scale, curve.ties)
    # Methods that fit the same curve and go on differently tell how little the curve tells.
    apart = np.abs(logit_of(shrunk(evidence, k)) - logit_of(calibrated(evidence, k)))
    reach = float(stats.t.ppf(0.5 + level / 2, max(curve.ranks.n_groups - 1, 1))) * np.hypot(
        OF_ERROR * error, OF_GAP * apart
    )
    low, high = expit(centre - reach), expit(centre + reach)
    high = np.minimum(high, max(float(curve.high[-1]), accuracy))  # more classes are not easier
    found = []
    for one, least, most in zip(value, low, high):
        least, most = float(min(least, one)), float(max(most, one))
        if not math.isfinite(least + most) or most - least > WIDEST:
            least, most = (0.0, float(curve.high[-1])) if not math.isfinite(least + most) else (least, most)
            why = f"not identified: {here:,} classes leave anything from {least:.2g} to {most:.2g} possible"
            found.append(Estimate(math.nan, least, most, level, why))
        else:
            found.append(Estimate(float(one), least, most, level, "over classes, extrapolated"))
    return found


def _all_methods(curve: Curve, k: Sequence[int], seed: int) -> dict[str, Floats]:
    """What every method says; the exact value up to K."""
    evidence, found = curve.evidence(), {}
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
            way = partial(moments, bandwidth=_bandwidth(curve, seed)) if name == "moments" else method
            values[ahead] = way(evidence, sizes[ahead].astype(float))
        found[name] = values
    return found


def _notes(curve: Curve, k: Sequence[int], estimates: Sequence[Estimate], trusted: float) -> tuple[str, ...]:
    notes, here = [], curve.n_classes
    if max(k) > here:
        if math.isnan(trusted) and not 0 < curve.accuracy[-1] < 1:
            every = "Every" if curve.accuracy[-1] > 0 else "No"
            notes.append(
                f"{every} answer was right, so that a back-test tells nothing: how far to trust it is not known."
            )
        elif math.isnan(trusted):
            notes.append(f"{here} classes are too few for a back-test: how far to trust it is not known.")
        else:
            notes.append(
                f"By the back-test errors are expected to stay within {TOLERANCE:g} up to about {trusted * here:,.0f} "
                f"classes ({trusted:.2g} x)."
            )
            beyond = [f"{size:,}" for size in k if size > trusted * here]
            if beyond:
                notes.append(f"Beyond that: {', '.join(beyond)}.")
    if curve.ranks.marginal is False and max(k) > here:
        notes.append(
            "The learner scores each class in the light of the others, so that trained on more classes it would score "
            "otherwise: the theory does not hold, and `curve_of_learner(..., retrain=True)` shows how far off it is."
        )
    return (*notes, *curve.ranks.notes)
