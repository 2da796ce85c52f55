"""A learner along a parameter: bias by threshold, entropies, accuracies, with their bands; two parameters as a map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import altair as alt
import numpy as np

from ..expect import InputError, one_of, shown
from ..intervals import Estimate, exact
from ..learner.fitting.groups import is_numeric
from ..learner.orientation.entropy_parts import FIGURES
from ..learner.orientation.orientation import Orientation
from ..learner.sweep.best_value import SweepComparison, in_words
from ..learner.sweep.result import Sweep
from ..learner.sweep.training_data import STORED
from .kinds import Kinds
from .orientation import PLAIN, at_threshold
from .style import theme
from .style.panel import Axis, Panel, numbers
from .style.parts import Line, heat_map, lines_chart
from .style.theme import Row, cut, estimate_text, figure, printable

SIZE = WIDTH, HEIGHT = 360, 260
MOST_LINES = 7
MAPPED = {"test accuracy": "accuracy", **dict(zip(FIGURES, FIGURES))}


def sweep_bias(sweep: Sweep) -> alt.LayerChart:
    """Draw the bias at each threshold along the parameter: the paper's figures 2, 5, 6, 9 and 10."""
    first = _first(sweep)
    size = first.holdout_size
    most = min(size, MOST_LINES)
    lines = {}
    for threshold in sorted({max(round(size * part / most), 1) for part in range(1, most + 1)}):
        bound = first.bounds[threshold - 1]
        estimates = {value: one.bias[threshold] for value, one in sweep.orientations.items()}
        lines[f"{threshold} of {size} right"] = estimates, (bound.bias_low, bound.bias_high)
    how = f"Lines: at least this many of {size} labels right, minus the chance of that; +0.5 is 50 times in 100 more."
    titles = "how much more often right than by guessing", how
    return _chart(sweep, lines, "algorithmic bias", titles, labelExpr=theme.SIGNED, tickCount=7)


def sweep_entropies(sweep: Sweep, plugin: bool = False) -> alt.LayerChart:
    """Draw expressivity, capacity and stochasticity along the parameter; `plugin`: by the paper's plain estimates."""
    most = _first(sweep).log2_labelings
    estimates = {value: one.plugin if plugin else one for value, one in sweep.orientations.items()}
    lines = {name: ({value: getattr(one, name) for value, one in estimates.items()}, (0.0, most)) for name in FIGURES}
    how = (
        f"Expressivity, of {most:.3g} bits possible, is capacity (variation with the data) plus stochasticity "
        f"(training randomness).{PLAIN if plugin else ''}"
    )
    return _chart(sweep, lines, "bits", ("how much predictions vary, and why", how))


def sweep_bounds(sweep: Sweep, threshold: int | None = None) -> alt.LayerChart:
    """Draw the plain expressivity along the parameter, under what its bias allows: the paper's figure 17."""
    first = _first(sweep)
    right = at_threshold(first, threshold)
    level, limits = first.bias[right].level, (0.0, first.log2_labelings)
    plain = {value: one.plugin.expressivity for value, one in sweep.orientations.items()}
    lines: dict[str, Line] = {"expressivity (plain)": (plain, limits)}
    for name, field in (("tight upper bound", "tight"), ("published upper bound", "lauw"), ("lower bound", "least")):
        bounds = {value: one.bounds[right - 1] for value, one in sweep.orientations.items()}
        ends = {value: exact(getattr(one, f"expressivity_{field}"), level=level) for value, one in bounds.items()}
        lines[name] = ends, limits
    how = f"Bounds from the bias at {right} of {first.holdout_size} labels right. They hold for the plain estimate."
    return _chart(sweep, lines, "bits", ("how much predictions vary, and how much their bias allows", how))


def sweep_accuracies(sweep: Sweep) -> alt.LayerChart:
    """Draw accuracy on training rows and on test points along the parameter."""
    _first(sweep)
    lines = {
        label: ({value: getattr(one, name) for value, one in sweep.orientations.items()}, (0.0, 1.0))
        for label, name in (("training rows", "train_accuracy"), ("test points", "accuracy"))
    }
    return _chart(sweep, lines, "accuracy", ("accuracy", "Between the lines: the train–test gap."))


