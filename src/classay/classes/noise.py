"""How real responses fall around predicted ones: a covariance that can be inverted with any number of responses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .. import seeds

Floats = NDArray[np.float64]

AMOUNTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.06, 0.03, 0.01, 3e-3, 1e-3)
"""Shrinkages tried. The last is not 0: two responses that are copies of each other have a singular covariance."""
FOLDS, CANDIDATES = 5, 100
EXACT = 1e-7
"""Residuals below this share of a response's own deviation count as this large: nothing is measured more exactly."""


@dataclass(frozen=True, eq=False)
class Noise:
    """A residual covariance, shrunk toward its diagonal: D ((1 − λ) R + λ I) D, R the correlation, D the deviations.

    Kept as axes: along `axes` (q, r) the standardised residuals have the variances `along` before shrinkage, and none
    in any other direction. So q² numbers are never needed, and nothing singular is ever inverted. `scale` is D; it is
    infinite for responses that do not vary, which so get no say.
    """

    scale: Floats
    axes: Floats
    along: Floats
    shrinkage: float

    @property
    def complete(self) -> bool:
        """Whether the axes reach every direction."""
        return bool(self.axes.shape[0] == self.axes.shape[1])

    def weights(self, shrinkage: float) -> Floats:
        """The inverse of the shrunk variance along each axis."""
        return np.asarray(1 / ((1 - shrinkage) * self.along + shrinkage))

    def whiten(self, responses: Floats) -> Floats:
        """Responses times the inverse square root of the covariance: what is left has no scale and no correlation.

        Squared distances between whitened rows are Mahalanobis distances.
        """
        standardised = responses / self.scale
        inside, weights = standardised @ self.axes, np.sqrt(self.weights(self.shrinkage))
        if self.complete:
            return np.asarray((inside * weights) @ self.axes.T)
        rest = 1 / np.sqrt(self.shrinkage)
        return np.asarray(standardised * rest + (inside * (weights - rest)) @ self.axes.T)


def shrunk(residuals: Floats, deviations: Floats, shrinkage: float) -> Noise:
    """The covariance of residuals, standardised, shrunk toward no correlation, rescaled.

    residuals : (n, q), around 0
    deviations : (q,) of the responses themselves; 0 or infinite for those that do not vary
    shrinkage : from 0, as seen, to 1, no correlation at all; 0 becomes the least that is tried if it would be singular

    >>> rng = np.random.default_rng(0)
    >>> shrunk(rng.normal(size=(20, 50)), np.ones(50), 0.3).whiten(np.ones((3, 50))).shape
    (3, 50)
    """
    n, q = residuals.shape
    varies = np.isfinite(deviations) & (deviations > 0)
    scale = np.where(varies, np.maximum(np.sqrt((residuals**2).mean(axis=0)), EXACT * deviations), np.inf)
    standardised = residuals / scale
    # The smaller of the two tables of products has all that is needed.
    wide = q > n
    products = (standardised @ standardised.T if wide else standardised.T @ standardised) / n
    values, vectors = linalg.eigh(products)
    kept = values > q * np.finfo(float).eps * max(float(values[-1]), 1e-300)
    values = values[kept]
    axes = standardised.T @ (vectors[:, kept] / np.sqrt(n * values)) if wide else vectors[:, kept]
    singular = shrinkage == 0 and values.size < q
    return Noise(scale, np.asarray(axes), values, AMOUNTS[-1] if singular else float(shrinkage))


def chosen(responses: Floats, residuals: Floats, deviations: Floats, seed: int = 0) -> Noise:
    """The covariance with the shrinkage that identifies best.

    In five folds, responses of one are identified among the stimuli of the same fold with the covariance of the other
    four; λ is the one with the highest mean log posterior of the right stimulus. (Where responses are many and rows
    few, likelihood and Ledoit & Wolf's formula shrink too little for this task: with 200 responses that share noise and
    150 rows, 31 % and 17 % were identified among 200 stimuli, 42 % by this; `benchmarks/identification.py`.)

    responses, residuals : (n, q); their difference is what was predicted
    deviations, seed : as in `shrunk`; of the folds
    """
    n = len(responses)
    order = seeds.generator(seed, "shrinkage").permutation(n)
    gain = np.zeros(len(AMOUNTS))
    for held in np.array_split(order, min(FOLDS, max(n // 2, 1))):
        others = np.setdiff1d(order, held, assume_unique=True)
        if held.size < 2 or others.size < 2:
            continue
        noise = shrunk(residuals[others], deviations, AMOUNTS[-1])
        for some in np.array_split(held, -(-held.size // CANDIDATES)):
            gain += _log_posteriors(noise, responses[some], responses[some] - residuals[some])
    return shrunk(residuals, deviations, AMOUNTS[int(gain.argmax())])


def _log_posteriors(noise: Noise, responses: Floats, predicted: Floats) -> Floats:
    """For each amount, the sum over rows of the log posterior of the row's own stimulus among all of them."""
    seen, told = responses / noise.scale, predicted / noise.scale
    inside_seen, inside_told = seen @ noise.axes, told @ noise.axes
    outside = 0.0 if noise.complete else _half_distances(seen, told) - _half_distances(inside_seen, inside_told)
    found = []
    for amount in AMOUNTS:
        root = np.sqrt(noise.weights(amount))
        scores = -_half_distances(inside_seen * root, inside_told * root) - outside / amount
        ahead = scores - np.diag(scores)[:, None]
        top = np.maximum(ahead.max(axis=1), 0.0)
        found.append(-float((top + np.log(np.exp(ahead - top[:, None]).sum(axis=1))).sum()))
    return np.array(found)


def _half_distances(seen: Floats, told: Floats) -> Floats:
    """Half the squared distances between rows, up to what all candidates of a row share."""
    return np.asarray((told**2).sum(axis=1) / 2 - seen @ told.T)
