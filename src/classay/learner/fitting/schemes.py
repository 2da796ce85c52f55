"""How training subsets are drawn from the training part: `Subsets`, `HalfSplits` and `Retrain`.

They are drawn without looking at labels: how class shares vary is part of what refits respond to. Two halves that are
dealt by class are not independent samples, and refits on them agree more than refits on two samples would. What the
draw is conditioned on is an option of each scheme, and is said: `Subsets(every_class)`, `HalfSplits(stratify)`.

With groups, whole groups are drawn, and no group is in both halves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ...arrays import AnyInts, Ints
from ...expect import InputError
from ...splits import NOTHING, PerRow, at_even_steps, deal_groups, sorted_by_class


@dataclass(frozen=True, eq=False)
class Sample:
    """What one or several refits are trained on and predict; seeds are found by its `number`.

    `points` are the rows to predict, None: the test part. A fit of cross-validation has the number of its `fold`.
    `available` is how many training rows it could have had.
    """

    number: int
    rows: Ints
    points: Ints | None = None
    fold: int | None = None
    available: int = 0

    def seed_place(self, refit: int) -> tuple[str, *tuple[int, ...]]:
        """By which the random states of a refit are drawn; the first fit of a fold is that of the report's folds."""
        if self.fold is None:
            return "refit", self.number, refit
        return ("fit", self.fold, refit) if refit else ("fit", self.fold)


Rows = NDArray[np.int64]
Drawn = tuple[Rows, str]
"""The rows of a subset, and how they came about: one of the three below."""
AS_DRAWN, REDRAWN, COMPLETED = "", "redrawn", "completed"
REDRAWS = 20
"""How often a subset without some class is drawn again before a row of that class is put in."""


