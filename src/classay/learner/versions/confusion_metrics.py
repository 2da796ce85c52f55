"""The paired difference of a metric of the confusion matrix between two versions."""

from __future__ import annotations

import numpy as np

from ... import seeds
from ...arrays import AnyInts, Floats
from ...intervals import Estimate
from ..scores.pointwise import count_figures
from .matched import Matched

RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""


METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy", "f1_macro": "f1_macro", "mcc": "matthews"}
"""Metrics of the confusion matrix by which versions are compared, and their names among the figures of counts."""


def metric_difference(pair: Matched, metric: str, level: float, seed: int) -> tuple[Estimate, Estimate, Estimate]:
    """The metric of old, of new, and new − old, with percentile intervals of a bootstrap over items (or groups)."""
    figure, size = METRICS[metric], pair.classes.size
    fits = [_fits(version.labels) for version in (pair.old, pair.new)]
    cells = [[pair.truth.astype(np.int64) * size + labels for labels in version] for version in fits]

    def values(weights: Floats | None) -> list[float]:
        counts = [
            np.stack([np.bincount(each, weights, size * size).reshape(size, size) for each in version])
            for version in cells
        ]
        return [float(count_figures(each)[figure].mean()) for each in counts]

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
