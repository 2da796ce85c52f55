"""Moving the edges of a box from the bounds of bins to the data's own values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .boxes import Box, Floats, Half, Mask, Stretch

SWEEPS = 2


def refined(box: Box, half: Half, least: int) -> Box:
    """The box with each inner edge moved, by up to a bin, to where the likelihood ratio is highest.

    Edges are moved in turn, twice. Open ends stay open: to leave out the few rows beyond the last that has the outcome
    would make «amount ≥ 1200» two numbers long and tell nothing.
    """
    for _ in range(SWEEPS):
        before = box
        for place, part in enumerate(box):
            if not isinstance(part, Stretch) or part.high < 0:
                continue
            others = half.inside(box[:place] + box[place + 1 :])
            part = _low_moved(part, others, half, least)
            part = _high_moved(part, others, half, least)
            box = (*box[:place], part, *box[place + 1 :])
        if box == before:
            break
    return box


def _low_moved(part: Stretch, others: Mask, half: Half, least: int) -> Stretch:
    if part.low == 0:
        return part
    tops = half.columns[part.column].tops
    bin_ = int(np.searchsorted(tops, part.low))
    start = int(tops[bin_ - 2]) + 1 if bin_ > 1 else 0
    stop = min(int(tops[bin_]), part.high)
    gained = _ratios(part, start, stop, others, half, least)
    # Places without a row give the same counts; the last of them is a value that is there.
    best = start + len(gained) - 1 - int(np.argmax(gained[::-1]))
    return replace(part, low=best) if gained.max() > 0 and best > 0 else part


def _high_moved(part: Stretch, others: Mask, half: Half, least: int) -> Stretch:
    tops = half.columns[part.column].tops
    if part.high == tops[-1]:
        return part
    bin_ = int(np.searchsorted(tops, part.high))
    start = max(int(tops[bin_ - 1]) + 1 if bin_ else 0, part.low)
    stop = int(tops[min(bin_ + 1, len(tops) - 1)])
    gained = _ratios(part, start, stop, others, half, least, high=True)
    best = start + int(np.argmax(gained))
    return replace(part, high=best) if gained.max() > 0 and best < tops[-1] else part


def _ratios(
    part: Stretch, start: int, stop: int, others: Mask, half: Half, least: int, *, high: bool = False
) -> Floats:
    """Likelihood ratio of the box with its low (or high) edge at each of the codes `start` to `stop`."""
    codes = half.codes[part.column]
    rows = np.flatnonzero(others & (codes >= start) & (codes <= stop))
    always = others & ((codes >= part.low) & (codes < start) if high else (codes > stop) & (codes <= part.high))
    places = codes[rows] - start
    sizes = np.bincount(places, minlength=stop - start + 1)
    sums = half.outcome.sums(places, stop - start + 1, rows)
    along = slice(None) if high else slice(None, None, -1)
    sizes = sizes[along].cumsum()[along] + np.count_nonzero(always)
    sums = sums[along].cumsum()[along] + half.outcome.of(always)
    gained = half.outcome.ratio(sizes, sums)
    gained[(sizes < least) | (half.n - sizes < least)] = 0.0
    return gained
