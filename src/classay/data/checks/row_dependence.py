"""`dependence`: do rows belong together, so that accuracy on shuffled rows promises too much?

Candidates are the order of the file, columns whose values may be groups, and rows that are near each other. Each is
measured with a learner; if columns are many, the nearest row comes first and says which of them are worth that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from ... import seeds
from ...arrays import Floats, Ints
from ...engine.progress import Progress
from ...estimators.encoder import as_levels
from ...expect import InputError, counted, nearest
from ...intervals import Estimate, around, bounded, by_group, crossed_standard_error
from ...splits import PerRow, fold_of_rows, sorted_by_class
from ...tables.data import Data
from .near_rows import (
    by_columns,
    continuous_columns,
    distances,
    kinship,
    near_blocks,
    nearest_is_alike,
    scaled,
)
from .quick_models import (
    FOLDS,
    as_points,
    class_weights,
    even_sample,
    labelled_rows,
    place_in_class,
    predicted,
    without,
)
from .verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked

ORDER, COLUMN, NEAR = "file order", "column", "near rows"
NEAREST = "nearest row"
SHOWN = 3
"""Candidates that are named where nothing can be decided."""
BLOCKS = 50
"""Consecutive rows of a class are cut into this many blocks, which are dealt to folds: so blocks of every part of the
file remain to train on, and what changes slowly along it does no harm."""
FEW = 8
"""Up to so many groups are left out one by one; more are dealt to folds. What few show holds for these groups alone."""
FALL, LARGE, RELATIVE, COARSE = 0.03, 0.1, 0.25, 0.5
"""A fall in balanced accuracy matters if it is so much, and either large or this share of what balanced accuracy has
above chance; of near rows and few groups a larger share, because any learner is worse where it has no rows near."""
CHANCE = 0.01
"""Probability that any candidate is found where none ties rows (Holm, over candidates)."""
FIRST_ROWS, MOST_ROWS = 2_000, 6_000
"""Rows that are fitted first, and if these leave a candidate open: stretches of consecutive rows, or whole groups."""
MOST_NEAR = 20_000
"""Rows among which near ones are searched."""
LEAST_GROUPS, LARGEST_SHARE = 2, 2 / 3
"""A column can name groups if it has so many values, two rows or more each on average, and none with more rows."""
KNOWN_DATES = 0.9
"""Share of a column's values that must be dates, for it to be read as dates."""
MOST_COLUMNS, QUERIES, REPEATS = 8, 1500, 3
"""Columns that are measured with the learner; rows whose nearest rows say which; draws of folds if one leaves it open."""
KINSHIP = "of near rows of the same class, those in the same group beyond chance"
NAMES = re.compile(
    r"(^|[^a-z])(id|ids|key|code|nr|no|name|patient|subject|person|user|customer|client|session|group|site|batch|device|"
    r"household|family|case|visit|author|speaker|writer|day|date)([^a-z]|$)|id$",
    re.IGNORECASE,
)
"""Names that columns of groups often have; these are measured first."""


@dataclass(frozen=True)
class Tie:
    """What may tie rows together: file order, a column, or nearness; and what accuracy is without rows so tied.

    `shuffled` and `apart` are the accuracies on the same rows, with folds drawn at random and with whole groups left
    out; both leave the same share of each class. `fall` is the difference in balanced accuracy, with its interval over
    groups (Student's t), `p_value` that of no fall, and `relevant` the fall that would matter. `learner` predicted.
    `verdict`: found, no (a fall that matters is excluded), or undecided. For file order, if rows belong together,
    `apart` is the accuracy with a fifth of the file left out at a time.
    """

    kind: str
    name: str
    groups: int
    rows: int
    shuffled: Estimate
    apart: Estimate
    fall: Estimate
    p_value: float
    relevant: float
    learner: str
    verdict: str = UNDECIDED

    @property
    def what(self) -> str:
        """In words: what ties rows together."""
        named = {ORDER: "neighbouring rows of the file", NEAR: "rows that are nearly the same"}
        return named.get(self.kind, f"rows with the same {self.name}")


