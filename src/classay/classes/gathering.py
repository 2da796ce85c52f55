"""Scores to counts, chunk by chunk: which rows are kept in detail, and in which groups the classes fall."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import seeds
from ..expect import InputError
from .counting import RowCounter, blocks
from .grouped import GroupCounter, earlier
from .labels import columns_of, table_of

Ints = NDArray[np.integer]
Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

MOST_GROUPS = 40
DETAIL_ROWS = 20_000
"""Counts by group are kept of about so many rows: the first few of every class, so that memory does not grow."""
COARSE = 0.2
"""Mean share of classes that tie with the true one, in rows that are not won outright, that makes the curve coarse."""


def gather(chunks: Iterable[tuple[Any, ArrayLike]], names: NDArray[Any], kernel: bool) -> Arrays:
    """The arrays of a record, from chunks (scores, y) that are read once and forgotten."""
    group, most = groups(names.size), rows_in_detail(names.size)
    by_row, by_group = RowCounter(names.size), GroupCounter(group, kernel)
    seen = np.zeros(names.size, dtype=np.int64)
    begin = 0
    parts: list[Arrays] = []
    for scores, y in chunks:
        table = table_of(scores, names.size)
        truth = columns_of(y, names, table.shape[0])
        in_detail = seen[truth] + earlier(truth) < most
        seen += np.bincount(truth, minlength=names.size)
        counted: list[Arrays] = []
        for part, block in blocks(table):
            kept = np.flatnonzero(in_detail[part])
            counted.append(
                {"truth": truth[part], "detail": begin + part.start + kept}
                | by_row.count(block, truth[part], begin + part.start)
                | by_group.count(block[kept], truth[part][kept])
            )
        begin += truth.size
        # Together at once: many small arrays would take more memory than what is in them.
        parts += [joined(counted)] if counted else []
    if begin == 0:
        raise InputError("There are no test rows; at least one row of scores is expected.")
    return {"group": group} | joined(parts)


def joined(parts: list[Arrays]) -> Arrays:
    """Arrays of the same names, end to end."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def groups(n_classes: int, most: int = MOST_GROUPS) -> Ints:
    """The group of each class: sizes as equal as can be, drawn at random and not by column, the same for each K."""
    order = seeds.generator(0, "groups of classes", n_classes).permutation(n_classes)
    group = np.empty(n_classes, dtype=np.int32)
    group[order] = np.arange(n_classes) * min(n_classes, most) // n_classes
    return group


def rows_in_detail(n_classes: int) -> int:
    """Of how many rows of each class the counts are kept by group."""
    return max(2, DETAIL_ROWS // n_classes)


def class_weights(truth: Ints, n_classes: int) -> Floats:
    """Weights of rows that give every class with rows the same say, and sum to 1."""
    sizes = np.bincount(truth, minlength=n_classes)
    weights: Floats = 1.0 / (np.count_nonzero(sizes) * sizes[truth])
    return weights


def remarks(truth: Ints, lower: Ints, tied: Ints, z: Floats, n_classes: int) -> tuple[str, ...]:
    """What to bear in mind of such counts."""
    found = list(without_rows(truth, n_classes))
    lost = tied[lower < n_classes - 1]
    if lost.size >= 0.01 * tied.size and lost.mean() > COARSE * (n_classes - 1):
        found.append(
            f"Where the true class does not win outright it ties, on average, with {lost.mean():.3g} of "
            f"{n_classes - 1} others, so the curve is coarse: pass scores that were not rounded, such as "
            "log-probabilities."
        )
    unknown = int(np.isnan(z).sum()) if n_classes > 2 else 0
    if unknown:
        found.append(
            f"In {unknown} of {z.size} rows a score is −inf or the other classes score alike: their ranks count, but "
            "how far the true class stands out (z) is unknown."
        )
    return tuple(found)


def without_rows(truth: Ints, n_classes: int) -> tuple[str, ...]:
    """Classes that compete and are never true."""
    empty = n_classes - np.unique(truth).size
    text = f"Without test rows: {empty} of {n_classes} classes; they compete, but the mean is over the other classes."
    return (text,) if empty else ()
