"""The schema says what documents are, and cannot drift from the dataclasses."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from gate_reports import small_report

from classay.intervals import Estimate
from classay.report.document import Figure, Finding, Picture, Recommendation, Report, Section, Sheet, Unasked
from classay.report.export import json_format as module
from classay.report.export.json_format import document, schema

jsonschema = pytest.importorskip("jsonschema")
PUBLISHED = Path(module.__file__).parent / "report.schema.json"


@pytest.fixture
def validator():
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def test_a_report_is_as_the_schema_says(validator):
    validator.validate(json.loads(json.dumps(document(small_report()))))


@pytest.mark.parametrize("kind", [Estimate, Figure, Finding, Picture, Recommendation, Section, Sheet, Unasked])
def test_every_field_is_described(kind):
    told = schema()["$defs"][kind.__name__]
    assert set(told["properties"]) == {field.name for field in dataclasses.fields(kind)}
    assert told["description"]
    assert set(schema()["properties"]) - {"format", "schema"} == {field.name for field in dataclasses.fields(Report)}


def broken(name):
    content = document(small_report())
    if name == "schema":
        return content | {"schema": 3}
    if name == "missing":
        del content["figures"]
    if name == "level":
        content["findings"][0]["level"] = "bad"
    if name == "cell":
        content["sections"][0]["sheets"][0]["rows"][0][0] = {"value": "high"}
    if name == "nested":
        content["sections"][0]["sheets"][1]["details"][0]["columns"] = "row"
    return content


@pytest.mark.parametrize("name", ["schema", "missing", "level", "cell", "nested"])
def test_what_is_not_a_report_is_told(validator, name):
    assert not validator.is_valid(broken(name))


def test_null_stands_for_unknown_and_no_limit(validator):
    told = schema()["$defs"]["Estimate"]["properties"]
    assert told["value"]["description"] == "null: unknown"
    assert told["high"]["type"] == ["number", "null"]


def test_the_published_file_is_this_schema():
    assert json.loads(PUBLISHED.read_text()) == schema(), f"run `classay report --schema > {PUBLISHED}`"
