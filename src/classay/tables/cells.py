"""The distinct texts of a column, with how often each occurs: what decides whether it has numbers, dates or sentences.

Decisions use counts only, so the order of rows never matters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Floats, Ints, Mask
from ..expect import InputError, within

MISSING_WORDS = frozenset(
    {
        *("", "?", "-", "--", "---", ".", "..", "...", "*", "–", "—"),
        *("na", "n/a", "n.a.", "nan", "-nan", "null", "none", "nil", "nd", "n.d.", "missing", "unknown"),
        *("<na>", "#n/a", "#na", "#ref!", "#value!", "#div/0!", "#null!", "#num!", "#name?", "(null)", r"\n"),
    }
)
"""What people write for a missing number or date, in any case."""
SHARE = 95
"""In percent: a column is of a kind if at least this share of its values is."""
MOST_EXAMPLES = 5


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct values of a column as stripped texts, how many cells have each, and the one of each row (-1: none)."""

    texts: list[str]
    counts: Ints
    codes: Ints

    @cached_property
    def words(self) -> Mask:
        """Which texts are words for missing."""
        return np.array([text.lower() in MISSING_WORDS for text in self.texts], dtype=bool)

    @cached_property
    def total(self) -> int:
        """The number of cells with a value that is not a word for missing."""
        return int(self.counts[~self.words].sum())

    def enough(self, accepted: Mask) -> bool:
        """Whether the accepted texts make up `SHARE` of the values."""
        return 100 * self.weight(accepted) >= SHARE * self.total > 0

    def weight(self, accepted: Mask) -> int:
        """How many cells have one of the accepted texts; words for missing do not count."""
        return int(self.counts[accepted & ~self.words].sum())

    def share(self, accepted: Mask) -> str:
        """The share of the accepted texts, in words. It is never rounded up to all.

        >>> Cells(["1", "x"], np.array([1999, 1]), np.empty(0, int)).share(np.array([True, False]))
        '99.9 % of the values'
        """
        found = self.weight(accepted)
        return "all values" if found == self.total else f"{1000 * found // self.total / 10:.1f} % of the values"

    def spread(self, values: NDArray[Any], gone: Any) -> NDArray[Any]:
        """The value of each row from the value of each distinct text; `gone` where the row has none."""
        padded = np.append(values, np.array([gone], dtype=values.dtype))
        return padded[self.codes]  # the code -1 is the last

    def examples(self, texts: Mask) -> tuple[tuple[int, str], ...]:
        """The first rows, counted from 1, that have one of these texts."""
        rows = np.flatnonzero(self.spread(texts, False))[:MOST_EXAMPLES]
        return tuple((int(row) + 1, self.texts[self.codes[row]]) for row in rows)

    def missing_words(self) -> str:
        """The words for missing that occur, with how many cells have them, most frequent first."""
        found: Counter[str] = Counter()
        for place in np.flatnonzero(self.words):
            found[self.texts[place]] += int(self.counts[place])
        return ", ".join(f"{word!r} ({count})" for word, count in sorted(found.items(), key=lambda each: -each[1]))


def cells(column: pd.Series[Any]) -> Cells:
    """The cells of a column of text, or of text and other values."""
    codes, distinct = pd.factorize(column)
    texts = [value.strip() if isinstance(value, str) else str(value) for value in distinct.tolist()]
    longest = max(map(len, texts), default=0)
    within(longest, "cell_characters", f"The longest cell of column {str(column.name)!r}, in characters,")
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    return Cells(texts, counts.astype(np.int64), codes.astype(np.int64))


def refuse_odd(column: pd.Series[Any]) -> None:
    """Refuse complex numbers, lists and other collections, which no learner can read."""
    values = column if column.dtype == object else column.iloc[: int(column.dtype.kind == "c")]
    for row, value in enumerate(values, 1):
        if isinstance(value, complex):
            raise InputError(f"Column {column.name!r} has complex numbers; expected real ones. Split it in two.")
        if isinstance(value, (list, tuple, dict, set, frozenset, np.ndarray)):
            raise InputError(
                f"Column {column.name!r} contains {type(value).__name__} values; expected one number or text per row, "
                f"got this in row {row}. Spread it over several columns or drop it."
            )


def refuse_nul(texts: Iterable[str], name: Any) -> None:
    """Refuse NUL characters: C libraries cut text there, so two values could become one."""
    for text in texts:
        if "\0" in text:
            raise InputError(f"Column {name!r} has a NUL character in {text!r}. Remove it, or save the file again.")


# Numbers written for people: percent, currency, thousands and decimal commas, in one format for each column


