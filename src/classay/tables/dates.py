"""Dates written as text, in one format for each column."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd

from ..arrays import Mask
from .cells import SHARE, Cells

ISO = "ISO8601"
DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
"""Formats besides ISO 8601. If days and months could be swapped in every value, the month comes first, as listed."""
HOURS = ("", " %H:%M", " %H:%M:%S")
MONTH_OR_DAY = {"%m/%d/%Y": "%d/%m/%Y", "%m-%d-%Y": "%d-%m-%Y"}
LIKE_ONE = str.maketrans("012345678", "9" * 9)
ISO_SHAPE = re.compile(r"9999-99-99(?:[T ]99:99(?::99(?:[.,]9+)?)?(?:Z|[-+]99:?99)?)?")
SHAPES = {
    f"{day}{hour}": re.compile(
        "".join({"%Y": "9999", "%d": "99?", "%m": "99?", "%b": "[A-Za-z]{3}"}.get(part, re.escape(part)) for part in
                re.split(r"(%[a-zA-Z])", day))
        + re.sub("%[HMS]", "99?", hour)
    )
    for day in DAYS
    for hour in HOURS
}  # fmt: skip


def date_format(cells: Cells) -> str | None:
    """The format in which most values of a column are dates, or None if fewer than `SHARE` % are."""
    if not cells.total:
        return None
    # Numbers, words and dates have few shapes, so that most columns are decided here.
    shapes: Counter[str] = Counter()
    for text, count, word in zip(cells.texts, cells.counts.tolist(), cells.words):
        if not word:
            shapes[text.translate(LIKE_ONE) if len(text) <= 40 else ""] += count
    likely = [
        written
        for written, pattern in ((ISO, ISO_SHAPE), *SHAPES.items())
        if 100 * sum(count for shape, count in shapes.items() if pattern.fullmatch(shape)) >= SHARE * cells.total
    ]
    read = {written: cells.weight(_known(cells.texts, written)) for written in likely}
    best = max(read, key=read.__getitem__, default=None)
    return best if best is not None and cells.enough(_known(cells.texts, best)) else None


def dates_of(texts: list[str], written: str) -> Any:
    """The dates of texts in a format, in UTC if they have a time zone; NaT for texts that are not dates."""
    values: Any = pd.to_datetime(pd.Series(texts, dtype=object), format=written, errors="coerce", utc=True)
    return values.dt.tz_localize(None).to_numpy(copy=True)


def words_for(written: str, texts: list[str]) -> str:
    """How the dates of a column are written, in words."""
    if written == ISO:
        zone = any(re.search(r"(Z|[-+]\d\d:?\d\d)$", text[16:]) for text in texts)
        return "written year-month-day" + (", in UTC" if zone else "")
    day = written.split(" %H")[0]
    words = {"%Y": "year", "%m": "month", "%d": "day", "%b": "month"}
    said = "written " + re.sub("%[Ymdb]", lambda part: words[part[0]], day)
    other = MONTH_OR_DAY.get(day)
    if other and np.array_equal(_known(texts, written), _known(texts, written.replace(day, other))):
        said += "; day and month could be swapped in every value, so this is a guess"
    return said


def _known(texts: list[str], written: str) -> Mask:
    known: Mask = ~np.isnat(dates_of(texts, written))
    return known