@dataclass(frozen=True)
class Dependence(Check, unit="share of rows predicted correctly"):
    """Result of `dependence`. `ties` has what was measured, largest fall first; `missing` why the rest was not."""

    ties: tuple[Tie, ...]
    missing: dict[str, str]
    learner: str
    n_rows: int
    seed: int

    @property
    def found(self) -> tuple[Tie, ...]:
        """What ties rows together, largest fall first."""
        return tuple(tie for tie in self.ties if tie.verdict == FOUND)

    def summary(self) -> dict[str, Estimate]:
        """Accuracy on shuffled rows and with whole groups left out."""
        ways = ("shuffled", "shuffled"), ("left out together", "apart")
        return {f"{tie.name}: {words}": getattr(tie, field) for tie in self.ties for words, field in ways}

    def looked_at(self) -> tuple[Looked, ...]:
        """Each candidate: accuracy with and without tied rows, and the fall."""
        looked = [
            Looked(tie.name, tie.verdict, {name: getattr(tie, name) for name in ("shuffled", "apart", "fall")})
            for tie in self.ties
        ]
        return (*looked, *(Looked(name, UNDECIDED, {}) for name in self.missing))

    def __str__(self) -> str:
        parts = [
            f"{tie.what} ({tie.groups} groups): accuracy {tie.shuffled.value:.1%} on shuffled rows, "
            f"{tie.apart.value:.1%} when they are left out together"
            for tie in self.found
        ]
        sentences = [f"Rows belong together: {'; '.join(parts)}. Pass them as groups (or time)."] if parts else []
        open_ties = [
            f"{tie.name} ({tie.groups} groups): a fall of up to {tie.fall.high:.2f} is possible"
            for tie in self.ties
            if tie.verdict == UNDECIDED
        ] + [f"{name}: {why}" for name, why in self.missing.items()]
        if open_ties:
            shown = "; ".join(open_ties[:SHOWN]) + f"; and {len(open_ties) - SHOWN} more" * (len(open_ties) > SHOWN)
            sentences.append(f"Whether rows belong together cannot be decided for {shown}.")
        excluded = [tie.fall.high for tie in self.ties if tie.verdict == NOTHING]
        if excluded:
            largest = max(0.0, *excluded)
            sentences.append(
                f"{counted(len(excluded), 'candidate')} for groups in {self.n_rows:,} rows: a fall in balanced "
                f"accuracy by more than {largest:.2f} is excluded."
            )
        return " ".join(sentences) or "Nothing in these rows can tie them together."


