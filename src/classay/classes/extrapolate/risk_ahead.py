"""Expected cost with more classes than were observed: the accuracy, and what a wrong prediction costs, go on."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from ...arrays import Floats
from ...intervals import Estimate
from ..curve.curve import jackknife_error
from ..curve.risk import RiskCurve
from .methods import UPPER_PART

SIZES = 15
KIND = "over classes, extrapolated: accuracy and cost at their ends together, so rather too wide"


def risk_ahead(risk: RiskCurve, k: Floats, accuracy: list[Estimate], level: float) -> list[Estimate]:
    """The expected cost with each k > K, from the extrapolated accuracy.

    risk_k = a_k·b_k + (1 − a_k)·c_k, a_k the accuracy, b_k what right predictions cost and c_k wrong ones. With more
    classes the wrong class that wins is closer to the row, so c_k drifts: it follows its trend over the larger observed
    sizes, a power of k if no cost is negative and else a line in log k, within the lowest and the highest cost.
    """
    observed = risk.ranks.evidence(risk.ties).accuracy()
    right, wrong = (_ahead(part, observed, k, risk, at) for at, part in enumerate((risk.of_right, risk.of_wrong)))
    right_error, wrong_error = (_errors(risk, k, at) for at in (0, 1))
    reach = float(stats.t.ppf(0.5 + level / 2, max(len(risk.without) - 1, 1)))
    estimates = []
    for place, share in enumerate(accuracy):
        costs = [
            (b, c, a)
            for a in (share.low, share.high)
            for b in _ends(right[place], reach * right_error[place], risk, of_right=True)
            for c in _ends(wrong[place], reach * wrong_error[place], risk, of_right=False)
        ]
        ends = [a * b + (1 - a) * c for b, c, a in costs]
        value = share.value * right[place] + (1 - share.value) * wrong[place]
        kind = KIND if share.known else share.kind
        estimates.append(Estimate(float(value), float(min(ends)), float(max(ends)), level, kind))
    return estimates


def _ahead(part: Floats, accuracy: Floats, k: Floats, risk: RiskCurve, which: int) -> Floats:
    """The cost of a right (0) or a wrong (1) prediction with each k."""
    n_classes = part.size
    first = max(2, math.ceil(UPPER_PART * n_classes))
    sizes = np.unique(np.geomspace(first, n_classes, SIZES).round().astype(np.int64))
    share = (accuracy if which == 0 else 1 - accuracy)[sizes - 1]
    if not (share > 1e-12).all():
        return np.full(k.shape, 0.0 if which == 0 else (risk.least + risk.most) / 2)
    cost = part[sizes - 1] / share
    logs = np.log(sizes / n_classes)
    powers = bool((cost > 0).all() and risk.least >= 0)
    slope = np.polyfit(logs, np.log(cost) if powers else cost, 1)[0] if sizes.size > 1 else 0.0
    drift = slope * np.log(k / n_classes)
    gone: Floats = cost[-1] * np.exp(drift) if powers else cost[-1] + drift
    # The cost of right predictions has no range of its own: it stays within what was observed.
    low, high = (risk.least, risk.most) if which else (float(cost.min()), float(cost.max()))
    return np.clip(gone, low, high)


def _errors(risk: RiskCurve, k: Floats, which: int) -> Floats:
    """Standard errors of `_ahead` over groups of classes; infinite with too few classes."""
    if not len(risk.without):
        return np.full(k.shape, math.inf)
    left = np.array([_ahead(parts[which], parts[2], k, risk, which) for parts in risk.without])
    return np.asarray(jackknife_error(left, np.bincount(risk.group)))


def _ends(cost: float, reach: float, risk: RiskCurve, of_right: bool) -> tuple[float, float]:
    if of_right:
        return (cost - reach, cost + reach) if math.isfinite(reach) else (cost, cost)
    return max(cost - reach, risk.least), min(cost + reach, risk.most)
