"""`Splits`: any scikit-learn splitter, or pairs of indices, as the subsets on which a learner is refitted."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from ... import seeds
from ...arrays import Ints, Mask
from ...expect import InputError, counted, shown, whole
from ...inputs import take
from ...splits import NOTHING, PerRow
from .schemes import AS_DRAWN


@dataclass(frozen=True, eq=False)
class Splits:
    """Each split of a cross-validation is one subset: the learner is refitted on its training rows.

    All refits predict the same test points, which no refit was trained on. A splitter, or a number of folds, therefore
    runs on the training part, after the test part was taken out by `test_size` (whole groups with `groups=`, the latest
    rows with `time=`) or given as `X_test`; its own test rows are not used. Pairs of indices count rows of `X`; the
    rows that every pair tests are the test part, unless `X_test` is given.

    Parameters: `cv`, a scikit-learn splitter, which gets the groups; a number of folds (stratified for a classifier);
    or (train, test) index pairs. A splitter whose random_state is None is seeded by `random_state` of the record.

    >>> from sklearn.model_selection import ShuffleSplit
    >>> Splits(ShuffleSplit(20, train_size=0.5)).pairs is None
    True
    """

    cv: Any

    def __post_init__(self) -> None:
        if isinstance(self.cv, (int, np.integer)):
            whole(self.cv, "cv", at_least=2, why="It is a number of folds.")
            return
        if hasattr(self.cv, "split") and not isinstance(self.cv, (str, bytes)):  # texts can be split, too
            return
        object.__setattr__(self, "cv", _pairs(self.cv))  # an iterator would be empty the second time

    @property
    def pairs(self) -> list[tuple[NDArray[Any], NDArray[Any]]] | None:
        """The index pairs, if they were given."""
        return self.cv if isinstance(self.cv, list) else None

    def common_test(self, rows: int) -> tuple[Ints, Ints]:
        """Rows on which some pair trains, and the rows that every pair tests."""
        trained, tested = np.zeros(rows, dtype=bool), np.ones(rows, dtype=bool)
        for number, (train, test) in enumerate(self.pairs or []):
            trained |= _mask(train, rows, f"the training rows of pair {number}")
            tested &= _mask(test, rows, f"the test rows of pair {number}")
        if (trained & tested).any():
            raise InputError(
                f"`cv` has {int((trained & tested).sum())} rows that one pair trains on and every pair tests; expected "
                "test rows that no pair trains on."
            )
        if not tested.any():
            raise InputError(
                "`cv` has no row that every pair tests, and refits are compared on the same test points. Pass the "
                "splitter itself, which then runs on the training part, or the test points as X_test and y_test."
            )
        return np.flatnonzero(trained), np.flatnonzero(tested)

    def applied(self, X: Any, y: NDArray[Any], codes: Ints, train: Ints, given: PerRow, seed: int) -> SplitSubsets:
        """The training rows of every split, as positions in the training part, whose rows and labels these are."""
        if self.pairs is not None:
            place = np.full(int(max(train.max(), *(pair[0].max() for pair in self.pairs))) + 1, -1)
            place[train] = np.arange(train.size)
            subsets = [place[pair[0]] for pair in self.pairs]
            if any((rows < 0).any() for rows in subsets):
                raise InputError("`cv` trains on rows that are in the test part; expected rows of the training part.")
            return SplitSubsets(tuple(subsets), f"{len(subsets)} index pairs")
        splitter = self._splitter(bool(codes.max() > 0), given.groups is not None, seed)
        # A splitter that goes by the order of rows, as TimeSeriesSplit does, gets them in the order of time.
        order = np.arange(train.size) if given.time is None else np.argsort(given.time, kind="stable")
        groups = None if given.groups is None else given.groups[order]
        with warnings.catch_warnings():
            # Splitters without groups warn: here, a group on both sides of their splits does no harm.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            try:
                pairs = list(splitter.split(take(X, order), y[order], groups))
            except (ValueError, TypeError) as error:
                raise InputError(f"{_called(self.cv)} cannot split the {train.size} training rows: {error}") from error
        return SplitSubsets(tuple(order[np.asarray(rows, dtype=np.int64)] for rows, _ in pairs), _called(self.cv))

    def _splitter(self, several_classes: bool, by_group: bool, seed: int) -> Any:
        (own,) = seeds.integers(seed, "splitter", count=1)
        if isinstance(self.cv, (int, np.integer)):
            folds: Any = StratifiedKFold if several_classes else KFold
            if by_group:
                folds = StratifiedGroupKFold if several_classes else GroupKFold
            return folds(int(self.cv), shuffle=True, random_state=own)
        splitter = copy.deepcopy(self.cv)
        if getattr(splitter, "random_state", own) is None:
            splitter.random_state = own
        return splitter


@dataclass(frozen=True, eq=False)
class SplitSubsets:
    """The training rows of every split of a cross-validation, and what gave them."""

    subsets: tuple[Ints, ...]
    source: str

    @property
    def n(self) -> int:
        """The number of subsets."""
        return len(self.subsets)

    def check(self, codes: Ints, given: PerRow = NOTHING) -> None:
        """Refuse, before any fit, splits that cannot be compared."""
        if self.n < 2:
            raise InputError(
                f"`cv` gives {counted(self.n, 'split')}; at least 2 are needed to show how predictions vary with the "
                "data."
            )
        empty = [number for number, rows in enumerate(self.subsets) if not rows.size]
        if empty:
            raise InputError(f"`cv` gives no training rows in split {shown(empty, 3)} (counted from 0).")
        single = [number for number, rows in enumerate(self.subsets) if np.ptp(codes[rows]) == 0]
        if single and np.ptp(codes) > 0:
            raise InputError(
                f"`cv` gives training rows of one class in {len(single)} of {self.n} splits (first: {single[0]}, "
                "counted from 0). Use a splitter that is stratified, or other splits."
            )

    def draw(self, codes: Ints, seed: int, given: PerRow = NOTHING) -> Iterator[tuple[Ints, str]]:
        """Yield the training rows of each split."""
        for rows in self.subsets:
            yield np.sort(rows), AS_DRAWN


def _called(splitter: Any) -> str:
    if isinstance(splitter, (int, np.integer)):
        return f"A cross-validation of {splitter} folds"
    text = " ".join(repr(splitter).split())
    return type(splitter).__name__ if text.startswith("<") or len(text) > 200 else text


def _pairs(cv: Any) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    expected = "expected a scikit-learn splitter, a number of folds, or pairs of (train, test) indices"
    try:
        if isinstance(cv, (str, bytes)):
            raise TypeError("a text is no list of pairs")
        listed = [tuple(pair) for pair in cv]
    except TypeError as error:
        raise InputError(f"`cv` is {cv!r}; {expected}.") from error
    if not listed or any(len(pair) != 2 for pair in listed):
        raise InputError(f"`cv` is a {type(cv).__name__} of {len(listed)}, not all of them pairs; {expected}.")
    pairs = []
    for train, test in listed:
        arrays = []
        for part in (np.asarray(train), np.asarray(test)):
            if part.dtype.kind == "b":
                part = np.flatnonzero(part)
            if part.ndim != 1 or (part.dtype.kind not in "iu" and part.size):
                raise InputError(f"`cv` has a pair with {part.dtype} values of shape {part.shape}; {expected}.")
            arrays.append(part.astype(np.int64))
        if not arrays[0].size:
            raise InputError("`cv` has a pair without training rows; every pair needs some.")
        pairs.append((arrays[0], arrays[1]))
    return pairs


def _mask(indices: NDArray[Any], rows: int, what: str) -> Mask:
    if indices.size and (indices.min() < 0 or indices.max() >= rows):
        raise InputError(
            f"`cv` has {what} from {indices.min()} to {indices.max()}; expected row numbers from 0 to {rows - 1}."
        )
    mask = np.zeros(rows, dtype=bool)
    mask[indices] = True
    return mask
