"""How figures are written in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...data.row_complexity import Complexity
from ...intervals import Estimate
from .document import Cell
from .glossary import Term


def percent(estimate: Estimate) -> str:
    """A share with its interval.

    >>> percent(Estimate(0.934, 0.911, 0.952))
    '93.4 % (91.1 to 95.2)'
    """
    if not estimate.known:
        return "an unknown share"
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return share(estimate.value)
    return f"{share(estimate.value)} ({_number(estimate.low)} to {_number(estimate.high)})"


def share(value: float) -> str:
    """A share without interval, such as 93.4 %, with a non-breaking space."""
    return f"{_number(value)} %"


def of_100_rows(estimate: Estimate) -> str:
    """A share of rows in whole numbers, such as 40 of 100 rows (36 to 45); the interval is not made narrower."""
    low, high = math.floor(round(100 * estimate.low, 6)), math.ceil(round(100 * estimate.high, 6))
    return f"{100 * estimate.value:.0f} of 100 rows ({low} to {high})"


def counted_rows(number: int, verb: bool = False) -> str:
    """Such as 1,200 rows or 1 row; with the verb: 1,200 rows are, 1 row is."""
    if number == 1:
        return "1 row is" if verb else "1 row"
    return f"{number:,} rows are" if verb else f"{number:,} rows"


def points(estimate: Estimate) -> str:
    """A difference of shares, such as 2.1 points (−0.4 to 4.6)."""
    return f"{_number(estimate.value)} points ({_number(estimate.low)} to {_number(estimate.high)})"


def signed(estimate: Estimate) -> str:
    """A difference of shares in points for a list, such as +2.1 [−0.4, +4.6]."""
    ends = (estimate.value, estimate.low, estimate.high)
    value, low, high = (_number(end) if end < 0 else f"+{_number(end)}" for end in ends)
    return f"{value} [{low}, {high}]"


def bits(estimate: Estimate) -> str:
    """An entropy, such as 1.25 bits (1.10 to 1.40)."""
    if not estimate.known:
        return "an unknown number of bits"
    if estimate.between:
        return f"{estimate:.2f} bits"
    return f"{estimate.prefix}{estimate.value:.2f} bits ({max(estimate.low, 0):.2f} to {estimate.high:.2f})"


def quoted(label: object) -> str:
    """The name of a class, column or learner on one line, shortened if it is long."""
    return one_line(str(label), 58)


def one_line(text: str, most: int = 200) -> str:
    """A text on one line, shortened if it has more characters than `most`."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def joined(parts: list[str]) -> str:
    """A list in words: a, a and b, or a, b and c."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def distance_in_words(complexity: Complexity) -> str:
    """The distance that the baseline uses, such as Mahalanobis distance (one covariance for all)."""
    proper = {"mahalanobis": "Mahalanobis", "euclidean": "Euclidean", "gaussian": "Gaussian"}
    name = proper.get(complexity.distance, complexity.distance.replace("_", " "))
    if complexity.distance in ("euclidean", "cosine", "whitened_cosine"):
        return f"{name} distance"
    spread = {"shared": " (one covariance for all)", "full": " (one covariance per class)"}
    return f"{name} distance{spread.get(complexity.covariance, '')}"


def _number(value: float) -> str:
    text = f"{100 * value:.1f}"
    return ("0.0" if text == "-0.0" else text).replace("-", "−")


# How a cell of a report prints: figures in the format that the glossary gives, everything else unchanged.


UNKNOWN = "unknown"
NOTHING = "–"
"""The text of an empty cell."""
UNITS = {"bits": "bits"}
"""Units that the name of a figure does not mention."""


@dataclass(frozen=True)
class PrintedCell:
    """A cell as text: the figure, its interval and the kind of interval, and the number by which it is sorted.

    `order` is NaN for anything that is not a number, or unknown: it sorts last.
    """

    text: str
    interval: str = ""
    about: str = ""
    order: float = math.nan
    number: bool = False


def printed(cell: Cell, term: Term | None = None, ours: bool = False) -> PrintedCell:
    """A cell as text, in the format of its figure, if it is one.

    `ours` is whether other fractions are also measured by classay, so that their last digits carry no information.

    >>> from classay.report.document.glossary import TERMS
    >>> shown = printed(Estimate(0.93711, 0.92, 0.95, kind="over holdouts"), TERMS["accuracy"])
    >>> shown.text, shown.interval, shown.about
    ('0.937', '0.920 to 0.950', '95% interval, over holdouts')
    """
    form = term.form if term else ""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return PrintedCell(NOTHING)
    if isinstance(cell, Estimate) and cell.between:
        return PrintedCell(f"{cell:.3g}", "", about(cell), float(cell.value), number=True)
    if isinstance(cell, Estimate):
        text = f"{cell.prefix}{number(cell.value, form or 'figure')}" if cell.known else UNKNOWN
        interval = spread(cell, form or "figure")
        return PrintedCell(text, interval, about(cell) if interval else "", float(cell.value), number=True)
    if isinstance(cell, bool):
        return PrintedCell("yes" if cell else "no", order=float(cell))
    if isinstance(cell, (int, float)):
        # Any other number is the user's: a year has no thousands separator.
        return PrintedCell(number(cell, form) if form else _raw(cell, ours), order=float(cell), number=True)
    return PrintedCell(str(cell))


def number(value: float, form: str) -> str:
    """A number in its format: share, bits, seconds, count, number, or figure (unspecified).

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
    """The interval in words; "" for a figure without uncertainty, or one that is unknown."""
    low, high = estimate.low, estimate.high
    if low == high:
        return ""
    if math.isfinite(low) and math.isfinite(high):
        return f"{number(low, form)} to {number(high, form)}"
    if math.isfinite(low):
        return f"at least {number(low, form)}"
    return f"at most {number(high, form)}" if math.isfinite(high) else ""


def about(estimate: Estimate) -> str:
    """The kind of interval, such as "95% interval, over holdouts"."""
    return f"{100 * estimate.level:.4g}% interval" + (f", {estimate.kind}" if estimate.kind else "")


def _raw(value: float, ours: bool) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}" if ours and abs(value) < 1000 else f"{value:.6g}"
