"""Information in bits: what a curve implies, and what there is at least."""

from __future__ import annotations

import math
from typing import Any

import altair as alt

from ..classes.information import Information
from ..expect import InputError
from ..intervals import Estimate
from . import theme
from .words import figure, told, within

WIDTH, STEP = 340, 34
CALLED = {"implied": "implied", "lower bound": "lower bound", "Fano": "Fano’s bound"}


def information_chart(*found: Information, about: str = "the class") -> alt.LayerChart:
    """Draw figures of information beneath each other: estimates with an interval, bounds open to the right."""
    if not found:
        raise InputError("There is nothing to draw; give at least one figure of information.")
    most = reach(*(each.bits for each in found))
    rows = [_row(each, most) for each in found]
    names = [row["name"] for row in rows]
    y = alt.Y("name:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(ticks=False, domain=False))
    layers = [
        *marks(
            [row for row in rows if not row["open"]], [row for row in rows if row["open"]], y, most, theme.COLOURS[0]
        ),
        theme.chart_of(rows).mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), y=y, text="figure:N"),
    ]
    return theme.finished(
        layers, WIDTH, alt.Step(STEP), theme.titled(_title(found, about), _meaning(found), width=WIDTH + 190)
    )


def reach(*bits: Estimate) -> float:
    """Where the axis ends."""
    ends = [end for each in bits for end in (each.low, each.value, each.high) if math.isfinite(end)]
    return max([*ends, 0.0]) * 1.12 or 1.0


def marks(points: list[theme.Row], bounds: list[theme.Row], y: alt.Y, most: float, ink: str) -> list[Any]:
    """Points with intervals, and bounds as ticks from which a fading line runs to the right."""
    tooltips = theme.tooltips(name="figure", told="bits")

    def across(field: str) -> alt.X:
        scale = alt.Scale(domain=[0, most], nice=False)
        return alt.X(f"{field}:Q", scale=scale, title="bits", axis=alt.Axis(tickCount=6))

    estimates, open_ended = (theme.chart_of(rows).encode(y=y, tooltip=tooltips) for rows in (points, bounds))
    known = theme.chart_of([row for row in points if row["value"] is not None]).encode(y=y, tooltip=tooltips)
    return [
        estimates.mark_rule(style="interval").encode(x=across("low"), x2="high:Q"),
        open_ended.mark_rule(style="reference", strokeDash=[2, 3]).encode(x=across("low"), x2="high:Q"),
        open_ended.mark_tick(size=18, thickness=3, opacity=1, color=ink).encode(x=across("low")),
        open_ended.mark_point(shape="triangle-right", size=45, filled=True, opacity=1, color="#7F7F7F").encode(
            x=across("high")
        ),
        known.mark_point(size=70, filled=True, opacity=1, color=ink).encode(x=across("value")),
    ]


def _row(each: Information, most: float) -> theme.Row:
    low, high = within(each.bits, 0.0, most)
    # Bounds, and an estimate without a value, say where to start and not where to end.
    is_open = each.kind != "implied" or not each.bits.known
    text = f"at least {figure(each.bits.low, '.2f')}" if is_open else figure(each.bits.value, ".2f")
    return {
        "name": CALLED[each.kind],
        "low": low,
        "high": most if is_open else high,
        "value": None if is_open else each.bits.value,
        "open": is_open,
        "figure": text,
        "told": told(each.bits),
    }


def _title(found: tuple[Information, ...], about: str) -> str:
    implied = next((each for each in found if each.kind == "implied"), None)
    sure = max((each.bits.low for each in found if each.kind == "lower bound"), default=None)
    parts = []
    if implied is not None and implied.bits.known:
        parts.append(f"about {implied.bits.value:.2g} bits")
    if sure is not None:
        parts.append(f"surely at least {sure:.2g}")
    return f"Information about {about}" + (f": {', '.join(parts)}" if parts else "")


def _meaning(found: tuple[Information, ...]) -> str:
    kinds = {each.kind for each in found}
    level = f"{found[0].bits.level:.0%}"
    said = []
    if "implied" in kinds:
        said.append(
            f"Point: what the best classifier would need for this curve, with its {level} interval; no guarantee."
        )
    if kinds - {"implied"}:
        said.append(f"Ticks with an arrow: there is at least so much, with {level} confidence.")
    if "Fano" in kinds:
        said.append("Fano’s is about which of the classes tested it was, and cannot exceed the log of their number.")
    return " ".join(said)
