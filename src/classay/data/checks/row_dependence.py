"""`dependence`: do rows belong together, so that accuracy on shuffled rows promises too much?

Candidates are the order of the file, columns whose values may be groups, and rows that are near each other. Nearest
rows come first, because they are quick; what they leave open is measured with a learner.
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
from ...expect import InputError, counted, nearest, shown
from ...intervals import Estimate, around, bounded, by_group, crossed_standard_error
from ...splits import PerRow, fold_of_rows, sorted_by_class
from ...tables.data import Data
from .near_rows import by_columns, by_nearest, continuous_columns, near_blocks, scaled
from .quick_models import (
    BLOCKS,
    FOLDS,
    as_points,
    class_weights,
    even_sample,
    labelled_rows,
    left_out,
    of_groups,
    place_in_class,
    predicted,
    stretches,
    without,
)
from .verdicts import FOUND, NOTHING, UNDECIDED, Check, Looked

ORDER, COLUMN, NEAR = "file order", "column", "near rows"
NEAREST, SUBJECT = "nearest row", "rows that belong together"
FEW = 8
"""Up to so many groups are left out one by one; more are dealt to folds. What few show holds for these groups alone."""
FALL, LARGE, RELATIVE, COARSE = 0.03, 0.1, 0.25, 0.5
"""A fall in balanced accuracy matters if it is so much, and either large or this share of what balanced accuracy has
above chance; of near rows and few groups a larger share, because any learner is worse where it has no rows near."""
FITS = 2**0.5
"""The standard error of a fall, over that of fixed fits: with other rows fits differ, too (Nadeau & Bengio, 2003)."""
CHANCE = 0.01
"""Probability that any candidate is found where none ties rows (Holm, over candidates)."""
FIRST_ROWS, MOST_ROWS = 2_000, 6_000
"""Rows that are fitted first, and if these leave a candidate open: stretches of consecutive rows, or whole groups."""
MOST_NEAR = 20_000
"""Rows among which near ones are searched."""
MOST_VALUES, LARGEST_SHARE = 0.8, 2 / 3
"""A column can name groups if it has two or more values, at most so many for each row, and none with more rows."""
KNOWN_DATES = 0.9
"""Share of a column's values that must be dates, for it to be read as dates."""
QUERIES, MOST_COLUMNS = 1500, 6
"""Rows whose nearest rows are looked up, and columns that are then measured with the learner."""
REPEATS, MOST_AGAIN = 3, 2
"""Draws of folds for candidates that one draw leaves open, and how many of these are measured again."""
KINSHIP = "of near rows of the same class, those in the same group beyond chance"
NAMES = re.compile(
    r"(^|[^a-z])(id|ids|key|code|nr|no|name|patient|subject|person|user|customer|client|session|group|site|batch|device|"
    r"household|family|case|visit|author|speaker|writer|day|date)([^a-z]|$)|id$",
    re.IGNORECASE,
)
"""Names that columns of groups often have; these are measured first, and are never taken for measurements."""


