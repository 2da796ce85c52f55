"""An encoding model in which most columns have no say: the elastic net, its penalties cross-validated per response."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from .. import seeds
from ..engine import work
from .encoding_model import Encoder, Floats, standard

RATIOS = (0.1, 0.5, 0.95)
"""Shares of the penalty that fall on |β|; the rest falls on β²."""
PATH: Floats = np.logspace(0, -2.5, 36)
"""Penalties tried, in units of the one above which every coefficient is 0."""
FOLDS = 5
TOGETHER = 8
"""Responses that are fitted in one task."""


def elastic_net(stimuli: Floats, responses: Floats, seed: int = 0, progress: bool = False) -> Encoder:
    """Fit every response on the standardised stimuli with the penalties that cross-validation prefers.

    β = argmin ‖y − Xβ‖² / 2n + λ (ρ ‖β‖₁ + (1 − ρ) ‖β‖² / 2), for each response its own λ and ρ, those with the least
    squared error over five folds, of which the residuals are kept. A response for which no column helps is predicted
    by its mean. Tens of times slower than `ridge`, and better only where few columns matter.

    stimuli : (n, p), responses : (n, q), both finite, n ≥ 2
    seed, progress : of the folds; whether to show a bar

    >>> x = np.random.default_rng(0).normal(size=(60, 4))
    >>> (elastic_net(x, x[:, :1] - x[:, 2:3]).coefficients.ravel().round(1) + 0.0).tolist()
    [0.9, 0.0, -1.0, 0.0]
    """
    centre, scale = standard(stimuli)
    table = np.asfortranarray((stimuli - centre) / scale)
    fold = seeds.generator(seed, "elastic net").permutation(len(table)) % min(FOLDS, len(table))
    tasks = [
        list(range(start, min(start + TOGETHER, responses.shape[1])))
        for start in range(0, responses.shape[1], TOGETHER)
    ]
    outcome = work.run(
        _fit,
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
            f"The elastic net of {struggling} of {len(fits)} responses did not converge fully at some penalty."
        )
    empty = int((~coefficients.any(axis=0)).sum())
    if empty:
        notes.append(f"The elastic net found no column that helps for {empty} of {len(fits)} responses.")
    return Encoder(
        centre,
        scale,
        responses.mean(axis=0),
        coefficients,
        np.array([fit[1] for fit in fits]),
        np.column_stack([fit[2] for fit in fits]),
        tuple(notes),
    )


def _fit(shared: tuple[Floats, Floats, Any], targets: list[int]) -> list[tuple[Floats, float, Floats, bool]]:
    """For each response: coefficients, penalty λ, residuals of rows not seen, and whether a fit struggled."""
    table, responses, fold = shared
    parts = [_Part(table, fold != held) for held in np.unique(fold)]
    whole = _Part(table, np.ones(len(table), dtype=bool))
    return [_fit_one(whole, parts, fold, responses[:, target]) for target in targets]


def _fit_one(whole: _Part, parts: list[_Part], fold: Any, y: Floats) -> tuple[Floats, float, Floats, bool]:
    mean, deviation = (float(figure[0]) for figure in standard(y[:, None]))
    # In units of its deviation, because the solver's tolerance and its rounding are not free of units.
    y = (y - mean) / deviation
    reach = float(np.abs(whole.table.T @ y).max(initial=0.0)) / len(y)
    if reach == 0:
        return np.zeros(whole.table.shape[1]), 0.0, np.zeros(len(y)), False
    best: tuple[float, float, int, Floats] = (np.inf, 0.0, 0, y)
    with warnings.catch_warnings(record=True) as said:
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
        _, ratio, place, kept = best
        penalties = PATH[: place + 1] * reach / ratio
        coefficients = deviation * whole.path(y, ratio, penalties)[:, -1]
    return (
        coefficients,
        float(penalties[-1]),
        deviation * kept,
        any(issubclass(one.category, ConvergenceWarning) for one in said),
    )


class _Part:
    """Some rows, centred, with the products of their columns, which all responses share."""

    def __init__(self, table: Floats, rows: Any) -> None:
        self.rows = rows
        self.centre = table[rows].mean(axis=0)
        self.table = np.asfortranarray(table[rows] - self.centre)
        tall = self.table.shape[0] > self.table.shape[1]
        self.products: Any = np.ascontiguousarray(self.table.T @ self.table) if tall else False

    def path(self, y: Floats, ratio: float, penalties: Floats) -> Floats:
        """Coefficients (p, penalties) from the largest penalty down."""
        given: dict[str, Any] = {} if self.products is False else {"Xy": self.table.T @ y}
        # Unchecked, because scikit-learn would check the same arrays again at every penalty, longer than it solves.
        given |= {"precompute": self.products, "check_input": False}
        found: Floats = enet_path(self.table, y, l1_ratio=ratio, alphas=penalties, **given)[1]
        return found
