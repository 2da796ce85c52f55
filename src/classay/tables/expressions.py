"""`parse`: true-or-false expressions over the columns of a table, such as `0.2 < x0 <= 0.8 and hue == 'red'`.

The text is parsed by Python's own parser and never run: only names, numbers, text and comparisons are accepted.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from ..arrays import Mask
from ..expect import InputError, nearest, shown

LONGEST = 1000
OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EXPECTED = (
    "Expected a column of True and False, or a comparison such as label != predicted, 0.2 < score <= 0.5 or "
    "status == 'failed', joined by and, or, not. Put names with spaces in backticks."
)


@dataclass(frozen=True)
class Comparison:
    """Which rows meet it, in which rows it is known (no compared value is missing), and the columns it uses."""

    meets: Mask
    known: Mask
    columns: tuple[str, ...]


Truth = Callable[[pd.DataFrame], tuple[Mask, Mask]]
"""Which rows of a table meet an expression, and in which rows that is known."""


@dataclass(frozen=True, eq=False)
class Expression:
    """What `parse` read. Called with a table, it returns which rows meet it; rows with a missing value do not."""

    text: str
    columns: tuple[str, ...]
    truth: Truth

    def __call__(self, table: pd.DataFrame) -> Mask:
        return self.compare(table).meets

    def compare(self, table: pd.DataFrame) -> Comparison:
        """Which rows of a table meet it, and in which rows that is known."""
        _check_columns(self.text, self.columns, table.columns)
        meets, known = self.truth(table)
        return Comparison(meets & known, known, self.columns)

    def __str__(self) -> str:
        return self.text


def parse(text: str, columns: Iterable[str] | None = None) -> Expression:
    """Read an expression: comparisons (== != < <= > >=, also chained), and, or, not, brackets, True and False.

    `columns` are the names that it may use; without them, that is checked when it is called. A text that equals one of
    these names is that column.

    >>> red = parse("hue == 'red' and 0 < `my size` <= 2")
    >>> red.columns
    ('hue', 'my size')
    >>> red(pd.DataFrame({"hue": ["red", "red", "blue"], "my size": [1, 3, 1]})).tolist()
    [True, False, False]
    """
    if not isinstance(text, str):
        raise InputError(f"An expression is {text!r}; expected a text. {EXPECTED}")
    allowed = None if columns is None else [str(name) for name in columns]
    if allowed is not None and text in allowed:
        return Expression(text, (text,), _true_in(text))
    if len(text) > LONGEST:
        raise InputError(f"The expression has {len(text)} characters; the limit is {LONGEST}.")
    quoted: dict[str, str] = {}

    def stand_in_for(match: re.Match[str]) -> str:
        # Python's parser has no backticks: a name that does not occur in the text replaces the column meanwhile.
        stand_in = f"_quoted_{len(quoted)}"
        while stand_in in text:
            stand_in += "_"
        quoted[stand_in] = match[1]
        return f" {stand_in} "

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(re.sub(r"`([^`]+)`", stand_in_for, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(f"{text!r} cannot be read. {EXPECTED}") from error
    compiler = _Compiler(text, quoted)
    try:
        truth = compiler.truth(tree)
    except RecursionError as error:
        raise InputError(f"{text!r} is nested too deeply. {EXPECTED}") from error
    columns_used = tuple(dict.fromkeys(compiler.used))
    if allowed is not None:
        _check_columns(text, columns_used, allowed)
    return Expression(text, columns_used, truth)


def compare(text: str, table: pd.DataFrame) -> Comparison:
    """Find the rows of a table that meet an expression.

    >>> table = pd.DataFrame({"label": ["a", "b", "b"], "my guess": ["a", "a", None]})
    >>> found = compare("label != `my guess`", table)
    >>> found.meets.tolist(), found.known.tolist(), found.columns
    ([False, True, False], [True, True, False], ('label', 'my guess'))
    """
    return parse(text, table.columns).compare(table)


class _Compiler:
    """Makes functions of a table from the parsed text, refuses what is not supported, and collects the columns used."""

    def __init__(self, text: str, quoted: dict[str, str]) -> None:
        self.text, self.quoted = text, quoted
        self.used: list[str] = []

    def truth(self, node: ast.expr) -> Truth:
        """A function that finds the rows in which a part is true."""
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            parts = [self.truth(value) for value in node.values]
            return lambda table: _joined(join, [part(table) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand)
            return lambda table: _opposite(*inner(table))
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node, ast.Name):
            return _true_in(self._used(node))
        if isinstance(node, ast.Constant) and isinstance(value := node.value, bool):
            return lambda table: (np.full(len(table), value), np.ones(len(table), dtype=bool))
        raise InputError(f"{self.text!r} has {_part_name(node)} instead of a comparison. {EXPECTED}")

    def _comparison(self, node: ast.Compare) -> Truth:
        for operation in node.ops:
            if type(operation) not in OPERATORS:
                raise InputError(f"{self.text!r} uses {_part_name(operation)}; expected ==, !=, <, <=, > or >=.")
        operations = [OPERATORS[type(operation)] for operation in node.ops]
        sides = [self._side(side) for side in (node.left, *node.comparators)]
        if not all(callable(left) or callable(right) for left, right in pairwise(sides)):
            raise InputError(f"{self.text!r} compares two fixed values. {EXPECTED}")

        def truth(table: pd.DataFrame) -> tuple[Mask, Mask]:
            values = [side(table) if callable(side) else side for side in sides]
            pairs = zip(operations, pairwise(values))
            return _joined(np.logical_and, [compare_sides(self.text, compare, *pair) for compare, pair in pairs])

        return truth

    def _side(self, node: ast.expr) -> Any:
        """A side of a comparison: a function that gives its column, or a fixed value; an error if it is neither."""
        if isinstance(node, ast.Name):
            name = self._used(node)
            return lambda table: plain_column(table[name])
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
        if isinstance(inner, ast.Constant) and isinstance(inner.value, (str, int, float)):
            if isinstance(inner.value, str) and any(stand_in in inner.value for stand_in in self.quoted):
                raise InputError(f"{self.text!r} has backticks inside a text; they are for column names.")
            if not (negative and isinstance(inner.value, (str, bool))):
                return ast.literal_eval(node)
        raise InputError(f"{self.text!r} has {_part_name(node)} instead of a column, number or text. {EXPECTED}")

    def _used(self, node: ast.Name) -> str:
        self.used.append(self.quoted.get(node.id, node.id))
        return self.used[-1]


def _true_in(name: str) -> Truth:
    """A function that finds the rows in which a column of True and False, or of 1 and 0, is true."""

    def truth(table: pd.DataFrame) -> tuple[Mask, Mask]:
        column = plain_column(table[name])
        known = column.notna().to_numpy(dtype=bool)
        values = column[known].infer_objects()
        if not types.is_bool_dtype(values.dtype) and not (
            types.is_numeric_dtype(values.dtype) and bool(values.isin([0, 1]).all())
        ):
            kinds = shown(map(repr, values.drop_duplicates().tolist()), 4)
            example = [*values.iloc[:1].tolist(), "yes"][0]
            raise InputError(
                f"Column {name!r} contains {kinds}; expected True or False. Compare it with a value: "
                f"{name if name.isidentifier() else f'`{name}`'} == {example!r}."
            )
        meets = np.zeros(len(known), dtype=bool)
        meets[known] = values.to_numpy(dtype=float) == 1
        return meets, known

    return truth


def _opposite(meets: Mask, known: Mask) -> tuple[Mask, Mask]:
    return ~meets, known


def _joined(join: np.ufunc, parts: list[tuple[Mask, Mask]]) -> tuple[Mask, Mask]:
    return join.reduce([meets for meets, _ in parts]), np.logical_and.reduce([known for _, known in parts])


def _check_columns(text: str, used: Iterable[str], columns: Iterable[str]) -> None:
    names = [str(name) for name in columns]
    for name in used:
        if name not in names:
            raise InputError(
                f"{text!r} uses {name!r}, which is not a column.{nearest(name, names)} There are {shown(names)}. Put "
                "text in quotes."
            )


def _part_name(node: ast.AST) -> str:
    names = {
        "Call": "a call",
        "Attribute": "a dot",
        "Subscript": "brackets",
        "BinOp": "arithmetic or & and |",
        "Invert": "~",
        "UnaryOp": "a sign",
        "Constant": "a fixed value",
        "Is": "is",
        "IsNot": "is not",
        "In": "in",
        "NotIn": "not in",
    }
    kind = type(node).__name__
    return names.get(kind, kind.lower())


# Comparisons of two sides: columns or fixed values of the same kind


TEXT, NUMBER, DATE, DURATION, MIXED = "text", "number", "date", "duration", "mixed"
KIND_OF_INFERRED = {
    **dict.fromkeys(("boolean", "integer", "floating", "mixed-integer-float", "decimal"), NUMBER),
    "string": TEXT,
}


def compare_sides(text: str, compare: Callable[[Any, Any], Any], left: Any, right: Any) -> tuple[Mask, Mask]:
    """Which rows meet `left compare right`, and where it is known; at least one side is a column. `text` is for errors.

    A comparison that would be false in every row, because it compares a number with text, is refused. Text compared
    with dates is read as a date, both in UTC; text compared with durations as a duration, such as '90 min'.

    >>> meets, known = compare_sides("size > 1", operator.gt, pd.Series([1.0, 2.0, None]), 1)
    >>> meets.tolist(), known.tolist()
    ([False, True, False], [True, True, False])
    """
    series = [side for side in (left, right) if isinstance(side, pd.Series)]
    known = np.logical_and.reduce([side.notna().to_numpy(dtype=bool) for side in series])
    for kind, read, example in ((DATE, _dates, "2024-01-31"), (DURATION, pd.to_timedelta, "90 min")):
        if {_kind(left), _kind(right)} == {kind, TEXT}:
            try:
                left, right = (read(side) if _kind(side) == TEXT else side for side in (left, right))
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{text!r} compares {kind}s with a text that is not one. Write {example!r}."
                ) from error
    kinds = {_kind(left), _kind(right)}
    if DURATION in kinds and len(kinds) > 1:
        raise InputError(f"{text!r} compares a duration with a {min(kinds - {DURATION})}. Write it as text: '90 min'.")
    if len(kinds) > 1 and MIXED not in kinds:
        raise InputError(
            f"{text!r} compares {_kind(left)} with {_kind(right)}, which are never equal. Put text in quotes ('1'), "
            "but not numbers, True or False."
        )
    if compare not in (operator.eq, operator.ne) and TEXT in kinds:
        raise InputError(f"{text!r} compares text by order; expected == or !=, or numbers or dates.")
    values = [side.to_numpy()[known] if isinstance(side, pd.Series) else side for side in (left, right)]
    meets = np.zeros(len(known), dtype=bool)
    try:
        meets[known] = np.asarray(compare(*values), dtype=bool)
    except (TypeError, OverflowError) as error:
        raise InputError(f"{text!r} compares values that cannot be compared ({error}).") from error
    return meets, known


def plain_column(column: pd.Series[Any]) -> pd.Series[Any]:
    """The column with plain values: categories as what they stand for, days as dates, times with a zone in UTC."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Whole numbers and booleans cannot represent a missing value.
        gaps = bool(column.isna().any())
        column = column.astype(object).infer_objects() if gaps else column.astype(column.cat.categories.dtype)
    if types.is_object_dtype(column.dtype) and types.infer_dtype(column, skipna=True) == "date":
        return pd.to_datetime(column)
    if isinstance(column.dtype, pd.DatetimeTZDtype):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return column


def _dates(texts: Any) -> Any:
    dates = pd.to_datetime(texts, utc=True, format="ISO8601")
    return dates.dt.tz_localize(None) if isinstance(dates, pd.Series) else dates.tz_localize(None)


def _kind(side: Any) -> str:
    """The kind of a side of a comparison: text, number (booleans too, as 0 and 1), date, duration or mixed."""
    if isinstance(side, str):
        return TEXT
    if not isinstance(side, pd.Series):
        return DATE if isinstance(side, pd.Timestamp) else DURATION if isinstance(side, pd.Timedelta) else NUMBER
    if types.is_datetime64_any_dtype(side.dtype):
        return DATE
    if types.is_timedelta64_dtype(side.dtype):
        return DURATION
    if types.is_numeric_dtype(side.dtype) or types.is_bool_dtype(side.dtype):
        return NUMBER
    return KIND_OF_INFERRED.get(types.infer_dtype(side, skipna=True), MIXED)
