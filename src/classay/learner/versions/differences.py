"""Two versions on the same items, and paired differences between them: over fits and items, by metric and by region."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ... import seeds
from ...arrays import AnyInts, Floats, Ints, Mask
from ...expect import InputError
from ...intervals import ROUNDING, Estimate, bounded, by_group
from ...regions.columns import bin_column, checked_columns
from ...regions.outcome import RepeatedOutcome, Rows
from ...regions.region import Region
from ..records.codecs import MISSING
from ..records.labelings import Labelings, expect_record
from ..scores.scorers import count_figures
from ..stability.agreement import BLOCK, as_units

LEAST_SHARED = 0.5
"""Two records that share a smaller share of their items are refused: they are about different items."""
RESAMPLES = 400
MOST_FITS = 10
"""Fits of a version whose metric is averaged."""
METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced_accuracy", "f1_macro": "f1_macro", "mcc": "matthews"}
"""Metrics of the confusion matrix by which versions are compared, and their names among the figures of counts."""


@dataclass(frozen=True)
class Matched:
    """The predictions of two versions on the same n items, (U, R, n) each: U fits, or training subsets, of R refits.

    `rows` are the places of these items in the first record.
    """

    names: tuple[str, str]
    old: AnyInts
    new: AnyInts
    truth: AnyInts
    classes: NDArray[Any]
    groups: AnyInts | None
    rows: Ints
    notes: tuple[str, ...]


def matched(old: Any, new: Any, names: tuple[str, str] = ("old", "new")) -> Matched:
    """Bring two records to the same items and the same codes; an error if they cannot be compared."""
    first, second = expect_record(old, names[0]), expect_record(new, names[1])
    notes: list[str] = []
    rows, others = _shared_items(first, second, notes)
    classes, codes, more_codes = _one_list(first.classes, second.classes)
    truth, same = codes[first.truth[rows]], more_codes[second.truth[others]]
    if (truth != same).any():
        raise InputError(
            f"The truth differs in {int((truth != same).sum())} of {truth.size} items between `{names[0]}` and "
            f"`{names[1]}`; expected predictions on the same items. Name the item column, so that they are matched."
        )
    groups = None if first.groups is None else first.groups[rows]
    labels = [
        own_codes[as_units(record.complete(pairs=False))[:, :, places]]
        for record, places, own_codes in ((first, rows, codes), (second, others, more_codes))
    ]
    called = [
        role if record.name in ("learner", "predictions") else record.name
        for record, role in zip((first, second), names)
    ]
    if called[0] == called[1]:
        called = [f"{called[0]} ({role})" for role in names]
    return Matched((called[0], called[1]), labels[0], labels[1], truth, classes, groups, rows, tuple(notes))


def _shared_items(first: Labelings, second: Labelings, notes: list[str]) -> tuple[Ints, Ints]:
    items = [record.about.get("items") for record in (first, second)]
    ids = [None if names is None else list(map(str, names)) for names in items]
    sizes = [record.truth.size for record in (first, second)]
    if ids[0] is None or ids[1] is None:
        if sizes[0] != sizes[1]:
            raise InputError(
                f"The records have {sizes[0]} and {sizes[1]} items; expected the same items in both. Make them with "
                "Labelings.from_frame(..., item='id'), so that items are matched by name."
            )
        return np.arange(sizes[0]), np.arange(sizes[0])
    if ids[0] == ids[1]:
        return np.arange(sizes[0]), np.arange(sizes[0])
    names = [pd.Index(ids[0]), pd.Index(ids[1])]
    others = names[1].get_indexer(names[0])
    rows = np.flatnonzero(others >= 0)
    if rows.size < LEAST_SHARED * min(sizes):
        raise InputError(
            f"Only {rows.size} items are in both records, of {sizes[0]} and {sizes[1]}. Are they about the same "
            "items, under the same names?"
        )
    if rows.size < max(sizes):
        notes.append(f"{rows.size:,} items are in both records and are compared, of {sizes[0]:,} and {sizes[1]:,}.")
    return rows, others[rows]


def _one_list(one: NDArray[Any], other: NDArray[Any]) -> tuple[NDArray[Any], AnyInts, AnyInts]:
    """All classes, and the new codes of each record's own; the code −1 of a missing run stays."""
    if (one.dtype.kind == "U") != (other.dtype.kind == "U"):
        one, other = one.astype(str), other.astype(str)
    classes = np.union1d(one, other)
    kind = np.min_scalar_type(-max(classes.size, 1))
    maps = [np.append(np.searchsorted(classes, own), MISSING).astype(kind) for own in (one, other)]
    return classes, maps[0], maps[1]


