"""`slices`: where a classifier's errors gather, as conditions on one or two columns of a table.

A slice is a box: a range or a few categories of one column, or of each of two. The rows are split in two halves at
random. All boxes are searched on the first half; the best of them, refined and without repetitions, are tested on the
second, which the search has not seen. So a p-value is exact however many boxes were searched, and a false-discovery
rate over the few that were tested is all that is left to correct.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect, seeds
from ..intervals import Estimate, of_proportion
from ..result import Result
from .boxes import Half
from .candidates import candidates
from .columns import Column, column
from .held_out import STANDS, Verdict, judged
from .slice import FRAME, Slice, conditions_of, ranked
from .wrong import checked_columns, checked_table, checked_wrong

Mask = NDArray[np.bool_]
TESTED = ("condition", "size", "error_rate", "rest_rate", "p_value", "q_value", "verdict")


@dataclass(frozen=True)
class Slices(Result):
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

    def __post_init__(self, masks: tuple[Mask, ...]) -> None:
        # Not a field: a truth value for every row and slice does not belong into to_dict().
        object.__setattr__(self, "_masks", masks)

    def rows(self, i: int) -> Mask:
        """Which rows of the table are in `slices[i]`."""
        masks: tuple[Mask, ...] = self._masks  # type: ignore[attr-defined]
        if not isinstance(i, (int, np.integer)) or not 0 <= i < len(masks):
            raise expect.InputError(f"`i` is {i!r}; there are {len(masks)} slices, counted from 0.")
        return masks[i].copy()

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
    names = checked_columns(frame, columns, named)
    expect.one_of(max_features, "max_features", (1, 2))
    expect.fraction(q, "q")
    expect.fraction(level, "level")
    expect.whole(top, "top", at_least=1)
    least = _least(len(frame), min_size)
    seed = seeds.settle(random_state)
    n_errors = int(mask.sum())
    if n_errors == len(mask):
        raise expect.InputError(
            f"`wrong` is True in all {len(mask)} rows, so no slice can have more errors than another. Is it the right "
            "way round?"
        )
    notes: list[str] = []
    searched = _columns(frame, names, least, notes)
    found: tuple[Slice, ...] = ()
    masks: tuple[Mask, ...] = ()
    verdicts: list[Verdict] = []
    halves, n_searched = _halves(searched, mask, seed), 0
    if n_errors:
        best = candidates(halves[0], -(-least // 2), max_features)
        n_searched = best.n_searched
        if 1 < best.n_paired < len(searched):
            notes.append(
                f"Pairs were searched among {best.n_paired} of {len(searched)} columns, those that tell most by "
                "themselves. Name others in `columns`."
            )
        verdicts = judged(best.boxes, halves[1], -(-least // 2), q)
        found, masks = ranked([each for each in verdicts if each.verdict == STANDS], searched, mask, halves[1], level)
        if len(found) > top:
            notes.append(f"{len(found) - top} more stand out; raise `top` to see them.")
    return Slices(
        slices=found[:top],
        tested=_table(verdicts, searched, halves),
        error_rate=of_proportion(n_errors, len(mask), level),
        n_rows=len(mask),
        n_errors=n_errors,
        n_searched=n_searched,
        min_size=least,
        q=q,
        columns=tuple(each.name for each in searched),
        seed=seed,
        notes=tuple(notes),
        masks=masks[:top],
    )


def _least(n_rows: int, min_size: int | None) -> int:
    if min_size is None:
        return max(min(20, n_rows // 5), -(-n_rows // 200), 2)
    least = expect.whole(min_size, "min_size", at_least=2)
    if least > n_rows // 2:
        raise expect.InputError(
            f"`min_size` is {least} and the table has {n_rows} rows; a slice and the rest both need that many. "
            "Lower it, or leave it out."
        )
    return least


def _columns(frame: pd.DataFrame, names: list[str], least: int, notes: list[str]) -> tuple[Column, ...]:
    """The columns that can be searched, and a note on the others."""
    seen = [column(frame[name], least) for name in names]
    varied = tuple(each for each in seen if each.varies)
    constant = [each.name for each in seen if not each.varies and len(each.values) <= 1]
    scattered = [each.name for each in seen if not each.varies and len(each.values) > 1]
    if not varied:
        raise expect.InputError(
            f"There is nothing to search: {expect.shown(names)} have the same value in all rows, or none that "
            f"{least} rows share. Pass columns that vary."
        )
    if constant:
        notes.append(f"Left out, as all rows have the same value: {expect.shown(constant)}.")
    if scattered:
        notes.append(f"Left out, as no value has {least} rows: {expect.shown(scattered)}.")
    return varied


def _halves(columns: tuple[Column, ...], wrong: Mask, seed: int) -> tuple[Half, Half]:
    """Half of the errors and half of the right answers, at random, to search; the others to test."""
    generator = seeds.generator(seed, "slices")
    both = [generator.permutation(np.flatnonzero(wrong == value)) for value in (True, False)]
    first, second = (
        np.sort(np.concatenate([rows[: len(rows) // 2] if early else rows[len(rows) // 2 :] for rows in both]))
        for early in (True, False)
    )
    return Half(columns, wrong, first), Half(columns, wrong, second)


def _table(verdicts: list[Verdict], columns: tuple[Column, ...], halves: tuple[Half, Half]) -> pd.DataFrame:
    half = halves[1]
    rows = [
        {
            "condition": " and ".join(condition.text for condition in conditions_of(each.box, columns)),
            "size": sum(int(np.count_nonzero(some.inside(each.box))) for some in halves),
            "error_rate": each.errors / each.size,
            "rest_rate": (half.errors - each.errors) / (half.n - each.size),
            "p_value": each.p_value,
            "q_value": each.q_value,
            "verdict": each.verdict,
        }
        for each in verdicts
    ]
    frame = pd.DataFrame(rows, columns=list(TESTED))
    return frame.sort_values("p_value", kind="stable", ignore_index=True)
