"""`find`: where in a table an outcome is higher than elsewhere, as conditions on one or two columns.

A region is a box: a range or a few categories of one column, or of each of two. The rows are split in two halves at
random. All boxes are searched on the first half; the best of them, refined and without repetitions, are tested on the
second, which the search has not seen. So a p-value is what it says however many boxes were searched, and a
false-discovery rate over the few that were tested is all that is left to correct.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect, seeds
from .boxes import Half
from .candidates import candidates
from .columns import Column, column
from .held_out import STANDS, Verdict, judged
from .outcome import Outcome
from .region import Region, conditions_of, ranked
from .table import checked_columns

Mask = NDArray[np.bool_]
TESTED = ("condition", "size", "rate", "rest_rate", "p_value", "q_value", "verdict")


@dataclass(frozen=True)
class Search:
    """How to search, checked: columns, their number in a region, its least rows, rates and seed."""

    names: tuple[str, ...]
    max_features: int
    least: int
    q: float
    top: int
    level: float
    seed: int


@dataclass(frozen=True)
class Found:
    """What `find` found: regions by rank, their rows, all that was tested, and what has to be said."""

    regions: tuple[Region, ...]
    masks: tuple[Mask, ...]
    tested: pd.DataFrame
    n_searched: int
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def checked_search(
    frame: pd.DataFrame,
    without: str | None,
    columns: Iterable[str] | None,
    max_features: int,
    min_size: int | None,
    q: float,
    top: int,
    level: float,
    random_state: int | np.random.Generator | None,
) -> Search:
    """The options of a search, if they can be met by this table. `without` is a column not to search."""
    return Search(
        names=tuple(checked_columns(frame, columns, without)),
        max_features=expect.one_of(max_features, "max_features", (1, 2)),
        least=_least(len(frame), min_size),
        q=expect.fraction(q, "q"),
        top=expect.whole(top, "top", at_least=1),
        level=expect.fraction(level, "level"),
        seed=seeds.settle(random_state),
    )


def find(frame: pd.DataFrame, search: Search, searched: Outcome, tested: Outcome, purpose: str) -> Found:
    """Search one half of the rows for where `searched` is high, and test on the other half where `tested` is.

    Both are outcomes of all rows of the table, and may be the same. If rows are not all that is random (refits are
    too), they should come from different draws of that as well. `purpose` names the stream of random numbers.
    """
    notes: list[str] = []
    columns = _columns(frame, search, notes)
    early, late = searched.halves(seeds.generator(search.seed, purpose))
    first, second = Half(columns, searched, early), Half(columns, tested, late)
    regions: tuple[Region, ...] = ()
    masks: tuple[Mask, ...] = ()
    verdicts: list[Verdict] = []
    n_searched = 0
    if first.outcome.total > 0:
        best = candidates(first, -(-search.least // 2), search.max_features)
        n_searched = best.n_searched
        if 1 < best.n_paired < len(columns):
            notes.append(
                f"Pairs were searched among {best.n_paired} of {len(columns)} columns, those that tell most by "
                "themselves. Name others in `columns`."
            )
        verdicts = judged(best.boxes, second, -(-search.least // 2), search.q, search.level)
        standing = [each for each in verdicts if each.verdict == STANDS]
        regions, masks = ranked(standing, columns, tested, second)
        if len(regions) > search.top:
            notes.append(f"{len(regions) - search.top} more stand out; raise `top` to see them.")
    return Found(
        regions[: search.top],
        masks[: search.top],
        _table(verdicts, columns, (first, second)),
        n_searched,
        tuple(each.name for each in columns),
        tuple(notes),
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


def _columns(frame: pd.DataFrame, search: Search, notes: list[str]) -> tuple[Column, ...]:
    """The columns that can be searched, and a note on the others."""
    seen = [column(frame[name], search.least) for name in search.names]
    varied = tuple(each for each in seen if each.varies)
    constant = [each.name for each in seen if not each.varies and len(each.values) <= 1]
    scattered = [each.name for each in seen if not each.varies and len(each.values) > 1]
    if not varied:
        raise expect.InputError(
            f"There is nothing to search: {expect.shown(search.names)} have the same value in all rows, or none that "
            f"{search.least} rows share. Pass columns that vary."
        )
    if constant:
        notes.append(f"Left out, as all rows have the same value: {expect.shown(constant)}.")
    if scattered:
        notes.append(f"Left out, as no value has {search.least} rows: {expect.shown(scattered)}.")
    return varied


def _table(verdicts: list[Verdict], columns: tuple[Column, ...], halves: tuple[Half, Half]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {
            "condition": " and ".join(condition.text for condition in conditions_of(each.box, columns)),
            "size": sum(int(np.count_nonzero(some.inside(each.box))) for some in halves),
            "rate": each.rate.value,
            "rest_rate": each.rest_rate,
            "p_value": each.p_value,
            "q_value": each.q_value,
            "verdict": each.verdict,
        }
        for each in verdicts
    ]
    frame = pd.DataFrame(rows, columns=list(TESTED))
    return frame.sort_values("p_value", kind="stable", ignore_index=True)
