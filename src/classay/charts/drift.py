"""Agreement over batches, with the level below which there is an alarm, and the verdicts."""

from __future__ import annotations

import math

import altair as alt

from ..expect import InputError
from ..learner.drift.verdict import CONCEPT, ERROR, NEW, ROWS, UNSTEADY, Drift, Update
from .style import theme
from .style.panel import Panel, numbers
from .style.theme import Row, cut, figure, labels, printable

HEIGHT, WIDEST, NARROWEST = 280, 640, 14
SERIES = ("with the reference", "with the previous batch")
ALARMS = (NEW, CONCEPT, ROWS)
MOST_WORDS = 12
"""With more batches than this, verdicts are in colours and tooltips only."""


def drift_chart(drift: Drift) -> alt.LayerChart:
    """Draw how much the concept of each batch agrees with that of the reference and of the previous batch."""
    if not drift.updates:
        raise InputError("There is nothing to draw: no batch has been seen yet.")
    updates, first = drift.updates, drift.updates[0]
    names = labels([update.name for update in updates])
    step = int(min(max(WIDEST / len(names), NARROWEST), 64))
    rows = [row for name, update in zip(names, updates) for row in _rows(name, update)]
    lined = [row for row in rows if row["below"] is not None]
    chance = [{"value": update.chance, "batch": name} for name, update in zip(names, updates) if update.measured]
    lowest = [1.0, *(row["value"] for row in (*rows, *chance)), *(row["below"] for row in lined)]
    alike = f"alike, within {first.tolerance:.3g}" if first.metric == ERROR else "alike"
    turned = alt.Axis(labelAngle=-40, labelLimit=120, labelOverlap=True)
    across = {"field": "batch", "type": "nominal", "title": "batch", "sort": None, "axis": turned}
    up = numbers(f"share of comparison points predicted {alike}", (max(min(lowest) - 0.04, 0.0), 1.02), "value")
    panel = Panel(across | {"scale": alt.Scale(domain=names)}, up, alt.Step(step), HEIGHT)
    series = alt.Color(
        "series:N",
        scale=alt.Scale(domain=list(SERIES), range=[theme.COLOURS[0], theme.COLOURS[2]]),
        legend=alt.Legend(title=None, orient="bottom", symbolOpacity=1),
    )
    shape = alt.Shape("series:N", scale=alt.Scale(domain=list(SERIES), range=["circle", "diamond"]), legend=None)
    tips = {"name": "batch", "series": "agreement", "value_text": "value", "limit": "low below", "verdict": "verdict"}
    tips |= {"old": f"{first.metric} of the old concept"}
    alarms = [row for row in lined if row["verdict"] in ALARMS]
    ring = {"filled": False, "size": 230, "strokeWidth": 2.2, "color": theme.COLOURS[1]}
    bar = {"orient": "horizontal", "size": step - 2, "thickness": 2, "opacity": 0.45}
    layers = [
        panel.mark("tick", chance, style="faint", orient="horizontal", size=step, thickness=1),
        panel.mark("tick", lined, y="below", color=series, **bar),
        panel.mark("line", rows, strokeWidth=1.2, opacity=0.5, color=series),
        panel.mark("point", rows, tips, size=55, color=series, shape=shape),
        panel.mark("point", alarms, **ring),
        *(_words(panel, names, drift) if len(names) <= MOST_WORDS else ()),
    ]
    return panel.drawn(layers, *_titles(drift), wrap=max(step * len(names) + 80, 420))


def update_chart(update: Update) -> alt.LayerChart:
    """Draw a single batch as `drift_chart` draws it among others."""
    return drift_chart(Drift(update.learner, "", update.false_alarm_rate, update.n_reference, (update,)))


def _rows(name: str, update: Update) -> list[Row]:
    compared = (update.agreement_reference, update.low_below_reference), (update.agreement_last, None)
    return [
        {"batch": name, "name": printable(update.name), "series": series, "verdict": update.verdict}
        | {"value": value, "value_text": figure(value, ".3f"), "old": update.metric_in_words}
        | {"below": below, "limit": "" if below is None else figure(below, ".3f")}
        for series, (value, below) in zip(SERIES, compared)
        if not math.isnan(value)
    ]


def _words(panel: Panel, names: list[str], drift: Drift) -> list[alt.Chart]:
    """The verdicts above the batches with a notable one."""
    layers = []
    alarm = {"color": theme.COLOURS[1], "fontSize": 11}
    bold, note = alarm | {"fontWeight": "bold"}, {"style": "note"}
    for verdict, style in ((NEW, bold), (CONCEPT, bold), (ROWS, alarm), (UNSTEADY, note)):
        some = [
            {"batch": name, "text": verdict.split()}
            for name, update in zip(names, drift.updates)
            if update.verdict == verdict
        ]
        # Two words, two lines: the second is just above the panel.
        text = {"baseline": "bottom", "lineHeight": 12, "dy": -12, **style}
        layers += [panel.mark("text", some, y=-2, text="text", **text)] if some else []
    return layers


def _titles(drift: Drift) -> tuple[str, str]:
    counts = {verdict: sum(update.verdict == verdict for update in drift.updates) for verdict in (*ALARMS, UNSTEADY)}
    outcome = "nothing shown"
    if counts[UNSTEADY] == len(drift.updates):
        outcome = UNSTEADY
    elif drift.alarms:
        parts = [f"{verdict} in {counts[verdict]}" for verdict in ALARMS if counts[verdict]]
        outcome = f"{', '.join(parts)} of {len(drift.updates)} batches"
    rings = " Rings: alarm." if drift.alarms else ""
    return (
        f"{cut(drift.learner, 48)}: {outcome}",
        f"How much the predictions of each batch's concept agree with those of the reference "
        f"({drift.n_reference} rows) and of the previous batch. Bars: lower than usual, by itself. An alarm also "
        f"counts the old concept's {drift.updates[0].metric}, at {drift.rates_in_words}.{rings} Grey: a concept "
        "unrelated to the reference.",
    )