def sweep_shares(sweep: Sweep) -> alt.LayerChart:
    """Draw accuracy, stability and the entropies on one scale: shares of what is possible."""
    most = _first(sweep).log2_labelings

    def share(bits: Estimate) -> Estimate:
        return replace(bits, value=bits.value / most, low=bits.low / most, high=bits.high / most)

    figures = {"test accuracy": {value: one.accuracy for value, one in sweep.orientations.items()}}
    figures["stability"] = {value: sweep.stability(value) for value in sweep.values}
    figures |= {
        name: {value: share(getattr(sweep.orientations[value], name)) for value in sweep.values} for name in FIGURES
    }
    lines: dict[str, Line] = {name: (estimates, (0.0, 1.0)) for name, estimates in figures.items()}
    how = f"Stability: how often refits on different samples agree. Entropies: shares of the {most:.3g} bits possible."
    return _chart(sweep, lines, "share", ("accuracy, stability and variation", how))


def sweep_metric(sweep: Sweep) -> alt.LayerChart:
    """Draw the metric that was asked for along the parameter."""
    if not sweep.metric_estimates:
        raise InputError("This sweep has no metric beside accuracy; sweep with metric='roc_auc', for example.")
    known = [each for each in sweep.metric_estimates.values() if each.known]
    ends = [end for each in known for end in (each.low, each.high, each.value) if np.isfinite(end)] or [0.0, 1.0]
    name = printable(sweep.metric.replace("_", " "))
    lines = {sweep.metric: (sweep.metric_estimates, (min(ends), max(ends)))}
    where = "training rows" if sweep.parameters == (STORED,) else "test points"
    return _chart(sweep, lines, name, (f"{name} on {where}", "Mean over refits."))


def _first(sweep: Sweep) -> Orientation:
    if len(sweep.parameters) != 1:
        raise InputError(
            f"This sweep has two parameters ({', '.join(sweep.parameters)}); kind='map' draws one figure over both."
        )
    return next(iter(sweep.orientations.values()))


def _chart(sweep: Sweep, lines: dict[str, Line], unit: str, titles: tuple[str, str], **axis: Any) -> alt.LayerChart:
    # A figure that is known nowhere would stand in the legend alone.
    lines = {name: line for name, line in lines.items() if any(one.known for one in line[0].values())} or lines
    if not is_numeric(sweep.values):
        lines = {
            name: ({_word(value): estimate for value, estimate in estimates.items()}, ends)
            for name, (estimates, ends) in lines.items()
        }
    # A figure that is nearly constant would otherwise appear to jump.
    up = numbers(unit, field="value", scale=alt.Scale(zero=unit == "bits", nice=True), **axis)
    titled = f"{cut(sweep.learner)}: {titles[0]}", titles[1]
    return lines_chart(lines, printable(sweep.parameters[0]), Panel(_across(sweep), up, *SIZE), titled)


def _across(sweep: Sweep) -> Axis:
    name = printable(sweep.parameters[0])
    if not is_numeric(sweep.values):
        return _words([_word(value) for value in sweep.values], name)
    if logarithmic(sweep.values):
        scale = alt.Scale(type="log", nice=False)
        return numbers(f"{name} (logarithmic)", field="x", scale=scale, format="~g", labelOverlap=True)
    scale = alt.Scale(zero=False, nice=False, padding=8)
    return numbers(name, field="x", scale=scale, labelOverlap=True, tickCount=alt.Undefined)


def _words(words: list[str], title: str, **axis: Any) -> Axis:
    return {"field": "x", "type": "ordinal", "sort": words, "title": title, "axis": alt.Axis(labelAngle=0, **axis)}


def logarithmic(values: tuple[Any, ...]) -> bool:
    """Whether values are spaced over decades by ratios rather than by differences."""
    ordered = np.sort(np.array(values, dtype=float))
    if ordered.size < 3 or ordered[0] <= 0 or ordered[-1] / ordered[0] < 20:
        return False
    steps, ratios = np.diff(ordered), np.diff(np.log(ordered))
    return bool(ratios.std() / ratios.mean() < steps.std() / steps.mean())


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else printable(str(value))


# Two parameters.


