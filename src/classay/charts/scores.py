"""Scores over refits: metrics and their spread, calibration, ROC and precision-recall curves, the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from ..expect import InputError
from ..learner.scores.metrics import Metrics
from ..learner.scores.retrain_change import Retraining
from ..learner.scores.score_variance import ScoreVariance
from .kinds import Kinds
from .style import theme
from .style.panel import DASHED, Panel, numbers
from .style.parts import by_name, figures_chart, heat_map, histogram_from_zero, line_with_band, written
from .style.theme import Row, cut, estimate_text, figure, interval

SIZE = 320, 30
SQUARE = 360, 300
MOST_NUMBERS = 20
"""With more classes, a confusion matrix is drawn without numbers."""


def metrics_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw each metric: a point, its interval as a line, and the range of 90 % of the refits as a bar behind it."""
    rows: list[Row] = []
    for name, estimate in _between_0_and_1(metrics).items():
        spread = metrics.refit_spread[name]
        ends = (estimate.value, estimate.value) if math.isnan(spread.sd) else (spread.low, spread.high)
        row = {"label": _label(name), "from": max(ends[0], 0.0), "to": min(ends[1], 1.0), "refits_text": str(spread)}
        rows.append(row | {"figure": figure(estimate.value, ".3f")} | interval(estimate, 0.0, 1.0))
    if not rows:
        raise InputError("No metric here lies between 0 and 1, so there is nothing to draw on one axis.")
    panel = by_name([row["label"] for row in rows], "value", (0, 1), size=SIZE)
    tips = {"label": "metric", "value_text": "value", "refits_text": "90 % of refits"}
    layers = [
        panel.mark("bar", rows, tips, height=12, color=theme.COLOURS[0], opacity=0.25, x="from", x2="to"),
        panel.mark("rule", rows, tips, style="interval", x="low", x2="high"),
        panel.mark("point", rows, tips, size=55, color=theme.COLOURS[0], x="value"),
        written(panel, rows, tips),
    ]
    level = next(iter(metrics.estimates.values())).level
    return panel.drawn(
        layers,
        f"{cut(metrics.learner)}: metrics, and how they move over refits",
        f"Lines: {level:.0%} intervals for other rows and samples like these. Bars: 90 % of the refits on these "
        f"{metrics.n_points:,} test points. Brier score and calibration error (ece): lower is better.",
        wrap=SIZE[0] + 140,
    )


def refit_spread_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw the metric of every refit as a tick, and their mean as a point."""
    rows, means = list[Row](), list[Row]()
    for name in _between_0_and_1(metrics):
        raw = metrics.per_refit[name]
        # At most 200 ticks: more cannot be told apart.
        flat = raw[np.isfinite(raw)]
        some = flat[np.unique(np.linspace(0, flat.size - 1, min(flat.size, 200)).round().astype(int))]
        label, mean = {"label": _label(name)}, float(flat.mean())
        rows += [label | {"value": min(max(each, 0.0), 1.0), "value_text": figure(each)} for each in some.tolist()]
        means.append(label | {"value": min(max(mean, 0.0), 1.0), "value_text": f"mean {figure(mean)}"})
    panel = by_name([row["label"] for row in means], "value of one refit", (0, 1), size=SIZE)
    tips = {"label": "metric", "value_text": "value"}
    layers = [
        panel.mark("tick", rows, tips, thickness=1.2, size=16, color=theme.COLOURS[0], opacity=0.45, x="value"),
        panel.mark("point", means, tips, size=60, color=theme.COLOURS[1], x="value"),
    ]
    return panel.drawn(
        layers,
        f"{cut(metrics.learner)}: every refit",
        f"{metrics.n_subsets} training samples x {metrics.n_refits}, each a tick, on the same {metrics.n_points:,} "
        "test points; the point is their mean.",
        wrap=SIZE[0] + 140,
    )


def _between_0_and_1(metrics: Metrics) -> dict[str, Any]:
    """Metrics that share an axis; log loss, for example, has no upper end."""
    wanted = {
        name: each
        for name, each in metrics.estimates.items()
        if each.known and name not in ("log_loss", "cost", "reliability", "resolution") and 0 <= each.value <= 1
    }
    whole = {name: each for name, each in wanted.items() if "[" not in name}
    # Of many classes, single ones would fill the page.
    return wanted if len(metrics.classes) <= 4 else whole or wanted


def _label(name: str) -> str:
    metric, _, of = name.partition("[")
    text = metric.replace("_", " ")
    return f"{text} of {cut(of.removesuffix(']'), 20)}" if of else text


# Curves in the unit square.


def calibration_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw predicted probabilities against what came true, with a band over refits."""
    shape = metrics.calibration
    if shape is None:
        raise InputError("There is no calibration here: it needs probabilities, and all metrics (names=None).")
    bins: Any = shape.bins
    rows: list[Row] = [
        {"x": row.predicted, "y": row.observed, "low": row.low, "high": row.high}
        | {
            "text": f"{figure(row.predicted)} predicted, {figure(row.observed)} came true "
            f"({figure(row.low)} to {figure(row.high)} over refits), {row.rows:.0f} rows"
        }
        for row in bins.itertuples()
    ]
    error, floor = metrics.estimates.get("ece"), shape.floor
    measured = "" if error is None else f"Calibration error {figure(error.value)}; perfect scores would show "
    return curves_with_bands(
        rows,
        (),
        f"predicted: {cut(shape.of, 60)}",
        "share that came true",
        f"{cut(metrics.learner)}: do its probabilities come true?",
        f"{measured}{figure(floor.value)} ({figure(floor.low)} to {figure(floor.high)}) with as many rows. "
        "Band: 90 % of the refits. Dashed: perfect.",
        points="bin",
    )


