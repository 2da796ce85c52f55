"""The JSON Schema of a report, made of the dataclasses, so that the two cannot drift apart."""

from __future__ import annotations

import dataclasses
import inspect
import types
from typing import Any, Union, get_args, get_origin

from ..intervals import Estimate
from .document import SCHEMA, Report
from .reading import CHOICES, FORMAT, fields_of, is_required

DRAFT = "https://json-schema.org/draft/2020-12/schema"
SIMPLE = {str: "string", int: "integer", bool: "boolean", types.NoneType: "null"}


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the document that `classay report -o report.json` writes.

    Keys that it does not name may come with later versions and mean nothing to a reader of this one.

    >>> sorted(schema()["$defs"])
    ['Estimate', 'Figure', 'Finding', 'Picture', 'Section', 'Sheet', 'Unasked']
    """
    kinds: dict[str, Any] = {}
    own = _object(Report, kinds)
    head = {
        "format": {"const": FORMAT},
        "schema": {"const": SCHEMA, "description": "Version of this schema."},
    }
    return {
        "$schema": DRAFT,
        "title": "classay report",
        **own,
        "properties": {**head, **own["properties"]},
        "required": [*head, *own["required"]],
        "$defs": dict(sorted(kinds.items())),
    }


def _object(kind: type, kinds: dict[str, Any]) -> dict[str, Any]:
    properties = {name: _of(part, kinds) for name, part in fields_of(kind).items()}
    for name in properties:
        if (kind.__name__, name) in CHOICES:
            properties[name] = {"enum": list(CHOICES[kind.__name__, name])}
    if kind is Estimate:
        told = {"value": "null: unknown", "low": "null: no lower limit", "high": "null: no upper limit"}
        properties |= {name: {**properties[name], "description": text} for name, text in told.items()}
    return {
        "description": _description(kind),
        "type": "object",
        "properties": properties,
        "required": [field.name for field in dataclasses.fields(kind) if is_required(field)],
    }


def _of(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(part, kinds) for part in get_args(kind)]}
    if origin is tuple:
        return {"type": "array", "items": _of(get_args(kind)[0], kinds)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(get_args(kind)[1], kinds)}
    if kind is float:
        return {"type": ["number", "null"]}
    if kind in SIMPLE:
        return {"type": SIMPLE[kind]}
    if kind.__name__ not in kinds:
        kinds[kind.__name__] = {}  # a sheet has sheets in it
        kinds[kind.__name__] = _object(kind, kinds)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _description(kind: type) -> str:
    """The docstring without its examples, on one line."""
    words = (inspect.getdoc(kind) or "").split(">>>")[0]
    return " ".join(words.split())
