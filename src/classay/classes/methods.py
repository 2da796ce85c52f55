"""Ways to foresee the accuracy with more classes than there are: pure functions of evidence.

Each takes evidence and sizes k and returns the accuracy for them. `combined` is the default of `extrapolate`: the mean,
on the logit scale, of two that err in opposite directions; no single one is better on as many kinds of data
(`benchmarks/extrapolation.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from ..expect import InputError
from .channel import mean_top
from .evidence import Evidence
from .families import Family, family_of_scores, fit, normal_family
from .leads import fit_lead
from .mixture import moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Method = Callable[[Evidence, ArrayLike], Floats]

SIZES = 40
SHRINK = 0.3
"""How far the spread of the combined normal member may stray from 1, as a standard deviation of its logarithm."""
UPPER_PART = 0.3
"""The combined normal member is fitted to sizes from this share of the classes on."""


def line(evidence: Evidence, k: ArrayLike) -> Floats:
    """A straight line in log k, through the curve by least squares; cut to what is possible."""
    sizes = sizes_from(evidence)
    slope, level = np.polyfit(np.log(sizes), evidence.accuracy(sizes), 1)
    found: Floats = np.clip(level + slope * np.log(np.asarray(k, dtype=float)), 0.0, 1.0)
    return found


def implied(evidence: Evidence, k: ArrayLike) -> Floats:
    """One parameter: π̄_k(√(2ι)) with the implied information ι of the whole curve."""
    sizes = sizes_from(evidence)
    return mean_top(fit_lead(evidence.accuracy(sizes), sizes), k)


def two_parameter(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) normal with any mean and spread."""
    return _by_family(evidence, k, normal_family(), math.inf, 0.0)


def shrunk(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) normal, with a spread near 1, that of implied information, and fitted to the larger sizes."""
    return _by_family(evidence, k, normal_family(), SHRINK, UPPER_PART)


def calibrated(evidence: Evidence, k: ArrayLike) -> Floats:
    """Φ⁻¹(U) = a + b·z with the rows' own standardised scores z."""
    family = family_of_scores(evidence.z, evidence.weights)
    # Where scores say no more than their order, a normal shape stands in for theirs.
    return _by_family(evidence, k, family or normal_family(), math.inf, 0.0)


def kernel(evidence: Evidence, k: ArrayLike) -> Floats:
    """E[U^(k−1)] with U from a kernel density of the other classes' scores of each row (Kay et al.)."""
    known = np.isfinite(evidence.kernel)
    if not known.any():
        raise InputError(
            'method="kernel" needs smoothed counts, and there are none: make the record with '
            "`Ranks.from_scores(scores, y, kernel=True)`, from scores of which not every row has a −inf."
        )
    wanted = np.asarray(k, dtype=float)
    weights = evidence.weights[known] / evidence.weights[known].sum()
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(evidence.kernel[known]), -1e280)  # times 1e12 is still a number
    found = [float(weights @ np.exp(logs * (size - 1))) for size in wanted.ravel()]
    return np.reshape(found, wanted.shape).clip(0.0, 1.0)


def combined(evidence: Evidence, k: ArrayLike) -> Floats:
    """The mean of `shrunk` and `calibrated` on the logit scale."""
    found: Floats = expit((logit_of(shrunk(evidence, k)) + logit_of(calibrated(evidence, k))) / 2)
    return found


METHODS: dict[str, Method] = {
    "combined": combined,
    "calibrated": calibrated,
    "two_parameter": two_parameter,
    "implied": implied,
    "moments": moments,
    "kernel": kernel,
    "line": line,
}


def sizes_from(evidence: Evidence, share: float = 0.0, most: int = SIZES) -> Ints:
    """Sizes from 2, or from a share of the classes, to K, evenly spaced on a log scale."""
    first = max(2, math.ceil(share * evidence.n_classes))
    return np.unique(np.geomspace(first, evidence.n_classes, most).round().astype(np.int64))


def logit_of(share: ArrayLike) -> Floats:
    """The logit, finite also at 0 and 1."""
    found: Floats = logit(np.clip(share, 1e-300, 1 - 1e-15))
    return found


def _by_family(evidence: Evidence, k: ArrayLike, family: Family, shrink: float, share: float) -> Floats:
    sizes = sizes_from(evidence, share)
    accuracy = evidence.accuracy(sizes)
    # How far the last point may be off, with every class one trial; the prior counts beside that.
    last = min(float(accuracy[-1]), 1.0)
    uncertainty = max(math.sqrt(last * (1 - last) / evidence.n_classes), 0.5 / evidence.n_classes)
    return np.clip(family.accuracy(*fit(family, sizes, accuracy, uncertainty, shrink), k), 0.0, 1.0)
