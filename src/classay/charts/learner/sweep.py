"""A learner along a parameter: bias by threshold, entropies, accuracies, with their bands; two parameters as a map."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from ...expect import InputError, one_of, shown, whole
from ...intervals import Estimate, exact
from ...learner.fitting.groups import is_numeric
from ...learner.orientation.orientation import Orientation, usual_threshold
from ...learner.sweep.best_value import SweepComparison, in_words
from ...learner.sweep.result import Sweep
from ..kinds import Charts, draw_kind, without_options
from ..style import theme
from ..style.parts import Line, lines_chart
from ..style.theme import cut, estimate_text, figure, printable

WIDTH, HEIGHT, CELL = 360, 260, 34
MOST_LINES = 7
ENTROPIES = ("expressivity", "capacity", "stochasticity")
ACCURACIES = {"training rows": "train_accuracy", "test points": "accuracy"}
MAPPED = {
    "test accuracy": "accuracy",
    "expressivity": "expressivity",
    "capacity": "capacity",
    "stochasticity": "stochasticity",
}


def draw_sweep(sweep: Sweep, kind: str = "all", **options: Any) -> alt.TopLevelMixin:
    """Kinds: all (of one parameter: bias, entropy, accuracy; of two: map), either alone, bounds; map takes a metric.

    `plugin=True` draws the paper's plain estimates of the entropies.
    """
    charts: Charts = {
        "all": (_bias_entropies_accuracies, ("plugin",)),
        "bias": (sweep_bias, ()),
        "entropy": (sweep_entropies, ("plugin",)),
        "bounds": (sweep_bounds, ("threshold",)),
        "accuracy": (sweep_accuracies, ()),
        "metric": (sweep_metric, ()),
        "map": (sweep_map, ("metric", "plugin")),
    }
    if len(sweep.parameters) == 2:
        charts = {**charts, "all": charts["map"]}
    return draw_kind(sweep, kind, charts, options)


def _bias_entropies_accuracies(sweep: Sweep, plugin: bool = False) -> alt.HConcatChart:
    more = (sweep_metric(sweep),) if sweep.metric else ()
    return theme.beside(sweep_bias(sweep), sweep_entropies(sweep, plugin), sweep_accuracies(sweep), *more)


def sweep_bias(sweep: Sweep) -> alt.LayerChart:
    """Draw the bias at each threshold along the parameter: the paper's figures 2, 5, 6, 9 and 10."""
    first = _first(sweep)
    size = first.holdout_size
    most = min(size, MOST_LINES)
    thresholds = sorted({max(round(size * part / most), 1) for part in range(1, most + 1)})
    lines = {
        f"{threshold} of {size} right": (
            {value: one.bias[threshold] for value, one in sweep.orientations.items()},
            (first.bounds[threshold - 1].bias_low, first.bounds[threshold - 1].bias_high),
        )
        for threshold in thresholds
    }
    axis = alt.Axis(labelExpr=theme.SIGNED, tickCount=7)
    return _chart(
        sweep,
        lines,
        "algorithmic bias",
        axis,
        "How much more often right than by guessing",
        f"Lines: at least this many of {size} labels right, minus the chance of that; +0.5 is 50 times in 100 more.",
    )


def sweep_entropies(sweep: Sweep, plugin: bool = False) -> alt.LayerChart:
    """Draw expressivity, capacity and stochasticity along the parameter; `plugin`: by the paper's plain estimates."""
    most = _first(sweep).log2_labelings
    estimates = {value: one.plugin if plugin else one for value, one in sweep.orientations.items()}
    lines = {name: ({value: getattr(one, name) for value, one in estimates.items()}, (0.0, most)) for name in ENTROPIES}
    return _chart(
        sweep,
        lines,
        "bits",
        alt.Axis(tickCount=6),
        "How much predictions vary, and why",
        f"Expressivity, of {most:.3g} bits possible, is capacity (variation with the data) plus stochasticity "
        "(training randomness)." + (" Plain estimates of the paper, biased with few refits." if plugin else ""),
    )


