"""Two records on the same items, with one list of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...arrays import AnyInts, Floats, Ints
from ...expect import InputError
from ..records.codecs import MISSING
from ..records.labelings import Labelings, expect_record
from ..stability.agreement import BLOCK, as_units

LEAST_SHARED = 0.5
"""Two records that share a smaller share of their items are refused: they are about different items."""


@dataclass(frozen=True)
class Matched:
    """The predictions of two versions on the same n items, (U, R, n) each: U fits, or training subsets, of R refits.

    `rows` are the places of these items in the first record.
    """

    names: tuple[str, str]
    old: AnyInts
    new: AnyInts
    truth: AnyInts
    classes: NDArray[Any]
    groups: AnyInts | None
    rows: Ints
    notes: tuple[str, ...]


def matched(old: Any, new: Any, names: tuple[str, str] = ("old", "new")) -> Matched:
    """Bring two records to the same items and the same codes; an error if they cannot be compared."""
    first, second = expect_record(old, names[0]), expect_record(new, names[1])
    notes: list[str] = []
    rows, others = _shared_items(first, second, notes)
    classes, codes, more_codes = _one_list(first.classes, second.classes)
    truth, same = codes[first.truth[rows]], more_codes[second.truth[others]]
    if (truth != same).any():
        raise InputError(
            f"The truth differs in {int((truth != same).sum())} of {truth.size} items between `{names[0]}` and "
            f"`{names[1]}`; expected predictions on the same items. Name the item column, so that they are matched."
        )
    groups = None if first.groups is None else first.groups[rows]
    labels = [
        own_codes[as_units(record.complete(pairs=False))[:, :, places]]
        for record, places, own_codes in ((first, rows, codes), (second, others, more_codes))
    ]
    called = [
        role if record.name in ("learner", "predictions") else record.name
        for record, role in zip((first, second), names)
    ]
    if called[0] == called[1]:
        called = [f"{called[0]} ({role})" for role in names]
    return Matched((called[0], called[1]), labels[0], labels[1], truth, classes, groups, rows, tuple(notes))


def _shared_items(first: Labelings, second: Labelings, notes: list[str]) -> tuple[Ints, Ints]:
    items = [record.about.get("items") for record in (first, second)]
    ids = [None if names is None else list(map(str, names)) for names in items]
    sizes = [record.truth.size for record in (first, second)]
    if ids[0] is None or ids[1] is None:
        if sizes[0] != sizes[1]:
            raise InputError(
                f"The records have {sizes[0]} and {sizes[1]} items; expected the same items in both. Make them with "
                "Labelings.from_frame(..., item='id'), so that items are matched by name."
            )
        return np.arange(sizes[0]), np.arange(sizes[0])
    if ids[0] == ids[1]:
        return np.arange(sizes[0]), np.arange(sizes[0])
    names = [pd.Index(ids[0]), pd.Index(ids[1])]
    others = names[1].get_indexer(names[0])
    rows = np.flatnonzero(others >= 0)
    if rows.size < LEAST_SHARED * min(sizes):
        raise InputError(
            f"Only {rows.size} items are in both records, of {sizes[0]} and {sizes[1]}. Are they about the same "
            "items, under the same names?"
        )
    if rows.size < max(sizes):
        notes.append(f"{rows.size:,} items are in both records and are compared, of {sizes[0]:,} and {sizes[1]:,}.")
    return rows, others[rows]


def _one_list(one: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], AnyInts, AnyInts]:
    """All classes, and the new codes of each record's own; the code −1 of a missing run stays."""
    if (one.dtype.kind == "U") != (other.dtype.kind == "U"):
        one, other = one.astype(str), other.astype(str)
    classes = np.union1d(one, other)
    kind = np.min_scalar_type(-max(classes.size, 1))
    maps = [np.append(np.searchsorted(classes, own), MISSING).astype(kind) for own in (one, other)]
    return classes, maps[0], maps[1]


# How often fits differ


def between(one: AnyInts, other: AnyInts, n_classes: int) -> Floats:
    """(U, n): how often a fit of each unit of one version differs from a fit of the other."""
    return np.asarray(1 - (_equal(one, other, n_classes) / (other.shape[0] * other.shape[1])).mean(axis=1))


def within(labels: AnyInts, n_classes: int) -> Floats:
    """(U, n): how often a fit of each unit differs from a fit of another unit of the same version."""
    units, refits, _ = labels.shape
    own = sum((labels == np.roll(labels, shift, axis=1)).astype(np.int64) for shift in range(refits))
    alike: Floats = (_equal(labels, labels, n_classes) - own) / ((units - 1) * refits)
    return np.asarray(1 - alike.mean(axis=1))


def _equal(own: AnyInts, others: AnyInts, n_classes: int) -> AnyInts:
    """(U, R, n): how many of the other fits predict the same as each of one's own."""
    points = own.shape[2]
    step = max(BLOCK // max(own.shape[0] * own.shape[1], others.shape[0] * others.shape[1], n_classes), 1)
    parts = []
    for start in range(0, points, step):
        block, other = own[:, :, start : start + step], others[:, :, start : start + step]
        base = np.arange(block.shape[2]) * n_classes
        parts.append(np.bincount((other + base).ravel(), minlength=block.shape[2] * n_classes)[block + base])
    return np.concatenate(parts, axis=-1)
