"""`compare`: which rows of a table meet a comparison written as text, such as «label != predicted».

The text is taken apart by Python's own parser and never run: names, numbers, texts and comparisons are known here, and
anything else is refused.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ..expect import InputError, nearest, shown

Mask = NDArray[np.bool_]
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
    "A column of True and False is expected, or a comparison such as label != predicted, score < 0.5 or "
    "status == 'failed', joined by and, or, not. Names with spaces stand in backticks."
)


@dataclass(frozen=True)
class Comparison:
    """Which rows meet it, which rows can tell (no value compared is missing), and the columns it is about."""

    meets: Mask
    known: Mask
    columns: tuple[str, ...]


def compare(text: str, table: pd.DataFrame) -> Comparison:
    """Find the rows of a table that meet a comparison.

    >>> table = pd.DataFrame({"label": ["a", "b", "b"], "my guess": ["a", "a", None]})
    >>> found = compare("label != `my guess`", table)
    >>> found.meets.tolist(), found.known.tolist(), found.columns
    ([False, True, False], [True, True, False], ('label', 'my guess'))
    """
    if text in table:
        return _finished(_Reader(text, table, {}), ast.Name(text))
    if len(text) > LONGEST:
        raise InputError(f"The comparison has {len(text)} letters; at most {LONGEST} are read.")
    quoted: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        # Python's parser knows no backticks: a name that no column has stands in for the column meanwhile.
        stand_in = f"_quoted_{len(quoted)}"
        while stand_in in table:
            stand_in += "_"
        quoted[stand_in] = match[1]
        return f" {stand_in} "

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(re.sub(r"`([^`]+)`", named, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(f"{text!r} cannot be read. {EXPECTED}") from error
    return _finished(_Reader(text, table, quoted), tree)


def _finished(reader: _Reader, tree: ast.expr) -> Comparison:
    try:
        meets, known = reader.truth(tree)
    except RecursionError as error:
        raise InputError(f"{reader.text!r} is nested too deeply. {EXPECTED}") from error
    return Comparison(meets & known, known, tuple(dict.fromkeys(reader.used)))


class _Reader:
    """Goes through a parsed comparison and finds, for each part, the rows that meet it and those that can tell."""

    def __init__(self, text: str, table: pd.DataFrame, quoted: dict[str, str]) -> None:
        self.text, self.table, self.quoted = text, table, quoted
        self.used: list[str] = []

    def truth(self, node: ast.expr) -> tuple[Mask, Mask]:
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(value) for value in node.values]
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return join.reduce([meets for meets, _ in parts]), np.logical_and.reduce([known for _, known in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            meets, known = self.truth(node.operand)
            return ~meets, known
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if isinstance(node, ast.Name):
            column = self._column(node.id)
            known = column.notna().to_numpy(dtype=bool)
            return self._boolean(column[known], known), known
        raise InputError(f"{self.text!r} has {_called(node)} where a comparison is expected. {EXPECTED}")

    def _boolean(self, column: pd.Series[Any], known: Mask) -> Mask:
        values = column.infer_objects()
        is_boolean = types.is_bool_dtype(values.dtype)
        is_number = types.is_numeric_dtype(values.dtype) and bool(values.isin([0, 1]).all())
        if not is_boolean and not is_number:
            kinds = shown(map(repr, values.drop_duplicates().tolist()), 4)
            example = values.iloc[0] if len(values) else "yes"
            raise InputError(
                f"Column {column.name!r} holds {kinds}; True or False is expected. Compare it with what means wrong: "
                f"{_quotable(str(column.name))} == {_python(example)!r}."
            )
        meets = np.zeros(len(known), dtype=bool)
        meets[known] = values.to_numpy(dtype=float) == 1
        return meets

    def _compared(self, node: ast.Compare) -> tuple[Mask, Mask]:
        if len(node.ops) != 1:
            raise InputError(f"{self.text!r} compares more than two things at once. Write a < b and b < c.")
        compare = OPERATORS.get(type(node.ops[0]))
        if compare is None:
            raise InputError(f"{self.text!r} uses {_called(node.ops[0])}; ==, !=, <, <=, > or >= is expected.")
        left, right = self._side(node.left), self._side(node.comparators[0])
        series = [side for side in (left, right) if isinstance(side, pd.Series)]
        if not series:
            raise InputError(f"{self.text!r} compares two fixed values. {EXPECTED}")
        known = np.logical_and.reduce([side.notna().to_numpy(dtype=bool) for side in series])
        left, right = self._alike(left, right)
        if compare not in (operator.eq, operator.ne) and "text" in (_kind(left), _kind(right)):
            raise InputError(f"{self.text!r} asks for the order of texts; == or != is expected, or numbers or dates.")
        one, two = (side.to_numpy()[known] if isinstance(side, pd.Series) else side for side in (left, right))
        meets = np.zeros(len(known), dtype=bool)
        try:
            meets[known] = np.asarray(compare(one, two), dtype=bool)
        except TypeError as error:
            raise InputError(f"{self.text!r} compares values that cannot be compared ({error}).") from error
        return meets, known

    def _alike(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Both sides, if they are of one kind; a text beside dates is read as a date."""
        kinds = _kind(left), _kind(right)
        if "date" in kinds and "text" in kinds:
            try:
                left, right = (_dates(side) if _kind(side) == "text" else side for side in (left, right))
            except (ValueError, TypeError) as error:
                raise InputError(
                    f"{self.text!r} compares dates with a text that is none. Write '2024-01-31'."
                ) from error
        elif kinds[0] != kinds[1] and "mixed" not in kinds:
            raise InputError(
                f"{self.text!r} compares {kinds[0]} with {kinds[1]}, which are never equal. Texts stand in quotes "
                "('1'), numbers and True or False do not."
            )
        return left, right

    def _side(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._column(node.id)
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
        if isinstance(inner, ast.Constant) and isinstance(inner.value, (str, int, float)):
            if isinstance(inner.value, str) and any(stand_in in inner.value for stand_in in self.quoted):
                raise InputError(f"{self.text!r} has backticks inside a text; they are for names of columns.")
            if not negative:
                return inner.value
            if not isinstance(inner.value, (str, bool)):
                return -inner.value
        raise InputError(f"{self.text!r} has {_called(node)} where a column, number or text is expected. {EXPECTED}")

    def _column(self, name: str) -> pd.Series[Any]:
        name = self.quoted.get(name, name)
        if name not in self.table:
            raise InputError(
                f"{self.text!r} names {name!r}, which is no column.{nearest(name, self.table.columns)} There are "
                f"{shown(self.table.columns)}. Texts stand in quotes."
            )
        self.used.append(name)
        column = self.table[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            return column.astype(column.cat.categories.dtype)
        return column


def _kind(side: Any) -> str:
    """What a side of a comparison is: text, number (truth values too, as 0 and 1), date or mixed."""
    if isinstance(side, str):
        return "text"
    if not isinstance(side, pd.Series):
        return "number"
    if types.is_datetime64_any_dtype(side.dtype):
        return "date"
    if types.is_numeric_dtype(side.dtype) or types.is_bool_dtype(side.dtype):
        return "number"
    inferred = types.infer_dtype(side, skipna=True)
    return {"string": "text", "boolean": "number", "integer": "number", "floating": "number"}.get(inferred, "mixed")


def _dates(side: Any) -> Any:
    return pd.to_datetime(side, format="ISO8601") if isinstance(side, pd.Series) else pd.Timestamp(side).to_datetime64()


def _called(node: ast.AST) -> str:
    """What a part that is not allowed is called."""
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


def _quotable(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
