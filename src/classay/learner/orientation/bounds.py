"""How bias and expressivity limit each other: chance, target sizes, and the three bounds.

A target set contains the labelings with at least z of h labels right. q is the probability that a learner gives to it,
p that of uniform guessing, so bias = q − p. |Ω| = c^h labelings; k of them are in the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...expect import whole


def target_size(threshold: int, holdout_size: int, n_classes: int) -> int:
    """k: how many of the c^h labelings have at least `threshold` labels right."""
    wrong = n_classes - 1
    return sum(
        math.comb(holdout_size, right) * wrong ** (holdout_size - right) for right in range(threshold, holdout_size + 1)
    )


def chance(threshold: int, holdout_size: int, n_classes: int) -> float:
    """p_z: the chance that uniform guessing gets at least `threshold` of `holdout_size` labels right.

    >>> [round(chance(z, 5, 2), 4) for z in (1, 2, 3, 4, 5)]
    [0.9688, 0.8125, 0.5, 0.1875, 0.0312]
    """
    whole(threshold, "threshold", at_least=0)
    return target_size(threshold, holdout_size, n_classes) / int(n_classes**holdout_size)


def binary_entropy(q: float) -> float:
    """H2(q) in bits.

    >>> binary_entropy(0.5)
    1.0
    """
    return sum(-share * math.log2(share) for share in (q, 1 - q) if share > 0)


def most_expressivity(q: float, threshold: int, holdout_size: int, n_classes: int) -> float:
    """The tight bound: with mass q on the target, H ≤ H2(q) + q·log2 k + (1 − q)·log2(|Ω| − k)."""
    inside = target_size(threshold, holdout_size, n_classes)
    outside = n_classes**holdout_size - inside
    q = min(max(q, 0.0), 1.0)
    return (
        binary_entropy(q)
        + (q * math.log2(inside) if inside else 0.0)
        + ((1 - q) * math.log2(outside) if outside else 0.0)
    )


def most_expressivity_lauw(bias: float, log2_labelings: float) -> float:
    """The published bound on expressivity: H ≤ log2|Ω| − 2·bias² (Lauw et al., 2019)."""
    return log2_labelings - 2 * bias**2


def most_bias_lauw(expressivity: float, log2_labelings: float) -> float:
    """The published bound on bias: |bias| ≤ sqrt((log2|Ω| − H)/2). It is uninformative above 1."""
    return math.sqrt(max(log2_labelings - expressivity, 0.0) / 2)


@dataclass(frozen=True)
class Bounds:
    """What is possible at one threshold, next to what was measured (`bias` and `expressivity`, plain estimates).

    `bias_low` and `bias_high` are −p and 1 − p. `expressivity_tight` is the highest expressivity that a learner with
    this bias can have, `expressivity_least` the lowest; `expressivity_lauw` and `bias_lauw` are the published, looser
    bounds.
    """

    threshold: int
    chance: float
    bias: float
    bias_low: float
    bias_high: float
    bias_lauw: float
    expressivity: float
    expressivity_least: float
    expressivity_tight: float
    expressivity_lauw: float


def bounds(bias: float, expressivity: float, threshold: int, holdout_size: int, n_classes: int) -> Bounds:
    """All bounds at one threshold."""
    p = chance(threshold, holdout_size, n_classes)
    log2_labelings = holdout_size * math.log2(n_classes)
    return Bounds(
        threshold=threshold,
        chance=p,
        bias=bias,
        bias_low=-p,
        bias_high=1 - p,
        bias_lauw=most_bias_lauw(expressivity, log2_labelings),
        expressivity=expressivity,
        expressivity_least=binary_entropy(min(max(p + bias, 0.0), 1.0)),
        expressivity_tight=most_expressivity(p + bias, threshold, holdout_size, n_classes),
        expressivity_lauw=most_expressivity_lauw(bias, log2_labelings),
    )


def published_ranges(threshold: int, holdout_size: int, n_classes: int) -> dict[float, tuple[float, float]]:
    """Table 5 of the paper: the range of expressivity at the lowest bias, at zero, and at the highest."""
    p = chance(threshold, holdout_size, n_classes)
    inside = target_size(threshold, holdout_size, n_classes)
    outside = n_classes**holdout_size - inside
    return {
        -p: (0.0, math.log2(outside) if outside else 0.0),
        0.0: (binary_entropy(p), holdout_size * math.log2(n_classes)),
        1 - p: (0.0, math.log2(inside) if inside else 0.0),
    }
