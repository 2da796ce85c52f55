"""Concepts: functions from rows to classes, written as expressions, functions or fitted classifiers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ... import expect, seeds
from ...arrays import Floats
from ...estimators.adapters import short_name
from ...expect import InputError, whole
from ...frames import pandas_of
from ...inputs import plain_labels, take
from ...intervals import Estimate, exact, of_proportion
from ...tables.expressions import parse
from ..fitting.probes import Probes, probes


@dataclass(frozen=True, eq=False)
class Concept:
    """A concept with its name. Called with rows of the attributes, it returns the class of each."""

    name: str
    answer: Callable[[Any], Any]

    def __call__(self, rows: Any) -> NDArray[Any]:
        try:
            labels = self.answer(rows)
        except InputError:
            raise
        except Exception as error:  # the concept is the user's and may fail in any way
            form = ""
            if isinstance(rows, pd.DataFrame):
                column = rows.columns[0]
                form = f". Rows are a DataFrame: use rows[{column!r}], rows.iloc[:, 0] or rows.to_numpy()"
            raise InputError(
                f"The concept {self.name!r} failed when called with {len(rows)} rows: {type(error).__name__}: "
                f"{error}{form}"
            ) from error
        values = labels.to_numpy() if isinstance(labels, (pd.Series, pd.Index)) else np.asarray(labels)
        if values.shape == (len(rows), 1):
            values = values[:, 0]
        if values.shape != (len(rows),):
            raise InputError(
                f"The concept {self.name!r} returns an array of shape {values.shape} for {len(rows)} rows; expected "
                "one class per row."
            )
        if pd.isna(values).any():
            raise InputError(f"The concept {self.name!r} returns NaN for some rows; expected a class for every row.")
        return plain_labels(values)


def concept(definition: Any, role: str, attributes: Attributes) -> Concept:
    """A concept from what the user passes in; `role` is its name if it has none.

    - text is a true-or-false expression over the columns: "heat > 60 and alloy == 'A'";
    - a fitted classifier is used through `predict`;
    - any callable is called with the rows, as a DataFrame or an array, in the form that the learner gets.
    """
    if isinstance(definition, str):
        expression = parse(definition, attributes.names)
        return Concept(definition, lambda rows: expression(attributes.with_names(rows)))
    if hasattr(definition, "predict") and not isinstance(definition, type):
        try:
            check_is_fitted(definition)
        except NotFittedError:
            raise InputError(
                f"The concept {role} is {short_name(definition)}, which is not fitted; expected a fitted classifier."
            ) from None
        except TypeError:  # not a scikit-learn estimator; it checks itself
            pass
        return Concept(
            f"{short_name(definition)} ({role})", lambda rows: definition.predict(_as_it_was_fitted(definition, rows))
        )
    if callable(definition):
        name = getattr(definition, "__name__", role)
        return Concept(role if name == "<lambda>" else name, definition)
    raise InputError(
        f"The concept {role} is {definition!r}; expected an expression such as 'x0 > 0.5', a function of rows, or a "
        "fitted classifier."
    )


def columns_named(*concepts: Any) -> int | None:
    """How many columns x0, x1, … the expressions use; None if they are not expressions or use other names."""
    places = [0]
    for definition in concepts:
        if not isinstance(definition, str):
            return None
        for name in parse(definition).columns:
            match = re.fullmatch(r"x(\d{1,4})", name)
            if match is None:
                return None
            places.append(int(match[1]) + 1)
    return max(places) or None


def space_of(description: Any, f1: Any, f2: Any, correlation: float = 0.0) -> Attributes:
    """The attributes that a user describes, or those that two expressions use."""
    description = columns_named(f1, f2) if description is None else description
    if description is None:
        raise InputError(
            "`attributes` is missing: columns can only be inferred from expressions over x0, x1, …. "
            "Describe them, as in attributes={'heat': (20, 80), 'alloy': ['A', 'B']}, or pass rows of data."
        )
    return attributes(description, correlation)


def _as_it_was_fitted(classifier: Any, rows: Any) -> Any:
    """Rows with or without column names, as the classifier was fitted."""
    names = getattr(classifier, "feature_names_in_", None)
    if isinstance(rows, pd.DataFrame):
        return rows.to_numpy() if names is None else rows[list(names)]
    return rows if names is None else pd.DataFrame(rows, columns=names)


# The attributes that concepts use: which columns there are, how training rows are drawn, and comparison points.
#
# Training rows come from a distribution that the user chooses: resampled rows of data, or described columns, correlated
# if wanted. Comparison points are uniform over the attribute space, each column independently, which separates
# correlated columns.


EXPECTED = (
    "Expected a number of columns x0, x1, … between 0 and 1, rows of data, or a dict of columns: (low, high) for "
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
        """The values at positions between 0 and 1 of the column's range."""
        if self.values is None:
            return self.low + shares * (self.high - self.low)
        places = np.minimum((shares * len(self.values)).astype(np.int64), len(self.values) - 1)
        # Converted to a column first, so that booleans stay booleans and text stays text.
        return pd.Series(list(self.values)).iloc[places].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class Attributes:
    """The columns that concepts use. `named`: rows are DataFrames, otherwise arrays.

    `rows` of data are resampled with replacement. Without them each column is uniform, numbers correlated if wanted.
    """

    columns: tuple[Column, ...]
    named: bool
    correlation: float = 0.0
    rows: Any = None

    @property
    def names(self) -> list[str]:
        """The names of the columns, as expressions use them."""
        return [str(column.name) for column in self.columns]

    def draw(self, n: int, generator: np.random.Generator) -> Any:
        if self.rows is not None:
            rows = take(self.rows, generator.integers(len(self.rows), size=n))
            return rows.reset_index(drop=True) if self.named else rows
        shares = generator.random((n, len(self.columns)))
        numbers = [place for place, column in enumerate(self.columns) if column.values is None]
        if self.correlation and len(numbers) > 1:
            # A Gaussian copula: uniform margins have correlation r if the underlying normals have 2·sin(π·r/6).
            beneath = 2 * math.sin(math.pi * self.correlation / 6)
            matrix = np.full((len(numbers),) * 2, beneath) + (1 - beneath) * np.eye(len(numbers))
            values, vectors = np.linalg.eigh(matrix)  # unlike Cholesky's, its root exists if the matrix is singular
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            shares[:, numbers] = stats.norm.cdf(generator.standard_normal((n, len(numbers))) @ root.T)
        return self._made(shares)

    def probes(self, requested: Any, n: int, seed: int) -> Probes:
        """Comparison points: uniform over the attribute space if None; otherwise as `record` takes them."""
        uniform = requested is None or (isinstance(requested, str) and requested == "uniform")
        if uniform and self.rows is None:
            return Probes("uniform", self._made(seeds.generator(seed, "probes").random((n, len(self.columns)))))
        rows = self.draw(n, seeds.generator(seed, "rows")) if self.rows is None else self.rows
        drawn = probes("uniform" if uniform else requested, n, rows, np.arange(len(rows)), seed)
        assert drawn is not None
        return drawn

    def grid(self, most: int) -> Any:
        """Every point of the attribute space once; None if there are more than `most`, or columns of numbers."""
        sizes = [0 if column.values is None else len(column.values) for column in self.columns]
        if not all(sizes) or math.prod(sizes) > most:
            return None
        places = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
        return self._made((places + 0.5) / sizes)

    def with_names(self, rows: Any) -> pd.DataFrame:
        """Rows with the column names that expressions use."""
        if isinstance(rows, pd.DataFrame):
            return rows.set_axis(self.names, axis=1)
        return pd.DataFrame(rows, columns=self.names)

    def _made(self, shares: Floats) -> Any:
        parts = [column.at(shares[:, place]) for place, column in enumerate(self.columns)]
        if not self.named:
            return np.column_stack(parts)
        return pd.DataFrame(dict(enumerate(parts))).set_axis([column.name for column in self.columns], axis=1)


