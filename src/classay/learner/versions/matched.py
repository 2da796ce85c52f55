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
class Version:
    """The predictions of one version: (U, R, n), U units (fits, or training subsets) of R refits each."""

    name: str
    labels: AnyInts

    @property
    def units(self) -> int:
        """Number of independent fits."""
        return len(self.labels)

    def right(self, truth: AnyInts) -> Floats:
        """(U, n): share of the refits of each unit that are right."""
        right: Floats = (self.labels == truth).mean(axis=1)
        return right


@dataclass(frozen=True)
class Matched:
    """Two versions on the same n items. `rows` are the places of these items in the first record."""

    old: Version
    new: Version
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
    versions = []
    for record, places, new_codes, role in ((first, rows, codes, names[0]), (second, others, more_codes, names[1])):
        labels = as_units(record.complete(pairs=False))[:, :, places]
        name = role if record.name in ("learner", "predictions") else record.name
        versions.append(Version(name, new_codes[labels]))
    if versions[0].name == versions[1].name:
        versions = [Version(f"{each.name} ({role})", each.labels) for each, role in zip(versions, names)]
    return Matched(versions[0], versions[1], truth, classes, groups, rows, tuple(notes))


def _shared_items(first: Labelings, second: Labelings, notes: list[str]) -> tuple[Ints, Ints]:
    ids = [record.about.get("items") for record in (first, second)]
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
    names = [pd.Index(list(ids[0])), pd.Index(list(ids[1]))]
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


def between(one: Version, other: Version, n_classes: int) -> tuple[Floats, Floats]:
    """How often a fit of each unit of `one` differs from a fit of the other, (U, n), and the same for the other."""
    return _differing(one.labels, other.labels, n_classes), _differing(other.labels, one.labels, n_classes)


def within(version: Version, n_classes: int) -> Floats:
    """(U, n): how often a fit of each unit differs from a fit of another unit of the same version."""
    labels = version.labels
    units, refits, _ = labels.shape
    own = np.zeros(labels.shape, dtype=np.int64)
    for shift in range(refits):
        own += labels == np.roll(labels, shift, axis=1)
    equal = (1 - _differing(labels, labels, n_classes, by_refit=True)) * (units * refits)
    alike: Floats = (equal - own) / ((units - 1) * refits)
    differing: Floats = 1 - alike.mean(axis=1)
    return differing


def _differing(own: AnyInts, others: AnyInts, n_classes: int, by_refit: bool = False) -> Floats:
    """Mean over all fits of the others of [they differ], for each unit (or each refit) of one's own."""
    points = own.shape[2]
    step = max(BLOCK // max(own.shape[0] * own.shape[1], others.shape[0] * others.shape[1], n_classes), 1)
    parts = []
    for start in range(0, points, step):
        block, other = own[:, :, start : start + step], others[:, :, start : start + step]
        base = np.arange(block.shape[2]) * n_classes
        counts = np.bincount((other + base).ravel(), minlength=block.shape[2] * n_classes)
        share = counts[block + base] / (other.shape[0] * other.shape[1])
        parts.append(1 - (share if by_refit else share.mean(axis=1)))
    return np.concatenate(parts, axis=-1)
