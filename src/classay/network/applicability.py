"""What to say of a network's figures: where they were not shown to hold, and where they are doubtful."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .feature_quality import sign_note
from .record import Prototypes

CONVERGED = 0.9
"""Below this share of walks that arrived, figures are said to be doubtful."""
SENSITIVE = 0.05
"""Above this range of M_bt over three steps, it is said to depend on the step."""


def applicability(record: Prototypes, output: str, lower: float, upper: float) -> list[str]:
    """The remarks that apply. `output` is what follows the head; `lower` and `upper` are the paper's bounds."""
    notes = [remark] if (remark := sign_note(record.features)) else []
    if output == "sigmoid":
        notes.append("The network answers a sigmoid, not a softmax, for which the paper's figures were not given.")
    arrived = float(record.converged.mean())
    if arrived < CONVERGED:
        notes.append(f"Only {arrived:.0%} of the walks reached the loss of {record.settings['delta']:g}: doubtful.")
    if (zeros := _zeros(record.features)) > 0:
        notes.append(f"The features of {zeros:.0%} of the prototypes are zero throughout; their cosine is taken as 0.")
    values = list(record.sensitivity.values())
    if values and max(values) - min(values) > SENSITIVE:
        notes.append(
            f"M_bt depends on the step: {min(values):.2f} to {max(values):.2f} over a third to three times it."
        )
    if lower > upper:
        notes.append("The paper's lower bound is above its upper one here, so that they bound nothing.")
    return notes


def _zeros(features: NDArray[np.floating]) -> float:
    return float((~features.any(axis=1)).mean())
