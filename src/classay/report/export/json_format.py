"""The JSON document of a report, and how to read it back, checked against the dataclasses."""

from __future__ import annotations

import dataclasses
import inspect
import math
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from ...expect import InputError, nearest, short
from ...intervals import Estimate
from ..document import LEVELS, SCHEMA, Report, Sheet
from ..document.glossary import SUBJECTS

FORMAT = "classay-report"
CHOICES = {("Finding", "level"): LEVELS, ("Figure", "subject"): SUBJECTS}
"""Fields with a fixed set of values."""
KINDS = {str: "a string", int: "an integer", float: "a number", bool: "true or false", list: "a list"}
OPEN_ENDS = {"value": math.nan, "low": -math.inf, "high": math.inf}
"""The meaning of null in an estimate: JSON has only finite numbers."""


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values, with its format and version."""
    return {"format": FORMAT, "schema": SCHEMA, **report.to_dict()}


def report_from(content: Any) -> Report:
    """The report in a document.

    A document with another schema is refused, as its meaning may differ; unknown keys are ignored. Numbers are restored
    to the last bit. Null in an estimate is an unknown value, or an end without a limit.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError('It is not a report of classay: `format` is not "classay-report".')
    version = content.get("schema")
    if type(version) is not int:
        raise InputError(f"It is damaged: `schema` is {short(version)}; expected {SCHEMA}.")
    if version != SCHEMA:
        raise InputError(
            f"It was written by another version of classay (schema {version}; this one reads {SCHEMA}). Install that "
            "version, or make the report again."
        )
    report: Report = _read(Report, content, "")
    return report


@cache
def fields_of(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields, by name."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def is_required(field: dataclasses.Field[Any]) -> bool:
    """Whether a document must have the field: one with a default may be missing."""
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _read(kind: Any, content: Any, place: str) -> Any:
    """The content as an instance of a type, or an error that names the place."""
    if kind is Any:
        return content
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _read(_member(get_args(kind), content, place), content, place)
    if origin is tuple:
        part = get_args(kind)[0]
        return tuple(_read(part, each, f"{place}[{i}]") for i, each in enumerate(_expect(list, content, place)))
    if origin is dict:
        part = get_args(kind)[1]
        return {key: _read(part, each, f"{place}.{key}") for key, each in _expect(dict, content, place).items()}
    if dataclasses.is_dataclass(kind):
        return _read_dataclass(kind, _expect(dict, content, place), place)  # type: ignore[arg-type]  # a type, not an instance
    if kind is float and content is None:
        return math.nan
    return float(_expect(float, content, place)) if kind is float else _expect(kind, content, place)


def _read_dataclass(kind: type, content: dict[str, Any], place: str) -> Any:
    parts: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        where = f"{place}.{field.name}".lstrip(".")
        if field.name not in content:
            if is_required(field):
                raise InputError(f"It is damaged: `{where}` is missing.{nearest(field.name, content)}")
            continue
        value = content[field.name]
        if kind is Estimate and value is None and field.name in OPEN_ENDS:
            parts[field.name] = OPEN_ENDS[field.name]
            continue
        parts[field.name] = _read(fields_of(kind)[field.name], value, where)
        allowed = CHOICES.get((kind.__name__, field.name))
        if allowed and value not in allowed:
            raise InputError(f"It is damaged: `{where}` is {short(value)}; expected one of {', '.join(allowed)}.")
    instance = kind(**parts)
    if isinstance(instance, Sheet):
        _is_even(instance, place)
    return instance


def _member(kinds: tuple[Any, ...], content: Any, place: str) -> Any:
    """The member of a union that matches a value, by its JSON type."""
    for kind in kinds:
        if kind is type(content) or (dataclasses.is_dataclass(kind) and isinstance(content, dict)):
            return kind
    expected = " or ".join(_kind_in_words(kind) for kind in kinds)
    raise InputError(f"It is damaged: `{place}` is {short(content)}; expected {expected}.")


def _expect(kind: type, content: Any, place: str) -> Any:
    fits = isinstance(content, kind) or (kind is float and isinstance(content, int))
    if not fits or (isinstance(content, bool) and kind is not bool):
        raise InputError(f"It is damaged: `{place or 'it'}` is {short(content)}; expected {_kind_in_words(kind)}.")
    return content


def _is_even(sheet: Sheet, place: str) -> None:
    """Refuse a table with a row that is longer or shorter than its header."""
    wrong = next((i for i, row in enumerate(sheet.rows) if len(row) != len(sheet.columns)), None)
    if wrong is not None:
        raise InputError(
            f"It is damaged: `{place}.rows[{wrong}]` has {len(sheet.rows[wrong])} cells; expected {len(sheet.columns)}."
        )
    for name in ("of", "details"):
        beside = getattr(sheet, name)
        if beside and len(beside) != len(sheet.rows):
            raise InputError(f"It is damaged: `{place}.{name}` has {len(beside)} entries for {len(sheet.rows)} rows.")


def _kind_in_words(kind: Any) -> str:
    return KINDS.get(kind, "null" if kind in (None, types.NoneType) else "an object")


# The JSON Schema of a report, made of the dataclasses, so that the two cannot drift apart.


DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the document that `classay report -o report.json` writes.

    Later versions may add other keys; readers of this version can ignore them.

    >>> sorted(schema()["$defs"])
    ['Estimate', 'Figure', 'Finding', 'Picture', 'Recommendation', 'Section', 'Sheet', 'Unasked']
    """
    kinds: dict[str, Any] = {}
    own = _object(Report, kinds)
    head = {"format": {"const": FORMAT}, "schema": {"const": SCHEMA, "description": "Version of this schema."}}
    return {
        "$schema": DRAFT,
        "title": "classay report",
        **own,
        "properties": {**head, **own["properties"]},
        "required": [*head, *own["required"]],
        "$defs": dict(sorted(kinds.items())),
    }


def _object(kind: type, kinds: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _schema_of(part, kinds) for name, part in fields_of(kind).items()}
    for name in properties:
        if (kind.__name__, name) in CHOICES:
            properties[name] = {"enum": list(CHOICES[kind.__name__, name])}
    if kind is Estimate:
        nulls = {"value": "null: unknown", "low": "null: no lower limit", "high": "null: no upper limit"}
        properties |= {name: {**properties[name], "description": text} for name, text in nulls.items()}
    return {
        "description": _description(kind),
        "type": "object",
        "properties": properties,
        "required": [field.name for field in dataclasses.fields(kind) if is_required(field)],
    }


def _schema_of(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(part, kinds) for part in get_args(kind)]}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(get_args(kind)[0], kinds)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(get_args(kind)[1], kinds)}
    if kind is float:
        return {"type": ["number", "null"]}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if kind.__name__ not in kinds:
        kinds[kind.__name__] = {}  # a sheet contains sheets
        kinds[kind.__name__] = _object(kind, kinds)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _description(kind: type) -> str:
    """The docstring without its examples, on one line."""
    words = (inspect.getdoc(kind) or "").split(">>>")[0]
    return " ".join(words.split())
