"""Metrics of a confusion matrix, and their paired difference between two versions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import seeds
from ...arrays import AnyInts, Floats
from ...intervals import Estimate
from .matched import Matched

RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""


def _accuracy(confusion: Floats) -> float:
    return float(np.trace(confusion) / confusion.sum())


def _balanced_accuracy(confusion: Floats) -> float:
    rows = confusion.sum(axis=1)
    return float((np.diag(confusion)[rows > 0] / rows[rows > 0]).mean())


def _f1_macro(confusion: Floats) -> float:
    both = confusion.sum(axis=0) + confusion.sum(axis=1)
    return float((2 * np.diag(confusion)[both > 0] / both[both > 0]).mean())


def _mcc(confusion: Floats) -> float:
    total, right = confusion.sum(), np.trace(confusion)
    true, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    spread = np.sqrt((total**2 - predicted @ predicted) * (total**2 - true @ true))
    return float((right * total - true @ predicted) / spread) if spread > 0 else 0.0


METRICS: dict[str, Callable[[Floats], float]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "f1_macro": _f1_macro,
    "mcc": _mcc,
}
"""Name -> function of the confusion matrix (true classes x predicted classes), as scikit-learn defines them."""


def metric_difference(pair: Matched, metric: str, level: float, seed: int) -> tuple[Estimate, Estimate, Estimate]:
    """The metric of old, of new, and new − old, with percentile intervals of a bootstrap over items (or groups)."""
    measure, size = METRICS[metric], pair.classes.size
    fits = [_fits(version.labels) for version in (pair.old, pair.new)]
    cells = [[pair.truth.astype(np.int64) * size + labels for labels in version] for version in fits]

    def values(weights: Floats | None) -> list[float]:
        return [
            float(
                np.mean(
                    [
                        measure(np.bincount(each, weights, size * size).reshape(size, size).astype(float))
                        for each in version
                    ]
                )
            )
            for version in cells
        ]

    generator = seeds.generator(seed, "metric")
    if pair.groups is None:
        n_units, unit = pair.truth.size, None
    else:
        _, unit = np.unique(pair.groups, return_inverse=True)
        n_units = int(unit.max()) + 1
    drawn = []
    for _ in range(RESAMPLES):
        weights = generator.poisson(1.0, n_units).astype(float)
        drawn.append(values(weights if unit is None else weights[unit]))
    table = np.asarray(drawn)
    both = np.column_stack([table, table[:, 1] - table[:, 0]])
    old, new = values(None)
    ends = np.quantile(both, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    kind = f"over {'items' if pair.groups is None else 'groups of items'}, by bootstrap"
    estimates = [
        Estimate(value, min(float(low), value), max(float(high), value), level, kind)
        for value, low, high in zip((old, new, new - old), *ends)
    ]
    return estimates[0], estimates[1], estimates[2]


def _fits(labels: AnyInts) -> AnyInts:
    flat = labels.reshape(-1, labels.shape[2])
    chosen: AnyInts = flat[np.linspace(0, len(flat) - 1, min(len(flat), MOST_FITS)).astype(int)]
    return chosen
