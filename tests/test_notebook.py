"""Results in a notebook: what they show, that nothing of a user's names gets out, and that notebooks run."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import classay
from classay import notebook
from classay.notebook import headline, html_of, safe
from classay.result import Result

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


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text.append(data)


def stability() -> classay.Stability:
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
    page = html_of(Named(text, tuple(names), (value,) * len(names)))
    seen = Tags(page)
    assert set(seen.tags) <= ALLOWED
    assert set(seen.attributes) <= {"class", "style", "border", "src", "alt"}
    json.dumps(page, ensure_ascii=False).encode()  # as a message to the browser


def test_what_was_escaped_reads_as_it_was_given():
    page = html_of(Named("<b>a</b> & c.", ("<i>",), ("x < y",)))
    assert {"<b>a</b> & c.", "<i>", "x < y"} <= set(Tags(page).text)


def test_what_fails_is_left_out(monkeypatch):
    def fail(*args):
        raise RuntimeError("no")

    result = stability()
    monkeypatch.setattr(classay.Stability, "plot", fail)
    assert "<img" not in result._repr_html_()
    assert "<table" in result._repr_html_()
    monkeypatch.setattr(classay.Stability, "to_frame", fail)
    assert "<table" not in result._repr_html_()
    assert "<strong>" in result._repr_html_()


def test_a_large_chart_is_left_to_plot(monkeypatch):
    result = stability()
    for limit in ("MOST_SPEC", "MOST_PICTURE"):
        with monkeypatch.context() as patch:
            patch.setattr(notebook, limit, 10)
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

    page = html_of(Long())
    assert "92 more rows and 8 more columns in <code>to_frame()</code>." in page
    assert page.count("<tr>") == 1 + notebook.ROWS


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
