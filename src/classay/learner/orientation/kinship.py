"""`kinship`: how similar the predictions of learners are, whatever their accuracy.

Each learner has a distribution P_D over the labelings of a holdout. Two learners with the same distribution are
similar, even if they are built differently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ... import expect, seeds
from ...arrays import Floats
from ...result import Result
from ..records.labelings import Labelings, expect_record
from .entropy import number_labelings
from .orientation import draw_holdouts

DISTANCES = ("jensen_shannon", "euclidean", "angle")
DEALS = 40


@dataclass(frozen=True)
class Kinship(Result, chart="learner.kinship:draw_kinship"):
    """Distances between the predictions of learners, a hierarchy of the learners, and a map.

    Each distance is a matrix over `names`: `jensen_shannon` (square root of the divergence in bits, 0 to 1),
    `euclidean` (0 to √2), `angle` (degrees, 0 to 90). 0: the same distribution of predictions. `floor[distance]` is the
    matrix of what chance alone produces: two equal learners appear at most this far apart in 19 of 20 cases, so a
    distance not above it is no evidence. `linkage` is SciPy's average linkage of the Jensen–Shannon distances;
    `coordinates` a plane that preserves them as well as possible, `kept` the share of their variation that it shows.
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
        """Group the learners into `n` clusters, numbered from 1."""
        wanted = expect.whole(n, "n", at_least=1)
        numbers = hierarchy.fcluster(self.linkage, wanted, "maxclust")
        return {name: int(number) for name, number in zip(self.names, numbers)}

    def to_frame(self) -> pd.DataFrame:
        """One row per pair and distance: learner, other, distance, value, floor."""
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
                        "floor": float(floor[a, b]),
                    }
                )
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        pairs = self.to_frame().query("distance == 'jensen_shannon'").sort_values("value")
        near, far = pairs.iloc[0], pairs.iloc[-1]
        text = (
            f"Of {len(self.names)} learners, {near.learner} and {near.other} predict most alike (Jensen–Shannon "
            f"distance {near.value:.2f}; 0: the same, 1: nothing in common, {near.floor:.2f}: chance alone)"
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
    """Measure how similar the predictions of learners are.

    For every holdout, each learner's labelings over all refits form P_D; distances between these distributions are
    averaged over common holdouts: Jensen–Shannon, Euclidean and the angle between the two vectors.

    0: the same distribution of predictions; higher is farther apart. With few subsets two equal learners appear
    different: `floor` measures how much, by randomly reassigning the subsets of the two. (Conservative if both were
    fitted on the same subsets.) The records must have the same test points: use the same data, test_size and
    random_state.

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
    seed = seeds.settle(random_state)
    chosen = draw_holdouts(labels[0].shape[-1], holdout_size, holdouts, seed)
    numbers = number_labelings(np.concatenate([each.reshape(-1, each.shape[-1]) for each in labels]), chosen, n_classes)
    # The subset, counted through all learners, that each refit belongs to, and the share of it that each refit is.
    sizes = np.array([len(each) for each in labels])
    refits = np.repeat([each.shape[1] for each in labels], sizes)
    subset, share = np.repeat(np.arange(sizes.sum()), refits), np.repeat(1 / refits, refits)
    ends = np.cumsum(sizes)
    pairs = [(a, b) for a in range(len(names)) for b in range(a + 1, len(names))]
    deals = {(a, b): _deals(sizes[a], sizes[b], seeds.generator(seed, "deal", a, b)) for a, b in pairs}

    mean = {distance: np.zeros((len(names),) * 2) for distance in DISTANCES}
    dealt = {pair: {distance: np.zeros(DEALS) for distance in DISTANCES} for pair in pairs}
    for row in numbers:
        _, labeling = np.unique(row, return_inverse=True)
        table = np.zeros((sizes.sum(), labeling.max() + 1))
        np.add.at(table, (subset, labeling), share)
        own = np.split(table, ends[:-1])
        for distance, matrix in _distances(np.stack([each.mean(axis=0) for each in own])).items():
            mean[distance] += matrix / len(chosen)
        for (a, b), deal in deals.items():
            both = np.concatenate([own[a], own[b]])
            first, second = deal @ both / sizes[a], (1 - deal) @ both / sizes[b]
            for distance, values in _between(first, second).items():
                dealt[a, b][distance] += values / len(chosen)
    floor = {distance: np.zeros((len(names),) * 2) for distance in DISTANCES}
    for (a, b), by_distance in dealt.items():
        for distance, values in by_distance.items():
            floor[distance][a, b] = floor[distance][b, a] = np.quantile(values, 0.95)
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
    """Names and labels, if the records have the same points and classes."""
    if not isinstance(labelings, Mapping) or len(labelings) < 2:
        raise expect.InputError(
            "`labelings` must be a dict of at least two records, name -> Labelings: kinship compares learners."
        )
    records = list(labelings.values())
    first = records[0]
    for name, other in labelings.items():
        expect_record(other, f"labelings[{name!r}]")
        same = (
            np.array_equal(first.classes, other.classes)
            and np.array_equal(first.truth, other.truth)
            and np.array_equal(first.test_rows, other.test_rows)
        )
        if not same:
            raise expect.InputError(
                f"{name!r} was recorded on other test points or classes than {next(iter(labelings))!r}; kinship "
                "compares predictions on the same points. Record both with the same data, test_size and random_state."
            )
    return tuple(map(str, labelings)), [each.complete() for each in records], len(first.classes)


def _deals(first: int, second: int, generator: np.random.Generator) -> Floats:
    """Random reassignments of the subsets of two learners: (DEALS, subsets) of 1 for the first and 0 for the second."""
    dealt = np.zeros((DEALS, first + second))
    for row in dealt:
        row[generator.permutation(first + second)[:first]] = 1.0
    return dealt


def _distances(shares: Floats) -> dict[str, Floats]:
    """Distances between the rows of a table of distributions, as matrices."""
    rows, columns = np.triu_indices(len(shares), 1)
    matrices = {}
    for distance, values in _between(shares[rows], shares[columns]).items():
        matrices[distance] = np.zeros((len(shares),) * 2)
        matrices[distance][rows, columns] = matrices[distance][columns, rows] = values
    return matrices


def _between(first: Floats, second: Floats) -> dict[str, Floats]:
    """Distances between the distributions in the rows of two tables, row by row."""
    # Jensen–Shannon = entropy of the mixture minus the mean of the two entropies.
    divergence = _entropy((first + second) / 2) - (_entropy(first) + _entropy(second)) / 2
    cosine = (first * second).sum(axis=1) / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    return {
        "jensen_shannon": np.sqrt(np.maximum(divergence, 0.0)),
        "euclidean": np.linalg.norm(first - second, axis=1),
        "angle": np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))),
    }


def _entropy(shares: Floats) -> Floats:
    bits: Floats = -(shares * np.log2(np.where(shares > 0, shares, 1))).sum(axis=-1)
    return bits


def _plane(distances: Floats) -> tuple[Floats, float]:
    """Classical scaling to two dimensions, and the share of the variation that it preserves."""
    size = len(distances)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    plane = vectors[:, :2] * np.sqrt(values[:2])
    # Eigenvectors have no sign; make the largest entry of each positive, so that the map is always the same.
    plane *= np.where(plane[np.argmax(np.abs(plane), axis=0), [0, 1]] < 0, -1.0, 1.0)
    return plane, float(values[:2].sum() / values.sum()) if values.sum() > 0 else 1.0
