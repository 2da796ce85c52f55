"""Rows of the data as people need to see them: what they hold, cut to what matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..document import Cell
from ..parts import Data

MOST_COLUMNS = 8


def content(data: Data, row: int, columns: Sequence[str]) -> str:
    """«radius 14.2, texture 30»: some columns of a row with their values."""
    return ", ".join(f"{name} {value_of(data.X, row, name)}" for name in columns)


def value_of(frame: pd.DataFrame, row: int, column: str) -> str:
    """A value as text, numbers to four digits."""
    value = frame[column].iloc[row]
    if pd.isna(value):
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.4g}"
    return str(value)


def cell(value: Any) -> Cell:
    """A value of a table as a cell of a sheet."""
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)) or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        return cell(value.item())
    if isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def columns_first(data: Data, first: Sequence[str], most: int = MOST_COLUMNS) -> list[str]:
    """Columns to show of a row: those that matter, then others up to `most`."""
    rest = [name for name in data.X.columns if name not in first]
    return [*first, *rest][: max(most, len(first))]
