"""Stability: figures of a learner, several learners by accuracy and stability, and where refits disagree."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ...arrays import Floats
from ...expect import InputError, counted
from ...intervals import Estimate
from ...learner.stability.agreement import FRESH
from ...learner.stability.disagreement import DisagreementRegions, as_frame
from ...learner.stability.stability import RegressionStability, Stability, StabilityTable
from ...regions.region import p_value_text
from ..kinds import Charts, draw_kind, without_options
from ..style import placement, theme
from ..style.parts import bar, bar_of_all, figures_chart, histogram, ranked_bars
from ..style.plane import Table, cells, chosen, grid, limits, outline_layers, outlines, ranges
from ..style.theme import cut, estimate_text, figure, labels, printable, within

# One learner: its figures beside the distribution of agreement over points.


NEW_DATA = "; new data: for other data of the same source and size"


def draw_stability(stability: Stability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of agreement), either alone, plane (X, x, y, regions)."""
    charts: Charts = {
        "both": (lambda one: theme.beside(stability_figures(one), agreement_histogram(one)), ()),
        "figures": (stability_figures, ()),
        "histogram": (agreement_histogram, ()),
        "plane": (disagreement_plane, ("X", "x", "y", "regions")),
    }
    return draw_kind(stability, kind, charts, options)


def draw_regression_stability(stability: RegressionStability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of spread), either alone."""
    charts: Charts = {
        "both": (lambda one: theme.beside(regression_figures(one), spread_histogram(one)), ()),
        "figures": (regression_figures, ()),
        "histogram": (spread_histogram, ()),
    }
    return draw_kind(stability, kind, charts, options)


def stability_figures(stability: Stability) -> alt.LayerChart:
    """Draw stability, kappa, accuracy and the agreement on one subset, with intervals for these and for new data."""
    new_data = stability.stability_new_data.known and stability.pairs != FRESH
    return figures_chart(
        {
            "stability": stability.stability,
            **({"stability, new data": stability.stability_new_data} if new_data else {}),
            "kappa": stability.kappa,
            "same subset": stability.same_subset,
            "accuracy": stability.accuracy,
            **({"accuracy, new data": stability.accuracy_new_data} if new_data else {}),
        },
        "agreement, accuracy",
        f"{cut(stability.learner)}: two refits agree on {stability.stability.value:.1%}",
        f"Stability: agreement of refits on {stability.pairs}, on {stability.n_points:,} {cut(stability.on)}; "
        f"kappa: beyond chance; same subset: refits on the same rows. "
        f"Lines: {stability.stability.level:.0%} intervals, for these rows{NEW_DATA if new_data else ''}.",
    )


def agreement_histogram(stability: Stability) -> alt.LayerChart:
    """Draw on how many points refits always, often or rarely agree."""
    always = float((stability.per_point >= 1 - 1e-9).mean())
    return histogram(
        stability.per_point,
        (0.0, 1.0),
        "share of pairs of refits that agree at a point",
        stability.stability.value,
        "Where refits agree and where they do not",
        f"On {always:.0%} of the points all pairs agree.",
    )


def regression_figures(stability: RegressionStability) -> alt.LayerChart:
    """Draw agreement within the tolerance, concordance and R², with their intervals."""
    new_data = stability.stability_new_data.known and stability.pairs != FRESH
    return figures_chart(
        {
            "within tolerance": stability.stability,
            **({"the same, new data": stability.stability_new_data} if new_data else {}),
            "concordance": stability.concordance,
            "same subset": stability.same_subset,
            "R²": stability.r2,
        },
        "agreement, R²",
        f"{cut(stability.learner)}: two refits are within {figure(stability.tolerance)} on "
        f"{stability.stability.value:.1%}",
        f"Refits on {stability.pairs}, on {stability.n_points:,} {cut(stability.on)}; same subset: within the "
        f"tolerance, for refits on the same rows. Lines: {stability.stability.level:.0%} intervals, for these rows"
        f"{NEW_DATA if new_data else ''}.",
    )


def spread_histogram(stability: RegressionStability) -> alt.LayerChart:
    """Draw how much predictions vary over subsets, in units of the target."""
    most = float(np.quantile(stability.spread, 0.99)) or 1.0
    return histogram(
        stability.spread,
        (0.0, most * 1.05),
        "standard deviation of predictions over subsets",
        float(stability.spread.mean()),
        "How much predictions vary at a point",
        "In units of the target; the last bar includes all that vary more.",
    )


# Several learners by accuracy and stability, each with both intervals.


WIDTH, HEIGHT, MARGIN = 420, 340, 150
LEAST_SPAN = 0.06
"""Learners that are all alike are not magnified to fill the chart."""


@without_options
def stability_plane(table: StabilityTable) -> alt.LayerChart:
    """Draw learners by accuracy (across) and stability (up): the best are top right; unbeaten ones are filled."""
    short = labels(table.names)
    rows = [_row(table, name, label) for name, label in zip(table.names, short)]
    frame = placement.Frame(WIDTH, HEIGHT, _span(table.accuracy), _span(table.stability))

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=list(frame.across), nice=False, zero=False)
        return alt.X(f"{field}:Q", title="accuracy on test points", scale=scale, axis=alt.Axis(tickCount=6))

    def up(field: str) -> alt.Y:
        scale = alt.Scale(domain=list(frame.up), nice=False, zero=False)
        title = f"stability: share of {table.on} on which two refits agree"
        return alt.Y(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6))

    tooltips = theme.tooltips(
        learner="learner", accuracy_text="accuracy", stability_text="stability", kappa_text="kappa"
    )

    layers = placement.crosses(frame, rows, short, across, up, tooltips, margin=MARGIN)
    level = next(iter(table.stability.values())).level
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            "Who is accurate, and who is repeatable",
            f"Lines: {level:.0%} intervals. Filled: no other learner is both more accurate and more repeatable. A "
            "learner with constant predictions has stability 1, whatever its accuracy.",
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
        "filled": name in table.unbeaten,
        "x": accuracy.value,
        "left": left,
        "right": right,
        "y": stability.value,
        "low": low,
        "high": high,
        "accuracy_text": estimate_text(accuracy),
        "stability_text": estimate_text(stability),
        "kappa_text": estimate_text(table.kappa[name]),
    }


def _span(estimates: dict[str, Estimate]) -> tuple[float, float]:
    """From the lowest to the highest end of the intervals, with some margin, within 0 and 1."""
    ends = [end for each in estimates.values() for end in (*within(each, 0.0, 1.0), each.value)]
    low, high = min(ends), max(ends)
    room = max((high - low) * 0.08, (LEAST_SPAN - (high - low)) / 2)
    return max(low - room, -0.01), min(high + room, 1.01)


# Where refits disagree: regions as ranked bars, and points on the plane of two columns.


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
    return ranked_bars(rows, overall, "share of pairs of refits that disagree", TOOLTIPS, _region_titles(regions))


def _region_titles(regions: DisagreementRegions) -> tuple[str, str]:
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
