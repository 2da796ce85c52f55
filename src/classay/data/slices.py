"""`slices`: where a classifier's errors gather, as conditions on one or two columns of a table.

A slice is a region of the table in which the outcome is an error; how they are found, `regions.find` says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect
from ..intervals import Estimate, of_proportion
from ..regions.find import checked_search, find
from ..regions.outcome import Happens
from ..regions.region import RowsOfRegions
from ..regions.table import checked_table
from ..result import Result
from .slice import FRAME, Slice
from .wrong import checked_wrong

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Slices(RowsOfRegions, Result):
    """What `slices` finds: `slices` by rank, each with q ≤ `q` and none that only repeats another.

    `tested` has a row for each slice that was tested, with its p- and q-value and what became of it. `error_rate` is
    that of all rows. `n_searched` boxes were searched to find those. `notes` says what was left out.
    """

    slices: tuple[Slice, ...]
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
    masks: InitVar[tuple[Mask, ...]]

    CALLED = "slices"

    def to_frame(self) -> pd.DataFrame:
        """One row a slice, by rank: its condition on one `feature`, or two (`other_…`), and its figures.

        `low` and `high` are the ends of a range, missing where it is open; `values` says which categories.
        """
        return pd.DataFrame([each.as_row() for each in self.slices], columns=list(FRAME))

    def __str__(self) -> str:
        tests = f"{len(self.tested)} slices were tested" if len(self.tested) != 1 else "1 slice was tested"
        if not self.n_errors:
            text = f"Nothing to find: none of {self.n_rows} rows is wrong."
        elif not self.slices:
            text = (
                f"No slice stands out at a false-discovery rate of {self.q:.3g}: {tests}, of {self.n_rows} rows with "
                f"{self.n_errors} errors."
            )
        else:
            told = "; ".join(str(each) for each in self.slices[:3])
            more = f"; {len(self.slices) - 3} more" if len(self.slices) > 3 else ""
            text = (
                f"Errors concentrate where {told}{more}. Of all {self.n_rows} rows {self.error_rate.value:.3g} are "
                f"wrong. {tests} on rows that were not searched, at a false-discovery rate of {self.q:.3g}."
            )
        return " ".join([text, *self.notes])


def slices(
    table: pd.DataFrame,
    wrong: Any,
    *,
    columns: Iterable[str] | None = None,
    max_features: int = 2,
    min_size: int | None = None,
    q: float = 0.05,
    top: int = 10,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Slices:
    """Tell where errors gather: ranges or categories of one column, or of two, with a rate above that of the rest.

    Boxes are ranked on one half of the rows by the likelihood ratio of their error rate against the rest's, less
    what the best of so many would gain by chance. On the other half, p = P(at least so many errors in the slice | its
    size, rows, errors): Fisher's exact test. Benjamini–Hochberg over the slices tested gives q-values.

    Error rates run from 0 to 1; lift 1: as everywhere, higher is worse. Rank 1 has the most excess errors.

    It misleads where rows are not independent: repeated rows, or many rows of one customer, are in both halves, and
    chance then looks like a finding. Keep one row of each. Half of the rows search and half test, so a slice needs
    about twice the errors that a slice named beforehand would. Halves are not swapped: a slice would still be tested on
    half of the rows, and q would have to be halved for each. A column that knows the answer (the true label beside the
    predicted one) gives slices that are true and useless: leave it out with `columns`.

    Parameters
    ----------
    table : any rows with numbers, categories, truth values or dates; missing is a value of its own
    wrong : True where the classifier erred: an array, a Series, or the name of a column
    columns : names of columns to search; default all (except `wrong`)
    max_features : 1 for single columns only, 2 for pairs too
    min_size : fewest rows of a slice; default 0.5 % of the rows, at least 20 (fewer in small tables)
    q : the false-discovery rate, the share of slices reported that may be chance
    top : most slices to report
    level : of the intervals
    random_state : seed of the split into halves

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"age": rng.integers(18, 80, 4000), "job": rng.choice(["student", "clerk"], 4000)})
    >>> wrong = rng.random(4000) < np.where(table.age.between(30, 45) & (table.job == "student"), 0.5, 0.1)
    >>> slices(table, wrong).slices[0].condition
    'age 30–45 and job = student'

    References
    ----------
    Ackerman, Raz & Zalmanovici, FreaAI: Automated Extraction of Data Slices to Test Machine Learning Models (2020).

    """
    frame = checked_table(table)
    mask, named = checked_wrong(frame, wrong)
    search = checked_search(frame, named, columns, max_features, min_size, q, top, level, random_state)
    n_errors = int(mask.sum())
    if n_errors == len(mask):
        raise expect.InputError(
            f"`wrong` is True in all {len(mask)} rows, so no slice can have more errors than another. Is it the right "
            "way round?"
        )
    errors = Happens(mask)
    found = find(frame, search, errors, errors, "slices")
    return Slices(
        slices=tuple(Slice.of(region) for region in found.regions),
        tested=found.tested.rename(columns={"rate": "error_rate"}),
        error_rate=of_proportion(n_errors, len(mask), search.level),
        n_rows=len(mask),
        n_errors=n_errors,
        n_searched=found.n_searched,
        min_size=search.least,
        q=search.q,
        columns=found.columns,
        seed=search.seed,
        notes=found.notes,
        masks=found.masks,
    )
