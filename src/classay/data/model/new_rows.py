"""New rows: which class they look like, and whether they are like anything in the data, at a rate of false alarms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse, stats

from ... import expect
from ...arrays import Floats, Ints
from ...inputs import aligned, class_labels, encode, is_sparse, matrix, take
from ...intervals import Estimate, exact, of_proportion
from ...seeds import generator
from ..checks.verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked
from ..geometry.covariance import Covariances
from ..geometry.cross_fit import row_complexities
from ..geometry.moments import Geometry
from ..text import as_vectors

if TYPE_CHECKING:
    from ..row_complexity import Complexity

BY_OTHERS, WITH_ROW = "by the geometry of other rows", "with the row"
"""How rows may have been measured (`Complexity.measured`) so that new rows cannot be compared with them."""
REFUSED = {
    BY_OTHERS: "This is the complexity of other rows than those of its geometry (`X_eval`); expected that of the known "
    "rows themselves. Call complexity(X, y) without X_eval.",
    WITH_ROW: "This was measured with cross_fit=False: its rows are nearer to their own geometry than new rows, so too "
    "many would be flagged. Call complexity(X, y) with cross_fit=5.",
}
MOST_KNOWN, MOST_COMPARED = 10_000, 4_000
"""Known rows that new ones are ranked among, and that are searched for the nearest; of more, a random sample."""
LEVEL, UNSURE = 0.01, 0.05
"""New rows are found to be unlike the known ones if so many alarms are rarer than this; it is undecided up to that."""


class KnownRows:
    """What new rows are compared with: how far known rows (a random sample of many) are from the others.

    Measures are the distance to the nearest class and, if rows are cross-fitted, to the k-th nearest row, k the number
    of folds: with columns as they are, and with the classes' covariance as the unit. Known rows are compared with the
    other folds, where the (k − 1)-th nearest row is about as far as the k-th of all, with which new ones are compared.
    """

    def __init__(self, result: Complexity) -> None:
        evidence = result.evidence
        rows = generator(0, "known rows").permutation(np.flatnonzero(result.known))[:MOST_KNOWN]
        measured = [np.minimum(result.own_distance, result.nearest_distance)[rows]]
        self.searches: list[Callable[[Any], Floats]] = []
        folds = np.zeros(rows.size) if evidence.folds is None else evidence.folds[rows]
        if np.unique(folds).size > 1:
            table, compared, k = take(evidence.table, rows), np.arange(rows.size) < MOST_COMPARED, len(evidence.groups)
            for white in (False, True)[: 1 + (evidence.geometry.detail != "diagonal" and not is_sparse(table))]:
                nearest = np.empty(rows.size)
                for fold in np.unique(folds):
                    others, geometry = take(table, compared & (folds != fold)), evidence.geometry_for(fold, "shared")
                    nearest[folds == fold] = _search(others, k - 1, geometry, white)(take(table, folds == fold))
                measured.append(nearest)
                self.searches.append(_search(take(table, compared), k, evidence.geometry, white))
        self.measured: Floats = np.sort(measured, axis=1)
        self.ranks = np.array([rows.size - np.searchsorted(kind, of) for kind, of in zip(self.measured, measured)])
        groups = np.arange(rows.size) if evidence.row_groups is None else evidence.row_groups[rows]
        _, place, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        self.weights, self.groups, self.size = 1 / sizes[place], int(sizes.size), int(rows.size)

    def unusual(self, X: Any, distance: Floats) -> Floats:
        """The conformal p-value of rows, with their distances to the nearest class.

        The measure by which a row is most unusual counts: its rank there, ranked among those of known rows. These count
        as a share of their group (Lee, Barber & Willett, 2023).
        """
        measured = [distance, *(search(X) for search in self.searches)]
        ranks = np.array([1 + self.size - np.searchsorted(*both) for both in zip(self.measured, measured)])
        least, p_values = ranks.min(axis=0), np.empty(distance.size)
        for case in np.unique(ranks == least, axis=1).T:
            # The new row itself is before known rows that are less unusual by this measure.
            at, known = (case == (ranks == least).T).all(axis=1), (self.ranks + case[:, None]).min(axis=0)
            order = np.argsort(known)
            weight = np.append(0.0, np.cumsum(self.weights[order]))
            p_values[at] = (1 + weight[np.searchsorted(known[order], least[at], side="right")]) / (1 + self.groups)
        return p_values


def _search(rows: Any, k: int, geometry: Geometry, white: bool) -> Callable[[Any], Floats]:
    """A function: of any rows, the distance to the k-th nearest of these."""
    from sklearn.neighbors import NearestNeighbors

    covariances = Covariances(geometry, "shared") if white else None
    whitener = covariances.shared().whitener if covariances else None

    def points(X: Any) -> Any:
        X = X if is_sparse(X) else np.asarray(X, dtype=float) - geometry.mean
        return X[:, covariances.columns] @ whitener if covariances else X

    nearest = NearestNeighbors(n_neighbors=min(k, rows.shape[0])).fit(points(rows))
    return lambda X: np.asarray(nearest.kneighbors(points(X))[0][:, -1])


def score(result: Complexity, known: KnownRows, X: Any, y: ArrayLike | None) -> pd.DataFrame:
    """New rows measured by the geometry of all rows: see `Complexity.score`."""
    table = matrix(aligned(as_vectors(X)[0], result.geometry.feature_names), "X", result.geometry.n_features)
    if is_sparse(table) != is_sparse(result.evidence.table):
        table = table.toarray() if is_sparse(table) else sparse.csr_array(table)
    metric = result.evidence.whole_metric(result.distance, result.covariance)
    codes = np.full(table.shape[0], -1) if y is None else encode(class_labels(y, "y", table.shape[0]), result.classes)
    tables = []
    step = max(1, 2**24 // max(result.classes.size, table.shape[1]))
    for start in range(0, table.shape[0], step):
        place = slice(start, start + step)
        distances = metric.measure(take(table, place), "X")[result.distance]
        best = distances.argmin(axis=1)
        at_best = row_complexities(distances, best, result.temperature)
        figures = {
            "predicted": result.classes[best],
            "probability": np.exp(-at_best.values),
            "distance": at_best.own,
            "confidence": -at_best.own,
            "unusual": known.unusual(take(table, place), at_best.own),
        }
        if y is not None:
            figures["complexity"] = row_complexities(distances, codes[place], result.temperature).values
        tables.append(pd.DataFrame(figures))
    frame = pd.concat(tables, ignore_index=True)
    frame.insert(0, "row", np.arange(len(frame)))
    return frame


@dataclass(frozen=True)
class UnlikeKnown(Check, unit="share of the rows"):
    """The result of `Complexity.unlike_known`.

    `unusual` is, for each new row, the share of known rows (and itself) at least as far away. `flagged` are the rows
    where it is at most `false_alarms`, the most unusual first; `share` of the rows they are. `p_value` is that of
    as many among rows like the known ones; with groups, of a mean of `unusual` as low, whichever rows belong together.
    `known_rows` and `known_groups` (None without groups) is with how many they were compared.
    """

    unusual: Floats
    distance: Floats
    predicted: Any
    flagged: Ints
    share: Estimate
    false_alarms: float
    p_value: float
    known_rows: int
    known_groups: int | None = None

    actions: ClassVar[dict[str, str]] = Check.actions | {
        FOUND: "Look at the flagged rows first: predictions for them are guesses. Label some if they will recur.",
        UNDECIDED: "Add rows, known or new, and look at those that are flagged.",
        NOTHING: "Nothing needs to be done, but for a look at flagged rows.",
    }

    def summary(self) -> dict[str, Estimate]:
        """The share of flagged rows, and what is expected of rows of the same kind."""
        return {"flagged": self.share, "expected false alarms": exact(self.false_alarms)}

    def looked_at(self) -> tuple[Looked, ...]:
        """The new rows: found if p < .01, undecided if p < .05, no row can be flagged, or, of groups, many may be."""
        unsure = self.p_value < UNSURE if self.known_groups is None else self.share.high > 2 * self.false_alarms
        verdict = FOUND if self.p_value < LEVEL else UNDECIDED if unsure else NOTHING
        return (Looked("new rows", UNDECIDED if self._too_few else verdict, self.summary()),)

    @property
    def _too_few(self) -> bool:
        return (self.known_groups or self.known_rows) < _least_known(self.false_alarms)

    def to_frame(self) -> pd.DataFrame:
        """One line per flagged row: row, the class it looks most like, its distance, and `unusual` as `value`."""
        columns = {"predicted": self.predicted, "distance": self.distance, "value": self.unusual}
        return pd.DataFrame({"row": self.flagged, **{name: part[self.flagged] for name, part in columns.items()}})

    def __str__(self) -> str:
        known = f"{self.known_groups or self.known_rows} known {'rows' if self.known_groups is None else 'groups'}"
        if self._too_few:
            return (
                f"Undecided: no row can be flagged at a rate of {self.false_alarms:.3g}. {known} are too few, at least "
                f"{_least_known(self.false_alarms)} are needed. Add known rows, or raise the rate."
            )
        verdict = {FOUND: "Found rows unlike the known ones", NOTHING: "No sign of rows unlike the known ones"}
        unsure = f"below {UNSURE:g}" if self.known_groups is None else "if twice as many may be, as rows are in groups"
        return (
            f"{verdict.get(self.verdict, 'Undecided')}: {self.flagged.size} of {self.unusual.size} rows are farther "
            f"from every class, or from all rows, than {1 - self.false_alarms:.3g} of {known}; about "
            f"{self.false_alarms * self.unusual.size:.0f} false alarms are expected among rows of the same kind "
            f"(p = {self.p_value:.2g}; found below {LEVEL:g}, undecided {unsure}). {self.advice}"
        )


def unlike_known(result: Complexity, known: KnownRows, X: Any, false_alarms: float) -> UnlikeKnown:
    """Rows that are unlike the known ones: see `Complexity.unlike_known`."""
    expect.fraction(false_alarms, "false_alarms")
    if result.measured in REFUSED:
        raise expect.InputError(REFUSED[result.measured])
    table = score(result, known, X, None)
    unusual, distance = (table[name].to_numpy(dtype=float) for name in ("unusual", "distance"))
    order = np.lexsort((-distance, unusual))
    flagged = order[unusual[order] <= false_alarms + 1e-12]
    grouped = result.evidence.row_groups is not None
    # Twice the mean of p-values is one, however they depend on each other (Vovk & Wang, 2020).
    p_value = 2 * float(unusual.mean())
    if not grouped:
        # Many that are a little unusual, or few as far away as can be: the smaller p-value, times two.
        rates = false_alarms, 1 / (known.size + 1)
        alarms = ((int((unusual <= rate + 1e-12).sum()), rate) for rate in rates)
        p_value = 2 * min(_p_value(count, unusual.size, known.size, rate) for count, rate in alarms)
    return UnlikeKnown(
        unusual=unusual,
        distance=distance,
        predicted=table["predicted"].to_numpy(),
        flagged=flagged,
        share=of_proportion(flagged.size, unusual.size),
        false_alarms=false_alarms,
        p_value=min(p_value, 1.0),
        known_rows=known.size,
        known_groups=known.groups if grouped else None,
    )


def _p_value(alarms: int, rows: int, known: int, false_alarms: float) -> float:
    """P(at least so many alarms) among rows of the same kind, all compared with the same known rows.

    A row is flagged if it is beyond the a-th farthest known row, a = ⌊false_alarms · (known + 1)⌋. The share of the
    population beyond it is Beta(a, known + 1 − a) over data sets.
    """
    beyond = math.floor(false_alarms * (known + 1) + 1e-9)
    if alarms == 0 or beyond == 0:
        return 1.0
    return float(stats.betabinom.pmf(np.arange(alarms, rows + 1), rows, beyond, known + 1 - beyond).sum())


def _least_known(false_alarms: float) -> int:
    return math.ceil(1 / false_alarms - 1 - 1e-9)
