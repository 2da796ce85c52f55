"""The encoding model: the expected response to a stimulus, and how far real responses deviate from it.

`ridge` has a separate penalty for every response, chosen by generalised cross-validation; one singular value
decomposition serves all penalties and all responses. `of_regressor` takes any regressor of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone

from ... import seeds
from ...arrays import Floats, Ints
from ...estimators.adapters import short_name
from ...expect import InputError
from ...splits import by_other_folds

PENALTIES: Floats = np.logspace(-6, 5, 67)
"""Penalties tried, in units of the mean squared singular value. None is infinite: however small a prediction, it still
orders the candidates, and a model that predicts the same for all of them could only guess."""
ROUNDING = 1e-13
"""A column whose deviation is a smaller share of its mean is constant except for rounding."""
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Encoder:
    """A fitted encoding model: `predict` gives the expected response for each row of stimuli.

    `residuals` are those of rows that the fit had not seen (each left out in turn, or fold by fold), because those of
    the fit itself are too small, more so with more columns.
    """

    predict: Callable[[Floats], Floats]
    residuals: Floats


def ridge(stimuli: Floats, responses: Floats) -> Encoder:
    """Fit every response on the standardised stimuli, with the penalty that generalised cross-validation prefers.

    GCV(λ) = n · ‖y − Hy‖² / (n − tr H)², where H = 1/n + U diag(d² / (d² + λ)) Uᵀ maps responses to their fit. The
    residual of row i as if it had been left out is (y − Hy)ᵢ / (1 − Hᵢᵢ).

    Constant columns of stimuli have no effect; constant responses are predicted by their value.

    stimuli : (n, p), responses : (n, q), both finite

    >>> x = np.arange(8.0)[:, None]
    >>> ridge(x, 3 * x + 1).predict(np.array([[10.0]])).round(3)
    array([[31.]])
    """
    n = len(stimuli)
    centre, scale = column_scales(stimuli)
    offset = responses.mean(axis=0)
    left, values, right = linalg.svd((stimuli - centre) / scale, full_matrices=False, check_finite=False)
    nonzero = values > max(stimuli.shape) * np.finfo(float).eps * max(float(values.max(initial=0.0)), 1e-300)
    left, values, right = left[:, nonzero], values[nonzero], right[nonzero]
    errors = responses - offset
    if not values.size:
        return Encoder(lambda rows: np.tile(offset, (len(rows), 1)), errors)
    along = left.T @ errors
    penalties = PENALTIES * float((values**2).mean())
    # What a penalty takes from each direction: λ / (d² + λ), which stays exact where 1 − d² / (d² + λ) would not.
    removed = penalties[:, None] / (values**2 + penalties[:, None])
    outside = np.maximum((errors**2).sum(axis=0) - (along**2).sum(axis=0), 0.0)
    free = n - 1 - values.size
    criterion = n * (outside * (free > 0) + removed**2 @ along**2) / (free + removed.sum(axis=1))[:, None] ** 2
    best = criterion.argmin(axis=0)

    shares = removed[best].T
    coefficients = right.T @ ((1 - shares) / values[:, None] * along)
    fitted = left @ ((1 - shares) * along)
    beyond = np.maximum(1 - 1 / n - (left**2).sum(axis=1), 0.0)
    own = beyond[:, None] + left**2 @ removed.T
    residuals = (errors - fitted) / np.maximum(own, np.finfo(float).tiny)[:, best]
    return Encoder(lambda rows: offset + ((rows - centre) / scale) @ coefficients, residuals)


def of_regressor(regressor: Any, stimuli: Floats, responses: Floats, seed: int = 0) -> Encoder:
    """Fit a regressor of the user on all responses together; residuals are from five folds.

    >>> from sklearn.linear_model import LinearRegression
    >>> x = np.arange(8.0)[:, None]
    >>> of_regressor(LinearRegression(), x, 3 * x + 1).predict(np.array([[10.0]])).round(3)
    array([[31.]])
    """
    fold = seeds.generator(seed, "regressor").permutation(len(stimuli)) % min(FOLDS, len(stimuli))
    # One column is fitted as a vector: many regressors take nothing else.
    targets = responses[:, 0] if responses.shape[1] == 1 else responses

    def unseen(_: int, others: Ints, here: Ints) -> Floats:
        fitted = clone(regressor).fit(stimuli[others], targets[others])
        return responses[here] - _predictions(fitted, stimuli[here], responses.shape[1])

    try:
        residuals, whole = by_other_folds(fold, unseen), clone(regressor).fit(stimuli, targets)
    except InputError:
        raise
    except Exception as error:  # a regressor may raise anything
        raise InputError(
            f"{short_name(regressor)} could not be fitted on {stimuli.shape} stimuli and {responses.shape} responses: "
            f"{type(error).__name__}: {error}. For one that takes a single response, use "
            "sklearn.multioutput.MultiOutputRegressor."
        ) from error
    return Encoder(lambda rows: _predictions(whole, rows, responses.shape[1]), residuals)


def _predictions(fitted: Any, stimuli: Floats, columns: int) -> Floats:
    predicted = np.asarray(fitted.predict(stimuli), dtype=float).reshape(len(stimuli), -1)
    if predicted.shape[1] != columns or not np.isfinite(predicted).all():
        raise InputError(
            f"{short_name(fitted)} predicted {predicted.shape[1]} columns, or numbers that are not finite; expected "
            f"{columns} finite responses."
        )
    return predicted


def explained_variance(responses: Floats, predicted: Floats) -> Floats:
    """R² of each response: 1 − Σ(y − ŷ)² / Σ(y − ȳ)². 1: exact; 0: no better than the mean; NaN: constant."""
    around = ((responses - responses.mean(axis=0)) ** 2).sum(axis=0)
    missed = ((responses - predicted) ** 2).sum(axis=0)
    varies = np.isfinite(column_scales(responses)[1])
    shares: Floats = 1 - np.divide(missed, around, out=np.full(around.size, np.nan), where=varies & (around > 0))
    return shares


def column_scales(values: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of each column; the deviation of a constant one is infinite, so that it has no effect."""
    centre, deviation = values.mean(axis=0), values.std(axis=0)
    return centre, np.where(deviation > ROUNDING * np.abs(centre), deviation, np.inf)
