"""Preference between two concepts against the share of evidence for the first, with the crossing marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
from scipy.optimize import isotonic_regression

from ...expect import InputError
from ...learner.preference.preference import CROSSES, Preference, Preferences
from ..kinds import without_options
from ..style import theme
from ..style.theme import cut, estimate_text, figure, labels, printable

WIDTH, HEIGHT = 460, 300


@without_options
def preference_chart(*preferences: Preference) -> alt.LayerChart:
    """Draw how much more the learned concepts agree with f1 than with f2, for every p evaluated."""
    _refuse(preferences)
    first = preferences[0]
    names = labels([each.learner for each in preferences])
    most = max(each.disagreement for each in preferences)
    alone = len(preferences) == 1
    x_scale = alt.Scale(domain=[0, 1], nice=False)
    y_scale = alt.Scale(domain=[-1.08 * most, 1.08 * most], nice=False)

    def across(field: str) -> alt.X:
        axis = alt.Axis(tickCount=6, format=".1~f")
        return alt.X(
            f"{field}:Q", title="p: share of conflicting labels from the first concept", scale=x_scale, axis=axis
        )

    def up(field: str) -> alt.Y:
        return alt.Y(
            f"{field}:Q",
            title="agreement with the first − with the second",
            scale=y_scale,
            axis=alt.Axis(labelExpr=theme.SIGNED, tickCount=7),
        )

    legend = theme.legend_below(names)
    colour = theme.colour(names, legend)
    zero = theme.chart_of([{"zero": 0.0, "half": 0.5}])
    words = theme.chart_of(
        [
            {"x": 0.012, "y": 1.02 * most, "text": f"prefers {cut(first.f1, 40)}"},
            {"x": 0.012, "y": -1.02 * most, "text": f"prefers {cut(first.f2, 40)}"},
        ]
    )
    base = theme.chart_of([row for name, each in zip(names, preferences) for row in _asked(name, each)])
    tips = theme.tooltips(learner="learner", at="p", value_text="difference", fits="fits")
    crossings = [
        row for place, (name, each) in enumerate(zip(names, preferences)) for row in _crossing(name, each, place)
    ]
    crossed = theme.chart_of(crossings).encode(
        color=colour, tooltip=theme.tooltips(learner="learner", crossing="crossing", verdict="verdict")
    )
    layers: list[Any] = []
    if alone:
        layers.append(crossed.mark_rect(opacity=0.14).encode(x=across("low"), x2="high:Q"))
    layers += [
        zero.mark_rule(style="reference").encode(y=up("zero")),
        zero.mark_rule(style="reference", strokeDash=[4, 3]).encode(x=across("half")),
        words.mark_text(style="note", align="left", baseline="middle").encode(x=across("x"), y=up("y"), text="text:N"),
        base.mark_line(strokeWidth=2, opacity=0.75).encode(x=across("p"), y=up("rising"), color=colour),
    ]
    if alone:
        layers += [
            base.mark_rule(strokeWidth=1.4, opacity=0.9).encode(x=across("p"), y=up("low"), y2="high:Q", color=colour),
            base.mark_point(filled=True, opacity=1, size=40).encode(
                x=across("p"), y=up("value"), color=colour, tooltip=tips
            ),
            crossed.mark_text(style="name", baseline="bottom").encode(
                x=across("value"), y=alt.value(-3), text="text:N"
            ),
        ]
    else:
        layers.append(
            base.mark_point(filled=True, opacity=0.5, size=18).encode(x=across("p"), y=up("value"), color=colour)
        )
        layers.append(crossed.mark_rule(strokeWidth=3).encode(x=across("low"), x2="high:Q", y=up("aside")))
    layers.append(
        crossed.mark_point(filled=True, opacity=1, size=110, stroke="white").encode(
            x=across("value"), y=up("aside"), shape=theme.shape(names, legend)
        )
    )
    return theme.finished(layers, WIDTH, HEIGHT, theme.titled(*_titles(preferences), width=WIDTH + 60))


@without_options
def preferences_chart(preferences: Preferences) -> alt.LayerChart:
    """Draw the preferences of several learners in one chart."""
    return preference_chart(*preferences.learners.values())


def _titles(preferences: Sequence[Preference]) -> tuple[str, str]:
    first = preferences[0]
    level = f"{first.crossing.level:.0%}"
    rows = f"Training sets of {first.n_samples} rows; comparison points: {cut(first.probes)}."
    if len(preferences) > 1:
        return "What learners favour, and how much evidence changes that", (
            f"Curve: rises as more labels come from the first concept. Large points: where the preference switches, "
            f"with {level} interval; left of the dashed line, a learner favours the first concept. {rows}"
        )
    title = f"{cut(first.learner, 60)}: what it favours, and how much evidence changes that"
    shaded = f" Shaded: {level} interval of the crossing." if first.verdict == CROSSES else " It does not cross."
    return title, f"Points: mean of fits, with {level} interval. Dashed: equal evidence.{shaded} {rows}"


def _asked(name: str, each: Preference) -> list[theme.Row]:
    """One row for each p evaluated."""
    table = each.evaluations
    rows: Any = table.itertuples(index=False)
    rising = isotonic_regression(table["difference"].to_numpy(), weights=table["fits"].to_numpy(dtype=float)).x
    return [
        {
            "label": name,
            "learner": printable(each.learner),
            "p": row.p,
            "at": f"{row.p:.3f}",
            "value": row.difference,
            "low": row.low,
            "high": row.high,
            "rising": float(height),
            "value_text": f"{figure(row.difference, '+.3f')}, {figure(row.low, '+.3f')} to {figure(row.high, '+.3f')}",
            "fits": f"{row.fits}",
        }
        for row, height in zip(rows, rising)
    ]


def _crossing(name: str, each: Preference, place: int) -> list[theme.Row]:
    """One row if it crosses; several learners are drawn slightly apart, so that their intervals are visible."""
    if each.verdict != CROSSES:
        return []
    p = each.crossing
    return [
        {
            "label": name,
            "learner": printable(each.learner),
            "value": p.value,
            "low": p.low,
            "high": p.high,
            "aside": -0.03 * place * each.disagreement,
            "text": f"p* = {p.value:.2f}",
            "crossing": estimate_text(p, ".3f"),
            "verdict": each.verdict,
        }
    ]


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
