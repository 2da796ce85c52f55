"""`Folds`: cross-validation as a scheme of `record`. Each fit predicts the rows that its training rows leave out."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import seeds
from ...arrays import Ints
from ...expect import InputError, whole
from ...inputs import take
from ...splits import PerRow, at_even_steps, fold_of_rows, sorted_by_class, train_rows_of_fold
from .schemes import Sample


@dataclass(frozen=True, eq=False)
class Folds:
    """Cross-validation: each fit is trained on the other folds and predicts the rows of its own.

    In the record, a fit has no prediction (code -1) for the rows of other folds: `predicted` says which it has.
    `Labelings.out_of_fold()` puts the folds together. Measures that compare refits on the same test points, such as
    `stability`, need another scheme.

    A number of folds deals rows by class; with `groups`, whole groups; with `time`, blocks in the order of time, each
    trained on earlier blocks, the first of which is never tested. Without folds of its own, a splitter gets the groups,
    and the rows in the order of `time`. Index pairs that all test the same rows give a record that every measure takes.

    Parameters: `cv`, a number of folds, a scikit-learn splitter (a random_state of None is set by the record's), or
    (train, test) index pairs; `rows`, the most training rows of a fit, drawn by class; `tested`, numbers of the rows to
    predict, if not all.

    >>> Folds(10).cv
    10
    """

    cv: Any = 5
    rows: int | None = None
    tested: Any = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            whole(self.rows, "Folds(rows)", at_least=2)
        if isinstance(self.cv, (int, np.integer)):
            whole(self.cv, "cv", at_least=2, why="It is a number of folds.")
        elif isinstance(self.cv, (str, bytes)) or not hasattr(self.cv, "split"):  # texts can be split, too
            object.__setattr__(self, "cv", _pairs(self.cv))  # an iterator would be empty the second time

    def samples(self, X: Any, y: NDArray[Any], codes: Ints, given: PerRow, seed: int) -> list[Sample]:
        """The training rows of every fit, and the rows that it predicts; None where all predict the same."""
        tested = np.arange(codes.size) if self.tested is None else np.unique(_numbers(self.tested, "Folds(tested)"))
        _expect_rows(tested, codes.size, "`Folds(tested)` has rows")
        if isinstance(self.cv, (int, np.integer)):
            fold = fold_of_rows(codes, int(self.cv), seed, given)
            numbers = range(int(fold.max()) + 1)
            pairs = [(train_rows_of_fold(fold, number, given), np.flatnonzero(fold == number)) for number in numbers]
        else:
            pairs = self.cv if isinstance(self.cv, list) else self._split(X, y, given, seed)
            for number, pair in enumerate(pairs):
                _expect_apart(number, pair, codes.size, given.groups)
        kept = [(number, np.sort(train), np.intersect1d(test, tested)) for number, (train, test) in enumerate(pairs)]
        kept = [fit for fit in kept if fit[2].size]
        if not kept:
            raise InputError("`cv` tests none of the rows; expected at least one row to predict.")
        limit = codes.size if self.rows is None else self.rows
        samples = []
        for place, (number, train, test) in enumerate(kept):
            rows = train if train.size <= limit else fewer(train, codes[train], limit, seed, number)
            samples.append(Sample(place, rows, test, number, train.size))
        return samples

    @property
    def source(self) -> str:
        """What gave the folds, in words."""
        if isinstance(self.cv, (int, np.integer)):
            return f"{self.cv} folds"
        if isinstance(self.cv, list):
            return f"{len(self.cv)} index pairs"
        text = " ".join(repr(self.cv).split())
        return type(self.cv).__name__ if text.startswith("<") or len(text) > 200 else text

    def _split(self, X: Any, y: NDArray[Any], given: PerRow, seed: int) -> list[tuple[Ints, Ints]]:
        splitter = copy.deepcopy(self.cv)
        (own,) = seeds.integers(seed, "splitter", count=1)
        if getattr(splitter, "random_state", own) is None:
            splitter.random_state = own
        # A splitter that goes by the order of rows, as TimeSeriesSplit does, gets them in the order of time.
        order = np.arange(y.size) if given.time is None else np.argsort(given.time, kind="stable")
        groups = None if given.groups is None else given.groups[order]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # groups are checked below
            try:
                pairs = list(splitter.split(take(X, order), y[order], groups))
            except (ValueError, TypeError) as error:
                raise InputError(f"{self.source} cannot split the {y.size} rows: {error}") from error
        return [(order[np.asarray(train)], order[np.asarray(test)]) for train, test in pairs]


def fewer(rows: Ints, codes: Ints, wanted: int, seed: int, *place: int) -> Ints:
    """A stratified subset of the rows: every class keeps its share, and at least one row."""
    generator = seeds.generator(seed, "fewer", *place)
    order = sorted_by_class(codes, generator)
    kept = at_even_steps(order, wanted, generator)
    absent = np.setdiff1d(codes, codes[kept])
    more = [order[codes[order] == code][:1] for code in absent]
    return np.sort(rows[np.concatenate([kept, *more])])


def _pairs(cv: Any) -> list[tuple[Ints, Ints]]:
    expected = "expected a scikit-learn splitter, a number of folds, or pairs of (train, test) indices"
    try:
        if isinstance(cv, (str, bytes)):
            raise TypeError("a text is no list of pairs")
        listed = [tuple(pair) for pair in cv]
    except TypeError as error:
        raise InputError(f"`cv` is {cv!r}; {expected}.") from error
    if not listed or any(len(pair) != 2 for pair in listed):
        raise InputError(f"`cv` is a {type(cv).__name__} of {len(listed)}, not all of them pairs; {expected}.")
    pairs = [(_numbers(train, "cv"), _numbers(test, "cv")) for train, test in listed]
    if any(not train.size for train, _ in pairs):
        raise InputError("`cv` has a pair without training rows; every pair needs some.")
    return pairs


def _numbers(rows: Any, name: str) -> Ints:
    """Row numbers, also from a mask."""
    numbers = np.asarray(rows)
    if numbers.dtype.kind == "b":
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise InputError(f"`{name}` has {numbers.dtype} values of shape {numbers.shape}; expected row numbers.")
    return numbers.astype(np.int64)


def _expect_rows(numbers: Ints, rows: int, what: str) -> None:
    if numbers.size and (numbers.min() < 0 or numbers.max() >= rows):
        raise InputError(f"{what} from {numbers.min()} to {numbers.max()}; expected row numbers from 0 to {rows - 1}.")


def _expect_apart(number: int, pair: tuple[Ints, Ints], rows: int, groups: Ints | None) -> None:
    train, test = pair
    for part in pair:
        _expect_rows(part, rows, f"`cv` has, in pair {number}, rows")
    both = np.intersect1d(train, test)
    if both.size:
        raise InputError(f"`cv` trains on {both.size} rows that it tests, in pair {number}; expected other rows.")
    shared = np.empty(0) if groups is None else np.intersect1d(groups[train], groups[test])
    if shared.size:
        raise InputError(
            f"{shared.size} groups of `groups` have rows that `cv` trains on and rows that it tests, in pair {number}; "
            "a group must be on one side only. Use a splitter that keeps groups together, or leave `groups` out."
        )
