"""Where refits disagree: regions as ranked bars, and points on the plane of two columns."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ...arrays import Floats
from ...expect import InputError, counted
from ...learner.stability.disagreement import DisagreementRegions, as_frame
from ...learner.stability.stability import Stability
from ...regions.region import p_value_text
from ..kinds import without_options
from ..style import theme
from ..style.parts import bar, bar_of_all, ranked_bars
from ..style.plane import Table, cells, chosen, grid, limits, outline_layers, outlines, ranges
from ..style.theme import cut, figure

SIDE = 380
TOOLTIPS = {
    "condition": "region",
    "rate": "disagreement, refits and points not searched",
    "rest": "elsewhere",
    "size": "points",
    "q": "q-value",
}


@without_options
def disagreement_bars(regions: DisagreementRegions) -> alt.LayerChart:
    """Draw where refits disagree most: a bar for each region, by rank, and a line at the disagreement of all points."""
    rows = [
        bar(each.rank, each.condition, each.rate, f"{each.rate.value:.0%} on {each.share:.0%} of points")
        | {
            "rest": figure(each.rest_rate),
            "size": f"{each.size} ({each.share:.1%} of all)",
            "q": p_value_text(each.q_value).removeprefix("= "),
        }
        for each in regions.regions
    ]
    overall = regions.disagreement
    if not rows:
        none = {"rest": "", "size": f"{regions.n_points}", "q": "none"}
        rows = [bar_of_all("all points", overall, f"{overall.value:.0%}") | none]
    return ranked_bars(rows, overall, "share of pairs of refits that disagree", TOOLTIPS, _titles(regions))


def _titles(regions: DisagreementRegions) -> tuple[str, str]:
    rate = figure(regions.disagreement.value)
    if not regions.regions:
        return f"{cut(regions.learner)}: no region stands out", (
            f"On all {regions.n_points:,} {cut(regions.on)}, {rate} of the pairs of refits disagree; "
            f"{counted(len(regions.tested), 'region')} tested, at a false-discovery rate of {regions.q:g}."
        )
    return f"{cut(regions.learner)}: where refits disagree most", (
        f"Bar: disagreement on refits and points that were not searched. Thin line: {regions.disagreement.level:.0%} "
        f"interval. Dashed: all {regions.n_points:,} {cut(regions.on)} ({rate})."
    )


def disagreement_plane(
    stability: Stability,
    X: Any = None,
    x: str | int | None = None,
    y: str | int | None = None,
    regions: DisagreementRegions | None = None,
) -> alt.LayerChart:
    """Draw how much refits disagree in each part of the plane of two columns, and regions around it.

    X : the points, a DataFrame or array; default: the probes of the record
    x, y : columns by name or position; default: those of `regions`, by rank, then where disagreement changes
    regions : those on these two columns are outlined
    """
    if regions is not None and not isinstance(regions, DisagreementRegions):
        raise InputError(f"`regions` is {type(regions).__name__}; expected what `regions()` of a stability returns.")
    points = stability.points if X is None else X
    if points is None:
        raise InputError(f"The record does not store the {stability.on} as rows. Pass them as `X`.")
    table = Table(as_frame(points), stability.n_points)
    differ = 1 - stability.per_point
    drawable = [each for each in regions.regions if ranges(each) is not None] if regions is not None else []
    preferred = tuple(dict.fromkeys(name for each in drawable for name in each.features))
    first, second = chosen(table, x, y, differ > np.median(differ), preferred)
    names, columns = (table.names[first], table.names[second]), (table.column(first), table.column(second))
    plane = grid(*columns)
    if not plane.inside.any():
        raise InputError(f"`X` has no row with a number in both {names[0]!r} and {names[1]!r}; choose other columns.")
    filled = cells(plane, *columns, differ, np.zeros(len(differ), dtype=bool))
    for cell in filled:
        cell |= {"value_text": figure(cell["mean"]), "rows_text": counted(cell["rows"], "point")}
    every = [] if regions is None else [(each, each.rate) for each in regions.regions]
    boxes, elsewhere = outlines(every, names, plane)
    most = max(max(cell["mean"] for cell in filled), 1e-9)

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=cut(names[0], 50), scale=_scale(plane.across), axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=cut(names[1], 50), scale=_scale(plane.up), axis=alt.Axis(tickCount=6))

    tone = alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, most], range=["#f1f5f9", "#fdbe85", "#d94701", "#7f2704"], interpolate="rgb"),
        legend=alt.Legend(title=["pairs that", "disagree"], format="~%", tickCount=4, gradientLength=110),
    )
    layers: list[Any] = [
        theme.chart_of(filled)
        .mark_rect()
        .encode(
            x=across("x"),
            x2="to_x:Q",
            y=up("y"),
            y2="to_y:Q",
            color=tone,
            tooltip=theme.tooltips(value_text="pairs that disagree", rows_text="points"),
        ),
        *outline_layers(boxes, across, up, "region", "disagree", "points"),
    ]
    left_out = stability.n_points - int(plane.inside.sum())
    sentences = [
        f"Mean disagreement of pairs of refits on {stability.n_points:,} {cut(stability.on)}; "
        f"{figure(differ.mean())} in all."
    ]
    if boxes:
        sentences.append("Frames: regions that stand out, by rank.")
    if elsewhere:
        sentences.append(f"Not drawn, on other columns: {counted(elsewhere, 'region')}.")
    if left_out:
        sentences.append(f"Not drawn, without a value or far out: {counted(left_out, 'point')}.")
    return theme.finished(
        layers,
        SIDE,
        SIDE,
        theme.titled(
            f"{cut(stability.learner)}: where refits disagree",
            " ".join(sentences),
            width=SIDE + 130,
        ),
    )


def _scale(edges: Floats) -> alt.Scale:
    return alt.Scale(domain=limits(edges), nice=False, zero=False)
