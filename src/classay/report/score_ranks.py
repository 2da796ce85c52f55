"""How well scores rank rows (AUC), row by row, so that two learners can be compared on the same rows.

Accuracy cannot separate learners where predictions are nearly constant, as of a rare class. Ranking can.
"""

from __future__ import annotations

import numpy as np

from ..arrays import AnyInts, Floats, Ints, Mask
from ..auc import auc
from .run.folds import HeldOut

EVENTS = 20
"""Fewest rows of a class, or errors, from which anything is concluded."""
CONSTANT = 0.9
"""From this share of predictions of one class on, predictions are nearly constant, and show little of what it knows."""


def nearly_constant(labels: AnyInts) -> bool:
    """Whether nearly all predictions are of one class.

    >>> nearly_constant(np.array([0] * 95 + [1] * 5)), nearly_constant(np.array([0, 1] * 50))
    (True, False)
    """
    known = labels[labels >= 0]
    return bool(known.size and np.bincount(known).max() >= CONSTANT * known.size)


def placements(scores: Floats, positive: Mask) -> Floats:
    """A value for every row, of which the mean is the AUC, and the standard error that of DeLong et al. (1988).

    For a positive row, the share of negative ones with a lower score, ties by half, and the other way round; the
    deviation from the AUC is divided by the share of rows of the same kind.

    >>> float(placements(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])).mean())
    0.75
    """
    return auc(scores, positive).by_row


def ranks_by_row(held: HeldOut, codes: Ints) -> Floats | None:
    """Placements of all classes with enough rows, on average, each against the others; None without scores or rows."""
    by_class = [ranks_of_class(held, codes, code) for code in classes_with_rows(codes[held.tested])]
    known = [each for each in by_class if each is not None]
    if not known:
        return None
    # Of two classes, each ranks as the other does.
    return known[0] if codes.max() == 1 else np.mean(known, axis=0)


def ranks_of_class(held: HeldOut, codes: Ints, code: int) -> Floats | None:
    """Placements of one class against the others."""
    table = held.probabilities if held.probabilities is not None else held.scores
    positive = codes[held.tested] == code
    if table is None or min(positive.sum(), (~positive).sum()) < EVENTS:
        return None
    score = table[:, code]
    return None if np.isnan(score).any() else placements(score, positive)


def classes_with_rows(codes: Ints) -> list[int]:
    """The classes with enough rows to judge."""
    return [int(code) for code in np.flatnonzero(np.bincount(codes) >= EVENTS)]
