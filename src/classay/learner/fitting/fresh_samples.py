"""Fresh samples from a source, instead of subsets of one table: what a learner does, not what these rows let it do.

A source is a function that draws rows of a process. Subsets of one table share rows and resemble each other more than
samples do; fresh samples are independent, so figures are those of the process (the paper's own definitions), and their
intervals cover it. Samples are used as they are drawn, with or without every class. They and the test part are put one
after the other into one table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ... import expect, seeds
from ...arrays import Ints
from ...expect import InputError
from ...frames import pandas_of
from ...inputs import as_array
from ...splits import NOTHING, PerRow
from .schemes import AS_DRAWN, Drawn, HalfSplits, Subsets

TEST_ROWS, USUAL_SHARE = 1000, 0.2
"""Rows of the test part if none are asked for, and the default of `test_size` in `record`, by which it is known."""


@dataclass(frozen=True)
class FreshSamples:
    """`n` independent samples of `size` rows each, one after the other; with `pairs`, 2i and 2i + 1 are compared."""

    n: int
    size: int
    pairs: bool

    def check(self, codes: Ints, given: PerRow = NOTHING) -> None:
        """Samples were checked when they were drawn."""

    def draw(self, codes: Ints, seed: int, given: PerRow = NOTHING) -> Iterator[Drawn]:
        """Yield the rows of each sample."""
        for number in range(self.n):
            yield np.arange(number * self.size, (number + 1) * self.size), AS_DRAWN

    def as_json(self) -> dict[str, Any]:
        """Kind and settings, as those of the scheme that asked for them, and that samples are fresh."""
        if self.pairs:
            return {"kind": "HalfSplits", "m": self.n // 2, "size": self.size, "stratify": False, "fresh": True}
        return {"kind": "Subsets", "n": self.n, "size": self.size, "fresh": True}


@dataclass(frozen=True)
class FreshData:
    """Rows and labels of all samples, of the test part, and how the samples lie in the rows."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    scheme: FreshSamples


def fresh_data(source: Any, scheme: Any, test_size: Any, random_state: int | np.random.Generator | None) -> FreshData:
    """Draw the samples that a scheme asks for, and the test part, each with its own generator.

    `source(generator, n)` returns n rows and their labels. Sample k is the same whatever the number of samples.
    """
    if not callable(source):
        raise InputError(
            f"`source` is {source!r}; expected a function of a numpy Generator and a number of rows that returns rows "
            "and labels."
        )
    if scheme is None:
        raise InputError(
            "`scheme` is missing: with `source`, it says how many samples of how many rows to draw, such as "
            "Subsets(100, 200) or HalfSplits(25, 200)."
        )
    if not isinstance(scheme, (Subsets, HalfSplits)) or not isinstance(scheme.size, (int, np.integer)):
        raise InputError(
            f"`scheme` is {scheme!r}; with `source`, expected Subsets(n, size) or HalfSplits(m, size) with a whole "
            "number of rows: there is no table of which a share could be taken."
        )
    if isinstance(scheme, HalfSplits) and scheme.stratify:
        raise InputError(
            "`scheme` is HalfSplits with stratify=True; samples of a source are used as they come, and cannot be dealt "
            "by class. Leave it out."
        )
    rows = _test_rows(test_size)
    seed = seeds.settle(random_state)
    samples = [_drawn(source, int(scheme.size), seeds.generator(seed, "sample", place)) for place in range(scheme.n)]
    X_test, y_test = _drawn(source, rows, seeds.generator(seed, "sample to test"))
    X = [rows for rows, _ in samples]
    return FreshData(
        X=pd.concat(X, ignore_index=True) if isinstance(X[0], pd.DataFrame) else np.concatenate(X),
        y=np.concatenate([labels for _, labels in samples]),
        X_test=X_test,
        y_test=y_test,
        scheme=FreshSamples(scheme.n, int(scheme.size), isinstance(scheme, HalfSplits)),
    )


def _test_rows(test_size: Any) -> int:
    """Rows of the test part. The share that `record` has by default stands for `TEST_ROWS`."""
    if isinstance(test_size, float) and test_size == USUAL_SHARE:
        return TEST_ROWS
    return expect.whole(
        test_size,
        "test_size",
        at_least=2,
        why=f"With `source` it is a number of rows (default {TEST_ROWS}): there is no table of which to take a share.",
    )


def expect_alone(name: str, others: dict[str, Any]) -> None:
    """Refuse what cannot be given together with a source."""
    both = [other for other, value in others.items() if value is not None]
    if both:
        raise InputError(f"`{name}` and `{both[0]}` are both given; a source draws rows and labels itself. Pass one.")


def _drawn(source: Any, rows: int, generator: np.random.Generator) -> tuple[Any, Any]:
    try:
        drawn = source(generator, rows)
    except InputError:
        raise
    except Exception as error:  # the source is the user's and may fail in any way
        raise InputError(f"`source` failed when asked for {rows} rows: {type(error).__name__}: {error}") from error
    if not isinstance(drawn, (tuple, list)) or len(drawn) != 2:
        raise InputError(f"`source` returned {type(drawn).__name__}; expected a pair: rows and their labels.")
    X, y = pandas_of(drawn[0], "rows of `source`"), np.asarray(drawn[1])
    X = X if isinstance(X, pd.DataFrame) else as_array(X, "rows of `source`")
    if len(X) != rows or y.shape != (rows,):
        raise InputError(f"`source` returned {len(X)} rows and labels of shape {y.shape}; expected {rows} of each.")
    return X, y
