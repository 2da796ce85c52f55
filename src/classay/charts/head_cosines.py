"""How the rows of a head stand to each other, beside fresh rows and the simplex."""

from __future__ import annotations

import math

import altair as alt

from ..network.head import HeadQuality
from .cosine_lanes import Lane, cosine_lanes
from .theme import COLOURS


def head_cosines(head: HeadQuality) -> alt.LayerChart:
    """Draw the cosines between the rows of a head, and those of fresh ones, with the simplex and random rows."""
    digits = 2 + math.ceil(math.log10(head.classes))
    lanes = [
        Lane("rows of this head", head.histogram, head.mean_cosine, head.cosine_std, COLOURS[0], digits),
        Lane.counted("rows freshly initialised", head.fresh_histogram, COLOURS[7], digits),
    ]
    return cosine_lanes(
        lanes,
        {"random rows": 0.0, "simplex": head.references["simplex"]},
        _title(head),
        f"Cosines between the rows of {head.classes} classes; H_w = {head.classifier_quality:.{digits}f} is 1 − their "
        "mean. Softmax training drives the mean from 0, where random rows are, to the simplex. Beneath each lane: mean "
        "and two standard deviations.",
        axis="cosine between two rows",
    )


def _title(head: HeadQuality) -> str:
    if head.classes == 2:
        return f"The two rows of the head are {head.mean_angle:.0f}° apart"
    if head.cosine_std > head.fresh["cosine_std"].high:
        return "Some rows of the head are more alike than others"
    return "Rows of the head are as alike as chance has it"
