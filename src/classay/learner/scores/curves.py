"""Curves of scores: ROC, precision against recall, and calibration, with bands over refits; how far calibration is off.

`refit_curves` has the mean of refits. The lines of `roc`, `precision_recall` and `calibration_curve` are of one
prediction per row, such as cross-validated ones; their bands hold nine of ten refits of the same learner on its test
points: how much a curve moves when the learner is refitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_curve, roc_curve

from ... import seeds
from ...arrays import AnyInts, Floats, Ints, Mask
from ...expect import one_of
from ...intervals import Estimate
from ..records.base import OutOfFold
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


# One prediction per row


STEPS = 21
INSIDE = (5, 95)
"""Percentiles of refits between which a band lies."""
MOST_IN_BAND = 40
"""Most refits of a band: more do not change it."""
LEAST_IN_BAND = 5
Drawn = Callable[[Mask, Floats], tuple[Floats, Floats]]
"""From whether rows are of a class and their scores to the points of a curve."""


@dataclass(frozen=True)
class Curve:
    """A curve: points (x, y), and the band (low, high) over refits, NaN where there is none."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats


def calibration_curve(held: OutOfFold, positive: int, refits: Labelings | None = None) -> Curve | None:
    """How often rows are of the predicted class (of two classes: of the positive one), by their probabilities."""
    if held.probabilities is not None:
        predicted, occurred = _predicted(held.probabilities, held.truth, positive)
    elif held.confidence is not None:
        known = np.isfinite(held.confidence)
        predicted, occurred = held.confidence[known], held.correct[known]
    else:
        return None
    edges = bin_edges(predicted)
    _, x, y = by_bin(predicted, occurred, edges)
    by_refit = [by_bin(*_predicted(table, truth, positive), edges)[2] for table, truth in _refits(refits)]
    return Curve(x, y, *_band(by_refit, x.size))


def roc(held: OutOfFold, positive: int, refits: Labelings | None = None) -> Curve | None:
    """Of two classes: the share of rows of the positive one that are found, by the share of false alarms."""
    return _ranked(held, positive, refits, lambda truth, score: roc_curve(truth, score)[:2])


def precision_recall(held: OutOfFold, positive: int, refits: Labelings | None = None) -> Curve | None:
    """Of two classes: precision against recall of the positive one."""

    def curve(truth: Mask, score: Floats) -> tuple[Floats, Floats]:
        precision, recall, _ = precision_recall_curve(truth, score)
        return recall[::-1], precision[::-1]

    return _ranked(held, positive, refits, curve)


def _ranked(held: OutOfFold, positive: int, refits: Labelings | None, curve: Drawn) -> Curve | None:
    table = held.scores if held.probabilities is None else held.probabilities
    truth = held.truth == positive
    if table is None or held.classes.size != 2 or truth.all() or not truth.any() or np.isnan(table[:, positive]).any():
        return None
    grid = np.linspace(0, 1, STEPS)
    y = _on(grid, *curve(truth, np.nan_to_num(table[:, positive])))
    by_refit = [
        _on(grid, *curve(known == positive, scores[:, positive]))
        for scores, known in _refits(refits)
        if 0 < int((known == positive).sum()) < known.size
    ]
    return Curve(grid, y, *_band(by_refit, grid.size))


def _predicted(probabilities: Floats, codes: Ints, positive: int) -> tuple[Floats, Floats]:
    """The probability of what was predicted, and whether it occurred."""
    if probabilities.shape[1] == 2:
        return probabilities[:, positive], (codes == positive).astype(float)
    return probabilities.max(axis=1), (probabilities.argmax(axis=1) == codes).astype(float)


def _refits(record: Labelings | None) -> list[tuple[Floats, Ints]]:
    """Probabilities of refits on the test points, and the classes of these."""
    if record is None or record.scores is None or record.scores.compact:
        return []
    truth = record.truth.astype(np.int64)
    tables = record.scores.values[record.scores.present][:MOST_IN_BAND]
    return [(table.astype(float), truth) for table in tables if not np.isnan(table).any()]


def _on(grid: Floats, x: Floats, y: Floats) -> Floats:
    """The curve at the steps of a grid; where it is vertical, its highest point."""
    last = np.append(np.diff(x) > 0, True)
    return np.asarray(np.interp(grid, x[last], y[last]))


def _band(by_refit: list[Floats], size: int) -> tuple[Floats, Floats]:
    """Percentiles over refits; none from fewer than five."""
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    if len(by_refit) >= LEAST_IN_BAND:
        table = np.array(by_refit)
        table = np.where(np.isnan(table).mean(axis=0) > 0.5, np.nan, table)
        known = ~np.isnan(table).all(axis=0)
        low[known], high[known] = np.nanpercentile(table[:, known], INSIDE, axis=0)
    return low, high


# Calibration: whether a predicted probability of 0.3 comes true in 3 of 10 rows, and what chance alone would show. Of
# two classes, the probability of the second is judged; of more, that of the predicted class (is it right?).


