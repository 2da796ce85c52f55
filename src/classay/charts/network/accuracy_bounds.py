"""The range of accuracies to expect from networks: the paper's bounds, labelled rows, the truth if it is known."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ...intervals import Estimate
from ...network.quality.quality import NetworkQuality
from ...network.quality.rank_networks import Ranking
from ..kinds import without_options
from ..style import theme
from ..style.theme import estimate_text, figure, labels, printable, within

WIDTH, STEP = 380, 26
ESTIMATE, TRUTH = theme.COLOURS[0], theme.COLOURS[1]
UNKNOWN = Estimate(math.nan, 0.0, 1.0)


@without_options
def accuracy_bounds(ranking: Ranking | NetworkQuality) -> alt.LayerChart:
    """Draw for each network the paper's interval, the accuracy by labelled rows with its own, and the true one."""
    rows = _rows(ranking)
    scale = alt.Scale(domain=[0, 1], nice=False)
    y = alt.Y(
        "label:N",
        title=None,
        scale=alt.Scale(domain=[row["label"] for row in rows]),
        axis=alt.Axis(ticks=False, domain=False),
    )

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, title="accuracy", axis=alt.Axis(tickCount=6, format="~g"))

    seen = theme.tooltips(
        name="network", paper="the paper's bounds", estimate="by labelled rows", truth="true accuracy"
    )

    def of(chosen: list[theme.Row]) -> alt.Chart:
        return theme.chart_of(chosen).encode(y=y, tooltip=seen)

    known = [row for row in rows if row["value"] is not None]
    unknown = [row for row in rows if row["value"] is None]
    true = [row for row in rows if row["true"] is not None]
    layers: list[Any] = [
        of(rows).mark_bar(style="faint", height=15, opacity=0.6).encode(x=across("lower"), x2="upper:Q"),
        of(unknown).mark_rule(style="reference", strokeDash=[2, 3]).encode(x=across("low"), x2="high:Q"),
        of(known).mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        of(known).mark_point(size=55, filled=True, opacity=1, color=ESTIMATE).encode(x=across("value")),
        of(true).mark_point(size=80, filled=True, opacity=1, color=TRUTH, shape="diamond").encode(x=across("true")),
    ]
    return theme.finished(layers, WIDTH, alt.Step(STEP), _title(ranking, bool(true), bool(known), bool(unknown)))


def _title(ranking: Ranking | NetworkQuality, true: bool, known: bool, unknown: bool) -> alt.TitleParams:
    title = "The range of accuracies to expect from a network, without data"
    if isinstance(ranking, Ranking) and true and not math.isnan(ranking.enclosed):
        title = f"The paper's bounds contain the true accuracy of {ranking.enclosed:.0%} of the networks"
    parts = ["Bars: the paper's bounds (none if they cross)."]
    if known:
        parts.append("Points: by labelled rows, with the 90% interval.")
    if unknown:
        parts.append("Dotted: unknown without labelled rows.")
    if true:
        parts.append("Diamonds: true accuracy.")
    return theme.titled(title, " ".join(parts), width=WIDTH + 140)


def _rows(ranking: Ranking | NetworkQuality) -> list[theme.Row]:
    if isinstance(ranking, Ranking):
        names, labelled, bounds, accuracy = ranking.names, ranking.labelled, ranking.bounds, ranking.accuracy
    else:
        names, accuracy = (ranking.name,), {}
        labelled = {} if ranking.labelled is None else {ranking.name: ranking.labelled}
        bounds = {ranking.name: ranking.accuracy_bounds}
    rows: list[theme.Row] = []
    for name, label in zip(names, labels(names)):
        estimate, (lower, upper) = labelled.get(name, UNKNOWN), bounds[name]
        low, high = within(estimate, 0.0, 1.0)
        # Bounds that cross contain nothing: a bar of no length.
        ends = [min(max(end, 0.0), 1.0) for end in (lower, max(upper, lower))]
        rows.append(
            {"name": printable(name), "label": label, "lower": ends[0], "upper": ends[1], "low": low, "high": high}
            | {"value": min(max(estimate.value, 0.0), 1.0) if estimate.known else None, "true": accuracy.get(name)}
            | {"paper": f"{figure(lower, '.2f')} to {figure(upper, '.2f')}", "estimate": estimate_text(estimate, ".2f")}
            | {"truth": figure(accuracy[name], ".3f") if name in accuracy else "not known"}
        )
    return rows