@dataclass(frozen=True)
class Tie:
    """What may tie rows together: file order, a column, or nearness; and what accuracy is without rows so tied.

    `shuffled` and `apart` are the accuracies on the same rows, with folds drawn at random and with whole groups left
    out. `fall` is the difference in balanced accuracy if both leave out as many rows of each class, with its interval
    (`kind`: over what), `p_value` that of no fall, and `relevant` the fall that would matter. `learner` predicted.
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
    """Result of `dependence`. `ties` has what was measured, largest fall first; `missing` why the rest was not.

    `skipped` is what was not tried, and why: columns in which one value has more than two thirds of the rows.
    """

    ties: tuple[Tie, ...]
    missing: dict[str, str]
    learner: str
    n_rows: int
    seed: int
    skipped: dict[str, str]
    unread: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[Tie, ...]:
        """What ties rows together, largest fall first."""
        return tuple(tie for tie in self.ties if tie.verdict == FOUND)

    def summary(self) -> dict[str, Estimate]:
        """Accuracy on shuffled rows and with whole groups left out."""
        ways = ("shuffled", "shuffled"), ("left out together", "apart")
        return {f"{tie.name}: {words}": getattr(tie, field) for tie in self.ties for words, field in ways}

    def looked_at(self) -> tuple[Looked, ...]:
        """Each candidate: accuracy with and without tied rows, and the fall; or how often near rows share a group."""
        looked = []
        for tie in self.ties:
            fall = {"kinship" if tie.fall.kind == KINSHIP else "fall": tie.fall}
            looked.append(Looked(tie.name, tie.verdict, {"shuffled": tie.shuffled, "apart": tie.apart} | fall))
        return (*looked, *(Looked(name, UNDECIDED, {}) for name in self.missing))

    def __str__(self) -> str:
        parts = [
            f"{tie.what} ({tie.groups} groups): accuracy {tie.shuffled.value:.1%} on shuffled rows, "
            f"{tie.apart.value:.1%} when they are left out together (balanced accuracy falls by {tie.fall})"
            for tie in self.found
        ]
        sentences = [f"Rows belong together: {'; '.join(parts)}. Pass them as groups (or time)."] if parts else []
        open_ties = [
            f"{tie.name} ({tie.groups} groups): "
            + (
                f"a fall of up to {tie.fall.high:.2f} is possible"
                if tie.fall.high < 1
                else "predictions are hardly better than chance"
            )
            for tie in self.ties
            if tie.verdict == UNDECIDED
        ] + [f"{name}: {why}" for name, why in self.missing.items()]
        if open_ties:
            sentences.append(f"Whether rows belong together cannot be decided for {shown(open_ties, 3)}.")
            sentences.append("More rows or more groups would tell; to be safe, pass them as groups.")
        sentences += ["No sign that rows belong together."] if self.verdict == NOTHING else []
        no = [tie.fall for tie in self.ties if tie.verdict == NOTHING]
        for text, ends in (
            (
                "a fall in balanced accuracy by more than {:.2f} is excluded",
                [e.high for e in no if e.kind != KINSHIP],
            ),
            ("near rows are in one group at most {:.2f} more often", [e.high for e in no if e.kind == KINSHIP]),
        ):
            if ends:
                text = text.format(max(0.01, *ends))
                sentences.append(f"{counted(len(ends), 'candidate')} for groups in {self.n_rows:,} rows: {text}.")
        if self.skipped:
            sentences.append(f"Not tried: {shown([f'{name} ({why})' for name, why in self.skipped.items()], 3)}.")
        return (" ".join(sentences) or "Undecided: nothing was tried.") + self.not_looked_at


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
    balanced accuracy has above chance or 10 points (near rows and few groups: half of it). Rows *belong together* if
    the fall is that large and above 0 (1 % over all candidates by Holm's rule). They do *not* if the 95 % interval of
    the fall excludes one that matters. Else it *cannot be decided*. Nearest rows come first: if, among rows of a class,
    near rows are not more often in the same group than others (a difference below 3 points), and no column differs
    between groups, then leaving groups out removes nothing that is like them. What this leaves open is measured with
    the learner: at most 6 columns, likely names first.

    The interval is over groups (Student's t). With up to 8 groups, or a few large ones, it is over the rows of just
    these groups: what another site would do it cannot say. In six simulated worlds, 100 tables each, 95 % intervals
    held the fall in 97 to 100 % (25 to 80 groups) and 89 to 94 % (4 to 7 groups).

    It misleads if deployment sees the same groups again (the same machines, the same customers): then shuffled accuracy
    is right. Many small clusters that are real kinds of cases look like groups of near rows. It cannot see groups that
    no column, no order and no nearness shows. Columns of numbers in which neighbouring values have like rows are
    measurements and not tried, unless their name says otherwise; `skipped` names what was not tried.

    Parameters
    ----------
    X, y : rows in the order of the file, and labels
    learner : an unfitted classifier; default: a forest of 30 trees
    order : whether to look at the order of the rows
    columns : names of columns that may name groups; default: all with values that repeat. () for none
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
    texts = left_out(X, table.X)
    return Dependence(ties, search.missing, search.shown_learner, len(table), seed, search.skipped, texts)


def _judged(ties: list[Tie]) -> list[Tie]:
    """The verdict of each: found by Holm's rule over all candidates, no if a fall that matters is excluded."""
    judged, rejected = [], True
    for place, tie in enumerate(sorted(ties, key=lambda tie: tie.p_value)):
        rejected = rejected and tie.p_value <= CHANCE / (len(ties) - place)
        open_or_no = NOTHING if tie.fall.high < tie.relevant else UNDECIDED
        judged.append(replace(tie, verdict=FOUND if rejected and _stands_out(tie) else open_or_no))
    return judged


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
    """Rows and their groups; `sample(n)` draws about n rows; `deal`: their folds, if known; `is_number`: of numbers."""

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
        self.skipped: dict[str, str] = {}
        self.again = MOST_AGAIN

    def order(self) -> None:
        """Consecutive rows of the file: short blocks, dealt to folds, and fifths. The one that speaks more for a tie.

        A column that sorts the file is left out; fifths would only leave out values of it.
        """
        codes, X = self.table.codes, self.table.X
        place = place_in_class(codes) / np.bincount(codes)[codes]
        blocks, fifths = ((place * number).astype(np.int64) for number in (max(min(BLOCKS, codes.size // 10), 5), 5))
        sorts = [name for name in X if _is_discrete(X[name]) and _sorts_file(_values(X[name]))]
        table = without(self.table, sorts if len(sorts) < X.shape[1] else [])
        blocks, fifths = (_of_first(each, table.groups) for each in (blocks, fifths))
        short = _Candidate(ORDER, ORDER, table, blocks, partial(stretches, codes.size))
        both = [short] if sorts or table.groups is not None else [short, replace(short, deal=fifths)]
        ties = [replace(tie, p_value=min(2 * tie.p_value, 1.0)) for tie in map(self._decided, both) if tie is not None]
        if ties:
            most = max(ties, key=lambda tie: (_stands_out(tie), tie.fall.high))
            self.ties.append(replace(most, apart=ties[-1].apart))

    def columns(self, chosen: Iterable[str] | None) -> None:
        """Rows with the same value of a column; those that the nearest rows leave open with the learner."""
        X, still_open = self.table.X, []
        names = [chosen] if isinstance(chosen, str) else X.columns if chosen is None else chosen
        for name in dict.fromkeys(map(str, names)):
            if name not in X:
                raise InputError(f"`columns` names {name!r}, which `X` does not have.{nearest(name, X.columns)}")
            if X.shape[1] == 1:
                self.missing |= {} if chosen is None else {name: "it is the only column"}
                continue
            if chosen is None and not _is_discrete(X[name]):
                continue
            values, is_likely = _values(X[name]), bool(NAMES.search(name))
            sizes = np.bincount(_united(values, self.table.groups))
            if chosen is None and (sizes.size > MOST_VALUES * len(X) or sizes.max() > LARGEST_SHARE * len(X)):
                self.skipped |= {name: "one value has most rows"} if 1 < sizes.size <= MOST_VALUES * len(X) else {}
                continue
            is_number = chosen is None and X[name].dtype.kind in "iuf" and not is_likely
            sample = partial(of_groups, values, self.seed)
            candidate = _Candidate(COLUMN, name, without(self.table, [name]), values, sample, is_number=is_number)
            tie = self._quick(candidate)
            if tie is not None and tie.fall.high >= tie.relevant:
                still_open.append((not is_likely, -tie.fall.value, name, candidate, tie))
            elif tie is not None:
                self.ties.append(tie)
        for place, (_, _, _, candidate, tie) in enumerate(sorted(still_open, key=lambda row: row[:3])):
            self.ties.append(self._learned(candidate) if place < MOST_COLUMNS else replace(tie, p_value=1.0))

    def near(self) -> None:
        """Rows that are nearly the same. Copies are left out: they are another matter."""
        rows = even_sample(self.table.codes, MOST_NEAR, self.seed)
        rows = rows[np.sort(np.unique(self.table.row_hashes[rows], return_index=True)[1])]
        values = as_points(self.table.X.iloc[rows])
        columns = continuous_columns(values)
        if len(columns) < 2:
            self.skipped[NEAR] = "fewer than two columns of numbers that seldom repeat"
        else:
            part = self.table.take(rows)
            groups = _of_first(near_blocks(scaled(values[:, columns], self.seed), self.seed), part.groups)
            sample = partial(of_groups, groups, self.seed)
            tie = self._decided(_Candidate(NEAR, NEAR, part, groups, sample))
            self.ties += [] if tie is None else [tie]

    def _decided(self, candidate: _Candidate) -> Tie | None:
        """By the nearest rows; with the learner if these leave a fall that matters possible."""
        tie = self._quick(candidate)
        return tie if tie is None or tie.fall.high < tie.relevant else self._learned(candidate)

    def _quick(self, candidate: _Candidate) -> Tie | None:
        """By the nearest rows. None for what cannot be groups: measurements, one value for most of the rows."""
        part, groups, folds = self._part(candidate, FIRST_ROWS, self.seed)
        sizes = np.bincount(groups)
        if sizes.size < 2 or sizes.max() > LARGEST_SHARE * groups.size:
            self.missing[candidate.name] = "it has one group, or one with more than two thirds of the rows"
            return None
        points = scaled(as_points(part.X), self.seed)
        is_told, is_ordered = by_columns(points, part.codes, groups)
        if candidate.is_number and is_told and is_ordered:
            return None
        queries = even_sample(part.codes, QUERIES, self.seed)
        shuffled, apart, kin = by_nearest(points, queries, part.codes, part.groups, groups, folds)
        asked = part.take(queries)
        tie = _compared(candidate, asked, groups[queries], shuffled, apart, NEAREST)
        kin = kin * class_weights(asked.codes, asked.classes.size)
        error = crossed_standard_error(by_group(kin[None, :], asked.groups))
        kinship = around(float(kin.mean()), error, 0.95, KINSHIP)
        if candidate.kind != NEAR and not is_told and kinship.high < FALL:
            return replace(tie, fall=kinship)
        return tie if tie.relevant > FALL else replace(tie, fall=replace(tie.fall, high=1.0))

    def _learned(self, candidate: _Candidate) -> Tie:
        """With the learner on few rows; if that leaves it open, on more of them or with more draws of folds."""
        tie = self._fitted(candidate, FIRST_ROWS, 1)
        if tie.fall.high < tie.relevant or _stands_out(tie) or self.again == 0:
            return tie
        self.again -= 1
        return self._fitted(candidate, MOST_ROWS, REPEATS if tie.rows == candidate.tied.size else 1)

    def _fitted(self, candidate: _Candidate, most: int, draws: int) -> Tie:
        """From whether each row is predicted correctly by fits without its fold, over draws of folds."""
        right = []
        for seed in range(self.seed, self.seed + draws):
            part, groups, ways = self._part(candidate, most, seed)
            if groups.max() < FEW:
                # Few groups may leave out most of a class: the accuracy that is shown has usual folds.
                ways = (*ways, fold_of_rows(part.codes, FOLDS, seed, PerRow(part.groups)))
            number = sum(int(fold.max()) + 1 for fold in ways)
            with Progress(number, f"{SUBJECT}: {candidate.name}", self.progress) as bar:
                right.append([predicted(part, self.learner, fold, seed, bar.advance) == part.codes for fold in ways])
        shuffled, apart, *usual = np.mean(right, axis=0)
        tie = _compared(candidate, part, groups, shuffled, apart, self.shown_learner)
        return replace(tie, shuffled=_mean(usual[0], groups, part.groups)[0]) if usual else tie

    def _part(self, candidate: _Candidate, most: int, seed: int) -> tuple[Data, Ints, tuple[Ints, ...]]:
        """Some rows; their groups, united with known ones; folds at random and of whole groups, of the same classes."""
        rows = candidate.sample(most)
        part = candidate.table.take(rows)
        groups = _united(candidate.tied[rows], part.groups)
        deal = groups if candidate.deal is None else candidate.deal[rows]
        if deal.max() >= FEW:
            deal = fold_of_rows(part.codes, FOLDS, seed, PerRow(groups=groups))
        known = np.arange(rows.size) if part.groups is None else part.groups
        _, first, unit = np.unique(known, return_index=True, return_inverse=True)
        return part, groups, (_within_classes(deal[first], part.codes[first], seed)[unit], deal)


def _stands_out(tie: Tie) -> bool:
    return tie.p_value <= CHANCE and tie.fall.value >= tie.relevant and tie.fall.low > 0


def _compared(candidate: _Candidate, table: Data, groups: Ints, shuffled: Floats, apart: Floats, learner: str) -> Tie:
    """What is lost if groups are left out, from how often each row was predicted correctly in both ways."""
    weights = class_weights(table.codes, table.classes.size)
    over_groups = partial(_mean, groups=groups, units=table.groups)
    fall, chance = over_groups((shuffled - apart) * weights, least=-1.0)
    above = float((shuffled * weights).mean()) - 1 / np.unique(table.codes).size
    # What is not learned says nothing.
    fall = fall if above >= FALL else replace(fall, high=1.0)
    is_coarse = candidate.kind == NEAR or _worth(groups) <= FEW
    return Tie(
        kind=candidate.kind,
        name=candidate.name,
        groups=np.unique(groups).size,
        rows=groups.size,
        shuffled=over_groups(shuffled)[0],
        apart=over_groups(apart)[0],
        fall=fall,
        p_value=chance,
        relevant=max(FALL, COARSE * above if is_coarse else min(RELATIVE * above, LARGE)),
        learner=learner,
    )


def _worth(groups: Ints) -> int:
    """Groups of equal size that would vary as much: a few large ones say less than their number."""
    sizes = np.unique(groups, return_counts=True)[1]
    return max(round(groups.size**2 / float((sizes**2).sum())), 2)


def _mean(values: Floats, groups: Ints, units: Ints | None, least: float = 0.0) -> tuple[Estimate, float]:
    """The mean, and the p-value of a mean of 0: over groups; if they are few, over units (or rows) of just these."""
    number, value, table = _worth(groups), float(values.mean()), by_group(values[None, :], groups)
    over = "over groups" if number > FEW else "over rows of these groups"
    if number <= FEW:
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        table = by_group((values - (np.bincount(codes, values) / sizes)[codes])[None, :], units)
        number = table.shape[1]
    error = crossed_standard_error(table) * (FITS if least < 0 else 1)
    chance = float(stats.t.sf(value / error, number - 1)) if error > 0 else float(value <= 0)
    return bounded(value, error, groups.size, 0.95, over, number, least), chance


def _within_classes(key: Ints, codes: Ints, seed: int) -> Ints:
    """The keys, shuffled among rows of the same class."""
    shuffled = np.empty_like(key)
    drawn = sorted_by_class(codes, seeds.generator(seed, "shuffle within classes"))
    shuffled[np.argsort(codes, kind="stable")] = key[drawn]
    return shuffled


def _of_first(tied: Ints, known: Ints | None) -> Ints:
    """For each row, what the first row of its known group is tied to: so groups stay whole."""
    if known is None:
        return tied
    _, first, group = np.unique(known, return_index=True, return_inverse=True)
    return tied[first][group]


def _united(one: Ints, other: Ints | None) -> Ints:
    """Groups that keep together what either of two groupings keeps together, numbered from 0."""
    first = np.unique(one, return_inverse=True)[1]
    if other is not None:
        second = first.max() + 1 + np.unique(other, return_inverse=True)[1]
        size = int(second.max()) + 1
        links = sparse.csr_array((np.ones(first.size, dtype=np.int8), (first, second)), shape=(size, size))
        first = np.unique(connected_components(links, directed=False)[1][first], return_inverse=True)[1]
    return np.asarray(first, dtype=np.int64)
