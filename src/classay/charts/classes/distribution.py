"""The share of all classes that a row beats, the curves of two classifiers that cross, and classes that are added."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ...classes.distribution.nested import NestedAccuracy
from ...classes.distribution.overtake import Crossing
from ...classes.distribution.u_distribution import UDistribution
from ...intervals import Estimate
from ..kinds import without_options
from ..style import theme
from ..style.parts import figures_chart
from ..style.theme import cut, estimate_text, figure, labels
from .curve import HEIGHT, INK, WIDTH, at, classes_axis, up


@without_options
def distribution_chart(distribution: UDistribution) -> alt.LayerChart:
    """Draw the share of rows that lose to at least one class in 2, 10, 100, …, with its band."""
    rows: list[theme.Row] = []
    for u, value, low, high in zip(distribution.u, distribution.below, distribution.low, distribution.high):
        one_in = 1 / max(1 - float(u), 1e-12)
        estimate = Estimate(float(value), float(low), float(high), distribution.level)
        rows.append(
            {"one_in": one_in, "value": estimate.value, "low": estimate.low, "high": estimate.high}
            | {"beaten": f"{u:.4%} of all classes", "value_text": estimate_text(estimate)}
        )
    here, most = distribution.curve.n_classes, max(row["one_in"] for row in rows)
    powers = [10**power for power in range(math.floor(math.log10(most)) + 1)]

    def across(field: str) -> alt.X:
        return alt.X(
            f"{field}:Q",
            title="one class in … scores higher (log scale)",
            scale=alt.Scale(type="log", domain=[1, most], nice=False),
            axis=alt.Axis(values=powers, format="~s", labelFlush=False),
        )

    def share(field: str) -> alt.Y:
        axis = alt.Axis(format="%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
        return alt.Y(f"{field}:Q", title="share of rows", scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)

    base, border = theme.chart_of(rows).encode(x=across("one_in")), theme.chart_of([{"k": here, "text": f"{here:,}"}])
    layers: list[Any] = [
        base.mark_area(color=INK, opacity=0.22).encode(y=share("low"), y2="high:Q"),
        border.mark_rule(style="faint").encode(x=across("k")),
        border.mark_text(style="note", align="right", dx=-3).encode(x=across("k"), y=alt.value(-8), text="text:N"),
        base.mark_line(color=INK, strokeWidth=2).encode(
            y=share("value"), tooltip=theme.tooltips(beaten="beats at most", value_text="share of rows")
        ),
    ]
    half = distribution.largest(0.5)
    known = (
        f"at least half right with up to {figure(half.value, ',.0f')} classes" if half.known else "all rows are right"
    )
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            f"{cut(distribution.curve.ranks.name)}: {known}",
            "Line: share of rows that lose to at least one class in this many; lower is better. Band: "
            f"{distribution.level:.0%} interval over classes. Right of {here:,} observed classes it is extrapolated by "
            f"“{distribution.method}”.",
            width=WIDTH + 40,
        ),
    )


@without_options
def crossing_chart(crossing: Crossing) -> alt.LayerChart:
    """Draw both curves, and where they cross."""
    short = labels([crossing.first, crossing.second])
    rows: list[theme.Row] = []
    for label, values in zip(short, (crossing.accuracy_first, crossing.accuracy_second)):
        for k, value, apart in zip(crossing.k, values, crossing.difference):
            point = at(k, Estimate(float(value), float(value), float(value)))
            rows.append(point | {"label": label, "value_text": figure(float(value)), "apart": estimate_text(apart)})
    most = crossing.k[-1]

    def across(field: str) -> alt.X:
        return classes_axis(field, most, WIDTH)

    tooltips = theme.tooltips(label="classifier", classes="classes", value_text="accuracy", apart="difference")
    layers: list[Any] = [
        theme.chart_of(rows)
        .mark_line(strokeWidth=2, interpolate="monotone")
        .encode(
            x=across("k"),
            y=up("accuracy"),
            color=theme.colour(short, theme.legend_below([*short, ""], lines=True)),
            tooltip=tooltips,
        )
    ]
    places = [{"k": each.value, "text": f"{each.value:,.0f}"} for each in crossing.crossings]
    places += [{"k": float(crossing.observed), "text": "observed"}] if crossing.observed < most else []
    if places:
        border = theme.chart_of(places)
        layers += [
            border.mark_rule(style="faint").encode(x=across("k")),
            border.mark_text(style="note", align="right", dx=-3).encode(x=across("k"), y=alt.value(-8), text="text:N"),
        ]
    found = crossing.crossings
    title = f"the same accuracy with about {found[0].value:,.0f} classes" if found else "one is ahead throughout"
    return theme.finished(
        layers,
        WIDTH,
        HEIGHT,
        theme.titled(
            f"{cut(crossing.first)} and {cut(crossing.second)}: {title}",
            "Lines: accuracy on average over all sets of k classes. Vertical lines: where they cross, and the observed "
            "classes; beyond those it is extrapolated.",
            width=WIDTH + 40,
        ),
    )


@without_options
def nested_chart(nested: NestedAccuracy) -> alt.LayerChart:
    """Draw the accuracy of all, of kept and of added classes, beside that of now."""
    return figures_chart(
        {
            f"{nested.kept_classes:,} classes, now": nested.now,
            f"all {nested.k:,} classes": nested.accuracy,
            "kept classes": nested.kept,
            "added classes": nested.added,
        },
        "accuracy",
        f"{cut(nested.name)}: accuracy if {nested.k - nested.kept_classes:,} classes are added",
        f"Points: accuracy, each class equally often. Lines: {nested.now.level:.0%} intervals, over rows now, and "
        "over the added classes.",
    )