def sweep_bounds(sweep: Sweep, threshold: int | None = None) -> alt.LayerChart:
    """Draw the plain expressivity along the parameter, under what its bias allows: the paper's figure 17."""
    first = _first(sweep)
    size = first.holdout_size
    right = usual_threshold(size) if threshold is None else whole(threshold, "threshold", at_least=1)
    if right > size:
        raise InputError(f"`threshold` is {right}, but holdouts have {size} points. Use at most {size}.")
    level = first.bias[right].level
    bounds = {value: one.bounds[right - 1] for value, one in sweep.orientations.items()}
    limits = (0.0, first.log2_labelings)
    lines: dict[str, Line] = {
        "expressivity (plain)": ({value: one.plugin.expressivity for value, one in sweep.orientations.items()}, limits),
    }
    for name, field in (("tight upper bound", "tight"), ("published upper bound", "lauw"), ("lower bound", "least")):
        ends = {value: exact(getattr(one, f"expressivity_{field}"), level=level) for value, one in bounds.items()}
        lines[name] = ends, limits
    return _chart(
        sweep,
        lines,
        "bits",
        alt.Axis(tickCount=6),
        "How much predictions vary, and how much their bias allows",
        f"Bounds from the bias at {right} of {size} labels right. They hold for the plain estimate.",
    )


def sweep_accuracies(sweep: Sweep) -> alt.LayerChart:
    """Draw accuracy on training rows and on test points along the parameter."""
    lines = {
        label: ({value: getattr(one, name) for value, one in sweep.orientations.items()}, (0.0, 1.0))
        for label, name in ACCURACIES.items()
    }
    return _chart(sweep, lines, "accuracy", alt.Axis(tickCount=6), "Accuracy", "Between the lines: the train–test gap.")


def sweep_metric(sweep: Sweep) -> alt.LayerChart:
    """Draw the metric that was asked for along the parameter."""
    if not sweep.metric_estimates:
        raise InputError("This sweep has no metric beside accuracy; sweep with metric='roc_auc', for example.")
    known = [each for each in sweep.metric_estimates.values() if each.known]
    ends = [end for each in known for end in (each.low, each.high, each.value) if np.isfinite(end)] or [0.0, 1.0]
    return _chart(
        sweep,
        {sweep.metric: (sweep.metric_estimates, (min(ends), max(ends)))},
        printable(sweep.metric.replace("_", " ")),
        alt.Axis(tickCount=6),
        f"{printable(sweep.metric.replace('_', ' '))} on test points",
        "Mean over refits.",
    )


def sweep_map(sweep: Sweep, metric: str = "test accuracy", plugin: bool = False) -> alt.LayerChart:
    """Draw one figure over two parameters, as coloured cells; `plugin`: an entropy by the paper's plain estimate."""
    one_of(metric, "metric", MAPPED)
    if plugin and MAPPED[metric] not in ENTROPIES:
        raise InputError(
            f"`plugin` is True, but {metric} has no plain estimate; expected a metric of {shown(map(repr, ENTROPIES))}."
        )
    if len(sweep.parameters) != 2:
        raise InputError(f"This sweep has one parameter ({sweep.parameters[0]}); a map needs two.")
    rows: list[theme.Row] = []
    for (across, up), one in sweep.orientations.items():
        estimate: Estimate = getattr(one.plugin if plugin else one, MAPPED[metric])
        rows.append(
            {
                "x": _word(across),
                "y": _word(up),
                "value": estimate.value if estimate.known else None,
                "text": f"{'≥ ' if estimate.prefix else ''}{figure(estimate.value)}",
                "value_text": estimate_text(estimate),
            }
        )
    by_place = [list(dict.fromkeys(_word(point[place]) for point in sweep.values)) for place in (0, 1)]
    x = alt.X("x:O", sort=by_place[0], title=printable(sweep.parameters[0]), axis=alt.Axis(labelAngle=0))
    y = alt.Y("y:O", sort=by_place[1][::-1], title=printable(sweep.parameters[1]))
    known = [row["value"] for row in rows if row["value"] is not None]
    middle = (min(known) + max(known)) / 2 if known else 0.0
    base = theme.chart_of(rows).encode(x=x, y=y)
    colour = alt.Color("value:Q", title=metric, scale=alt.Scale(scheme="tealblues", zero=False), legend=None)
    text = alt.condition(f"datum.value > {float(middle)!r}", alt.value("white"), alt.value("#2b333d"))
    layers: list[Any] = [
        base.mark_rect().encode(color=colour, tooltip=theme.tooltips(x="first", y="second", value_text=metric)),
        base.mark_text(fontSize=10).encode(text="text:N", color=text),
    ]
    width = max(CELL * len(by_place[0]), 220)
    plain = " Plain estimates of the paper, biased with few refits." if plugin else ""
    limits = " ≥: a lower limit." if any(str(row["text"]).startswith("≥") for row in rows) else ""
    title = theme.titled(
        f"{cut(sweep.learner)}: {metric}", f"All cells use the same subsets.{limits}{plain}", width=width + 40
    )
    return theme.finished(layers, width, CELL * len(by_place[1]), title)


