"""The JSON document of a report, and a report made of one again, checked against the dataclasses themselves."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..expect import InputError, nearest
from ..intervals import Estimate
from .document import SCHEMA, Report, Sheet
from .finding import LEVELS

FORMAT = "classay-report"
SUBJECTS = ("learner", "data", "classes", "network")
CHOICES = {("Finding", "level"): LEVELS, ("Figure", "subject"): SUBJECTS}
"""Fields that take one of a few words."""
OPEN_ENDS = {"value": math.nan, "low": -math.inf, "high": math.inf}
"""What null stands for in an estimate: JSON has no numbers that are not finite."""


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values, with the format and version that say how to read it."""
    return {"format": FORMAT, "schema": SCHEMA, **report.to_dict()}


def report_from(content: Any) -> Report:
    """The report that a document holds.

    A document of a later schema is refused, as it may mean something else; keys that are not known are passed over.
    Numbers come back to the last bit. Null in an estimate is an unknown value, or an end without a limit.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError('It is no report of classay: `format` is not "classay-report".')
    version = content.get("schema")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"It is damaged: `schema` is {_short(version)}; a whole number of at least 1 is expected.")
    if version > SCHEMA:
        raise InputError(
            f"It was written by a later version of classay (schema {version}; this one reads up to {SCHEMA}). "
            "Install a later classay."
        )
    found: Report = _read(Report, content, "")
    return found


def fields_of(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields, by name."""
    hints = _hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Whether a document must have it: what has a default may be missing."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(kind: Any, content: Any, place: str) -> Any:
    """The content as an instance of a type, or an error that names the place."""
    if kind is Any:
        return content
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read(_member(get_args(kind), content, place), content, place)
    if origin is tuple:
        part = get_args(kind)[0]
        return tuple(_read(part, each, f"{place}[{i}]") for i, each in enumerate(_is(list, content, place)))
    if origin is dict:
        part = get_args(kind)[1]
        return {key: _read(part, each, f"{place}.{key}") for key, each in _is(dict, content, place).items()}
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(kind, _is(dict, content, place), place)  # type: ignore[arg-type]  # a type, not one of it
    if kind is float and content is None:
        return math.nan
    return float(_is(float, content, place)) if kind is float else _is(kind, content, place)


def _read_dataclass(kind: type, content: dict[str, Any], place: str) -> Any:
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        where = f"{place}.{field.name}".lstrip(".")
        if field.name not in content:
            if is_required(field):
                raise InputError(f"It is damaged: `{where}` is missing.{nearest(field.name, content)}")
            continue
        given = content[field.name]
        if kind is Estimate and given is None and field.name in OPEN_ENDS:
            parts[field.name] = OPEN_ENDS[field.name]
            continue
        parts[field.name] = _read(fields_of(kind)[field.name], given, where)
        allowed = CHOICES.get((kind.__name__, field.name))
        if allowed and given not in allowed:
            raise InputError(f"It is damaged: `{where}` is {_short(given)}; expected one of {', '.join(allowed)}.")
    made = kind(**parts)
    if isinstance(made, Sheet):
        _is_even(made, place)
    return made


def _member(kinds: tuple[Any, ...], content: Any, place: str) -> Any:
    """Which member of a union a value is of: types of JSON tell them apart."""
    for kind in kinds:
        if kind is type(content) or (dataclasses.is_dataclass(kind) and isinstance(content, dict)):
            return kind
    expected = " or ".join(_said(kind) for kind in kinds)
    raise InputError(f"It is damaged: `{place}` is {_short(content)}; {expected} is expected.")


def _is(kind: type, content: Any, place: str) -> Any:
    fits = isinstance(content, kind) or (kind is float and isinstance(content, int))
    if not fits or (isinstance(content, bool) and kind is not bool):
        raise InputError(f"It is damaged: `{place or 'it'}` is {_short(content)}; {_said(kind)} is expected.")
    return content


def _is_even(sheet: Sheet, place: str) -> None:
    """Refuse a table with a row that is longer or shorter than its head."""
    wrong = next((i for i, row in enumerate(sheet.rows) if len(row) != len(sheet.columns)), None)
    if wrong is not None:
        raise InputError(
            f"It is damaged: `{place}.rows[{wrong}]` has {len(sheet.rows[wrong])} cells; {len(sheet.columns)} are "
            "expected."
        )
    for name in ("of", "details"):
        beside = getattr(sheet, name)
        if beside and len(beside) != len(sheet.rows):
            raise InputError(f"It is damaged: `{place}.{name}` has {len(beside)} entries for {len(sheet.rows)} rows.")


def _said(kind: Any) -> str:
    words = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", list: "a list"}
    return words.get(kind, "null" if kind in (None, types.NoneType) else "an object")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"