def roc_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw the ROC curve: the mean over refits, and a band of 90 % of them."""
    axes = "false positive rate", "true positive rate (recall)"
    return _over_refits(metrics, "roc", "roc_auc", axes, "ROC curve", diagonal=True)


def precision_recall_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw precision by recall: the mean over refits, and a band of 90 % of them."""
    axes = "recall", "precision"
    return _over_refits(metrics, "precision_recall", "average_precision", axes, "precision and recall", diagonal=False)


def _over_refits(
    metrics: Metrics, kind: str, area: str, axes: tuple[str, str], title: str, *, diagonal: bool
) -> alt.LayerChart:
    curve: Any = metrics.curve(kind)
    rows: list[Row] = [
        {"x": row.x, "y": row.value, "low": row.low, "high": row.high}
        | {"text": f"{figure(row.value)} ({figure(row.low)} to {figure(row.high)} over refits)"}
        for row in curve.itertuples()
    ]
    known = metrics.estimates.get(area)
    measured = "" if known is None else f"{_label(area)} {estimate_text(known)}. "
    of = f"Positive: {cut(metrics.positive)}. " if metrics.positive else "Mean over classes, each against the rest. "
    titles = f"{cut(metrics.learner)}: {title} over refits", f"{measured}{of}Band: 90 % of the refits."
    return curves_with_bands(rows, (), *axes, *titles, diagonal=diagonal, points=axes[1])


def curves_with_bands(
    rows: Sequence[Row],
    labels: Sequence[str],
    across: str,
    up: str,
    title: str,
    *sentences: str,
    diagonal: bool = True,
    points: str = "",
) -> alt.LayerChart:
    """Draw a line for each learner, or one, in the unit square, with a band around it.

    Rows have `label` (if there are labels), `x`, `y`, `low` and `high`; with `points`, they are drawn too, and have a
    `text`, whose title that is.
    """
    panel = Panel(numbers(across, (0, 1), "x", format="~g"), numbers(up, (0, 1), "y", format="~g"), *SQUARE)
    colour = theme.colour(labels, theme.legend_below(labels, lines=True)) if labels else alt.value(theme.COLOURS[0])
    ends = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    layers = [panel.mark("line", ends, style="reference", strokeDash=DASHED, clip=True)] if diagonal else []
    layers += line_with_band(panel, rows, band=0.16, color=colour, clip=True)
    if points:
        looks = {"size": 30, "opacity": alt.Undefined}
        layers.append(panel.mark("point", rows, {"text": points}, color=colour, **looks))
    return panel.drawn(layers, title, *sentences)


# The confusion matrix.