@dataclass(frozen=True)
class Subsets:
    """K random training subsets, each a share of the training part.

    Parameters: `n` subsets; `size`, a share (0.15) or a number of rows (500); `replace`, whether a row may be drawn
    more than once; `every_class`, whether subsets without some class are drawn again, so that figures are of subsets
    that have all classes: False is the plain draw of the paper. With groups, whole groups are drawn until a subset has
    about that many rows; `replace` is then whether a group may be drawn more than once.
    """

    n: int = 100
    size: float | int = 0.15
    replace: bool = True
    every_class: bool = True

    def __post_init__(self) -> None:
        expect.whole(self.n, "Subsets(n)", at_least=2, why="One subset cannot show how predictions vary with the data.")
        if isinstance(self.size, (int, np.integer)):
            expect.whole(self.size, "Subsets(size)", at_least=2)
        elif self.size != 1.0:  # all of it: a bootstrap
            expect.fraction(self.size, "Subsets(size)", why="Or 1.0 for all, or a whole number of rows.")
        expect.flag(self.replace, "Subsets(replace)")
        expect.flag(self.every_class, "Subsets(every_class)")

    def rows(self, available: int) -> int:
        """How many rows a subset has when the training part has `available`."""
        if isinstance(self.size, (int, np.integer)):
            return int(self.size)
        # Rounded first, because 0.29 * 100 is a little less than 29.
        return int(round(self.size * available, 6))

    def check(self, codes: Rows, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, subsets that cannot be drawn from a training part with these class codes."""
        rows, classes = self.rows(codes.size), np.unique(codes).size if self.every_class else 2
        if rows < classes:
            raise expect.InputError(
                f"A subset would have {rows} rows ({self.size!r} of {codes.size} training rows) for {classes} classes; "
                f"at least one row per class is needed. Use a larger subset size, or fewer classes."
                if self.every_class
                else f"A subset would have {rows} rows ({self.size!r} of {codes.size} training rows); at least 2 are "
                "needed. Use a larger subset size."
            )
        if not self.replace and rows > codes.size:
            raise expect.InputError(
                f"Subsets of {rows} rows cannot be drawn without replacement from {codes.size} training rows. "
                "Use a smaller size, or replace=True."
            )

    def draw(self, codes: Rows, seed: int, given: PerRow = NOTHING) -> Iterator[Drawn]:
        """Yield the rows of each subset, and whether it was drawn again, or completed by rows of a missing class."""
        rows = self.rows(codes.size)
        tries = REDRAWS if self.every_class else 0
        if given.groups is not None:
            grouped = GroupedRows(codes, given.groups)
            for number in range(self.n):
                generator = seeds.generator(seed, "subset of groups", number)
                chosen, again, added = grouped.subset(rows, self.replace, generator, tries)
                yield chosen, COMPLETED if added else REDRAWN if again else AS_DRAWN
            return
        n_classes = int(codes.max()) + 1
        present = np.unique(codes)
        for number in range(self.n):
            generator = seeds.generator(seed, "subset", number)
            if not tries:
                yield np.sort(generator.choice(codes.size, rows, replace=self.replace)), AS_DRAWN
                continue
            how = AS_DRAWN
            for _ in range(tries):
                drawn = generator.choice(codes.size, rows, replace=self.replace)
                missing = np.setdiff1d(present, codes[drawn])
                if not missing.size:
                    break
                how = REDRAWN
            for code in missing:
                # The row that makes room comes from the largest class, so that no other class is lost.
                crowded = int(np.argmax(np.bincount(codes[drawn], minlength=n_classes)))
                out = generator.choice(np.flatnonzero(codes[drawn] == crowded))
                drawn[out] = generator.choice(np.flatnonzero(codes == code))
            yield np.sort(drawn), COMPLETED if missing.size else how


@dataclass(frozen=True)
class HalfSplits:
    """m random splits of the training part into two disjoint halves: subsets 2i and 2i + 1 are a pair.

    Halves are drawn without looking at labels, so the two are independent samples of the process that gave the rows.
    A half may lack a rare class; it is kept as it is.

    Parameters: `m` splits; `size`, rows of each of the two if not all of its half: a share of the training part (at
    most 0.5) or a number of rows; `stratify`, whether both halves get the same share of every class. Figures are then
    of samples with these class shares, and stability comes out higher than for two independent samples. With groups,
    whole groups are dealt to the halves, so sizes are approximate.
    """

    m: int = 25
    size: float | int | None = None
    stratify: bool = False

    def __post_init__(self) -> None:
        expect.whole(self.m, "HalfSplits(m)", at_least=1)
        if isinstance(self.size, (int, np.integer)):
            expect.whole(self.size, "HalfSplits(size)", at_least=2)
        elif self.size is not None:
            expect.fraction(self.size, "HalfSplits(size)", why="Or a whole number of rows, or None for all.")
        expect.flag(self.stratify, "HalfSplits(stratify)")

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
        if rare.size and self.stratify:
            raise expect.InputError(
                f"{rare.size} classes have only one training row; two are needed to have each class in both halves. "
                "Drop or merge rare classes, or use stratify=False."
            )
        if given.groups is not None:
            GroupedRows(codes, given.groups).expect_halves(every_class=self.stratify)
        rows, classes = self.rows(codes.size), np.unique(codes).size if self.stratify else 2
        if not classes <= rows <= codes.size // 2:
            raise expect.InputError(
                f"Each of two disjoint subsets would have {rows} rows ({self.size!r}) of {codes.size} training rows, "
                f"for {expect.counted(np.unique(codes).size, 'class', 'classes')}; {max(classes, 2)} to "
                f"{codes.size // 2} are possible. Change the size, or use more data."
            )

    def rows(self, available: int) -> int:
        """How many rows a subset has when the training part has `available`."""
        if self.size is None:
            return available // 2
        return int(self.size) if isinstance(self.size, (int, np.integer)) else int(round(self.size * available, 6))

    def draw(self, codes: Rows, seed: int, given: PerRow = NOTHING) -> Iterator[Drawn]:
        """Yield the two halves of every split in turn, and whether one was completed by rows of a missing class."""
        wanted = None if self.size is None else self.rows(codes.size)
        grouped = None if given.groups is None else GroupedRows(codes, given.groups)
        for number in range(self.m):
            if grouped is not None:
                generator = seeds.generator(seed, "half of groups", number)
                for rows, added in grouped.halves(wanted, generator, REDRAWS if self.stratify else 0):
                    yield rows, COMPLETED if added else AS_DRAWN
            elif self.stratify:
                yield from self._by_class(codes, seeds.generator(seed, "half", number))
            else:
                order = seeds.generator(seed, "plain half", number).permutation(codes.size)
                for half in (0, 1):
                    yield np.sort(order[half::2][:wanted]), AS_DRAWN

    def _by_class(self, codes: Rows, generator: np.random.Generator) -> Iterator[Drawn]:
        """Shuffle, sort by class, deal alternately: the halves differ by at most one row in every class."""
        order = sorted_by_class(codes, generator)
        flip = int(generator.integers(2))
        for half in (0, 1):
            rows = order[(half + flip) % 2 :: 2]
            yield (np.sort(rows), AS_DRAWN) if self.size is None else self._fewer(rows, codes, generator)

    def _fewer(self, half: Rows, codes: Rows, generator: np.random.Generator) -> Drawn:
        """Rows at even steps of a half that is sorted by class and shuffled within: every class keeps its share."""
        wanted = self.rows(codes.size)
        kept = at_even_steps(half, wanted, generator)
        absent = np.setdiff1d(codes[half], codes[kept])
        for code in absent:
            crowded = int(np.argmax(np.bincount(codes[kept])))
            kept[np.flatnonzero(codes[kept] == crowded)[0]] = half[codes[half] == code][0]
        return np.sort(kept), COMPLETED if absent.size else AS_DRAWN


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

    def check(self, codes: Rows, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, samples that cannot be drawn from a training part with these class codes."""
        size = self._window(codes.size) if given.time is not None else self._subsets().rows(codes.size)
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
    """With time: a sample is compared with the one that is so many samples later."""
    return math.ceil((samples - 1) / 2)


Scheme = Subsets | HalfSplits | Retrain


# Whole groups of rows: a group is never divided. With replacement this is a cluster bootstrap: a group that is drawn
# twice has all its rows twice.


class GroupedRows:
    """The rows of a training part by group, with their class codes."""

    def __init__(self, codes: Ints, groups: AnyInts) -> None:
        self.codes = codes
        self.names, self.group = np.unique(groups, return_inverse=True)
        self.sizes = np.bincount(self.group)
        self.classes = np.unique(codes)
        order = np.argsort(self.group, kind="stable")
        self._rows = np.split(order, np.cumsum(self.sizes)[:-1])

    def rows_of(self, groups: AnyInts) -> Ints:
        """The rows of some groups, sorted; those of a group that is there twice, twice."""
        return np.sort(np.concatenate([self._rows[group] for group in groups]))

    def missing(self, groups: AnyInts) -> AnyInts:
        """Classes of which these groups have no row."""
        return np.setdiff1d(self.classes, self.codes[self.rows_of(groups)])

    def having(self, code: int) -> Ints:
        """The groups that have rows of a class."""
        return np.unique(self.group[self.codes == code])

    def subset(self, rows: int, replace: bool, generator: np.random.Generator, tries: int) -> tuple[Ints, bool, bool]:
        """Rows of groups drawn until there are about `rows`, whether they were drawn again because a class was missing,
        and whether a group with it was added after so many tries; 0: the first draw, whatever it lacks.
        """
        if not tries:
            return self.rows_of(self._drawn(rows, replace, generator)), False, False
        lacked = False
        for _ in range(tries):
            drawn = self._drawn(rows, replace, generator)
            missing = self.missing(drawn)
            if not missing.size:
                break
            lacked = True
        for code in missing:
            if code in self.missing(drawn):
                drawn = np.append(drawn, generator.choice(self.having(int(code))))
        return self.rows_of(drawn), lacked, bool(missing.size)

    def _drawn(self, rows: int, replace: bool, generator: np.random.Generator) -> AnyInts:
        """Groups in random order, up to the number at which the rows are nearest to the wanted ones."""
        order = generator.permutation(self.names.size)
        if replace:
            # As many as are needed if all were as small as the smallest.
            order = generator.integers(self.names.size, size=-(-rows // int(self.sizes.min())) + 1)
        reached = np.cumsum(self.sizes[order])
        return order[: 1 + int(np.argmin(np.abs(reached - rows)))]

    def expect_halves(self, every_class: bool) -> None:
        """Refuse groups of which no two halves can be made, with every class in both if so wanted."""
        if self.names.size < 2:
            raise InputError(
                f"The training part has {self.names.size} group; two halves of whole groups need at least 2. Use more "
                "groups, or a smaller test_size."
            )
        alone = [code for code in self.classes if self.having(int(code)).size == 1]
        if alone and every_class:
            raise InputError(
                f"{len(alone)} classes have training rows in only one group; two are needed to have each class in both "
                "halves. Drop or merge rare classes, or use stratify=False."
            )

    def halves(self, rows: int | None, generator: np.random.Generator, tries: int) -> Iterator[tuple[Ints, bool]]:
        """The two halves, all of them or groups with about `rows`, and whether a group of a missing class was added.

        With `tries` the halves are dealt by class, until both have every class; with 0 without looking at classes.
        """
        if not tries:
            yield from ((part, False) for part in self._plain_halves(rows, generator))
            return
        shares = np.array([0.5, 0.5])
        for _ in range(tries):
            half = deal_groups(self.codes, self.group, shares, generator)
            parts: list[AnyInts] = [np.flatnonzero(half == side) for side in (0, 1)]
            missing = [self.missing(part) for part in parts]
            if not any(each.size for each in missing):
                break
        for side in (0, 1):
            for code in missing[side]:
                # From the other half, which has all groups with this class: at least two.
                moved = generator.choice(self.having(int(code)))
                parts[side] = np.append(parts[side], moved)
                parts[1 - side] = np.setdiff1d(parts[1 - side], [moved])
        for side in (0, 1):
            kept, added = parts[side], bool(missing[side].size)
            if rows is not None:
                kept, more = self._fewer(kept, rows, generator)
                added |= more
            yield self.rows_of(kept), added

    def _plain_halves(self, rows: int | None, generator: np.random.Generator) -> Iterator[Ints]:
        """Groups in random order, cut where rows are nearest to half of all; of each side about `rows`."""
        order = generator.permutation(self.names.size)
        reached = np.cumsum(self.sizes[order])
        cut = 1 + int(np.argmin(np.abs(reached[:-1] - self.codes.size / 2)))
        for side in (order[:cut], order[cut:]):
            if rows is not None:
                side = side[: 1 + int(np.argmin(np.abs(np.cumsum(self.sizes[side]) - rows)))]
            yield self.rows_of(side)

    def _fewer(self, half: AnyInts, rows: int, generator: np.random.Generator) -> tuple[AnyInts, bool]:
        order = generator.permutation(half)
        reached = np.cumsum(self.sizes[order])
        number = 1 + int(np.argmin(np.abs(reached - rows)))
        kept = order[:number]
        missing = np.setdiff1d(self.codes[self.rows_of(half)], self.codes[self.rows_of(kept)])
        for code in missing:
            if code in self.missing(kept):
                kept = np.append(kept, generator.choice(np.intersect1d(self.having(int(code)), half)))
        return kept, bool(missing.size)
