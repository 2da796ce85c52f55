"""`slices`: where a classifier's errors concentrate, as conditions on one to three columns of a table.

A slice is a region of the table in which the outcome is an error; `regions.find` describes how slices are found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ...arrays import Mask
from ...expect import InputError, counted, nearest, shown
from ...frames import pandas_of
from ...intervals import Estimate, of_proportion_by_group
from ...regions.columns import bin_column, checked_table
from ...regions.find import SearchOptions, find_regions, search_options
from ...regions.outcome import BinaryOutcome, GroupedOutcome
from ...regions.region import Region, RegionRows, q_values, regions_frame, where_in_words
from ...result import Result
from ...splits import per_row

RENAMED = {"total": "errors", "rate": "error_rate", "excess": "excess_errors"}
"""Figures of a region, as they are called of errors."""
FIGURES = ["size", "share", "errors", "table_rate", "error_rate", "rate_low", "rate_high", "rest_rate", "lift"]
FIGURES += ["p_value", "q_value", "excess_errors", "nested_under", "complement", "value"]
VISIBLE = 60.0
"""Likelihood ratio in all rows of a slice of one column that is found in about 80 % of tables."""
BY_COLUMN = ("column", "condition", "size", "error_rate", "rest_rate", "p_value", "q_value", "stands_out")


@dataclass(frozen=True)
class Slices(RegionRows, Result, chart="regions:slices_chart"):
    """The result of `slices`: `slices` by rank, each with q ≤ `q` and none that only repeats another.

    In each `Region` the `rate` is the error rate, `total` the number of errors, and `excess` a cautious count of the
    errors that would not occur if the slice were like the table. `p_value` is Fisher's exact test, one-sided.
    `tested` has one row per slice that was tested, with its p- and q-value and the outcome of the test. `error_rate` is
    that of all rows. `n_searched` is the number of boxes that were searched. `by_column` has the most significant slice
    of each column alone, if that was asked for. `notes` says what was left out.
    """

    slices: tuple[Region, ...]
    tested: pd.DataFrame
    error_rate: Estimate
    n_rows: int
    n_errors: int
    n_searched: int
    min_size: int
    q: float
    columns: tuple[str, ...]
    seed: int
    notes: tuple[str, ...]
    by_column: pd.DataFrame
    masks: tuple[Mask, ...] = field(repr=False)

    NOUN = "slices"

    def to_frame(self) -> pd.DataFrame:
        """One row per slice, by rank: its condition on one `feature`, two (`other_…`) or three (`third_…`), and its
        figures.

        `low` and `high` are the ends of a range, missing if it is open; `values` lists the categories.
        """
        return regions_frame(self.slices, FIGURES, RENAMED)

    @property
    def visible(self) -> float:
        """The error rate from which a twentieth of the rows, by one column, is found in about 80 % of tables; or ∞."""
        size = max(self.n_rows // 20, self.min_size)
        counts = np.arange(min(size, self.n_errors) + 1)
        ratios = BinaryOutcome(np.arange(self.n_rows) < self.n_errors).ratio_from_counts(np.asarray(size), counts)
        return float(min(counts[ratios >= VISIBLE], default=np.inf)) / size

    def __str__(self) -> str:
        tests = f"{len(self.tested)} slices were tested" if len(self.tested) != 1 else "1 slice was tested"
        if not self.n_errors:
            text = f"Nothing to find: none of {self.n_rows} rows is wrong."
        elif not self.slices:
            seen = f"A twentieth of the rows with an error rate of about {self.visible:.2f} would have been found."
            text = (
                f"No slice stands out at a false-discovery rate of {self.q:.3g}: {tests}, with "
                f"{counted(self.n_errors, 'error')} in {self.n_rows} rows. "
                f"{seen if self.visible <= 1 else 'These are too few errors to find a twentieth of the rows.'}"
            )
        else:
            where = where_in_words(self.slices, "Errors concentrate", "Errors are rarer", "error rate")
            text = (
                f"{where} The error rate of all {self.n_rows} rows is {self.error_rate.value:.3g}. {tests} on rows "
                f"that were not searched, at a false-discovery rate of {self.q:.3g}."
            )
        return " ".join([text, *self.notes])


def slices(
    table: pd.DataFrame,
    wrong: Any,
    *,
    columns: Iterable[str] | None = None,
    max_features: int = 3,
    min_size: int | None = None,
    q: float = 0.05,
    top: int = 10,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    groups: Any = None,
    by_column: bool = False,
) -> Slices:
    """Find where errors concentrate: ranges or categories of one to three columns with a higher error rate.

    Boxes are ranked on 60 % of the rows by the likelihood ratio of their error rate to the rest's, minus what the best
    of this many boxes would gain by chance. On the others, p = P(at least this many errors in the slice | its size,
    rows, errors): Fisher's exact test. Benjamini–Hochberg over the slices tested gives q-values; the k-th of the search
    has a weight in proportion to 1/k. If errors are independent of the columns, P(any slice is reported) ≤ q:
    `regions.find` has the proof.

    Error rates run from 0 to 1; lift 1: as everywhere, higher is worse. Ranks are by excess errors over the rate of all
    rows, with a penalty for size.

    It misleads if rows are not independent: repeated rows, or many rows of one customer, are in both parts, and
    chance then looks like a finding. Keep one row of each, or pass `groups`: then no group is in both parts, and
    p-values and intervals are over groups (Student's t with the cluster-robust variance). Only 40 % of the rows test,
    so a slice needs more than twice the errors that a slice chosen beforehand would. A column that contains the answer
    (the true label next to the predicted one) gives slices that are true and useless: leave it out with `columns`.

    Parameters
    ----------
    table : any rows with numbers, categories, booleans or dates; missing counts as a value
    wrong : True where the classifier erred: an array, a Series, or the name of a column
    columns : names of columns to search; default all (except `wrong`)
    max_features : 1 for single columns only, 2 for pairs too, 3 to search the best pairs for a third column
    min_size : fewest rows of a slice; default 0.5 % of the rows, at least 20 (fewer in small tables)
    q : the false-discovery rate, the share of reported slices that may be chance
    top : maximum number of slices to report
    level : confidence level of the intervals
    random_state : seed of the split into rows to search and rows to test
    groups : a value for each row; rows with the same one, such as those of one customer, depend on each other
    by_column : whether to also find the most significant slice of each column alone, the table of FreaAI

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 80, 4000), "job": rng.choice(["student", "clerk"], 4000)})
    >>> wrong = rng.random(4000) < np.where(table.age.between(30, 45) & (table.job == "student"), 0.5, 0.1)
    >>> s = slices(table, wrong, by_column=True)
    >>> s.slices[0].condition, s.by_column["column"].tolist()
    ('age 30–45 and job = student', ['age', 'job'])

    References
    ----------
    Ackerman, Raz & Zalmanovici, FreaAI: Automated Extraction of Data Slices to Test Machine Learning Models (2020).
    Genovese, Roeder & Wasserman, False discovery control with p-value weighting (2006).

    """
    frame = checked_table(table)
    is_wrong, wrong_column = checked_wrong(frame, wrong)
    options = search_options(frame, wrong_column, columns, max_features, min_size, q, top, level, random_state)
    errors = _errors(is_wrong, groups)
    regions = find_regions(frame, options, errors, errors, "slices")
    return Slices(
        slices=regions.regions,
        tested=regions.tested.rename(columns=RENAMED),
        error_rate=of_proportion_by_group(is_wrong, errors.groups, options.level),
        n_rows=len(is_wrong),
        n_errors=int(errors.total),
        n_searched=regions.n_searched,
        min_size=options.min_size,
        q=options.q,
        columns=regions.columns,
        seed=options.seed,
        notes=regions.notes,
        by_column=_by_column(frame, options, errors) if by_column else pd.DataFrame(columns=list(BY_COLUMN)),
        masks=regions.masks,
    )


def _by_column(frame: pd.DataFrame, options: SearchOptions, errors: BinaryOutcome) -> pd.DataFrame:
    """The most significant slice of each column alone, one line each, the columns by rank.

    A column without a slice that was tested, or whose slice has no more errors than the rest, is left out. `p_value` is
    that of the slice shown; `q_value` corrects it for the slices tested of its column and over the columns, and
    `stands_out` says whether it is at most `q`.
    """
    lines = []
    for name in options.names:
        if not bin_column(frame[name], options.min_size).varies:
            continue
        alone = replace(options, names=(name,), max_features=1, top=1)
        tested = find_regions(frame, alone, errors, errors, "slices").tested
        if len(tested):
            # The least q-value of a column is a valid p-value: Bonferroni's over the slices tested.
            best = int(tested["q_value"].to_numpy().argmin())
            lines.append({"column": name, **tested.iloc[best].to_dict()})
    result = pd.DataFrame(lines).rename(columns=RENAMED).reindex(columns=list(BY_COLUMN))
    result["q_value"] = q_values(result["q_value"])
    result["stands_out"] = result["q_value"] <= options.q
    # Counted above, as it was tested, but not shown: what the search took for a worse part is not one in other rows.
    result = result[result["error_rate"] > result["rest_rate"]]
    return result.sort_values(["q_value", "p_value"], kind="stable", ignore_index=True)


def _errors(is_wrong: NDArray[np.bool_], groups: Any) -> BinaryOutcome:
    """Errors as what is searched for, by groups if there are any."""
    if is_wrong.all():
        raise InputError(
            f"`wrong` is True in all {len(is_wrong)} rows, so no slice can have more errors than another. Is it "
            "inverted?"
        )
    codes = per_row(groups, rows=len(is_wrong)).groups
    return BinaryOutcome(is_wrong) if codes is None else GroupedOutcome(is_wrong, codes)


def checked_wrong(table: pd.DataFrame, wrong: Any) -> tuple[NDArray[np.bool_], str | None]:
    """Which rows are wrong, and the name of the column if it is one."""
    name = None
    if not isinstance(wrong, pd.Series) and isinstance(converted := pandas_of(wrong, "wrong"), pd.Series):
        wrong = converted.set_axis(table.index) if len(converted) == len(table) else converted  # rows have no names
    if isinstance(wrong, str):
        if wrong not in table:
            raise InputError(
                f"`wrong` is {wrong!r}, but `table` has no such column.{nearest(wrong, table.columns)} "
                "Pass the name of a column of True and False, or an array such as table['label'] != table['predicted']."
            )
        name, wrong = wrong, table[wrong]
    elif isinstance(wrong, pd.Series) and len(wrong) == len(table) and not wrong.index.equals(table.index):
        raise InputError(
            "`wrong` is a Series with another index than `table`, so its rows cannot be matched. Pass "
            "wrong.to_numpy() if both are in the same order, or wrong.reindex(table.index)."
        )
    entries = wrong if isinstance(wrong, pd.Series) else np.asarray(wrong)
    if entries.ndim != 1 or len(entries) != len(table):
        shape = "×".join(map(str, entries.shape)) or "no"
        raise InputError(f"`wrong` has {shape} entries but `table` has {len(table)} rows; they must match.")
    values = pd.Series(entries.array if isinstance(entries, pd.Series) else entries)
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise InputError(
            f"`wrong` is missing in {missing.size} of {len(values)} rows (row {shown(missing + 1, 5)}, counted from "
            "1). Drop these rows, or decide: wrong.fillna(True)."
        )
    inferred: pd.Series[Any] = values.infer_objects()
    if types.is_bool_dtype(inferred.dtype):
        return np.asarray(inferred.to_numpy(dtype=bool)), name
    if types.is_numeric_dtype(inferred.dtype) and bool(inferred.isin([0, 1]).all()):
        return np.asarray(inferred.to_numpy(dtype=float) == 1), name
    distinct = inferred.drop_duplicates()
    example = distinct.iloc[0]
    raise InputError(
        f"`wrong` contains {shown(map(repr, distinct.tolist()), 4)}; expected True or False for each row. Compare it "
        f"with a value, as in wrong == {example!r}."
    )
