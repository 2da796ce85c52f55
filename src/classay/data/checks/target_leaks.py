"""`leaks`: columns that predict the label because they were made from it, or recorded after it (target leaks)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from ... import seeds
from ...arrays import Ints
from ...engine.progress import Progress
from ...estimators.encoder import as_levels, as_numbers, kind_of_column
from ...expect import counted
from ...intervals import Estimate
from ...splits import PerRow, fold_of_rows
from ...tables.data import Data
from .quick_models import (
    FOLDS,
    LEAST_EVENTS,
    class_weights,
    even_sample,
    labelled_rows,
    left_out,
    predicted,
    predicted_by_column,
    skill,
    without,
)
from .verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked

MOST_ROWS = 3_000
"""Rows that are used; of a larger table, a sample that is as even over the classes as possible."""
MOST_COLUMNS = MOST_CLASSES = 100
"""Columns that are tried alone; classes of which rows are used: the largest."""
SUSPECT = 0.5
"""Skill of a column alone from which all columns, and all others, are tried."""
POSSIBLE = 0.75
"""If this is possible of a column that is no suspect, there are too few rows to decide."""
STRONG, NAMED = 0.9, 0.6
"""Skill of a column alone from which it is a leak; with a name like that of the labels, this is enough."""
NEARLY = 0.05
"""Skill that all columns may have above it; of a strong column, that which others must lack."""
WITHOUT = 0.2
"""Skill that is lost without it."""
ALIKE = 0.8
"""Skill of one column for what another one predicts, from which they are left out together."""
PERFECT, GRADED = 0.99, 0.75
"""Skill that no honest measurement is expected to have; that of its errors if it is one: the AUC of being near to other
classes, at least, and their distance from these as a share of that of right rows, at most."""
LEAST_ERRORS = 5
"""Rows predicted wrongly that show where errors lie."""
MOST_TOGETHER, BINS = 3, 6
"""Columns that may predict the label together; they are searched with so many ranges of each."""
MOST_SHOWN = 12
"""Columns in the chart."""


@dataclass(frozen=True)
class Leak:
    """One column: its `skill` alone, that of all columns, and that of all others, if they were tried.

    `together` are the columns that were left out to try all others: it, and those that may hide it. `named` is
    whether its name looks like that of the labels; `verdict`: found (a leak), undecided (a suspect) or no.
    """

    column: str
    skill: Estimate
    all_columns: Estimate
    others: Estimate | None
    together: tuple[str, ...]
    named: bool
    verdict: str


@dataclass(frozen=True)
class Leaks(Check, unit="skill of the column alone"):
    """Result of `leaks`: `columns` has every column that was tried, highest skill first."""

    columns: tuple[Leak, ...]
    target: str
    n_rows: int
    seed: int
    unread: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[Leak, ...]:
        """The possible target leaks."""
        return tuple(leak for leak in self.columns if leak.verdict == FOUND)

    @property
    def suspects(self) -> tuple[Leak, ...]:
        """The columns that do as much as all together, but not enough to call them leaks, or that may: rows are few."""
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
        named = "; ".join(
            f"{leak.column} alone has a skill of {leak.skill.value:.2f}, all columns {leak.all_columns.value:.2f}, all "
            f"others{' without ' + ' and '.join(leak.together) if leak.together[1:] else ''} {leak.others.value:.2f}"
            for leak in self.found or self.suspects
            if leak.others is not None
        )
        if self.found:
            return f"Possible target leak: {named}. Drop it if it is not known when you predict.{self.not_looked_at}"
        if self.suspects and not named:
            most = max(leak.skill.high for leak in self.suspects)
            return (
                f"Undecided: rows are too few. A column alone may have a skill of up to {most:.2f}.{self.not_looked_at}"
            )
        if self.suspects:
            return f"Undecided: {named}. Is it known when you predict, and all that matters?{self.not_looked_at}"
        best = max((leak.skill for leak in self.columns), key=lambda effect: effect.value)
        return (
            f"No sign of a target leak: {counted(len(self.columns), 'column')} tried alone, the best with a skill of "
            f"{best.value:.2f} (at most {best.high:.2f}). One from {SUSPECT:g} to which all columns add at most "
            f"{NEARLY:g} would have been seen if all others had {WITHOUT:g} less; of columns that need each other, "
            f"only the clearest two or three.{self.not_looked_at}"
        )


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
    column is a *suspect* if its skill is 0.5 or more, all columns together have at most 0.05 more, and all others at
    least 0.2 less: then it is the only column that matters, which may be right. With 0.9 or more (0.6 if its name looks
    like that of the labels) it is a *leak*; then it is enough that all others lack twice as much of a perfect skill, at
    least 0.05 more, and more than by chance. A number with a skill below 0.99 whose errors lie near values of other
    classes (an AUC of 0.75 or more) remains a suspect: classes overlap there, as those of a measurement do. A column
    made from the label errs anywhere.

    Columns that each predict the label hide each other. So columns that mostly predict the same class for a row are
    left out together, but for measurements, as above. Columns may also predict the label only together: the two or
    three that sort rows best by class are suspects if their skill is 0.9 or more (0.99 with a measurement), no less
    than that of all columns and 0.1 more than without one of them, and all others are as much worse as above.

    It misleads if the task is to read one column: a threshold on a measurement is not a leak, nor is a category that
    decides. Two measurements that are recorded after the label hide each other. A leak that only some rows have is not
    seen. Of more than 100 columns, the 100 that sort rows best by class are tried; of classes, the 100 largest. It is
    undecided if a column may have a skill of 0.75, or all classes but one have fewer than 10 rows.

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
    if table.classes.size > MOST_CLASSES:
        largest = np.sort(np.argsort(-np.bincount(table.codes), kind="stable")[:MOST_CLASSES])
        table = table.take(np.flatnonzero(np.isin(table.codes, largest)))
        table = replace(table, codes=np.searchsorted(largest, table.codes), classes=table.classes[largest])
    if table.codes.size > MOST_ROWS:
        table = table.take(even_sample(table.codes, MOST_ROWS, seed))
    search = _Search(table, learner, str(target), seed)
    with Progress(table.X.shape[1], "columns alone", progress) as bar:
        alone = search.alone(bar)
    columns = search.judged(alone)
    ordered = tuple(sorted(columns, key=lambda leak: -leak.skill.value))
    return Leaks(ordered, str(target), table.codes.size, seed, (*left_out(X, table.X), *left_out(table.X, alone)))


class _Search:
    """Skills of columns alone, of all together and of all others, on the same folds."""

    def __init__(self, table: Data, learner: Any, target: str, seed: int) -> None:
        self.table, self.learner, self.target, self.seed = table, learner, target, seed
        self.folds = fold_of_rows(table.codes, FOLDS, seed, PerRow(groups=table.groups))
        self._weights = class_weights(table.codes, table.classes.size)
        self._bins = {str(name): _codes(table.X[name]) for name in table.X.columns}
        self._known: dict[tuple[str, ...], Estimate] = {}

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
        """The columns to try: all, or of very many the ones that sort rows best by class."""
        best = sorted(self._bins, key=lambda name: -self._purity((name,)))[:MOST_COLUMNS]
        return [name for name in self._bins if name in best]

    def _purity(self, columns: tuple[str, ...]) -> float:
        """How well ranges or categories of columns sort rows by class."""
        cells, size = np.zeros_like(self.table.codes), self.table.classes.size
        for name in columns:
            cells = cells * BINS + self._bins[name]
        counts = np.bincount(cells * size + self.table.codes, self._weights, BINS ** len(columns) * size)
        return float(counts.reshape(-1, size).max(axis=1).sum())

    def judged(self, alone: dict[str, Ints]) -> list[Leak]:
        """Each column with its verdict: alone, and if none is a leak, together with others."""
        everything = self._without(())
        judged = {
            name: Leak(name, self._skill(codes), everything, None, (name,), looks_like(name, self.target), NOTHING)
            for name, codes in alone.items()
        }
        likely = [name for name, leak in judged.items() if leak.skill.value >= SUSPECT]
        measured = {name for name in likely if judged[name].skill.value < PERFECT and self._graded(name, alone[name])}
        for name in likely:
            leak = judged[name]
            if leak.skill.value >= min(STRONG, everything.value - NEARLY):
                rest = [other for other in likely if other != name and not {name, other} & measured]
                together = (name, *(other for other in rest if self._skill(alone[other], alone[name]).value >= ALIKE))
                others = self._without(together)
                verdict = _verdict(leak.skill, everything, others, leak.named, name in measured)
                if self.table.X.shape[1] == 1 and verdict == FOUND:
                    verdict = UNDECIDED  # there is no other column to compare with
                judged[name] = replace(leak, others=others, together=together, verdict=verdict)
        few = np.sort(np.bincount(self.table.codes))[-2] < LEAST_EVENTS  # of all classes but one
        for name, leak in judged.items():
            if leak.verdict == NOTHING and (few or (leak.skill.value < SUSPECT and leak.skill.high >= POSSIBLE)):
                judged[name] = replace(leak, verdict=UNDECIDED)
        if all(leak.verdict != FOUND for leak in judged.values()):
            judged |= self._several(judged, measured, everything)
        return list(judged.values())

    def _several(self, judged: dict[str, Leak], measured: set[str], everything: Estimate) -> dict[str, Leak]:
        """The two or three columns that predict the label only together, if all others do not."""
        names: tuple[str, ...] = ()
        for size in range(2, min(MOST_TOGETHER, self.table.X.shape[1] - 1) + 1):
            more = ((*names, name) for name in judged if name not in names)
            names = max(combinations(judged, 2) if size == 2 else more, key=self._purity)
            joint = self._only(names)
            # Other columns add nothing, each of these is needed, and all others are much worse.
            least = max(PERFECT if measured & set(names) else STRONG, everything.value - (1 - PERFECT))
            if (
                joint.value >= least
                and all(joint.value - self._only(set(names) - {name}).value >= WITHOUT / 2 for name in names)
                and _verdict(joint, everything, others := self._without(names)) != NOTHING
            ):
                return {name: replace(judged[name], others=others, together=names, verdict=UNDECIDED) for name in names}
        return {}

    def _graded(self, name: str, codes: Ints) -> bool:
        """Whether the rows that a column predicts wrongly are near to values that it predicts otherwise."""
        column = self.table.X[name]
        if kind_of_column(column) != "number":
            return False
        values = np.asarray(as_numbers(column), dtype=float)
        errors = nearer = distance = 0.0
        for code in np.unique(codes):
            here, rest = (np.isfinite(values) & which for which in (codes == code, codes != code))
            wrong = self.table.codes[here] != code
            if wrong.any() and not wrong.all() and rest.any():
                ends = np.concatenate([[-np.inf], np.sort(values[rest]), [np.inf]])
                place = np.searchsorted(ends, values[here])
                away = np.minimum(values[here] - ends[place - 1], ends[place] - values[here])
                # The share of right rows that are farther away, over wrong rows: each counts the same.
                errors += float(wrong.sum())
                nearer += float(rankdata(-away)[wrong].sum() - wrong.sum() * (wrong.sum() + 1) / 2) / (~wrong).sum()
                distance += float(away[wrong].sum()) / max(float(np.median(away[~wrong])), 1e-300)
        return errors >= LEAST_ERRORS and nearer >= GRADED * errors and distance <= GRADED * errors

    def _only(self, columns: Collection[str]) -> Estimate:
        """The skill of these columns."""
        return self._without(tuple(name for name in self.table.X.columns if name not in columns))

    def _without(self, columns: tuple[str, ...]) -> Estimate:
        """The skill of all columns but these; of none, that of one class for all rows."""
        key = tuple(sorted(columns))
        if key not in self._known:
            rest = without(self.table, list(columns))
            codes = predicted(rest, self.learner, self.folds, self.seed) if rest.X.shape[1] else 0 * self.table.codes
            self._known[key] = self._skill(codes)
        return self._known[key]

    def _skill(self, codes: Ints, right: Ints | None = None) -> Estimate:
        return skill(codes, self.table.codes if right is None else right, self.table.classes.size)


def _verdict(
    alone: Estimate, everything: Estimate, others: Estimate, named: bool = False, measured: bool = False
) -> str:
    lost = alone.value - others.value
    strong = alone.value >= STRONG and not measured
    chance = float(np.hypot(others.high - others.value, alone.value - alone.low))
    much_worse = strong and lost >= max(NEARLY, 1 - alone.value, chance)
    if not much_worse and (everything.value - alone.value > NEARLY or lost < WITHOUT):
        return NOTHING
    return FOUND if strong or (named and alone.value >= NAMED) else UNDECIDED


def _codes(column: pd.Series[Any]) -> Ints:
    """Ranges with about equally many numbers, the missing ones in the first, or of codes of categories."""
    number = kind_of_column(column) == "number"
    values = np.nan_to_num(as_numbers(column), nan=-np.inf) if number else as_levels(column)[0]
    return np.asarray((rankdata(values) - 1) * BINS // len(column), dtype=np.int64)


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
