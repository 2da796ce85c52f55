"""`Retrain`: training samples as they follow each other when a learner is retrained, which share most of their rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import expect
from ...splits import NOTHING, PerRow
from .schemes import AS_DRAWN, Drawn, HalfSplits, Subsets

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Retrain:
    """n training samples of nearly full size, any two of which differ in the share `replaced` of their rows.

    Each sample has (1 − replaced)·N of the N rows of the training part, drawn without replacement; two samples then
    share that part of their rows, on average. With groups, whole groups are drawn. With `time`, samples are windows in
    time of N/(1 + 2·replaced) rows: sample k + lag has lost the oldest rows of sample k and gained as many newer ones,
    lag = (n − 1)/2, rounded up.

    Parameters: `n` samples; `replaced`, the share of the rows that a retraining replaces.
    """

    n: int = 20
    replaced: float = 0.1

    def __post_init__(self) -> None:
        expect.whole(self.n, "Retrain(n)", at_least=2, why="One sample cannot show what changes.")
        expect.fraction(self.replaced, "Retrain(replaced)")

    @property
    def lag(self) -> int:
        """With time: how many samples later the share `replaced` of the rows has been replaced."""
        return lag_of(self.n)

    def rows(self, available: int) -> int:
        """How many rows a sample has when the training part has `available`, without time."""
        return self._subsets().rows(available)

    def check(self, codes: Rows, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, samples that cannot be drawn from a training part with these class codes."""
        size = self._window(codes.size) if given.time is not None else self.rows(codes.size)
        moved = round(self.replaced * size)
        if moved < 1 or size < 2:
            raise expect.InputError(
                f"A retraining would replace {moved} of {size} training rows (replaced={self.replaced:g}); at least 1 "
                "is needed. Use more data, or a larger share."
            )
        if given.time is None:
            self._subsets().check(codes, given)
            return
        poor = [window for window in self._windows(given.time) if np.unique(codes[window]).size < 2]
        if poor:
            raise expect.InputError(
                f"{len(poor)} of {self.n} windows in time have rows of one class only; at least 2 are needed to learn "
                "from. Classes change with `time`: leave it out, or use other classes."
            )

    def draw(self, codes: Rows, seed: int, given: PerRow = NOTHING) -> Iterator[Drawn]:
        """Yield the rows of each sample, and whether it was drawn again, or completed by rows of a missing class."""
        if given.time is None:
            yield from self._subsets().draw(codes, seed, given)
        else:
            for window in self._windows(given.time):
                yield np.sort(window), AS_DRAWN

    def _subsets(self) -> Subsets:
        return Subsets(self.n, 1 - self.replaced, replace=False)

    def _window(self, available: int) -> int:
        return int(available / (1 + 2 * self.replaced))

    def _windows(self, time: Rows) -> list[Rows]:
        order = np.argsort(time, kind="stable")
        size = self._window(time.size)
        step = self.replaced * size / self.lag
        starts = [min(round(number * step), time.size - size) for number in range(self.n)]
        return [order[start : start + size] for start in starts]


def lag_of(samples: int) -> int:
    """With time: a sample is compared with the one that is so many samples later.

    >>> lag_of(2), lag_of(20)
    (1, 10)
    """
    return math.ceil((samples - 1) / 2)


Scheme = Subsets | HalfSplits | Retrain
