"""The plane of bias and expressivity: where learners are, and where none can be."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ..expect import InputError, whole
from ..learner.bounds import binary_entropy, chance, most_expressivity, most_expressivity_lauw
from ..learner.orientation import Orientation, usual_threshold
from . import naming, theme
from .comparing import compared
from .placing import apart
from .words import printable, told, within

WIDTH, HEIGHT, MARGIN = 460, 340, 190
CURVES = {
    "tight": "none can be above (tight bound)",
    "lauw": "published, looser bound",
    "least": "none can be below",
}


def plane_chart(*orientations: Orientation, threshold: int | None = None) -> alt.LayerChart:
    """Draw learners by bias and expressivity at one threshold (default: four of five), under the bounds.

    Expressivity is the plain estimate, `orientation.plugin`: the bounds hold for it exactly.
    """
    learners = compared(orientations, same_holdouts=True)
    first, labels = orientations[0], list(learners)
    legend = theme.legend_below(labels) if len(labels) > naming.MOST else None
    size = first.holdout_size
    right = usual_threshold(size) if threshold is None else whole(threshold, "threshold", at_least=1)
    if right > size:
        raise InputError(f"`threshold` is {right}, but holdouts have {size} points. Use at most {size}.")
    curves, rows = _curves(first, right), _rows(learners, right)
    frame = naming.Frame(WIDTH, HEIGHT, (curves[0]["bias"], curves[-1]["bias"]), (0.0, first.log2_labelings * 1.05))
    notes = _names_of_curves(curves[-1], frame)
    sideways = alt.Scale(domain=list(frame.across), nice=False, zero=False)
    upwards = alt.Scale(domain=list(frame.up), nice=False)

    def across(field: str) -> alt.X:
        title = f"algorithmic bias: at least {right} of {size} right, beyond guessing"
        axis = alt.Axis(labelExpr=theme.SIGNED, tickCount=8)
        return alt.X(f"{field}:Q", title=title, scale=sideways, axis=axis)

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title="expressivity, bits", scale=upwards, axis=alt.Axis(tickCount=6))

    bounds = theme.chart_of(curves).encode(x=across("bias"))
    points = theme.chart_of(rows).encode(x=across("bias"), y=up("expressivity"), color=theme.colour(labels, legend))
    tooltips = theme.tooltips(
        learner="learner", told_bias="bias", told_expressivity="expressivity (plain)", room="most at this bias"
    )
    layers: list[Any] = [
        bounds.mark_area(style="possible").encode(y=up("least"), y2="tight:Q"),
        bounds.mark_line(style="faint").encode(y=up("least")),
        bounds.mark_line(style="reference", strokeWidth=1, strokeDash=[4, 3]).encode(y=up("lauw")),
        bounds.mark_line(style="reference", strokeWidth=2).encode(y=up("tight")),
        theme.chart_of(notes)
        .mark_text(style="note", align="left")
        .encode(x=alt.value(WIDTH + 6), y=up("expressivity"), text="text:N"),
        points.mark_rule(strokeWidth=1.5).encode(x=across("bias_low"), x2="bias_high:Q"),
        points.mark_rule(strokeWidth=1.5).encode(y=up("low"), y2="high:Q"),
        *naming.names(
            frame,
            rows,
            ("bias", "expressivity"),
            across,
            up,
            taken=_taken(curves, rows),
            written=[(note["text"], WIDTH + 6, frame.pixels(0, note["expressivity"])[1]) for note in notes],
            margin=MARGIN,
        ),
        points.mark_point(size=55, filled=True, opacity=1).encode(shape=theme.shape(labels, legend), tooltip=tooltips),
    ]
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            "The more it leans to the truth, the less its answers can vary",
            f"Farther right: at least {right} of {size} labels right more often than by guessing. Higher: answers "
            f"vary more over refits. Shaded: all that is possible. Crosses: {rows[0]['level']} intervals of the plain "
            "estimates, for which the bounds hold.",
            width=WIDTH + 180,
        ),
    )


def _curves(orientation: Orientation, threshold: int) -> list[dict[str, float]]:
    """The three curves over q, the mass on the target, from 0 to 1; denser at the ends, where they are steep."""
    size, n_classes = orientation.holdout_size, orientation.n_classes
    p = chance(threshold, size, n_classes)
    masses: list[float] = ((1 - np.cos(np.linspace(0, np.pi, 121))) / 2).tolist()
    return [
        {
            "bias": q - p,
            "tight": most_expressivity(q, threshold, size, n_classes),
            "lauw": most_expressivity_lauw(q - p, orientation.log2_labelings),
            "least": binary_entropy(q),
        }
        for q in masses
    ]


def _rows(learners: dict[str, Orientation], threshold: int) -> list[theme.Row]:
    rows = []
    for label, each in learners.items():
        bound, bias, spread = each.bounds[threshold - 1], each.bias[threshold], each.plugin.expressivity
        bias_low, bias_high = within(bias, bound.bias_low, bound.bias_high)
        low, high = within(spread, 0.0, each.log2_labelings)
        rows.append(
            {
                "label": label,
                "learner": printable(each.learner),
                "bias": bias.value,
                "bias_low": bias_low,
                "bias_high": bias_high,
                "expressivity": spread.value,
                "low": low,
                "high": high,
                "told_bias": told(bias, "+.3f"),
                "told_expressivity": told(spread),
                "room": f"{bound.expressivity_tight:.3g} bits",
                "level": f"{bias.level:.0%}",
            }
        )
    return rows


def _taken(curves: list[dict[str, float]], rows: list[theme.Row]) -> list[tuple[float, float]]:
    """Where names had better not be: on the curves and on the crosses."""
    spots = [(point["bias"], point[name]) for point in curves for name in CURVES]
    for row in rows:
        for share in np.linspace(0, 1, 7).tolist():
            spots.append((row["bias_low"] + share * (row["bias_high"] - row["bias_low"]), row["expressivity"]))
            spots.append((row["bias"], row["low"] + share * (row["high"] - row["low"])))
    return spots


def _names_of_curves(end: dict[str, float], frame: naming.Frame) -> list[theme.Row]:
    """The curves' names, right of where they end, kept apart."""
    unit = frame.height / frame.up[1]
    heights = apart([end[name] * unit for name in sorted(CURVES, key=end.__getitem__)])
    named = zip(sorted(CURVES, key=end.__getitem__), heights)
    return [{"text": CURVES[name], "expressivity": height / unit} for name, height in named]
