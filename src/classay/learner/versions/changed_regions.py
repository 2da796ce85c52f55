"""Where a difference between versions gathers: regions of a table, tested on items that were not searched."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...arrays import AnyInts, Floats, Mask
from ...intervals import Estimate
from ...regions.find import SearchOptions, find_regions
from ...regions.outcome import RepeatedOutcome, Rows
from ...regions.region import Region
from .differences import FitDifference, fit_difference


class DifferenceOutcome(RepeatedOutcome):
    """How much more of something (errors, changes) the new version has than the old one at each item.

    For the search, differences from −1 to 1 are mapped to 0 to 1, so that 0.5 is no difference. A part is tested with
    the error over items and fits: its difference must be above `least`, and above that of the rest.
    """

    def __init__(self, old: Floats, new: Floats, groups: AnyInts | None, least: float, leave_one_out: bool) -> None:
        self.old, self.new, self.least, self.leave_one_out = old, new, least, leave_one_out
        super().__init__(((1 + new.mean(axis=0) - old.mean(axis=0)) / 2)[None, :], groups)

    def at(self, rows: Rows) -> DifferenceOutcome:
        return DifferenceOutcome(
            self.old[:, rows], self.new[:, rows], self._groups_at(rows), self.least, self.leave_one_out
        )

    def p_value(self, part: Mask, whole: Mask) -> float:
        rest = whole & ~part
        if np.count_nonzero(part) < 2 or np.count_nonzero(rest) < 2:
            return 1.0
        inside, outside = self._difference(part), self._difference(rest)
        beyond = inside.p_above(max(self.least, 0.0))
        if outside.value <= self.least:
            return beyond
        error = float(np.hypot(inside.error, outside.error))
        return max(beyond, replace(inside, value=inside.value - outside.value, error=error).p_above())

    def split(self, generator: np.random.Generator) -> tuple[Rows, Rows]:
        if self.groups is not None:
            return super().split(generator)
        # Neighbours in the order of the outcome go to different halves; all at once, as there may be millions.
        order = np.lexsort((generator.random(self.n), self.values))
        swaps = generator.random(-(-self.n // 2)) < 0.5
        first = np.zeros(self.n, dtype=bool)
        first[np.arange(self.n) % 2 == np.repeat(swaps, 2)[: self.n]] = True
        return np.sort(order[first]), np.sort(order[~first])

    def rate(self, part: Mask, level: float) -> Estimate:
        return self._difference(part).interval(level)

    def _difference(self, part: Mask) -> FitDifference:
        return fit_difference(
            self.old[:, part], self.new[:, part], self._groups_at(part), leave_one_out=self.leave_one_out
        )


@dataclass(frozen=True)
class ChangedRegions:
    """Regions in which there is more of `what`, by rank, and how many were tested and searched."""

    what: str
    regions: tuple[Region, ...]
    n_tested: int
    n_searched: int
    notes: tuple[str, ...]


def changed_regions(
    what: str,
    table: pd.DataFrame,
    options: SearchOptions,
    old: Floats,
    new: Floats,
    groups: AnyInts | None,
    least: float = 0.0,
    leave_one_out: bool = False,
) -> ChangedRegions:
    """Regions in which `new` exceeds `old` (tables of fits x items) by more than `least`."""
    outcome = DifferenceOutcome(old, new, groups, least, leave_one_out)
    found = find_regions(table, options, outcome, outcome, f"changed regions: {what}")
    regions = tuple(map(_as_differences, found.regions))
    return ChangedRegions(what, regions, len(found.tested), found.n_searched, found.notes)


def _as_differences(region: Region) -> Region:
    """The region with the figures that were on the scale of the search as differences."""
    rest = 2 * region.rest_rate - 1
    return replace(
        region,
        total=2 * region.total - region.size,
        table_rate=2 * region.table_rate - 1,
        rest_rate=rest,
        lift=float("nan"),
        excess=region.size * max(region.rate.low - rest, 0.0),
    )
