"""`Region`: rows of a table in which an outcome is higher than elsewhere, with its figures and its rank.

Then how boxes become regions: their test on rows that were not searched, and what each adds to the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ..arrays import Floats, Mask
from ..expect import InputError
from ..intervals import Estimate
from ..result import plain
from .boxes import BinnedRows, Box, CodeRange
from .columns import Column, checked_columns, checked_table, infer_type
from .conditions import Condition, Range, short_text
from .outcome import Outcome

EDGES = ("feature", "low", "high", "values")
PREFIXES = ("", "other_", "third_")
CONDITION_COLUMNS = ("rank", "condition", *(f"{prefix}{name}" for prefix in PREFIXES for name in EDGES))


@dataclass(frozen=True)
class Region:
    """Rows in which an outcome is higher than elsewhere.

    `rate`, `rest_rate` (outside the region) and `lift` (rate over that of all rows) are computed on rows that were not
    searched, so they are unbiased. `size`, `share`, `total` and `table_rate` are those of the whole table; `table_rate`
    is optimistic, as part of it was searched. `q_value` corrects `p_value` for all regions tested. `excess` = size ·
    (lower end of rate − rate of all rows), at least 0. Regions are ranked by excess · (1 − share), which prefers small
    regions; the excess of one inside, whose rate is clearly higher, does not count. Those with more than half of the
    rows come last, and `complement` says where the outcome is lower, which is the shorter statement of the same.
    `nested_under` is the rank of a larger region that contains at least 80 % of these rows, or None.
    """

    condition: str
    conditions: tuple[Condition, ...]
    size: int
    share: float
    total: float
    table_rate: float
    rate: Estimate
    rest_rate: float
    lift: float
    p_value: float
    q_value: float
    excess: float
    rank: int
    nested_under: int | None
    complement: str | None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that it uses."""
        return tuple(condition.feature for condition in self.conditions)

    def rows(self, table: pd.DataFrame) -> Mask:
        """Which rows of any table with the same columns are in it."""
        return rows_that_meet(self.conditions, table)

    def in_words(self, rate: str, rows: str = "rows") -> str:
        """Its condition and figures, `rate` being the name of the outcome; of more than half of the rows, the rest."""
        inside = f", within rank {self.nested_under}," if self.nested_under else ""
        q_value = f"q {p_value_text(self.q_value)}"
        if self.complement is not None:
            rarer = f"{1 - self.share:.0%} of the {rows}, {rate} {self.rest_rate:.3g}"
            return f"{self.complement} ({rarer}, elsewhere {self.rate:.3g}, {q_value})"
        figures = f"{self.size} {rows}, {rate} {self.rate:.3g}, elsewhere {self.rest_rate:.3g}, {q_value}"
        return f"{self.condition}{inside} ({figures})"

    def as_row(self) -> dict[str, Any]:
        """A row of a table: rank, conditions (`CONDITION_COLUMNS`) and figures, with the ends of the rate."""
        row: dict[str, Any] = {"rank": self.rank, "condition": self.condition}
        for prefix, part in zip(PREFIXES, self.conditions):
            row[f"{prefix}feature"] = part.feature
            if isinstance(part, Range):
                row |= {f"{prefix}low": part.low, f"{prefix}high": part.high}
            else:
                row[f"{prefix}values"] = part.text.removeprefix(short_text(part.feature)).strip()
        figures = {name: value for name, value in vars(self).items() if name not in (*row, "conditions", "rate")}
        return row | figures | {"rate": self.rate.value, "rate_low": self.rate.low, "rate_high": self.rate.high}


