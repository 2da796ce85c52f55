"""The distinct texts of a column, with how often each occurs: what decides whether it has numbers, dates or sentences.

Decisions use counts only, so the order of rows never matters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Ints, Mask
from ..expect import InputError, within

MISSING_WORDS = frozenset(
    {
        *("", "?", "-", "--", "---", ".", "..", "...", "*", "–", "—"),
        *("na", "n/a", "n.a.", "nan", "-nan", "null", "none", "nil", "nd", "n.d.", "missing", "unknown"),
        *("<na>", "#n/a", "#na", "#ref!", "#value!", "#div/0!", "#null!", "#num!", "#name?", "(null)", r"\n"),
    }
)
"""What people write for a missing number or date, in any case."""
SHARE = 95
"""In percent: a column is of a kind if at least this share of its values is."""
MOST_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct values of a column as stripped texts, how many cells have each, and the one of each row (-1: none)."""

    texts: list[str]
    counts: Ints
    codes: Ints

    @cached_property
    def words(self) -> Mask:
        """Which texts are words for missing."""
        return np.array([text.lower() in MISSING_WORDS for text in self.texts], dtype=bool)

    @cached_property
    def total(self) -> int:
        """The number of cells with a value that is not a word for missing."""
        return int(self.counts[~self.words].sum())

    def enough(self, accepted: Mask) -> bool:
        """Whether the accepted texts make up `SHARE` of the values."""
        return 100 * self.weight(accepted) >= SHARE * self.total > 0

    def weight(self, accepted: Mask) -> int:
        """How many cells have one of the accepted texts; words for missing do not count."""
        return int(self.counts[accepted & ~self.words].sum())

    def share(self, accepted: Mask) -> str:
        """The share of the accepted texts, in words. It is never rounded up to all.

        >>> Cells(["1", "x"], np.array([1999, 1]), np.empty(0, int)).share(np.array([True, False]))
        '99.9 % of the values'
        """
        found = self.weight(accepted)
        return "all values" if found == self.total else f"{1000 * found // self.total / 10:.1f} % of the values"

    def spread(self, values: NDArray[Any], gone: Any) -> NDArray[Any]:
        """The value of each row from the value of each distinct text; `gone` where the row has none."""
        padded = np.append(values, np.array([gone], dtype=values.dtype))
        return padded[self.codes]  # the code -1 is the last

    def examples(self, texts: Mask) -> tuple[tuple[int, str], ...]:
        """The first rows, counted from 1, that have one of these texts."""
        rows = np.flatnonzero(self.spread(texts, False))[:MOST_EXAMPLES]
        return tuple((int(row) + 1, self.texts[self.codes[row]]) for row in rows)

    def missing_words(self) -> str:
        """The words for missing that occur, with how many cells have them, most frequent first."""
        found: Counter[str] = Counter()
        for place in np.flatnonzero(self.words):
            found[self.texts[place]] += int(self.counts[place])
        return ", ".join(f"{word!r} ({count})" for word, count in sorted(found.items(), key=lambda each: -each[1]))


def cells(column: pd.Series[Any]) -> Cells:
    """The cells of a column of text, or of text and other values."""
    codes, distinct = pd.factorize(column)
    texts = [value.strip() if isinstance(value, str) else str(value) for value in distinct.tolist()]
    longest = max(map(len, texts), default=0)
    within(longest, "cell_characters", f"The longest cell of column {str(column.name)!r}, in characters,")
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    return Cells(texts, counts.astype(np.int64), codes.astype(np.int64))


def refuse_odd(column: pd.Series[Any], name: str) -> None:
    """Refuse complex numbers, lists and other collections, and NUL characters, which no learner can read."""
    if column.dtype.kind == "c":
        raise InputError(f"Column {name!r} has complex numbers; expected real ones. Split it into two columns.")
    if column.dtype != object:
        return
    for row, value in enumerate(column):
        if isinstance(value, complex):
            raise InputError(f"Column {name!r} has complex numbers; expected real ones. Split it into two columns.")
        if isinstance(value, (list, tuple, dict, set, frozenset, np.ndarray)):
            raise InputError(
                f"Column {name!r} contains {type(value).__name__} values; expected one number or text per row, got "
                f"this in row {row + 1}. Spread it over several columns or drop it."
            )


def refuse_nul(texts: Iterable[str], name: str) -> None:
    """Refuse NUL characters: C libraries cut text there, so two values could become one."""
    for text in texts:
        if "\0" in text:
            raise InputError(f"Column {name!r} has a NUL character in {text!r}. Remove it, or save the file again.")
