"""Metrics that need no look at a refit as a whole: means over points, and functions of the confusion matrix.

They are those of scikit-learn, to rounding (a test compares them), computed for all refits at once: one call of
scikit-learn costs about two milliseconds, and a record has hundreds of refits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats, Ints
from ..records.scores import Scores

LEAST = float(np.finfo(np.float32).eps)
"""Log loss takes lower probabilities as this, as scikit-learn does with 32-bit scores."""


def log_losses(scores: Scores, truth: AnyInts) -> Floats:
    """(K, R, n): −log of the probability of the true class."""
    losses: Floats = -np.log(scores.true(truth).astype(float).clip(LEAST, 1 - LEAST))
    return losses


def squared_errors(scores: Scores, truth: AnyInts) -> Floats:
    """(K, R, n): squared difference of probability and outcome; of two classes that of the second, else their sum."""
    if scores.values.shape[3] == 2:
        return np.asarray((scores.positive.astype(float) - truth) ** 2, dtype=float)
    total = np.zeros(scores.values.shape[:3])
    for code in range(scores.values.shape[3]):
        total += (scores.values[..., code].astype(float) - (truth == code)) ** 2
    return total


def confusion_counts(truth: AnyInts, labels: AnyInts, n_classes: int) -> Ints:
    """(…, C, C): how often class i was predicted as j, for labels (…, n)."""
    flat = labels.reshape(-1, labels.shape[-1]).astype(np.int64)
    cells = truth.astype(np.int64) * n_classes + flat
    size = n_classes * n_classes
    cells += np.arange(len(flat))[:, None] * size
    counts = np.bincount(cells.ravel(), minlength=len(flat) * size)
    return counts.reshape(*labels.shape[:-1], n_classes, n_classes)


def count_figures(counts: NDArray[Any]) -> dict[str, Floats]:
    """Balanced accuracy, F1 (of two classes that of the second), its mean over classes, and Matthews' coefficient.

    Of confusion matrices (…, C, C), as scikit-learn defines them.
    """
    table = counts.astype(float)
    right, true, predicted = np.einsum("...ii->...i", table), table.sum(axis=-1), table.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = np.where(true > 0, right / true, np.nan)
        f1 = np.where(true + predicted > 0, 2 * right / (true + predicted), 0.0)
        n = table.sum(axis=(-2, -1))
        covariance = right.sum(axis=-1) * n - (true * predicted).sum(axis=-1)
        own = n**2 - (predicted**2).sum(axis=-1), n**2 - (true**2).sum(axis=-1)
        matthews = np.where(own[0] * own[1] > 0, covariance / np.sqrt(own[0] * own[1]), 0.0)
    # Over classes that occur, in the truth or among predictions.
    f1_macro = f1.sum(axis=-1) / np.maximum((true + predicted > 0).sum(axis=-1), 1)
    return {
        "accuracy": right.sum(axis=-1) / n,
        "balanced_accuracy": np.nanmean(recall, axis=-1),
        "f1": f1[..., 1] if table.shape[-1] == 2 else f1_macro,
        "f1_macro": f1_macro,
        "matthews": matthews,
    }


def precisions(counts: NDArray[Any]) -> Floats:
    """(…, C): the share of predictions of each class that are right; NaN where it is never predicted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = np.einsum("...ii->...i", counts) / counts.sum(axis=-2)
    return shares
