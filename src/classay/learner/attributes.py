"""The attributes that concepts speak of: which columns there are, how training rows are drawn, and probes over all.

Training rows come from a distribution of the user's: rows of data drawn anew, or described columns, correlated if
wanted. Probes are uniform over the attribute space, each column by itself, so that correlated attributes come apart.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from .. import seeds
from ..expect import InputError, shown, whole
from . import examine
from .probes import Probes, probes

Floats = NDArray[np.float64]
EXPECTED = (
    "A number of columns x0, x1, … between 0 and 1 is expected, rows of data, or a dict of columns: (low, high) for "
    "numbers, a list of categories, or 'bool'."
)


@dataclass(frozen=True)
class Column:
    """One attribute: numbers from `low` to `high`, or one of `values`."""

    name: Any
    low: float = 0.0
    high: float = 1.0
    values: tuple[Any, ...] | None = None

    def at(self, shares: Floats) -> Any:
        """The values at shares between 0 and 1 of the column's range."""
        if self.values is None:
            return self.low + shares * (self.high - self.low)
        places = np.minimum((shares * len(self.values)).astype(np.int64), len(self.values) - 1)
        # Made a column first, so that booleans stay booleans and texts texts.
        return pd.Series(list(self.values)).iloc[places].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class Described:
    """Columns in words: uniform each, numbers correlated as wanted. `named`: rows are DataFrames, otherwise arrays."""

    columns: tuple[Column, ...]
    named: bool
    correlation: float = 0.0

    @property
    def names(self) -> list[str]:
        """The names of the columns, as expressions know them."""
        return [str(column.name) for column in self.columns]

    def draw(self, n: int, generator: np.random.Generator) -> Any:
        """Rows to train on."""
        shares = generator.random((n, len(self.columns)))
        numbers = [place for place, column in enumerate(self.columns) if column.values is None]
        if self.correlation and len(numbers) > 1:
            # A Gaussian copula: uniform margins have correlation r if the normals beneath have 2·sin(π·r/6).
            beneath = 2 * math.sin(math.pi * self.correlation / 6)
            matrix = np.full((len(numbers),) * 2, beneath) + (1 - beneath) * np.eye(len(numbers))
            normals = generator.standard_normal((n, len(numbers))) @ _root(matrix).T
            shares[:, numbers] = stats.norm.cdf(normals)
        return self._made(shares)

    def probes(self, given: Any, n: int, seed: int) -> Probes:
        """Probes: uniform over the attribute space if None; or whatever `record` takes as probes."""
        if given is None or (isinstance(given, str) and given == "uniform"):
            return Probes("uniform", self._made(seeds.generator(seed, "probes").random((n, len(self.columns)))))
        rows = self.draw(n, seeds.generator(seed, "rows"))
        found = probes(given, n, rows, np.arange(n), seed)
        assert found is not None
        return found

    def _made(self, shares: Floats) -> Any:
        parts = [column.at(shares[:, place]) for place, column in enumerate(self.columns)]
        if not self.named:
            return np.column_stack(parts)
        return pd.DataFrame(dict(enumerate(parts))).set_axis([column.name for column in self.columns], axis=1)


@dataclass(frozen=True, eq=False)
class Given:
    """Rows of data, a DataFrame or an array, which are drawn anew with replacement."""

    rows: Any

    @property
    def named(self) -> bool:
        """Whether rows are DataFrames."""
        return isinstance(self.rows, pd.DataFrame)

    @property
    def names(self) -> list[str]:
        """The names of the columns, as expressions know them: x0, x1, … in an array."""
        if self.named:
            return [str(name) for name in self.rows.columns]
        return [f"x{place}" for place in range(self.rows.shape[1])]

    def draw(self, n: int, generator: np.random.Generator) -> Any:
        """Rows to train on."""
        rows = examine.take(self.rows, generator.integers(len(self.rows), size=n))
        return rows.reset_index(drop=True) if self.named else rows

    def probes(self, given: Any, n: int, seed: int) -> Probes:
        """Probes: uniform over the attribute space if None; or whatever `record` takes as probes."""
        found = probes("uniform" if given is None else given, n, self.rows, np.arange(len(self.rows)), seed)
        assert found is not None
        return found


