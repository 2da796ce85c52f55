"""What can be asked of complexities once rows are measured: pure functions of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..result import plain
from .distances import BEYOND, BY_CLASS, Ruler
from .rows import Ints, aligned, encode, finite, labels, matrix, take
from .temperature import standing

if TYPE_CHECKING:
    from .complexity import Complexity


def detail_for(distance: str, covariance: str) -> str:
    """How much of the scatter a distance needs; "auto": as much as is affordable."""
    if distance in ("euclidean", "cosine"):
        return "diagonal"
    if distance == "whitened_cosine":
        return "shared"
    if distance in BY_CLASS and covariance in ("shared", "diagonal"):
        return covariance
    return "auto"


def table(result: Complexity, rows: Ints) -> pd.DataFrame:
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


def nearest_probability(result: Complexity) -> NDArray[np.float64]:
    """Softmax of −δ/τ at the nearest other class."""
    ahead = (result.own_distance - result.nearest_distance) / result.temperature
    share: NDArray[np.float64] = np.exp(np.minimum(ahead - result.values, 0.0))
    return share


def suspected(result: Complexity) -> NDArray[np.bool_]:
    """Which rows `suspects` names."""
    codes = encode(result.labels, result.classes)
    there = (codes >= 0) & result.known
    size = result.classes.size
    rows = np.bincount(codes[there], minlength=size)
    own = np.bincount(codes[there], np.exp(-result.values[there]), minlength=size) / np.maximum(rows, 1)
    usual = np.where(rows > 0, own, np.inf)[encode(result.nearest, result.classes)]
    found: NDArray[np.bool_] = (
        there & (result.own_distance > result.nearest_distance) & (nearest_probability(result) >= usual)
    )
    return found


def explain(result: Complexity, rows: NDArray[Any], top: int | None) -> pd.DataFrame:
    """The contributions of features to the gap between the own class and the nearest other."""
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or not ((rows >= 0) & (rows < len(result))).all():
        raise expect.InputError(f"`rows` is {rows!r}; row numbers from 0 to {len(result) - 1} are expected.")
    if top is not None:
        expect.whole(top, "top", at_least=1)
    evidence, names = result.evidence, np.array([*result.geometry.feature_names, BEYOND])
    codes, rivals = encode(result.labels, result.classes), encode(result.nearest, result.classes)
    strange = rows[~result.known[rows]]
    if strange.size:
        raise expect.InputError(
            f"Rows {expect.shown(strange, 3)} cannot be explained: without them nothing tells of their class."
        )
    detail, parts = detail_for(result.distance, result.covariance), []
    for row in rows:
        geometry = evidence.geometry_without(int(row), "full" if detail == "auto" else detail)
        ruler = Ruler(geometry, (result.distance,), result.covariance)
        part = take(evidence.table, slice(row, row + 1))
        values = finite(part.toarray() if hasattr(part, "toarray") else part, evidence.name, int(row))
        shares = ruler.parts(values, codes[[row]], rivals[[row]])[0]
        order = np.argsort(-np.abs(shares), kind="stable")
        order = order[(order < values.shape[1]) | (shares[order] != 0)][:top]
        line = pd.DataFrame({"feature": names[order], "contribution": shares[order]})
        line.insert(0, "row", row)
        line["value"] = np.append(values[0], np.nan)[order]
        line["own_mean"] = np.append(geometry.means[codes[row]], np.nan)[order]
        line["nearest_mean"] = np.append(geometry.means[rivals[row]], np.nan)[order]
        line["gap"] = shares.sum()
        parts.append(line)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def score(result: Complexity, X: Any, y: ArrayLike | None) -> pd.DataFrame:
    """New rows measured by the geometry of all rows."""
    fresh = matrix(aligned(X, result.geometry.feature_names), "X", result.geometry.n_features)
    ruler = result.evidence.whole_ruler(result.distance, result.covariance)
    codes = np.full(fresh.shape[0], -1) if y is None else encode(labels(y, "y", fresh.shape[0]), result.classes)
    reference = np.sort(np.minimum(result.own_distance, result.nearest_distance)[result.known])
    parts = []
    step = max(1, 2**24 // result.classes.size)
    for start in range(0, fresh.shape[0], step):
        place = slice(start, start + step)
        distances = ruler.measure(take(fresh, place), "X")[result.distance]
        best = distances.argmin(axis=1)
        at_best = standing(distances, best, result.temperature)
        least = at_best.own
        found = {
            "predicted": result.classes[best],
            "probability": np.exp(-at_best.values),
            "distance": least,
            "confidence": -least,
            "unusual": (1 + reference.size - np.searchsorted(reference, least, side="left")) / (1 + reference.size),
        }
        if y is not None:
            found["complexity"] = standing(distances, codes[place], result.temperature).values
        parts.append(pd.DataFrame(found))
    frame = pd.concat(parts, ignore_index=True)
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


def plainly(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as JSON values."""
    return {name: plain(value) for name, value in fields.items()}
