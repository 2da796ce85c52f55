"""`stabilities`: compare learners by how repeatable and how accurate they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ... import expect, seeds
from ...estimators.adapters import kind_of
from ...intervals import Estimate
from ...result import Result, figures_frame
from ..fitting import checks
from ..fitting.schemes import HalfSplits
from ..record import record
from ..records.labelings import Labelings, expect_record
from .stability import Stability, stability

FIGURES = ("stability", "kappa", "accuracy")


@dataclass(frozen=True)
class StabilityTable(Result, chart="learner.stability:stability_plane"):
    """The result of `stabilities`: figures of each learner, in the order given.

    `unbeaten`: no other learner is both at least as repeatable and at least as accurate, by the point estimates.
    """

    names: tuple[str, ...]
    on: str
    pairs: str
    n_points: int
    stability: dict[str, Estimate]
    kappa: dict[str, Estimate]
    accuracy: dict[str, Estimate]
    unbeaten: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row per learner and figure: learner, on, figure, value, low, high, level, kind."""
        tables = [
            figures_frame(name, self.on, {figure: getattr(self, figure)[name] for figure in FIGURES})
            for name in self.names
        ]
        return pd.concat(tables, ignore_index=True)

    def __str__(self) -> str:
        def told(name: str) -> str:
            return f"{name} (stability {self.stability[name]}, accuracy {self.accuracy[name]})"

        steady = max(self.names, key=lambda name: self.stability[name].value)
        right = max(self.names, key=lambda name: self.accuracy[name].value)
        text = f"Of {expect.counted(len(self.names), 'learner')}, compared on {self.n_points} {self.on}, "
        if steady == right:
            return f"{text}{told(steady)} is the most repeatable and the most accurate."
        return (
            f"{text}{told(steady)} is the most repeatable and {told(right)} the most accurate. No other is both more "
            f"repeatable and more accurate than {', '.join(self.unbeaten)}."
        )


def stabilities(found: Mapping[str, Stability | Labelings]) -> StabilityTable:
    """Compare learners: stability, kappa and accuracy of each, and which of them no other beats on both.

    A learner is beaten if another is at least as repeatable and at least as accurate, and better in one. Where
    intervals overlap, the order may be chance. The learners must have been compared on the same kind and number of
    points, by the same kind of pairs: use the same data, scheme, probes and random_state.

    Parameters
    ----------
    found : name -> what `stability` returned, or a record, at least one

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.arange(200) % 2
    >>> noisy = np.random.default_rng(0).random((20, 200)) < 0.2
    >>> records = {"always 0": np.zeros((20, 200), int), "noisy": noisy ^ truth}
    >>> table = stabilities({name: Labelings.from_arrays(labels, truth) for name, labels in records.items()})
    >>> table.unbeaten
    ('always 0', 'noisy')

    """
    if not isinstance(found, Mapping) or not found:
        raise expect.InputError("`found` is empty or not a mapping; expected {name: stability(labelings), …}.")
    results: dict[str, Stability] = {}
    for name, given in found.items():
        one = stability(given) if isinstance(given, Labelings) else given
        if not isinstance(one, Stability):
            raise expect.InputError(
                f"`found[{name!r}]` is {type(given).__name__}; expected what `classay.stability` returned for a "
                "classifier."
            )
        results[str(name)] = one
    first = next(iter(results.values()))
    for name, one in results.items():
        if (one.on, one.n_points, one.pairs) != (first.on, first.n_points, first.pairs):
            raise expect.InputError(
                f"{name!r} was compared on {one.n_points} {one.on} by {one.pairs}, but {next(iter(results))!r} on "
                f"{first.n_points} {first.on} by {first.pairs}; they must match. Record all with the same settings."
            )
    estimates = {figure: {name: getattr(one, figure) for name, one in results.items()} for figure in FIGURES}
    return StabilityTable(
        names=tuple(results),
        on=first.on,
        pairs=first.pairs,
        n_points=first.n_points,
        unbeaten=_unbeaten(results),
        **estimates,
    )


