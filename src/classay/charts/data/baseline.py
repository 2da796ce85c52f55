"""What the charts of complexity share: which rows the baseline predicts wrongly, colours, and labels of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.row_complexity import Complexity
from ..style.theme import labels, printable

RIGHT, WRONG = "#0072B2", "#D55E00"
"""Blue and vermilion, distinguishable with any colour vision."""
PALE, DEEP = "#eef1f4", "#0b3a63"
EVEN = float(np.log(2))
"""The complexity of a row that is as near to one other class as to its own."""


def baseline_errors(complexity: Complexity) -> NDArray[np.bool_]:
    """Which rows the baseline predicts wrongly."""
    return np.asarray(complexity.predicted != complexity.labels, dtype=bool)


def class_labels(values: NDArray[Any]) -> dict[Any, str]:
    """A short label for each of some classes, all different."""
    names = values.tolist()
    return dict(zip(names, labels([str(name) for name in names])))


def full_name(value: Any) -> str:
    """A class as tooltips name it."""
    return printable(str(value))[:400]


def counted(n: int, one: str, many: str | None = None) -> str:
    """`1 row`, `1,797 rows`."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
