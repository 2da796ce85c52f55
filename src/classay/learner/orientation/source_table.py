"""`source_table`: how much training samples of a data set can differ at all, the paper's Table 3."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...expect import InputError, fraction
from ...result import Result


@dataclass(frozen=True)
class SourceTable(Result, chart="learner.orientation:source_chart"):
    """The result of `source_table`: a row per data set in `table`. `share` is the size of a subset, of all rows."""

    table: pd.DataFrame
    share: float

    def to_frame(self) -> pd.DataFrame:
        """One row per data set: data, rows, classes, balance, subset_rows, value (bootstrap standard error), scaled."""
        return self.table.copy()

    def __str__(self) -> str:
        lines = [
            f"{row.data}: {row.rows:,} rows, balance {row.balance:.3f}, subsets of {row.subset_rows:,}, "
            + (
                f"bootstrap standard error {row.value:.4g} ({row.scaled:.3g} of a standard deviation)"
                if row.columns
                else "no column of numbers, so no bootstrap standard error"
            )
            for row in self.table.itertuples()
        ]
        return "; ".join(lines) + "."


def source_table(tables: Mapping[str, tuple[Any, Any]], share: float = 0.12) -> SourceTable:
    """Describe data sets by balance and by how much the means of their subsets vary.

    Bootstrap standard error of a column: the standard deviation of its mean over subsets drawn with replacement,
    sd/√m for m rows, exactly; the figure is its mean over columns. `scaled` is the same in standard deviations of each
    column, 1/√m unless columns are constant: the printed figure depends on the units of the columns.
    `balance` is the share of the second class of two (the class coded 1), and of the largest class of more.

    Above 0; if it is 0, all subsets are alike and capacity must be 0. It misleads where columns have other units:
    compare `scaled`. Columns that are not numbers, or have no value, are left out; without any, it is unknown (NaN).

    Parameters
    ----------
    tables : name -> (X, y)
    share : rows of a subset, as a share of all rows; .12 is 15 % of a training part of 80 %, as in the paper

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> int(source_table({"cancer": load_breast_cancer(return_X_y=True)}).table.subset_rows[0])
    68

    References
    ----------
    Pang-Naylor, Chen & Montañez, Model Characterization with Inductive Orientation Vectors, Table 3.

    """
    given: Any = tables
    if not isinstance(given, Mapping) or not given:
        raise InputError("`tables` must be a dict of at least one data set, name -> (X, y).")
    fraction(share, "share")
    return SourceTable(pd.DataFrame([_row(str(name), pair, share) for name, pair in given.items()]), share)


def _row(name: str, pair: Any, share: float) -> dict[str, Any]:
    try:
        X, y = pair
        columns = pd.DataFrame(X).select_dtypes("number").to_numpy(dtype=float)
        columns = columns[:, ~np.isnan(columns).all(axis=0)]
        labels = np.asarray(y).ravel()
    except (TypeError, ValueError) as problem:
        raise InputError(f"tables[{name!r}] is not a pair of rows and labels: {problem}. Expected (X, y).") from None
    if len(columns) != len(labels) or len(labels) < 2:
        raise InputError(
            f"tables[{name!r}] has {len(columns)} rows but {len(labels)} labels; expected as many, and at least 2."
        )
    _, counts = np.unique(labels, return_counts=True)
    rows = round(share * len(labels))
    spread = np.nanstd(columns, axis=0) if columns.shape[1] else np.zeros(0)
    error = spread / math.sqrt(max(rows, 1))
    return {
        "data": name,
        "rows": len(labels),
        "columns": columns.shape[1],
        "classes": len(counts),
        "balance": float((counts[1] if len(counts) == 2 else counts.max()) / len(labels)),
        "subset_rows": rows,
        "value": float(error.mean()) if error.size else math.nan,
        "scaled": float((spread > 0).mean() / math.sqrt(max(rows, 1))) if spread.size else math.nan,
    }
