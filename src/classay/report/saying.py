"""Figures in sentences."""

from __future__ import annotations

import math

from ..data.complexity import Complexity
from ..intervals import Estimate


def percent(estimate: Estimate) -> str:
    """A share: «93.4 % (91.1 to 95.2)».

    >>> percent(Estimate(0.934, 0.911, 0.952))
    '93.4 % (91.1 to 95.2)'
    """
    if not estimate.known:
        return "an unknown share"
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return share(estimate.value)
    return f"{share(estimate.value)} ({_number(estimate.low)} to {_number(estimate.high)})"


def share(value: float) -> str:
    """A share without interval: «93.4 %», which no line may break."""
    return f"{_number(value)} %"


def points(estimate: Estimate) -> str:
    """A difference of shares: «2.1 points (−0.4 to 4.6)»."""
    return f"{_number(estimate.value)} points ({_number(estimate.low)} to {_number(estimate.high)})"


def signed(estimate: Estimate) -> str:
    """A difference of shares in a list: «+2.1 [−0.4, +4.6]», in points."""
    value, low, high = (f"{_number(each)}" if each < 0 else f"+{_number(each)}" for each in _ends(estimate))
    return f"{value} [{low}, {high}]"


def bits(estimate: Estimate) -> str:
    """An entropy: «1.25 bits (1.1 to 1.4)»."""
    if not estimate.known:
        return "an unknown number of bits"
    return f"{estimate.value:.2f} bits ({max(estimate.low, 0):.2f} to {estimate.high:.2f})"


def quoted(label: object) -> str:
    """A class, column or learner as it is called."""
    text = " ".join(str(label).split())
    return f"«{text[:57]}…»" if len(text) > 58 else f"«{text}»"


def joined(parts: list[str]) -> str:
    """«a», «a and b», «a, b and c»."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def ruler(complexity: Complexity) -> str:
    """By which distance to classes their baseline goes: «Mahalanobis distance (one covariance for all)»."""
    proper = {"mahalanobis": "Mahalanobis", "euclidean": "Euclidean", "gaussian": "Gaussian"}
    name = proper.get(complexity.distance, complexity.distance.replace("_", " "))
    if complexity.distance in ("euclidean", "cosine", "whitened_cosine"):
        return f"{name} distance"
    spread = {"shared": " (one covariance for all)", "full": " (a covariance of each class)"}
    return f"{name} distance{spread.get(complexity.covariance, '')}"


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


def _number(value: float) -> str:
    text = f"{100 * value:.1f}"
    return ("0.0" if text == "-0.0" else text).replace("-", "−")