@without_options
def comparison_chart(comparison: SweepComparison) -> alt.LayerChart:
    """Draw how much worse than the best each value is, on the same subsets, and which is the simplest as good."""
    alone = len(comparison.parameters) == 1
    names = [_word(value) if alone else ", ".join(map(_word, value)) for value in comparison.difference]
    roles = ["best", "simplest as good", "within one error", "farther below"]
    rows: list[theme.Row] = []
    for name, (value, one) in zip(names, comparison.difference.items()):
        error = comparison.error[value]
        role = (
            "best"
            if value == comparison.best
            else "simplest as good"
            if value == comparison.chosen
            else "within one error"
            if one.value >= -error
            else "farther below"
        )
        row = {"x": name, "value": one.value, "low": one.low, "high": one.high, "from": one.value - error}
        rows.append({**row, "to": one.value + error, "label": role, "value_text": estimate_text(one, "+.4f")})
    what = in_words(comparison.weights)
    x = alt.X(
        "x:O",
        sort=names,
        title=printable(" x ".join(comparison.parameters)),
        axis=alt.Axis(labelOverlap=True, labelAngle=0),
    )
    y = alt.Y("value:Q", title=f"{what}, minus the best", axis=alt.Axis(format="+~g", tickCount=6))
    legend = theme.legend_below(roles)
    base = theme.chart_of(rows).encode(x=x, color=theme.colour(roles, legend))
    tooltips = theme.tooltips(x="value", value_text="difference", label="verdict")
    layers: list[Any] = [
        theme.chart_of([{"value": 0}]).mark_rule(style="reference").encode(y=y),
        base.mark_rule(strokeWidth=1).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_rule(strokeWidth=3).encode(y=alt.Y("from:Q"), y2="to:Q"),
        base.mark_point(size=55, filled=True, opacity=1).encode(
            y=y, shape=theme.shape(roles, legend), tooltip=tooltips
        ),
    ]
    level = next(iter(comparison.difference.values())).level
    return theme.finished(
        layers,
        max(WIDTH, 16 * len(names)),
        HEIGHT,
        theme.titled(
            f"{cut(comparison.learner)}: which values are as good as the best",
            f"Differences on the same subsets and points. Thick: one standard error; thin: {level:.0%} interval.",
            width=WIDTH + 40,
        ),
    )


def _first(sweep: Sweep) -> Orientation:
    if len(sweep.parameters) != 1:
        raise InputError(
            f"This sweep has two parameters ({', '.join(sweep.parameters)}); kind='map' draws one figure over both."
        )
    return next(iter(sweep.orientations.values()))


def _chart(sweep: Sweep, lines: dict[str, Line], unit: str, axis: alt.Axis, title: str, how: str) -> alt.LayerChart:
    if not is_numeric(sweep.values):
        lines = {
            name: ({_word(value): estimate for value, estimate in estimates.items()}, ends)
            for name, (estimates, ends) in lines.items()
        }
    # A figure that is nearly constant would otherwise appear to jump.
    y = alt.Y("value:Q", title=unit, axis=axis, scale=alt.Scale(zero=unit == "bits", nice=True))
    titles = f"{cut(sweep.learner)}: {title[0].lower()}{title[1:]}", how
    return lines_chart(lines, printable(sweep.parameters[0]), _across(sweep), y, (WIDTH, HEIGHT), titles)


def _across(sweep: Sweep) -> alt.X:
    name = printable(sweep.parameters[0])
    if not is_numeric(sweep.values):
        return alt.X("x:O", sort=[_word(value) for value in sweep.values], title=name, axis=alt.Axis(labelAngle=0))
    if logarithmic(sweep.values):
        axis = alt.Axis(format="~g", labelOverlap=True, tickCount=6)
        return alt.X("x:Q", title=f"{name} (logarithmic)", scale=alt.Scale(type="log", nice=False), axis=axis)
    return alt.X(
        "x:Q", title=name, scale=alt.Scale(zero=False, nice=False, padding=8), axis=alt.Axis(labelOverlap=True)
    )


def logarithmic(values: tuple[Any, ...]) -> bool:
    """Whether values are spaced over decades by ratios rather than by differences.

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
