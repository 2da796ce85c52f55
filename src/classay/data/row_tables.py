"""Tables made from a `Complexity`: its rows, what features add to their gaps, and its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..inputs import encode, finite, take
from .geometry.cross_fit import RowComplexities, detail_needed
from .geometry.distances import CLASS_OFFSET, DistanceMetric

if TYPE_CHECKING:
    from .geometry.moments import Geometry
    from .row_complexity import Complexity


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


def notes_on_unknown(geometry: Geometry, codes: Ints, labels: NDArray[Any], known: Mask) -> list[str]:
    """Notes on rows whose class has no geometry, and on classes that have a single row."""
    unseen = np.unique(labels[codes < 0])
    notes = []
    if unseen.size:
        notes.append(
            f"{int((codes < 0).sum())} rows have labels that are not in `y` ({expect.shown(unseen, 3)}); they count as "
            "wrong, and as far from their class as from the farthest."
        )
    unknown = np.unique(codes[(codes >= 0) & ~known])
    lone = np.flatnonzero(geometry.counts == 1)
    count_as_wrong = "Such rows count as wrong; their complexity is a convention and not among the hardest."
    for group, what in (
        (np.intersect1d(lone, unknown), f"a single row ({{}}): without it the class is unknown. {count_as_wrong}"),
        (
            np.setdiff1d(lone, unknown),
            "a single row ({}): a place without a spread of its own. What is near to it, or confused with it, rests on "
            "that row alone.",
        ),
        (
            np.setdiff1d(unknown, lone),
            f"all rows in one group ({{}}): without it the class is unknown. {count_as_wrong}",
        ),
    ):
        if group.size:
            named = what.format(expect.shown(geometry.classes[group], 3))
            notes.append(f"{group.size} {'class has' if group.size == 1 else 'classes have'} {named}")
    return notes


def class_table(classes: NDArray[Any], codes: Ints, measured: RowComplexities) -> pd.DataFrame:
    """One line per class. A class without a row that can be measured has no complexity.

    `confused_with` is what its rows are most often predicted as when that is wrong, with its share of the rows;
    `neighbour` is the class that is most often the nearest other one.
    """
    labelled, size = codes >= 0, classes.size
    known = labelled & measured.known
    rows, usable = (np.bincount(codes[mask], minlength=size) for mask in (labelled, known))
    wrong = labelled & (measured.predicted != codes)
    with np.errstate(invalid="ignore", divide="ignore"):  # a class without rows here has no mean
        mean = np.bincount(codes[known], measured.values[known], minlength=size) / usable
        recall = 1 - np.bincount(codes[wrong], minlength=size) / rows
    frame = pd.DataFrame({"class": classes, "rows": rows, "complexity": mean, "recall": recall})
    for name, mask, other in (
        ("confused_with", wrong, measured.predicted),
        ("neighbour", labelled, measured.rival),
    ):
        label, most, count = _most_frequent(codes[mask], other[mask], size)
        names, share = np.full(size, None, dtype=object), np.where(rows > 0, 0.0, np.nan)
        names[label] = [classes[code].item() for code in most]
        share[label] = count / rows[label]
        frame[name], frame["confused_share" if name == "confused_with" else "neighbour_share"] = names, share
    return frame


def _most_frequent(codes: Ints, others: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Classes, the other class that occurs most often with each, and how often."""
    pairs, counts = np.unique(codes * size + others, return_counts=True)
    # Sorted by class, then by count, the last of each class.
    order = np.lexsort((-pairs, counts, pairs // size))
    last = np.append(np.diff(pairs[order] // size) != 0, True)[: order.size]
    return (pairs[order] // size)[last], (pairs[order] % size)[last], counts[order][last]
