"""`leaks`: columns that predict the label because they were made from it, or recorded after it (target leaks)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from ... import seeds
from ...arrays import Floats, Ints
from ...engine.progress import Progress
from ...estimators.encoder import as_levels, as_numbers, kind_of_column
from ...estimators.fit import fit_once, guard
from ...expect import counted
from ...intervals import Estimate, around
from ...result import PARTS, Result, parts_of
from ...splits import PerRow, by_other_folds, fold_of_rows
from ...tables.data import Data
from .labelled_rows import FOLDS, class_weights, labelled_rows, predicted, without
from .near_rows import even_sample

MOST_ROWS = 3_000
"""Rows that are used; of a larger table, a sample that is as even over the classes as possible."""
MOST_COLUMNS = 100
"""Columns that are tried alone."""
SUSPECT = 0.5
"""Skill of a column alone from which all columns, and all others, are tried."""
STRONG, NAMED = 0.9, 0.6
"""Skill of a column alone from which it is a leak; with a name like that of the labels, this is enough."""
NEARLY = 0.05
"""Skill that all columns may have above it."""
WITHOUT, TIMES = 0.25, 5.0
"""Skill that is lost without it; of a strong column, two fifths of that if all others lack this many times as much."""
PERFECT, GRADED = 0.99, 0.75
"""Skill that no honest measurement is expected to have; how far out its errors lie (an AUC) if it is one."""
LEAST_EVENTS = 10
"""Rows that a class needs to count."""
PRIOR = 1.0
"""Rows that the shares of all classes count for, besides the rows of a value."""
MOST_SHOWN = 12
"""Columns in the chart."""


@dataclass(frozen=True)
class Leak:
    """One column: its `skill` alone, that of all columns, and that of all others; `level` is leak, suspect or none.

    Skill is balanced accuracy above chance, as a share of what is possible: (balanced accuracy − 1/k) / (1 − 1/k),
    for k classes. `named` is whether its name looks like that of the labels.
    """

    column: str
    skill: Estimate
    all_columns: Estimate | None
    others: Estimate | None
    named: bool
    level: str


@dataclass(frozen=True)
class Leaks(Result, unit="skill of the column alone"):
    """Result of `leaks`: `columns` has every column that was tried, highest skill first."""

    columns: tuple[Leak, ...]
    target: str
    n_rows: int
    seed: int

    @property
    def found(self) -> tuple[Leak, ...]:
        """The possible target leaks."""
        return tuple(leak for leak in self.columns if leak.level == "leak")

    @property
    def suspects(self) -> tuple[Leak, ...]:
        """The columns that do as much as all together, but not enough to call them leaks."""
        return tuple(leak for leak in self.columns if leak.level == "suspect")

    def summary(self) -> dict[str, Estimate]:
        """The skill of each column alone, highest first."""
        return {leak.column: leak.skill for leak in self.columns[:MOST_SHOWN]}

    def to_frame(self) -> pd.DataFrame:
        """One row per column and figure: column, level, named, figure, value, low, high."""
        rows = [
            {
                "column": leak.column,
                "level_of_column": leak.level,
                "named": leak.named,
                "figure": figure,
                **parts_of(value),
            }
            for leak in self.columns
            for figure, value in (("skill", leak.skill), ("all_columns", leak.all_columns), ("others", leak.others))
            if value is not None
        ]
        return pd.DataFrame(rows, columns=["column", "level_of_column", "named", "figure", *PARTS])

    def __str__(self) -> str:
        if not self.found:
            return f"No sign of a target leak: {counted(len(self.columns), 'column')} tried alone."
        named = "; ".join(
            f"{leak.column} alone has a skill of {leak.skill.value:.2f}, all columns {_value(leak.all_columns)}, all "
            f"others {_value(leak.others)}"
            for leak in self.found
        )
        return f"Possible target leak: {named}. Drop it if it is not known when you predict."


def leaks(
    X: Any,
    y: ArrayLike,
    *,
    learner: Any = None,
    target: str = "label",
    groups: Any = None,
    random_state: int | np.random.Generator | None = 0,
    progress: bool = False,
) -> Leaks:
    """Find possible target leaks: columns that predict the label because they were made from it or recorded after it.

    Each column alone predicts the label (a small tree, or the classes that each of its values had), cross-fitted and
    with every class counting the same. Skill = (balanced accuracy − 1/k) / (1 − 1/k): 0 by chance, 1 if perfect. A
    column is a *leak* if it alone has a skill of 0.9 or more (0.6 if its name looks like that of the labels), all
    columns together have at most 0.05 more, and all others at least 0.25 less (or 0.1 less, if they lack five times
    as much of a perfect skill). It is a *suspect* from a skill of 0.5 under the same conditions: then it is the only
    column that matters, which may be right. So is a number with a skill below 0.99 whose errors lie at the edge of what
    it predicts (an AUC of 0.75 or more): classes overlap there, as those of a measurement do. A column made from the
    label errs anywhere.

    It misleads if the task is to read one column: a threshold on a measurement is not a leak. Two columns that both
    predict the label hide each other, unless both are nearly perfect. A leak that only some rows have is not seen.
    Of more than 100 columns, the 100 that depend most on the class are tried.

    Parameters
    ----------
    X, y : rows and labels
    learner : an unfitted classifier for all columns; default: a forest of 30 trees
    target : the name of the labels, which is compared with the names of columns
    groups : a value per row, such as a patient; rows of a group are then left out together
    random_state : seed of folds, samples and fits
    progress : show a progress bar on stderr

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
    >>> y = (X["a"] + X["b"] + rng.normal(size=400) > 0).to_numpy()
    >>> X["refund"] = np.where(rng.random(400) < 0.98, y, ~y) * 12.5
    >>> [leak.column for leak in leaks(X, y).found]
    ['refund']

    """
    seed = seeds.settle(random_state)
    table = labelled_rows(X, y, groups)
    if table.codes.size > MOST_ROWS:
        table = table.take(even_sample(table.codes, MOST_ROWS, seed))
    search = _Search(table, learner, str(target), seed)
    with Progress(table.X.shape[1], "columns alone", progress) as bar:
        alone = search.alone(bar)
    columns = search.judged(alone)
    return Leaks(tuple(sorted(columns, key=lambda leak: -leak.skill.value)), str(target), table.codes.size, seed)


class _Search:
    """Skills of columns alone, of all together and of all others, on the same folds."""

    def __init__(self, table: Data, learner: Any, target: str, seed: int) -> None:
        self.table, self.learner, self.target, self.seed = table, learner, target, seed
        self.size = table.classes.size
        self.folds = fold_of_rows(table.codes, FOLDS, seed, PerRow(groups=table.groups))

    def alone(self, bar: Progress) -> dict[str, Ints]:
        """What each column alone predicts, texts left out."""
        predictions = {}
        for name in self._promising():
            predicted_codes = predicted_by_column(
                self.table.X[name], self.table.codes, self.size, self.folds, self.seed
            )
            if predicted_codes is not None:
                predictions[str(name)] = predicted_codes
            bar.advance()
        return predictions

    def _promising(self) -> list[str]:
        """The columns to try: all, or of very many the ones whose ranks depend most on the class."""
        X, codes = self.table.X, self.table.codes
        if X.shape[1] <= MOST_COLUMNS:
            return [str(name) for name in X.columns]
        ranks = np.column_stack([_ranks(X[name]) for name in X.columns])
        ranks -= ranks.mean(axis=0)
        means = np.stack([ranks[codes == code].mean(axis=0) for code in np.unique(codes)])
        between = (means**2 * np.bincount(codes)[np.unique(codes), None]).sum(axis=0)
        share = between / np.maximum((ranks**2).sum(axis=0), 1e-12)
        return [str(X.columns[place]) for place in np.sort(np.argsort(-share, kind="stable")[:MOST_COLUMNS])]

    def judged(self, alone: dict[str, Ints]) -> list[Leak]:
        """Each column with its level; all columns and all others are tried only where one alone does much."""
        skills = {name: self.skill(codes) for name, codes in alone.items()}
        tried = [name for name, skill in skills.items() if skill.value >= SUSPECT and self.table.X.shape[1] > 1]
        everything = self.skill(self._without([])) if tried else None
        # Columns that are all but the label itself are left out together: otherwise they hide each other.
        perfect = [name for name in tried if skills[name].value >= PERFECT]
        judged = []
        together = None
        for name, skill in skills.items():
            named = looks_like(name, self.target)
            if name not in tried or everything is None or everything.value - skill.value > NEARLY:
                judged.append(Leak(name, skill, everything if name in tried else None, None, named, "none"))
                continue
            if name in perfect and len(perfect) > 1 and len(perfect) < self.table.X.shape[1]:
                together = together or self.skill(self._without(perfect))
                others = together
            else:
                others = self.skill(self._without([name]))
            level = _level(skill, everything, others, named)
            if level == "leak" and not named and skill.value < PERFECT and self._graded(name, alone[name]):
                level = "suspect"
            judged.append(Leak(name, skill, everything, others, named, level))
        return judged

    def _graded(self, name: str, codes: Ints) -> bool:
        """Whether the rows that a column predicts wrongly are at the edge of those that it predicts alike."""
        column = self.table.X[name]
        if kind_of_column(column) != "number":
            return False
        values = np.asarray(as_numbers(column), dtype=float)
        errors = farther = 0.0
        for code in np.unique(codes):
            here = np.isfinite(values) & (codes == code)
            out = np.abs(values[here] - np.median(values[here])) if here.any() else np.empty(0)
            wrong = self.table.codes[here] != code
            if wrong.any() and not wrong.all():
                # The share of right rows that are nearer, over wrong rows: each counts the same.
                errors += float(wrong.sum())
                farther += float(rankdata(out)[wrong].sum() - wrong.sum() * (wrong.sum() + 1) / 2) / (~wrong).sum()
        return errors > 0 and farther >= GRADED * errors

    def _without(self, columns: list[str]) -> Ints:
        return predicted(without(self.table, columns), self.learner, self.folds, self.seed)

    def skill(self, codes: Ints) -> Estimate:
        """The skill of predictions, with its interval over rows of each class."""
        own = self.table.codes
        recalls = [(codes[own == code] == code).astype(float) for code in range(self.size)]
        recalls = [right for right in recalls if right.size >= LEAST_EVENTS] or recalls
        k = len(recalls)
        mean = float(np.mean([right.mean() for right in recalls]))
        # One row more that is wrong, in each class: an error of 0 is not certain.
        shares = [(right.sum() + 0.5, right.size + 1) for right in recalls]
        error = np.sqrt(sum(right / n * (1 - right / n) / n for right, n in shares)) / k
        chance = 1 / max(k, 2)
        return around((mean - chance) / (1 - chance), float(error) / (1 - chance), 0.95, "over rows of each class")


def _level(skill: Estimate, everything: Estimate, others: Estimate, named: bool) -> str:
    lost = min(everything.value, skill.value) - others.value
    much_worse = skill.value >= STRONG and lost >= 0.4 * WITHOUT and 1 - others.value >= TIMES * (1 - skill.value)
    matters = everything.value - skill.value <= NEARLY and (lost >= WITHOUT or much_worse)
    if matters and skill.value >= (NAMED if named else STRONG):
        return "leak"
    return "suspect" if matters else "none"


def _ranks(column: pd.Series[Any]) -> Floats:
    """Numbers as ranks, categories as ranks of their shares: enough to see that a column depends on the class."""
    values = pd.Series(as_numbers(column)) if kind_of_column(column) == "number" else column.map(column.value_counts())
    return np.asarray(values.rank(na_option="top").to_numpy(dtype=float))


def looks_like(column: str, target: str) -> bool:
    """Whether one name contains the other, word by word, or is it with some letters added.

    >>> looks_like("is_default", "default"), looks_like("Default Code", "default"), looks_like("age", "wage")
    (True, True, False)
    """
    one, other = (re.findall(r"[a-z0-9]+", name.lower()) for name in (column, target))
    if not one or not other or max(map(len, other)) < 3:
        return False
    short, long = sorted((one, other), key=len)
    inside = any(long[place : place + len(short)] == short for place in range(len(long) - len(short) + 1))
    return inside and max(map(len, short)) >= 3


def _value(estimate: Estimate | None) -> str:
    return "unknown" if estimate is None else f"{estimate.value:.2f}"


# What one column alone predicts.


def predicted_by_column(column: pd.Series[Any], codes: Ints, size: int, fold_of_row: Ints, seed: int) -> Ints | None:
    """The class that the column alone predicts for each row, with every class counting the same; None for texts.

    Numbers by a small and a larger tree. Values that repeat also by the classes which they had in the other folds: a
    column of names or codes has no order. The best of them counts.
    """
    kind = kind_of_column(column)
    if kind == "text":
        return None
    predictions = []
    levels = as_levels(column)[0].astype(np.int64)
    repeats = int(levels.max()) + 1 <= codes.size / 2
    if kind == "number":
        predictions += [_by_tree(as_numbers(column), codes, size, leaves, fold_of_row, seed) for leaves in (1, 8)]
    if kind == "category" or (repeats and column.dtype.kind in "iub"):
        predictions.append(_by_value(levels, codes, size, fold_of_row))
    weights = class_weights(codes, size)
    return max(predictions, key=lambda predicted: float(((predicted == codes) * weights).mean()))


def _by_tree(values: Floats, codes: Ints, size: int, leaves: int, fold_of_row: Ints, seed: int) -> Ints:
    """A tree with so many leaves for each class."""
    from sklearn.tree import DecisionTreeClassifier

    known = values[~np.isnan(values)]
    # Missing is a value of its own: it may be what tells.
    filled = np.where(np.isnan(values), (known.min() if known.size else 0.0) - 1.0, values)[:, None]
    tree = DecisionTreeClassifier(
        max_leaf_nodes=leaves * size, min_samples_leaf=3, class_weight="balanced", random_state=seed % 2**32
    )
    with guard():  # scikit-learn warns of many classes, once a tree
        return by_other_folds(
            fold_of_row, lambda _, rest, here: fit_once(tree, filled[rest], codes[rest]).predict(filled[here])
        )


def _by_value(levels: Ints, codes: Ints, size: int, fold_of_row: Ints) -> Ints:
    """The class that was most frequent, as a share of its rows, among those with the same value."""

    def of_fold(_: int, rest: Ints, here: Ints) -> Ints:
        counts = np.full((int(levels.max()) + 1, size), PRIOR / size)
        weights = 1 / np.maximum(np.bincount(codes[rest], minlength=size), 1)[codes[rest]] * rest.size / size
        np.add.at(counts, (levels[rest], codes[rest]), weights)
        return np.asarray(counts[levels[here]].argmax(axis=1))

    return by_other_folds(fold_of_row, of_fold)
