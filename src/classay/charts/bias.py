"""Algorithmic bias by threshold, with its interval and the range that is possible."""

from __future__ import annotations

from typing import Any

import altair as alt

from ..learner.orientation import Orientation
from . import theme
from .comparing import compared
from .words import figure, printable, told, within

MOST_POINTS = 60
"""With more points than this, intervals are bands and not bars."""
MOST_TICKS = 20
"""With more thresholds than this, the ticks are thinned."""
MOST_WORDS = 8
"""With more thresholds than this, ticks say «9» and not «9 of 12»."""


def bias_chart(*orientations: Orientation) -> alt.LayerChart:
    """Draw how much more often than guessing learners get at least z of h labels right, for every z."""
    learners = compared(orientations, same_holdouts=True)
    first, names = orientations[0], list(learners)
    size = first.holdout_size
    many = size > MOST_TICKS or size * len(learners) > MOST_POINTS
    ticks = f"datum.value + ' of {size}'" if size <= MOST_WORDS else "datum.value"
    x = alt.X(
        "x:Q",
        title=f"at least so many of {size} labels right (threshold z)",
        scale=alt.Scale(domain=[0.5, size + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=_ticks(size), labelExpr=ticks),
    )
    y = alt.Y(
        "bias:Q",
        title="algorithmic bias",
        scale=alt.Scale(domain=[min(bound.bias_low for bound in first.bounds) - 0.05, 1.05], nice=False),
        axis=alt.Axis(labelExpr=theme.SIGNED, tickCount=8),
    )
    zero = theme.chart_of([{"bias": 0, "text": ["as good as", "guessing"]}])
    layers: list[Any] = [
        theme.chart_of(_possible(first))
        .mark_area(style="possible", interpolate="step-after")
        .encode(x=x, y=alt.Y("least:Q"), y2="most:Q"),
        zero.mark_rule(style="reference").encode(y=y),
        zero.mark_text(style="note", align="left", lineHeight=12, dy=-5).encode(
            x=alt.value(theme.WIDTH + 6), y=y, text="text:N"
        ),
    ]
    legend = theme.legend_below(names, lines=many)
    base = theme.chart_of(_rows(learners, many)).encode(x=x, y=y, color=theme.colour(names, legend))
    tooltips = theme.tooltips(learner="learner", threshold="threshold", told="bias", possible="possible")
    if many:
        bars = "Bands"
        layers.append(base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q"), y2="high:Q"))
        layers.append(base.mark_line(strokeWidth=2).encode(strokeDash=theme.dash(names, legend), tooltip=tooltips))
    else:
        bars = "Bars"
        layers.append(base.mark_line(strokeWidth=1, opacity=0.5))
        layers.append(base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q"))
        points = base.mark_point(size=45, filled=True, opacity=1)
        layers.append(points.encode(shape=theme.shape(names, legend), tooltip=tooltips))
    title = "How much more often right than by guessing"
    return theme.finished(
        layers,
        theme.WIDTH,
        theme.HEIGHT,
        theme.titled(
            f"{names[0]}: {title[0].lower()}{title[1:]}" if len(names) == 1 else title,
            f"Height: how much more often a refit gets at least z of {size} labels right than guessing would; +0.5 "
            f"is 50 times in 100 more. {bars}: {first.bias[size].level:.0%} interval. Shaded: all that is possible.",
            width=theme.WIDTH + 60,
        ),
    )


def _possible(orientation: Orientation) -> list[theme.Row]:
    """The range of each threshold, from half a step before it to half a step after."""
    steps = [
        {"x": bound.threshold - 0.5, "least": bound.bias_low, "most": bound.bias_high} for bound in orientation.bounds
    ]
    return [*steps, {**steps[-1], "x": orientation.holdout_size + 0.5}]


def _rows(learners: dict[str, Orientation], many: bool) -> list[theme.Row]:
    rows = []
    for place, (label, each) in enumerate(learners.items()):
        # Side by side, so that intervals at one threshold do not cover each other.
        aside = 0.0 if many else 0.6 * ((place + 0.5) / len(learners) - 0.5)
        for bound in each.bounds:
            estimate = each.bias[bound.threshold]
            low, high = within(estimate, bound.bias_low, bound.bias_high)
            rows.append(
                {
                    "label": label,
                    "learner": printable(each.learner),
                    "threshold": bound.threshold,
                    "x": bound.threshold + aside,
                    "bias": estimate.value,
                    "low": low,
                    "high": high,
                    "told": told(estimate, "+.3f"),
                    "possible": f"{figure(bound.bias_low, '+.3f')} to {figure(bound.bias_high, '+.3f')}",
                }
            )
    return rows


def _ticks(size: int) -> list[int]:
    """Thresholds to name on the axis: all if they are few, else about ten in round steps."""
    if size <= MOST_TICKS:
        return list(range(1, size + 1))
    step = next(scale * 10**power for power in range(19) for scale in (1, 2, 5) if size <= scale * 10 ** (power + 1))
    return [1, *range(step, size + 1, step)]
