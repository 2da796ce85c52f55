"""Rows split into parts: training and test, folds; by class, by group, or by time.

`PerRow` holds what users give for each row besides `X` and `y`: the group it belongs to, its time, its weight. Rows of
one group are never on both sides of a split, and a split by time trains on the past. Nothing here knows a learner.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from . import seeds
from .arrays import Floats, Ints
from .expect import InputError, shown
from .frames import pandas_of
from .inputs import as_array

LEAST_GROUPS = 4
"""Two halves of the training part and one test part leave no choice below this number."""
DEALT_ONE_BY_ONE = 2000
"""Of more groups, only so many are dealt one by one: the parts of the others are then even by their number."""
GOLDEN = (5**0.5 - 1) / 2


# What is given for each row


@dataclass(frozen=True, eq=False)
class PerRow:
    """Groups as codes from 0 up, time as ranks (rows of the same time share one), weights; None where not given."""

    groups: Ints | None = None
    time: Ints | None = None
    weights: Floats | None = None

    def take(self, rows: Any) -> PerRow:
        """The same for some of the rows; groups and times keep their codes."""
        kept = (None if part is None else part[rows] for part in (self.groups, self.time, self.weights))
        return PerRow(*kept)

    @property
    def given(self) -> dict[str, NDArray[Any]]:
        """Name -> values of what was given, by the names of the arguments."""
        named = {"groups": self.groups, "time": self.time, "sample_weight": self.weights}
        return {name: values for name, values in named.items() if values is not None}


NOTHING = PerRow()


def per_row(groups: Any = None, time: Any = None, sample_weight: Any = None, rows: int = 0) -> PerRow:
    """Check what users give for each of `rows` rows."""
    return PerRow(
        None if groups is None else _group_codes(_column(groups, "groups", rows)),
        None if time is None else _time_ranks(time, rows),
        None if sample_weight is None else _weights(_column(sample_weight, "sample_weight", rows)),
    )


def _column(values: Any, name: str, rows: int) -> pd.Series[Any]:
    """One value per row, none of them missing."""
    if isinstance(values, (str, bytes)) or np.isscalar(values):
        raise InputError(
            f"`{name}` is {values!r}; expected one value per row, such as a column of your table: X[{str(values)!r}]."
        )
    column = pandas_of(values, name)
    if isinstance(column, pd.DataFrame) and column.shape[1] == 1:
        column = column.iloc[:, 0]
    if not isinstance(column, pd.Series):
        array = as_array(column, name)
        if array.ndim == 2 and array.shape[1] == 1:
            array = array[:, 0]
        if array.ndim != 1:
            raise InputError(f"`{name}` has shape {array.shape}; expected one value per row.")
        column = pd.Series(array)
    if column.size != rows:
        raise InputError(f"`{name}` has {column.size} values but `X` has {rows} rows; they must match.")
    missing = np.flatnonzero(column.isna())
    if missing.size:
        raise InputError(
            f"`{name}` is missing in {missing.size} rows (first: {shown(missing, 3)}); every row needs a value. Drop "
            "those rows, or fill them in."
        )
    return column.reset_index(drop=True)


def _group_codes(column: pd.Series[Any]) -> Ints:
    try:
        codes, names = pd.factorize(column)
    except TypeError as error:
        raise InputError(
            f"`groups` has {type(column.iloc[0]).__name__} values; expected one number or text per row."
        ) from error
    if len(names) < LEAST_GROUPS:
        raise InputError(
            f"`groups` has {len(names)} different values ({shown(names, 3)}); at least {LEAST_GROUPS} are needed to "
            "keep whole groups apart in training and test. Use a finer grouping, or leave `groups` out."
        )
    return codes.astype(np.int64)


def time_column(time: Any, rows: int) -> pd.Series[Any]:
    """Dates or numbers, one per row, none of them missing."""
    column = _column(time, "time", rows)
    if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # about formats that differ from row to row
                column = pd.to_datetime(column)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"`time` has values such as {column.iloc[0]!r}; expected dates or numbers, one per row. Convert them "
                "first, such as with pandas.to_datetime."
            ) from error
    return column


def _time_ranks(time: Any, rows: int) -> Ints:
    column = time_column(time, rows)
    ranks = column.rank(method="dense").to_numpy().astype(np.int64) - 1
    if ranks.max() == 0:
        raise InputError(f"`time` is {column.iloc[0]} in every row; expected at least 2 different times.")
    return ranks


def _weights(column: pd.Series[Any]) -> Floats:
    try:
        weights = column.to_numpy(dtype=float)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`sample_weight` has values such as {column.iloc[0]!r}; expected one number per row, 0 or more."
        ) from error
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InputError(
            f"`sample_weight` is {weights[wrong[0]]:g} in row {wrong[0]}; expected finite numbers of 0 or more."
        )
    if not weights.any():
        raise InputError("`sample_weight` is 0 in every row; expected at least one row with a weight above 0.")
    return weights


# Training and test part, and folds, by what is given


def split_rows(codes: Ints, test_size: float, seed: int, rows: PerRow = NOTHING) -> tuple[Ints, Ints]:
    """Training and test rows, in order: by class; with groups, whole groups; with time, the latest rows to test.

    Rows of the same time stay together. With groups and time, rows of groups that are in the test part are in neither
    part before it: training is on the past, and on other groups.
    """
    if rows.time is not None:
        return _split_by_time(rows.time, rows.groups, test_size)
    if rows.groups is not None:
        return _split_by_group(codes, rows.groups, test_size, seed)
    return split_by_share(codes, test_size, seed)


def fold_of_rows(codes: Ints, folds: int, seed: int, rows: PerRow = NOTHING) -> Ints:
    """The fold of every row: at random, of about equal size, and with about equal shares of each class.

    With groups, whole groups. With time, consecutive blocks; -1 is the first block, which is never tested, and fold f
    is to be trained on the blocks before it: `train_rows_of_fold`.
    """
    if rows.time is not None:
        return _blocks_in_time(rows.time, folds)
    generator = seeds.generator(seed, "folds")
    if rows.groups is not None:
        names, group = np.unique(rows.groups, return_inverse=True)
        parts = min(folds, names.size)
        return deal_groups(codes, group, np.full(parts, 1 / parts), generator)[group]
    return folds_by_class(codes, folds, generator)


def train_rows_of_fold(fold_of_row: Ints, fold: int, rows: PerRow = NOTHING) -> Ints:
    """The rows on which fold `fold` is trained: all others; with time, earlier ones, without groups of the fold."""
    kept = fold_of_row != fold if rows.time is None else fold_of_row < fold
    if rows.time is not None and rows.groups is not None:
        kept &= ~np.isin(rows.groups, rows.groups[fold_of_row == fold])
    return np.flatnonzero(kept)


def _split_by_time(time: Ints, groups: Ints | None, test_size: float) -> tuple[Ints, Ints]:
    wanted = max(round(test_size * time.size), 1)
    # The start of the test part is the time at which its number of rows is nearest to the wanted one.
    later = np.cumsum(np.bincount(time)[::-1])[::-1]  # rows at this time or later
    later = later[1:]  # the first time is always in the past
    start = 1 + int(np.argmin(np.abs(later - wanted)))
    test = time >= start
    train = ~test
    if groups is not None:
        train &= ~np.isin(groups, groups[test])
    if not train.any():
        raise InputError(
            f"Every group of `groups` has rows in the latest {int(test.sum())} of {time.size} rows by `time`; no group "
            "is left to train on. Use a smaller test_size, or leave `groups` or `time` out."
        )
    return np.flatnonzero(train), np.flatnonzero(test)


def _split_by_group(codes: Ints, groups: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    _, group = np.unique(groups, return_inverse=True)
    part = deal_groups(codes, group, np.array([1 - test_size, test_size]), seeds.generator(seed, "split by group"))
    test = part[group] == 1
    return np.flatnonzero(~test), np.flatnonzero(test)


def _blocks_in_time(time: Ints, folds: int) -> Ints:
    """Blocks of about equal size in the order of time, rows of one time in the same block; the first is -1."""
    counts = np.bincount(time)
    middle = np.cumsum(counts) - counts / 2
    block = (middle * (folds + 1) / time.size).astype(np.int64)
    block = np.unique(block, return_inverse=True)[1] - 1  # times with many rows may leave blocks without any
    if block.max() < 0:
        raise InputError(f"`time` has {counts.size} different times, too few for folds in the order of time.")
    return block[time]


def deal_groups(codes: Ints, groups: Ints, shares: Floats, generator: np.random.Generator) -> Ints:
    """The part of every group, such that each part has about its share of the rows of each class.

    Groups are dealt in random order, those of twice the size earlier, to where the rows of their classes lack most. A
    group that alone has a class goes to the first part if shares differ. `groups` are codes without gaps.
    """
    n_groups, n_classes = int(groups.max()) + 1, int(codes.max()) + 1
    cells, counts = np.unique(groups * n_classes + codes, return_counts=True)
    owner, classes = cells // n_classes, cells % n_classes
    first = np.searchsorted(owner, np.arange(n_groups + 1))
    totals = np.bincount(codes, minlength=n_classes)
    sizes = np.bincount(groups, minlength=n_groups)
    order = generator.permutation(n_groups)
    order = order[np.argsort(-np.floor(np.log2(sizes[order])), kind="stable")]
    preferred = generator.permutation(shares.size)  # among equals
    part = np.full(n_groups, -1, dtype=np.int64)
    unequal = bool(np.ptp(shares) > 1e-9)
    if unequal:
        part[owner[np.bincount(classes, minlength=n_classes)[classes] == 1]] = 0
        if (part == 0).all():
            raise InputError(
                f"Each of the {n_groups} groups has a class that no other group has; a test part of whole groups would "
                "have classes that are not in the training part. Is `groups` the right column?"
            )
    free = order[part[order] < 0]
    many = free[: max(free.size - DEALT_ONE_BY_ONE, 0)]
    # By the class that is most frequent in the group, and along the golden ratio, which visits all shares evenly.
    frequent = np.zeros(n_groups, dtype=np.int64)
    by_count = np.argsort(counts, kind="stable")
    frequent[owner[by_count]] = classes[by_count]
    many = many[np.argsort(frequent[many], kind="stable")]
    places = (np.arange(many.size) * GOLDEN + generator.random()) % 1
    part[many] = np.searchsorted(np.cumsum(shares)[:-1], places, side="right")
    load = np.zeros((shares.size, n_classes))
    dealt = part[owner] >= 0
    np.add.at(load, (part[owner[dealt]], classes[dealt]), counts[dealt])
    rows = load.sum(axis=1)
    for group in free[many.size :]:
        own, here = classes[first[group] : first[group + 1]], counts[first[group] : first[group + 1]]
        # How much the squared loads, relative to the shares, would grow; by class, then by rows.
        growth = ((2 * load[:, own] + here) * here / totals[own]).sum(axis=1) / shares
        by_rows = (2 * rows + sizes[group]) / shares
        lowest = growth <= growth.min() * (1 + 1e-9)
        lowest &= by_rows <= by_rows[lowest].min() * (1 + 1e-9)
        part[group] = preferred[lowest[preferred]][0]
        load[part[group], own] += here
        rows[part[group]] += sizes[group]
    if unequal and not (part == 1).any():  # a share of less than a group
        part[free[-1]] = 1
    return part


# Splits by class: train and test, folds, fewer rows with the same class shares


def split_by_share(codes: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows, in order; each class gives its share, by largest remainders, so that shares add up.

    A class with one row goes to the training part.
    """
    counts = np.bincount(codes)
    wanted = max(round(test_size * codes.size), 1)
    share = test_size * counts
    taken = np.floor(share).astype(np.int64)
    most = np.maximum(counts - 1, 0)
    for code in np.argsort(-(share - taken), kind="stable")[: wanted - int(taken.sum())]:
        taken[code] += 1
    taken = np.minimum(taken, most)
    generator = seeds.generator(seed, "split")
    test = np.zeros(codes.size, dtype=bool)
    for code, number in enumerate(taken):
        test[generator.permutation(np.flatnonzero(codes == code))[:number]] = True
    return np.flatnonzero(~test), np.flatnonzero(test)


