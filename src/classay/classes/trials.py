"""Stimuli and the responses to them, looked at once: as numbers, with repeats known, and dealt into splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect, seeds
from ..expect import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trials:
    """n rows of a stimulus (p numbers) and the response to it (q numbers), columns scaled by powers of two.

    `shown[i]` is the number of row i's stimulus among the distinct ones, of which `first[s]` is the first row.
    """

    stimuli: Floats
    responses: Floats
    shown: Ints
    first: Ints

    @property
    def n_distinct(self) -> int:
        """How many different stimuli there are."""
        return int(self.first.size)


def trials_of(stimuli: Any, responses: Any) -> Trials:
    """Both tables as finite numbers, if they fit together and vary."""
    x, y = _table(stimuli, "stimuli"), _table(responses, "responses")
    if len(x) != len(y):
        raise InputError(
            f"`stimuli` has {len(x)} rows and `responses` {len(y)}; as many are expected, each row of one with its row "
            "of the other."
        )
    if len(x) < 2:
        raise InputError("There is 1 row; at least two stimuli are needed to tell one from another.")
    shown, first = alike(x)
    if first.size < 2:
        raise InputError(f"All {len(x)} rows of `stimuli` are the same; different ones are needed to tell them apart.")
    if (y == y[0]).all():
        raise InputError(f"All {len(y)} rows of `responses` are the same; they cannot tell stimuli apart.")
    return Trials(x, y, shown, first)


def alike(table: Floats) -> tuple[Ints, Ints]:
    """For each row the number of its content, counted by first appearance, and the first row of each content.

    >>> [found.tolist() for found in alike(np.array([[5.0], [7.0], [5.0]]))]
    [[0, 1, 0], [0, 1]]
    """
    numbers: dict[bytes, int] = {}
    # Adding 0 makes −0 the same as 0, of which only the bytes are compared.
    found = np.array([numbers.setdefault((row + 0.0).tobytes(), len(numbers)) for row in table], dtype=np.int64)
    return found, np.unique(found, return_index=True)[1].astype(np.int64)


def splits(n_distinct: int, test_size: float | int | None, folds: int, seed: int) -> list[Ints]:
    """Which distinct stimuli are candidates, in one split or in each of several; as many in each.

    test_size : a share of the stimuli or how many of them, for one split; None: `folds` of them
    """
    order = seeds.generator(seed, "identify").permutation(n_distinct)
    if test_size is None:
        parts = expect.whole(folds, "folds", at_least=2, why="One split is asked for with `test_size`.")
        size = n_distinct // parts
        if size < 2:
            raise InputError(
                f"{n_distinct} different stimuli in {parts} folds leave {size} in each to choose among; at least 2 are "
                f"needed. Use {f'at most {n_distinct // 2} folds, or ' if n_distinct > 3 else ''}more stimuli."
            )
        return [np.sort(order[part * size : (part + 1) * size]) for part in range(parts)]
    size = (
        expect.whole(test_size, "test_size", at_least=2)
        if isinstance(test_size, (int, np.integer)) and not isinstance(test_size, bool)
        else round(expect.fraction(test_size, "test_size", why="Or a whole number of stimuli.") * n_distinct)
    )
    if not 2 <= size <= n_distinct - 2:
        raise InputError(
            f"`test_size` is {test_size!r}: {size} of {n_distinct} different stimuli to choose among, and "
            f"{n_distinct - size} to fit on; at least 2 are needed for each."
        )
    return [np.sort(order[:size])]


def _table(values: Any, name: str) -> Floats:
    if isinstance(values, (pd.DataFrame, pd.Series)):
        words = [str(column) for column, kind in pd.DataFrame(values).dtypes.items() if kind.kind not in "biuf"]
        if words:
            raise InputError(
                f"`{name}` has columns that are not numbers ({expect.shown(words, 4)}). Encode them first."
            )
    try:
        array = np.asarray(values)
        table = np.ascontiguousarray(array, dtype=np.float64) if array.dtype.kind in "biufO" else None
    except (ValueError, TypeError) as error:
        raise InputError(f"`{name}` is no table of numbers ({error}); (rows, columns) is expected.") from error
    if table is None:
        raise InputError(f"`{name}` holds {array.dtype} values; real numbers are expected. Encode them first.")
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or 0 in table.shape:
        hint = " Flatten each row: values.reshape(len(values), -1)." if table.ndim > 2 else ""
        raise InputError(f"`{name}` has shape {table.shape}; (rows, columns) is expected, one of each at least.{hint}")
    strange = ~np.isfinite(table)
    if strange.any():
        row, column = np.argwhere(strange)[0]
        kind = "NaN (missing)" if np.isnan(table[row, column]) else "infinite"
        raise InputError(
            f"`{name}` is {kind} in row {row}, column {column}, and in {strange.sum() - 1} more places; finite numbers "
            "are expected. Drop or impute such rows in both tables."
        )
    # Powers of two change no digit, and what is far from 1 would overflow when squared. Units make no difference.
    exponents = np.frexp(np.abs(table).max(axis=0))[1]
    scaled: Floats = np.ldexp(table, -exponents)
    return scaled
