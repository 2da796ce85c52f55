"""One sanitizer for every line that is printed, so that a label or a name cannot control a terminal or forge a line.

Text of users and of their libraries may contain anything: escape sequences, line breaks, characters that reverse the
direction of what follows. They are replaced one by one, so that the length of a text does not change.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
"""Tabs and everything that begins a line somewhere."""
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Marks, embeddings, overrides and isolates that change the direction of text."""
UNSEEN = "\ufffd"
PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
"""The visible pictures that Unicode has for control characters."""
_LINE = str.maketrans(
    {
        **{chr(code): picture for code, picture in PICTURES.items()},
        **dict.fromkeys(map(chr, range(0x80, 0xA0)), UNSEEN),
        **dict.fromkeys(DIRECTIONS, UNSEEN),
        **dict.fromkeys(SPACES, " "),
    }
)
_LINES = {code: character for code, character in _LINE.items() if code != ord("\n")}
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{DIRECTIONS}\u2028\u2029]")


def printable(text: str, keep_lines: bool = False) -> str:
    r"""The text without control characters and changes of direction; on one line unless `keep_lines`.

    >>> printable("red\x1b[31m\nclassay: done"), printable("one\ntwo\x07", keep_lines=True)
    ('red␛[31m classay: done', 'one\ntwo␇')
    """
    return _SURROGATES.sub(UNSEEN, text.translate(_LINES if keep_lines else _LINE))


def printable_json(text: str) -> str:
    r"""JSON with the same content in which control characters and changes of direction are escapes.

    >>> printable_json('"a\u202eb"')
    '"a\\u202eb"'
    """
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# In a notebook


ROWS, COLUMNS = 8, 12
LONGEST = 400
"""Characters of a cell."""
MOST_SPEC, MOST_PICTURE = 2_000_000, 300_000
"""Characters of a chart's specification and of its picture; a larger chart is left to `plot()`."""
# Formulas between dollars are for the text of a notebook, not for names in a table.
PAGE = '<div class="tex2jax_ignore mathjax_ignore" style="max-width: 75em">{}</div>'


def html_of(text: str, table: Callable[[], tuple[pd.DataFrame, str]], chart: Callable[[], Any] | None = None) -> str:
    """What a notebook shows: a text, a table with where its other rows are, and an Altair chart.

    A table or chart that fails is left out: a result can always be shown.
    """
    first, rest = headline(text)
    parts = [f"<p><strong>{safe(first)}</strong></p>"]
    if rest:
        parts.append(f"<details><summary>More</summary><p>{safe(rest)}</p></details>")
    with suppress(Exception):
        parts.append(_table(*table()))
    if chart is not None:
        with suppress(Exception):
            parts.append(_picture(chart()))
    return PAGE.format("".join(parts))


def headline(text: str) -> tuple[str, str]:
    """The first sentence, and the rest.

    >>> headline("The tree is stable: 0.95 (0.93 to 0.97). Chance is 0.5.")
    ('The tree is stable: 0.95 (0.93 to 0.97).', 'Chance is 0.5.')
    """
    first, *rest = re.split(r"(?<=[.!?])\s+(?=\S)", text.strip(), maxsplit=1)
    return first, "".join(rest)


def safe(text: str) -> str:
    """Text of anybody as HTML: markup escaped, what no page can hold written out."""
    readable = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", lambda found: ascii(found[0])[1:-1], text)
    return escape(readable)


def _table(frame: pd.DataFrame, where: str) -> str:
    from .expect import counted  # loads NumPy, which the list of commands does not need

    if not frame.shape[0] or not frame.shape[1]:
        return ""
    head = "".join(f"<th>{safe(str(name))}</th>" for name in frame.columns[:COLUMNS])
    rows = frame.iloc[:ROWS, :COLUMNS].itertuples(index=False, name=None)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    more = []
    if frame.shape[0] > ROWS:
        more.append(counted(frame.shape[0] - ROWS, "more row"))
    if frame.shape[1] > COLUMNS:
        more.append(counted(frame.shape[1] - COLUMNS, "more column"))
    left = f"<p>{' and '.join(more)} in <code>{where}</code>.</p>" if more else ""
    return f'<table border="0"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{left}'


def _cell(value: Any) -> str:
    import pandas as pd  # likewise

    if isinstance(value, float):
        text = "" if math.isnan(value) else f"{value:.4g}"
    else:
        text = "" if value is None or value is pd.NA or value is pd.NaT else str(value)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    side = "left" if isinstance(value, str) else "right"
    return f'<td style="text-align: {side}">{safe(text)}</td>'


def _picture(chart: Any) -> str:
    if len(chart.to_json(indent=None)) > MOST_SPEC:
        return ""
    # By name, as in `plot`: charts stand above results, and are loaded only to draw.
    drawn: str = import_module("classay.charts.style.picture_files").svg(chart)
    if len(drawn) > MOST_PICTURE:
        return ""
    data = base64.b64encode(drawn.encode("utf-8", "replace")).decode()
    # As an image, nothing in it can run, and its names do not clash with those of other charts.
    style = "max-width: 100%; background: white; padding: 4px"
    return f'<p><img alt="Chart of the table above" style="{style}" src="data:image/svg+xml;base64,{data}"></p>'
