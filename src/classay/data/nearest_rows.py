"""Distances of rows to the nearest rows of each class, which see what class means cannot: a class of several clusters.

In the space of the chosen distance: directions for a cosine, whitened by the covariance that the classes share for
distances with one, and as they are for euclidean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Floats, Ints
from ..inputs import take
from ..seeds import generator
from .covariance import Covariances
from .cross_fit import CrossFit

RANKS = (1, 3)
"""The nearest row says most where classes are dense, the third is robust to a wrong label among the neighbours."""
MOST_COLUMNS = 2000
MOST_PAIRS, MOST_WORK = 10**8, 2 * 10**10
"""Pairs of rows, and operations, at most: with more rows they are compared with a random sample of them."""
LEAST_ROWS, LEAST_PER_CLASS = 1000, 10
BLOCK = 2 * 10**6


class NearestRows:
    """The rows with a known class that others are compared with, a random sample if they are many.

    A row is never compared with itself, nor with rows of its group.
    """

    def __init__(self, evidence: CrossFit, distance: str, rows: Ints) -> None:
        self.evidence, self.distance = evidence, distance
        classes = evidence.geometry.classes.size
        most = min(MOST_PAIRS // rows.size, MOST_WORK // (rows.size * evidence.geometry.n_features))
        most = max(most, LEAST_ROWS, LEAST_PER_CLASS * classes)
        chosen = generator(0, "nearest rows").permutation(rows)[:most]
        self.rows: Ints = chosen[np.argsort(evidence.codes[chosen], kind="stable")]
        self.codes: Ints = evidence.codes[self.rows]
        self.covariances = None
        if distance not in ("euclidean", "cosine") and evidence.geometry.detail != "diagonal":
            self.covariances = Covariances(evidence.geometry, "shared")
        self.points = self._points(self.rows)
        self.squares: Floats = np.einsum("ij,ij->i", self.points, self.points)

    @classmethod
    def among(cls, evidence: CrossFit, distance: str, rows: Ints) -> NearestRows | None:
        """None if rows cannot be compared with rows: there are very many columns, or they are sparse."""
        many = evidence.geometry.n_features > MOST_COLUMNS
        return None if many or hasattr(evidence.table, "toarray") else cls(evidence, distance, rows)

    def measure(self, rows: Ints) -> Floats:
        """(ranks, rows, classes) distances to the nearest rows of each class, one for each of `RANKS`.

        A class with fewer rows has the distance to its farthest; without any it is infinitely far.
        """
        classes = self.evidence.geometry.classes.size
        out = np.full((len(RANKS), rows.size, classes), np.inf)
        present, starts = np.unique(self.codes, return_index=True)
        column = np.searchsorted(present, self.codes)
        step = max(1, BLOCK // self.rows.size)
        for start in range(0, rows.size, step):
            place = slice(start, start + step)
            table = self._squared(rows[place])
            nearest = np.full((table.shape[0], present.size), np.inf)
            for rank in range(1, RANKS[-1] + 1):
                found = np.minimum.reduceat(table, starts, axis=1)
                nearest = np.where(np.isfinite(found), found, nearest)
                if rank in RANKS:
                    out[RANKS.index(rank), place, present] = np.sqrt(nearest).T
                table[table == found[:, column]] = np.inf
        return out

    def _squared(self, rows: Ints) -> Floats:
        """Squared distances, infinite where rows must not be compared."""
        points = self._points(rows)
        table = points @ (-2 * self.points.T)
        table += self.squares
        table += np.einsum("ij,ij->i", points, points)[:, None]
        np.maximum(table, 0.0, out=table)
        groups = self.evidence.row_groups
        same = rows[:, None] == self.rows if groups is None else groups[rows, None] == groups[self.rows]
        table[same] = np.inf
        return table

    def _points(self, rows: Ints) -> Floats:
        points = np.array(take(self.evidence.table, rows), dtype=float)
        if self.distance != "cosine":
            points -= self.evidence.geometry.mean
        if self.covariances is not None:
            whitener: Any = self.covariances.shared().whitener
            points = points[:, self.covariances.columns] @ whitener
        if "cosine" in self.distance:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points /= np.where(lengths == 0, 1.0, lengths)
        return points
