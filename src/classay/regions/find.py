"""`find_regions`: where in a table an outcome is higher than elsewhere, as conditions on one to three columns.

A region is a box: a range or a few categories of each of its columns. The rows are split in two parts at random. Boxes
are searched on the first part: all of one column and of two, and in the best of these a third column (a beam search).
The best of them, refined and without repetitions, are tested on the second part, which the search has not seen. So
p-values are valid however many boxes were searched, and only the false-discovery rate over the few that were tested
needs correction.

Where the outcome has nothing to do with the columns, a region is reported in at most a share q of tables. Given the
columns, the rows searched and their outcome, and the number of errors among the others, each choice of that many of
the others is equally likely, because wrong and right rows are split separately and at random. Bins and sizes of boxes
depend on columns alone; boxes, their edges and their order on the rows searched too. So each p-value of Fisher's exact
test is valid: P(p ≤ x) ≤ x. A region is reported only if the k-th box has p ≤ q·w_k for some k, with weights Σ w_k = 1
that do not depend on the rows tested; by the union bound that has a probability of at most q, however the boxes
overlap. Beside true regions, the rate is that of Benjamini and Hochberg's procedure with weights, which is proven for
independent and positively dependent tests and measured in `tests/long`. With groups or repeated outcomes, p-values are
approximate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .. import expect, seeds
from ..arrays import Floats, Mask
from .boxes import BinnedRows, Box, CodeRange, ScoredBox, best_of_column, best_of_pair, selections_of
from .columns import Column, bin_column, checked_columns
from .outcome import Outcome
from .region import STANDS, AcceptedRegions, Region, TestedBox, conditions_of, rank_regions, tested_boxes

TESTED_COLUMNS = ("condition", "size", "rate", "rest_rate", "p_value", "q_value", "verdict")


@dataclass(frozen=True)
class SearchOptions:
    """Checked search options: columns, their number in a region, its minimum rows, rates and seed."""

    names: tuple[str, ...]
    max_features: int
    min_size: int
    q: float
    top: int
    level: float
    seed: int


@dataclass(frozen=True)
class FoundRegions:
    """The result of `find_regions`: regions by rank, their rows, all that was tested, and notes."""

    regions: tuple[Region, ...]
    masks: tuple[Mask, ...]
    tested: pd.DataFrame
    n_searched: int
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def search_options(
    frame: pd.DataFrame,
    without: str | None = None,
    columns: Iterable[str] | None = None,
    max_features: int = 3,
    min_size: int | None = None,
    q: float = 0.05,
    top: int = 10,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> SearchOptions:
    """The options of a search, checked against the table. `without` is a column not to search."""
    return SearchOptions(
        names=tuple(checked_columns(frame, columns, without)),
        max_features=expect.one_of(max_features, "max_features", (1, 2, 3)),
        min_size=_min_size(len(frame), min_size),
        q=expect.fraction(q, "q"),
        top=expect.whole(top, "top", at_least=1),
        level=expect.fraction(level, "level"),
        seed=seeds.settle(random_state),
    )


def find_regions(
    frame: pd.DataFrame, options: SearchOptions, searched: Outcome, tested: Outcome, purpose: str
) -> FoundRegions:
    """Search one part of the rows for where `searched` is high, and test on the others where `tested` is.

    Both are outcomes of all rows of the table, and may be the same. If something besides rows is random (such as
    refits), they should come from different draws of that too. `purpose` names the stream of random numbers.
    """
    notes: list[str] = []
    columns = _columns(frame, options, notes)
    first_rows, second_rows = searched.split(seeds.generator(options.seed, purpose))
    first, second = BinnedRows(columns, searched, first_rows), BinnedRows(columns, tested, second_rows)
    regions: tuple[Region, ...] = ()
    masks: tuple[Mask, ...] = ()
    tests: list[TestedBox] = []
    n_searched = 0
    if first.outcome.total > 0:
        least = [math.ceil(options.min_size * share) for share in (searched.searched, 1 - searched.searched)]
        boxes, n_searched, n_paired = candidate_boxes(first, least[0], options.max_features)
        if 1 < n_paired < len(columns):
            notes.append(
                f"Pairs were searched among {n_paired} of {len(columns)} columns, those with the strongest effect "
                "alone. Pass others in `columns`."
            )
        tests = tested_boxes(boxes, second, least[1], options.q, options.level)
        significant = [test for test in tests if test.verdict == STANDS]
        regions, masks = rank_regions(significant, columns, tested, second)
        if len(regions) > options.top:
            notes.append(f"{len(regions) - options.top} more stand out; raise `top` to see them.")
    return FoundRegions(
        regions[: options.top],
        masks[: options.top],
        _table(tests, columns, (first, second)),
        n_searched,
        tuple(column.name for column in columns),
        tuple(notes),
    )


def _min_size(n_rows: int, min_size: int | None) -> int:
    if min_size is None:
        return max(min(20, n_rows // 5), -(-n_rows // 200), 2)
    least = expect.whole(min_size, "min_size", at_least=2)
    if least > n_rows // 2:
        raise expect.InputError(
            f"`min_size` is {least} but the table has {n_rows} rows; a slice and the rest both need that many. "
            "Lower it, or leave it out."
        )
    return least


def _columns(frame: pd.DataFrame, options: SearchOptions, notes: list[str]) -> tuple[Column, ...]:
    """The columns that can be searched, and a note on the others."""
    binned = [bin_column(frame[name], options.min_size) for name in options.names]
    varied = tuple(column for column in binned if column.varies)
    constant = [column.name for column in binned if not column.varies and len(column.values) <= 1]
    scattered = [column.name for column in binned if not column.varies and len(column.values) > 1]
    if not varied:
        raise expect.InputError(
            f"There is nothing to search in {expect.shown(options.names)}: the same value in all rows, or no value "
            f"has {options.min_size} rows. Pass columns that vary."
        )
    if constant:
        notes.append(f"Dropped, because all rows have the same value: {expect.shown(constant)}.")
    if scattered:
        notes.append(f"Dropped, because no value has {options.min_size} rows: {expect.shown(scattered)}.")
    return varied


def _table(tests: list[TestedBox], columns: tuple[Column, ...], parts: tuple[BinnedRows, BinnedRows]) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for test in tests:
        text = " and ".join(condition.text for condition in conditions_of(test.box, columns))
        size = sum(int(np.count_nonzero(part.inside(test.box))) for part in parts)
        rows.append({**vars(test), "condition": text, "size": size, "rate": test.rate.value})
    frame = pd.DataFrame(rows, columns=list(TESTED_COLUMNS))
    return frame.sort_values("p_value", kind="stable", ignore_index=True)


# Candidates: the regions to test, the best of all columns and pairs in the rows searched, without repetitions.


MOST_PAIRED = 30
"""Maximum number of columns whose pairs are searched."""
MOST_TESTED = 20
"""Regions to test. Each additional one makes all others harder to distinguish from chance."""
MOST_EXAMINED = 1000


def candidate_boxes(binned: BinnedRows, min_rows: int, max_features: int) -> tuple[tuple[Box, ...], int, int]:
    """Search all columns, pairs of those with the strongest effect alone, and a third column in the best of the pairs.

    Returns the boxes to test, how many boxes were searched, and how many columns were paired.
    Boxes are ordered by their score, likelihood ratio − Σ 2·log(m·d) over their columns, m the number of selections of
    the column and d the number of columns: the best of this many boxes without any excess gains about that much. d
    counts all columns, since those that are paired were chosen on the same rows. So one column can be compared with
    two, and a column of two categories with one of many ranges.
    """
    selections = [selections_of(binned, place) for place in range(len(binned.columns))]
    alone = [best_of_column(binned, selection, place, min_rows) for place, selection in enumerate(selections)]
    n_searched = sum(len(selection.sides) for selection in selections)
    boxes = [box for best in alone for box in best]
    penalties = [2 * math.log(max(len(selection.sides), 1) * len(selections)) for selection in selections]
    paired: list[int] = []
    if max_features > 1:
        strength = [best[0][0] if best else 0.0 for best in alone]
        paired = sorted(sorted(range(len(selections)), key=lambda place: -strength[place])[:MOST_PAIRED])
        for first, second in combinations(paired, 2):
            least = penalties[first] + penalties[second]
            boxes += best_of_pair(binned, selections, first, second, min_rows, least)
            n_searched += len(selections[first].sides) * len(selections[second].sides)
    scored = sorted(
        ((ratio - _penalty(box, penalties), box) for ratio, box in boxes), key=lambda scored_box: -scored_box[0]
    )
    distinct = _distinct(scored, binned, min_rows, penalties)
    narrower: list[ScoredBox] = []
    for box in (box for box in distinct if len(box) == 2 < max_features):
        others = [place for place in paired if place not in {side.column for side in box}]
        n_searched += sum(len(selections[place].sides) for place in others)
        best = (each for place in others for each in best_of_column(binned, selections[place], place, min_rows, box))
        longer = [(ratio - _penalty(third, penalties), third) for ratio, third in best]
        # Only where the third column gains more than it would by chance: then boxes of two are as without it.
        narrower += [scored_box for scored_box in longer if scored_box[0] > _score(box, binned, penalties)]
    if narrower:
        scored = sorted([*narrower, *scored], key=lambda scored_box: -scored_box[0])
        distinct = _distinct(scored, binned, min_rows, penalties)
    return distinct, n_searched, len(paired)


def _distinct(scored: list[ScoredBox], binned: BinnedRows, min_rows: int, penalties: list[float]) -> tuple[Box, ...]:
    """Take boxes by score, refine their edges, and skip those that add nothing to those already taken."""
    boxes: list[Box] = []
    accepted, clear = AcceptedRegions(binned.outcome), AcceptedRegions(binned.outcome)
    for score, rough in scored[:MOST_EXAMINED]:
        if len(boxes) == MOST_TESTED:
            break
        mask = binned.inside(rough)
        if accepted.compare(mask).alike or not _adds(mask, clear, _penalty(rough, penalties)):
            continue
        box = _simplest(refine_edges(rough, binned, min_rows), binned, min_rows, penalties)
        mask = binned.inside(box)
        if not accepted.compare(mask).alike and _adds(mask, clear, _penalty(box, penalties)):
            boxes.append(box)
            accepted.add(mask)
            # What may itself be chance explains nothing away.
            if score > 0:
                clear.add(mask)
    return tuple(boxes)


def _simplest(box: Box, binned: BinnedRows, min_rows: int, penalties: list[float]) -> Box:
    """The box, or some of its sides alone if they score as well: a side that spans most of a column is not needed."""
    boxes = [box, *(part for many in range(len(box) - 1, 0, -1) for part in combinations(box, many))]
    scores = [_score(candidate, binned, penalties, min_rows) for candidate in boxes]
    best = max(range(len(boxes)), key=lambda place: (scores[place], place))
    return refine_edges(boxes[best], binned, min_rows) if best else box


def _score(box: Box, binned: BinnedRows, penalties: list[float], min_rows: int = 0) -> float:
    mask = binned.inside(box)
    if not min_rows <= np.count_nonzero(mask) <= binned.n - min_rows:
        return -math.inf
    return binned.outcome.likelihood_ratio(mask, np.ones_like(mask)) - _penalty(box, penalties)


def _penalty(box: Box, penalties: list[float]) -> float:
    return sum(penalties[side.column] for side in box)


def _adds(mask: Mask, accepted: AcceptedRegions, penalty: float) -> bool:
    """Whether a region adds more to those already taken than the best of this many would by chance."""
    comparison, ratio = accepted.compare(mask), accepted.outcome.likelihood_ratio
    if comparison.alike or not comparison.overlaps:
        return not comparison.alike
    return max(ratio(*comparison.outside), ratio(*comparison.within)) >= penalty


# Edges of a box, moved from bin bounds to values of the data.


ROUNDS = 3
MOST_GIVEN_UP, SHARE_GIVEN_UP = 3.0, 0.03
"""What tightening an edge may cost of the likelihood ratio: at most this much, and at most this share of it."""
WORTH_TIGHTENING, WORTH_CLOSING = 0.05, 0.1
"""An edge is tightened, or an open end closed, only if that leaves out at least this share of the rows."""


def refine_edges(box: Box, binned: BinnedRows, min_rows: int) -> Box:
    """The box with each inner edge moved to where the likelihood ratio is highest, then tightened.

    Edges are moved in turn, a few times: outwards by up to a bin, inwards as far as the box goes. The highest ratio
    often includes a strip beyond the true edge whose rate is a little high by chance, so each edge is then drawn in to
    the tightest position with nearly that ratio. Open ends stay open unless many rows are left out so: to leave out the
    few rows beyond the last one with the outcome would turn `amount ≥ 1200` into a range of two numbers without any
    gain.
    """
    for tighten in (*(False,) * ROUNDS, True):
        for place, side in enumerate(box):
            if not isinstance(side, CodeRange) or side.high < 0:
                continue
            others = binned.inside(box[:place] + box[place + 1 :])
            side = _move_edge(side, others, binned, min_rows, tighten=tighten, high=False)
            side = _move_edge(side, others, binned, min_rows, tighten=tighten, high=True)
            box = (*box[:place], side, *box[place + 1 :])
    return box


def _move_edge(
    side: CodeRange, others: Mask, binned: BinnedRows, min_rows: int, *, tighten: bool, high: bool
) -> CodeRange:
    tops = binned.columns[side.column].tops
    edge, outermost = (side.high, int(tops[-1])) if high else (side.low, 0)
    is_open = edge == outermost
    if is_open and not tighten:
        return side
    bin_ = int(np.searchsorted(tops, edge))
    if high:
        start, stop = side.low, int(tops[min(bin_ + 1, len(tops) - 1)])
    else:
        start, stop = int(tops[bin_ - 2]) + 1 if bin_ > 1 else 0, side.high
    positions, ratios, sizes = _edge_ratios(side, start, stop, others, binned, min_rows, high=high)
    most = float(ratios.max(initial=0.0))
    if most <= 0:
        return side
    good = np.flatnonzero(ratios >= most - (min(MOST_GIVEN_UP, SHARE_GIVEN_UP * most) if tighten else 0.0))
    best = int(good[0] if high else good[-1])  # the tightest
    if tighten:
        now = np.count_nonzero(others & binned.inside((side,)))
        if sizes[best] > (1 - (WORTH_CLOSING if is_open else WORTH_TIGHTENING)) * now:
            return side
    position = int(positions[best])
    if position == outermost:
        return side
    return replace(side, high=position) if high else replace(side, low=position)


def _edge_ratios(
    side: CodeRange, start: int, stop: int, others: Mask, binned: BinnedRows, min_rows: int, *, high: bool
) -> tuple[NDArray[np.int64], Floats, NDArray[np.int64]]:
    """Codes from `start` to `stop` that rows have, and the likelihood ratio and rows of the box with an edge there."""
    codes = binned.codes[side.column]
    rows = np.flatnonzero(others & (codes >= start) & (codes <= stop))
    fixed = others & ((codes >= side.low) & (codes < start) if high else (codes > stop) & (codes <= side.high))
    places = codes[rows] - start
    sizes = np.bincount(places, minlength=stop - start + 1)
    sums = binned.outcome.sums(places, stop - start + 1, rows)
    # Between two codes that rows have, the counts are the same.
    taken = np.flatnonzero(sizes)
    sizes, sums = sizes[taken], sums[taken]
    along = slice(None) if high else slice(None, None, -1)
    sizes = sizes[along].cumsum()[along] + np.count_nonzero(fixed)
    sums = sums[along].cumsum()[along] + binned.outcome.total_in(fixed)
    ratios = binned.outcome.ratio_from_counts(sizes, sums)
    ratios[(sizes < min_rows) | (binned.n - sizes < min_rows)] = 0.0
    return taken + start, ratios, sizes
