"""How many errors a learner's own scores foretell in some rows, and whether there are more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats
from sklearn.linear_model import LogisticRegression

from ... import seeds
from ...data.slices import Slices
from ...regions.outcome import Happens
from ..held_out import HeldOut

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Surplus:
    """Errors of a slice among rows that were not searched (`seen`), and how many were `expected`, of `rows`."""

    seen: int
    expected: float
    error: float
    rows: int

    @property
    def rate(self) -> float:
        """The share of wrong answers that was foretold."""
        return self.expected / self.rows if self.rows else math.nan

    @property
    def p_value(self) -> float:
        """How likely so many errors are if the scores are right: the larger of Poisson's and the normal tail."""
        if not self.rows or self.seen <= self.expected:
            return 1.0
        normal = stats.norm.sf((self.seen - 0.5 - self.expected) / self.error) if self.error else 0.0
        return float(max(normal, stats.poisson.sf(self.seen - 1, self.expected)))

    @property
    def least(self) -> float:
        """Errors that were not foretold, cautiously."""
        return self.seen - self.expected - 2 * self.error


def surplus(slices: Slices, held: HeldOut, wrong: Mask) -> list[Surplus]:
    """For each slice, errors beyond what the learner's scores foretell.

    Half of the rows, in which slices were searched, tell how the rate of errors falls with certainty: a logistic curve
    (Platt, 1999), corrected within ranges of certainty as far as there are errors to tell. The other half is asked.
    Where classes overlap every learner errs, and a good one knows: errors there are no surplus. A learner without
    scores foretells its overall rate everywhere.
    """
    searched, others = Happens(wrong).halves(seeds.generator(slices.seed, "slices"))
    certain = certainty(held)
    rate = _rate(certain, wrong, searched)
    edges = _edges(certain[searched], wrong[searched])
    place = np.searchsorted(edges, certain, side="left")
    size = edges.size + 1
    errors = np.bincount(place[searched], wrong[searched], minlength=size) + 1
    rate = np.minimum(rate * (errors / (np.bincount(place[searched], rate[searched], minlength=size) + 1))[place], 1.0)
    found = []
    for number in range(len(slices.slices)):
        inside = others[slices.rows(number)[others]]
        here = rate[inside]
        # Beside chance in these rows, the rates are themselves estimates, from so many errors each.
        known = np.bincount(place[inside], here, minlength=size) ** 2 / errors
        error = math.sqrt(float((here * (1 - here)).sum() + known.sum()))
        found.append(Surplus(int(wrong[inside].sum()), float(here.sum()), error, inside.size))
    return found


def certainty(held: HeldOut) -> Floats:
    """The probability that the scores give to the first of the classes; 0 everywhere without scores."""
    if held.scores is None:
        return np.zeros(held.labels.size)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nan_to_num(special.softmax(held.scores, axis=1).max(axis=1)))


def _rate(certain: Floats, wrong: Mask, searched: NDArray[np.int64]) -> Floats:
    """The chance that each row is wrong, by a logistic curve of its doubt in the rows that were searched."""
    least = 0.5 / certain.size
    doubt = special.logit(np.clip(1 - certain, least, 1 - least))[:, None]
    known = wrong[searched]
    flat = np.full(certain.size, float(known.mean()))
    if known.all() or not known.any() or np.ptp(doubt[searched]) == 0:
        return flat
    curve = LogisticRegression(C=100.0).fit(doubt[searched], known)
    return np.asarray(curve.predict_proba(doubt)[:, 1]) if curve.coef_[0, 0] > 0 else flat


def _edges(certain: Floats, wrong: Mask) -> Floats:
    """Certainties between which rows are taken together, so that each part has about as many errors, √errors of them.

    Rows of equal certainty stay together.
    """
    ordered = np.sort(certain[wrong])
    parts = max(math.isqrt(ordered.size), 1)
    return np.unique(ordered[(np.arange(1, parts) * ordered.size) // parts - 1] if parts > 1 else ordered[:0])
