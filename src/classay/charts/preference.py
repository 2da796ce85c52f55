"""Preference between two concepts against the share of evidence for the first, with the crossing marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from ..expect import InputError
from ..learner.preference.preference import CROSSES, Preference, Preferences
from .style import theme
from .style.panel import DASHED, Panel, numbers
from .style.theme import Row, cut, estimate_text, figure, labels, printable

SIZE = 460, 300


def preference_chart(*preferences: Preference) -> alt.LayerChart:
    """Draw how much more the learned concepts agree with f1 than with f2, for every p evaluated."""
    _refuse(preferences)
    first, alone = preferences[0], len(preferences) == 1
    names = labels([each.learner for each in preferences])
    most = max(each.disagreement for each in preferences)
    panel = Panel(
        numbers("p: share of conflicting labels from the first concept", (0, 1), "p", format=".1~f"),
        numbers(
            "agreement with the first − with the second",
            (-1.08 * most, 1.08 * most),
            "value",
            labelExpr=theme.SIGNED,
            tickCount=7,
        ),
        *SIZE,
    )
    legend = theme.legend_below(names)
    colour = theme.colour(names, legend)
    rows = [row for name, each in zip(names, preferences) for row in _asked(name, each)]
    named = enumerate(zip(names, preferences))
    crossings = [row for place, (name, each) in named for row in _crossing(name, each, place)]
    sides = [
        {"p": 0.012, "value": sign * 1.02 * most, "text": f"prefers {cut(concept, 40)}"}
        for sign, concept in ((1, first.f1), (-1, first.f2))
    ]
    tips = {"learner": "learner", "at": "p", "value_text": "difference", "fits": "fits"}
    crossing_tips = {"learner": "learner", "crossing": "crossing", "verdict": "verdict"}
    area = {"color": colour, "opacity": 0.14, "x": "low", "x2": "high", "y": None}
    layers = [panel.mark("rect", crossings, crossing_tips, **area)] if alone else []
    layers += [
        panel.rule("y", 0.0),
        panel.rule("x", 0.5, strokeDash=DASHED),
        panel.mark("text", sides, style="note", align="left", baseline="middle", text="text"),
        panel.mark("line", rows, strokeWidth=2, opacity=0.75, color=colour, y="fitted"),
    ]
    if alone:
        name = {"style": "name", "baseline": "bottom", "y": -3, "text": "text", "color": colour}
        layers += [
            panel.mark("rule", rows, strokeWidth=1.4, opacity=0.9, color=colour, y="low", y2="high"),
            panel.mark("point", rows, tips, size=40, color=colour),
            panel.mark("text", crossings, crossing_tips, **name),
        ]
    else:
        line = {"strokeWidth": 3, "x": "low", "x2": "high", "y": "aside", "color": colour}
        layers += [
            panel.mark("point", rows, opacity=0.5, size=18, color=colour),
            panel.mark("rule", crossings, crossing_tips, **line),
        ]
    large = {"size": 110, "stroke": "white", "y": "aside", "color": colour, "shape": theme.shape(names, legend)}
    layers.append(panel.mark("point", crossings, crossing_tips, **large))
    return panel.drawn(layers, *_titles(preferences), wrap=SIZE[0] + 60)


def preferences_chart(preferences: Preferences) -> alt.LayerChart:
    """Draw the preferences of several learners in one chart."""
    return preference_chart(*preferences.learners.values())


def _titles(preferences: Sequence[Preference]) -> tuple[str, str]:
    first = preferences[0]
    level = f"{first.crossing.level:.0%}"
    rows = f"Training sets of {first.n_samples} rows; comparison points: {cut(first.probes)}."
    if len(preferences) > 1:
        return "What learners favour, and how much evidence changes that", (
            "Curve: fitted; it rises as more labels come from the first concept. Large points: where the preference "
            f"switches, with {level} interval; left of the dashed line, a learner favours the first concept. {rows}"
        )
    title = f"{cut(first.learner, 60)}: what it favours, and how much evidence changes that"
    shaded = f" Shaded: {level} interval of the crossing." if first.verdict == CROSSES else " It does not cross."
    points = f"Points: mean of fits, with {level} interval. Curve: fitted to all of them. Dashed: equal evidence."
    return title, f"{points}{shaded} {rows}"


def _asked(name: str, each: Preference) -> list[Row]:
    rows: Any = each.evaluations.itertuples(index=False)
    about = {"label": name, "learner": printable(each.learner)}
    return [
        about
        | {"p": row.p, "at": f"{row.p:.3f}", "value": row.difference, "low": row.low, "high": row.high}
        | {"fitted": row.fitted, "fits": f"{row.fits}"}
        | {"value_text": ", ".join((_signed(row.difference), f"{_signed(row.low)} to {_signed(row.high)}"))}
        for row in rows
    ]


def _signed(value: float) -> str:
    return figure(value, "+.3f")


def _crossing(name: str, each: Preference, place: int) -> list[Row]:
    """One row if it crosses; several learners are drawn slightly apart, so that their intervals are visible."""
    if each.verdict != CROSSES:
        return []
    p = each.crossing
    row = {"label": name, "learner": printable(each.learner), "p": p.value, "low": p.low, "high": p.high}
    row |= {"aside": -0.03 * place * each.disagreement, "text": f"p* = {p.value:.2f}"}
    return [row | {"crossing": estimate_text(p, ".3f"), "verdict": each.verdict}]


def _refuse(preferences: Sequence[Any]) -> None:
    if not preferences:
        raise InputError("There is nothing to draw; pass at least one preference.")
    for each in preferences:
        if not isinstance(each, Preference):
            raise InputError(f"Got {type(each).__name__}; expected what `classay.preference` returns.")
        if (each.f1, each.f2) != (preferences[0].f1, preferences[0].f2):
            raise InputError(
                f"{each.learner!r} was measured with other concepts than {preferences[0].learner!r}; one chart needs "
                "the same two."
            )