# How often fits differ


def between(one: AnyInts, other: AnyInts, n_classes: int) -> Floats:
    """(U, n): how often a fit of each unit of one version differs from a fit of the other."""
    return np.asarray(1 - (_equal(one, other, n_classes) / (other.shape[0] * other.shape[1])).mean(axis=1))


def within(labels: AnyInts, n_classes: int) -> Floats:
    """(U, n): how often a fit of each unit differs from a fit of another unit of the same version."""
    units, refits, _ = labels.shape
    own = sum((labels == np.roll(labels, shift, axis=1)).astype(np.int64) for shift in range(refits))
    alike: Floats = (_equal(labels, labels, n_classes) - own) / ((units - 1) * refits)
    return np.asarray(1 - alike.mean(axis=1))


def _equal(own: AnyInts, others: AnyInts, n_classes: int) -> AnyInts:
    """(U, R, n): how many of the other fits predict the same as each of one's own."""
    points = own.shape[2]
    step = max(BLOCK // max(own.shape[0] * own.shape[1], others.shape[0] * others.shape[1], n_classes), 1)
    parts = []
    for start in range(0, points, step):
        block, other = own[:, :, start : start + step], others[:, :, start : start + step]
        base = np.arange(block.shape[2]) * n_classes
        parts.append(np.bincount((other + base).ravel(), minlength=block.shape[2] * n_classes)[block + base])
    return np.concatenate(parts, axis=-1)


# The difference of a metric


def metric_difference(pair: Matched, refits: Sequence[AnyInts], metric: str, level: float, seed: int) -> Estimate:
    """The metric of new − that of old, with the error of a bootstrap over items (or groups), and of the fits."""
    figure, size, versions = METRICS[metric], pair.classes.size, (pair.old, pair.new, *refits)
    fits = [labels.reshape(-1, pair.truth.size) for labels in versions]
    chosen = [own[np.linspace(0, len(own) - 1, min(len(own), MOST_FITS)).astype(int)] for own in fits]
    cells = [pair.truth.astype(np.int64) * size + own for own in chosen]

    def by_fit(weights: Floats | None) -> list[Floats]:
        counts = [np.stack([np.bincount(fit, weights, size * size) for fit in version]) for version in cells]
        return [count_figures(each.reshape(-1, size, size))[figure][:, None] for each in counts]

    def gap(weights: Floats | None) -> float:
        old, new, *_ = by_fit(weights)
        return float(new.mean() - old.mean())

    generator = seeds.generator(seed, "metric")
    unit = np.arange(pair.truth.size) if pair.groups is None else np.unique(pair.groups, return_inverse=True)[1]
    drawn = [gap(generator.poisson(1.0, int(unit.max()) + 1).astype(float)[unit]) for _ in range(RESAMPLES)]
    # Each class counts alike, so the rarest one has the fewest items that could change the metric.
    rarest = min(np.unique(unit[pair.truth == code]).size for code in np.unique(pair.truth))
    old, new, *more = by_fit(None)
    mean = combined(gap(None), float(np.var(drawn, ddof=1)), rarest, [old, new], pair.groups, more)
    most = 2.0 if metric == "mcc" else 1.0
    return mean.interval(level, -most, most)


# A mean over items and fits, such as a share or a difference of two versions, with its error over both.
# A version is one fit of many that its learner could have given: if it has several, how much they differ is part of
# the error.


@dataclass(frozen=True)
class FitMean:
    """A mean, its standard error and degrees of freedom. `over` says what it varies over.

    `units` is how many items, groups of items or fits could have differed on their own.
    """

    value: float
    error: float
    df: float
    units: int
    over: str

    def interval(self, level: float, least: float = -1.0, most: float = 1.0) -> Estimate:
        """The mean, of values from `least` to `most`, with its interval."""
        if math.isinf(self.error):
            return Estimate(self.value, least, most, level, f"over {self.over}")
        draws = int(self.df) + 1
        return bounded(self.value, self.error, self.units, level, f"over {self.over}", draws, least, most)

    def p_above(self, least: float = 0.0) -> float:
        """P-value that the difference is not above `least`."""
        if self.error < ROUNDING:
            # All items changed alike: they cannot show more than that each of them points the same way.
            return 1.0 if self.value <= least else 0.5 ** min(self.df + 1, 1000.0)
        return float(stats.t.sf((self.value - least) / self.error, self.df))


def over_fits(
    values: Floats,
    tables: Sequence[Floats],
    groups: AnyInts | None,
    like: Sequence[Floats] = (),
    *,
    of_pairs: bool = False,
) -> FitMean:
    """The mean of a value per item, with the error over items (or groups) and over the fits of each version.

    tables: of each version (fits, items), what each fit contributes
    like: the same of more fits, from which it is known how much a version with one fit varies
    of_pairs: whether fits are compared: if none differs from any other anywhere, it is fits that may, rarely
    """
    by_unit = by_group(values[None, :], groups)[0]
    variance = float(by_unit.var(ddof=1)) / by_unit.size if by_unit.size > 1 else math.inf
    mean = combined(float(values.mean()), variance, by_unit.size, tables, groups, like)
    several = [len(table) for table in tables if of_pairs and len(table) > 1]
    return replace(mean, units=min(mean.units, *several)) if several and mean.error < ROUNDING else mean


def combined(
    value: float,
    variance: float,
    units: int,
    tables: Sequence[Floats],
    groups: AnyInts | None,
    like: Sequence[Floats] = (),
) -> FitMean:
    """A value whose variance over items is known, with that of the fits of each version added.

    A version with one fit is taken to vary as `like`, or as the other one does; if all have one, these fits are what is
    compared and only items vary. Degrees of freedom are those of Welch and Satterthwaite.
    """
    sources = [table.mean(axis=1) for table in (*tables, *like)]
    known = [place for place, means in enumerate(sources) if means.size > 1]
    noun = "items" if groups is None else "groups of items"
    if not known:
        return FitMean(value, math.sqrt(variance), max(units - 1, 1), units, f"{noun}; for these fits")
    times = np.zeros(len(sources))
    for place, table in enumerate(tables):
        times[place if place in known else known[-1]] += 1 / len(table)
    parts = [(variance, units - 1)]
    parts += [(times[place] * float(sources[place].var(ddof=1)), sources[place].size - 1) for place in known]
    total = sum(part for part, _ in parts)
    df = total**2 / max(sum(part**2 / max(own, 1) for part, own in parts), 1e-300) if 0 < total < math.inf else units
    return FitMean(value, math.sqrt(total), max(df, 1.0), units, f"{noun} and fits")


def apart(own: Floats) -> Floats:
    """How far each fit is from the others (U, n), so that its rows vary as if they shared no fits.

    Those means share fits, so they vary by ((U − 2)/(U − 1))² too little. Two fits are one pair, which cannot vary.
    """
    units = len(own)
    return own * ((units - 1) / (units - 2)) if units > 2 else own[:1]


# Where a difference gathers: regions of a table, tested on items that were not searched.


class DifferenceOutcome(RepeatedOutcome):
    """How much more of something (errors, changes) the new version has than the old one at each item.

    For the search, differences from −1 to 1 are mapped to 0 to 1, so that 0.5 is no difference. A part is tested with
    the error over items and fits: its difference must be above `least`, and above that of the rest.

    leave_one_out: whether `old` has how far each fit is from the other fits of its version
    """

    def __init__(
        self, old: Floats, new: Floats, groups: AnyInts | None, least: float, leave_one_out: bool = False
    ) -> None:
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

    def _difference(self, part: Mask) -> FitMean:
        old, new = self.old[:, part], self.new[:, part]
        tables = [apart(old) if self.leave_one_out else old, new]
        return over_fits(new.mean(axis=0) - old.mean(axis=0), tables, self._groups_at(part))


def as_differences(region: Region, sign: int = 1) -> Region:
    """The region with the figures that were on the scale of the search as differences; `sign` −1: of the opposite."""
    rest, ends = sign * (2 * region.rest_rate - 1), sorted((sign * region.rate.low, sign * region.rate.high))
    return replace(
        region,
        total=sign * (2 * region.total - region.size),
        table_rate=sign * (2 * region.table_rate - 1),
        rate=replace(region.rate, value=sign * region.rate.value, low=ends[0], high=ends[1]),
        rest_rate=rest,
        lift=float("nan"),
        excess=region.size * max(region.rate.low - sign * rest, 0.0),
    )


def slices_of(frame: pd.DataFrame, names: list[str], min_size: int) -> dict[str, Mask]:
    """The items of each value of the columns, or of ranges of about equally many; rare values together."""
    parts = {}
    for name in checked_columns(frame, names, None) if names else ():
        column = bin_column(frame[name], min_size)
        ends = [-1, *column.tops.tolist(), -1]  # of the codes; the last is for missing values
        for place in np.unique(column.bins).tolist():
            ordered = column.ordered
            condition = column.range(ends[place] + 1, ends[place + 1]) if ordered else column.among((place,))
            parts[condition.text] = column.bins == place
    return parts
