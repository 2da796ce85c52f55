"""`rows_to_label`: which of many unlabelled rows to label, so that few labels rank networks.

Where two networks give the same answer, a label cannot tell them apart. So rows are drawn the more often, the more
pairs of networks disagree on them, and never where all agree. Weights make differences of accuracies unbiased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import expect, seeds
from ...arrays import Floats, Ints
from ...expect import InputError
from ..prototypes.split import Split, split
from .labelled_rows import answers_of, labelled_rows


class RowsToLabel(NamedTuple):
    """Rows to label, sorted; the weight of each; and the share of all rows on which two networks or more disagree."""

    rows: Ints
    weights: Floats
    disagreement: float


def rows_to_label(
    networks: Mapping[str, Any],
    X: Any,
    labels: int,
    input_shape: Sequence[int] | None = None,
    normalize: Any = None,
    random_state: int | np.random.Generator | None = 0,
) -> RowsToLabel:
    """Draw rows to label, to rank networks with few labels.

    A row is drawn without replacement with a probability π in proportion to the root of the number of pairs of networks
    that disagree on it, which makes the summed variance of all differences least, and has the weight 1/(rows · π). So
    Σ weight · (a is right − b is right) is an unbiased estimate of the difference in accuracy on `X` of networks a and
    b. Label the rows and pass them with their weights to `rank_networks`.

    It misleads as a test set: the rows are harder than others, and those where all networks agree are left out. So the
    accuracy itself is not estimated, also if all networks agree on a wrong answer.

    Parameters
    ----------
    networks : name -> network or split
    X : unlabelled rows that the networks were not trained on, as in `network_quality`
    labels : how many rows to draw; fewer if the networks disagree on fewer
    input_shape : shape of one input; None: that of the rows of `X`
    normalize : as in `network_quality`
    random_state : seed of the draw

    Examples
    --------
    >>> from torch import manual_seed, nn, randn
    >>> _ = manual_seed(0)
    >>> nets = {name: nn.Linear(5, 3) for name in "abc"}
    >>> drawn = rows_to_label(nets, randn(200, 5), labels=20)
    >>> len(drawn.rows), bool((drawn.weights > 0).all())
    (20, True)

    References
    ----------
    Kossen, Farquhar, Gal & Rainforth, Active Testing: Sample-Efficient Model Evaluation (2021).

    """
    if not isinstance(networks, Mapping) or len(networks) < 2:
        raise InputError("`networks` must be a dict of at least two networks, name -> network.")
    expect.whole(labels, "labels", at_least=1)
    inputs = labelled_rows(X, np.zeros(len(X), dtype=int)).inputs
    shape = inputs.shape[1:] if input_shape is None else input_shape
    splits = [each if isinstance(each, Split) else split(each, shape) for each in networks.values()]
    answers = np.stack([answers_of(each, inputs, normalize) for each in splits])
    return draw(answers, labels, seeds.generator(seeds.settle(random_state), "rows to label"))


def draw(answers: Ints, labels: int, generator: np.random.Generator) -> RowsToLabel:
    """The same from the answers (networks, rows)."""
    agreeing = sum((np.roll(answers, step, axis=0) == answers).sum(axis=0) for step in range(1, len(answers)))
    sizes = np.sqrt(len(answers) * (len(answers) - 1) - np.asarray(agreeing))
    if not sizes.any():
        raise InputError("All networks give the same answer for every row of `X`, so no label can tell them apart.")
    chance, certain = sizes * (labels / sizes.sum()), np.zeros(sizes.size, dtype=bool)
    while (chance > 1).any():
        certain |= chance >= 1
        free = np.where(certain, 0, sizes)
        chance = np.where(certain, 1, free * max(labels - int(certain.sum()), 0) / max(float(free.sum()), 1e-300))
    order = generator.permutation(np.flatnonzero(chance))
    # Systematic: one random number for all, so that the number of rows is fixed and none is drawn twice.
    ends = np.cumsum(chance[order])
    ticks = generator.random() + np.arange(round(float(ends[-1])))
    rows = np.sort(order[np.searchsorted(ends, ticks).clip(max=len(order) - 1)])
    return RowsToLabel(rows, 1 / (sizes.size * chance[rows]), float((sizes > 0).mean()))