class RegionRows:
    """For results with regions: `masks` say which rows are in each of them. Must be the first base class."""

    NOUN: ClassVar[str] = "regions"
    masks: tuple[Mask, ...]

    def rows(self, i: int) -> Mask:
        """Which rows of the table are in the region at position `i`, counted from 0."""
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(self.masks):
            raise InputError(f"`i` is {i!r}; there are {len(self.masks)} {self.NOUN}, counted from 0.")
        return self.masks[i].copy()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values. Of `masks`, which have one boolean per row and region, only how many rows are in each."""
        names = [column.name for column in fields(self) if column.name != "masks"]  # type: ignore[arg-type]  # a mixin
        return {name: plain(getattr(self, name)) for name in names} | {
            "masks": [int(mask.sum()) for mask in self.masks]
        }


def regions_frame(regions: tuple[Region, ...], figures: Iterable[str], names: dict[str, str]) -> pd.DataFrame:
    """One row per region: its condition and `figures`, which have other `names` than those of a region."""
    rows = [region.as_row() | {"value": region.rate.value} for region in regions]
    return pd.DataFrame(rows).rename(columns=names).reindex(columns=[*CONDITION_COLUMNS, *figures])


def where_in_words(regions: tuple[Region, ...], higher: str, lower: str, rate: str, rows: str = "rows") -> str:
    """Sentences about regions: "`higher` where …" with the first three, "`lower` where …" with those of most rows."""
    parts = [region.in_words(rate, rows) for region in regions if region.complement is None]
    most = [region.in_words(rate, rows) for region in regions if region.complement is not None]
    more = f"; {len(parts) - 3} more" if len(parts) > 3 else ""
    sentences = [f"{higher} where {'; '.join(parts[:3])}{more}."] if parts else []
    sentences += [f"{lower} where {'; '.join(most)}."] if most else []
    return " ".join(sentences)


def rows_that_meet(conditions: tuple[Condition, ...], table: pd.DataFrame) -> Mask:
    """Which rows of a table meet all of the conditions."""
    frame = checked_table(table)
    names = checked_columns(frame, tuple(condition.feature for condition in conditions), None)
    columns = {name: infer_type(frame[name]) for name in names}
    inside = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        inside &= condition.rows(columns[condition.feature])
    return inside


def p_value_text(value: float) -> str:
    """`= 0.012`, or `< 1e-15`: beyond that, digits are meaningless."""
    return f"= {value:.2g}" if value >= 1e-15 else "< 1e-15"


def rank_regions(
    significant: list[TestedBox], columns: tuple[Column, ...], outcome: Outcome, binned: BinnedRows
) -> tuple[tuple[Region, ...], tuple[Mask, ...]]:
    """Regions by rank, and which rows of the table each has; `binned` has the tested rows."""
    overall = binned.outcome.total / binned.n
    whole = BinnedRows(columns, outcome, np.arange(outcome.n))
    with_rows = []
    for test in significant:
        conditions = conditions_of(test.box, columns)
        rows = whole.inside(test.box)
        size, total = int(rows.sum()), outcome.total_in(rows)
        region = Region(
            condition=" and ".join(condition.text for condition in conditions),
            conditions=conditions,
            size=size,
            share=size / outcome.n,
            total=total,
            table_rate=total / size,
            rate=test.rate,
            rest_rate=test.rest_rate,
            lift=test.rate.value / overall,
            p_value=test.p_value,
            q_value=test.q_value,
            excess=size * max(test.rate.low - overall, 0.0),
            rank=0,
            nested_under=None,
            complement=_complement(test.box, columns) if size > MOST_ROWS * outcome.n else None,
        )
        with_rows.append((region, rows))
    inner = [_inner_excess(place, with_rows) for place in range(len(with_rows))]
    order = sorted(range(len(with_rows)), key=lambda place: _order(with_rows[place][0], inner[place]))
    with_rows = [with_rows[place] for place in order]
    masks = tuple(rows for _, rows in with_rows)
    enclosing = enclosing_regions(list(masks))
    regions = (
        replace(region, rank=place + 1, nested_under=None if outer is None else outer + 1)
        for place, ((region, _), outer) in enumerate(zip(with_rows, enclosing))
    )
    return tuple(regions), masks


MOST_ROWS = 0.5
"""A region with a larger share of the rows is stated by its complement, and ranked last."""


def _order(region: Region, inner: float) -> tuple[bool, float, float]:
    """Small regions first, then by excess with a penalty for size: the other 80 % of the rows are no place to look."""
    return region.complement is not None, -(region.excess - inner) * (1 - region.share), region.p_value


def _inner_excess(place: int, regions: list[tuple[Region, Mask]]) -> float:
    """The largest excess of a smaller region inside this one with a clearly higher rate: it may owe its own to it."""
    region, rows = regions[place]
    return max(
        (
            other.excess
            for other, others in regions
            if other.size < region.size
            and other.rate.low > region.rate.high
            and _count(rows & others) >= INSIDE * other.size
        ),
        default=0.0,
    )


def _complement(box: Box, columns: tuple[Column, ...]) -> str:
    """The rows outside a box, as text."""
    conditions = conditions_of(box, columns)
    texts = " and ".join(condition.text for condition in conditions)
    opposite = "" if len(box) > 1 else conditions[0].opposite
    if not opposite:
        return f"not ({texts})"
    return f"{opposite} or missing" if bool((columns[box[0].column].codes < 0).any()) else opposite


def conditions_of(box: Box, columns: tuple[Column, ...]) -> tuple[Condition, ...]:
    """The conditions of a box, column by column."""
    return tuple(
        columns[side.column].range(side.low, side.high)
        if isinstance(side, CodeRange)
        else columns[side.column].among(side.bins)
        for side in box
    )


# The test on rows that were not searched.


CLEAR = 0.01
"""The p-value that a region which shares rows or outcome with others needs in order not to be a repetition of them."""
CHANCE, REPEATS, STANDS = "may be chance", "repeats another", "stands out"


@dataclass(frozen=True)
class TestedBox:
    """A box on the held-out rows: how many of them it contains, the rate of the outcome there, and the verdict."""

    box: Box
    size: int
    rate: Estimate
    rest_rate: float
    p_value: float
    q_value: float
    verdict: str


def tested_boxes(boxes: tuple[Box, ...], binned: BinnedRows, min_rows: int, q: float, level: float) -> list[TestedBox]:
    """Test the boxes that have at least `min_rows` rows; those that the search found most convincing come first.

    The number of rows in a box is known without their outcome, so leaving out the small ones does not bias the test.
    """
    masks = [binned.inside(box) for box in boxes]
    sizes = [int(np.count_nonzero(mask)) for mask in masks]
    large = [place for place, size in enumerate(sizes) if min_rows <= size < binned.n]
    outcome, everything = binned.outcome, np.ones(binned.n, dtype=bool)
    p_values = [outcome.p_value(masks[place], everything) for place in large]
    tests = []
    accepted = AcceptedRegions(outcome)
    for place, p_value, q_value in zip(large, p_values, ranked_q_values(p_values)):
        verdict = CHANCE
        if q_value <= q:
            comparison = accepted.compare(masks[place])
            verdict = REPEATS if comparison.alike else STANDS
            if verdict == STANDS and (comparison.overlaps or comparison.explained):
                clear = min(outcome.p_value(*comparison.outside), outcome.p_value(*comparison.within)) <= CLEAR
                verdict = STANDS if clear else REPEATS
        if verdict == STANDS:
            accepted.add(masks[place])
        rate = outcome.rate(masks[place], level)
        rest = (outcome.total - outcome.total_in(masks[place])) / (binned.n - sizes[place])
        tests.append(TestedBox(boxes[place], sizes[place], rate, rest, p_value, float(q_value), verdict))
    return tests


def q_values(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's: the lowest false-discovery rate at which each is still a discovery.

    >>> q_values([0.01, 0.04, 0.03, 0.5]).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(-p)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(p[order] * p.size / np.arange(p.size, 0, -1))
    return adjusted.clip(max=1.0)


def ranked_q_values(p_values: ArrayLike) -> Floats:
    """q-values of tests in an order chosen beforehand: the k-th has a weight in proportion to 1/k.

    They are Benjamini and Hochberg's for p-values divided by their weights, of mean 1 (Genovese, Roeder & Wasserman,
    2006), but none is below the least p-value after correction by Bonferroni with the same weights. So chance alone
    gives a q-value of at most q with a probability of at most q, however the tests depend on each other.

    >>> ranked_q_values([0.01, 0.5, 0.5]).round(3).tolist()
    [0.018, 0.917, 0.917]
    """
    p = np.asarray(p_values, dtype=float)
    if not p.size:
        return p
    weights = 1 / np.arange(1, p.size + 1)
    weighted = p * weights.mean() / weights
    return np.maximum(q_values(weighted), min(float(weighted.min()) * p.size, 1.0))


# Overlap: whether a region shows something that others do not.


PartOfWhole = tuple[Mask, Mask]
NO_ROWS: Mask = np.zeros(0, dtype=bool)
ALIKE = 0.7
"""Rows in common, of the rows in either, from which two regions count as one."""
OVERLAP = 0.5
"""Rows in common, of the rows of one of them, from which a region has to show what it adds."""
INSIDE = 0.8
"""Share of a region's rows in a larger one, from which it is shown as a part of that."""


