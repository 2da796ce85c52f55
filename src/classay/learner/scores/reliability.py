"""Calibration: whether a predicted probability of 0.3 comes true in 3 of 10 rows, and what chance alone would show.

Of two classes, the probability of the second is judged; of more, that of the predicted class (is it right?).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import seeds
from ...arrays import AnyInts, Floats, Ints
from ...intervals import Estimate
from ..records.scores import Scores

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
