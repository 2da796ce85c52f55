"""How a cell of a report prints: figures by the form that the glossary gives them, all else as it is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..intervals import Estimate
from .document import Cell
from .glossary import Term

UNKNOWN = "unknown"
NOTHING = "–"
"""What stands in an empty cell."""
UNITS = {"bits": "bits"}
"""Units that the name of a figure does not say."""


@dataclass(frozen=True)
class Printed:
    """A cell as text: the figure, its interval and what that is, and the number by which it is sorted.

    `order` is NaN for what is no number, or unknown: it comes last.
    """

    text: str
    interval: str = ""
    about: str = ""
    order: float = math.nan
    number: bool = False


def printed(cell: Cell, term: Term | None = None, ours: bool = False) -> Printed:
    """A cell as text, in the form of the figure that it is, if it is one.

    `ours` is whether other fractions are measured by us too, so that their later digits say nothing.

    >>> from classay.report.glossary import TERMS
    >>> found = printed(Estimate(0.93711, 0.92, 0.95, kind="over holdouts"), TERMS["accuracy"])
    >>> found.text, found.interval, found.about
    ('0.937', '0.920 to 0.950', '95% interval, over holdouts')
    """
    form = term.form if term else ""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return Printed(NOTHING)
    if isinstance(cell, Estimate):
        text = number(cell.value, form or "figure") if cell.known else UNKNOWN
        interval = spread(cell, form or "figure")
        return Printed(text, interval, about(cell) if interval else "", float(cell.value), number=True)
    if isinstance(cell, bool):
        return Printed("yes" if cell else "no", order=float(cell))
    if isinstance(cell, (int, float)):
        # What is no figure of ours is the user's: a year has no thousands separator.
        return Printed(number(cell, form) if form else _raw(cell, ours), order=float(cell), number=True)
    return Printed(str(cell))


def number(value: float, form: str) -> str:
    """A number by its form: share, bits, seconds, count, number, or figure, of which nothing is known.

    >>> number(0.9, "share"), number(1234, "count"), number(0.0001, "share"), number(-2.5, "number")
    ('0.900', '1,234', '<0.001', '−2.50')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if form == "count" or (form == "figure" and float(value).is_integer()):
        text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    elif 0 < size < 0.0005:
        text = "<0.001" if value > 0 else "0.000"
    elif size >= 100:
        text = f"{value:,.0f}"
    elif form == "bits" or size > 1:
        text = f"{value:.2f}"
    else:
        text = f"{value:.3f}"
    return text.replace("-", "−")


def spread(estimate: Estimate, form: str) -> str:
    """The interval in words; "" for a figure without uncertainty, or of which nothing is known."""
    low, high = estimate.low, estimate.high
    if low == high:
        return ""
    if math.isfinite(low) and math.isfinite(high):
        return f"{number(low, form)} to {number(high, form)}"
    if math.isfinite(low):
        return f"at least {number(low, form)}"
    return f"at most {number(high, form)}" if math.isfinite(high) else ""


def about(estimate: Estimate) -> str:
    """What the interval is: «95% interval, over holdouts»."""
    return f"{estimate.level:.0%} interval" + (f", {estimate.kind}" if estimate.kind else "")


def _raw(value: float, ours: bool) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}" if ours and abs(value) < 1000 else f"{value:.6g}"