@dataclass(frozen=True)
class RegionComparison:
    """What a region adds to others: a part of the rows, and the whole it is a part of.

    `outside`: its rows in none of the others, of all rows that are in none. `within`: its rows in the other region that
    it shares most with, of all rows of that one, both without those of smaller others. `alike`: it nearly equals one of
    the others. `overlaps`: it has half of its rows in others, or half of another's. `explained`: it has half of its
    outcome in others.
    """

    alike: bool = False
    overlaps: bool = False
    explained: bool = False
    outside: PartOfWhole = (NO_ROWS, NO_ROWS)
    within: PartOfWhole = (NO_ROWS, NO_ROWS)


class AcceptedRegions:
    """Regions taken so far, as masks over the same rows."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.masks: list[Mask] = []
        self.sizes: list[int] = []
        self.uncovered = np.ones(outcome.n, dtype=bool)

    def add(self, mask: Mask) -> None:
        """Take one more."""
        self.masks.append(mask)
        self.sizes.append(_count(mask))
        self.uncovered &= ~mask

    def compare(self, mask: Mask) -> RegionComparison:
        """Compare a region with those taken."""
        if not self.masks:
            return RegionComparison()
        size = _count(mask)
        shared = [_count(mask & other) for other in self.masks]
        if any(common >= ALIKE * (size + own - common) for common, own in zip(shared, self.sizes)):
            return RegionComparison(alike=True)
        covers = any(common >= OVERLAP * own for common, own in zip(shared, self.sizes))
        alone, most_shared = mask & self.uncovered, int(np.argmax(shared))
        nearest = self.masks[most_shared].copy()
        # A smaller region inside the nearest one is known already: what shares its rows adds nothing by that.
        for other, own in zip(self.masks, self.sizes):
            if own < self.sizes[most_shared]:
                nearest &= ~other
        total = self.outcome.total_in(mask)
        return RegionComparison(
            overlaps=covers or size - _count(alone) >= OVERLAP * size,
            explained=total - self.outcome.total_in(alone) >= OVERLAP * total,
            outside=(alone, self.uncovered.copy()),
            within=(mask & nearest, nearest),
        )


def enclosing_regions(masks: list[Mask]) -> list[int | None]:
    """For each region the smallest larger one that contains most of its rows, or None."""
    sizes = [_count(mask) for mask in masks]
    enclosing: list[int | None] = []
    for place, mask in enumerate(masks):
        larger = [
            other
            for other in range(len(masks))
            if sizes[other] > sizes[place] and _count(mask & masks[other]) >= INSIDE * sizes[place]
        ]
        enclosing.append(min(larger, key=lambda other: sizes[other], default=None))
    return enclosing


def _count(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
