"""The encoding model: what response a stimulus should give, and how far real responses fall from that.

Ridge regression with a penalty of its own for every response, chosen by generalised cross-validation. One singular
value decomposition serves all penalties and all responses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]

PENALTIES: Floats = np.logspace(-6, 5, 67)
"""Penalties tried, in units of the mean squared singular value. None is infinite: however small a prediction, it still
orders the candidates, and a model that predicts the same for all of them could only guess."""
ROUNDING = 1e-13
"""A column whose deviation is a smaller share of its mean is constant but for rounding."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """A fitted encoding model: ŷ = offset + (x − centre) / scale · coefficients.

    `penalty` is what was chosen for each response. `residuals` are of rows that the fit had not seen (each left out in
    turn, or fold by fold), because those of the fit itself are too small, the more so the more columns there are.
    """

    centre: Floats
    scale: Floats
    offset: Floats
    coefficients: Floats
    penalty: Floats
    residuals: Floats
    notes: tuple[str, ...] = ()

    def predict(self, stimuli: Floats) -> Floats:
        """The response to expect for each row of stimuli."""
        return self.offset + ((stimuli - self.centre) / self.scale) @ self.coefficients


def ridge(stimuli: Floats, responses: Floats) -> Encoder:
    """Fit every response on the standardised stimuli, with the penalty that generalised cross-validation prefers.

    GCV(λ) = n · ‖y − Hy‖² / (n − tr H)², where H = 1/n + U diag(d² / (d² + λ)) Uᵀ maps responses to their fit. The
    residual of row i as if it had been left out is (y − Hy)ᵢ / (1 − Hᵢᵢ).

    Constant columns of stimuli get no say; constant responses are predicted by their value.

    stimuli : (n, p), responses : (n, q), both finite

    >>> x = np.arange(8.0)[:, None]
    >>> ridge(x, 3 * x + 1).predict(np.array([[10.0]])).round(3)
    array([[31.]])
    """
    n = len(stimuli)
    centre, scale = standard(stimuli)
    offset = responses.mean(axis=0)
    left, values, right = linalg.svd((stimuli - centre) / scale, full_matrices=False, check_finite=False)
    kept = values > max(stimuli.shape) * np.finfo(float).eps * max(float(values.max(initial=0.0)), 1e-300)
    left, values, right = left[:, kept], values[kept], right[kept]
    errors = responses - offset
    if not values.size:
        return Encoder(
            centre, scale, offset, np.zeros((stimuli.shape[1], offset.size)), np.full(offset.size, np.inf), errors
        )
    along = left.T @ errors
    penalties = PENALTIES * float((values**2).mean())
    # What a penalty takes from each direction: λ / (d² + λ), which stays exact where 1 − d² / (d² + λ) would not.
    taken = penalties[:, None] / (values**2 + penalties[:, None])
    outside = np.maximum((errors**2).sum(axis=0) - (along**2).sum(axis=0), 0.0)
    free = n - 1 - values.size
    criterion = n * (outside * (free > 0) + taken**2 @ along**2) / (free + taken.sum(axis=1))[:, None] ** 2
    chosen = criterion.argmin(axis=0)

    shares = taken[chosen].T
    coefficients = right.T @ ((1 - shares) / values[:, None] * along)
    fitted = left @ ((1 - shares) * along)
    beyond = np.maximum(1 - 1 / n - (left**2).sum(axis=1), 0.0)
    own = beyond[:, None] + left**2 @ taken.T
    residuals = (errors - fitted) / np.maximum(own, np.finfo(float).tiny)[:, chosen]
    return Encoder(centre, scale, offset, coefficients, penalties[chosen], residuals)


def standard(values: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of each column; the deviation of a constant one is infinite, so that it is divided away."""
    centre, deviation = values.mean(axis=0), values.std(axis=0)
    return centre, np.where(deviation > ROUNDING * np.abs(centre), deviation, np.inf)


def explained(responses: Floats, predicted: Floats) -> Floats:
    """R² of each response: 1 − Σ(y − ŷ)² / Σ(y − ȳ)². 1: told exactly; 0: no better than the mean; NaN: constant."""
    around = ((responses - responses.mean(axis=0)) ** 2).sum(axis=0)
    missed = ((responses - predicted) ** 2).sum(axis=0)
    varies = np.isfinite(standard(responses)[1])
    shares: Floats = 1 - np.divide(missed, around, out=np.full(around.size, np.nan), where=varies & (around > 0))
    return shares
