"""Scores over refits: metrics and their spread, calibration, ROC and precision-recall curves, the confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import ArrayLike

from ...expect import InputError
from ...learner.scores.metrics import Metrics
from ...learner.scores.retrain_change import Retraining
from ...learner.scores.score_variance import ScoreVariance
from ..kinds import Charts, check_kind, draw_kind, without_options
from ..style import theme
from ..style.parts import figures_chart, histogram
from ..style.theme import cut, estimate_text, figure, printable, within

WIDTH, STEP = 320, 30
SQUARE, CELL = (360, 300), 90
MOST_NUMBERS = 20
"""With more classes, a confusion matrix is drawn without numbers."""


def draw_metrics(metrics: Metrics, kind: str = "figures", **options: Any) -> alt.TopLevelMixin:
    """Kinds: figures (metrics with interval and refits), spread (every refit), calibration, roc, precision_recall,
    confusion.
    """
    charts: Charts = {
        "figures": (metrics_chart, ()),
        "spread": (refit_spread_chart, ()),
        "calibration": (calibration_chart, ()),
        "roc": (curve_over_refits, ()),
        "precision_recall": (partial(curve_over_refits, kind="precision_recall"), ()),
        "confusion": (confusion_chart, ()),
    }
    return draw_kind(metrics, kind, charts, options)


def metrics_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw each metric: a point, its interval as a line, and the range of 90 % of the refits as a bar behind it."""
    rows = []
    for name, estimate in _between_0_and_1(metrics).items():
        low, high = within(estimate, 0.0, 1.0)
        spread = metrics.refit_spread[name]
        ends = (estimate.value, estimate.value) if math.isnan(spread.sd) else (spread.low, spread.high)
        rows.append(
            {
                "name": _label(name),
                "value": min(max(estimate.value, 0.0), 1.0),
                "low": low,
                "high": high,
                "from": max(ends[0], 0.0),
                "to": min(ends[1], 1.0),
                "figure": figure(estimate.value, ".3f"),
                "value_text": estimate_text(estimate),
                "refits_text": str(spread),
            }
        )
    if not rows:
        raise InputError("No metric here lies between 0 and 1, so there is nothing to draw on one axis.")
    base = theme.chart_of(rows).encode(
        y=alt.Y(
            "name:N",
            title=None,
            scale=alt.Scale(domain=[row["name"] for row in rows]),
            axis=alt.Axis(ticks=False, domain=False),
        ),
        tooltip=theme.tooltips(name="metric", value_text="value", refits_text="90 % of refits"),
    )
    layers: list[Any] = [
        base.mark_bar(height=12, color=theme.COLOURS[0], opacity=0.25).encode(x=_unit("from", "value"), x2="to:Q"),
        base.mark_rule(style="interval").encode(x=_unit("low", "value"), x2="high:Q"),
        base.mark_point(size=55, filled=True, opacity=1, color=theme.COLOURS[0]).encode(x=_unit("value", "value")),
        base.mark_text(style="name", align="left").encode(x=alt.value(WIDTH + 8), text="figure:N"),
    ]
    level = next(iter(metrics.estimates.values())).level
    return theme.finished(
        layers,
        WIDTH,
        alt.Step(STEP),
        theme.titled(
            f"{cut(metrics.learner)}: metrics, and how they move over refits",
            f"Lines: {level:.0%} intervals for other rows and samples like these. Bars: 90 % of the refits on these "
            f"{metrics.n_points:,} test points. Brier score and calibration error (ece): lower is better.",
            width=WIDTH + 140,
        ),
    )


