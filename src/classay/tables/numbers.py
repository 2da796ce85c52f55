"""Numbers written for people: percent, currency, thousands and decimal commas, in one format for each column.

A column is numbers if at least `SHARE` % of its values are, all in the same format. The format is the one that reads
most values. Digits are first replaced by one letter, so that a million numbers become a few shapes to decide on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..arrays import Floats
from .cells import SHARE, Cells

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


def number_format(cells: Cells, decimal_comma: bool = False) -> NumberFormat | None:
    """The format in which most values of a column are numbers, or None if fewer than `SHARE` % are.

    If three digits follow every comma, as in 1,234, they are thousands; with `decimal_comma` they are decimals.
    """
    if not cells.total:
        return None
    plain = np.isfinite(_plain(cells.texts))
    rest = [text for text, done, word in zip(cells.texts, plain, cells.words) if not (done or word)]
    if not any(_shape_of(shape) for shape in set(_shapes(rest))):
        # Nothing else looks like a number, so that no other format can read more.
        return NumberFormat() if cells.enough(plain) else None
    shapes, weights = _weighted(cells)
    found = [(shape, weight) for text, weight in zip(shapes, weights) if (shape := _shape_of(text))]
    units = sorted({shape.unit for shape, _ in found})
    marks = MARKS if not decimal_comma else (MARKS[0], MARKS[2], MARKS[1], *MARKS[3:])
    read = {
        (decimal, thousands, unit): sum(w for shape, w in found if _fits(shape, decimal, thousands, unit))
        for unit in units
        for decimal, thousands in marks
    }
    best = max(read, key=read.__getitem__)
    decimal, thousands, unit = best
    if 100 * read[best] < SHARE * cells.total:
        return None
    twin = {(".", ","): (",", ""), (",", ""): (".", ",")}.get((decimal, thousands))
    return NumberFormat(decimal, thousands, unit, guessed=twin is not None and read[(*twin, unit)] == read[best])


def with_points_for_thousands(cells: Cells, written: NumberFormat) -> NumberFormat | None:
    """The format of 6.592 where other columns have decimal commas, so that points are thousands; None if they are not.

    They are if three digits follow every point, and no number has more than three digits without one.
    """
    if (written.decimal, written.thousands) != (".", ""):
        return None
    kept = [text for text, word in zip(cells.texts, cells.words) if not word]
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


def are_codes(cells: Cells) -> bool:
    """Whether whole numbers are codes, such as zip codes: some have leading zeros (01, 007).

    That is so if all have the same number of digits, or if at least 5 % have leading zeros: one slip of the pen does
    not turn numbers into codes.
    """
    digits = np.array([text.isdecimal() for text in cells.texts], dtype=bool)
    padded = np.array([len(text) > 1 and text[0] == "0" for text in cells.texts], dtype=bool) & digits
    if not padded.any() or not cells.enough(digits):
        return False
    widths = {len(text) for text, whole in zip(cells.texts, digits) if whole}
    return len(widths) == 1 or 100 * cells.weight(padded) >= CODES_SHARE * cells.total


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
        number, _, power = _without_unit(text, parts.unit).lower().partition("e")
        digits = float(
            number.translate(drop).replace(written.decimal, ".")
            + (f"e{power.strip('() ').replace('−', '-')}" if power else "")
        )
        values[place] = -digits if parts.negative else digits
    return values


def _without_unit(text: str, unit: str) -> str:
    return text.replace(unit, "") if unit else text


def _shapes(texts: list[str]) -> list[str]:
    """The texts with every digit as 9, and the first as 0 if it is: 0,123 cannot have a comma for thousands."""
    shapes = []
    for text in texts:
        shape = text.translate(LIKE_ONE)
        first = shape.find("9")
        shapes.append(f"{shape[:first]}0{shape[first + 1 :]}" if first >= 0 and text[first] == "0" else shape)
    return shapes


def _weighted(cells: Cells) -> tuple[list[str], NDArray[Any]]:
    """The distinct shapes of a column, and how many cells have each."""
    kept = np.flatnonzero(~cells.words)
    codes, shapes = pd.factorize(np.array(_shapes([cells.texts[place] for place in kept]), dtype=object))
    return list(shapes), np.bincount(codes, weights=cells.counts[kept], minlength=len(shapes)).astype(np.int64)


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
