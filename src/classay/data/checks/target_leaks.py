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
from ...estimators.encoder import as_numbers, kind_of_column
from ...expect import counted
from ...intervals import Estimate
from ...splits import PerRow, fold_of_rows
from ...tables.data import Data
from .quick_models import FOLDS, even_sample, labelled_rows, predicted, predicted_by_column, skill, without
from .verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked

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
MOST_SHOWN = 12
"""Columns in the chart."""


@dataclass(frozen=True)
class Leak:
    """One column: its `skill` alone, that of all columns, and that of all others, if they were tried.

    `named` is whether its name looks like that of the labels; `verdict`: found (a leak), undecided (a suspect) or no.
    """

    column: str
    skill: Estimate
    all_columns: Estimate | None
    others: Estimate | None
    named: bool
    verdict: str


@dataclass(frozen=True)
class Leaks(Check, unit="skill of the column alone"):
    """Result of `leaks`: `columns` has every column that was tried, highest skill first."""

    columns: tuple[Leak, ...]
    target: str
    n_rows: int
    seed: int

    @property
    def found(self) -> tuple[Leak, ...]:
        """The possible target leaks."""
        return tuple(leak for leak in self.columns if leak.verdict == FOUND)

    @property
    def suspects(self) -> tuple[Leak, ...]:
        """The columns that do as much as all together, but not enough to call them leaks."""
        return tuple(leak for leak in self.columns if leak.verdict == UNDECIDED)

    def summary(self) -> dict[str, Estimate]:
        """The skill of each column alone, highest first."""
        return {leak.column: leak.skill for leak in self.columns[:MOST_SHOWN]}

    def looked_at(self) -> tuple[Looked, ...]:
        """Every column that was tried: its skill, and that of all columns and of all others if they were tried."""
        figures = (
            {"skill": leak.skill, "all_columns": leak.all_columns, "others": leak.others} for leak in self.columns
        )
        known = ({name: value for name, value in each.items() if value is not None} for each in figures)
        return tuple(Looked(leak.column, leak.verdict, each) for leak, each in zip(self.columns, known))

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
        self.folds = fold_of_rows(table.codes, FOLDS, seed, PerRow(groups=table.groups))

    def alone(self, bar: Progress) -> dict[str, Ints]:
        """What each column alone predicts, texts left out."""
        predictions = {}
        for name in self._promising():
            predicted_codes = predicted_by_column(
                self.table.X[name], self.table.codes, self.table.classes.size, self.folds, self.seed
            )
            if predicted_codes is not None:
                predictions[name] = predicted_codes
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
        skills = {name: self._skill(codes) for name, codes in alone.items()}
        tried = [name for name, own in skills.items() if own.value >= SUSPECT and self.table.X.shape[1] > 1]
        everything = self._without([]) if tried else None
        # Columns that are all but the label itself are left out together: otherwise they hide each other.
        perfect = [name for name in tried if skills[name].value >= PERFECT]
        judged = []
        together = None
        for name, own in skills.items():
            named = looks_like(name, self.target)
            if name not in tried or everything is None or everything.value - own.value > NEARLY:
                judged.append(Leak(name, own, everything if name in tried else None, None, named, NOTHING))
                continue
            if name in perfect and len(perfect) > 1 and len(perfect) < self.table.X.shape[1]:
                together = together or self._without(perfect)
                others = together
            else:
                others = self._without([name])
            verdict = _verdict(own, everything, others, named)
            if verdict == FOUND and not named and own.value < PERFECT and self._graded(name, alone[name]):
                verdict = UNDECIDED
            judged.append(Leak(name, own, everything, others, named, verdict))
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

    def _without(self, columns: list[str]) -> Estimate:
        """The skill of all columns but these."""
        return self._skill(predicted(without(self.table, columns), self.learner, self.folds, self.seed))

    def _skill(self, codes: Ints) -> Estimate:
        return skill(codes, self.table.codes, self.table.classes.size)


def _verdict(alone: Estimate, everything: Estimate, others: Estimate, named: bool) -> str:
    lost = min(everything.value, alone.value) - others.value
    much_worse = alone.value >= STRONG and lost >= 0.4 * WITHOUT and 1 - others.value >= TIMES * (1 - alone.value)
    matters = everything.value - alone.value <= NEARLY and (lost >= WITHOUT or much_worse)
    if matters and alone.value >= (NAMED if named else STRONG):
        return FOUND
    return UNDECIDED if matters else NOTHING


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
