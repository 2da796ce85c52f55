"""Whether the rows of a batch are unlike those of the reference, column by column, whatever their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

LEAST_EXPECTED = 5
"""Categories with fewer expected rows in the batch are counted together: the chi-squared test needs about so many."""


@dataclass(frozen=True)
class RowShift:
    """`p_value` of "the rows come from the reference's distribution", and the `column` that speaks most against it."""

    p_value: float
    column: str


def row_shift(reference: Any, batch: Any) -> RowShift:
    """Compare every column of a batch with that of the reference.

    Numbers by the test of Kolmogorov and Smirnov, categories and the share of missing values by chi-squared; the lowest
    p-value counts, times the number of tests. It does not see columns that only go together in another way.

    >>> rng = np.random.default_rng(0)
    >>> row_shift(rng.uniform(size=(300, 2)), rng.uniform(size=(100, 2)) + [0, 0.5]).column
    'column 1'
    """
    tests = [
        (p_value, str(name))
        for name, own, other in _columns(reference, batch)
        for p_value in _p_values(own.reset_index(drop=True), other.reset_index(drop=True))
    ]
    if not tests:
        return RowShift(1.0, "")
    lowest, name = min(tests)
    return RowShift(min(1.0, lowest * len(tests)), name)


def _columns(reference: Any, batch: Any) -> list[tuple[Any, pd.Series[Any], pd.Series[Any]]]:
    if isinstance(reference, pd.DataFrame):
        return [(name, reference[name], batch[name]) for name in reference.columns]
    sides = zip(np.asarray(reference).T, np.asarray(batch).T)
    return [(f"column {place}", pd.Series(own), pd.Series(other)) for place, (own, other) in enumerate(sides)]


def _p_values(own: pd.Series[Any], other: pd.Series[Any]) -> list[float]:
    p_values = []
    if own.isna().any() or other.isna().any():
        p_values.append(_by_counts(own.isna(), other.isna()))
    own, other = own.dropna(), other.dropna()
    if not own.size or not other.size:
        return p_values
    if pd.api.types.is_bool_dtype(own) or not _has_order(own):
        p_values.append(_by_counts(own.astype(str), other.astype(str)))
    else:
        p_values.append(float(stats.ks_2samp(_numbers(own), _numbers(other), method="asymp").pvalue))
    return p_values


def _has_order(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column))


def _numbers(column: pd.Series[Any]) -> Any:
    times = pd.api.types.is_datetime64_any_dtype(column)
    return column.astype("int64").to_numpy() if times else column.to_numpy(dtype=float)


def _by_counts(own: pd.Series[Any], other: pd.Series[Any]) -> float:
    counts = pd.DataFrame({"own": own.value_counts(), "other": other.value_counts()}).fillna(0.0)
    expected = counts.sum(axis=1) * len(other) / (len(own) + len(other))
    rare = (expected < LEAST_EXPECTED).to_numpy()
    table = np.vstack([counts.to_numpy()[~rare], counts.to_numpy()[rare].sum(axis=0, keepdims=True)])
    table = table[table.sum(axis=1) > 0]
    return float(stats.chi2_contingency(table).pvalue) if len(table) > 1 else 1.0
