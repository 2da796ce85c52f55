"""Agreement over batches, with the level below which there is an alarm, and the verdicts."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ...expect import InputError
from ...learner.drift.verdict import CONCEPT, ERROR, ROWS, UNSTEADY, Drift, Update
from ..kinds import without_options
from ..style import theme
from ..style.theme import cut, figure, labels, printable

HEIGHT, WIDEST, NARROWEST = 280, 640, 14
SERIES = ("with the reference", "with the previous batch")
MOST_WORDS = 12
"""With more batches than this, verdicts are in colours and tooltips only."""


@without_options
def drift_chart(drift: Drift) -> alt.LayerChart:
    """Draw how much the concept of each batch agrees with that of the reference and of the previous batch."""
    if not drift.updates:
        raise InputError("There is nothing to draw: no batch has been seen yet.")
    names = labels([update.name for update in drift.updates])
    step = int(min(max(WIDEST / len(names), NARROWEST), 64))
    rows = [row for name, update in zip(names, drift.updates) for row in _rows(name, update)]
    first = drift.updates[0]
    alike = f"alike, within {first.tolerance:.3g}" if first.metric == ERROR else "alike"
    lined = [row for row in rows if row["below"] is not None]
    least = min(*(row["value"] for row in rows), *(row["below"] for row in lined))
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
        return alt.Y(
            f"{field}:Q", title=f"share of comparison points predicted {alike}", scale=scale, axis=alt.Axis(tickCount=6)
        )

    series = alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(SERIES), range=[theme.COLOURS[0], theme.COLOURS[2]]),
        legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1),
    )
    shape = alt.Shape("series:N", scale=alt.Scale(domain=list(SERIES), range=["circle", "diamond"]), legend=None)
    tips = theme.tooltips(
        name="batch",
        series="agreement",
        value_text="value",
        limit="low below",
        verdict="verdict",
        old=f"{first.metric} of the old concept",
    )
    base = theme.chart_of(rows).encode(x=x)
    chance = theme.chart_of([{"chance": update.chance, "batch": name} for name, update in zip(names, drift.updates)])
    low = theme.chart_of([row for row in lined if row["verdict"] in (CONCEPT, ROWS)]).encode(x=x)
    layers: list[Any] = [
        chance.mark_tick(style="faint", orient="horizontal", size=step, thickness=1).encode(x=x, y=up("chance")),
        theme.chart_of(lined)
        .encode(x=x)
        .mark_tick(orient="horizontal", size=step - 2, thickness=2, opacity=0.45)
        .encode(y=up("below"), color=series),
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


@without_options
def update_chart(update: Update) -> alt.LayerChart:
    """Draw a single batch as `drift_chart` draws it among others."""
    return drift_chart(Drift(update.learner, "", update.false_alarm_rate, update.n_reference, (update,)))


def _rows(name: str, update: Update) -> list[theme.Row]:
    compared = (
        (SERIES[0], update.agreement_reference, update.low_below_reference),
        (SERIES[1], update.agreement_last, None),
    )
    return [
        {
            "batch": name,
            "name": printable(update.name),
            "series": series,
            "value": value,
            "below": below,
            "value_text": figure(value, ".3f"),
            "limit": "" if below is None else figure(below, ".3f"),
            "verdict": update.verdict,
            "old": update.metric_in_words,
        }
        for series, value, below in compared
        if not math.isnan(value)
    ]


def _words(names: list[str], drift: Drift, x: alt.X) -> list[alt.Chart]:
    """The verdicts above the batches with a notable one."""
    layers = []
    for verdict, style in (
        (CONCEPT, {"color": theme.COLOURS[1], "fontWeight": "bold", "fontSize": 11}),
        (ROWS, {"color": theme.COLOURS[1], "fontSize": 11}),
        (UNSTEADY, {"style": "note"}),
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
    counts = {
        verdict: sum(update.verdict == verdict for update in drift.updates) for verdict in (CONCEPT, ROWS, UNSTEADY)
    }
    outcome = "nothing shown"
    if counts[UNSTEADY] == len(drift.updates):
        outcome = UNSTEADY
    elif drift.alarms:
        said = [f"{verdict} in {counts[verdict]}" for verdict in (CONCEPT, ROWS) if counts[verdict]]
        outcome = f"{', '.join(said)} of {len(drift.updates)} batches"
    rings = " Rings: alarm." if drift.alarms else ""
    return (
        f"{cut(drift.learner, 48)}: {outcome}",
        f"How much the predictions of each batch's concept agree with those of the reference "
        f"({drift.n_reference} rows) and of the previous batch. Bars: lower than usual, by itself. An alarm also "
        f"counts the old concept's {drift.updates[0].metric}, at a false-alarm rate of {drift.false_alarm_rate:g} per "
        f"batch.{rings} Grey: a concept unrelated to the reference.",
    )
