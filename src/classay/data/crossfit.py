"""Rows measured by a geometry that has not seen them: from the other folds, without the row, or from other rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..seeds import generator
from .covariance import Covariances
from .distances import BY_CLASS, Ruler
from .geometry import Geometry
from .leave_one_out import leave_one_out
from .rows import Floats, Ints, take
from .temperature import fit_temperature

TRIED = ["distance", "covariance", "temperature", "mean_complexity", "accuracy", "rows"]
PILOT, PILOT_CELLS = 3000, 10**7
"""Distance and temperature are chosen on so many rows at most, and fewer where classes are very many."""
LEAST, GIVEN_UP = 200, 4.0
"""A distance is given up when it is so many standard errors behind the best, after so many rows."""
MOST_COLUMNS = 2000
MOST_WORK = 10**13
"""Distances with a covariance of each class are not tried beyond so many columns, or operations (minutes)."""


class Measuring:
    """Rows, and the geometry by which each is measured.

    folds : fold of every row, which is measured without the rows of its fold; None: all rows count
    alone : leave-one-out, each row is measured without itself
    """

    def __init__(
        self,
        geometry: Geometry,
        table: Any,
        codes: Ints,
        *,
        folds: Ints | None = None,
        alone: bool = False,
        name: str = "X",
    ) -> None:
        self.geometry, self.table, self.codes, self.name = geometry, table, codes, name
        self.folds, self.alone = folds, alone
        if folds is None:
            self.groups = [np.arange(codes.size)]
        else:
            self.groups = [np.flatnonzero(folds == fold) for fold in range(int(folds.max()) + 1)]
        self._whole: dict[tuple[str, str], Ruler] = {}
        self._made: dict[tuple[int, str], Geometry] = {}

    def ruler(self, group: int, distances: tuple[str, ...], covariance: str) -> Ruler:
        """The ruler for the rows of one group."""
        return Ruler(self.geometry_for(group, _detail(distances, covariance)), distances, covariance)

    def geometry_for(self, group: int, detail: str = "full") -> Geometry:
        """The geometry by which a group is measured, with no more detail than is needed."""
        whole = self.geometry.lowered(detail)
        if self.folds is None:
            return whole
        key = (group, whole.detail)
        if key not in self._made:
            # One at a time: a geometry of each fold may be large.
            self._made = {key: whole.without(self._part(self.groups[group], whole))}
        return self._made[key]

    def geometry_without(self, row: int, detail: str = "full") -> Geometry:
        """The geometry by which one row is measured."""
        if self.alone:
            whole = self.geometry.lowered(detail)
            return whole.without(self._part(np.array([row]), whole))
        return self.geometry_for(0 if self.folds is None else int(self.folds[row]), detail)

    def whole_ruler(self, distance: str, covariance: str) -> Ruler:
        """The ruler of all rows, for new ones. It is kept: its matrices are costly."""
        key = (distance, covariance)
        if key not in self._whole:
            self._whole = {key: Ruler(self.geometry.lowered(_detail((distance,), covariance)), (distance,), covariance)}
        return self._whole[key]

    def measure(self, ruler: Ruler, rows: Ints) -> dict[str, Floats]:
        """Distances of rows of the ruler's group."""
        part = take(self.table, rows)
        found = ruler.measure(part, self.name)
        if self.alone:
            for distance, distances in found.items():
                leave_one_out(ruler, distance, distances, part, self.codes[rows])
        return found

    def _part(self, rows: Ints, whole: Geometry) -> Geometry:
        made = Geometry(whole.detail, whole.most_numbers)
        return made.partial_fit(take(self.table, rows), whole.classes[self.codes[rows]], whole.classes)


def assign_folds(codes: Ints, folds: int, seed: int) -> Ints:
    """A fold for every row: at random, of equal size, and with equal shares of each class."""
    shuffled = generator(seed, "folds").permutation(codes.size)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    found = np.empty(codes.size, dtype=np.int64)
    found[by_class] = np.arange(codes.size) % min(folds, codes.size)
    return found