def sweep_map(sweep: Sweep, metric: str = "test accuracy", plugin: bool = False) -> alt.LayerChart:
    """Draw one figure over two parameters, as coloured cells; `plugin`: an entropy by the paper's plain estimate."""
    one_of(metric, "metric", MAPPED)
    if plugin and metric not in FIGURES:
        raise InputError(
            f"`plugin` is True, but {metric} has no plain estimate; expected a metric of {shown(map(repr, FIGURES))}."
        )
    if len(sweep.parameters) != 2:
        raise InputError(f"This sweep has one parameter ({sweep.parameters[0]}); a map needs two.")
    cells: list[Row] = []
    for point, one in sweep.orientations.items():
        estimate: Estimate = getattr(one.plugin if plugin else one, MAPPED[metric])
        text = f"{'≥ ' if estimate.prefix else ''}{figure(estimate.value)}"
        cell = {
            "value": estimate.value if estimate.known else None,
            "text": text,
            "value_text": estimate_text(estimate),
        }
        cells.append({"across": _word(point[0]), "down": _word(point[1]), **cell})
    known = [cell["value"] for cell in cells if cell["value"] is not None] or [0.0, 1.0]
    across, up = (list(dict.fromkeys(_word(point[place]) for point in sweep.values)) for place in (0, 1))
    limits = " ≥: a lower limit." if any(cell["text"].startswith("≥") for cell in cells) else ""
    return heat_map(
        cells,
        across,
        (min(known), max(known)),
        {"across": "first", "down": "second", "value_text": metric},
        f"{cut(sweep.learner)}: {metric}",
        f"All cells use the same subsets.{limits}{PLAIN if plugin else ''}",
        down=up[::-1],
        axes=(printable(sweep.parameters[0]), printable(sweep.parameters[1])),
        legend=None,
    )


def sweep_overview(sweep: Sweep, metric: str = "test accuracy", plugin: bool = False) -> alt.TopLevelMixin:
    """Draw bias, entropies and accuracies along one parameter, or the map of a metric over two."""
    if len(sweep.parameters) == 2 or metric != "test accuracy":
        return sweep_map(sweep, metric, plugin)
    more = (sweep_metric(sweep),) if sweep.metric else ()
    return theme.beside(sweep_bias(sweep), sweep_entropies(sweep, plugin), sweep_accuracies(sweep), *more)


SWEEP: Kinds = {
    "all": sweep_overview,
    "bias": sweep_bias,
    "entropy": sweep_entropies,
    "bounds": sweep_bounds,
    "accuracy": sweep_accuracies,
    "shares": sweep_shares,
    "metric": sweep_metric,
    "map": sweep_map,
}
"""`plugin=True` draws the paper's plain estimates of the entropies."""


# Which values are as good as the best.


ROLES = ["best", "simplest as good", "within one error", "farther below"]


def comparison_chart(comparison: SweepComparison) -> alt.LayerChart:
    """Draw how much worse than the best each value is, on the same subsets, and which is the simplest as good."""
    rows: list[Row] = []
    for value, each in comparison.difference.items():
        name = _word(value) if len(comparison.parameters) == 1 else ", ".join(map(_word, value))
        error = comparison.error[value]
        roles = value == comparison.best, value == comparison.chosen, each.value >= -error, True
        row = {"x": name, "value": each.value, "low": each.low, "high": each.high, "label": ROLES[roles.index(True)]}
        row |= {"from": each.value - error, "to": each.value + error}
        rows.append(row | {"value_text": estimate_text(each, "+.4f")})
    words = [row["x"] for row in rows]
    panel = Panel(
        _words(words, printable(" x ".join(comparison.parameters)), labelOverlap=True),
        numbers(f"{in_words(comparison.weights)}, minus the best", field="value", format="+~g"),
        max(WIDTH, 16 * len(words)),
        HEIGHT,
    )
    legend = theme.legend_below(ROLES)
    colour, tips = theme.colour(ROLES, legend), {"x": "value", "value_text": "difference", "label": "verdict"}
    layers = [
        panel.rule("y", 0),
        panel.mark("rule", rows, color=colour, strokeWidth=1, y="low", y2="high"),
        panel.mark("rule", rows, color=colour, strokeWidth=3, y="from", y2="to"),
        panel.mark("point", rows, tips, color=colour, size=55, shape=theme.shape(ROLES, legend)),
    ]
    level = next(iter(comparison.difference.values())).level
    return panel.drawn(
        layers,
        f"{cut(comparison.learner)}: which values are as good as the best",
        f"Differences on the same subsets and points. Thick: one standard error; thin: {level:.0%} interval.",
        wrap=WIDTH + 40,
    )
