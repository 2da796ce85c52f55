"""Agreement over batches, with the line below which there is an alarm, and the verdicts."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ..expect import InputError
from ..learner.updates import CANNOT, CHANGE, Drift, Update
from . import theme
from .words import cut, figure, labels, printable

HEIGHT, WIDEST, NARROWEST = 280, 640, 14
SERIES = ("with the reference", "with the last batch")
MOST_WORDS = 12
"""With more batches than this, verdicts are in colours and tooltips only."""


def drift_chart(drift: Drift) -> alt.LayerChart:
    """Draw how much the concept of each batch agrees with that of the reference and of the batch before."""
    if not drift.updates:
        raise InputError("There is nothing to draw: no batch was seen yet.")
    names = labels([update.name for update in drift.updates])
    step = int(min(max(WIDEST / len(names), NARROWEST), 64))
    rows = [row for name, update in zip(names, drift.updates) for row in _rows(name, update)]
    least = min(min(row["value"], row["below"]) for row in rows)
    least = max(min(least, min(update.chance for update in drift.updates)) - 0.04, 0.0)
    x = alt.X(
        "batch:N",
        title="batch",
        sort=None,
        scale=alt.Scale(domain=names),
        axis=alt.Axis(labelAngle=-40, labelLimit=120, labelOverlap=True),
    )

    def up(field: str) -> alt.Y:
        scale = alt.Scale(domain=[least, 1.02], nice=False, zero=False)
        return alt.Y(f"{field}:Q", title="share of probes answered alike", scale=scale, axis=alt.Axis(tickCount=6))

    series = alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(SERIES), range=[theme.COLOURS[0], theme.COLOURS[2]]),
        legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1),
    )
    shape = alt.Shape("series:N", scale=alt.Scale(domain=list(SERIES), range=["circle", "diamond"]), legend=None)
    tips = theme.tooltips(
        name="batch",
        series="agreement",
        told="value",
        limit="alarm below",
        verdict="verdict",
        accuracy="old concept right on",
    )
    base = theme.chart_of(rows).encode(x=x)
    chance = theme.chart_of([{"chance": update.chance, "batch": name} for name, update in zip(names, drift.updates)])
    low = theme.chart_of([row for row in rows if row["verdict"] == CHANGE and row["value"] < row["below"]]).encode(x=x)
    layers: list[Any] = [
        chance.mark_tick(style="faint", orient="horizontal", size=step, thickness=1).encode(x=x, y=up("chance")),
        base.mark_tick(orient="horizontal", size=step - 2, thickness=2, opacity=0.45).encode(
            y=up("below"), color=series
        ),
        base.mark_line(strokeWidth=1.2, opacity=0.5).encode(y=up("value"), color=series),
        base.mark_point(filled=True, opacity=1, size=55).encode(y=up("value"), color=series, shape=shape, tooltip=tips),
        low.mark_point(filled=False, opacity=1, size=230, strokeWidth=2.2, color=theme.COLOURS[1]).encode(
            y=up("value")
        ),
    ]
    if len(names) <= MOST_WORDS:
        layers += _words(names, drift, x)
    return theme.finished(
        layers, alt.Step(step), HEIGHT, theme.titled(*_titles(drift), width=max(step * len(names) + 80, 420))
    )


def _rows(name: str, update: Update) -> list[theme.Row]:
    compared = (
        (SERIES[0], update.agreement_reference, update.alarm_below_reference),
        (SERIES[1], update.agreement_last, update.alarm_below_last),
    )
    return [
        {
            "batch": name,
            "name": printable(update.name),
            "series": series,
            "value": value,
            "below": below,
            "told": figure(value, ".3f"),
            "limit": figure(below, ".3f"),
            "verdict": update.verdict,
            "accuracy": f"{update.accuracy_reference:.3f} of the batch",
        }
        for series, value, below in compared
        if not math.isnan(value)
    ]


def _words(names: list[str], drift: Drift, x: alt.X) -> list[alt.Chart]:
    """The verdicts above the batches that have one to be noted."""
    layers = []
    for verdict, style in (
        (CHANGE, {"color": theme.COLOURS[1], "fontWeight": "bold", "fontSize": 11}),
        (CANNOT, {"style": "note"}),
    ):
        chosen = [
            {"batch": name, "text": verdict.split()}
            for name, update in zip(names, drift.updates)
            if update.verdict == verdict
        ]
        if chosen:
            text: Any = theme.chart_of(chosen).mark_text(baseline="bottom", lineBreak="\n", lineHeight=12, **style)
            layers.append(text.encode(x=x, y=alt.value(-2), text="text:N"))
    return layers


def _titles(drift: Drift) -> tuple[str, str]:
    unable = sum(update.verdict == CANNOT for update in drift.updates)
    if unable == len(drift.updates):
        said = "cannot monitor"
    elif drift.alarms:
        said = f"change in {len(drift.alarms)} of {len(drift.updates)} batches"
    else:
        said = "no change told"
    rings = " Rings: below it." if drift.alarms else ""
    return (
        f"{cut(drift.learner, 48)}: {said}",
        f"How much the concept of each batch answers like that of the reference ({drift.n_reference} rows) and of the "
        f"batch before. Bars: alarm below, at a false-alarm rate of {drift.false_alarm_rate:g} a batch.{rings} Grey: "
        "a concept that has nothing to do with the reference.",
    )
