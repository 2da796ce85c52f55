"""How the true class fared against the others: counts and z from one read of the scores, without sorting.

Rows are taken a block at a time, small enough for the cache, and all is counted of a block while it is there. A
comparison gives a byte a score; eight of them are added as one word, up to 255 words before a byte could overflow.
Array functions only: `truth` holds column numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

BLOCK = 160_000  # scores that are looked at together: 0.6 MB in single precision
MOST_WORDS = 255
FEW = 16


def blocks(scores: NDArray[Any]) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Blocks of rows that lie together in memory, with where they are; half precision becomes single."""
    step = max(1, BLOCK // scores.shape[1])
    for start in range(0, scores.shape[0], step):
        part = slice(start, min(start + step, scores.shape[0]))
        block = np.asarray(scores[part])
        yield part, np.ascontiguousarray(block, dtype=np.float32 if block.dtype == np.float16 else None)


class RowCounter:
    """Counts rows of scores against their true class.

    >>> RowCounter(4).count(np.array([[1.0, 5, 3, 3]]), np.array([2]))
    {'lower': array([1], dtype=int32), 'tied': array([1], dtype=int32), 'z': array([0.])}
    """

    def __init__(self, n_classes: int, statistics: bool = True) -> None:
        """Without `statistics`, z is NaN, and NaN and infinite scores are not looked for."""
        self.others, self.statistics = n_classes - 1, statistics
        self.bytes = Bytes(n_classes)

    def count(self, block: NDArray[Any], truth: Ints, begin: int = 0) -> dict[str, NDArray[Any]]:
        """Other classes lower and tied, and z, of each row; `begin` is the number of the first, for errors."""
        rows = np.arange(block.shape[0])
        own = block[rows, truth]
        lower = self.bytes.ones(np.less, block, own)
        tied = self.others - lower - self.bytes.ones(np.greater, block, own)
        z = standing(block, rows, truth, begin) if self.statistics else np.full(rows.size, np.nan)
        return {"lower": lower, "tied": tied, "z": z}


class Bytes:
    """Room for the answers to a comparison, a byte each, and how to count those that are true."""

    def __init__(self, columns: int) -> None:
        words = -(-columns // 8)
        self.parts = -(-words // MOST_WORDS)
        self.words = -(-words // self.parts)
        self.columns = columns
        self.room = np.zeros((0, 0), dtype=bool)

    def ones(self, compare: Any, block: NDArray[Any], own: NDArray[Any]) -> Ints:
        """For each row of a block, in how many places the comparison with its own value is true."""
        if self.room.shape[0] < block.shape[0]:
            self.room = np.zeros((block.shape[0], self.parts * self.words * 8), dtype=bool)
        room = self.room[: block.shape[0]]
        compare(block, own[:, None], out=room[:, : self.columns])
        words = room.view(np.uint64).reshape(-1, self.parts, self.words)
        ones: Ints = np.add.reduce(words, axis=2).view(np.uint8).sum(axis=1, dtype=np.int32)
        return ones


def standing(block: NDArray[Any], rows: Ints, truth: Ints, begin: int) -> Floats:
    """How far each true score stands above the mean of the others, in their standard deviations: z.

    Sums are of scores less the mean of a few columns, near which they lie: no digits are lost far from zero. NaN where
    the others are fewer than two, all alike, or −inf.
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
        # What rounding leaves of others that are all alike is no variance.
        told = (others * variance > (1e-3 if single else 1e-13) * square) & np.isfinite(z)
        told &= np.sqrt(variance) > 8 * np.finfo(block.dtype).eps * np.abs(centre + mean)
    if others < 2:
        told[:] = False
    elif told.all():
        return z
    again = np.flatnonzero(~told)
    refuse(block, again, begin)
    z[again] = np.nan
    if single and others > 1:  # beyond single precision, perhaps
        z[again] = standing(block[again].astype(np.float64), np.arange(again.size), truth[again], begin)
    return z


def refuse(block: NDArray[Any], suspects: Ints, begin: int) -> None:
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
        + "; numbers are expected (−inf is allowed, as the lowest score). Drop such rows, or mend what made the scores."
    )
