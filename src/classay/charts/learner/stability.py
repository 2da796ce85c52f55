"""Stability: the figures of one learner, and several learners by accuracy and stability."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ...intervals import Estimate
from ...learner.stability.agreement import FRESH
from ...learner.stability.stability import RegressionStability, Stability, StabilityTable
from ..kinds import Kinds, check_kind, without_options
from ..style import placement, theme
from ..style.parts import figures_chart, histogram
from ..style.theme import cut, estimate_text, figure, labels, printable, within
from .disagreement import disagreement_plane

# One learner: its figures beside the distribution of agreement over points.


KINDS: Kinds = {"both": (), "figures": (), "histogram": (), "plane": ("X", "x", "y", "regions")}
REGRESSION_KINDS: Kinds = {"both": (), "figures": (), "histogram": ()}
NEW_DATA = "; new data: for other data of the same source and size"


def draw_stability(stability: Stability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of agreement), either alone, plane (X, x, y, regions)."""
    check_kind(kind, KINDS, options)
    if kind == "plane":
        return disagreement_plane(stability, **options)
    if kind == "figures":
        return stability_figures(stability)
    if kind == "histogram":
        return agreement_histogram(stability)
    return theme.beside(stability_figures(stability), agreement_histogram(stability))


def draw_regression_stability(stability: RegressionStability, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (figures, histogram of spread), either alone."""
    check_kind(kind, REGRESSION_KINDS, options)
    if kind == "figures":
        return regression_figures(stability)
    if kind == "histogram":
        return spread_histogram(stability)
    return theme.beside(regression_figures(stability), spread_histogram(stability))


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
    legend = theme.legend_below(short) if len(short) > placement.MOST else None
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

    def of(some: list[theme.Row]) -> alt.Chart:
        chart: alt.Chart = theme.chart_of(some).encode(
            x=across("accuracy"), y=up("stability"), color=theme.colour(short, legend), tooltip=tooltips
        )
        return chart

    layers: list[Any] = [
        of(rows).mark_rule(strokeWidth=1.5, clip=True).encode(x=across("left"), x2="right:Q"),
        of(rows).mark_rule(strokeWidth=1.5, clip=True).encode(y=up("low"), y2="high:Q"),
        *placement.names(frame, rows, ("accuracy", "stability"), across, up, taken=_crosses(rows), margin=MARGIN),
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
        "unbeaten": name in table.unbeaten,
        "accuracy": accuracy.value,
        "left": left,
        "right": right,
        "stability": stability.value,
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


def _crosses(rows: list[theme.Row]) -> list[tuple[float, float]]:
    """Where names should not be."""
    return [
        spot
        for row in rows
        for share in np.linspace(0, 1, 9).tolist()
        for spot in (
            (row["left"] + share * (row["right"] - row["left"]), row["stability"]),
            (row["accuracy"], row["low"] + share * (row["high"] - row["low"])),
        )
    ]
