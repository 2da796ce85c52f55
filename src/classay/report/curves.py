"""Curves of scores: calibration, ROC, precision and recall, and the confusion matrix, with bands over refits.

The lines are those of cross-validated fits on all rows but the fold. The bands hold nine of ten refits on halves of the
training part, on the test points: how much a curve moves when the learner is refitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_curve, roc_curve

from ..arrays import Floats, Ints, Mask
from ..learner.scores.reliability import bin_edges, bin_of
from .results import DataResults, Results
from .run.folds import HeldOut

STEPS = 21
INSIDE = (5, 95)
"""Percentiles of refits between which a band lies."""
MOST_REFITS = 40
"""Most refits of a band: more do not change it."""


@dataclass(frozen=True)
class Curve:
    """A curve of a learner: points (x, y), and the band (low, high) over refits, NaN where there is none."""

    learner: str
    x: Floats
    y: Floats
    low: Floats
    high: Floats

    def rows(self, label: str) -> list[dict[str, Any]]:
        """Rows for a chart."""
        return [
            {
                "label": label,
                "learner": self.learner,
                "x": float(x),
                "y": float(y),
                "low": None if np.isnan(low) else float(low),
                "high": None if np.isnan(high) else float(high),
            }
            for x, y, low, high in zip(self.x, self.y, self.low, self.high)
            if not np.isnan(y)
        ]


def calibration(name: str, results: Results) -> Curve | None:
    """How often rows are of the predicted class (of two classes: of the rarer), by what the probabilities say."""
    held, data = results.predicted[name], results.data
    if held.probabilities is None:
        return None
    said, happened = _said(held.probabilities, data.codes[held.tested], data.rarer)
    edges = bin_edges(said)
    x, y = _by_bin(edges, said, said), _by_bin(edges, said, happened)
    by_refit = [_by_bin(edges, *_said(table, truth, data.rarer)) for table, truth in _refits(name, results)]
    low, high = _band(by_refit, x.size)
    return Curve(name, x, y, low, high)


def roc(name: str, results: Results) -> Curve | None:
    """Of two classes: the share of rows of the rarer that are found, by the share of the others taken for them."""
    return _ranked(name, results, lambda truth, score: roc_curve(truth, score)[:2])


def precision_recall(name: str, results: Results) -> Curve | None:
    """Of two classes: the share of rows taken for the rarer that are of it, by the share of those that are found."""

    def curve(truth: Mask, score: Floats) -> tuple[Floats, Floats]:
        precision, recall, _ = precision_recall_curve(truth, score)
        return recall[::-1], precision[::-1]

    return _ranked(name, results, curve)


def confusion(held: HeldOut, data: DataResults) -> Ints:
    """Rows by class (down) and prediction (across)."""
    return np.asarray(confusion_matrix(data.codes[held.tested], held.labels, labels=np.arange(data.classes.size)))


def _ranked(name: str, results: Results, curve: Any) -> Curve | None:
    held, data = results.predicted[name], results.data
    if data.classes.size != 2 or (held.probabilities is None and held.scores is None):
        return None
    table = held.scores if held.probabilities is None else held.probabilities
    assert table is not None
    positive = data.rarer
    truth = data.codes[held.tested] == positive
    if truth.all() or not truth.any() or np.isnan(table[:, positive]).any():
        return None
    grid = np.linspace(0, 1, STEPS)
    y = _on(grid, *curve(truth, np.nan_to_num(table[:, positive])))
    by_refit = [
        _on(grid, *curve(known == positive, scores[:, positive]))
        for scores, known in _refits(name, results)
        if 0 < int((known == positive).sum()) < known.size
    ]
    low, high = _band(by_refit, grid.size)
    return Curve(name, grid, y, low, high)


def _said(probabilities: Floats, codes: Ints, positive: int) -> tuple[Floats, Floats]:
    """What was predicted with which probability, and whether it was so."""
    if probabilities.shape[1] == 2:
        return probabilities[:, positive], (codes == positive).astype(float)
    return probabilities.max(axis=1), (probabilities.argmax(axis=1) == codes).astype(float)


def _refits(name: str, results: Results) -> list[tuple[Floats, Ints]]:
    """Probabilities of refits on the test points, and the classes of these."""
    if name not in results.learners:
        return []
    record = results.learners[name].labelings
    scores, truth = record.scores, record.truth.astype(np.int64)
    if scores is None or scores.compact:
        return []
    tables = scores.values[scores.present][:MOST_REFITS]
    return [(table.astype(float), truth) for table in tables if not np.isnan(table).any()]


def _by_bin(edges: Floats, said: Floats, value: Floats) -> Floats:
    place = bin_of(said, edges)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.bincount(place, value, edges.size + 1) / np.bincount(place, minlength=edges.size + 1)
    return mean


def _on(grid: Floats, x: Floats, y: Floats) -> Floats:
    """The curve at the steps of a grid; where it is vertical, its highest point."""
    last = np.append(np.diff(x) > 0, True)
    values: Floats = np.interp(grid, x[last], y[last])
    return values


def _band(by_refit: list[Floats], size: int) -> tuple[Floats, Floats]:
    """Percentiles over refits; none from fewer than five."""
    if len(by_refit) < 5:
        return np.full(size, np.nan), np.full(size, np.nan)
    with np.errstate(invalid="ignore"):
        table = np.array(by_refit)
        table = np.where(np.isnan(table).mean(axis=0) > 0.5, np.nan, table)
        known = ~np.isnan(table).all(axis=0)
        low, high = np.full(size, np.nan), np.full(size, np.nan)
        low[known], high[known] = np.nanpercentile(table[:, known], INSIDE, axis=0)
    return low, high