CURRENCIES = (
    "USD|EUR|GBP|JPY|CNY|CHF|INR|AUD|NZD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|RUB|UAH|BRL|MXN|ARS|CLP|COP|KRW|TWD|HKD|"
    "SGD|THB|IDR|MYR|PHP|VND|ZAR|ILS|AED|SAR|EGP|NGN"
)
SIGNS = "$€£¥₹₩₽₺₫₴₪฿₱₦"
PERCENT = "%"
SPACES = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
LIKE_ONE = str.maketrans({**dict.fromkeys("0123456789", "9"), **dict.fromkeys(SPACES, " "), "\u2019": "'", "−": "-"})
UNIT = rf"(?:{PERCENT}|(?:US|A|C|R|HK)?[{re.escape(SIGNS)}]|{CURRENCIES})"
WRITTEN = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+])? ?(?P<before>{UNIT})? ?(?P<inner>[-+])?(?P<body>[09.,][09.,' ]*?)"
    rf"(?P<power>[eE][-+]?9+)? ?(?P<after>{UNIT})?(?P<close>\))?"
)
"""A number as written, after its digits became 9, a leading one 0 if it is."""
MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
"""Decimal and thousands mark of the formats that are tried. Of equal ones the first is taken."""
MARK_NAMES = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
POINTED = re.compile(r"9{1,3}(?:\.999)*|0")
CODES_SHARE = 5


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written."""

    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    guessed: bool = False
    """Whether commas could be decimal commas or thousands, or points decimal points or thousands."""

    def __str__(self) -> str:
        parts = []
        if self.unit:
            parts.append("in percent" if self.unit == PERCENT else f"in {self.unit}")
        if self.decimal == "," and not self.thousands:
            parts.append("commas are decimal")
        if self.thousands:
            parts.append(f"{MARK_NAMES[self.thousands]} are thousands")
        if self.guessed:
            mark = "point" if self.thousands == "." else "comma"
            parts.append(f"three digits follow every {mark}, so this is a guess")
        return "; ".join(parts)


@dataclass(frozen=True)
class Shape:
    """The parts of a number as written that do not depend on its digits."""

    body: str
    unit: str
    negative: bool


def number_format(found: Cells, decimal_comma: bool = False) -> NumberFormat | None:
    """The format in which most values of a column are numbers, or None if fewer than `SHARE` % are.

    If three digits follow every comma, as in 1,234, they are thousands; with `decimal_comma` they are decimals.
    """
    if not found.total:
        return None
    plain = np.isfinite(_plain(found.texts))
    rest = [text for text, done, word in zip(found.texts, plain, found.words) if not (done or word)]
    if not any(_shape_of(shape) for shape in set(_shapes(rest))):
        # Nothing else looks like a number, so that no other format can read more.
        return NumberFormat() if found.enough(plain) else None
    shapes, weights = _weighted(found)
    numbers = [(shape, weight) for text, weight in zip(shapes, weights) if (shape := _shape_of(text))]
    units = sorted({shape.unit for shape, _ in numbers})
    marks = MARKS if not decimal_comma else (MARKS[0], MARKS[2], MARKS[1], *MARKS[3:])
    read = {
        (decimal, thousands, unit): sum(w for shape, w in numbers if _fits(shape, decimal, thousands, unit))
        for unit in units
        for decimal, thousands in marks
    }
    best = max(read, key=read.__getitem__)
    decimal, thousands, unit = best
    if 100 * read[best] < SHARE * found.total:
        return None
    twin = {(".", ","): (",", ""), (",", ""): (".", ",")}.get((decimal, thousands))
    return NumberFormat(decimal, thousands, unit, guessed=twin is not None and read[(*twin, unit)] == read[best])


def with_points_for_thousands(found: Cells, written: NumberFormat) -> NumberFormat | None:
    """The format of 6.592 where other columns have decimal commas, so that points are thousands; None if they are not.

    They are if three digits follow every point, and no number has more than three digits without one.
    """
    if (written.decimal, written.thousands) != (".", ""):
        return None
    kept = [text for text, word in zip(found.texts, found.words) if not word]
    shapes = [shape for text in set(_shapes(kept)) if (shape := _shape_of(text))]
    if not any("." in shape.body for shape in shapes):
        return None
    if not all(POINTED.fullmatch(shape.body) and _fits(shape, ",", ".", written.unit) for shape in shapes):
        return None
    return replace(written, decimal=",", thousands=".", guessed=True)


def numbers_of(texts: list[str], written: NumberFormat) -> Floats:
    """The numbers of texts in a format, NaN for texts that are not numbers in it.

    >>> numbers_of(["1,234.5", "(3)", "?"], NumberFormat(thousands=",")).tolist()
    [1234.5, -3.0, nan]
    """
    if written == NumberFormat():
        values = _plain(texts)
        left = np.flatnonzero(np.isnan(values))
        values[left] = _formatted([texts[place] for place in left], written)
    else:
        values = _formatted(texts, written)
    values[np.isinf(values)] = np.nan
    return values


def are_codes(found: Cells) -> bool:
    """Whether whole numbers are codes, such as zip codes: some have leading zeros (01, 007).

    That is so if all have the same number of digits, or if at least 5 % have leading zeros: one slip of the pen does
    not turn numbers into codes.
    """
    digits = np.array([text.isdecimal() for text in found.texts], dtype=bool)
    padded = np.array([len(text) > 1 and text[0] == "0" for text in found.texts], dtype=bool) & digits
    if not padded.any() or not found.enough(digits):
        return False
    widths = {len(text) for text, whole in zip(found.texts, digits) if whole}
    return len(widths) == 1 or 100 * found.weight(padded) >= CODES_SHARE * found.total


def _plain(texts: list[str]) -> Floats:
    """Numbers as programs write them, NaN for others."""
    if not texts:
        return np.empty(0)
    return np.array(pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce"), dtype=float)


def _formatted(texts: list[str], written: NumberFormat) -> Floats:
    known: dict[str, Shape | None] = {}
    values = np.full(len(texts), np.nan)
    drop = str.maketrans("", "", f"()+-−{SPACES}{APOSTROPHES}{written.thousands}")
    for place, (text, shape) in enumerate(zip(texts, _shapes(texts))):
        if shape not in known:
            read = _shape_of(shape)
            fits = read is not None and _fits(read, written.decimal, written.thousands, written.unit)
            known[shape] = read if fits else None
        if (parts := known[shape]) is None:
            continue
        number, _, power = text.replace(parts.unit, "").lower().partition("e")
        digits = float(
            number.translate(drop).replace(written.decimal, ".")
            + (f"e{power.strip('() ').replace('−', '-')}" if power else "")
        )
        values[place] = -digits if parts.negative else digits
    return values


def _shapes(texts: list[str]) -> list[str]:
    """The texts with every digit as 9, and the first as 0 if it is: 0,123 cannot have a comma for thousands."""
    shapes = []
    for text in texts:
        shape = text.translate(LIKE_ONE)
        first = shape.find("9")
        shapes.append(f"{shape[:first]}0{shape[first + 1 :]}" if first >= 0 and text[first] == "0" else shape)
    return shapes


def _weighted(found: Cells) -> tuple[list[str], NDArray[Any]]:
    """The distinct shapes of a column, and how many cells have each."""
    kept = np.flatnonzero(~found.words)
    codes, shapes = pd.factorize(np.array(_shapes([found.texts[place] for place in kept]), dtype=object))
    return list(shapes), np.bincount(codes, weights=found.counts[kept], minlength=len(shapes)).astype(np.int64)


def _shape_of(text: str) -> Shape | None:
    """The parts of a shape, or None if it is not one of a number."""
    match = WRITTEN.fullmatch(text)
    if not match or bool(match["open"]) != bool(match["close"]) or (match["before"] and match["after"]):
        return None
    signs = [sign for sign in (match["sign"], match["inner"], match["open"]) if sign]
    if len(signs) > 1:
        return None
    return Shape(
        match["body"] + (match["power"] or "").lower(), match["before"] or match["after"] or "", signs in (["-"], ["("])
    )


_BODIES = {
    (decimal, thousands): re.compile(
        rf"(?:9{{1,3}}(?:{re.escape(thousands)}999)+|[09]9*)(?:{re.escape(decimal)}9*)?(?:e[-+]?9+)?"
        rf"|{re.escape(decimal)}[09]9*(?:e[-+]?9+)?"
        if thousands
        else rf"[09]9*(?:{re.escape(decimal)}9*)?(?:e[-+]?9+)?|{re.escape(decimal)}[09]9*(?:e[-+]?9+)?"
    )
    for decimal, thousands in MARKS
}


def _fits(shape: Shape, decimal: str, thousands: str, unit: str) -> bool:
    """Whether a shape is a number of this format. A currency can be omitted, but not a percent sign: 0.5 and 50%."""
    same = shape.unit == unit or (not shape.unit and unit not in ("", PERCENT))
    return same and _BODIES[decimal, thousands].fullmatch(shape.body) is not None


# Dates written as text, in one format for each column


ISO = "ISO8601"
DAYS = ("%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y")
"""Formats besides ISO 8601. If days and months could be swapped in every value, the month comes first, as listed."""
HOURS = ("", " %H:%M", " %H:%M:%S")
MONTH_OR_DAY = {"%m/%d/%Y": "%d/%m/%Y", "%m-%d-%Y": "%d-%m-%Y"}
DIGITS_AS_NINE = str.maketrans("012345678", "9" * 9)
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


def date_format(found: Cells) -> str | None:
    """The format in which most values of a column are dates, or None if fewer than `SHARE` % are."""
    if not found.total:
        return None
    # Numbers, words and dates have few shapes, so that most columns are decided here.
    shapes: Counter[str] = Counter()
    for text, count, word in zip(found.texts, found.counts.tolist(), found.words):
        if not word:
            shapes[text.translate(DIGITS_AS_NINE) if len(text) <= 40 else ""] += count
    likely = [
        written
        for written, pattern in ((ISO, ISO_SHAPE), *SHAPES.items())
        if 100 * sum(count for shape, count in shapes.items() if pattern.fullmatch(shape)) >= SHARE * found.total
    ]
    read = {written: found.weight(_dated(found.texts, written)) for written in likely}
    best = max(read, key=read.__getitem__, default=None)
    return best if best is not None and found.enough(_dated(found.texts, best)) else None


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
    if other and np.array_equal(_dated(texts, written), _dated(texts, written.replace(day, other))):
        said += "; day and month could be swapped in every value, so this is a guess"
    return said


def _dated(texts: list[str], written: str) -> Mask:
    return np.asarray(~np.isnat(dates_of(texts, written)))
