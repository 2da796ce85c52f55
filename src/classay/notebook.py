"""How a result looks in a notebook: its first sentence, the first rows of its table, and its chart as a picture.

The picture is an SVG inside the page, so it shows offline and in every viewer. Everything is escaped.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from contextlib import suppress
from html import escape
from importlib import import_module
from typing import Any

import pandas as pd

from .expect import counted

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