def attributes(description: Any, correlation: float = 0.0) -> Attributes:
    """The attributes that a user describes: rows of data, a dict of columns, or how many there are."""
    expect.number(correlation, "correlation", above=-1, below=1)
    description = pandas_of(description, "attributes")
    if isinstance(description, pd.DataFrame) or (isinstance(description, np.ndarray) and description.ndim == 2):
        if correlation:
            raise InputError("`correlation` is for described columns; rows of data have their own. Leave it out.")
        return _from_rows(description)
    if isinstance(description, (int, np.integer)) and not isinstance(description, bool):
        columns = tuple(Column(f"x{place}") for place in range(whole(description, "attributes", at_least=1)))
    elif isinstance(description, Mapping) and description:
        columns = tuple(_column(name, domain) for name, domain in description.items())
    else:
        raise InputError(f"`attributes` is {description!r}. {EXPECTED}")
    numbers = sum(column.values is None for column in columns)
    if correlation and numbers < 2:
        raise InputError(f"`correlation` is {correlation}, but there is no pair of numeric columns. Leave it out.")
    if 1 + (numbers - 1) * 2 * math.sin(math.pi * correlation / 6) < 0:
        raise InputError(
            f"`correlation` is {correlation}; {numbers} columns cannot all be so negatively correlated. Use two "
            "columns, or a correlation closer to 0."
        )
    return Attributes(columns, isinstance(description, Mapping), float(correlation))


def _column(name: Any, domain: Any) -> Column:
    if isinstance(domain, str) and domain == "bool":
        return Column(name, values=(False, True))
    if isinstance(domain, tuple) and len(domain) == 2 and all(_is_number(end) for end in domain):
        if not domain[0] < domain[1]:
            raise InputError(f"The column {name!r} goes from {domain[0]} to {domain[1]}; the first must be smaller.")
        return Column(name, float(domain[0]), float(domain[1]))
    if isinstance(domain, list) and domain:
        if not all(isinstance(value, Hashable) for value in domain):
            raise InputError(f"The column {name!r} is described by {domain!r}. {EXPECTED}")
        values = tuple(dict.fromkeys(domain))
        if len(values) < 2:
            raise InputError(f"The column {name!r} has one category, {values[0]!r}; expected at least 2.")
        return Column(name, values=values)
    raise InputError(f"The column {name!r} is described by {domain!r}. {EXPECTED}")


