"""Layers on two axes: every chart is a panel, and a list of marks on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from . import theme

Axis = dict[str, Any]
"""The options of a channel `x` or `y`; with a `field`, marks that name no other are placed by it."""
Align = Literal["left", "center", "right"]
DASHED = [4, 3]
USUAL: dict[str, dict[str, Any]] = {"point": {"filled": True, "opacity": 1}}
"""What a kind of mark has unless it is given."""


def numbers(
    title: str | None = None, ends: Sequence[float] | None = None, field: str = "", *, scale: Any = None, **axis: Any
) -> Axis:
    """An axis of numbers from one end to the other (default: as the data). Without a title it is not drawn."""
    own: Axis = {"field": field} if field else {}
    if scale is None:
        scale = alt.Undefined if ends is None else alt.Scale(domain=list(ends), nice=False)
    ticks = {} if "values" in axis else {"tickCount": 6}
    shown = None if title is None else alt.Axis(**{**ticks, **axis})
    return own | {"type": "quantitative", "title": title, "scale": scale, "axis": shown}


def names(domain: Sequence[str], field: str = "label", title: str | None = None, **axis: Any) -> Axis:
    """An axis of names, in this order."""
    shown = alt.Axis(ticks=False, domain=False, **axis)
    return {"field": field, "type": "nominal", "title": title, "scale": alt.Scale(domain=list(domain)), "axis": shown}


@dataclass(frozen=True)
class Panel:
    """Two axes and a size. `mark` makes a layer of it, `drawn` a chart of layers."""

    x: Axis
    y: Axis
    width: int | alt.Step
    height: int | alt.Step

    def mark(self, kind: str, rows: Sequence[theme.Row], tooltip: Any = None, **looks: Any) -> alt.Chart:
        """A layer with one mark for each row, or one for all.

        `x`, `x2`, `y` and `y2` are fields of the rows, or numbers of pixels; None for the whole length of an axis.
        `text` and `url` are fields, `tooltip` are fields with their titles. Other looks are those of Altair: channels
        such as `alt.Color`, conditions, and properties of the mark.
        """
        channels: dict[str, Any] = {"tooltip": theme.tooltips(**tooltip)} if tooltip else {}
        for channel, made, axis in (("x", alt.X, self.x), ("y", alt.Y, self.y)):
            place = looks.pop(channel, axis.get("field"))
            if isinstance(place, str):
                channels[channel] = made(**{**axis, "field": place})
            elif place is not None:
                channels[channel] = alt.value(place)
        for channel in ("x2", "y2"):
            if channel in looks:
                end = looks.pop(channel)
                channels[channel] = f"{end}:Q" if isinstance(end, str) else alt.value(end)
        channels |= {channel: f"{looks.pop(channel)}:N" for channel in ("text", "url") if channel in looks}
        # A look that is an object of Altair, or a condition, depends on the row.
        channels |= {name: looks.pop(name) for name in list(looks) if isinstance(looks[name], (alt.SchemaBase, dict))}
        # Unlike alt.Data, inline data are written once into a chart, however many layers use them.
        chart = alt.Chart(alt.InlineData(values=list(rows)))
        layer: alt.Chart = getattr(chart, f"mark_{kind}")(**{**USUAL.get(kind, {}), **looks})
        return layer.encode(**channels)

    def rule(self, where: str, at: float, **looks: Any) -> alt.Chart:
        """A line for reference across the whole panel, at a value of `x` or `y`."""
        other = {"x": "y", "y": "x"}[where]
        return self.mark("rule", [{"at": at}], **{where: "at", other: None, "style": "reference", **looks})

    def border(self, at: float, name: str, align: Align = "left", **looks: Any) -> list[alt.Chart]:
        """A vertical line, with its name above the panel: left of it, right of it, or in its middle."""
        text = {"style": "note", "align": align, "dx": {"left": 3, "right": -3, "center": 0}[align]}
        return [
            self.rule("x", at, **looks),
            self.mark("text", [{"at": at, "text": name}], x="at", y=-8, text="text", **text),
        ]

    def drawn(self, layers: Sequence[Any], title: str, *sentences: str, wrap: int = 0) -> alt.LayerChart:
        """The chart of these layers in the house style; `wrap` is the width of its title (default: a little more)."""
        room = wrap or (self.width if isinstance(self.width, int) else theme.WIDTH) + 40
        titles = theme.titled(title, *sentences, width=room)
        chart: Any = alt.layer(*layers).properties(width=self.width, height=self.height, title=titles)
        done: alt.LayerChart = theme.styled(chart)
        return done
