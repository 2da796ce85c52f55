"""Measures again with some classes left out: how much a figure depends on which classes were drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..expect import InputError, fraction, whole
from .evidence import Evidence
from .ranks import Ranks

Floats = NDArray[np.float64]
Figure = TypeVar("Figure", float, Floats)


def leave_out(ranks: Ranks, ties: str = "random", statistics: bool = True) -> Iterator[Evidence]:
    """What is told without the classes of one group, for each of the G groups in turn; see `Ranks.among`."""
    for group in range(ranks.n_groups):
        kept = np.ones(ranks.n_groups, dtype=bool)
        kept[group] = False
        yield ranks.among(kept, ties, statistics)


def standard_error(
    ranks: Ranks, figure: Callable[[Evidence], Figure], ties: str = "random", statistics: bool = True
) -> Figure:
    """Standard error of a figure over the draw of classes: the delete-a-group jackknife.

    se² = 1/G · Σ_g (K/m_g − 1)·(θ_g − θ̄)², where θ_g is the figure without the m_g classes of group g and θ̄ their mean
    with weights K − m_g: exact for a mean over classes, whatever the sizes of the groups (Busing, Meijer & van der
    Leeden, 1999), and (G−1)/G·Σ(θ_g − θ̄)² where they are equal. NaN where a figure is NaN without some group.
    """
    values = np.array([figure(evidence) for evidence in leave_out(ranks, ties, statistics)], dtype=float)
    return jackknife_error(values, np.bincount(ranks.group))  # type: ignore[return-value]  # an array or a float


def jackknife_error(values: Floats, sizes: NDArray[np.integer]) -> Floats | float:
    """The standard error from figures without each group, (G,) or (G, …), and the sizes of the groups."""
    error = np.sqrt(contributions(values, sizes).mean(axis=0))
    return float(error) if values.ndim == 1 else error


def contributions(values: Floats, sizes: NDArray[np.integer]) -> Floats:
    """What each group tells of the squared standard error, which is their mean."""
    n_classes, wide = sizes.sum(), (slice(None),) + (None,) * (values.ndim - 1)
    left = (n_classes - sizes)[wide]
    mean = (left * values).sum(axis=0) / left.sum()
    parts: Floats = (n_classes / sizes - 1)[wide] * (values - mean) ** 2
    return parts


def halves(ranks: Ranks, ties: str = "random", n: int = 10, seed: int = 0, share: float = 0.5) -> Iterator[Evidence]:
    """What is told by a random `share` of the groups, `n` times."""
    size = round(fraction(share, "share") * ranks.n_groups)
    if size < 2:
        raise InputError(
            f"A share of {share:g} of {ranks.n_classes} classes is {size}; at least 2 are needed. Use more classes or "
            "a larger share."
        )
    for draw in range(whole(n, "n", at_least=1)):
        chosen = seeds.generator(seed, "some classes", draw).choice(ranks.n_groups, size, replace=False)
        kept = np.zeros(ranks.n_groups, dtype=bool)
        kept[chosen] = True
        yield ranks.among(kept, ties)
