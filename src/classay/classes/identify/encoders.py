"""The encoding model: the expected response to a stimulus, and how far real responses deviate from it.

`ridge` has a separate penalty for every response, chosen by generalised cross-validation; one singular value
decomposition serves all penalties and all responses. `elastic_net`, in which most columns have no effect, has its
penalties cross-validated per response. `of_regressor` takes any regressor of scikit-learn.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from ... import seeds
from ...arrays import Floats
from ...engine import work
from ...estimators.adapters import short_name
from ...expect import InputError

PENALTIES: Floats = np.logspace(-6, 5, 67)
"""Penalties tried, in units of the mean squared singular value. None is infinite: however small a prediction, it still
orders the candidates, and a model that predicts the same for all of them could only guess."""
ROUNDING = 1e-13
"""A column whose deviation is a smaller share of its mean is constant except for rounding."""
RATIOS = (0.1, 0.5, 0.95)
"""Shares of the penalty on |β|; the rest is on β²."""
PATH: Floats = np.logspace(0, -2.5, 36)
"""Penalties tried, in units of the one above which every coefficient is 0."""
FOLDS = 5
RESPONSES_PER_TASK = 8
"""Responses that are fitted in one task."""


@dataclass(frozen=True, eq=False)
class Encoder:
    """A fitted encoding model: ŷ = offset + (x − centre) / scale · coefficients.

    `penalty` is what was chosen for each response. `residuals` are those of rows that the fit had not seen (each left
    out in turn, or fold by fold), because those of the fit itself are too small, more so with more columns.
    """

    centre: Floats
    scale: Floats
    offset: Floats
    coefficients: Floats
    penalty: Floats
    residuals: Floats
    notes: tuple[str, ...] = ()

    def predict(self, stimuli: Floats) -> Floats:
        """The expected response for each row of stimuli."""
        return self.offset + ((stimuli - self.centre) / self.scale) @ self.coefficients


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
        return Encoder(
            centre, scale, offset, np.zeros((stimuli.shape[1], offset.size)), np.full(offset.size, np.inf), errors
        )
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
    return Encoder(centre, scale, offset, coefficients, penalties[best], residuals)


def elastic_net(stimuli: Floats, responses: Floats, seed: int = 0, progress: bool = False) -> Encoder:
    """Fit every response on the standardised stimuli with the penalties that cross-validation prefers.

    β = argmin ‖y − Xβ‖² / 2n + λ (ρ ‖β‖₁ + (1 − ρ) ‖β‖² / 2), with separate λ and ρ for each response: those with the
    lowest squared error over five folds, whose residuals are kept. A response for which no column helps is predicted
    by its mean. Tens of times slower than `ridge`, and better only if few columns matter.

    stimuli : (n, p), responses : (n, q), both finite, n ≥ 2
    seed, progress : of the folds; whether to show a bar

    >>> x = np.random.default_rng(0).normal(size=(60, 4))
    >>> (elastic_net(x, x[:, :1] - x[:, 2:3]).coefficients.ravel().round(1) + 0.0).tolist()
    [0.9, 0.0, -1.0, 0.0]
    """
    centre, scale = column_scales(stimuli)
    table = np.asfortranarray((stimuli - centre) / scale)
    fold = seeds.generator(seed, "elastic net").permutation(len(table)) % min(FOLDS, len(table))
    tasks = [
        list(range(start, min(start + RESPONSES_PER_TASK, responses.shape[1])))
        for start in range(0, responses.shape[1], RESPONSES_PER_TASK)
    ]
    outcome = work.run(
        _fit_responses,
        tasks,
        shared=(table, responses, fold),
        progress=progress,
        label=f"elastic net of {responses.shape[1]} responses",
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    for failure in outcome.failures.values():
        raise RuntimeError(f"The elastic net failed: {failure}")
    fits = [fit for part in outcome.results.values() for fit in part]
    coefficients = np.column_stack([fit[0] for fit in fits])
    notes = []
    struggling = sum(fit[3] for fit in fits)
    if struggling:
        notes.append(
            f"The elastic net did not fully converge at some penalty for {struggling} of {len(fits)} responses."
        )
    empty = int((~coefficients.any(axis=0)).sum())
    if empty:
        notes.append(f"The elastic net found no useful column for {empty} of {len(fits)} responses.")
    return Encoder(
        centre,
        scale,
        responses.mean(axis=0),
        coefficients,
        np.array([fit[1] for fit in fits]),
        np.column_stack([fit[2] for fit in fits]),
        tuple(notes),
    )


@dataclass(frozen=True, eq=False)
class FittedRegressor:
    """A fitted regressor of the user, and residuals of rows that it had not seen."""

    regressor: Any
    residuals: Floats
    notes: tuple[str, ...] = ()

    def predict(self, stimuli: Floats) -> Floats:
        """The expected response for each row of stimuli."""
        return _predictions(self.regressor, stimuli, self.residuals.shape[1])


def of_regressor(regressor: Any, stimuli: Floats, responses: Floats, seed: int = 0) -> FittedRegressor:
    """Fit a regressor of the user on all responses together; residuals are from five folds.

    >>> from sklearn.linear_model import LinearRegression
    >>> x = np.arange(8.0)[:, None]
    >>> of_regressor(LinearRegression(), x, 3 * x + 1).predict(np.array([[10.0]])).round(3)
    array([[31.]])
    """
    fold = seeds.generator(seed, "regressor").permutation(len(stimuli)) % min(FOLDS, len(stimuli))
    residuals = np.empty_like(responses)
    # One column is fitted as a vector: many regressors take nothing else.
    targets = responses[:, 0] if responses.shape[1] == 1 else responses
    try:
        for held in np.unique(fold):
            fitted = clone(regressor).fit(stimuli[fold != held], targets[fold != held])
            inside = fold == held
            residuals[inside] = responses[inside] - _predictions(fitted, stimuli[inside], responses.shape[1])
        whole = clone(regressor).fit(stimuli, targets)
    except InputError:
        raise
    except Exception as error:  # a regressor may raise anything
        raise InputError(
            f"{short_name(regressor)} could not be fitted on {stimuli.shape} stimuli and {responses.shape} responses: "
            f"{type(error).__name__}: {error}. For one that takes a single response, use "
            "sklearn.multioutput.MultiOutputRegressor."
        ) from error
    return FittedRegressor(whole, residuals)


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


# The elastic net of each response.


def _fit_responses(shared: tuple[Floats, Floats, Any], targets: list[int]) -> list[tuple[Floats, float, Floats, bool]]:
    """For each response: coefficients, penalty λ, residuals of unseen rows, and whether a fit did not converge."""
    table, responses, fold = shared
    parts = [_CentredRows(table, fold != held) for held in np.unique(fold)]
    whole = _CentredRows(table, np.ones(len(table), dtype=bool))
    return [_fit_response(whole, parts, fold, responses[:, target]) for target in targets]


def _fit_response(
    whole: _CentredRows, parts: list[_CentredRows], fold: Any, y: Floats
) -> tuple[Floats, float, Floats, bool]:
    mean, deviation = (float(figure[0]) for figure in column_scales(y[:, None]))
    # In units of its deviation, because the solver's tolerance and its rounding depend on units.
    y = (y - mean) / deviation
    reach = float(np.abs(whole.table.T @ y).max(initial=0.0)) / len(y)
    if reach == 0:
        return np.zeros(whole.table.shape[1]), 0.0, np.zeros(len(y)), False
    best: tuple[float, float, int, Floats] = (np.inf, 0.0, 0, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        for ratio in RATIOS:
            residuals = np.empty((len(y), PATH.size))
            for part in parts:
                held = ~part.rows
                mean = y[part.rows].mean()
                paths = part.path(y[part.rows] - mean, ratio, PATH * reach / ratio)
                residuals[held] = y[held, None] - mean - (whole.table[held] - part.centre) @ paths
            errors = (residuals**2).sum(axis=0)
            place = int(errors.argmin())
            if errors[place] < best[0]:
                best = (float(errors[place]), ratio, place, residuals[:, place])
        _, ratio, place, best_residuals = best
        penalties = PATH[: place + 1] * reach / ratio
        coefficients = deviation * whole.path(y, ratio, penalties)[:, -1]
    return (
        coefficients,
        float(penalties[-1]),
        deviation * best_residuals,
        any(issubclass(one.category, ConvergenceWarning) for one in caught),
    )


class _CentredRows:
    """Some rows, centred, with the products of their columns, which all responses share."""

    def __init__(self, table: Floats, rows: Any) -> None:
        self.rows = rows
        self.centre = table[rows].mean(axis=0)
        self.table = np.asfortranarray(table[rows] - self.centre)
        tall = self.table.shape[0] > self.table.shape[1]
        self.products: Any = np.ascontiguousarray(self.table.T @ self.table) if tall else False

    def path(self, y: Floats, ratio: float, penalties: Floats) -> Floats:
        """Coefficients (p, penalties) from the largest penalty down."""
        options: dict[str, Any] = {} if self.products is False else {"Xy": self.table.T @ y}
        # Unchecked, because scikit-learn would check the same arrays again at every penalty, longer than it solves.
        options |= {"precompute": self.products, "check_input": False}
        coefficients: Floats = enet_path(self.table, y, l1_ratio=ratio, alphas=penalties, **options)[1]
        return coefficients
