"""`stability_by_size`: how much more repeatable a learner gets with more data."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..intervals import Estimate
from ..result import Result
from . import examine
from .answers import Codes
from .figures import figures_frame
from .record import record
from .schemes import HalfSplits, split
from .stability import Stability, stability

FIGURES = ("stability", "kappa", "accuracy")
LEAST_ROWS = 10
STEPS = 5


@dataclass(frozen=True)
class StabilityBySize(Result):
    """What `stability_by_size` finds: for each number of training rows the figures of two disjoint subsets.

    `stability`, `kappa` and `accuracy` go with `sizes`, one estimate each.
    """

    learner: str
    on: str
    n_points: int
    sizes: tuple[int, ...]
    stability: tuple[Estimate, ...]
    kappa: tuple[Estimate, ...]
    accuracy: tuple[Estimate, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a size and figure: size, learner, on, figure, value, low, high, level, kind."""
        tables = []
        for place, size in enumerate(self.sizes):
            estimates = {name: getattr(self, name)[place] for name in FIGURES}
            tables.append(figures_frame(self.learner, self.on, estimates).assign(size=size))
        frame = pd.concat(tables, ignore_index=True)
        return frame[["size", *frame.columns[:-1]]]

    def __str__(self) -> str:
        first, last = self.stability[0], self.stability[-1]
        text = (
            f"{self.learner}: two refits on disjoint subsets of {self.sizes[0]} rows agree on {first} of "
            f"{self.n_points} {self.on}, of {self.sizes[-1]} rows on {last}; accuracy goes from {self.accuracy[0]} to "
            f"{self.accuracy[-1]}."
        )
        return " ".join([text, *self.notes])


def stability_by_size(
    learner: Any,
    X: Any,
    y: ArrayLike,
    sizes: Sequence[int] | None = None,
    splits: int = 25,
    test_size: float = 0.2,
    probes: Any = "uniform",
    n_probes: int = 10_000,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    name: str | None = None,
) -> StabilityBySize:
    """Tell how repeatable a learner is when it has fewer rows: stability on two disjoint subsets of each size.

    For each size, `splits` random halvings of the training part; so many rows of each half, by class, train one refit
    each. The test part and the probes are the same for all sizes.

    Figures are those of `stability`, from 0 to 1, higher is more repeatable. Most learners rise with size; where one
    does not, more data will not bring its refits together. The largest size is half of the training part, so the
    classifier that you would train on all rows is likely more repeatable than the last figure says.

    Parameters
    ----------
    learner, X, y, test_size, probes, n_probes, random_state, executor, store, progress, time_limit, name : as in
        `record`; only classifiers
    sizes : rows of each subset; default five of them, each twice the one before, up to half of the training part
    splits : pairs of disjoint subsets of each size
    level : of the intervals

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = stability_by_size(GaussianNB(), X, y, sizes=[15, 60], splits=10, executor=1)
    >>> found.stability[0].value < found.stability[1].value
    True

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, section 3, Machine Learning 20 (1995).

    """
    seed = seeds.settle(random_state)
    expect.fraction(level, "level")
    expect.whole(splits, "splits", at_least=2)
    unfitted, _ = examine.learner(learner)
    _, y_values, _ = examine.data(X, y)
    answers, codes = examine.answers(unfitted, y_values)
    if not isinstance(answers, Codes):
        raise expect.InputError(f"`learner` is {type(learner).__name__}, a regressor; a classifier is expected here.")
    train = split(codes, expect.fraction(test_size, "test_size"), seed)[0]
    wanted = _sizes(sizes, codes[train], splits)
    found: list[Stability] = []
    notes: list[str] = []
    settings: dict[str, Any] = {
        "repeats": 1,
        "test_size": test_size,
        "probes": probes,
        "n_probes": n_probes,
        "random_state": seed,
        "executor": executor,
        "store": store,
        "progress": progress,
        "time_limit": time_limit,
        "name": name,
    }
    for size in wanted:
        try:
            labelings = record(learner, X, y, HalfSplits(splits, size), **settings)
        except KeyboardInterrupt:  # before any refit of this size was done
            break
        if labelings.interrupted:
            break
        found.append(stability(labelings, level=level))
    if not found:
        raise KeyboardInterrupt
    if len(found) < len(wanted):
        notes.append(f"Interrupted: {len(found)} of {len(wanted)} sizes were done.")
    notes += dict.fromkeys(note for one in found for note in one.notes)
    return StabilityBySize(
        learner=found[0].learner,
        on=found[0].on,
        n_points=found[0].n_points,
        sizes=tuple(wanted[: len(found)]),
        stability=tuple(one.stability for one in found),
        kappa=tuple(one.kappa for one in found),
        accuracy=tuple(one.accuracy for one in found),
        notes=tuple(notes),
    )


def _sizes(given: Sequence[int] | None, codes: Any, splits: int) -> list[int]:
    """Sizes in order, each of which can be drawn."""
    most = codes.size // 2
    if given is None:
        least = max(LEAST_ROWS, 2 * np.unique(codes).size)
        halving = [most // 2**step for step in range(STEPS)]
        chosen = sorted({size for size in halving if size >= least} or {most})
    else:
        try:
            chosen = sorted({expect.whole(size, "sizes", at_least=2) for size in given})
        except TypeError as error:
            raise expect.InputError(f"`sizes` is {given!r}; a list of numbers of rows is expected.") from error
        if not chosen:
            raise expect.InputError("`sizes` is empty; name at least one number of rows, or leave it out.")
    for size in chosen:
        HalfSplits(splits, size).check(codes)
    return chosen
