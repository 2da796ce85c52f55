"""What charts say: names cut to fit and made printable, figures and intervals in words.

Names come from users and may hold anything. They reach a chart as values of data, domains of scales and plain
titles only, never as field names or expressions.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

from ..intervals import Estimate

LONGEST = 32
"""Columns of a label; the tooltip has the whole name."""


def printable(name: str) -> str:
    """The name without control characters, which neither SVG nor JSON readers take, on one line."""
    # The joiner is not printable by itself, but emoji are made with it.
    shown = "".join(letter if letter.isprintable() or letter == "\u200d" else " " for letter in str(name))
    return " ".join(shown.split()) or "(no name)"


def columns(text: str) -> int:
    """How wide a text is, in letters: Chinese characters and emoji take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def cut(name: str, longest: int = LONGEST) -> str:
    """The name, or its beginning and an ellipsis."""
    text = printable(name)
    if columns(text) <= longest:
        return text
    kept = ""
    for letter in text:
        if columns(kept + letter) > longest - 1:
            break
        kept += letter
    return kept.rstrip() + "…"


def labels(names: Sequence[str]) -> list[str]:
    """A short label for each learner, no two alike."""
    found: list[str] = []
    for name in names:
        label, number = cut(name), 2
        while label in found:
            label, number = f"{cut(name, LONGEST - 5)} ({number})", number + 1
        found.append(label)
    return found


def figure(value: float, spec: str = ".3g") -> str:
    """A number, or «unknown»."""
    return f"{value:{spec}}".replace("-", "−") if math.isfinite(value) else "unknown"


def told(estimate: Estimate, spec: str = ".3g") -> str:
    """«1.5, 95% interval 1.32 to 1.67 (over holdouts)»."""
    ends = f"{figure(estimate.low, spec)} to {figure(estimate.high, spec)}"
    kind = f" ({estimate.kind})" if estimate.kind else ""
    return f"{figure(estimate.value, spec)}, {estimate.level:.0%} interval {ends}{kind}"


def within(estimate: Estimate, least: float, most: float) -> tuple[float, float]:
    """The ends of an interval as they can be drawn: finite, and no farther than what is possible."""
    low = least if math.isnan(estimate.low) else estimate.low
    high = most if math.isnan(estimate.high) else estimate.high
    return min(max(low, least), most), max(min(high, most), least)