BINS = 10
DRAWS = 100
"""Outcomes drawn from the scores themselves, for each of at most `FLOOR_REFITS` refits."""
FLOOR_REFITS = 20
FIGURES = ("ece", "reliability", "resolution")


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted probabilities against what came true, in bins of about as many predictions each.

    `bins` has a row for each: predicted (mean), observed (mean over refits), low and high (5 and 95 % of refits), rows
    (mean number per refit). `of` says which probability. `floor` is the expected calibration error that perfectly
    calibrated scores would show with as many rows, with the range of 95 % of data sets.
    """

    of: str
    bins: pd.DataFrame
    floor: Estimate


def judged(scores: Scores, truth: AnyInts) -> tuple[Floats, NDArray[np.bool_]]:
    """(K, R, n) probabilities that are judged, and whether they came true."""
    if not scores.compact and scores.values.shape[3] == 2:
        positive = scores.positive.astype(float)
        return positive, np.broadcast_to(truth == 1, positive.shape)
    codes, best = scores.top()
    return best.astype(float), codes == truth


def bin_edges(probabilities: Floats) -> Floats:
    """Inner edges of bins with about as many predictions of all refits each; equal scores are never divided."""
    inner = np.quantile(probabilities, np.arange(1, BINS) / BINS)
    return np.unique(inner)


def bin_of(probabilities: Floats, edges: Floats) -> Ints:
    """The bin of each score: above the edge before, up to and with its own, as in scikit-learn's `calibration_curve`.

    Many scores of 0 are then alone in the first bin. Put above their edge, they would be mixed with larger ones.
    """
    return np.searchsorted(edges, probabilities, side="left")


def calibration_figures(probabilities: Floats, outcomes: NDArray[Any], edges: Floats) -> Floats:
    """Calibration error, reliability and resolution of one refit, from the bins between the edges.

    ECE = Σ_b (n_b/n)·|mean p − share|. Reliability Σ_b (n_b/n)(mean p − share)² and resolution
    Σ_b (n_b/n)(share − overall)² without the bias that few rows per bin give them (Ferro & Fricker, 2012); both may
    come out a little below 0.
    """
    counts, predicted, observed = by_bin(probabilities, outcomes, edges)
    n, overall = outcomes.size, float(outcomes.mean())
    weight = counts / n
    gap = predicted - observed
    noise = float(np.nansum(weight * observed * (1 - observed) / np.maximum(counts - 1, 1)))
    reliability = float(np.nansum(weight * gap**2)) - noise
    resolution = float(np.nansum(weight * (observed - overall) ** 2)) - noise + overall * (1 - overall) / max(n - 1, 1)
    return np.array([float(np.nansum(weight * np.abs(gap))), reliability, resolution])


def by_bin(probabilities: Floats, outcomes: NDArray[Any], edges: Floats) -> Floats:
    """Number, mean probability and share that came true, of each bin; NaN if it is empty."""
    bins = bin_of(probabilities, edges)
    counts, *sums = (np.bincount(bins, weights, edges.size + 1) for weights in (None, probabilities, outcomes))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.array([counts, sums[0] / counts, sums[1] / counts])


def calibration(
    probabilities: Floats, outcomes: NDArray[np.bool_], edges: Floats, of: str, level: float
) -> Calibration:
    """The bins over all refits, and the floor of the calibration error."""
    flat, came = probabilities.reshape(-1, probabilities.shape[2]), outcomes.reshape(-1, outcomes.shape[2])
    tables = np.array([by_bin(scores, true, edges) for scores, true in zip(flat, came)])
    rows, means, shares = np.moveaxis(tables[:, :, (tables[:, 0] > 0).any(axis=0)], 1, 0)
    low, high = np.nanquantile(shares, [0.05, 0.95], axis=0)
    frame = pd.DataFrame({"predicted": np.nanmean(means, axis=0), "observed": np.nanmean(shares, axis=0), "low": low,
                          "high": high, "rows": rows.mean(axis=0)})  # fmt: skip
    return Calibration(of, frame, _floor(flat, edges, level))


def _floor(flat: Floats, edges: Floats, level: float) -> Estimate:
    """The calibration error of outcomes drawn from the scores: mean, and range of data sets."""
    generator = seeds.generator(0, "perfectly calibrated")
    chosen = np.unique(np.linspace(0, len(flat) - 1, min(FLOOR_REFITS, len(flat))).round().astype(int))
    # One draw of outcomes is a data set: the error is the mean over refits on it, as for the real one.
    uniform = generator.random((DRAWS, flat.shape[1]))
    errors = np.array(
        [
            np.mean([calibration_figures(flat[refit], row < flat[refit], edges)[0] for refit in chosen])
            for row in uniform
        ]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(errors, [tail, 1 - tail])
    return Estimate(float(errors.mean()), float(low), float(high), level, "if scores were perfectly calibrated")