def candidates(geometry: Geometry, rows: int, covariance: str, alone: bool) -> tuple[list[tuple[str, str]], list[str]]:
    """(distance, covariance) pairs that are worth trying, and what has to be said."""
    d, c = geometry.n_features, geometry.classes.size
    simple: list[tuple[str, str]] = [("euclidean", covariance), ("cosine", covariance)]
    if alone:
        spreads = Covariances(geometry, covariance) if geometry.detail == "full" and d <= MOST_COLUMNS else None
        if spreads and spreads.kind in ("auto", "full") and all(spreads.of(code).pull == 0 for code in range(c)):
            return [*simple, ("mahalanobis", covariance), ("gaussian", covariance)], []
        return simple, ["Leave-one-out has a closed form for euclidean and cosine only where covariances are shrunk."]
    if geometry.detail == "diagonal" or d > MOST_COLUMNS:
        return simple, [f"{d} columns are too many for distances with a covariance; euclidean and cosine were tried."]
    tried = [*simple, ("whitened_cosine", covariance)]
    if covariance in ("shared", "diagonal"):
        return [*tried, *((distance, covariance) for distance in BY_CLASS)], []
    tried += [("mahalanobis", "shared"), ("gaussian", "shared")]
    usual = float(np.median(geometry.counts[geometry.counts > 0]))
    if usual < d:
        why = f"half of the classes have no more than {usual:g} rows for {d} columns"
    elif geometry.detail != "full" or c * rows * d**2 > MOST_WORK:
        why = f"{c} classes x {d} columns is too much work"
    else:
        return [*tried, *((distance, covariance) for distance in BY_CLASS)], []
    return tried, [f"Distances with a covariance of each class were not tried: {why}."]


def choose(measuring: Measuring, pairs: list[tuple[str, str]], seed: int) -> tuple[str, str, float, pd.DataFrame]:
    """The distance and covariance with the lowest mean h, its temperature, and the table of all that were tried."""
    found: dict[tuple[str, str], list[Floats]] = {pair: [] for pair in pairs}
    rows: list[Ints] = []
    table: dict[tuple[str, str], tuple[float, float, float, int]] = {}
    hopeful = list(pairs)
    most = min(PILOT, max(PILOT_CELLS // measuring.geometry.classes.size, 500))
    for number, group in enumerate(measuring.groups):
        quota = most - sum(part.size for part in rows)
        if quota <= 0:
            break
        rows.append(generator(seed, "pilot", number).permutation(group)[:quota])
        for covariance in dict.fromkeys(covariance for _, covariance in hopeful):
            names = tuple(distance for distance, other in hopeful if other == covariance)
            measured = measuring.measure(measuring.ruler(number, names, covariance), rows[-1])
            for distance, distances in measured.items():
                found[distance, covariance].append(distances)
        codes = measuring.codes[np.concatenate(rows)]
        order = generator(seed, "pilot order", number).permutation(codes.size)
        by_row = {}
        for pair in hopeful:
            distances = np.concatenate(found[pair])[order]
            temperature, mean, by_row[pair] = fit_temperature(distances, codes[order])
            right = float((distances.argmin(axis=1) == codes[order]).mean())
            table[pair] = (temperature, mean, right, codes.size)
        hopeful = _hopeful(by_row)
    tried = pd.DataFrame([(*pair, *figures) for pair, figures in table.items()], columns=TRIED)
    # Those given up earlier were measured on fewer rows, and stand behind.
    tried["left"] = [pair in hopeful for pair in table]
    tried = tried.sort_values(["left", "mean_complexity"], ascending=[False, True], ignore_index=True, kind="stable")
    best = tried.iloc[0]
    tried = tried.drop(columns="left")
    return str(best["distance"]), str(best["covariance"]), float(best["temperature"]), tried


def _hopeful(by_row: dict[tuple[str, str], Floats]) -> list[tuple[str, str]]:
    """Those that may still turn out best: not far behind on the rows so far."""
    if not next(iter(by_row.values())).size:  # no row so far has a class with other rows
        return list(by_row)
    best = min(by_row, key=lambda pair: float(by_row[pair].mean()))
    behind = {pair: values - by_row[best] for pair, values in by_row.items()}
    return [
        pair
        for pair, less in behind.items()
        if pair == best or less.size < LEAST or less.mean() <= GIVEN_UP * less.std() / np.sqrt(less.size)
    ]


def _detail(distances: tuple[str, ...], covariance: str) -> str:
    """How much of the scatter these distances need."""
    by_class = set(distances) & set(BY_CLASS)
    if by_class and covariance in ("auto", "full"):
        return "full"
    return "shared" if (by_class and covariance == "shared") or "whitened_cosine" in distances else "diagonal"
