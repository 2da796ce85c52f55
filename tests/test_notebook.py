"""Results in a notebook: what they show, that nothing of a user's names gets out, and that notebooks run."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbclient import NotebookClient
from outline import Outline

import classay
from classay import printable
from classay.printable import headline, safe
from classay.result import Result
from classay.tables.audit import audit_frame

ALLOWED = {"div", "p", "strong", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "code", "img"}


@dataclass(frozen=True)
class Named(Result):
    """A result of whatever names users have."""

    text: str
    names: tuple[str, ...]
    values: tuple[object, ...]

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame([self.values], columns=list(self.names))

    def __str__(self) -> str:
        return self.text


def stability() -> classay.results.Stability:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=40)
    labels = np.where(rng.random((8, 3, 40)) < 0.2, 1 - truth, truth)
    return classay.stability(classay.Labelings.from_arrays(labels, truth))


def test_sentence_table_and_chart():
    result = stability()
    page = result._repr_html_()
    assert f"<strong>{safe(headline(str(result))[0])}</strong>" in page
    assert "<table" in page
    picture = base64.b64decode(re.search(r"data:image/svg\+xml;base64,([^\"]+)", page)[1]).decode()
    assert picture.startswith("<svg")
    assert len(page) < 100_000


def test_plain_text_is_the_sentence_and_not_all_fields():
    bundle = stability()._repr_mimebundle_()
    assert bundle["text/plain"] == str(stability())


HOSTILE = st.text() | st.sampled_from(
    [
        "</td></table><script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "' onmouseover='alert(1)",
        "&lt;script&gt;",
        "$x$ \\(y\\)",
        "\x00\x1b[31m\ud800",
        "<details open ontoggle=alert(1)>",
    ]
)


@settings(max_examples=200, deadline=None)
@given(text=HOSTILE, names=st.lists(HOSTILE, min_size=1, max_size=4, unique=True), value=HOSTILE | st.floats())
def test_no_name_becomes_markup(text, names, value):
    page = Named(text, tuple(names), (value,) * len(names))._repr_html_()
    seen = Outline(page).elements
    assert {tag for tag, _ in seen} <= ALLOWED
    assert {name for _, attributes in seen for name in attributes} <= {"class", "style", "border", "src", "alt"}
    json.dumps(page, ensure_ascii=False).encode()  # as a message to the browser


def test_what_was_escaped_reads_as_it_was_given():
    page = Named("<b>a</b> & c.", ("<i>",), ("x < y",))._repr_html_()
    assert {"<b>a</b> & c.", "<i>", "x < y"} <= set(Outline(page).text)


def test_the_same_result_is_the_same_page():
    """Clips and gradients are numbered anew in each picture."""
    rows = np.random.default_rng(0).normal(size=(60, 2)) + [[3 * (number % 3), 0] for number in range(60)]
    result = classay.complexity(rows, ["a", "b", "c"] * 20)
    assert result._repr_html_() == result._repr_html_()


def test_what_fails_is_left_out(monkeypatch):
    def fail(*args):
        raise RuntimeError("no")

    result = stability()
    monkeypatch.setattr(classay.results.Stability, "plot", fail)
    assert "<img" not in result._repr_html_()
    assert "<table" in result._repr_html_()
    monkeypatch.setattr(classay.results.Stability, "to_frame", fail)
    assert "<table" not in result._repr_html_()
    assert "<strong>" in result._repr_html_()


def test_a_large_chart_is_left_to_plot(monkeypatch):
    result = stability()
    for limit in ("MOST_SPEC", "MOST_PICTURE"):
        with monkeypatch.context() as patch:
            patch.setattr(printable, limit, 10)
            assert "<img" not in result._repr_html_()


def test_a_large_table_is_cut_and_says_so():
    @dataclass(frozen=True)
    class Long(Result):
        def to_frame(self):
            return pd.DataFrame({f"column {place}": range(100) for place in range(20)})

        def plot(self, **options):
            return alt.Chart(pd.DataFrame()).mark_point()

        def __str__(self):
            return "Long."

    page = Long()._repr_html_()
    assert "92 more rows and 8 more columns in <code>to_frame()</code>." in page
    assert page.count("<tr>") == 1 + printable.ROWS


def test_an_audit_is_shown_too():
    audit = audit_frame(pd.DataFrame({"<b>size</b>": [1, 2]}), ["a", "b"])
    page = audit._repr_html_()
    assert audit._repr_mimebundle_() == {"text/plain": str(audit), "text/html": page}
    assert "&lt;b&gt;size" in page
    assert "<table" in page


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One sentence.", "One sentence."),
        ("It is 0.95 (0.9 to 1). Then more.", "It is 0.95 (0.9 to 1)."),
        ("Is it? Yes.", "Is it?"),
        ("", ""),
        ("no full stop", "no full stop"),
    ],
)
def test_headline(text, first):
    assert headline(text)[0] == first


# The notebooks of examples/: they run, they show what they kept, and they keep little.


NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
FEWER = {"Subsets(20)": "Subsets(6)", "splits=10": "splits=4", "n_probes=500": "n_probes=100", "[1, 2, 4, 8]": "[1, 2]"}


def shown(notebook) -> list[tuple[str, ...]]:
    """The kinds of output of each cell."""
    outputs = [cell.get("outputs", []) for cell in notebook["cells"]]
    return [tuple(sorted({kind for each in cell for kind in each.get("data", {"text": 0})})) for cell in outputs]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_and_shows_what_it_kept(path, tmp_path, monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # so few fits take less time than starting workers
    kept = nbformat.read(path, as_version=4)
    run = nbformat.read(path, as_version=4)
    for cell in run["cells"]:
        for many, few in FEWER.items():
            cell["source"] = cell["source"].replace(many, few)
    NotebookClient(run, kernel_name="python3", timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    assert shown(run) == shown(kept)
    assert "data:image/svg+xml" in json.dumps(run)  # drawn within the kernel, offline


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_kept_outputs_are_small_and_say_nothing_of_the_machine(path):
    text = path.read_text(encoding="utf-8")
    notebook = json.loads(text)
    assert len(text) < 150_000
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    for cell in notebook["cells"]:
        assert not cell["metadata"]
        assert cell.get("execution_count") is None
        assert not any(output["output_type"] == "error" for output in cell.get("outputs", []))
    assert "<script" not in text
    assert "http" not in text.replace("http://www.w3.org", "")


def test_there_are_three_notebooks():
    assert [path.stem for path in NOTEBOOKS] == ["first_look", "hard_rows", "which_settings"]
