"""A learner along a parameter: bias by threshold, entropies, accuracies, with their bands; two parameters as a map."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ..expect import InputError, one_of
from ..intervals import Estimate
from ..learner.orientation import Orientation
from ..learner.sweep_grid import is_numeric
from ..learner.sweep_result import Sweep
from . import theme
from .words import cut, figure, printable, told, within

WIDTH, HEIGHT, CELL = 360, 260, 34
MOST_LINES = 7
MOST_POINTS = 60
"""With more points than this on a chart, only lines are drawn."""
ENTROPIES = ("expressivity", "capacity", "stochasticity")
ACCURACIES = {"training rows": "train_accuracy", "test points": "accuracy"}
MAPPED = {"test accuracy": "accuracy", "capacity": "capacity", "stochasticity": "stochasticity"}


def sweep_bias(found: Sweep) -> alt.LayerChart:
    """Draw the bias at each threshold along the parameter: the paper's figures 2, 5, 6, 9 and 10."""
    first = _first(found)
    size = first.holdout_size
    most = min(size, MOST_LINES)
    shown = sorted({max(round(size * part / most), 1) for part in range(1, most + 1)})
    lines = {
        f"{threshold} of {size} right": (
            {value: one.bias[threshold] for value, one in found.orientations.items()},
            (first.bounds[threshold - 1].bias_low, first.bounds[threshold - 1].bias_high),
        )
        for threshold in shown
    }
    axis = alt.Axis(labelExpr=theme.SIGNED, tickCount=7)
    return _chart(
        found,
        lines,
        "algorithmic bias",
        axis,
        "How much more often right than by guessing",
        f"Lines: at least so many of {size} labels right, less the chance of that; +0.5 is 50 times in 100 more.",
    )


def sweep_entropies(found: Sweep) -> alt.LayerChart:
    """Draw expressivity, capacity and stochasticity along the parameter."""
    most = _first(found).log2_labelings
    lines = {
        name: ({value: getattr(one, name) for value, one in found.orientations.items()}, (0.0, most))
        for name in ENTROPIES
    }
    return _chart(
        found,
        lines,
        "bits",
        alt.Axis(tickCount=6),
        "How far answers spread, and why",
        f"Expressivity, of {most:.3g} bits possible, is capacity (what other data change) plus stochasticity (the "
        "learner's own dice).",
    )


def sweep_accuracies(found: Sweep) -> alt.LayerChart:
    """Draw accuracy on training rows and on test points along the parameter."""
    lines = {
        label: ({value: getattr(one, name) for value, one in found.orientations.items()}, (0.0, 1.0))
        for label, name in ACCURACIES.items()
    }
    return _chart(
        found, lines, "accuracy", alt.Axis(tickCount=6), "Accuracy", "The room between the lines is the train–test gap."
    )


