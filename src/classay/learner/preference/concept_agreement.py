"""`agreement`: how often two given concepts predict the same; exact where the attribute space is small and discrete."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import expect, seeds
from ...intervals import Estimate, exact, of_proportion
from .concepts import DescribedColumns, concept, space_of

MOST_POINTS = 2**20
"""Attribute spaces with more points are sampled."""


def agreement(
    f1: Any,
    f2: Any,
    attributes: Any = None,
    *,
    probes: Any = None,
    n_probes: int = 10_000,
    tolerance: float | None = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> Estimate:
    """Measure how often two concepts predict the same: the probability that f1(a) = f2(a), a drawn from the attributes.

    It runs from 0 to 1, 1 being the same concept wherever attributes lie. Attributes are drawn independently and
    uniformly, so that correlated columns come apart (the paper's definition 2). If every column has listed values, all
    points are enumerated and the figure is exact: for formulas of propositional logic it is 1 if and only if they are
    logically equivalent (theorem 1). Otherwise `n_probes` points are drawn; the interval is Wilson's.

    It misleads if read without the distribution: two concepts that agree on all of your data may agree on half of the
    attribute space. Pass `probes="data"` to compare them on given rows.

    Parameters
    ----------
    f1, f2 : expressions over columns ("a and not b"), functions of rows, or fitted classifiers
    attributes : columns as {"heat": (20, 80), "alloy": ["A", "B"], "wet": "bool"}, rows of data, or a number of columns
        x0, x1, … between 0 and 1, inferred if both concepts are expressions over them
    probes : None for uniform over the attribute space; otherwise as in `record`
    n_probes : points to draw where not all are enumerated
    tolerance : for concepts that return numbers: they count as the same if they differ by at most this. Needed unless
        all of them are whole
    level : confidence level of the interval
    random_state : seed of the points

    Examples
    --------
    >>> letters = {"a": "bool", "b": "bool"}
    >>> agreement("a and b", "not (not a or not b)", letters)
    1 [1, 1]
    >>> agreement("a and b", "a or b", letters).value
    0.5
    >>> agreement("x0 > 0.5", "x1 > 0.5", n_probes=1000).kind
    'of a proportion, over 1000 uniform probes'

    References
    ----------
    Turney, Technical Note: Bias and the Quantification of Stability, Machine Learning 20 (1995), section 2.

    """
    expect.whole(n_probes, "n_probes", at_least=2)
    expect.fraction(level, "level")
    if tolerance is not None and not (isinstance(tolerance, (int, float, np.number)) and 0 <= tolerance < np.inf):
        raise expect.InputError(f"`tolerance` is {tolerance!r}; expected a number from 0 up, or None for classes.")
    space = space_of(attributes, f1, f2)
    first, second = concept(f1, "f1", space), concept(f2, "f2", space)
    grid = space.grid(MOST_POINTS) if isinstance(space, DescribedColumns) and probes is None else None
    kind = "exact, over all points"
    if grid is None:
        drawn = space.probes(probes, n_probes, seeds.settle(random_state))
        grid, kind = drawn.rows, f"of a proportion, over {len(drawn.rows)} {drawn.kind} probes"
    one, other = first(grid), second(grid)
    if (one.dtype.kind == "U") != (other.dtype.kind == "U") or (tolerance is not None and one.dtype.kind == "U"):
        raise expect.InputError(
            f"The concept {first.name!r} returns {one[0].item()!r} and {second.name!r} returns {other[0].item()!r}; "
            f"expected {'numbers in both' if tolerance is not None else 'the same class names in both'}."
        )
    if tolerance is None and any(each.dtype.kind == "f" and (each % 1 != 0).any() for each in (one, other)):
        named, values = (first.name, one) if one.dtype.kind == "f" and (one % 1 != 0).any() else (second.name, other)
        raise expect.InputError(
            f"The concept {named!r} returns numbers such as {values[values % 1 != 0][0].item()!r}, and `tolerance` is "
            "missing: pass how far two numbers may differ and count as the same; 0 for exactly equal ones."
        )
    same = one == other if tolerance is None else np.abs(one.astype(float) - other.astype(float)) <= tolerance
    if kind.startswith("exact"):
        return exact(float(same.mean()), kind, level)
    found = of_proportion(int(same.sum()), same.size, level)
    return Estimate(found.value, found.low, found.high, level, kind)