def refit_spread_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw the metric of every refit as a tick, and their mean as a point."""
    rows, means = [], []
    for name, estimate in _between_0_and_1(metrics).items():
        raw = metrics.per_refit[name]
        # At most 200 ticks: more cannot be told apart.
        flat = raw[np.isfinite(raw)]
        some = np.unique(np.linspace(0, flat.size - 1, min(flat.size, 200)).round().astype(int))
        rows += [
            {"name": _label(name), "value": min(max(value, 0.0), 1.0), "value_text": figure(value)}
            for value in flat[some].tolist()
        ]
        means.append({"name": _label(name), "value": min(max(estimate.value, 0.0), 1.0),
                      "value_text": f"mean {figure(estimate.value)}"})  # fmt: skip
    names = [row["name"] for row in means]
    y = alt.Y("name:N", title=None, scale=alt.Scale(domain=names), axis=alt.Axis(ticks=False, domain=False))
    tips = theme.tooltips(name="metric", value_text="value")
    layers: list[Any] = [
        theme.chart_of(rows)
        .mark_tick(thickness=1.2, size=16, color=theme.COLOURS[0], opacity=0.45)
        .encode(x=_unit("value", "value of one refit"), y=y, tooltip=tips),
        theme.chart_of(means)
        .mark_point(size=60, filled=True, opacity=1, color=theme.COLOURS[1])
        .encode(x=_unit("value", "value of one refit"), y=y, tooltip=tips),
    ]
    return theme.finished(
        layers,
        WIDTH,
        alt.Step(STEP),
        theme.titled(
            f"{cut(metrics.learner)}: every refit",
            f"{metrics.n_subsets} training samples x {metrics.n_refits}, each a tick, on the same {metrics.n_points:,} "
            "test points; the point is their mean.",
            width=WIDTH + 140,
        ),
    )


def calibration_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw predicted probabilities against what came true, with a band over refits."""
    shape = metrics.calibration
    if shape is None:
        raise InputError("There is no calibration here: it needs probabilities, and all metrics (names=None).")
    bins: Any = shape.bins
    rows: list[theme.Row] = [
        {
            "x": row.predicted,
            "y": row.observed,
            "low": row.low,
            "high": row.high,
            "text": f"{figure(row.predicted)} predicted, {figure(row.observed)} came true "
            f"({figure(row.low)} to {figure(row.high)} over refits), {row.rows:.0f} rows",
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


def curve_over_refits(metrics: Metrics, kind: str = "roc") -> alt.LayerChart:
    """Draw the ROC or the precision-recall curve: the mean over refits, and a band of 90 % of them."""
    roc = kind == "roc"
    up = "true positive rate (recall)" if roc else "precision"
    curve: Any = metrics.curve(kind)
    rows: list[theme.Row] = [
        {
            "x": row.x,
            "y": row.value,
            "low": row.low,
            "high": row.high,
            "text": f"{figure(row.value)} ({figure(row.low)} to {figure(row.high)} over refits)",
        }
        for row in curve.itertuples()
    ]
    name = "roc_auc" if roc else "average_precision"
    known = metrics.estimates.get(name)
    area = "" if known is None else f"{_label(name)} {estimate_text(known)}. "
    of = f"Positive: {cut(metrics.positive)}. " if metrics.positive else "Mean over classes, each against the rest. "
    return curves_with_bands(
        rows,
        (),
        "false positive rate" if roc else "recall",
        up,
        f"{cut(metrics.learner)}: {'ROC curve' if roc else 'precision and recall'} over refits",
        f"{area}{of}Band: 90 % of the refits.",
        diagonal=roc,
        points=up,
    )


def curves_with_bands(
    rows: Sequence[theme.Row],
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
    unit = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("x:Q", title=across, scale=unit, axis=alt.Axis(format="~g", tickCount=6))
    y = alt.Y("y:Q", title=up, scale=unit, axis=alt.Axis(format="~g", tickCount=6))
    colour = theme.colour(labels, theme.legend_below(labels, lines=True)) if labels else alt.value(theme.COLOURS[0])
    base = theme.chart_of(rows).encode(x=x, color=colour)
    layers: list[Any] = []
    if diagonal:
        ends = theme.chart_of([{"x": 0, "y": 0}, {"x": 1, "y": 1}])
        layers.append(ends.mark_line(style="reference", strokeDash=[4, 3], clip=True).encode(x=x, y=y))
    banded = base.transform_filter("datum.low != null")
    layers += [
        banded.mark_area(opacity=0.16, clip=True).encode(y=alt.Y("low:Q", scale=unit), y2="high:Q"),
        base.mark_line(strokeWidth=2, clip=True).encode(y=y),
    ]
    if points:
        layers.append(base.mark_point(filled=True, size=30).encode(y=y, tooltip=theme.tooltips(text=points)))
    return theme.finished(layers, SQUARE[0], SQUARE[1], theme.titled(title, *sentences, width=SQUARE[0] + 40))


def confusion_chart(metrics: Metrics) -> alt.LayerChart:
    """Draw the confusion matrix: the share of each true class that is predicted as each class."""
    confusion: Any = metrics.confusion
    cells = [
        (str(row.true), str(row.predicted), float(row.value), f"{row.value:.0%}", _ends(row))
        for row in confusion.itertuples()
    ]
    title = f"{cut(metrics.learner)}: what is taken for what"
    how = "Share of the rows of each true class, mean over refits; the tooltip has the interval."
    return _matrix(cells, metrics.classes, title, how)


def _ends(row: Any) -> str:
    ends = "" if math.isnan(row.low) else f" ({row.low:.0%} to {row.high:.0%})"
    return f"{row.value:.1%}{ends} of the class, {row.rows:.1f} rows"


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
    names = theme.labels(list(classes))
    short = dict(zip(classes, names))
    rows: list[theme.Row] = [
        {
            "label": short[true],
            "prediction": short[predicted],
            "share": share if math.isfinite(share) else None,
            "figure": figure_text if math.isfinite(share) else "",
            "text": text if math.isfinite(share) else "no test rows",
            "dark": share > 0.55,
        }
        for true, predicted, share, figure_text, text in cells
    ]
    axis = alt.Axis(ticks=False, domain=False)
    turned = alt.Axis(ticks=False, domain=False, labelAngle=0 if len(names) < 5 else -45)
    base = theme.chart_of(rows).encode(
        x=alt.X("prediction:N", title="prediction", scale=alt.Scale(domain=names), axis=turned),
        y=alt.Y("label:N", title="class", scale=alt.Scale(domain=names), axis=axis),
        tooltip=theme.tooltips(label="class", prediction="prediction", figure="figure", text="share"),
    )
    shade = alt.Color("share:Q", scale=alt.Scale(domain=[0, 1], range=["#f2f6fa", "#0b5c9c"]), legend=None)
    layers: list[Any] = [base.mark_rect().encode(color=shade)]
    if len(names) <= MOST_NUMBERS:
        ink = alt.condition("datum.dark", alt.value("#ffffff"), alt.value("#1f2933"))
        layers.append(base.mark_text(fontSize=12).encode(text="figure:N", color=ink))
    side = alt.Step(max(min(CELL, SQUARE[0] // max(len(names), 1)), 10))
    return theme.finished(layers, side, side, theme.titled(title, *sentences, width=SQUARE[0]))


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
    figure_, _, of = name.partition("[")
    text = figure_.replace("_", " ")
    return f"{text} of {cut(of.removesuffix(']'), 20)}" if of else text


def _unit(field: str, title: str) -> alt.X:
    scale = alt.Scale(domain=[0, 1], nice=False)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(tickCount=6))


# Where the variance of scores comes from, and what a retraining changes.


def draw_variance(variance: ScoreVariance, kind: str = "both", **options: Any) -> alt.TopLevelMixin:
    """Kinds: both (shares of the two sources, histogram of the spread over points), either alone."""
    check_kind(kind, dict.fromkeys(("both", "figures", "histogram"), ()), options)
    logit = " (logit)" if variance.scale == "logit" else ""
    shares = figures_chart(
        {"training sample": variance.share_sample, "training randomness": variance.share_randomness},
        "share of the variance",
        f"{cut(variance.learner)}: where the variance of its scores comes from",
        f"Standard deviation over refits: {figure(variance.spread)}{logit}, mean over {variance.n_points:,} test "
        f"points. Lines: {variance.total.level:.0%} intervals over training samples.",
    )
    spread = np.sqrt(np.maximum(variance.per_point["total"].to_numpy(dtype=float), 0.0))
    most = float(np.quantile(spread, 0.99)) or 1.0
    points = histogram(
        spread,
        (0.0, most * 1.05),
        f"standard deviation of the score over refits{logit}",
        float(spread.mean()),
        "How far a row's score moves",
        "The last bar includes all that move further.",
    )
    if kind == "both":
        return theme.beside(shares, points)
    return shares if kind == "figures" else points


@without_options
def draw_retraining(retraining: Retraining) -> alt.LayerChart:
    """Draw the share of predictions that a retraining changes: in all, by the seed, by the rows, and in each class."""
    figures = {
        "all": retraining.change,
        "by another seed": retraining.by_seed,
        "by new rows": retraining.by_rows,
    }
    if len(retraining.by_class) <= 12:
        figures |= {f"among {cut(name, 20)}": each for name, each in retraining.by_class.items()}
    return figures_chart(
        figures,
        "share of predictions that change",
        f"{printable(cut(retraining.learner))}: a retraining changes {retraining.change.value:.1%}",
        f"{retraining.replaced:.0%} of {retraining.train_rows:,} training rows replaced. Lines: "
        f"{retraining.change.level:.0%} intervals over data sets like this one.",
    )