def dependence(
    X: Any,
    y: ArrayLike,
    *,
    learner: Any = None,
    order: bool = True,
    columns: Iterable[str] | None = None,
    near: bool = True,
    groups: Any = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Dependence:
    """Say whether rows belong together, and by how much accuracy falls when such rows are left out together.

    Rows of one patient, or seconds of one recording, are alike. If some of them are trained on, the others are easy,
    and accuracy on shuffled rows says little about a new patient. Candidates are neighbouring rows of the file (short
    blocks, and fifths), rows with the same value of a column (dates by day or month; the column itself is left out of
    the fits), and rows that are nearly the same. For each: balanced accuracy with folds at random minus that with whole
    groups left out. Both leave out as many rows of each class, so a file that is sorted by class shows nothing.

    Fall 0: rows are as good as independent; higher is worse. A fall matters from 3 points, and from a quarter of what
    balanced accuracy has above chance (near rows: half of it). Rows *belong together* if the fall is that large and
    above 0 (Student's t over groups, 1 % over all candidates by Holm's rule). They do *not* if the 95 % interval of the
    fall excludes one that matters, first of the nearest row as the learner, which is quick. Else it *cannot be
    decided*: with 3 to 8 groups the interval is often too wide. At most 8 columns that the nearest row leaves open are
    measured, likely names first.

    It misleads if deployment sees the same groups again (the same machines, the same customers): then shuffled accuracy
    is right. Many small clusters that are real kinds of cases look like groups of near rows. It cannot see groups that
    no column, no order and no nearness shows, nor columns with two values; groups with fewer than two rows
    on average in large tables are lost in the sample of 6,000 rows.

    Parameters
    ----------
    X, y : rows in the order of the file, and labels
    learner : an unfitted classifier; default: a forest of 30 trees
    order : whether to look at the order of the rows
    columns : names of columns that may name groups; default: columns with 3 or more repeated values. () for none
    near : whether to look for groups of near rows
    groups : groups that are known: what is reported then comes on top of them
    random_state : seed of folds, samples and fits
    progress : show a progress bar on stderr

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(60), 10)
    >>> X = rng.normal(size=(60, 5))[patient] + 0.1 * rng.normal(size=(600, 5))
    >>> y = rng.integers(2, size=60)[patient]  # nothing to learn but who it is
    >>> tie = dependence(X, y, order=False).found[0]
    >>> tie.kind, bool(tie.shuffled.value > 0.9), bool(tie.apart.value < 0.7)
    ('near rows', True, True)

    """
    table = labelled_rows(X, y, groups)
    seed = seeds.settle(random_state)
    search = _Search(table, learner, seed, progress)
    if order:
        search.order()
    search.columns(columns)
    if near:
        search.near()
    ties = tuple(sorted(_judged(search.ties), key=lambda tie: -tie.fall.value))
    return Dependence(ties, search.missing, search.shown_learner, len(table), seed)


def _judged(ties: list[Tie]) -> list[Tie]:
    """The verdict of each: found by Holm's rule over all candidates, no if a fall that matters is excluded."""
    judged, rejected = [], True
    for place, tie in enumerate(sorted(ties, key=lambda tie: tie.p_value)):
        rejected = rejected and tie.p_value <= CHANCE / (len(ties) - place)
        open_or_no = NOTHING if tie.fall.high < tie.relevant else UNDECIDED
        judged.append(replace(tie, verdict=FOUND if rejected and tie.fall.value >= tie.relevant else open_or_no))
    return judged


def _columns(table: Data, columns: Iterable[str] | None) -> dict[str, Ints]:
    """Columns that may name groups, with the group of each row: those given, or those with values that repeat."""
    X = table.X
    if columns is None:
        grouped = {str(name): _values(X[name]) for name in X.columns if _is_discrete(X[name])}
        sizes = {name: np.bincount(_united(values, table.groups)) for name, values in grouped.items()}
        return {
            name: values
            for name, values in grouped.items()
            if LEAST_GROUPS <= sizes[name].size <= len(X) / 2 and sizes[name].max() <= LARGEST_SHARE * len(X)
        }
    chosen = [str(name) for name in ([columns] if isinstance(columns, str) else columns)]
    for name in chosen:
        if name not in X:
            raise InputError(f"`columns` names {name!r}, which `X` does not have.{nearest(name, X.columns)}")
    return {name: _values(X[name]) for name in chosen}


def _is_discrete(column: pd.Series[Any]) -> bool:
    return not (column.dtype.kind == "f" and (column.dropna() % 1 != 0).any())


def _sorts_file(values: Ints) -> bool:
    """Whether equal values that repeat are all next to each other."""
    number = np.unique(values).size
    return 1 < number <= values.size / 2 and np.count_nonzero(np.diff(values)) == number - 1


def _values(column: pd.Series[Any]) -> Ints:
    """The values as codes; those of dates that hardly repeat by day, or by month."""
    if column.nunique() > len(column) / 2 and column.dtype.kind not in "iufb":
        dates = pd.to_datetime(column, errors="coerce", format="ISO8601", utc=True)
        if dates.notna().mean() > KNOWN_DATES:
            days = dates.dt.strftime("%Y-%m-%d")
            column = days if days.nunique() <= len(days) / 2 else dates.dt.strftime("%Y-%m")
    in_order = column.dtype.kind in "iuf"
    codes = pd.factorize(column, sort=True, use_na_sentinel=False)[0] if in_order else as_levels(column)[0]
    return np.asarray(codes, dtype=np.int64)


@dataclass(frozen=True)
class _Candidate:
    """Rows and the groups that may tie them; `sample(n)` draws about n rows; `deal` is the fold of each row, if known.

    `is_number`: the groups are values of a column of numbers, which may be a measurement.
    """

    kind: str
    name: str
    table: Data
    tied: Ints
    sample: Callable[[int], Ints]
    deal: Ints | None = None
    is_number: bool = False


class _Search:
    """Measures candidates one by one."""

    def __init__(self, table: Data, learner: Any, seed: int, progress: bool) -> None:
        self.table, self.learner, self.seed, self.progress = table, learner, seed, progress
        self.shown_learner = "RandomForestClassifier" if learner is None else type(learner).__name__
        self.ties: list[Tie] = []
        self.missing: dict[str, str] = {}

    def order(self) -> None:
        """Consecutive rows of the file: short blocks, dealt to folds, and fifths. The one that speaks more for a tie.

        Fifths of a file that is sorted by a column would only leave out values of that column.
        """
        codes = self.table.codes
        place = place_in_class(codes) / np.bincount(codes)[codes]
        blocks, fifths = ((place * number).astype(np.int64) for number in (max(min(BLOCKS, codes.size // 10), 5), 5))
        short = _Candidate(ORDER, ORDER, self.table, blocks, partial(_stretches, codes.size))
        sorts = any(_is_discrete(column) and _sorts_file(_values(column)) for _, column in self.table.X.items())
        both = [short] if sorts or self.table.groups is not None else [short, replace(short, deal=fifths)]
        ties = [replace(tie, p_value=min(2 * tie.p_value, 1.0)) for tie in map(self._decided, both) if tie is not None]
        if ties:
            most = max(ties, key=lambda tie: (_stands_out(tie), tie.fall.high))
            self.ties.append(replace(most, apart=ties[-1].apart))

    def columns(self, columns: Iterable[str] | None) -> None:
        """Rows with the same value of a column; those that the nearest rows leave open with the learner."""
        still_open = []
        for name, values in (_columns(self.table, columns) if self.table.X.shape[1] > 1 else {}).items():
            is_number = columns is None and self.table.X[name].dtype.kind in "iuf" and not NAMES.search(name)
            sample = partial(_of_groups, values, self.seed)
            candidate = _Candidate(COLUMN, name, without(self.table, [name]), values, sample, is_number=is_number)
            tie = self._quick(candidate)
            if tie is not None and tie.fall.high >= tie.relevant:
                still_open.append((not NAMES.search(name), -tie.fall.value, name, candidate, tie))
            elif tie is not None:
                self.ties.append(tie)
        for place, (_, _, _, candidate, tie) in enumerate(sorted(still_open, key=lambda row: row[:3])):
            self.ties.append(self._learned(candidate) if place < MOST_COLUMNS else replace(tie, p_value=1.0))

    def near(self) -> None:
        """Rows that are nearly the same. Copies are left out: they are another matter."""
        rows = np.arange(len(self.table))
        if rows.size > MOST_NEAR:
            rows = np.sort(seeds.generator(self.seed, "near").choice(rows.size, MOST_NEAR, replace=False))
        _, first = np.unique(self.table.row_hashes[rows], return_index=True)
        rows = rows[np.sort(first)]
        values = as_points(self.table.X.iloc[rows])
        columns = continuous_columns(values)
        if len(columns) < 2:
            return
        table, points = self.table.take(rows), scaled(values[:, columns], self.seed)
        groups = near_blocks(points, self.seed)
        tie = self._decided(_Candidate(NEAR, NEAR, table, groups, partial(_of_groups, groups, self.seed)))
        self.ties += [] if tie is None else [tie]

    def _decided(self, candidate: _Candidate) -> Tie | None:
        """By the nearest rows; with the learner if these leave a fall that matters possible."""
        tie = self._quick(candidate)
        return tie if tie is None or tie.fall.high < tie.relevant else self._learned(candidate)

    def _quick(self, candidate: _Candidate) -> Tie | None:
        """By the nearest rows. None for what cannot be groups: measurements, one value for most of the rows."""
        rows, part, groups = self._part(candidate, FIRST_ROWS)
        sizes = np.bincount(groups)
        if sizes.size < LEAST_GROUPS or sizes.max() > LARGEST_SHARE * groups.size:
            self.missing[candidate.name] = "it has one value, or one in more than three quarters of the rows"
            return None
        points = scaled(as_points(part.X), self.seed)
        told, ordered = by_columns(points, part.codes, groups)
        if candidate.is_number and told and ordered:
            return None
        folds = self._folds(candidate, part, groups, rows, self.seed)
        queries = even_sample(part.codes, QUERIES, self.seed)
        right = [np.zeros(queries.size) for _ in folds]
        kin, number = np.zeros(queries.size), int(np.clip(groups.size / (2 * sizes.size * part.classes.size), 1, 10))
        start = 0
        for here, away in distances(points, queries, part.groups):
            span = slice(start, start := start + here.size)
            for values, fold in zip(right, folds):
                values[span] = nearest_is_alike(away, here, part.codes, fold[here, None] == fold[None, :])
            kin[span] = kinship(away, here, part.codes, groups, number)
        tie = _compared(candidate, part.take(queries), groups[queries], *right, NEAREST)
        alike = around(float(kin.mean()), float(kin.std()) / np.sqrt(kin.size), 0.95, KINSHIP)
        if candidate.kind != NEAR and not told and alike.high < FALL:
            return replace(tie, fall=alike)
        # What the nearest row does not learn says nothing.
        return tie if tie.relevant > FALL else replace(tie, fall=replace(tie.fall, high=1.0))

    def _learned(self, candidate: _Candidate) -> Tie:
        """With the learner on few rows; if that leaves it open, on more of them or with more folds."""
        tie = None
        for most, repeats in ((FIRST_ROWS, 1), (MOST_ROWS, REPEATS)):
            rows, part, groups = self._part(candidate, most)
            right = [
                self._right(candidate.name, part, *self._folds(candidate, part, groups, rows, self.seed + repeat))
                for repeat in range(repeats if rows.size <= FIRST_ROWS else 1)
            ]
            tie = _compared(candidate, part, groups, *np.mean(right, axis=0), self.shown_learner)
            if tie.fall.high < tie.relevant or _stands_out(tie):
                break
        return tie

    def _part(self, candidate: _Candidate, most: int) -> tuple[Ints, Data, Ints]:
        """Some rows, and groups that keep together what the candidate or known groups do."""
        rows, known = candidate.sample(most), candidate.table.groups
        groups = _united(candidate.tied[rows], None if known is None else known[rows])
        return rows, candidate.table.take(rows), groups

    def _folds(self, candidate: _Candidate, table: Data, groups: Ints, rows: Ints, seed: int) -> tuple[Ints, Ints]:
        """Folds at random and of whole groups, with as many rows of each class."""
        if candidate.deal is not None:
            deal = candidate.deal[rows]
        elif groups.max() < FEW:
            deal = groups
        else:
            deal = fold_of_rows(table.codes, FOLDS, seed, PerRow(groups=groups))
        known = np.arange(len(table)) if table.groups is None else table.groups
        _, first, unit = np.unique(known, return_index=True, return_inverse=True)
        return _within_classes(deal[first], table.codes[first], seed)[unit], deal

    def _right(self, name: str, table: Data, *folds: Ints) -> list[Floats]:
        """Whether each row is predicted correctly by a fit without its fold."""
        with Progress(2 * (int(folds[0].max()) + 1), f"rows that belong together: {name}", self.progress) as bar:
            return [
                (predicted(table, self.learner, fold, self.seed, bar.advance) == table.codes).astype(float)
                for fold in folds
            ]


def _stands_out(tie: Tie) -> bool:
    return tie.p_value <= CHANCE and tie.fall.value >= tie.relevant


def _compared(candidate: _Candidate, table: Data, groups: Ints, shuffled: Floats, apart: Floats, learner: str) -> Tie:
    """What is lost if groups are left out, from how often each row was predicted correctly in both ways."""
    weights = class_weights(table.codes, table.classes.size)
    fall, chance = _mean((shuffled - apart) * weights, groups, -1.0)
    above = float((shuffled * weights).mean()) - 1 / np.unique(table.codes).size
    is_coarse = candidate.kind == NEAR or _worth(groups) <= FEW
    return Tie(
        kind=candidate.kind,
        name=candidate.name,
        groups=np.unique(groups).size,
        rows=groups.size,
        shuffled=_mean(shuffled, groups)[0],
        apart=_mean(apart, groups)[0],
        fall=fall,
        p_value=chance,
        relevant=max(FALL, COARSE * above if is_coarse else min(RELATIVE * above, LARGE)),
        learner=learner,
    )


def _worth(groups: Ints) -> int:
    """Groups of equal size that would vary as much: a few large ones say less than their number."""
    sizes = np.unique(groups, return_counts=True)[1]
    return max(round(groups.size**2 / float((sizes**2).sum())), 2)


def _mean(values: Floats, groups: Ints, least: float = 0.0) -> tuple[Estimate, float]:
    """The mean, and the p-value of a mean of 0: over groups; if they are few, over the rows of just these."""
    number, value = _worth(groups), float(values.mean())
    if number <= FEW:
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        inside = values - (np.bincount(codes, values) / sizes)[codes]
        error, number, over = float(np.linalg.norm(inside)) / groups.size, groups.size, "over rows of these groups"
    else:
        error, over = crossed_standard_error(by_group(values[None, :], groups)), "over groups"
    chance = float(stats.t.sf(value / error, number - 1)) if error > 0 else float(value <= 0)
    return bounded(value, error, groups.size, 0.95, over, number, least), chance


def _within_classes(key: Ints, codes: Ints, seed: int) -> Ints:
    """The keys, shuffled among rows of the same class."""
    shuffled = np.empty_like(key)
    drawn = sorted_by_class(codes, seeds.generator(seed, "shuffle within classes"))
    shuffled[np.argsort(codes, kind="stable")] = key[drawn]
    return shuffled


def _stretches(rows: int, most: int) -> Ints:
    """All rows, or stretches of consecutive rows at even steps, one for each block."""
    if rows <= most:
        return np.arange(rows)
    length = most // BLOCKS
    starts = (np.arange(BLOCKS) * rows / BLOCKS).astype(np.int64)
    return (starts[:, None] + np.arange(length)).ravel()


def _of_groups(groups: Ints, seed: int, most: int) -> Ints:
    """All rows, or those of groups drawn at random until there are so many; of large groups, some rows."""
    generator = seeds.generator(seed, "whole groups")
    names, codes = np.unique(groups, return_inverse=True)
    drawn = generator.permutation(groups.size)
    rows = (
        drawn[place_in_class(codes[drawn]) < max(most // min(names.size, BLOCKS), 1)] if groups.size > most else drawn
    )
    order = generator.permutation(names.size)
    sizes = np.bincount(codes[rows], minlength=names.size)[order]
    chosen = order[: max(int(np.searchsorted(np.cumsum(sizes), most, side="right")), 1)]
    return np.sort(rows[np.isin(codes[rows], chosen)])


def _united(one: Ints, other: Ints | None) -> Ints:
    """Groups that keep together what either of two groupings keeps together, numbered from 0."""
    first = np.unique(one, return_inverse=True)[1]
    if other is None:
        return np.asarray(first, dtype=np.int64)
    second = np.unique(other, return_inverse=True)[1]
    number = int(first.max()) + 1
    size = number + int(second.max()) + 1
    links = sparse.csr_array((np.ones(first.size, dtype=np.int8), (first, number + second)), shape=(size, size))
    joined = connected_components(links, directed=False)[1][first]
    return np.asarray(np.unique(joined, return_inverse=True)[1], dtype=np.int64)