def _from_rows(rows: Any) -> Attributes:
    if len(rows) == 0 or rows.shape[1] == 0:
        raise InputError(f"`attributes` has shape {rows.shape}; expected rows and columns.")
    named = isinstance(rows, pd.DataFrame)
    names = pd.Index([str(name) for name in rows.columns] if named else [f"x{place}" for place in range(rows.shape[1])])
    expect.unique_names(names, "`attributes`")
    if not named and rows.dtype.kind not in "biuf":
        raise InputError(f"`attributes` is an array of {rows.dtype}; expected numbers, or a DataFrame.")
    return Attributes(tuple(map(Column, names)), named, rows=rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and math.isfinite(value)


# `agreement`: how often two concepts predict the same; exact where the attribute space is small and discrete.


MOST_POINTS = 2**20
"""Attribute spaces with more points are sampled."""


def agreement(
    f1: Any,
    f2: Any,
    attributes: Any = None,
    *,
    probes: Any = None,
    n_probes: int = 10_000,
    tolerance: float | None = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Estimate:
    """Measure how often two concepts predict the same: the probability that f1(a) = f2(a), a drawn from the attributes.

    It runs from 0 to 1, 1 being the same concept wherever attributes lie. Attributes are drawn independently and
    uniformly, so that correlated columns come apart (the paper's definition 2). If every column has listed values, all
    points are enumerated and the figure is exact: for formulas of propositional logic it is 1 if and only if they are
    logically equivalent (theorem 1). Otherwise `n_probes` points are drawn; the interval is Wilson's.

    It misleads if read without the distribution: two concepts that agree on all of your data may agree on half of the
    attribute space. Pass `probes="data"` to compare them on given rows.

    Parameters
    ----------
    f1, f2 : expressions over columns ("a and not b"), functions of rows, or fitted classifiers
    attributes : columns as {"heat": (20, 80), "alloy": ["A", "B"], "wet": "bool"}, rows of data, or a number of columns
        x0, x1, … between 0 and 1, inferred if both concepts are expressions over them
    probes : None for uniform over the attribute space; otherwise as in `record`
    n_probes : points to draw where not all are enumerated
    tolerance : for concepts that return numbers: they count as the same if they differ by at most this. Needed unless
        all of them are whole
    level : confidence level of the interval
    random_state : seed of the points

    Examples
    --------
    >>> letters = {"a": "bool", "b": "bool"}
    >>> agreement("a and b", "not (not a or not b)", letters)
    1 [1, 1]
    >>> agreement("a and b", "a or b", letters).value
    0.5
    >>> agreement("x0 > 0.5", "x1 > 0.5", n_probes=1000).kind
    'of a proportion, over 1000 uniform comparison points'

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), section 2.

    """
    expect.whole(n_probes, "n_probes", at_least=2)
    expect.fraction(level, "level")
    if tolerance is not None:
        expect.number(tolerance, "tolerance", at_least=0, why="None compares classes.")
    space = space_of(attributes, f1, f2)
    concepts = concept(f1, "f1", space), concept(f2, "f2", space)
    grid = space.grid(MOST_POINTS) if probes is None else None
    kind = "exact, over all points"
    if grid is None:
        drawn = space.probes(probes, n_probes, seeds.settle(random_state))
        grid, kind = drawn.rows, f"of a proportion, over {len(drawn.rows)} {drawn.kind} comparison points"
    first, second = on_same_classes(concepts, grid, numbers=tolerance is not None)
    if tolerance is not None:
        same = np.abs(first.astype(float) - second.astype(float)) <= tolerance
    else:
        for rule, classes in zip(concepts, (first, second)):
            broken = classes[classes % 1 != 0] if classes.dtype.kind == "f" else classes[:0]
            if broken.size:
                raise expect.InputError(
                    f"The concept {rule.name!r} returns numbers such as {broken[0].item()!r}, and `tolerance` is "
                    "missing: pass how far two numbers may differ and count as the same; 0 for exactly equal ones."
                )
        same = first == second
    if kind.startswith("exact"):
        return exact(float(same.mean()), kind, level)
    return replace(of_proportion(int(same.sum()), same.size, level), kind=kind)


def on_same_classes(
    concepts: tuple[Concept, Concept], rows: Any, numbers: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes that two concepts give rows, which must be comparable: names or `numbers` in both."""
    first, second = (rule(rows) for rule in concepts)
    expected = "numbers in both, for a regressor or within a tolerance" if numbers else "the same class names in both"
    texts = [classes.dtype.kind == "U" for classes in (first, second)]
    if texts[0] != texts[1] or (numbers and texts[0]):
        raise expect.InputError(
            f"The concept {concepts[0].name!r} returns {first[0].item()!r} and {concepts[1].name!r} returns "
            f"{second[0].item()!r}; expected {expected}."
        )
    return first, second
