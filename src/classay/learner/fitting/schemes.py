"""How training subsets are drawn from the training part: `Subsets` and `HalfSplits`.

Subsets are drawn at random, not stratified: the variation of class shares is part of what refits respond to. Only the
absence of a whole class is avoided, by drawing again, and as a last resort by adding one row of it.

With groups, whole groups are drawn, and no group is in both halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ...splits import NOTHING, PerRow, at_even_steps, sorted_by_class
from .groups_drawn import GroupedRows

Rows = NDArray[np.int64]
REDRAWS = 20


@dataclass(frozen=True)
class Subsets:
    """K random training subsets, each a share of the training part.

    Parameters: `n` subsets; `size`, a share (0.15) or a number of rows (500); `replace`, whether a row may be drawn
    more than once. With groups, whole groups are drawn until a subset has about that many rows; `replace` is then
    whether a group may be drawn more than once.
    """

    n: int = 100
    size: float | int = 0.15
    replace: bool = True

    def __post_init__(self) -> None:
        expect.whole(self.n, "Subsets(n)", at_least=2, why="One subset cannot show how predictions vary with the data.")
        if isinstance(self.size, (int, np.integer)):
            expect.whole(self.size, "Subsets(size)", at_least=2)
        elif self.size != 1.0:  # all of it: a bootstrap
            expect.fraction(self.size, "Subsets(size)", why="Or 1.0 for all, or a whole number of rows.")
        if not isinstance(self.replace, (bool, np.bool_)):
            raise expect.InputError(f"`Subsets(replace)` is {self.replace!r}; expected True or False.")

    def rows(self, available: int) -> int:
        """How many rows a subset has when the training part has `available`."""
        if isinstance(self.size, (int, np.integer)):
            return int(self.size)
        # Rounded first, because 0.29 * 100 is a little less than 29.
        return int(round(self.size * available, 6))

    def check(self, codes: Rows, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, subsets that cannot be drawn from a training part with these class codes."""
        rows, classes = self.rows(codes.size), np.unique(codes).size
        if rows < classes:
            raise expect.InputError(
                f"A subset would have {rows} rows ({self.size!r} of {codes.size} training rows) for {classes} classes; "
                f"at least one row per class is needed. Use a larger subset size, or fewer classes."
            )
        if not self.replace and rows > codes.size:
            raise expect.InputError(
                f"Subsets of {rows} rows cannot be drawn without replacement from {codes.size} training rows. "
                "Use a smaller size, or replace=True."
            )

    def draw(self, codes: Rows, seed: int, given: PerRow = NOTHING) -> Iterator[tuple[Rows, bool]]:
        """Yield the rows of each subset, and whether a row (or group) of a missing class had to be added."""
        rows = self.rows(codes.size)
        if given.groups is not None:
            grouped = GroupedRows(codes, given.groups)
            for number in range(self.n):
                yield grouped.subset(rows, self.replace, seeds.generator(seed, "subset of groups", number), REDRAWS)
            return
        n_classes = int(codes.max()) + 1
        present = np.unique(codes)
        for number in range(self.n):
            generator = seeds.generator(seed, "subset", number)
            for _ in range(REDRAWS):
                drawn = generator.choice(codes.size, rows, replace=self.replace)
                missing = np.setdiff1d(present, codes[drawn])
                if not missing.size:
                    break
            for code in missing:
                # The row that makes room comes from the largest class, so that no other class is lost.
                crowded = int(np.argmax(np.bincount(codes[drawn], minlength=n_classes)))
                out = generator.choice(np.flatnonzero(codes[drawn] == crowded))
                drawn[out] = generator.choice(np.flatnonzero(codes == code))
            yield np.sort(drawn), bool(missing.size)


@dataclass(frozen=True)
class HalfSplits:
    """m random splits of the training part into two disjoint halves, by class: subsets 2i and 2i + 1 are a pair.

    Parameters: `m` splits; `size`, rows of each of the two if not all of its half: a share of the training part (at
    most 0.5) or a number of rows. With groups, whole groups are dealt to the halves, so sizes are approximate.
    """

    m: int = 25
    size: float | int | None = None

    def __post_init__(self) -> None:
        expect.whole(self.m, "HalfSplits(m)", at_least=1)
        if isinstance(self.size, (int, np.integer)):
            expect.whole(self.size, "HalfSplits(size)", at_least=2)
        elif self.size is not None:
            expect.fraction(self.size, "HalfSplits(size)", why="Or a whole number of rows, or None for all.")

    @property
    def n(self) -> int:
        """The number of subsets."""
        return 2 * self.m

    def check(self, codes: Rows, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, a training part that cannot be halved."""
        if codes.size < 4:
            raise expect.InputError(
                f"The training part has {expect.counted(codes.size, 'row')}; two halves need at least 4. Use more "
                "data, or a smaller test_size."
            )
        rare = np.flatnonzero(np.bincount(codes) == 1)
        if rare.size:
            raise expect.InputError(
                f"{rare.size} classes have only one training row; two are needed to have each class in both halves. "
                "Drop or merge rare classes, or use Subsets."
            )
        if given.groups is not None:
            GroupedRows(codes, given.groups).expect_halves()
        rows, classes = self.rows(codes.size), np.unique(codes).size
        if not classes <= rows <= codes.size // 2:
            raise expect.InputError(
                f"Each of two disjoint subsets would have {rows} rows ({self.size!r}) of {codes.size} training rows, "
                f"for {expect.counted(classes, 'class', 'classes')}; {max(classes, 2)} to "
                f"{codes.size // 2} are possible. Change the size, or use more data."
            )

    def rows(self, available: int) -> int:
        """How many rows a subset has when the training part has `available`."""
        if self.size is None:
            return available // 2
        return int(self.size) if isinstance(self.size, (int, np.integer)) else int(round(self.size * available, 6))

    def draw(self, codes: Rows, seed: int, given: PerRow = NOTHING) -> Iterator[tuple[Rows, bool]]:
        """Yield the two halves of every split in turn, and whether a row (or group) of a missing class was added."""
        if given.groups is not None:
            grouped = GroupedRows(codes, given.groups)
            wanted = None if self.size is None else self.rows(codes.size)
            for number in range(self.m):
                yield from grouped.halves(wanted, seeds.generator(seed, "half of groups", number), REDRAWS)
            return
        for number in range(self.m):
            generator = seeds.generator(seed, "half", number)
            # Shuffle, sort by class, deal alternately: the halves differ by at most one row in every class.
            order = sorted_by_class(codes, generator)
            flip = int(generator.integers(2))
            for half in (0, 1):
                rows = order[(half + flip) % 2 :: 2]
                yield (np.sort(rows), False) if self.size is None else self._fewer(rows, codes, generator)

    def _fewer(self, half: Rows, codes: Rows, generator: np.random.Generator) -> tuple[Rows, bool]:
        """Rows at even steps of a half that is sorted by class and shuffled within: every class keeps its share."""
        wanted = self.rows(codes.size)
        kept = at_even_steps(half, wanted, generator)
        absent = np.setdiff1d(codes[half], codes[kept])
        for code in absent:
            crowded = int(np.argmax(np.bincount(codes[kept])))
            kept[np.flatnonzero(codes[kept] == crowded)[0]] = half[codes[half] == code][0]
        return np.sort(kept), bool(absent.size)