def confusion_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw the confusion matrix: the share of each true class that is predicted as each class."""
    confusion: Any = metrics.confusion
    cells = []
    for row in confusion.itertuples():
        ends = "" if math.isnan(row.low) else f" ({row.low:.0%} to {row.high:.0%})"
        text = f"{row.value:.1%}{ends} of the class, {row.rows:.1f} rows"
        cells.append((str(row.true), str(row.predicted), float(row.value), f"{row.value:.0%}", text))
    title = f"{cut(metrics.learner)}: what is taken for what"
    how = "Share of the rows of each true class, mean over refits; the tooltip has the interval."
    return _matrix(cells, metrics.classes, title, how)


def confusion_of_rows(counts: ArrayLike, classes: Sequence[str], title: str, *sentences: str) -> alt.LayerChart:
    """Draw rows by class (down) and prediction (across); shades are shares of the class."""
    table = np.asarray(counts)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    cells = [
        (classes[a], classes[b], float(shares[a, b]), f"{table[a, b]:,}", f"{shares[a, b]:.1%} of the class")
        for a, b in np.ndindex(table.shape)
    ]
    return _matrix(cells, classes, title, *sentences)


def _matrix(
    cells: Sequence[tuple[str, str, float, str, str]], classes: Sequence[str], title: str, *sentences: str
) -> alt.LayerChart:
    """Cells by class, prediction, share of the class, its figure and the text of its tooltip."""
    short = dict(zip(classes, theme.labels(list(classes))))
    rows: list[Row] = [
        {"down": short[true], "across": short[predicted]}
        | (
            {"value": share, "text": text, "share": in_words}
            if math.isfinite(share)
            else {"value": None, "text": "", "share": "no test rows"}
        )
        for true, predicted, share, text, in_words in cells
    ]
    tips = {"down": "class", "across": "prediction", "text": "figure", "share": "share"}
    order = list(short.values())
    looks: dict[str, Any] = {"axes": ("prediction", "class"), "legend": None, "largest": 72}
    return heat_map(rows, order, (0, 1), tips, title, *sentences, most_values=MOST_NUMBERS, **looks)


METRICS: Kinds = {
    "figures": metrics_chart,
    "spread": refit_spread_chart,
    "calibration": calibration_chart,
    "roc": roc_chart,
    "precision_recall": precision_recall_chart,
    "confusion": confusion_chart,
}


# Where the variance of scores comes from, and what a retraining changes.


def variance_figures(variance: ScoreVariance) -> alt.LayerChart:
    """Draw the shares of the two sources in the variance of scores."""
    return figures_chart(
        {"training sample": variance.share_sample, "training randomness": variance.share_randomness},
        "share of the variance",
        f"{cut(variance.learner)}: where the variance of its scores comes from",
        f"Standard deviation over refits: {figure(variance.spread)}{_scale(variance)}, mean over "
        f"{variance.n_points:,} test points. Lines: {variance.total.level:.0%} intervals over training samples.",
    )


def variance_histogram(variance: ScoreVariance) -> alt.LayerChart:
    """Draw how far the scores of rows move over refits."""
    spread = np.sqrt(np.maximum(variance.per_point["total"].to_numpy(dtype=float), 0.0))
    unit = f"standard deviation of the score over refits{_scale(variance)}"
    return histogram_from_zero(
        spread, unit, "How far a row's score moves", "The last bar includes all that move further."
    )


def _scale(variance: ScoreVariance) -> str:
    return " (logit)" if variance.scale == "logit" else ""


VARIANCE: Kinds = {
    "both": lambda variance: theme.beside(variance_figures(variance), variance_histogram(variance)),
    "figures": variance_figures,
    "histogram": variance_histogram,
}


def retraining_chart(retraining: Retraining) -> alt.LayerChart:
    """Draw the share of predictions that a retraining changes: in all, by the seed, by the rows, and in each class."""
    figures = {"all": retraining.change, "by another seed": retraining.by_seed, "by new rows": retraining.by_rows}
    if len(retraining.by_class) <= 12:
        figures |= {f"among {cut(name, 20)}": each for name, each in retraining.by_class.items()}
    return figures_chart(
        figures,
        "share of predictions that change",
        f"{cut(retraining.learner)}: a retraining changes {retraining.change.value:.1%}",
        f"It replaces {retraining.of_rows()}. Lines: {retraining.change.level:.0%} intervals over data sets like this.",
    )
