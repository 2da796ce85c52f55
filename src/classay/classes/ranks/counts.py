"""How the true class ranked against the others: counts and z from one read of the scores, without sorting.

Rows are processed in blocks small enough for the cache, and everything is counted while a block is there. A comparison
gives one byte per score; eight of them are added as one word, up to 255 words before a byte could overflow. Array
functions only: `truth` has column numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import seeds
from ...arrays import AnyInts, Floats
from ...expect import InputError
from ...inputs import columns_of, table_of
from ...notes import Note

BLOCK = 160_000  # scores that are processed together: 0.6 MB in single precision
MOST_WORDS = 255
FEW = 16
MOST_GROUPS = 40
DETAIL_ROWS = 20_000
"""Counts by group are stored for about this many rows: the first few of every class, so that memory does not grow."""
COARSE = 0.2
"""Mean share of classes that tie with the true one, in rows that are not won outright, that makes the curve coarse."""
IN_DETAIL = ("lower_in", "tied_in", "sum_in", "square_in")
"""Arrays by group, of the rows in detail."""
Arrays = dict[str, NDArray[Any]]


def count_chunks(chunks: Iterable[tuple[Any, ArrayLike]], names: NDArray[Any]) -> Arrays:
    """The arrays of a record, from chunks (scores, y) that are read once and discarded."""
    group, most = class_groups(names.size), max(2, DETAIL_ROWS // names.size)
    by_row, by_group = RowCounter(names.size), GroupCounter(group)
    rows_of_class = np.zeros(names.size, dtype=np.int64)
    begin = 0
    parts: list[Arrays] = []
    for scores, y in chunks:
        table = table_of(scores, names.size)
        truth = columns_of(y, names, table.shape[0])
        in_detail = rows_of_class[truth] + cumulative_count(truth) < most
        rows_of_class += np.bincount(truth, minlength=names.size)
        counted: list[Arrays] = []
        for part, block in blocks(table):
            detailed = np.flatnonzero(in_detail[part])
            counted.append(
                {"truth": truth[part], "detail": begin + part.start + detailed}
                | by_row.count(block, truth[part], begin + part.start)
                | by_group.count(block[detailed], truth[part][detailed])
            )
        begin += truth.size
        # Joined at once: many small arrays would take more memory than their content.
        parts += [concatenated(counted)] if counted else []
    if begin == 0:
        raise InputError("There are no test rows; expected at least one row of scores.")
    return {"group": group} | by_column(concatenated(parts))


def blocks(scores: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Blocks of rows that are contiguous in memory, with their positions; half precision becomes single."""
    step = max(1, BLOCK // scores.shape[1])
    for start in range(0, scores.shape[0], step):
        part = slice(start, min(start + step, scores.shape[0]))
        block = np.asarray(scores[part])
        yield part, np.ascontiguousarray(block, dtype=np.float32 if block.dtype == np.float16 else None)


def concatenated(parts: list[Arrays]) -> Arrays:
    """Arrays of the same names, end to end."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def by_column(arrays: Arrays) -> Arrays:
    """The same arrays; groups are left out one at a time, so the values of one group are stored together."""
    return arrays | {name: np.asfortranarray(arrays[name]) for name in IN_DETAIL}


def class_groups(n_classes: int, most: int = MOST_GROUPS) -> AnyInts:
    """The group of each class: sizes as equal as possible, drawn at random and not by column, the same for each K."""
    order = seeds.generator(0, "groups of classes", n_classes).permutation(n_classes)
    group = np.empty(n_classes, dtype=np.int32)
    group[order] = np.arange(n_classes) * min(n_classes, most) // n_classes
    return group


def cumulative_count(values: AnyInts) -> AnyInts:
    """For each place, how many places before it have the same value.

    >>> cumulative_count(np.array([3, 0, 3, 3, 0]))
    array([0, 0, 1, 2, 1])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    before = np.empty(values.size, dtype=np.int64)
    before[order] = np.arange(values.size) - np.searchsorted(ordered, ordered)
    return before


# Counts against all classes.


class RowCounter:
    """Counts rows of scores against their true class.

    >>> RowCounter(4).count(np.array([[1.0, 5, 3, 3]]), np.array([2]))
    {'lower': array([1], dtype=int32), 'tied': array([1], dtype=int32), 'z': array([0.])}
    """

    def __init__(self, n_classes: int, statistics: bool = True) -> None:
        """Without `statistics`, z is NaN, and NaN and infinite scores are not checked."""
        self.others, self.statistics = n_classes - 1, statistics
        self.comparisons = ComparisonCounter(n_classes)

    def count(self, block: NDArray[Any], truth: AnyInts, begin: int = 0) -> dict[str, NDArray[Any]]:
        """Other classes lower and tied, and z, of each row; `begin` is the number of the first, for errors."""
        rows = np.arange(block.shape[0])
        own = block[rows, truth]
        lower = self.comparisons.count(np.less, block, own)
        tied = self.others - lower - self.comparisons.count(np.greater, block, own)
        z = z_scores(block, rows, truth, begin) if self.statistics else np.full(rows.size, np.nan)
        return {"lower": lower, "tied": tied, "z": z}


class ComparisonCounter:
    """Space for the results of a comparison, one byte each, and how to count those that are true."""

    def __init__(self, columns: int) -> None:
        words = -(-columns // 8)
        self.parts = -(-words // MOST_WORDS)
        self.words = -(-words // self.parts)
        self.columns = columns
        self.space = np.zeros((0, 0), dtype=bool)

    def count(self, compare: Any, block: NDArray[Any], own: NDArray[Any]) -> AnyInts:
        """For each row of a block, in how many places the comparison with its own value is true."""
        if self.space.shape[0] < block.shape[0]:
            self.space = np.zeros((block.shape[0], self.parts * self.words * 8), dtype=bool)
        space = self.space[: block.shape[0]]
        compare(block, own[:, None], out=space[:, : self.columns])
        words = space.view(np.uint64).reshape(-1, self.parts, self.words)
        ones: AnyInts = np.add.reduce(words, axis=2).view(np.uint8).sum(axis=1, dtype=np.int32)
        return ones


def z_scores(block: NDArray[Any], rows: AnyInts, truth: AnyInts, begin: int) -> Floats:
    """How far each true score is above the mean of the others, in their standard deviations: z.

    Sums use scores minus the mean of a few columns, which is close to them: no digits are lost far from zero. NaN if
    there are fewer than two others, or they are all equal, or −inf.
    """
    others = block.shape[1] - 1
    if block.dtype.kind != "f" or block.dtype.itemsize > 8:
        block = block.astype(np.float64)
    single = block.dtype == np.float32
    with np.errstate(all="ignore"):
        centre = block[:, :: max(1, block.shape[1] // FEW)].mean(axis=1)
        apart = block - centre[:, None]
        own = apart[rows, truth].astype(np.float64)
        apart[rows, truth] = 0
        total = np.add.reduce(apart, axis=1).astype(np.float64)
        square = np.einsum("rc,rc->r", apart, apart).astype(np.float64)
        mean = total / others
        variance = (square - total * mean) / max(others - 1, 1)
        z: Floats = (own - mean) / np.sqrt(variance)
        # What rounding leaves of others that are all equal is not variance.
        known = (others * variance > (1e-3 if single else 1e-13) * square) & np.isfinite(z)
        known &= np.sqrt(variance) > 8 * np.finfo(block.dtype).eps * np.abs(centre + mean)
    if others < 2:
        known[:] = False
    elif known.all():
        return z
    again = np.flatnonzero(~known)
    check_scores(block, again, begin)
    z[again] = np.nan
    if single and others > 1:  # beyond single precision, perhaps
        z[again] = z_scores(block[again].astype(np.float64), np.arange(again.size), truth[again], begin)
    return z


def check_scores(block: NDArray[Any], suspects: AnyInts, begin: int) -> None:
    """Refuse NaN and +inf. −inf is the log of a probability of 0: the lowest score there is."""
    strange = np.isnan(block[suspects]) | (block[suspects] == np.inf)
    if not strange.any():
        return
    row, column = np.argwhere(strange)[0]
    kind = "NaN" if np.isnan(block[suspects[row], column]) else "+inf"
    rest = int(strange.sum()) - 1
    raise InputError(
        f"`scores` is {kind} in row {begin + suspects[row]}, column {column}"
        + (f", and {rest} more scores of rows {begin} to {begin + block.shape[0] - 1} are NaN or +inf" if rest else "")
        + "; expected numbers (−inf is allowed, as the lowest score). Drop such rows, or fix what made the scores."
    )


# Counts against the classes of each group, so that groups can be left out later.


class GroupCounter:
    """Counts rows of scores against the classes of every group; the true class is in none.

    >>> counted = GroupCounter(np.array([0, 0, 1, 1])).count(np.array([[1.0, 5, 3, 3]]), np.array([2]))
    >>> counted["lower_in"], counted["tied_in"]
    (array([[1, 0]], dtype=int32), array([[0, 1]], dtype=int32))
    """

    def __init__(self, group: AnyInts) -> None:
        self.group = group
        self.sizes = np.bincount(group)
        # Columns by group; each group is padded to whole words with copies of the true score, which is neither lower
        # nor higher than itself, and 0 apart.
        self.width = -(-int(self.sizes.max()) // 8) * 8
        columns = np.full((self.sizes.size, self.width), group.size)
        columns[group, cumulative_count(group)] = np.arange(group.size)
        self.columns = columns.ravel()
        self.comparisons = ComparisonCounter(self.width)

    def count(self, block: NDArray[Any], truth: AnyInts) -> dict[str, NDArray[Any]]:
        """Counts, sums and squares of (score − true score), each (rows, groups)."""
        rows, own_group = np.arange(block.shape[0]), self.group[truth]
        own = block[rows, truth]
        shape = (rows.size, self.sizes.size)
        flat = np.take(np.concatenate([block, own[:, None]], axis=1), self.columns, axis=1).reshape(-1, self.width)
        each = np.repeat(own, self.sizes.size)
        lower = self.comparisons.count(np.less, flat, each).reshape(shape)
        tied = (self.sizes - lower - self.comparisons.count(np.greater, flat, each).reshape(shape)).astype(np.int32)
        tied[rows, own_group] -= 1
        with np.errstate(invalid="ignore", over="ignore"):
            apart = (flat - each[:, None].astype(np.float64)).reshape(*shape, self.width)
            sums, squares = np.einsum("rgc->rg", apart), np.einsum("rgc,rgc->rg", apart, apart)
        return {"lower_in": lower, "tied_in": tied, "sum_in": sums, "square_in": squares}


def z_from_sums(total: Floats, square: Floats, others: int) -> Floats:
    """(true score − mean of the others) / their standard deviation, from sums of (score − true score).

    NaN if there are fewer than two others, or they are all equal, or −inf.
    """
    if others < 2:
        return np.full(total.shape, np.nan)
    with np.errstate(all="ignore"):
        mean = total / others
        variance = (square - total * mean) / (others - 1)
        # What a difference leaves of others that are all equal is rounding.
        z: Floats = np.where(variance > 1e-13 * mean**2, -mean / np.sqrt(variance), np.nan)
    return np.where(np.isfinite(z), z, np.nan)


# Notes.


def notes_of_counts(truth: AnyInts, lower: AnyInts, tied: AnyInts, z: Floats, n_classes: int) -> tuple[Note, ...]:
    """Notes that follow from such counts."""
    notes = list(notes_of_empty_classes(truth, n_classes))
    lost = tied[lower < n_classes - 1]
    if lost.size >= 0.01 * tied.size and lost.mean() > COARSE * (n_classes - 1):
        notes.append(Note("many-ties", mean=float(lost.mean()), others=n_classes - 1))
    unknown = int(np.isnan(z).sum()) if n_classes > 2 else 0
    if unknown:
        notes.append(Note("z-unknown", count=unknown, rows=z.size))
    return tuple(notes)


def notes_of_empty_classes(truth: AnyInts, n_classes: int) -> tuple[Note, ...]:
    """Classes that compete and are never true."""
    empty = n_classes - np.unique(truth).size
    return (Note("classes-without-rows", count=empty, classes=n_classes),) if empty else ()