def split_every_class(codes: Ints, test_size: float, seed: int) -> tuple[Ints, Ints]:
    """Training and test rows, in order; every class has at least one of each, but a class of one row none to test."""
    order = sorted_by_class(codes, seeds.generator(seed, "split by class"))
    counts = np.bincount(codes)
    taken = np.clip(np.round(test_size * counts).astype(np.int64), 1, np.maximum(counts - 1, 1))
    taken[counts == 1] = 0
    place = np.arange(codes.size) - np.repeat(np.cumsum(counts) - counts, counts)
    is_test = place < np.repeat(taken, counts)
    return np.sort(order[~is_test]), np.sort(order[is_test])


def folds_by_class(codes: Ints, folds: int, generator: np.random.Generator) -> Ints:
    """The fold of every row: at random, of equal size, and with equal shares of each class."""
    fold = np.empty(codes.size, dtype=np.int64)
    fold[sorted_by_class(codes, generator)] = np.arange(codes.size) % min(folds, codes.size)
    return fold


def sorted_by_class(codes: Ints, generator: np.random.Generator) -> Ints:
    """Row numbers by class, in random order within each class."""
    order = generator.permutation(codes.size)
    return order[np.argsort(codes[order], kind="stable")]


def at_even_steps(rows: Ints, wanted: int, generator: np.random.Generator) -> Ints:
    """Some of the rows, at even steps from a random start: of rows sorted by class, every class keeps its share."""
    return rows[((np.arange(wanted) + generator.random()) * rows.size / wanted).astype(np.int64)]


def by_other_folds(fold_of_row: Ints, answer: Callable[[int, Ints, Ints], Any]) -> NDArray[Any]:
    """A value for every row from the rows of the other folds: `answer(fold, rest, here)` has one for each of `here`."""
    folds = np.unique(fold_of_row)
    rows = [np.flatnonzero(fold_of_row == fold) for fold in folds]
    parts = [
        np.asarray(answer(int(fold), np.flatnonzero(fold_of_row != fold), here)) for fold, here in zip(folds, rows)
    ]
    return np.concatenate(parts)[np.argsort(np.concatenate(rows))]
