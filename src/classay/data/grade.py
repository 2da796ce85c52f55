"""The work behind `complexity`: choose distance and temperature, measure every row, sum up by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..expect import shown
from ..intervals import Estimate, of_proportion
from ..seeds import generator
from .crossfit import TRIED, Measuring, assign_folds, candidates, choose
from .geometry import Geometry
from .rows import Floats, Ints
from .temperature import Standing, standing

KEEP = 5 * 10**7
"""All distances are kept up to so many (400 MB)."""
AT_ONCE = 5 * 10**6
RESUBSTITUTED = 5000
"""Accuracy on the rows that made the geometry is measured on so many of them."""


def grade(
    geometry: Geometry,
    table: Any,
    codes: Ints | None,
    eval_table: Any,
    eval_codes: Ints,
    eval_labels: NDArray[Any],
    distance: str,
    covariance: str,
    temperature: float | None,
    folds: int,
    seed: int,
    level: float,
) -> dict[str, Any]:
    """Every field of the result."""
    notes: list[str] = []
    others = table is not eval_table
    own = None
    if table is not None and codes is not None:
        split = assign_folds(codes, folds, seed) if folds > 1 else None
        own = Measuring(geometry, table, codes, folds=split, alone=folds == 1)
    measuring = Measuring(geometry, eval_table, eval_codes, name="X_eval") if others or own is None else own
    pilot = own or measuring
    tried = pd.DataFrame(columns=TRIED)
    if distance == "auto" or temperature is None:
        pairs = [(distance, covariance)]
        if distance == "auto":
            pairs, said = candidates(geometry, eval_codes.size, covariance, alone=folds == 1 and own is not None)
            notes += said
        distance, covariance, fitted, tried = choose(pilot, pairs, seed)
        temperature = fitted if temperature is None else temperature
        if own is None:
            notes.append(
                "Distance and temperature were fitted on the rows that are measured: only a geometry was given."
            )
        elif folds == 0 and not others:
            notes.append("Distance and temperature were fitted on rows that count in their own geometry.")
    where, distances, said = _measure(measuring, distance, covariance, temperature)
    notes += said
    kind = (
        "without the row's fold of " + str(folds) if folds > 1 else "without the row" if folds == 1 else "with the row"
    )
    by_class = _by_class(geometry.classes, eval_codes, where)
    right = where.predicted == eval_codes
    baseline = of_proportion(int(right.sum()), right.size, level)
    notes += _unknown(geometry, eval_codes, eval_labels, where.known, others)
    counts = geometry.counts[geometry.counts > 0]
    share = counts / counts.sum()
    return {
        "values": where.values,
        "labels": eval_labels,
        "predicted": geometry.classes[where.predicted],
        "nearest": geometry.classes[where.rival],
        "own_distance": where.own,
        "nearest_distance": where.rival_distance,
        "known": where.known,
        "distances": distances,
        "classes": geometry.classes,
        "by_class": by_class,
        "baseline_accuracy": baseline,
        "resubstitution_accuracy": _resubstitution(own, others, folds, distance, covariance, seed, level, baseline),
        "normalised_entropy": float(-(share * np.log(share)).sum() / np.log(share.size)) if share.size > 1 else 0.0,
        "median_class_size": float(np.median(counts)),
        "distance": distance,
        "covariance": covariance,
        "temperature": float(temperature),
        "measured": "by the geometry of other rows" if others or own is None else kind,
        "tried": tried,
        "notes": tuple(dict.fromkeys(notes)),
        "evidence": measuring,
    }


def _measure(
    measuring: Measuring, distance: str, covariance: str, temperature: float
) -> tuple[Standing, Floats | None, list[str]]:
    """Where every row stands, all distances if they can be kept, and what has to be said."""
    n, c = measuring.codes.size, measuring.geometry.classes.size
    parts: list[tuple[Ints, Standing]] = []
    kept = np.empty((n, c)) if n * c <= KEEP else None
    notes = [] if kept is not None else [f"{n} x {c} distances are too many to keep; `distances` is None."]
    step, zeros = max(1, AT_ONCE // c), 0
    for number, group in enumerate(measuring.groups):
        ruler = measuring.ruler(number, (distance,), covariance)
        for start in range(0, group.size, step):
            rows = group[start : start + step]
            distances = measuring.measure(ruler, rows)[distance]
            parts.append((rows, standing(distances, measuring.codes[rows], temperature)))
            if kept is not None:
                kept[rows] = distances
        zeros += ruler.zeros
        if number == 0:  # the other folds are of a kind
            notes += ruler.notes()
    if zeros:
        notes.append(f"{zeros} rows are zero vectors, which have no direction: cosine distance 1 to every class.")
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))
    names = Standing.__dataclass_fields__
    joined = {name: np.concatenate([getattr(part, name) for _, part in parts])[order] for name in names}
    return Standing(**joined), kept, notes


def _resubstitution(
    own: Measuring | None,
    others: bool,
    folds: int,
    distance: str,
    covariance: str,
    seed: int,
    level: float,
    baseline: Estimate,
) -> Estimate:
    """Accuracy of the baseline on the rows that made the geometry, or on a sample of them."""
    if own is None:
        return Estimate(np.nan, 0.0, 1.0, level, "unknown: only a geometry was given")
    if folds == 0 and not others:
        return baseline
    most = min(RESUBSTITUTED, max(AT_ONCE // own.geometry.classes.size, 500))
    rows = np.sort(generator(seed, "resubstitution").permutation(own.codes.size)[:most])
    distances = own.whole_ruler(distance, covariance).measure(own.table[rows])[distance]
    return of_proportion(int((distances.argmin(axis=1) == own.codes[rows]).sum()), rows.size, level)


def _by_class(classes: NDArray[Any], codes: Ints, where: Standing) -> pd.DataFrame:
    """One line a class."""
    there = codes >= 0
    size = classes.size
    rows = np.bincount(codes[there], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):  # a class without rows here has no mean
        mean = np.bincount(codes[there], where.values[there], minlength=size) / rows
        recall = np.bincount(codes[there], (where.predicted == codes)[there], minlength=size) / rows
        pairs, counts = np.unique(codes[there] * size + where.rival[there], return_counts=True)
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


def _unknown(
    geometry: Geometry, codes: Ints, labels: NDArray[Any], known: NDArray[np.bool_], others: bool
) -> list[str]:
    """What has to be said of rows whose class has no geometry."""
    if known.all():
        return []
    unseen = np.unique(labels[codes < 0])
    notes = []
    if unseen.size:
        notes.append(
            f"{int((codes < 0).sum())} rows have labels that `y` has not ({shown(unseen, 3)}); they count as wrong, "
            "and as far from their class as from the farthest."
        )
    lone = np.unique(codes[(codes >= 0) & ~known])
    if lone.size:
        notes.append(
            f"{lone.size} classes have a single row ({shown(geometry.classes[lone], 3)}): without it nothing tells of "
            "the class. Such rows count as wrong, and as far from their class as from the farthest."
        )
    return notes
