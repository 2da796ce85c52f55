"""Reports are written whole, refused early, and come back equal; the schema says what documents are."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import pytest
from gate_reports import small_report
from hypothesis import given, settings
from hypothesis import strategies as st

import classay
from classay import InputError
from classay.intervals import Estimate
from classay.report.document import SCHEMA, Figure, Finding, Picture, Recommendation, Report, Section, Sheet, Unasked
from classay.report.export import files
from classay.report.export.files import open_report, ready, save
from classay.report.export.json_format import document, report_from, schema

PUBLISHED = Path(files.__file__).parent / "report.schema.json"


def page(report) -> str:
    """A page as the template writes it, as far as opening it goes."""
    text = json.dumps(document(report), ensure_ascii=False)
    for sign in "<\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return (
        "<!DOCTYPE html><html><p>&lt;script id=&quot;classay-report&quot;&gt;</p><script>var a='<b id=1>';</script>"
        f'<script type="application/json" id="classay-report">{text}</script><script id="classay-report">{{}}</script>'
        "</html>"
    )


def test_json_comes_back_equal(tmp_path):
    report = small_report()
    path = save(report, tmp_path / "report.json")
    assert path == tmp_path / "report.json"
    assert open_report(path) == report
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["format"] == "classay-report"
    assert content["schema"] == SCHEMA
    assert list(content)[2:] == list(report.to_dict())
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_page_comes_back_equal(tmp_path):
    path = tmp_path / "report.HTML"
    path.write_text(page(small_report()), encoding="utf-8")
    assert open_report(path) == small_report()
    assert open_report(save(small_report(), tmp_path / "own.html")) == small_report()


def test_a_card_is_written_and_not_opened(tmp_path):
    path = save(small_report(), tmp_path / "card.md")
    assert path.read_text(encoding="utf-8").startswith("## Assay of")
    with pytest.raises(InputError, match="cannot be opened as a report"):
        open_report(path)


@settings(max_examples=60)
@given(
    value=st.floats() | st.just(math.nan),
    low=st.floats(allow_nan=False),
    high=st.floats(allow_nan=False),
    name=st.text(st.characters(), max_size=30),
)
def test_any_number_and_any_text_comes_back(tmp_path_factory, value, low, high, name):
    estimate = Estimate(value, low, high, kind=name)
    path = tmp_path_factory.mktemp("any") / "report.json"
    save(small_report(title=name, figures=(Figure("learner", name, "gap", estimate),)), path)
    back = open_report(path)
    (figure,) = back.figures
    assert (back.title, figure.of, figure.estimate.kind) == (name, name, name)
    # What JSON cannot hold comes back as unknown, or as no limit on its side; everything else to the last bit.
    for got, given_, otherwise in (
        (figure.estimate.value, value, math.nan),
        (figure.estimate.low, low, -math.inf),
        (figure.estimate.high, high, math.inf),
    ):
        assert repr(got) == repr(given_ if math.isfinite(given_) else otherwise)


def test_a_lone_surrogate_survives(tmp_path):
    path = save(small_report(title="\ud800x"), tmp_path / "report.json")
    assert open_report(path).title == "\ud800x"


def test_nothing_is_replaced_without_force(tmp_path):
    path = tmp_path / "report.json"
    path.write_text("mine")
    with pytest.raises(InputError, match="--force"):
        save(small_report(), path)
    assert path.read_text() == "mine"
    save(small_report(), path, force=True)
    assert open_report(path) == small_report()
    assert small_report().save(path) == path


def test_a_link_goes_on_pointing(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "report.json"
    link.symlink_to(tmp_path / "there" / "real.json")
    save(small_report(), link)
    assert link.is_symlink()
    assert open_report(tmp_path / "there" / "real.json") == small_report()


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = save(small_report(title="old"), tmp_path / "report.json")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        save(small_report(title="new"), path, force=True)
    assert open_report(path).title == "old"
    assert os.listdir(tmp_path) == ["report.json"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("report.htm", "Did you mean .html"),
        ("report", "no suffix"),
        ("nowhere/report.html", "does not exist"),
        ("file/report.html", "is not a folder"),
        ("folder.html", "is a folder"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, name, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match=message):
        ready(tmp_path / name, force=True)


def test_a_folder_that_is_not_mine(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "touch", denied)
    with pytest.raises(InputError, match="Permission denied"):
        ready(tmp_path / "report.html")


def damaged(**changes):
    content = json.loads(json.dumps(document(small_report())))
    for place, value in changes.items():
        *way, last = place.split("__")
        at = content
        for step in way:
            at = at[int(step) if step.isdecimal() else step]
        if value is KeyError:
            del at[last]
        else:
            at[int(last) if last.isdecimal() else last] = value
    return content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (damaged(format="other"), "not a report of classay"),
        ([], "not a report of classay"),
        (damaged(schema=SCHEMA + 1), "another version of classay"),
        (damaged(schema="1"), "`schema` is '1'"),
        (damaged(title=KeyError), "`title` is missing"),
        (damaged(findings__0__level="bad"), r"`findings\[0\].level` is 'bad'"),
        (damaged(figures__1__estimate__level="x"), r"`figures\[1\].estimate.level` is 'x'; expected a number"),
        (damaged(figures__1__subject="x"), "expected one of learner"),
        (damaged(findings={}), "`findings` is {}; expected a list"),
        (damaged(failed__svm=3), "`failed.svm` is 3; expected a string"),
        (damaged(sections__0__sheets__0__rows__0=["tree"]), "has 1 cells; expected 4"),
        (damaged(sections__0__sheets__0__rows__0__0=[1]), r"is \[1\]; expected a string or an integer"),
        (damaged(sections__0__sheets__0__of=["tree"]), "1 entries for 2 rows"),
        (damaged(sections__0__sheets__0__sort=1), "`sections.*sort` is 1; expected true or false"),
        (damaged(sections__0__sheets__1__details__0__columns=1), r"details\[0\].columns` is 1; expected a list"),
    ],
)
def test_damaged_documents_are_refused_by_classay_and_by_the_schema(content, message, validator):
    with pytest.raises(InputError, match=message):
        report_from(content)
    # A schema cannot say that two lists are of one length.
    assert validator.is_valid(content) == ("cells; expected" in message or "entries for" in message)


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema())
    return jsonschema.Draft202012Validator(schema())


def test_a_report_is_as_the_published_schema_says(validator):
    validator.validate(damaged())
    assert json.loads(PUBLISHED.read_text()) == schema(), f"run `classay report --schema > {PUBLISHED}`"


@pytest.mark.parametrize("kind", [Estimate, Figure, Finding, Picture, Recommendation, Section, Sheet, Unasked])
def test_every_field_is_described(kind):
    told = schema()["$defs"][kind.__name__]
    assert set(told["properties"]) == {field.name for field in dataclasses.fields(kind)}
    assert told["description"]
    assert set(schema()["properties"]) - {"format", "schema"} == {field.name for field in dataclasses.fields(Report)}


def test_null_stands_for_unknown_and_no_limit():
    told = schema()["$defs"]["Estimate"]["properties"]
    assert told["value"]["description"] == "null: unknown"
    assert told["high"]["type"] == ["number", "null"]


def test_what_has_a_default_may_be_missing_and_what_is_unknown_is_passed_over():
    content = damaged(findings__0__action=KeyError, sections__1__absent=KeyError) | {"later": {"x": 1}}
    found = report_from(content)
    assert found.findings[0] == dataclasses.replace(small_report().findings[0], action="")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "", "not JSON"),
        ("a.json", '{"format"', "not JSON"),
        ("a.json", "[" * 100_000, "nested too deeply|not JSON"),
        ("a.json", json.dumps(damaged(figures__0__estimate__value=10**400)), "damaged"),
        ("a.html", "<p>hello", "there is no document in it"),
        ("a.html", '<script id="classay-report">{"format"', "is cut off"),
        ("a.html", '<script id="classay-report">{}</script>', "not a report of classay"),
        ("a.csv", "x", "cannot be opened as a report"),
    ],
)
def test_files_that_are_no_reports(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message) as told:
        open_report(tmp_path / name)
    assert name in str(told.value)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "latin.json").write_bytes(b"\xe9\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        open_report(tmp_path / "latin.json")
    with pytest.raises(InputError, match="There is no file"):
        open_report(tmp_path / "none.json")


def test_a_record_is_loaded_whatever_its_file_is_called(tmp_path):
    record = classay.Labelings.from_arrays([["a", "b"]], ["a", "a"])
    record.save(tmp_path / "record.json")
    assert classay.load(tmp_path / "record.json").classes.tolist() == ["a", "b"]
