"""Tables made from a `Complexity`: its rows, suspects, what features add, new rows, and classes that look alike.

Pure functions of the result; its methods of the same names have the documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..inputs import aligned, class_labels, encode, finite, matrix, take
from .cross_fit import RowComplexities, detail_needed, row_complexities
from .distances import CLASS_OFFSET, DistanceMetric
from .text import as_vectors

if TYPE_CHECKING:
    from .complexity import Complexity
    from .geometry import Geometry


def row_table(result: Complexity, rows: Ints) -> pd.DataFrame:
    """Rows of the result, one line each."""
    return pd.DataFrame(
        {
            "row": rows,
            "label": result.labels[rows],
            "predicted": result.predicted[rows],
            "nearest": result.nearest[rows],
            "complexity": result.values[rows],
            "own_distance": result.own_distance[rows],
            "nearest_distance": result.nearest_distance[rows],
            "gap": result.own_distance[rows] - result.nearest_distance[rows],
            "nearest_probability": nearest_probability(result)[rows],
        }
    )


def nearest_probability(result: Complexity) -> Floats:
    """Softmax of −δ/τ at the nearest other class."""
    ahead = (result.own_distance - result.nearest_distance) / result.temperature
    share: Floats = np.exp(np.minimum(ahead - result.values, 0.0))
    return share


def suspected(result: Complexity) -> Mask:
    """Which rows `suspects` lists."""
    codes = encode(result.labels, result.classes)
    known = (codes >= 0) & result.known
    size = result.classes.size
    rows = np.bincount(codes[known], minlength=size)
    own = np.bincount(codes[known], np.exp(-result.values[known]), minlength=size) / np.maximum(rows, 1)
    typical = np.where(rows > 0, own, np.inf)[encode(result.nearest, result.classes)]
    suspects: Mask = known & (result.own_distance > result.nearest_distance) & (nearest_probability(result) >= typical)
    return suspects


def explain(result: Complexity, rows: NDArray[Any], top: int | None) -> pd.DataFrame:
    """The contributions of features to the gap between the own class and the nearest other."""
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not ((rows >= 0) & (rows < len(result))).all():
        raise expect.InputError(f"`rows` is {rows!r}; expected row numbers from 0 to {len(result) - 1}.")
    if top is not None:
        expect.whole(top, "top", at_least=1)
    evidence, names = result.evidence, np.array([*result.geometry.feature_names, CLASS_OFFSET])
    codes, rivals = encode(result.labels, result.classes), encode(result.nearest, result.classes)
    unknown = rows[~result.known[rows]]
    if unknown.size:
        raise expect.InputError(
            f"Rows {expect.shown(unknown, 3)} cannot be explained: they are the only rows of their class."
        )
    detail, tables = detail_needed((result.distance,), result.covariance), []
    for row in rows:
        geometry = evidence.geometry_without(int(row), detail)
        metric = DistanceMetric(geometry, (result.distance,), result.covariance)
        part = take(evidence.table, slice(row, row + 1))
        values = finite(part.toarray() if hasattr(part, "toarray") else part, evidence.name, int(row))
        contributions = metric.contributions(values, codes[[row]], rivals[[row]])[0]
        order = np.argsort(-np.abs(contributions), kind="stable")
        order = order[(order < values.shape[1]) | (contributions[order] != 0)][:top]
        table = pd.DataFrame({"feature": names[order], "contribution": contributions[order]})
        table.insert(0, "row", row)
        table["value"] = np.append(values[0], np.nan)[order]
        table["own_mean"] = np.append(geometry.means[codes[row]], np.nan)[order]
        table["nearest_mean"] = np.append(geometry.means[rivals[row]], np.nan)[order]
        table["gap"] = contributions.sum()
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def score(result: Complexity, X: Any, y: ArrayLike | None) -> pd.DataFrame:
    """New rows measured by the geometry of all rows."""
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


def confusion(result: Complexity) -> pd.DataFrame:
    """How many rows of one class are nearest to which other."""
    frame = pd.DataFrame({"label": result.labels, "nearest": result.nearest})
    frame["nearer"] = result.own_distance > result.nearest_distance
    counted = frame.groupby(["label", "nearest"], sort=True)["nearer"].agg(["size", "sum"]).reset_index()
    counted = counted.rename(columns={"size": "rows", "sum": "nearer"})
    counted["share"] = counted["rows"] / counted.groupby("label")["rows"].transform("sum")
    return counted.astype({"nearer": int})


def notes_on_unknown(geometry: Geometry, codes: Ints, labels: NDArray[Any], known: Mask) -> list[str]:
    """Notes on rows whose class has no geometry."""
    if known.all():
        return []
    unseen = np.unique(labels[codes < 0])
    notes = []
    if unseen.size:
        notes.append(
            f"{int((codes < 0).sum())} rows have labels that are not in `y` ({expect.shown(unseen, 3)}); they count as "
            "wrong, and as far from their class as from the farthest."
        )
    lone = np.unique(codes[(codes >= 0) & ~known])
    if lone.size:
        notes.append(
            f"{lone.size} classes have a single row ({expect.shown(geometry.classes[lone], 3)}): without it the class "
            "is unknown. Such rows count as wrong, and as far from their class as from the farthest."
        )
    return notes


def class_table(classes: NDArray[Any], codes: Ints, measured: RowComplexities) -> pd.DataFrame:
    """One line per class."""
    known = codes >= 0
    size = classes.size
    rows = np.bincount(codes[known], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):  # a class without rows here has no mean
        mean = np.bincount(codes[known], measured.values[known], minlength=size) / rows
        recall = np.bincount(codes[known], (measured.predicted == codes)[known], minlength=size) / rows
        pairs, counts = np.unique(codes[known] * size + measured.rival[known], return_counts=True)
        # The most frequent rival of each class: sorted by class, then by count, the last of each.
        order = np.lexsort((-pairs, counts, pairs // size))
        last = np.append(np.diff(pairs[order] // size) != 0, True)
        label, rival, count = (pairs[order] // size)[last], (pairs[order] % size)[last], counts[order][last]
        share = np.full(size, np.nan)
        share[label] = count / rows[label]
    frame = pd.DataFrame({"class": classes, "rows": rows, "complexity": mean, "recall": recall})
    nearest = np.full(size, None, dtype=object)
    nearest[label] = [classes[code].item() for code in rival]
    frame["nearest_other"], frame["nearest_share"] = nearest, share
    return frame
