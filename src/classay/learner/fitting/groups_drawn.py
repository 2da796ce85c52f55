"""Whole groups of rows drawn for a subset, or dealt to two halves: a group is never divided.

A subset of groups with replacement is a cluster bootstrap: a group that is drawn twice has all its rows twice.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import AnyInts, Ints
from ...expect import InputError
from ...splits import deal_groups


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
