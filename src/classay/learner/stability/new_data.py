"""Stability of data like these: how far the figure of one data set may be from that of the process behind it.

Halves of the same rows are compared again and again, so what these rows have in common never averages out: the interval
over splits is about these rows. Agreement a(S, T) of refits on two samples is, to first order, a sum over rows: g1 of a
row that is in one of the samples, g2 of one that is in both. Two independent samples share no row, so over data sets
the variance of the mean over all halvings is n·Var(g1), plus that of interactions. Refits of different splits share
rows, and two contrasts of them are sums over rows, with signs, of either part:

    a(S, S') + a(T, T') − a(S, T') − a(T, S'), S | T and S' | T' two splits: g1 − g2/2, W = mean square / 4
    q(S) − q(T), q the mean agreement with refits of the other splits: g2/2, V = mean square / 2

so n·Var(g1) is about W + 2V. Both contain interactions of rows in full, of which the mean over halvings keeps at most
half, and where refits vary most that is nearly all of them: half of W + 2V is added to the variance over splits and
points. By simulation over data sets this is wide enough (see the documentation); it is chosen, not derived.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...intervals import Estimate, share_around
from ..records.base import Refits

MOST_SPLITS = 50
"""Splits of which all pairs are compared: more add little, and cost grows with their square."""
KIND = "of data like these, over data sets and points"
Same = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.bool_]]


def for_new_data(record: Refits, these: Estimate, standard_error: float, answers: NDArray[Any], same: Same) -> Estimate:
    """Stability with an interval for other data sets of the same source and size, from that of these rows.

    That of fresh samples is for other data already. It is withheld if subsets overlap, or halves were dealt by class:
    such refits are not those of two samples.
    """
    if record.fresh:
        return these
    withheld = _withheld(record)
    if withheld or len(answers) < 4:
        return Estimate(np.nan, 0.0, 1.0, these.level, f"unknown: {withheld or 'one pair of subsets'}")
    added = row_variance(agreements(answers[: 2 * MOST_SPLITS], same))
    error = float(np.sqrt(standard_error**2 + added))
    if error == 0:
        return replace(these, kind=KIND)
    return share_around(these.value, error, these.level, KIND, len(answers) // 2)


def _withheld(record: Refits) -> str:
    if not record.halves:
        return "subsets of the same rows overlap, so refits agree more than those of two samples; record HalfSplits"
    return "halves were dealt by class, which two samples are not" if record.by_class else ""


def agreements(answers: NDArray[Any], same: Same) -> Floats:
    """(K, K): the agreement of every two subsets, over all pairs of their refits, and points."""
    subsets, refits, _ = answers.shape
    table = np.ones((subsets, subsets))
    for one in range(subsets - 1):
        others = answers[one + 1 :]
        shares = [same(others, np.roll(answers[one], shift, axis=0)).mean(axis=(1, 2)) for shift in range(refits)]
        table[one, one + 1 :] = table[one + 1 :, one] = np.mean(shares, axis=0)
    return table


def row_variance(table: Floats) -> float:
    """Half of W + 2V, from the agreements of the two halves of every split with those of every other split.

    >>> row_variance(np.ones((8, 8)))
    0.0
    """
    ss, st, ts, tt = table[::2, ::2], table[::2, 1::2], table[1::2, ::2], table[1::2, 1::2]
    number = len(ss)
    apart = ~np.eye(number, dtype=bool)
    crossed = float(((ss + tt - st - ts)[apart] ** 2).mean()) / 4
    means = [np.where(apart, own + other, 0).sum(axis=1) / (2 * (number - 1)) for own, other in ((ss, st), (ts, tt))]
    between = float(((means[0] - means[1]) ** 2).mean()) / 2
    return crossed / 2 + between
