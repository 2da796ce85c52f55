"""Classes that come in pairs or small groups: whether rows lose to exactly one class more often than theory allows.

If classes are drawn independently, the number N of classes above the true one is a mixture of (nearly) Poisson numbers,
and its chances p₀, p₁, p₂ satisfy p₁² ≤ 2·p₀·p₂ (Cauchy and Schwarz). Real data and independent sources have
p₁/√(2p₀p₂) between .3 and .6. Twins, of which each has its own rival, make p₁ large and leave p₂ small. Random subsets
of the classes separate twins, so no back-test shows them; extrapolation then takes a rival that is always there for
crowding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ..curve.curve import Curve, jackknife_error, leave_groups_out
from ..ranks.ranks import Evidence

USUAL, SUSPECT, CERTAIN = 0.5, 0.8, 0.6
"""The ratio of independent classes; the one above which classes come in pairs, and where its lower limit must be."""
CERTAINTY = 1.0
"""Standard errors to that limit. Among independent classes no ratio above .6 was seen, so one is enough."""
LEAST_ROWS = 5
"""So many rows must lose to exactly one class."""


@dataclass(frozen=True)
class ClassPairs:
    """`ratio`: p₁/√(2p₀p₂); `share` of rows that lose to a rival that came with their class; `found`: beyond chance."""

    ratio: float
    share: float
    found: bool


def class_pairs(curve: Curve) -> ClassPairs:
    """Look for classes that come in pairs."""
    evidence = curve.evidence()
    ratio = pair_ratio(evidence.beaten)
    alone = float(evidence.beaten[-2]) if evidence.n_classes > 2 else 0.0
    if evidence.n_classes < 10 or alone * curve.ranks.truth.size < LEAST_ROWS or not ratio > SUSPECT:
        return ClassPairs(ratio, 0.0, False)
    logs = [math.log(pair_ratio(part.beaten)) for part in leave_groups_out(curve.ranks, curve.ties, statistics=False)]
    error = float(jackknife_error(np.array(logs), np.bincount(curve.ranks.group)))
    if not math.log(ratio) - CERTAINTY * error > math.log(CERTAIN):
        return ClassPairs(ratio, 0.0, False)
    return ClassPairs(ratio, rival_share(evidence.beaten), True)


def pair_ratio(beaten: Floats) -> float:
    """p₁/√(2p₀p₂), with a little added to p₂ so that no row there is not infinity."""
    if beaten.size < 3:
        return 0.0
    p0, p1, p2 = (float(beaten[-1 - place]) for place in range(3))
    little = 0.1 / beaten.size
    return p1 / math.sqrt(2 * max(p0, little) * (p2 + little)) if p1 > 0 else 1e-9


def rival_share(beaten: Floats) -> float:
    """The share t of rows with a rival of their own, such that the others have the usual ratio: by bisection."""
    p0, p1 = float(beaten[-1]), float(beaten[-2])
    low, high = 0.0, p1 / (p0 + p1)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if pair_ratio(without_rivals(beaten, middle)) > USUAL else (low, middle)
    return (low + high) / 2


def without_rivals(beaten: Floats, share: float) -> Floats:
    """The distribution of classes beaten if no row had a rival: p_j = (1 − t)·q_j + t·q_{j−1}, solved for q."""
    above = beaten[::-1]
    rest = np.zeros(above.size)
    before = 0.0
    for place, chance in enumerate(above):
        before = rest[place] = max((chance - share * before) / (1 - share), 0.0)
    return np.asarray(rest[::-1] / rest.sum())


def evidence_without_rivals(evidence: Evidence, share: float) -> Evidence:
    """Evidence of rows without their rivals: ranks alone, since scores are of both."""
    lower = np.arange(evidence.n_classes)
    kept = without_rivals(evidence.beaten, share)
    return Evidence(evidence.n_classes, lower, np.zeros_like(lower), kept, ties=evidence.ties)
