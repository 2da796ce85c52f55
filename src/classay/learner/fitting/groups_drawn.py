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

    def subset(self, rows: int, replace: bool, generator: np.random.Generator, redraws: int) -> tuple[Ints, bool]:
        """Rows of groups drawn until there are about `rows`, and whether a group of a missing class was added."""
        for _ in range(redraws):
            drawn = self._drawn(rows, replace, generator)
            missing = self.missing(drawn)
            if not missing.size:
                break
        for code in missing:
            if code in self.missing(drawn):
                drawn = np.append(drawn, generator.choice(self.having(int(code))))
        return self.rows_of(drawn), bool(missing.size)

    def _drawn(self, rows: int, replace: bool, generator: np.random.Generator) -> AnyInts:
        """Groups in random order, up to the number at which the rows are nearest to the wanted ones."""
        order = generator.permutation(self.names.size)
        if replace:
            # As many as are needed if all were as small as the smallest.
            order = generator.integers(self.names.size, size=-(-rows // int(self.sizes.min())) + 1)
        reached = np.cumsum(self.sizes[order])
        return order[: 1 + int(np.argmin(np.abs(reached - rows)))]

    def expect_halves(self) -> None:
        """Refuse classes that cannot be in both halves."""
        alone = [code for code in self.classes if self.having(int(code)).size == 1]
        if alone:
            raise InputError(
                f"{len(alone)} classes have training rows in only one group; two are needed to have each class in both "
                "halves. Drop or merge rare classes, or use Subsets."
            )

    def halves(self, rows: int | None, generator: np.random.Generator, redraws: int) -> Iterator[tuple[Ints, bool]]:
        """The two halves, all of them or groups with about `rows`, and whether a group of a missing class was added."""
        shares = np.array([0.5, 0.5])
        for _ in range(redraws):
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
