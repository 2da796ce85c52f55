"""`dependence`: do rows belong together, so that accuracy on shuffled rows promises too much?

Candidates are the order of the file, columns that look like the name of a group, and rows that are near each other.
Each is first screened by the nearest neighbour, which takes a second, and then measured with a learner.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ... import seeds
from ...arrays import Floats, Ints, Mask
from ...engine.progress import Progress
from ...estimators.encoder import as_levels, kind_of_column
from ...expect import InputError, counted, nearest
from ...intervals import Estimate, around, by_group, crossed_standard_error, of_proportion_by_group
from ...splits import PerRow, fold_of_rows, sorted_by_class
from ...tables.data import Data
from .near_rows import Points, continuous_columns, distances, near_groups, nearest_is_alike, scaled
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
NOT_SCREENED = Estimate(math.nan, -1.0, 1.0, kind="not screened")
BLOCKS = 50
"""Consecutive rows of a class are cut into this many blocks, which are dealt to folds: so blocks of every part of the
file remain to train on, and what changes slowly along it does no harm."""
QUERIES, DRAWS = 1000, 3
"""Rows whose nearest neighbour is looked up, and shuffles within classes with which the screen compares."""
SCREEN, ABOVE, ERRORS = 0.03, 0.12, 4.0
"""A candidate is measured if neighbours share labels more often by this, by this share of what they do above chance,
and by so many standard errors."""
FALL, RELATIVE = 0.03, 0.25
"""Rows belong together if balanced accuracy falls by so much, and by this share of what it has above chance."""
LEVEL = 0.999
"""Confidence level of the interval of the fall, which must be above 0."""
MOST_ROWS = 6_000
"""Rows that are fitted; of a larger table, stretches of consecutive rows or whole groups."""
MOST_NEAR = 50_000
"""Rows among which near ones are searched."""
LEAST_GROUPS, LARGEST_SHARE = 20, 0.1
"""A column can name groups if it has so many values, two rows or more each on average, and none with more rows."""
MOST_COLUMNS = 12
NAMES = re.compile(
    r"(^|[^a-z])(id|ids|key|code|nr|no|name|patient|subject|person|user|customer|client|session|group|site|batch|device|"
    r"household|family|case|visit|author|speaker|writer|day|date)([^a-z]|$)|id$",
    re.IGNORECASE,
)
"""Names that columns of groups often have; these are looked at first."""


@dataclass(frozen=True)
class Tie:
    """What may tie rows together: file order, a column, or nearness; and what accuracy is without rows so tied.

    `shuffled` and `apart` are the accuracies on the same rows, with folds drawn at random and with whole groups left
    out; both leave the same share of each class. `fall` is the difference in balanced accuracy, with its interval
    over groups. `belong` is whether it is large enough to say that rows belong together. For file order, `fall` is
    that of short blocks, and `apart`, if rows belong together, the accuracy with a fifth of the file left out at a
    time.
    """

    kind: str
    name: str
    groups: int
    rows: int
    shuffled: Estimate
    apart: Estimate
    fall: Estimate
    belong: bool

    @property
    def lost(self) -> float:
        """How much accuracy falls."""
        return self.shuffled.value - self.apart.value

    @property
    def what(self) -> str:
        """In words: what ties rows together."""
        named = {ORDER: "neighbouring rows of the file", NEAR: "rows that are nearly the same"}
        return named.get(self.kind, f"rows with the same {self.name}")


@dataclass(frozen=True)
class Screen:
    """A candidate, before anything is fitted, and whether it was then measured.

    `excess` is how much more often a row's nearest neighbour shares its label than it does without the tied rows;
    near rows are not screened by it.
    """

    kind: str
    name: str
    excess: Estimate
    measured: bool


@dataclass(frozen=True)
class Dependence(Check, unit="share of rows predicted correctly, or additional share of nearest rows with the label"):
    """Result of `dependence`. `ties` has what was measured, largest fall first; `screened` every candidate."""

    ties: tuple[Tie, ...]
    screened: tuple[Screen, ...]
    learner: str
    n_rows: int
    seed: int

    @property
    def found(self) -> tuple[Tie, ...]:
        """What ties rows together, largest fall first."""
        return tuple(tie for tie in self.ties if tie.belong)

    def summary(self) -> dict[str, Estimate]:
        """Accuracy on shuffled rows and with whole groups left out; without any, the excess of each screen."""
        ways = ("shuffled", "shuffled"), ("left out together", "apart")
        figures = {f"{tie.what}: {words}": getattr(tie, name) for tie in self.ties for words, name in ways}
        return figures or {screen.name: screen.excess for screen in self.screened if screen.excess.known}

    def looked_at(self) -> tuple[Looked, ...]:
        """Each candidate: the excess of its screen, and accuracy with and without tied rows if it was measured."""
        by_name = {tie.name: tie for tie in self.ties}
        looked = []
        for screen in self.screened:
            tie, figures = by_name.get(screen.name), {"excess": screen.excess}
            # A candidate that passed the screen is undecided if its rows could not be left out together.
            verdict = UNDECIDED if screen.measured else NOTHING
            if tie is not None:
                figures |= {"shuffled": tie.shuffled, "apart": tie.apart, "fall": tie.fall}
                verdict = FOUND if tie.belong else NOTHING
            looked.append(Looked(screen.name, verdict, figures))
        return tuple(looked)

    def __str__(self) -> str:
        looked = counted(len(self.screened), "candidate")
        if not self.found:
            return f"No sign that rows belong together: {looked} for groups in {self.n_rows:,} rows."
        parts = [
            f"{tie.what} ({tie.groups} groups): accuracy {tie.shuffled.value:.1%} on shuffled rows, "
            f"{tie.apart.value:.1%} when they are left out together"
            for tie in self.found
        ]
        return f"Rows belong together: {'; '.join(parts)}. Pass them as groups (or time)."


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
    and accuracy on shuffled rows says little about a new patient. For each candidate (neighbouring rows of the file;
    rows with the same value of a column; rows that are nearly the same):

    1. Screen: how often a row's nearest neighbour has its label, with and without the tied rows, against the same ties
       shuffled within each class. So a file that is sorted by class shows nothing.
    2. Measure: balanced accuracy with folds at random minus that with whole groups left out, both with the same share
    of
       each class in every fold. File order: blocks of consecutive rows of a class, dealt at random to the folds, so
       that a slow change along the file shows little. Columns: without that column, in both.

    Fall 0: rows are as good as independent; higher is worse. Rows *belong together* if the fall is at least 3 points, a
    quarter of what balanced accuracy has above chance, and its 99.9 % interval is above 0.

    It misleads if deployment sees the same groups again (the same machines, the same customers): then shuffled accuracy
    is right. Many small clusters that are real kinds of cases look like groups of near rows. It cannot see groups that
    no column, no order and no nearness shows, nor nearness in columns with few values; groups with fewer than two rows
    on average in large tables are lost in the sample of 6,000 rows.

    Parameters
    ----------
    X, y : rows in the order of the file, and labels
    learner : an unfitted classifier; default: a forest of 30 trees
    order : whether to look at the order of the rows
    columns : names of columns that may name groups; default: columns with many repeated values. () for none
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
    for name in _columns(table.X, columns):
        search.column(name)
    if near:
        search.near()
    ties = tuple(sorted(search.ties, key=lambda tie: -tie.fall.value))
    shown_learner = "RandomForestClassifier" if learner is None else type(learner).__name__
    return Dependence(ties, tuple(search.screened), shown_learner, len(table), seed)


def _columns(X: pd.DataFrame, columns: Iterable[str] | None) -> list[str]:
    """Columns that may name groups: those given, or those with many values that repeat, likely names first."""
    if columns is not None:
        chosen = [str(name) for name in ([columns] if isinstance(columns, str) else columns)]
        for name in chosen:
            if name not in X:
                raise InputError(f"`columns` names {name!r}, which `X` does not have.{nearest(name, X.columns)}")
        return chosen
    able = [str(name) for name in X.columns if _can_name_groups(X[name])]
    return sorted(able, key=lambda name: not NAMES.search(name))[:MOST_COLUMNS]


def _can_name_groups(column: pd.Series[Any]) -> bool:
    if kind_of_column(column) == "text":
        return False
    if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any():
        return False
    counts = column.value_counts(dropna=False)
    sizes_fit = LEAST_GROUPS <= len(counts) <= len(column) / 2
    return bool(sizes_fit and counts.iloc[0] <= max(LARGEST_SHARE * len(column), 2))


class _Search:
    """Screens candidates one by one, and measures those that the screen lets through."""

    def __init__(self, table: Data, learner: Any, seed: int, progress: bool) -> None:
        self.table, self.learner, self.seed, self.progress = table, learner, seed, progress
        self.ties: list[Tie] = []
        self.screened: list[Screen] = []

    def order(self) -> None:
        """Consecutive rows of the file."""
        rows = _stretches(len(self.table), MOST_ROWS)
        table = self.table.take(rows)
        reach = max(rows.size // (2 * BLOCKS), 2)
        points = scaled(as_points(table.X), self.seed)
        # Rows of different stretches are not neighbours.
        place = np.arange(rows.size) + reach * 2 * np.cumsum(np.diff(rows, prepend=rows[0] - 1) > 1)
        if not self._passes(ORDER, ORDER, points, table, place, reach):
            return
        number = max(min(BLOCKS, rows.size // 10), FOLDS)
        block = (place_in_class(table.codes) * number / np.bincount(table.codes)[table.codes]).astype(np.int64)
        self._measure(ORDER, ORDER, table, block)

    def column(self, name: str) -> None:
        """Rows with the same value of a column."""
        codes = as_levels(self.table.X[name])[0].astype(np.int64)
        rows = _whole_groups(codes, MOST_ROWS, self.seed)
        table = self.table.take(rows)
        rest = without(table, [name])
        if rest.X.shape[1] == 0:
            return
        points = scaled(as_points(rest.X), self.seed)
        if self._passes(COLUMN, name, points, table, codes[rows], 0):
            self._measure(COLUMN, name, rest, codes[rows])

    def near(self) -> None:
        """Rows that are nearly the same. Copies are left out: they are another matter."""
        rows = np.arange(len(self.table))
        if rows.size > MOST_NEAR:
            rows = np.sort(seeds.generator(self.seed, "near").choice(rows.size, MOST_NEAR, replace=False))
        _, first = np.unique(self.table.row_hashes[rows], return_index=True)
        rows = rows[np.sort(first)]
        values = as_points(self.table.X.iloc[rows])
        columns = continuous_columns(values)
        groups = None
        if len(columns) >= 2:
            points = scaled(values[:, columns], self.seed)
            known = None if self.table.groups is None else self.table.groups[rows]
            groups = near_groups(points, self.table.codes[rows], known, self.seed)
        self.screened.append(Screen(NEAR, NEAR, NOT_SCREENED, groups is not None))
        if groups is not None:
            kept = _whole_groups(groups, MOST_ROWS, self.seed)
            self._measure(NEAR, NEAR, self.table.take(rows[kept]), groups[kept])

    def _passes(self, kind: str, name: str, points: Points, table: Data, key: Ints, reach: int) -> bool:
        excess, error, above = _excess(points, table, key, reach, self.seed)
        passes = bool(excess >= max(SCREEN, ERRORS * error, ABOVE * above))
        self.screened.append(Screen(kind, name, around(excess, error), passes))
        return passes

    def _measure(self, kind: str, name: str, table: Data, tied: Ints) -> None:
        known = table.groups
        groups = tied if known is None else _united(tied, known)
        if np.unique(groups).size < FOLDS or np.bincount(groups).max() > 0.5 * groups.size:
            return
        deal = fold_of_rows(table.codes, FOLDS, self.seed, PerRow(groups=groups))
        if _takes_classes(table.codes, deal):
            return
        at_random = fold_of_rows(table.codes, FOLDS, self.seed, PerRow(groups=known))
        shuffled, apart = self._right(table, at_random, name), self._right(table, deal, name)
        weights = class_weights(table.codes, table.classes.size)
        lost = (shuffled.astype(float) - apart) * weights
        error = crossed_standard_error(by_group(lost[None, :], groups))
        number = int(np.unique(groups).size)
        fall = around(float(lost.mean()), error, LEVEL, "over groups", number)
        above = float((shuffled * weights).mean()) - 1 / np.unique(table.codes).size
        belong = fall.value >= max(FALL, RELATIVE * above) and fall.low > 0
        if belong and kind == ORDER and known is None:
            apart = self._right(table, tied * FOLDS // (int(tied.max()) + 1), name)
        self.ties.append(
            Tie(
                kind=kind,
                name=name,
                groups=number,
                rows=table.codes.size,
                shuffled=of_proportion_by_group(shuffled, groups),
                apart=of_proportion_by_group(apart, groups),
                fall=fall,
                belong=belong,
            )
        )

    def _right(self, table: Data, folds: Ints, name: str) -> Mask:
        """Which rows are predicted correctly by fits without their fold."""
        with Progress(FOLDS, f"rows that belong together: {name}", self.progress) as bar:
            return np.asarray(predicted(table, self.learner, folds, self.seed, bar.advance) == table.codes)


def _excess(points: Points, table: Data, key: Ints, reach: int, seed: int) -> tuple[float, float, float]:
    """How much more often nearest neighbours share labels with tied rows than without, its standard error, and how much
    more often they do than by chance.

    Rows are tied if their keys differ by at most `reach`. Compared with keys shuffled within classes, which rule out as
    many rows of each class. The mean of classes, each counting the same.
    """
    codes, groups = table.codes, table.groups
    queries = even_sample(codes, QUERIES, seed)
    shuffled = [_within_classes(key, codes, seed, draw) for draw in range(DRAWS)]
    apart: list[Floats] = []
    at_random: list[Floats] = []
    for here, away in distances(points, queries, groups):

        def alike(keys: Ints, here: Ints = here, away: Points = away) -> Floats:
            tied = np.abs(keys[here, None] - keys[None, :]) <= reach
            return nearest_is_alike(away, here, codes, tied).astype(float)

        apart.append(alike(key))
        at_random.append(np.mean([alike(keys) for keys in shuffled], axis=0))
    lost = np.concatenate(at_random) - np.concatenate(apart)
    own = codes[queries]
    parts = [np.flatnonzero(own == code) for code in np.unique(own) if (own == code).sum() > 1]
    if not parts:  # every class has a single query: nothing to compare
        return 0.0, 0.0, 0.0
    error = np.sqrt(sum(lost[part].var(ddof=1) / part.size for part in parts)) / len(parts)
    usual = np.concatenate(at_random)
    above = np.mean([usual[part].mean() for part in parts]) - 1 / len(parts)
    return float(np.mean([lost[part].mean() for part in parts])), float(error), float(above)


def _within_classes(key: Ints, codes: Ints, seed: int, draw: int) -> Ints:
    """The keys, shuffled among rows of the same class."""
    shuffled = np.empty_like(key)
    drawn = sorted_by_class(codes, seeds.generator(seed, "shuffle within classes", draw))
    shuffled[np.argsort(codes, kind="stable")] = key[drawn]
    return shuffled


def _takes_classes(codes: Ints, folds: Ints) -> bool:
    """Whether more than a tenth of the rows are in a fold with most of their class: then the class is what is lost."""
    counts = np.zeros((int(codes.max()) + 1, int(folds.max()) + 1))
    np.add.at(counts, (codes, folds), 1)
    most = counts > 0.5 * counts.sum(axis=1, keepdims=True)
    return bool(counts[most].sum() > 0.1 * codes.size)


def _stretches(rows: int, most: int) -> Ints:
    """All rows, or stretches of consecutive rows at even steps, one for each block."""
    if rows <= most:
        return np.arange(rows)
    length = most // BLOCKS
    starts = (np.arange(BLOCKS) * rows / BLOCKS).astype(np.int64)
    return (starts[:, None] + np.arange(length)).ravel()


def _whole_groups(groups: Ints, most: int, seed: int) -> Ints:
    """All rows, or those of groups drawn at random until there are so many."""
    if groups.size <= most:
        return np.arange(groups.size)
    names, codes = np.unique(groups, return_inverse=True)
    order = seeds.generator(seed, "whole groups").permutation(names.size)
    sizes = np.bincount(codes)[order]
    chosen = order[: max(int(np.searchsorted(np.cumsum(sizes), most)), 1)]
    return np.flatnonzero(np.isin(codes, chosen))


def _united(one: Ints, other: Ints) -> Ints:
    """Groups that keep together what either of two groupings keeps together."""
    first, second = (np.unique(names, return_inverse=True)[1] for names in (one, other))
    number = int(first.max()) + 1
    size = number + int(second.max()) + 1
    links = sparse.csr_array((np.ones(first.size, dtype=np.int8), (first, number + second)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1][first], dtype=np.int64)
