"""`parse`: true-or-false expressions over the columns of a table, such as «0.2 < x0 <= 0.8 and hue == 'red'».

The text is taken apart by Python's own parser and never run: names, numbers, texts and comparisons are known here, and
anything else is refused.
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

from .comparisons import Mask, compared, settled
from .expect import InputError, nearest, shown

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
    "A column of True and False is expected, or a comparison such as label != predicted, 0.2 < score <= 0.5 or "
    "status == 'failed', joined by and, or, not. Names with spaces stand in backticks."
)


@dataclass(frozen=True)
class Comparison:
    """Which rows meet it, which rows can tell (no value compared is missing), and the columns it is about."""

    meets: Mask
    known: Mask
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Expression:
    """What `parse` read. Called with a table, it tells which rows meet it; one with a missing value does not."""

    text: str
    columns: tuple[str, ...]
    tree: ast.expr
    quoted: dict[str, str]

    def __call__(self, table: pd.DataFrame) -> Mask:
        return self.compare(table).meets

    def compare(self, table: pd.DataFrame) -> Comparison:
        """Which rows of a table meet it, and which can tell."""
        _known_columns(self.text, self.columns, table.columns)
        meets, known = _Reader(self, table).truth(self.tree)
        return Comparison(meets & known, known, self.columns)

    def __str__(self) -> str:
        return self.text


def parse(text: str, columns: Iterable[str] | None = None) -> Expression:
    """Read an expression: comparisons (== != < <= > >=, also chained), and, or, not, brackets, True and False.

    `columns` are the names that it may use; without them, that is checked when it is called. A text that is the name
    of one of them is that column.

    >>> red = parse("hue == 'red' and 0 < `my size` <= 2")
    >>> red.columns
    ('hue', 'my size')
    >>> red(pd.DataFrame({"hue": ["red", "red", "blue"], "my size": [1, 3, 1]})).tolist()
    [True, False, False]
    """
    if not isinstance(text, str):
        raise InputError(f"An expression is {text!r}; a text is expected. {EXPECTED}")
    known = None if columns is None else [str(name) for name in columns]
    if known is not None and text in known:
        return Expression(text, (text,), ast.Name(text), {})
    if len(text) > LONGEST:
        raise InputError(f"The expression has {len(text)} letters; at most {LONGEST} are read.")
    quoted: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        # Python's parser knows no backticks: a name that the text does not have stands in for the column meanwhile.
        stand_in = f"_quoted_{len(quoted)}"
        while stand_in in text:
            stand_in += "_"
        quoted[stand_in] = match[1]
        return f" {stand_in} "

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(re.sub(r"`([^`]+)`", named, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(f"{text!r} cannot be read. {EXPECTED}") from error
    form = _Form(text, quoted)
    try:
        form.check(tree)
    except RecursionError as error:
        raise InputError(f"{text!r} is nested too deeply. {EXPECTED}") from error
    used = tuple(dict.fromkeys(form.used))
    if known is not None:
        _known_columns(text, used, known)
    return Expression(text, used, tree, quoted)


def compare(text: str, table: pd.DataFrame) -> Comparison:
    """Find the rows of a table that meet an expression.

    >>> table = pd.DataFrame({"label": ["a", "b", "b"], "my guess": ["a", "a", None]})
    >>> found = compare("label != `my guess`", table)
    >>> found.meets.tolist(), found.known.tolist(), found.columns
    ([False, True, False], [True, True, False], ('label', 'my guess'))
    """
    return parse(text, table.columns).compare(table)


class _Form:
    """Goes through what was parsed, refuses what is not known here, and gathers the columns named."""

    def __init__(self, text: str, quoted: dict[str, str]) -> None:
        self.text, self.quoted = text, quoted
        self.used: list[str] = []

    def check(self, node: ast.expr) -> None:
        if isinstance(node, ast.BoolOp):
            for value in node.values:
                self.check(value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.check(node.operand)
        elif isinstance(node, ast.Compare):
            self._compared(node)
        elif isinstance(node, ast.Name):
            self.used.append(self.quoted.get(node.id, node.id))
        elif not (isinstance(node, ast.Constant) and isinstance(node.value, bool)):
            raise InputError(f"{self.text!r} has {_called(node)} where a comparison is expected. {EXPECTED}")

    def _compared(self, node: ast.Compare) -> None:
        for each in node.ops:
            if type(each) not in OPERATORS:
                raise InputError(f"{self.text!r} uses {_called(each)}; ==, !=, <, <=, > or >= is expected.")
        sides = [node.left, *node.comparators]
        named = [self._side(side) for side in sides]
        if not all(left or right for left, right in pairwise(named)):
            raise InputError(f"{self.text!r} compares two fixed values. {EXPECTED}")

    def _side(self, node: ast.expr) -> bool:
        """Whether a side of a comparison is a column; an error if it is neither that nor a fixed value."""
        if isinstance(node, ast.Name):
            self.used.append(self.quoted.get(node.id, node.id))
            return True
        negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
        if isinstance(inner, ast.Constant) and isinstance(inner.value, (str, int, float)):
            if isinstance(inner.value, str) and any(stand_in in inner.value for stand_in in self.quoted):
                raise InputError(f"{self.text!r} has backticks inside a text; they are for names of columns.")
            if not (negative and isinstance(inner.value, (str, bool))):
                return False
        raise InputError(f"{self.text!r} has {_called(node)} where a column, number or text is expected. {EXPECTED}")


class _Reader:
    """Finds, for each part of an expression, the rows of a table that meet it and those that can tell."""

    def __init__(self, expression: Expression, table: pd.DataFrame) -> None:
        self.text, self.quoted, self.table = expression.text, expression.quoted, table

    def truth(self, node: ast.expr) -> tuple[Mask, Mask]:
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return _joined(join, [self.truth(value) for value in node.values])
        if isinstance(node, ast.UnaryOp):
            meets, known = self.truth(node.operand)
            return ~meets, known
        if isinstance(node, ast.Compare):
            sides = [self._side(side) for side in (node.left, *node.comparators)]
            return _joined(
                np.logical_and,
                [compared(self.text, OPERATORS[type(op)], *pair) for op, pair in zip(node.ops, pairwise(sides))],
            )
        if isinstance(node, ast.Name):
            column = self._column(node.id)
            known = column.notna().to_numpy(dtype=bool)
            return self._boolean(column[known], known), known
        return np.full(len(self.table), ast.literal_eval(node)), np.ones(len(self.table), dtype=bool)

    def _boolean(self, column: pd.Series[Any], known: Mask) -> Mask:
        values = column.infer_objects()
        is_boolean = types.is_bool_dtype(values.dtype)
        is_number = types.is_numeric_dtype(values.dtype) and bool(values.isin([0, 1]).all())
        if not is_boolean and not is_number:
            kinds = shown(map(repr, values.drop_duplicates().tolist()), 4)
            example = [*values.iloc[:1].tolist(), "yes"][0]
            name = str(column.name)
            raise InputError(
                f"Column {name!r} holds {kinds}; True or False is expected. Compare it with what is meant: "
                f"{name if name.isidentifier() else f'`{name}`'} == {example!r}."
            )
        meets = np.zeros(len(known), dtype=bool)
        meets[known] = values.to_numpy(dtype=float) == 1
        return meets

    def _side(self, node: ast.expr) -> Any:
        return self._column(node.id) if isinstance(node, ast.Name) else ast.literal_eval(node)

    def _column(self, name: str) -> pd.Series[Any]:
        return settled(self.table[self.quoted.get(name, name)])


def _joined(join: np.ufunc, parts: list[tuple[Mask, Mask]]) -> tuple[Mask, Mask]:
    return join.reduce([meets for meets, _ in parts]), np.logical_and.reduce([known for _, known in parts])


def _known_columns(text: str, used: Iterable[str], columns: Iterable[str]) -> None:
    names = [str(name) for name in columns]
    for name in used:
        if name not in names:
            raise InputError(
                f"{text!r} names {name!r}, which is no column.{nearest(name, names)} There are {shown(names)}. Texts "
                "stand in quotes."
            )


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
