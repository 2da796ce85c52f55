"""`kinship`: how near learners are to each other in what they answer, whatever their accuracy.

Each learner has a distribution P_D over the labelings of a holdout. Two learners that put the same mass on the same
labelings are akin, even if they are built differently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from .. import expect
from ..result import Result
from .counts import number_labelings
from .holdouts import draw_holdouts
from .labelings import Labelings

Floats = NDArray[np.float64]
DISTANCES = ("jensen_shannon", "euclidean", "angle")


@dataclass(frozen=True)
class Kinship(Result):
    """Distances between learners' answers, a hierarchy of them, and a map.

    Each distance is a matrix over `names`: `jensen_shannon` (square root of the divergence in bits, 0 to 1),
    `euclidean` (0 to √2), `angle` (degrees, 0 to 90). 0: the same distribution of answers. `floor[distance]` is, for
    each learner, how far two equal learners would seem to be apart by chance alone: a distance not above it says
    nothing. `linkage` is SciPy's average linkage of the Jensen–Shannon distances; `coordinates` a plane in which they
    are kept as well as can be, `kept` the share of their variation that it shows.
    """

    names: tuple[str, ...]
    jensen_shannon: Floats
    euclidean: Floats
    angle: Floats
    floor: dict[str, Floats]
    linkage: Floats
    coordinates: Floats
    kept: float
    n_holdouts: int
    holdout_size: int

    def clusters(self, n: int) -> dict[str, int]:
        """Put the learners into `n` clusters, numbered from 1."""
        wanted = expect.whole(n, "n", at_least=1)
        numbers = hierarchy.fcluster(self.linkage, wanted, "maxclust")
        return {name: int(number) for name, number in zip(self.names, numbers)}

    def to_frame(self) -> pd.DataFrame:
        """One row a pair and distance: learner, other, distance, value, floor (the larger of the two)."""
        rows = []
        for distance in DISTANCES:
            matrix, floor = getattr(self, distance), self.floor[distance]
            for a, b in zip(*np.triu_indices(len(self.names), 1)):
                rows.append(
                    {
                        "learner": self.names[a],
                        "other": self.names[b],
                        "distance": distance,
                        "value": float(matrix[a, b]),
                        "floor": float(np.maximum(floor[a], floor[b])),
                    }
                )
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        pairs = self.to_frame().query("distance == 'jensen_shannon'").sort_values("value")
        near, far = pairs.iloc[0], pairs.iloc[-1]
        text = (
            f"Of {len(self.names)} learners, {near.learner} and {near.other} answer most alike (Jensen–Shannon "
            f"distance {near.value:.2f}; 0 is the same, 1 nothing in common, {near.floor:.2f} chance alone)"
        )
        if len(pairs) > 1:
            text += f", {far.learner} and {far.other} least ({far.value:.2f})"
        return text + "."


def kinship(
    labelings: Mapping[str, Labelings],
    holdout_size: int = 5,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
) -> Kinship:
    """Tell how near learners are to each other in what they answer.

    For every holdout, each learner's labelings over all refits form P_D; distances between those are averaged over
    common holdouts: Jensen–Shannon, Euclidean and the angle between the two vectors.

    0: the same distribution of answers; higher is farther apart. With few refits two equal learners seem apart: `floor`
    says by how much, from halves of each learner's own subsets. The records must be of the same test points: use the
    same data, test_size and random_state.

    Parameters
    ----------
    labelings : name -> record, at least two
    holdout_size, holdouts, random_state : as in `orientation`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(2, size=50)
    >>> a, b = (Labelings.from_arrays(rng.integers(2, size=(20, 50)), truth) for _ in range(2))
    >>> kinship({"a": a, "b": b}).jensen_shannon.shape
    (2, 2)

    References
    ----------
    Bekerman, Chen, Lin & Montañez, Vectorization of Bias in Machine Learning Algorithms (2022).

    """
    names, labels, n_classes = _common(labelings)
    chosen = draw_holdouts(labels[0].shape[-1], holdout_size, holdouts, random_state)
    pooled = [each.reshape(-1, each.shape[-1]) for each in labels]
    owners = [np.full(len(each), place) for place, each in enumerate(pooled)]
    # Halves of the subsets, for the floor: even ones and odd ones, as if they were learners of their own.
    halves = [np.repeat(np.arange(len(each)) % 2, each.shape[1]) for each in labels]
    numbers = number_labelings(np.concatenate(pooled), chosen, n_classes)
    group = np.concatenate([2 * owner + half for owner, half in zip(owners, halves)])

    total = {distance: np.zeros((len(names),) * 2) for distance in DISTANCES}
    split = {distance: np.zeros(len(names)) for distance in DISTANCES}
    for row in numbers:
        _, labeling = np.unique(row, return_inverse=True)
        table = np.zeros((2 * len(names), labeling.max() + 1))
        np.add.at(table, (group, labeling), 1.0)
        whole = table.reshape(len(names), 2, -1).sum(axis=1)
        for distance, matrix in _distances(whole / whole.sum(axis=1, keepdims=True)).items():
            total[distance] += matrix
        for place in range(len(names)):
            two = table[2 * place : 2 * place + 2]
            if (two.sum(axis=1) > 0).all():
                for distance, matrix in _distances(two / two.sum(axis=1, keepdims=True)).items():
                    # Halves have half the subsets, so chance alone sets them √2 times as far apart.
                    split[distance][place] += matrix[0, 1] / math.sqrt(2)
    mean = {distance: matrix / len(chosen) for distance, matrix in total.items()}
    floor = {
        distance: np.where([len(each) > 1 for each in labels], values / len(chosen), np.nan)
        for distance, values in split.items()
    }
    coordinates, kept = _plane(mean["jensen_shannon"])
    return Kinship(
        names=names,
        **mean,
        floor=floor,
        linkage=hierarchy.linkage(squareform(mean["jensen_shannon"], checks=False), "average"),
        coordinates=coordinates,
        kept=kept,
        n_holdouts=len(chosen),
        holdout_size=holdout_size,
    )


def _common(labelings: Any) -> tuple[tuple[str, ...], list[NDArray[np.integer]], int]:
    """Names and labels, if the records are of the same points and classes."""
    if not isinstance(labelings, Mapping) or len(labelings) < 2:
        raise expect.InputError(
            "`labelings` must be a dict of at least two records, name -> Labelings: kinship is between learners."
        )
    records = list(labelings.values())
    first = records[0]
    for name, other in labelings.items():
        if not isinstance(other, Labelings):
            raise expect.InputError(f"`labelings[{name!r}]` is {type(other).__name__}; a record is expected.")
        same = (
            np.array_equal(first.classes, other.classes)
            and np.array_equal(first.truth, other.truth)
            and np.array_equal(first.test_rows, other.test_rows)
        )
        if not same:
            raise expect.InputError(
                f"{name!r} was recorded on other test points or classes than {next(iter(labelings))!r}; kinship "
                "compares answers on the same points. Record both with the same data, test_size and random_state."
            )
    return tuple(map(str, labelings)), [each.complete() for each in records], len(first.classes)


def _distances(shares: Floats) -> dict[str, Floats]:
    """Distances between the rows of a table of distributions."""
    square = shares @ shares.T
    norms = np.sqrt(np.diag(square))
    middle = (shares[:, None] + shares[None]) / 2
    # Jensen–Shannon = H of the middle less the mean of the two H.
    entropies = _entropy(shares)
    divergence = _entropy(middle) - (entropies[:, None] + entropies[None]) / 2
    euclidean = np.sqrt(np.maximum(norms[:, None] ** 2 + norms[None] ** 2 - 2 * square, 0.0))
    angle = np.degrees(np.arccos(np.clip(square / np.outer(norms, norms), -1.0, 1.0)))
    for matrix in (divergence, euclidean, angle):
        np.fill_diagonal(matrix, 0.0)
    return {
        "jensen_shannon": np.sqrt(np.maximum(divergence, 0.0)),
        "euclidean": euclidean,
        "angle": angle,
    }


def _entropy(shares: Floats) -> Floats:
    bits: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)
    return bits


def _plane(distances: Floats) -> tuple[Floats, float]:
    """Classical scaling to two dimensions, and the share of the variation that it keeps."""
    size = len(distances)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    plane = vectors[:, :2] * np.sqrt(values[:2])
    # Eigenvectors have no sign; let the largest entry of each be positive, so that the map is always the same.
    plane *= np.where(plane[np.argmax(np.abs(plane), axis=0), [0, 1]] < 0, -1.0, 1.0)
    return plane, float(values[:2].sum() / values.sum()) if values.sum() > 0 else 1.0