def sweep_map(found: Sweep, metric: str = "test accuracy") -> alt.LayerChart:
    """Draw one figure over two parameters, as coloured cells."""
    one_of(metric, "metric", MAPPED)
    if len(found.parameters) != 2:
        raise InputError(f"This sweep has one parameter ({found.parameters[0]}); a map needs two.")
    rows: list[theme.Row] = []
    for (across, up), one in found.orientations.items():
        estimate: Estimate = getattr(one, MAPPED[metric])
        rows.append(
            {
                "x": _word(across),
                "y": _word(up),
                "value": estimate.value if estimate.known else None,
                "text": figure(estimate.value),
                "told": told(estimate),
            }
        )
    by_place = [list(dict.fromkeys(_word(point[place]) for point in found.values)) for place in (0, 1)]
    x = alt.X("x:O", sort=by_place[0], title=printable(found.parameters[0]), axis=alt.Axis(labelAngle=0))
    y = alt.Y("y:O", sort=by_place[1][::-1], title=printable(found.parameters[1]))
    known = [row["value"] for row in rows if row["value"] is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.0
    base = theme.chart_of(rows).encode(x=x, y=y)
    colour = alt.Color("value:Q", title=metric, scale=alt.Scale(scheme="tealblues", zero=False), legend=None)
    text = alt.condition(f"datum.value > {float(middle)!r}", alt.value("white"), alt.value("#2b333d"))
    layers: list[Any] = [
        base.mark_rect().encode(color=colour, tooltip=theme.tooltips(x="first", y="second", told=metric)),
        base.mark_text(fontSize=10).encode(text="text:N", color=text),
    ]
    width = max(CELL * len(by_place[0]), 220)
    title = theme.titled(f"{cut(found.learner)}: {metric}", "The same subsets serve every cell.", width=width + 40)
    return theme.finished(layers, width, CELL * len(by_place[1]), title)


def _first(found: Sweep) -> Orientation:
    if len(found.parameters) != 1:
        raise InputError(
            f"This sweep has two parameters ({', '.join(found.parameters)}); kind='map' draws one figure over both."
        )
    return next(iter(found.orientations.values()))


Lines = dict[str, tuple[dict[Any, Estimate], tuple[float, float]]]


def _chart(found: Sweep, lines: Lines, unit: str, axis: alt.Axis, title: str, how: str) -> alt.LayerChart:
    numeric = is_numeric(found.values)
    rows: list[theme.Row] = []
    for label, (estimates, (least, most)) in lines.items():
        for value, estimate in estimates.items():
            low, high = within(estimate, least, most)
            if estimate.known:
                at = value if numeric else _word(value)
                row = {"label": label, "x": at, "value": estimate.value, "low": low, "high": high}
                rows.append({**row, "at": _word(value), "told": told(estimate)})
    level = next(iter(_first(found).bias.values())).level
    names = list(lines)
    legend = theme.legend_below(names)
    x, colour = _across(found), theme.colour(names, legend)
    # A figure that is nearly constant would otherwise seem to leap.
    y = alt.Y("value:Q", title=unit, axis=axis, scale=alt.Scale(zero=unit == "bits", nice=True))
    base = theme.chart_of(rows).encode(x=x, color=colour)
    layers: list[Any] = [
        base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=y),
    ]
    points = base.mark_point(size=30, filled=True, opacity=1 if len(rows) <= MOST_POINTS else 0)
    tooltip = theme.tooltips(label="figure", at=printable(found.parameters[0]), told="value")
    layers.append(points.encode(y=y, shape=theme.shape(names, legend), tooltip=tooltip))
    whole = f"{cut(found.learner)}: {title[0].lower()}{title[1:]}"
    return theme.finished(
        layers, WIDTH, HEIGHT, theme.titled(whole, f"{how} Bands: {level:.0%} intervals.", width=WIDTH + 40)
    )


def _across(found: Sweep) -> alt.X:
    name = printable(found.parameters[0])
    if not is_numeric(found.values):
        return alt.X("x:O", sort=[_word(value) for value in found.values], title=name, axis=alt.Axis(labelAngle=0))
    if logarithmic(found.values):
        axis = alt.Axis(format="~g", labelOverlap=True, tickCount=6)
        return alt.X("x:Q", title=f"{name} (logarithmic)", scale=alt.Scale(type="log", nice=False), axis=axis)
    return alt.X(
        "x:Q", title=name, scale=alt.Scale(zero=False, nice=False, padding=8), axis=alt.Axis(labelOverlap=True)
    )


def logarithmic(values: tuple[Any, ...]) -> bool:
    """Whether values are spread over decades at ratios rather than at distances.

    >>> logarithmic((0.1, 1, 10, 100)), logarithmic(tuple(range(1, 201, 5)))
    (True, False)
    """
    numbers = np.sort(np.array(values, dtype=float))
    if numbers.size < 3 or numbers[0] <= 0 or numbers[-1] / numbers[0] < 20:
        return False
    steps, ratios = np.diff(numbers), np.diff(np.log(numbers))
    return bool(ratios.std() / ratios.mean() < steps.std() / steps.mean())


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else printable(str(value))
