"""ROC and precision-recall curves of refits, on one grid, so that they can be averaged and show a band."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from ...arrays import Floats
from ...expect import one_of
from ..records.labelings import Labelings
from ..records.scores import Scores
from .scorers import quiet

KINDS = ("roc", "precision_recall")
GRID = 101
MOST_REFITS = 60


def refit_curves(record: Labelings, scores: Scores, kind: str) -> pd.DataFrame:
    """A curve over refits: x, value (mean), low and high (5 and 95 % of refits), on 101 steps of x.

    roc: the true positive rate (recall) at each false positive rate. precision_recall: the best precision at a recall
    of at least x. Of two classes, those of the second; of more, the mean over classes, each against the rest. At most
    60 refits, at even steps.
    """
    one_of(kind, "kind", KINDS)
    scores.expect_full("A curve")
    flat = scores.values.reshape(-1, *scores.values.shape[2:])
    chosen = np.unique(np.linspace(0, len(flat) - 1, min(MOST_REFITS, len(flat))).round().astype(int))
    grid = np.linspace(0, 1, GRID)
    codes = [1] if record.classes.size == 2 else np.unique(record.truth).tolist()
    codes = [code for code in codes if 0 < int((record.truth == code).sum()) < record.truth.size]
    with quiet():
        curves = np.array(
            [
                np.mean([_curve(record.truth == code, flat[refit][:, code], kind, grid) for code in codes], axis=0)
                for refit in chosen
            ]
        )
    low, high = np.quantile(curves, [0.05, 0.95], axis=0)
    return pd.DataFrame({"x": grid, "value": curves.mean(axis=0), "low": low, "high": high})


def _curve(truth: NDArray[Any], scores: NDArray[Any], kind: str, grid: Floats) -> Floats:
    if kind == "roc":
        false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
        return np.asarray(np.interp(grid, false, true), dtype=float)
    precision, recall, _ = precision_recall_curve(truth, scores)
    best = np.maximum.accumulate(precision)  # recall falls along the curve
    # The last point, precision 1 at recall 0, is by convention and not of the scores.
    place = np.minimum(np.searchsorted(-recall, -grid, side="right") - 1, recall.size - 2)
    return np.asarray(best[place], dtype=float)
