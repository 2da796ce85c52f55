"""`shift`: is the test part like the training part, and are rows in both?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ... import seeds
from ...arrays import Floats, Ints
from ...auc import auc, of_auc
from ...engine.progress import Progress
from ...estimators.encoder import as_levels, as_numbers, kind_of_column
from ...estimators.fit import guard
from ...expect import InputError, shown
from ...intervals import Estimate, exact, of_proportion
from ...splits import PerRow, fold_of_rows, per_row
from .quick_models import FOLDS, as_points, left_out, scores_of_part, table_of_rows
from .verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked

MOST_ROWS = 2_500
"""Rows of each part that are told apart; of a larger one, a sample."""
LEVEL, COLUMN_P, COPIES_P = 0.999, 0.005, 0.005
"""Each part of the check has its share of false alarms: the interval of the AUC is above 0.5, the p-value of a column,
times the number of columns, or that of copies is below this.
"""
GAPS = "missing values in a row"
"""Is compared as if it were a column, if several columns have missing values."""
COPIES = 0.01
"""A test part is contaminated from this share of rows with a copy in the training part, above what is usual there."""
POSSIBLE_AUC, POSSIBLE = 0.75, 0.5
"""If an AUC, or a distance of a column, above these is possible, nothing is decided."""
DRAWS, MOST_COPIED = 999, 3_000
"""Random splits that copies are compared with, and values of rows that are split."""
MOST_SHOWN = 12
"""Columns in the chart."""


@dataclass(frozen=True)
class ShiftedColumn:
    """How one column differs: the Kolmogorov–Smirnov distance of numbers, or the total variation of categories.

    0: the same; 1: no value in common. Of numbers that differ more clearly by their missing values, it is the
    difference of the missing shares. `p_value` is corrected for the number of columns. `train` and `test` say what is
    typical: the median, the missing share, or the most frequent value of those that differ.
    """

    column: str
    distance: float
    p_value: float
    train: str
    test: str


@dataclass(frozen=True)
class Shift(Check, unit="AUC, share, and distance of a column"):
    """Result of `shift`: `auc` is how well a forest tells test rows from training rows; 0.5: it cannot.

    `columns` are the causes: columns that differ, largest distance first. `copies` is the share of test rows that
    equal a training row in every column, `usual_copies` the share of training rows that equal another training row,
    and `copies_p_value` that of as many copies if all rows are split at random. `visible` is about the distance from
    which every column is named, but for those in `unread`. `odds` is how many times as frequent rows like each training
    row are in the test part, by the forest; NaN for rows that it was not asked about.
    """

    auc: Estimate
    columns: tuple[ShiftedColumn, ...]
    copies: Estimate
    usual_copies: float
    copies_p_value: float
    visible: float
    n_train: int
    n_test: int
    seed: int
    unread: tuple[str, ...] = ()
    odds: Floats = field(default_factory=lambda: np.empty(0), repr=False)

    @property
    def unlike(self) -> bool:
        """Whether test rows are unlike training rows: to a forest, or in a column."""
        return bool(self.columns) or (self.auc.known and self.auc.low > 0.5)

    @property
    def alike(self) -> bool:
        """Whether a large difference is excluded."""
        return not self.unlike and self.auc.high <= POSSIBLE_AUC and self.visible <= POSSIBLE

    @property
    def contaminated(self) -> bool:
        """Whether clearly more test rows have a copy in the training part than if all rows were split at random."""
        return self.copies_p_value <= COPIES_P and self.copies.value >= self.usual_copies + COPIES

    def summary(self) -> dict[str, Estimate]:
        """How well the parts can be told apart, the share of copies, and the columns that differ."""
        figures = {"AUC of telling them apart": self.auc, "test rows with a copy": self.copies}
        return figures | {cause.column: exact(cause.distance) for cause in self.columns[:MOST_SHOWN]}

    def looked_at(self) -> tuple[Looked, ...]:
        """The rows of both parts, copies of them, and each column that differs."""
        # What is not excluded may be anything: so says a wide interval.
        rows = FOUND if self.auc.low > 0.5 else NOTHING if self.auc.high <= POSSIBLE_AUC else UNDECIDED
        by_column = FOUND if self.columns else NOTHING if self.visible <= POSSIBLE else UNDECIDED
        alone = Looked("each column alone", by_column, {"visible": exact(self.visible)})
        copies = {"copies": self.copies, "usual_copies": exact(self.usual_copies)}
        columns = (Looked(cause.column, FOUND, {"distance": exact(cause.distance)}) for cause in self.columns)
        both = Looked("rows of both parts", FOUND if self.contaminated else NOTHING, copies)
        return (Looked("all columns", rows, {"auc": self.auc}), both, alone, *columns)

    def __str__(self) -> str:
        unlike = ["the test part is unlike the training part"] if self.unlike else []
        verdicts = [*unlike, *(["test rows are in the training part"] if self.contaminated else [])]
        if not verdicts:
            few = "too few rows, or groups, to decide whether the parts differ"
            verdicts = ["no difference between the parts was found" if self.verdict == NOTHING else few]
        parts = [f"a forest tells test rows from training rows with an AUC of {self.auc:.2f} (0.5: not at all)"]
        if self.columns:
            named = [f"{cause.column} ({cause.train} in training, {cause.test} in test)" for cause in self.columns[:3]]
            parts.append(f"columns that differ: {'; '.join(named)}")
        else:
            parts.append(f"no column differs (a distance above about {self.visible:.2f} would have been seen)")
        parts.append(
            f"{self.copies.value:.1%} of {self.n_test:,} test rows equal a training row ({self.usual_copies:.1%} of "
            "training rows equal another one)"
        )
        text = f"{' and '.join(verdicts)}: {', '.join(parts)}.{self.not_looked_at}"
        return text[0].upper() + text[1:]


def shift(
    X_train: Any,
    X_test: Any,
    *,
    groups: Any = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Shift:
    """Say whether test rows are unlike training rows, by which columns, and how many are in both parts.

    A forest is trained to tell the two parts apart, cross-fitted; copies of a row stay in one fold. It also sees which
    values are missing. AUC = P(score of a test row > score of a training row): 0.5 if they are alike, 1 if they have
    nothing in common. Each column is compared alone: numbers by the tests of Kolmogorov–Smirnov and Mann–Whitney,
    categories by that of χ², missing values by Fisher's, and how many are missing in a row. The parts are *unlike* if
    the 99.9 % interval of the AUC is above 0.5, or a column has p < .005 (times the tests). With groups, columns are
    compared by the first row of each group.

    Rows in both parts make a test too easy. They count as *contamination* if clearly more test rows have a copy in the
    training part than if all rows are split at random (p ≤ .005, and by 1 % of the rows more than in the training
    part), so that tables in which equal rows are usual are not mistaken for it.

    It misleads if rows of a part belong together: the forest then recognises the patient or the day; pass `groups`. A
    shift that matters to no prediction counts as much as one that does. Labels are not compared.

    Parameters
    ----------
    X_train, X_test : rows of both parts, with the same columns
    groups : a value per row of both parts, training rows first; rows of a group are then in one fold
    random_state : seed of folds, samples and fits
    progress : show a progress bar on stderr

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test = (pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc")) for _ in range(2))
    >>> shift(train, test).unlike
    False
    >>> moved = shift(train, test.assign(b=test["b"] + 1))
    >>> moved.unlike, moved.columns[0].column
    (True, 'b')

    """
    train, test = table_of_rows(X_train, "X_train", texts=True), table_of_rows(X_test, "X_test", texts=True)
    missing = [name for name in train.columns if name not in test]
    if missing or test.shape[1] != train.shape[1]:
        other = [name for name in test.columns if name not in train]
        raise InputError(
            f"`X_train` and `X_test` have different columns ({shown([*missing, *other], 4)}); expected the same ones."
        )
    test = test[list(train.columns)]
    for name, part in (("X_train", train), ("X_test", test)):
        if len(part) < 2 * FOLDS:
            raise InputError(f"`{name}` has {len(part)} rows; at least {2 * FOLDS} are needed.")
    seed, sizes = seeds.settle(random_state), (len(train), len(test))
    codes = per_row(groups, rows=sum(sizes)).groups
    both = pd.concat([train, test], ignore_index=True)
    hashes, kept = _row_hashes(both), list(table_of_rows(both).columns)
    train, test = train[kept], test[kept]
    copies, usual, copies_p_value = _copies(hashes, len(train), seed)
    auc, odds = _auc(train, test, hashes, codes, seed, progress)
    if codes is not None:  # rows of a group are no independent rows
        first = [np.unique(part, return_index=True)[1] for part in (codes[: len(train)], codes[len(train) :])]
        train, test = train.iloc[first[0]], test.iloc[first[1]]
    compared = _compared(train, test)
    causes = [column for column, _ in compared if column.p_value < COLUMN_P]
    visible = {each.column: least for each, least in compared if each.p_value >= COLUMN_P and each.column != GAPS}
    enough = [least for least in visible.values() if least <= POSSIBLE]
    return Shift(
        auc=auc,
        columns=tuple(sorted(causes, key=lambda cause: -cause.distance)),
        copies=copies,
        usual_copies=usual,
        copies_p_value=copies_p_value,
        visible=max(enough, default=1.0),
        n_train=sizes[0],
        n_test=sizes[1],
        seed=seed,
        odds=odds,
        unread=(*left_out(both, train), *(name for name in visible if enough and visible[name] > POSSIBLE)),
    )


def _row_hashes(X: pd.DataFrame) -> Ints:
    """A number for each row, the same for rows that are equal in every column."""
    # Objects of any kind are hashed as text, numbers as floats: 1 and 1.0 are equal.
    columns = {}
    for place, name in enumerate(X.columns):
        values = X[name]
        plain = isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb"
        plain = plain and not (values.dtype.kind in "iu" and (values.abs() >= 2**53).any())
        columns[place] = values.astype(float) if plain else values.map(str)
    hashes = pd.util.hash_pandas_object(pd.DataFrame(columns, copy=False), index=False)
    return np.asarray(hashes).view(np.int64)


def _copies(hashes: Ints, n_train: int, seed: int) -> tuple[Estimate, float, float]:
    """Share of test rows with a copy in the training part, of training rows with one among themselves, and p-value.

    p is that of as many rows with a copy, of a sample of the values that repeat, if all rows are split at random.
    """
    _, codes, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    in_train = np.bincount(codes[:n_train], minlength=counts.size)
    generator = seeds.generator(seed, "copies")
    several = generator.permutation(np.flatnonzero(counts > 1))[:MOST_COPIED]
    sizes = np.append(counts[several], hashes.size - counts[several].sum())
    drawn = generator.multivariate_hypergeometric(sizes, hashes.size - n_train, DRAWS)[:, :-1]
    in_test, copied = counts - in_train, np.where(in_train > 0, counts - in_train, 0)
    as_many = np.where(drawn < sizes[:-1], drawn, 0).sum(axis=1) >= copied[several].sum()
    share = of_proportion(int(copied.sum()), int(in_test.sum()), LEVEL)
    return share, float(in_train[in_train > 1].sum() / n_train), float((1 + as_many.sum()) / (1 + DRAWS))


def _auc(
    train: pd.DataFrame, test: pd.DataFrame, hashes: Ints, groups: Ints | None, seed: int, progress: bool
) -> tuple[Estimate, Floats]:
    """How well a forest tells the parts apart, rows of a group and copies of a row left out together; and the odds."""
    unknown, odds = Estimate(np.nan, 0.0, 1.0, LEVEL, "over rows"), np.full(len(train), np.nan)
    generator = seeds.generator(seed, "parts")
    sizes = (len(train), len(test))
    kept = [np.sort(generator.permutation(size)[:MOST_ROWS]) for size in sizes]
    rows = np.concatenate([kept[0], sizes[0] + kept[1]])
    part = np.repeat([0, 1], [kept[0].size, kept[1].size])
    both = pd.concat([train.iloc[kept[0]], test.iloc[kept[1]]], ignore_index=True)
    # Medians hide what is missing, which may be all that differs.
    points = np.column_stack([as_points(both), both.isna(), both.isna().sum(axis=1)])
    together = np.unique(hashes[rows] if groups is None else groups[rows], return_inverse=True)[1]
    if min(np.unique(together[part == code]).size for code in (0, 1)) < 2:
        return unknown, odds
    folds = fold_of_rows(part, FOLDS, seed, PerRow(groups=together))
    with Progress(FOLDS, "test rows against training rows", progress) as bar:
        scores = scores_of_part(points, part, folds, seed, bar.advance)
    known = ~np.isnan(scores)
    if not 0 < int(part[known].sum()) < int(known.sum()):
        return unknown, odds
    odds[kept[0]] = scores[part == 0] / np.maximum(1 - scores[part == 0], 1e-3)
    return of_auc(auc(scores[known], part[known] == 1), None if groups is None else together[known], LEVEL), odds


def _compared(train: pd.DataFrame, test: pd.DataFrame) -> list[tuple[ShiftedColumn, float]]:
    """Each column with its distance, the p-value times the number of columns, and the distance that would be seen."""
    if (train.isna().any() | test.isna().any()).sum() > 1:
        train, test = (part.assign(**{GAPS: part.isna().sum(axis=1)}) for part in (train, test))
    compared = []
    for name in train.columns:
        both = pd.concat([train[name], test[name]], ignore_index=True)
        compare = _numbers if kind_of_column(both) == "number" else _categories
        with guard():
            distance, p_value, typical, least = compare(both, len(train), COLUMN_P / train.shape[1])
        compared.append((ShiftedColumn(str(name), distance, min(p_value * train.shape[1], 1.0), *typical), least))
    return compared


def _numbers(both: pd.Series[Any], n_train: int, level: float) -> tuple[float, float, tuple[str, str], float]:
    """Compare the values, and the shares of missing ones: the smallest p-value times the tests, and its distance."""
    values, visible = as_numbers(both), 1.0
    parts = values[:n_train], values[n_train:]
    gone = [int(np.isnan(part).sum()) for part in parts]
    tests: list[tuple[float, float, tuple[str, str]]] = []
    if sum(gone):
        shares = gone[0] / parts[0].size, gone[1] / parts[1].size
        lacking = stats.fisher_exact(np.array([gone, [part.size - count for part, count in zip(parts, gone)]])).pvalue
        missing = (f"{shares[0]:.0%} missing", f"{shares[1]:.0%} missing")
        tests.append((float(lacking), abs(shares[0] - shares[1]), missing))
    one, other = (part[~np.isnan(part)] for part in parts)
    if one.size and other.size:
        shape, typical = stats.ks_2samp(one, other), (np.median(one), np.median(other))
        # The distance sees any difference, but half a standard deviation less often than ranks do.
        p_values = shape.pvalue, stats.mannwhitneyu(one, other, method="asymptotic").pvalue
        medians = (f"median {typical[0]:.3g}", f"median {typical[1]:.3g}")
        tests += [(float(np.nan_to_num(p, nan=1.0)), float(shape.statistic), medians) for p in p_values]
        # Kolmogorov–Smirnov: p ≈ 2 exp(−2 D² / (1/n + 1/m)).
        visible = float(np.sqrt(np.log(2 * len(tests) / level) * (1 / one.size + 1 / other.size) / 2))
    p_value, distance, words = min(tests, key=lambda test: test[0])
    return distance, p_value * len(tests), words, visible


def _categories(both: pd.Series[Any], n_train: int, level: float) -> tuple[float, float, tuple[str, str], float]:
    codes, names = as_levels(both)
    counts = np.stack([np.bincount(part, minlength=len(names)) for part in (codes[:n_train], codes[n_train:])])
    shares = counts / counts.sum(axis=1, keepdims=True)
    away = shares[0] - shares[1]
    most = int(np.abs(away).argmax())
    # Rare values share a cell, as the test of counts needs about five in each.
    enough = counts.sum(axis=0) >= 10
    table, rare = counts[:, enough], counts[:, ~enough].sum(axis=1)
    table = np.column_stack([table, rare]) if rare.any() else table
    more = table.shape[1] - 1
    p_value = float(stats.chi2_contingency(table).pvalue) if more else 1.0
    if more and rare.any():  # rare values together, which may be new
        new = stats.fisher_exact(np.stack([rare, counts.sum(axis=1) - rare])).pvalue
        p_value, level = 2 * min(p_value, float(new)), level / 2
    excess = stats.chi2.isf(level, max(more, 1)) - max(more, 1)  # is 4 D² / (1/n + 1/m), or more
    visible = float(np.sqrt(excess * (1 / counts.sum(axis=1)).sum()) / 2) if enough.any() else 1.0
    typical = (f"{shares[0, most]:.0%} {names[most]}", f"{shares[1, most]:.0%} {names[most]}")
    return float(np.abs(away).sum() / 2), p_value, typical, visible