def _unbeaten(results: dict[str, Stability]) -> tuple[str, ...]:
    places = {name: (one.stability.value, one.accuracy.value) for name, one in results.items()}

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        return one[0] >= other[0] and one[1] >= other[1] and one != other

    return tuple(name for name, own in places.items() if not any(beats(other, own) for other in places.values()))


# `stability_by_size`: how much more repeatable a learner gets with more data.


LEAST_ROWS = 10
STEPS = 5


@dataclass(frozen=True)
class StabilityBySize(Result, chart="learner.stability:stability_by_size_chart"):
    """The result of `stability_by_size`: for each number of training rows the figures of two disjoint subsets.

    `stability`, `kappa` and `accuracy` have one estimate per entry of `sizes`.
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
        """One row per size and figure: size, learner, on, figure, value, low, high, level, kind."""
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
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
) -> StabilityBySize:
    """Measure how repeatable a learner is with fewer rows: stability on two disjoint subsets of each size.

    For each size, `splits` random halvings of the training part; that many random rows of each half train one refit
    each. The test part and the probes are the same for all sizes.

    Figures are those of `stability`, from 0 to 1, higher is more repeatable. Most learners rise with size; if one does
    not, more data will not make its refits agree. The largest size is half of the training part, so the classifier that
    you would train on all rows is likely more repeatable than the last figure.

    Parameters
    ----------
    learner, X, y, test_size, probes, n_probes, random_state, executor, store, progress, time_limit, name, groups, time,
        sample_weight, X_test, y_test : as in `record`; only classifiers. With groups, sizes are approximate
    sizes : rows of each subset; default: five sizes, each twice the previous, up to half of the training part
    splits : pairs of disjoint subsets of each size
    level : confidence level of the intervals

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
    if kind_of(checks.unfitted_learner(learner)[0]) == "regressor":
        raise expect.InputError(f"`learner` is {type(learner).__name__}, a regressor; expected a classifier here.")
    per_row: dict[str, Any] = {
        "groups": groups,
        "time": time,
        "sample_weight": sample_weight,
        "X_test": X_test,
        "y_test": y_test,
    }
    setup = checks.prepare(
        learner, X, y, HalfSplits(splits), 1, test_size, None, seed, None, n_probes, scores=False, **per_row
    )
    wanted = _sizes(sizes, setup, splits)
    by_size: list[Stability] = []
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
        **per_row,
    }
    for size in wanted:
        try:
            labelings = expect_record(record(learner, X, y, HalfSplits(splits, size), **settings), "learner")
        except KeyboardInterrupt:  # before any refit of this size was done
            break
        if labelings.interrupted:
            break
        by_size.append(stability(labelings, level=level))
    if not by_size:
        raise KeyboardInterrupt
    if len(by_size) < len(wanted):
        notes.append(f"Interrupted: {len(by_size)} of {len(wanted)} sizes were done.")
    notes += dict.fromkeys(note for one in by_size for note in one.notes)
    return StabilityBySize(
        learner=by_size[0].learner,
        on=by_size[0].on,
        n_points=by_size[0].n_points,
        sizes=tuple(wanted[: len(by_size)]),
        stability=tuple(one.stability for one in by_size),
        kappa=tuple(one.kappa for one in by_size),
        accuracy=tuple(one.accuracy for one in by_size),
        notes=tuple(notes),
    )


def _sizes(sizes: Sequence[int] | None, setup: checks.Setup, splits: int) -> list[int]:
    """Sizes in order, each of which can be drawn."""
    codes = setup.codes[setup.train]
    most = codes.size // 2
    if sizes is None:
        least = max(LEAST_ROWS, 2 * np.unique(codes).size)
        halving = [most // 2**step for step in range(STEPS)]
        chosen = sorted({size for size in halving if size >= least} or {most})
    else:
        try:
            chosen = sorted({expect.whole(size, "sizes", at_least=2) for size in sizes})
        except TypeError as error:
            raise expect.InputError(f"`sizes` is {sizes!r}; expected a list of numbers of rows.") from error
        if not chosen:
            raise expect.InputError("`sizes` is empty; pass at least one number of rows, or leave it out.")
    for size in chosen:
        HalfSplits(splits, size).check(codes, setup.per_row.take(setup.train))
    return chosen
