"""Learners by accuracy and stability, each with both intervals."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ..intervals import Estimate
from ..learner.stability_table import StabilityTable
from . import naming, theme
from .words import labels, printable, told, within

WIDTH, HEIGHT, MARGIN = 420, 340, 150
LEAST_SPAN = 0.06
"""Learners that are all alike are not blown up to fill the chart."""


def stability_plane(table: StabilityTable) -> alt.LayerChart:
    """Draw learners by accuracy (across) and stability (up): the best are top right; unbeaten ones are filled."""
    short = labels(table.names)
    legend = theme.legend_below(short) if len(short) > naming.MOST else None
    rows = [_row(table, name, label) for name, label in zip(table.names, short)]
    frame = naming.Frame(WIDTH, HEIGHT, _span(table.accuracy), _span(table.stability))

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=list(frame.across), nice=False, zero=False)
        return alt.X(f"{field}:Q", title="accuracy on test points", scale=scale, axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        scale = alt.Scale(domain=list(frame.up), nice=False, zero=False)
        title = f"stability: share of {table.on} on which two refits agree"
        return alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6))

    tooltips = theme.tooltips(
        learner="learner", told_accuracy="accuracy", told_stability="stability", told_kappa="kappa"
    )

    def of(some: list[theme.Row]) -> alt.Chart:
        chart: alt.Chart = theme.chart_of(some).encode(
            x=across("accuracy"), y=up("stability"), color=theme.colour(short, legend), tooltip=tooltips
        )
        return chart

    layers: list[Any] = [
        of(rows).mark_rule(strokeWidth=1.5, clip=True).encode(x=across("left"), x2="right:Q"),
        of(rows).mark_rule(strokeWidth=1.5, clip=True).encode(y=up("low"), y2="high:Q"),
        *naming.names(frame, rows, ("accuracy", "stability"), across, up, taken=_crosses(rows), margin=MARGIN),
        *(
            of([row for row in rows if row["unbeaten"] is unbeaten])
            .mark_point(size=80, filled=unbeaten, opacity=1, strokeWidth=2)
            .encode(shape=theme.shape(short, legend))
            for unbeaten in (False, True)
        ),
    ]
    level = next(iter(table.stability.values())).level
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            "Who is right, and who says the same again",
            f"Lines: {level:.0%} intervals. Filled: no other learner is both more accurate and more repeatable. A "
            "learner that always answers the same has stability 1, whatever its accuracy.",
            width=WIDTH + 120,
        ),
    )


def _row(table: StabilityTable, name: str, label: str) -> theme.Row:
    accuracy, stability = table.accuracy[name], table.stability[name]
    left, right = within(accuracy, 0.0, 1.0)
    low, high = within(stability, 0.0, 1.0)
    return {
        "label": label,
        "learner": printable(name),
        "unbeaten": name in table.unbeaten,
        "accuracy": accuracy.value,
        "left": left,
        "right": right,
        "stability": stability.value,
        "low": low,
        "high": high,
        "told_accuracy": told(accuracy),
        "told_stability": told(stability),
        "told_kappa": told(table.kappa[name]),
    }


def _span(estimates: dict[str, Estimate]) -> tuple[float, float]:
    """From the lowest to the highest end of the intervals, with some room, within 0 and 1."""
    ends = [end for each in estimates.values() for end in (*within(each, 0.0, 1.0), each.value)]
    low, high = min(ends), max(ends)
    room = max((high - low) * 0.08, (LEAST_SPAN - (high - low)) / 2)
    return max(low - room, -0.01), min(high + room, 1.01)


def _crosses(rows: list[theme.Row]) -> list[tuple[float, float]]:
    """Where names had better not be."""
    return [
        spot
        for row in rows
        for share in np.linspace(0, 1, 9).tolist()
        for spot in (
            (row["left"] + share * (row["right"] - row["left"]), row["stability"]),
            (row["accuracy"], row["low"] + share * (row["high"] - row["low"])),
        )
    ]
