"""Definition 1 of the paper, class by class: is there a feature for which the head is well trained?

A head with rows W_i is well trained if every class l has a feature v with

- condition 2: exp(W_l·v) much larger than exp(W_i·v) for all other i, here at least a hundred times;
- condition 3: exp(W_i·v) ≤ 1, so W_i·v ≤ 0, for all other i.

Condition 2 is enough for a correct prediction; condition 3 is stronger, and leads the paper to rows at right angles and
features parallel to their row, cos(W_l, v) near 1. The features tried are those of prototypes. Biases do not enter.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..cosines import unit
from ..prototypes.record import Prototypes

MUCH_LARGER = 100.0
BLOCK = 4096


def definition_1(record: Prototypes, targets: NDArray[np.integer]) -> pd.DataFrame:
    """One row per class walked to, in order of `targets`.

    `margin`: the largest W_l·v − max W_i·v over its prototypes; `largest_other`: max W_i·v at the prototype where it is
    smallest among those that meet condition 2, or among all if none does; `condition_2`, `condition_3`: whether one
    prototype meets it, the latter together with condition 2; `row_cosine`: cos(W_l, v) of the mean feature.
    """
    weight = record.weight.astype(float)
    margin = np.full(len(targets), -math.inf)
    smallest = np.full((2, len(targets)), math.inf)  # without and with condition 2
    sums = np.zeros((len(targets), weight.shape[1]))
    places = np.searchsorted(targets, record.target)
    for first in range(0, len(record), BLOCK):
        rows = slice(first, first + BLOCK)
        features, place, own = record.features[rows].astype(float), places[rows], record.target[rows]
        scores = features @ weight.T
        mine = scores[np.arange(len(own)), own]
        scores[np.arange(len(own)), own] = -math.inf
        largest = scores.max(axis=1)
        np.maximum.at(margin, place, mine - largest)
        np.minimum.at(smallest[0], place, largest)
        meets = mine - largest >= math.log(MUCH_LARGER)
        np.minimum.at(smallest[1], place[meets], largest[meets])
        np.add.at(sums, place, features)
    condition_2 = margin >= math.log(MUCH_LARGER)
    return pd.DataFrame(
        {
            "margin": margin,
            "largest_other": np.where(condition_2, smallest[1], smallest[0]),
            "condition_2": condition_2,
            "condition_3": condition_2 & (smallest[1] <= 0),
            "row_cosine": (unit(sums) * unit(weight[targets])).sum(axis=1),
        }
    )
