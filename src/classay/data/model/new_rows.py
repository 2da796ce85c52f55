"""New rows: which class they look like, and whether they are like anything in the data, at a rate of false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from ... import expect
from ...arrays import Floats, Ints
from ...inputs import aligned, class_labels, encode, matrix, take
from ...intervals import Estimate, exact, of_proportion
from ...result import Result
from ..geometry.cross_fit import row_complexities
from ..text import as_vectors

if TYPE_CHECKING:
    from ..row_complexity import Complexity

BY_OTHERS, WITH_ROW = "by the geometry of other rows", "with the row"
"""How rows may have been measured (`Complexity.measured`) so that new rows cannot be compared with them."""


def score(result: Complexity, X: Any, y: ArrayLike | None) -> pd.DataFrame:
    """New rows measured by the geometry of all rows: see `Complexity.score`."""
    table = matrix(aligned(as_vectors(X)[0], result.geometry.feature_names), "X", result.geometry.n_features)
    metric = result.evidence.whole_metric(result.distance, result.covariance)
    codes = np.full(table.shape[0], -1) if y is None else encode(class_labels(y, "y", table.shape[0]), result.classes)
    reference = np.sort(np.minimum(result.own_distance, result.nearest_distance)[result.known])
    tables = []
    step = max(1, 2**24 // result.classes.size)
    for start in range(0, table.shape[0], step):
        place = slice(start, start + step)
        distances = metric.measure(take(table, place), "X")[result.distance]
        best = distances.argmin(axis=1)
        at_best = row_complexities(distances, best, result.temperature)
        nearest = at_best.own
        figures = {
            "predicted": result.classes[best],
            "probability": np.exp(-at_best.values),
            "distance": nearest,
            "confidence": -nearest,
            "unusual": (1 + reference.size - np.searchsorted(reference, nearest, side="left")) / (1 + reference.size),
        }
        if y is not None:
            figures["complexity"] = row_complexities(distances, codes[place], result.temperature).values
        tables.append(pd.DataFrame(figures))
    frame = pd.concat(tables, ignore_index=True)
    frame.insert(0, "row", np.arange(len(frame)))
    return frame


@dataclass(frozen=True)
class UnlikeKnown(Result, unit="share of the rows"):
    """The result of `Complexity.unlike_known`.

    `unusual` is, for each new row, the share of known rows (and itself) that are at least as far from every class.
    `flagged` are the rows where it is at most `false_alarms`, the most unusual first; `share` of the rows they are, and
    `p_value` of as many among rows like the known ones: NaN if it is unknown, because rows come in groups. `known_rows`
    is the number of rows that they were compared with.
    """

    unusual: Floats
    distance: Floats
    predicted: Any
    flagged: Ints
    share: Estimate
    false_alarms: float
    p_value: float
    known_rows: int

    def summary(self) -> dict[str, Estimate]:
        """The share of flagged rows, and what is expected of rows of the same kind."""
        return {"flagged": self.share, "expected false alarms": exact(self.false_alarms)}

    def to_frame(self) -> pd.DataFrame:
        """One line per flagged row: row, the class it looks most like, its distance, and `unusual` as `value`."""
        return pd.DataFrame(
            {
                "row": self.flagged,
                "predicted": self.predicted[self.flagged],
                "distance": self.distance[self.flagged],
                "value": self.unusual[self.flagged],
            }
        )

    def __str__(self) -> str:
        rows, rate = self.unusual.size, f"{self.false_alarms:.3g}"
        if self.known_rows < _least_known(self.false_alarms):
            return (
                f"No row can be flagged at a rate of {rate}: {self.known_rows} known rows are too few, at least "
                f"{_least_known(self.false_alarms)} are needed. Add known rows, or raise the rate."
            )
        text = (
            f"{self.flagged.size} of {rows} rows are unlike the known rows of every class, where about "
            f"{self.false_alarms * rows:.0f} false alarms are expected among rows of the same kind "
            f"({self.false_alarms:.3g} of them)"
        )
        if math.isnan(self.p_value):
            return f"{text}. Whether that is more than chance gives is unknown, as rows come in groups."
        more = "more than chance gives" if self.p_value < 0.01 else "not significant at 1 %"
        return f"{text}: {more} with {self.known_rows} known rows (p = {self.p_value:.2g})."


def unlike_known(result: Complexity, X: Any, false_alarms: float) -> UnlikeKnown:
    """Rows that are unlike the known ones: see `Complexity.unlike_known`."""
    expect.fraction(false_alarms, "false_alarms")
    if result.measured == BY_OTHERS:
        raise expect.InputError(
            "This is the complexity of other rows than those of its geometry (`X_eval`); expected that of the known "
            "rows themselves. Call complexity(X, y) without X_eval."
        )
    if result.measured == WITH_ROW:
        raise expect.InputError(
            "This was measured with cross_fit=False: its rows are nearer to their own geometry than new rows, so too "
            "many would be flagged. Call complexity(X, y) with cross_fit=5."
        )
    table = score(result, X, None)
    unusual = table["unusual"].to_numpy(dtype=float)
    order = np.lexsort((-table["distance"].to_numpy(dtype=float), unusual))
    flagged = order[unusual[order] <= false_alarms + 1e-12]
    known = int(result.known.sum())
    return UnlikeKnown(
        unusual=unusual,
        distance=table["distance"].to_numpy(dtype=float),
        predicted=table["predicted"].to_numpy(),
        flagged=flagged,
        share=of_proportion(flagged.size, unusual.size),
        false_alarms=false_alarms,
        p_value=math.nan
        if result.evidence.row_groups is not None
        else _p_value(flagged.size, unusual.size, known, false_alarms),
        known_rows=known,
    )


def _p_value(alarms: int, rows: int, known: int, false_alarms: float) -> float:
    """P(at least so many alarms) among rows of the same kind, all compared with the same known rows.

    A row is flagged if it is beyond the a-th farthest known row, a = ⌊false_alarms · (known + 1)⌋. The share of the
    population beyond it is Beta(a, known + 1 − a) over data sets.
    """
    if alarms == 0:
        return 1.0
    beyond = math.floor(false_alarms * (known + 1) + 1e-9)
    return float(stats.betabinom.sf(alarms - 1, rows, beyond, known + 1 - beyond))


def _least_known(false_alarms: float) -> int:
    return math.ceil(1 / false_alarms - 1 - 1e-9)