Attributes = Described | Given


def named_rows(attributes: Attributes, rows: Any) -> pd.DataFrame:
    """Rows under the names that expressions know."""
    if isinstance(rows, pd.DataFrame):
        return rows.set_axis(attributes.names, axis=1)
    return pd.DataFrame(rows, columns=attributes.names)


def attributes(given: Any, correlation: float = 0.0) -> Attributes:
    """The attributes that a user describes: rows of data, a dict or list of columns, or how many there are.

    >>> attributes({"heat": (20, 80), "alloy": ["A", "B"], "wet": "bool"}).names
    ['heat', 'alloy', 'wet']
    """
    if not _is_number(correlation) or not -1 < correlation < 1:
        raise InputError(f"`correlation` is {correlation!r}; a number above −1 and below 1 is expected.")
    if isinstance(given, pd.DataFrame) or (isinstance(given, np.ndarray) and given.ndim == 2):
        if correlation:
            raise InputError("`correlation` is for columns that are described; rows of data have their own. Leave it.")
        return _from_rows(given)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        columns = tuple(Column(f"x{place}") for place in range(whole(given, "attributes", at_least=1)))
        return _described(columns, False, correlation)
    if isinstance(given, Mapping) and given:
        return _described(tuple(_column(name, each) for name, each in given.items()), True, correlation)
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given):
        return _described(tuple(_column(f"x{place}", each) for place, each in enumerate(given)), True, correlation)
    raise InputError(f"`attributes` is {given!r}. {EXPECTED}")


def _described(columns: tuple[Column, ...], named: bool, correlation: float) -> Described:
    numbers = sum(column.values is None for column in columns)
    if correlation and numbers < 2:
        raise InputError(f"`correlation` is {correlation}, but there is no pair of numeric columns. Leave it out.")
    if 1 + (numbers - 1) * 2 * math.sin(math.pi * correlation / 6) < 0:
        raise InputError(
            f"`correlation` is {correlation}; {numbers} columns cannot all be so opposed to each other. Use two "
            "columns, or a correlation nearer to 0."
        )
    return Described(columns, named, float(correlation))


def _column(name: Any, given: Any) -> Column:
    if isinstance(given, str) and given == "bool":
        return Column(name, values=(False, True))
    if isinstance(given, tuple) and len(given) == 2 and all(_is_number(end) for end in given):
        if not given[0] < given[1]:
            raise InputError(f"The column {name!r} goes from {given[0]} to {given[1]}; the first must be less.")
        return Column(name, float(given[0]), float(given[1]))
    if isinstance(given, list) and given:
        if not all(isinstance(value, Hashable) for value in given):
            raise InputError(f"The column {name!r} is described by {given!r}. {EXPECTED}")
        values = tuple(dict.fromkeys(given))
        if len(values) < 2:
            raise InputError(f"The column {name!r} has one category, {values[0]!r}; at least 2 are expected.")
        return Column(name, values=values)
    raise InputError(f"The column {name!r} is described by {given!r}. {EXPECTED}")


def _from_rows(given: Any) -> Given:
    if len(given) == 0 or given.shape[1] == 0:
        raise InputError(f"`attributes` has shape {given.shape}; rows and columns are expected.")
    found = Given(given)
    twins = pd.Index(found.names)[pd.Index(found.names).duplicated()]
    if len(twins):
        raise InputError(f"`attributes` has columns of the same name ({shown(twins)}). Give each its own name.")
    if not found.named and given.dtype.kind not in "biuf":
        raise InputError(f"`attributes` is an array of {given.dtype}; numbers are expected, or a DataFrame.")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and math.isfinite(value)


def _root(matrix: Floats) -> Floats:
    """A square root of a correlation matrix, also of one that is singular."""
    values, vectors = np.linalg.eigh(matrix)
    root: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
