"""Stability: figures of a learner, several learners by accuracy and stability, and where refits disagree."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ..expect import InputError, counted
from ..intervals import Estimate
from ..learner.stability.agreement import FRESH
from ..learner.stability.disagreement import DisagreementRegions, as_frame
from ..learner.stability.stability import RegressionStability, Stability, StabilityTable
from .kinds import Kinds
from .style import placement, theme
from .style.panel import Panel, numbers
from .style.parts import figures_chart, histogram, histogram_from_zero
from .style.plane import Table, cells, chosen, grid, limits, outline_layers, outlines, ranges
from .style.theme import Row, cut, estimate_text, figure, interval, labels, printable, within

# One learner: its figures beside the distribution of agreement over points.


def stability_figures(stability: Stability) -> alt.LayerChart:
    """Draw stability, kappa, accuracy and the agreement on one subset, with intervals for these and for new data."""
    figures = {
        "stability": stability.stability,
        "stability, new data": stability.stability_new_data,
        "kappa": stability.kappa,
        "same subset": stability.same_subset,
        "accuracy": stability.accuracy,
        "accuracy, new data": stability.accuracy_new_data,
    }
    return _figures(
        stability,
        figures,
        "agreement, accuracy",
        f"agree on {stability.stability.value:.1%}",
        "Stability: agreement of refits",
        "kappa: beyond chance; same subset: refits on the same rows",
    )


def _figures(
    stability: Stability | RegressionStability, figures: dict[str, Estimate], axis: str, title: str, of: str, also: str
) -> alt.LayerChart:
    """The figures of a learner, those for new data only where they differ from the others."""
    new_data = stability.stability_new_data.known and stability.pairs != FRESH
    about = "; new data: for other data of the same source and size" if new_data else ""
    return figures_chart(
        {name: estimate for name, estimate in figures.items() if new_data or not name.endswith("new data")},
        axis,
        f"{cut(stability.learner)}: two refits {title}",
        f"{of} on {stability.pairs}, on {stability.n_points:,} {cut(stability.on)}; {also}. "
        f"Lines: {stability.stability.level:.0%} intervals, for these rows{about}.",
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
    figures = {
        "within tolerance": stability.stability,
        "the same, new data": stability.stability_new_data,
        "concordance": stability.concordance,
        "same subset": stability.same_subset,
        "R²": stability.r2,
    }
    title = f"are within {figure(stability.tolerance)} on {stability.stability.value:.1%}"
    also = "same subset: within the tolerance, for refits on the same rows"
    return _figures(stability, figures, "agreement, R²", title, "Refits", also)


def spread_histogram(stability: RegressionStability) -> alt.LayerChart:
    """Draw how much predictions vary over subsets, in units of the target."""
    unit, title = "standard deviation of predictions over subsets", "How much predictions vary at a point"
    how = "In units of the target; the last bar includes all that vary more."
    return histogram_from_zero(stability.spread, unit, title, how)


# Several learners by accuracy and stability, each with both intervals.


SIZE, MARGIN = (420, 340), 150
LEAST_SPAN = 0.06
"""Learners that are all alike are not magnified to fill the chart."""


def stability_plane(table: StabilityTable) -> alt.LayerChart:
    """Draw learners by accuracy (across) and stability (up): the best are top right; unbeaten ones are filled."""
    short = labels(table.names)
    rows = [_row(table, name, label) for name, label in zip(table.names, short)]
    title = f"stability: share of {table.on} on which two refits agree"
    panel = Panel(
        numbers("accuracy on test points", _span(table.accuracy), "x"),
        numbers(title, _span(table.stability), "y"),
        *SIZE,
    )
    tips = {"learner": "learner", "accuracy_text": "accuracy", "value_text": "stability", "kappa_text": "kappa"}
    return panel.drawn(
        placement.crosses(panel, rows, short, tips, margin=MARGIN),
        "Who is accurate, and who is repeatable",
        f"Lines: {next(iter(table.stability.values())).level:.0%} intervals. Filled: no other learner is both more "
        "accurate and more repeatable. A learner that always predicts the same has stability 1, whatever its accuracy.",
        wrap=SIZE[0] + 120,
    )


def _row(table: StabilityTable, name: str, label: str) -> Row:
    accuracy, stability = table.accuracy[name], table.stability[name]
    left, right = within(accuracy, 0.0, 1.0)
    row = {"label": label, "learner": printable(name), "filled": name in table.unbeaten, "x": accuracy.value}
    row |= {"left": left, "right": right, "y": stability.value}
    row |= {"accuracy_text": estimate_text(accuracy), "kappa_text": estimate_text(table.kappa[name])}
    return row | interval(stability, 0.0, 1.0)


def _span(estimates: dict[str, Estimate]) -> tuple[float, float]:
    """From the lowest to the highest end of the intervals, with some margin, within 0 and 1."""
    ends = [end for each in estimates.values() for end in (*within(each, 0.0, 1.0), each.value)]
    low, high = min(ends), max(ends)
    room = max((high - low) * 0.08, (LEAST_SPAN - (high - low)) / 2)
    return max(low - room, -0.01), min(high + room, 1.01)


# Where refits disagree, on the plane of two columns.


SIDE = 380


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
    found = () if regions is None else regions.regions
    table, differ = Table(as_frame(points), stability.n_points), 1 - stability.per_point
    preferred = tuple(dict.fromkeys(name for each in found if ranges(each) is not None for name in each.features))
    first, second = chosen(table, x, y, differ > np.median(differ), preferred)
    names, columns = (table.names[first], table.names[second]), (table.column(first), table.column(second))
    plane = grid(*columns)
    if not plane.inside.any():
        raise InputError(f"`X` has no row with a number in both {names[0]!r} and {names[1]!r}; choose other columns.")
    filled = cells(plane, *columns, differ)
    for cell in filled:
        cell |= {"value_text": figure(cell["mean"]), "rows_text": counted(cell["rows"], "point")}
    boxes = outlines(found, names, plane)
    panel = Panel(
        numbers(cut(names[0], 50), limits(plane.across), "x"), numbers(cut(names[1], 50), limits(plane.up), "y"),
        SIDE, SIDE,
    )  # fmt: skip
    most = max(max(cell["mean"] for cell in filled), 1e-9)
    tone = alt.Color(
        "mean:Q",
        scale=alt.Scale(domain=[0, most], range=["#f1f5f9", "#fdbe85", "#d94701", "#7f2704"], interpolate="rgb"),
        legend=alt.Legend(title=["pairs that", "disagree"], format="~%", tickCount=4, gradientLength=110),
    )
    tips = {"value_text": "pairs that disagree", "rows_text": "points"}
    layers = [
        panel.mark("rect", filled, tips, color=tone, x2="to_x", y2="to_y"),
        *outline_layers(panel, boxes, {"condition": "region", "rate_text": "disagree", "rows_text": "points"}),
    ]
    missing, far = len(found) - len(boxes), stability.n_points - int(plane.inside.sum())
    sentences = [
        f"Mean disagreement of pairs of refits on {stability.n_points:,} {cut(stability.on)}; "
        f"{figure(differ.mean())} in all."
    ]
    sentences += ["Frames: regions that stand out, by rank."] if boxes else []
    sentences += [f"Not drawn, on other columns: {counted(missing, 'region')}."] if missing else []
    sentences += [f"Not drawn, without a value or far out: {counted(far, 'point')}."] if far else []
    return panel.drawn(layers, f"{cut(stability.learner)}: where refits disagree", " ".join(sentences), wrap=SIDE + 130)


STABILITY: Kinds = {
    "both": lambda stability: theme.beside(stability_figures(stability), agreement_histogram(stability)),
    "figures": stability_figures,
    "histogram": agreement_histogram,
    "plane": disagreement_plane,
}
REGRESSION: Kinds = {
    "both": lambda stability: theme.beside(regression_figures(stability), spread_histogram(stability)),
    "figures": regression_figures,
    "histogram": spread_histogram,
}
