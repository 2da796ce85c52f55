"""`Stability.regions`: where refits of a learner disagree most, as conditions on one to three columns.

Neighbouring points share whatever the same few refits happened to do, so a region that stands out among some refits may
not stand out among others. Therefore half of the refits and half of the points are searched, and the other refits on
the other points test what was found, with a split or a subset as the unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from ... import expect, seeds
from ...arrays import AnyInts, Mask
from ...intervals import Estimate, share_of_table
from ...regions.columns import checked_table
from ...regions.find import find_regions, search_options
from ...regions.outcome import RepeatedOutcome
from ...regions.region import Region, RegionRows, regions_frame, where_in_words
from ...result import Result
from ..records.base import over
from ..records.labelings import Labelings
from .agreement import agreement, compared_answers, points_called

FIGURES = ("size", "share", "disagreement", "rate_low", "rate_high", "rest_rate", "lift", "p_value", "q_value", "value")
LEAST_UNITS = 8
"""The fewest splits, or subsets, for which half of them can distinguish a region from chance."""


@dataclass(frozen=True)
class DisagreementRegions(RegionRows, Result, chart="regions:disagreement_bars"):
    """The result of `Stability.regions`: `regions` by rank, each with q ≤ `q` and none that only repeats another.

    The `rate` of a region is the probability that two refits differ on a point of it, from refits and points that were
    not searched. `disagreement` is that of all points. `tested` has one row per region that was tested.
    """

    learner: str
    on: str
    regions: tuple[Region, ...]
    tested: pd.DataFrame
    disagreement: Estimate
    n_points: int
    n_searched: int
    min_size: int
    q: float
    columns: tuple[str, ...]
    seed: int
    notes: tuple[str, ...]
    masks: tuple[Mask, ...] = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """One row per region, by rank: its condition on one `feature`, two (`other_…`) or three (`third_…`).

        `low` and `high` are the ends of a range, `rate_low` and `rate_high` those of the interval of the rate.
        """
        return regions_frame(self.regions, FIGURES, {"rate": "disagreement"})

    def __str__(self) -> str:
        tests = expect.counted(len(self.tested), "region")
        if not self.regions:
            text = (
                f"{self.learner}: no region stands out where refits disagree more than elsewhere, at a "
                f"false-discovery rate of {self.q:.3g}; {tests} tested on {self.n_points} {self.on}."
            )
        else:
            higher, lower = "refits disagree most", "Refits disagree less"
            where = where_in_words(self.regions, higher, lower, "disagreement", "points")
            text = (
                f"{self.learner}: {where} The rate on all {self.n_points} {self.on} is {self.disagreement:.3g}. "
                f"{tests} tested on refits and points that were not searched, at a false-discovery rate of "
                f"{self.q:.3g}."
            )
        return " ".join([text, *self.notes])


def disagreement_regions(
    record: Labelings, table: pd.DataFrame | None = None, on: str = "auto", **options: Any
) -> DisagreementRegions:
    """Where refits disagree most: see `Stability.regions`. `on`: 'probes', 'test', or 'auto' for probes if any."""
    where, labels, notes = compared_answers(record, on)
    units = len(labels) // 2 if record.halves else len(labels)
    if units < LEAST_UNITS:
        raise expect.InputError(
            f"The record has {units} {'splits' if record.halves else 'subsets'}; regions need at least {LEAST_UNITS}, "
            "half to search and half to test. Record more."
        )
    frame = checked_table(_points(record, where, table))
    search = search_options(frame, **options)
    order = seeds.generator(search.seed, "refits to search").permutation(units)
    searched, tested = (_differs(record, where, labels, np.sort(order[part::2])) for part in (0, 1))
    regions = find_regions(frame, search, searched, tested, "disagreement")
    groups = record.groups_of(where)
    agreed = agreement(labels, len(record.classes), record.halves).table
    overall = share_of_table(agreed, len(labels) // 2, search.level, over(groups), groups)
    return DisagreementRegions(
        learner=record.name,
        on=points_called(record, where),
        regions=regions.regions,
        tested=regions.tested,
        disagreement=replace(overall, value=1 - overall.value, low=1 - overall.high, high=1 - overall.low),
        n_points=len(frame),
        n_searched=regions.n_searched,
        min_size=search.min_size,
        q=search.q,
        columns=regions.columns,
        seed=search.seed,
        notes=(*notes, *regions.notes),
        masks=regions.masks,
    )


def _differs(record: Labelings, where: str, labels: AnyInts, units: AnyInts) -> RepeatedOutcome:
    """How much the refits of some splits, or subsets, differ at each point."""
    subsets = np.stack([2 * units, 2 * units + 1], axis=1).ravel() if record.halves else units
    differing = 1 - agreement(labels[subsets], len(record.classes), record.halves).table
    return RepeatedOutcome(differing, record.groups_of(where))


def _points(record: Labelings, where: str, table: pd.DataFrame | None) -> Any:
    n_points = record.answers(where).shape[2]
    if table is None:
        if where == "test" or record.probes is None:
            known = "Test points are known by number only"
            what = known if where == "test" else "The record does not store its comparison points (probes)"
            raise expect.InputError(f"{what}. Pass the rows as `table`, a DataFrame.")
        return as_frame(record.probes)
    rows = as_frame(table)
    if where == "test" and len(rows) != n_points and len(rows) == record.about.get("data", {}).get("rows"):
        rows = rows.iloc[record.test_rows]
    if len(rows) != n_points:
        raise expect.InputError(
            f"`table` has {len(rows)} rows but the refits predicted {n_points} {points_called(record, where)}; "
            "expected one row for each" + (", or all rows that were recorded." if where == "test" else ".")
        )
    return rows.reset_index(drop=True)


def as_frame(rows: Any) -> Any:
    """An array as a DataFrame with columns x0, x1, …; anything else as it is."""
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return pd.DataFrame(rows, columns=[f"x{place}" for place in range(rows.shape[1])])
    return rows
