"""`likelihood`: the distribution of U by maximum likelihood, drawn towards the combined method where little is known.

A row that beats M of K − 1 others has M ~ Bin(K − 1, U). The distribution of U is a mixture of narrow normal parts on
the probit scale; their weights maximise the likelihood of the observed M, with the combined method as a prior that is
worth a few classes. What K classes show decides the body, and the prior the tail that they cannot show.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, log_ndtr

from ...arrays import Floats
from ..ranks.ranks import Evidence
from .beaten_share import BeatenShare
from .methods import calibrated_share, shrunk_normal_share

GRID: Floats = np.linspace(-4.0, 9.0, 131)
"""Places of U on the probit scale."""
FIRST, STEP, PARTS = -3.5, 0.25, 47
"""Where the parts are: 47 of them, a quarter apart."""
WIDTH = 0.35
WORTH = 5.0
"""The prior counts as much as this many classes."""
STEPS = 80


def likelihood(evidence: Evidence, k: ArrayLike) -> Floats:
    """Accuracy for each k by maximum likelihood of a mixture."""
    return likelihood_share(evidence).accuracy(k)


def likelihood_share(evidence: Evidence, prior: tuple[BeatenShare, ...] | None = None) -> BeatenShare:
    """The distribution of U by EM: weights of the parts, from the prior on. `prior`: that of combined unless given."""
    parts, chances = _tables(evidence.n_classes)
    before = prior_weights(prior or (shrunk_normal_share(evidence), calibrated_share(evidence)))
    seen = evidence.beaten > 0
    chances, shares = chances[:, seen], evidence.beaten[seen]
    weights, n_classes = before, evidence.n_classes
    for _ in range(STEPS):
        posterior = weights * (chances @ (shares / np.maximum(weights @ chances, 1e-300)))
        weights = (n_classes * posterior + WORTH * before) / (n_classes + WORTH)
    return BeatenShare(GRID, weights @ parts / (weights @ parts).sum())


def prior_weights(prior: tuple[BeatenShare, ...]) -> Floats:
    """The weights of the parts that are closest to several distributions, each with the same weight."""
    weights = np.full(PARTS, 1e-8)
    for share in prior:
        place = np.clip((share.z - FIRST) / STEP, 0, PARTS - 1)
        left = np.minimum(place.astype(np.int64), PARTS - 2)
        np.add.at(weights, left, share.weights * (left + 1 - place) / len(prior))
        np.add.at(weights, left + 1, share.weights * (place - left) / len(prior))
    return np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def _tables(n_classes: int) -> tuple[Floats, Floats]:
    """(parts, grid): the distribution of each part; (parts, K): the chance of each M in it."""
    places = FIRST + STEP * np.arange(PARTS)
    parts = np.exp(-(((GRID - places[:, None]) / WIDTH) ** 2) / 2)
    parts /= parts.sum(axis=1, keepdims=True)
    others, beaten = n_classes - 1, np.arange(n_classes)
    logs = gammaln(others + 1) - gammaln(beaten + 1) - gammaln(others - beaten + 1)
    logs = logs + log_ndtr(GRID)[:, None] * beaten + log_ndtr(-GRID)[:, None] * (others - beaten)
    chances = parts @ np.exp(np.maximum(logs, -700.0))
    for table in (parts, chances):
        table.flags.writeable = False
    return parts, chances
