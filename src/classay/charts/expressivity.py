"""Expressivity, split into what responds to data (capacity) and what is dice (stochasticity)."""

from __future__ import annotations

from typing import Any

import altair as alt

from ..learner.orientation import Orientation
from . import theme
from .comparing import compared
from .words import figure, printable, told, within

WIDTH, STEP = 340, 34
PARTS = {"capacity (data)": 0.95, "stochasticity (dice)": 0.4}
"""How opaque each part of a bar is."""
UNKNOWN = "unknown split"


def expressivity_chart(*orientations: Orientation) -> alt.LayerChart:
    """Draw how far the answers of learners spread, in bits, and how much of that is due to data and to dice."""
    learners = compared(orientations, same_holdouts=False)
    names = list(learners)
    totals, parts, unknown = _rows(learners)
    limits = sorted({row["most"] for row in totals})
    scale = alt.Scale(domain=[0, limits[-1]], nice=False)
    y = alt.Y("label:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(ticks=False, domain=False))

    def across(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title="bits", scale=scale, axis=alt.Axis(tickCount=6))

    shade = alt.Opacity(
        "part:O",
        scale=alt.Scale(domain=list(PARTS), range=list(PARTS.values())),
        legend=alt.Legend(
            title=None, orient="bottom", symbolType="square", symbolSize=120, symbolFillColor=theme.COLOURS[-1]
        ),
    )
    tooltips = theme.tooltips(
        learner="learner",
        expressivity="expressivity",
        capacity="capacity",
        stochasticity="stochasticity",
        possible="most possible",
    )
    whole = theme.chart_of(totals).encode(y=y, tooltip=tooltips)
    split = theme.chart_of(parts).encode(x=across("from"), x2="to:Q", y=y, tooltip=tooltips)
    unsplit = theme.chart_of(unknown).encode(y=y, tooltip=tooltips)
    thick = STEP - 12
    layers: list[Any] = [
        whole.mark_bar(style="possible", height=thick).encode(x=across("none"), x2="most:Q"),
        split.mark_bar(height=thick).encode(opacity=shade, color=theme.colour(names, None)),
        unsplit.mark_bar(style="unknown", height=thick).encode(x=across("from"), x2="to:Q"),
        whole.mark_tick(style="reference", size=STEP, thickness=1.5, opacity=1).encode(x=across("most")),
        whole.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        *(
            whole.mark_tick(style="interval", size=8, thickness=1.4, opacity=1).encode(x=across(end))
            for end in ("low", "high")
        ),
        whole.mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    possible = f"{limits[0]:.3g} bits" if len(limits) == 1 else "by holdout size and number of classes"
    return theme.finished(
        layers,
        WIDTH,
        alt.Step(STEP),
        theme.titled(
            "How far answers spread, and why",
            "Bar: expressivity, how much answers vary over refits. Full colour: because data differ; pale: by "
            f"own dice. Thin line: {totals[0]['level']} interval. End of track: most possible ({possible})."
            + (" Dashed: the record cannot tell how it splits." if unknown else ""),
            width=WIDTH + 140,
        ),
    )


def _rows(learners: dict[str, Orientation]) -> tuple[list[theme.Row], list[theme.Row], list[theme.Row]]:
    """Rows of wholes, of known parts, and of wholes whose parts are unknown."""
    totals: list[theme.Row] = []
    parts: list[theme.Row] = []
    unknown: list[theme.Row] = []
    for label, each in learners.items():
        most, whole = each.log2_labelings, each.expressivity
        low, high = within(whole, 0.0, most)
        split = each.capacity.known and each.stochasticity.known
        about = {
            "label": label,
            "learner": printable(each.learner),
            "expressivity": told(whole),
            "capacity": told(each.capacity),
            "stochasticity": told(each.stochasticity),
            "possible": f"{most:.3g} bits",
        }
        totals.append(
            about
            | {"none": 0.0, "most": most, "low": low, "high": high}
            | {"figure": figure(whole.value, ".2f") + ("" if split else f" ({UNKNOWN})"), "level": f"{whole.level:.0%}"}
        )
        if split:
            ends = (0.0, each.capacity.value, whole.value)
            parts += [
                about | {"part": part, "from": start, "to": end} for part, start, end in zip(PARTS, ends, ends[1:])
            ]
        elif whole.known:
            unknown.append(about | {"part": UNKNOWN, "from": 0.0, "to": whole.value})
    return totals, parts, unknown
