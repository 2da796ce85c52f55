"""The estimate of accuracy: a linear combination of dataless figures, fitted on networks whose accuracy is known.

logit(accuracy) = intercept + Σ coefficient · (figure − centre) / scale. The constants below were made by
`benchmarks/network_claims.py --fit` on 252 small networks (multilayer perceptrons, convolutional ones and ResNet18 of
width 16, on nine image sets of 10 to 40 classes) whose amount of data, length of training and label noise were varied
apart. On data sets left out of the fit it orders the checkpoints of one architecture and data set (Spearman .73 in the
mean; .66 with the figures, too, chosen without that data set) and, less well, those of several architectures (.63;
.49). It hardly tells the level: its mean error is .24, where a constant's is .28. How hard a data set is, weights do
not say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..intervals import Estimate

LEVEL = 0.9
KIND = "of networks on data sets left out of the calibration"
CLASSES = (10, 40)
"""Fewest and most classes of the calibration."""
FORMED = (
    "All this tells how head and features are formed, not how accurate the network is: the estimate ranks checkpoints "
    "of one task, and its level is rough."
)


@dataclass(frozen=True)
class Term:
    """One figure's part in the estimate, and the least and greatest value it had in the calibration."""

    figure: str
    centre: float
    scale: float
    coefficient: float
    least: float
    most: float


@dataclass(frozen=True)
class Calibration:
    """A fitted estimate. `reach`: how far below and above it the truth lay; within it were 90 % on sets left out."""

    intercept: float
    reach: tuple[float, float]
    terms: tuple[Term, ...]


CALIBRATIONS = (
    Calibration(  # images
        1.0738,
        (-0.689, 0.345),
        (
            Term("row_spread", 0.2119, 0.2096, 0.2449, -0.4006, 0.8516),
            Term("between", 0.5036, 0.1499, 0.6181, 0.1665, 0.8536),
            Term("within", 0.9042, 0.0658, 0.5900, 0.6440, 0.9806),
            Term("norm_growth", 0.3667, 0.1643, 0.5661, 0.0012, 0.9117),
            Term("shift_robustness", 0.7908, 0.2067, 0.2932, 0.0781, 0.9842),
        ),
    ),
    Calibration(  # any input
        1.0225,
        (-0.676, 0.395),
        (
            Term("row_spread", 0.2119, 0.2096, 0.3453, -0.4006, 0.8516),
            Term("between", 0.5036, 0.1499, 0.7023, 0.1665, 0.8536),
            Term("within", 0.9042, 0.0658, 0.7591, 0.6440, 0.9806),
            Term("norm_growth", 0.3667, 0.1643, 0.6199, 0.0012, 0.9117),
        ),
    ),
)
"""The first whose figures are all known is used."""


def estimate_accuracy(figures: Mapping[str, float], classes: int) -> tuple[Estimate, list[str]]:
    """Estimate the accuracy of a network from its dataless figures, and say what makes the estimate doubtful.

    Between 0 and 1, with an interval that held the truth of 90 % of the networks on data sets left out. It is meant for
    ranking checkpoints of one task. It misleads between tasks, does not see wrong labels in training, and outside of
    the figures' range in the calibration it is a guess, which is said. Unknown where figures are missing.

    Examples
    --------
    >>> known = {"row_spread": 0.2, "between": 0.5, "within": 0.9, "norm_growth": 0.4}
    >>> estimate, doubts = estimate_accuracy(known, classes=10)
    >>> round(estimate.value, 1), doubts
    (0.7, [])
    >>> estimate_accuracy({**known, "between": 0.7}, classes=10)[0].value > estimate.value
    True

    """
    for calibration in CALIBRATIONS:
        if all(math.isfinite(figures.get(term.figure, math.nan)) for term in calibration.terms):
            break
    else:
        return Estimate(math.nan, 0.0, 1.0, LEVEL, "unknown: figures are missing"), []
    score = calibration.intercept + sum(
        term.coefficient * (figures[term.figure] - term.centre) / term.scale for term in calibration.terms
    )
    value = 1 / (1 + math.exp(-max(min(score, 50.0), -50.0)))
    low, high = (min(max(value + edge, 0.0), 1.0) for edge in calibration.reach)
    strange = [term.figure for term in calibration.terms if not term.least <= figures[term.figure] <= term.most]
    doubts = []
    if strange:
        doubts.append(f"Outside of the calibration in {', '.join(strange)}: the estimate is a guess.")
    if not CLASSES[0] <= classes <= CLASSES[1]:
        doubts.append(
            f"The estimate was calibrated on {CLASSES[0]} to {CLASSES[1]} classes; this network has {classes}."
        )
    return Estimate(value, low, high, LEVEL, KIND), doubts
