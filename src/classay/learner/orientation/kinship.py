"""`kinship`: how similar the predictions of learners are, whatever their accuracy.

Each learner has a distribution P_D over the labelings of a holdout. Two learners with the same distribution are
similar, even if they are built differently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
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
from .entropy import draw_holdouts, number_labelings, p_log_p

DISTANCES = ("jensen_shannon", "euclidean", "angle")
DEALS, FEWER_DEALS, MANY_PAIRS = 199, 99, 45
"""Random reassignments for each pair of learners. With both numbers a level of 5 % is exact: 10 of 200, 5 of 100."""
RATE = 0.05


@dataclass(frozen=True)
class Kinship(Result, chart="kinship:KINSHIP"):
    """Distances between the predictions of learners, a hierarchy of the learners, and a map.

    Each distance is a matrix over `names`: `jensen_shannon` (square root of the mean divergence in bits, 0 to 1),
    `euclidean` (0 to √2), `angle` (degrees, 0 to 90). 0: the same distribution of predictions. Distances are debiased:
    what few subsets and refits add by chance is subtracted from the square of each (1 − cosine for the angle). For two
    equal learners that square is 0 on average; where it is below 0, the distance is 0. The plain distance (`plain`, the
    paper's) is well above it. `floor[distance]` is what chance alone still reaches: two equal learners are at most this
    far apart in 19 of 20 cases, so a distance not above it is no evidence. `p_value` is that of the Jensen–Shannon
    distance. `linkage` is SciPy's average linkage of the Jensen–Shannon distances; `coordinates` a plane that preserves
    them as well as possible, `kept` the share of their variation that it shows.
    """

    names: tuple[str, ...]
    jensen_shannon: Floats
    euclidean: Floats
    angle: Floats
    plain: dict[str, Floats]
    floor: dict[str, Floats]
    p_value: Floats
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

    def undebiased(self) -> Kinship:
        """The same from the paper's plain distances: matrices, hierarchy and map. There is no floor of these."""
        fields: dict[str, Any] = {**self.plain, **_arranged(self.plain["jensen_shannon"])}
        fields["floor"] = {distance: np.full_like(floor, math.nan) for distance, floor in self.floor.items()}
        return replace(self, **fields)

    def to_frame(self) -> pd.DataFrame:
        """One row per pair and distance: learner, other, distance, value, floor, plain."""
        rows = []
        for distance in DISTANCES:
            figures = {"value": getattr(self, distance), "floor": self.floor[distance], "plain": self.plain[distance]}
            for a, b in combinations(range(len(self.names)), 2):
                pair = {"learner": self.names[a], "other": self.names[b], "distance": distance}
                rows.append(pair | {name: float(matrix[a, b]) for name, matrix in figures.items()})
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

    For every holdout, each learner's labelings over all refits form P_D. Distances are between these distributions,
    over all holdouts together: the square root of the mean Jensen–Shannon divergence, the root of the mean squared
    Euclidean distance, and the angle between the vectors of all holdouts joined.

    0: the same distribution of predictions; higher is farther apart. With few subsets two equal learners appear
    different: this is subtracted. The variance over subsets gives most of it; the rest is the mean distance
    after random reassignments of the subsets of the two. Their 95 % quantile is `floor`. If both were fitted on the
    same subsets, as with one random_state, subsets stay paired. The records must have the same test points: use the
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
    seed = seeds.settle(random_state)
    chosen = draw_holdouts(labels[0].shape[-1], holdout_size, holdouts, seed)
    numbers = number_labelings(np.concatenate([own.reshape(-1, own.shape[-1]) for own in labels]), chosen, n_classes)
    # The subset, counted through all learners, that each refit belongs to, and the share of it that each refit is.
    sizes = np.array([len(own) for own in labels])
    refits = np.repeat([own.shape[1] for own in labels], sizes)
    subset, share = np.repeat(np.arange(sizes.sum()), refits), np.repeat(1 / refits, refits)
    ends = np.cumsum(sizes)
    pairs = list(combinations(range(len(names)), 2))
    number = DEALS if len(pairs) <= MANY_PAIRS else FEWER_DEALS
    records, sums = list(labelings.values()), {}
    for a, b in pairs:
        paired = _same_subsets(records[a], records[b])
        deals = _deals(sizes[a], sizes[b], number, paired, seeds.generator(seed, "deal", a, b))
        sums[a, b] = _Sums(deals, paired)
    for row in numbers:
        _, labeling = np.unique(row, return_inverse=True)
        table = np.zeros((sizes.sum(), labeling.max() + 1))
        np.add.at(table, (subset, labeling), share)
        own = np.split(table, ends[:-1])
        for (a, b), pair in sums.items():
            pair.add(own[a], own[b])
    matrices = {name: np.zeros((3, len(names), len(names))) for name in DISTANCES}
    p_value = np.ones((len(names),) * 2)
    for (a, b), pair in sums.items():
        for distance, (value, plain, floor, p) in pair.distances(len(chosen)).items():
            matrices[distance][:, a, b] = matrices[distance][:, b, a] = value, plain, floor
            if distance == "jensen_shannon":
                p_value[a, b] = p_value[b, a] = p
    return Kinship(
        names=names,
        **{distance: figures[0] for distance, figures in matrices.items()},
        plain={distance: figures[1] for distance, figures in matrices.items()},
        floor={distance: figures[2] for distance, figures in matrices.items()},
        p_value=p_value,
        **_arranged(matrices["jensen_shannon"][0]),
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
        parts = ("classes", "truth", "test_rows")
        if not all(np.array_equal(getattr(first, part), getattr(other, part)) for part in parts):
            raise expect.InputError(
                f"{name!r} was recorded on other test points or classes than {next(iter(labelings))!r}; kinship "
                "compares predictions on the same points. Record both with the same data, test_size and random_state."
            )
    return tuple(map(str, labelings)), [record.complete() for record in records], len(first.classes)


def _same_subsets(one: Labelings, other: Labelings) -> bool:
    """Whether subset k of both has the same training rows, for every k."""
    return 0 < len(one.train_rows) == len(other.train_rows) == len(one.complete()) == len(other.complete()) and all(
        np.array_equal(own, others) for own, others in zip(one.train_rows, other.train_rows)
    )


def _deals(first: int, second: int, number: int, paired: bool, generator: np.random.Generator) -> Floats:
    """Who each subset belongs to, 1 for the first learner: as it is, then after each random reassignment.

    Returns (1 + number, subsets). Paired subsets are exchanged within pairs.
    """
    dealt = np.zeros((1 + number, first + second))
    dealt[0, :first] = 1.0
    for row in dealt[1:]:
        if paired:
            row[:first] = generator.integers(2, size=first)
            row[first:] = 1 - row[:first]
        else:
            row[generator.permutation(first + second)[:first]] = 1.0
    return dealt


class _Sums:
    """Sums over holdouts, for one pair of learners as it is and after each reassignment of their subsets.

    `plain` are the distances' ingredients as the mean distributions have them; `bias` is how much of each comes from
    the variance of these means over subsets.
    """

    def __init__(self, deals: Floats, paired: bool) -> None:
        self.deals, self.paired = deals, paired
        self.plain, self.bias = np.zeros((2, 5, len(deals)))

    def add(self, first: Floats, second: Floats) -> None:
        """Add a holdout: two tables of subsets x labelings, each row a distribution."""
        both = np.concatenate([first, second])
        k, m = len(first), len(second)
        a, b = self.deals @ both / k, (1 - self.deals) @ both / m
        var_a = np.maximum(self.deals @ both**2 / k - a**2, 0.0) / max(k - 1, 1)
        var_b = np.maximum((1 - self.deals) @ both**2 / m - b**2, 0.0) / max(m - 1, 1)
        # Within a pair, what is exchanged keeps its product.
        cov = ((first * second).mean(axis=0) - a * b) / max(k - 1, 1) if self.paired else np.zeros_like(a)
        middle, var_middle = (a + b) / 2, np.maximum(var_a + var_b + 2 * cov, 0.0) / 4
        self.plain += [
            _entropy(middle) - (_entropy(a) + _entropy(b)) / 2,
            ((a - b) ** 2).sum(axis=1),
            (a * b).sum(axis=1),
            (a * a).sum(axis=1),
            (b * b).sum(axis=1),
        ]
        # A plain entropy is too low by about Σ Var(p̄)/(2 p̄ ln 2).
        self.bias += [
            (_lost(var_a, a) + _lost(var_b, b)) / 2 - _lost(var_middle, middle),
            (var_a + var_b - 2 * cov).sum(axis=1),
            cov.sum(axis=1),
            var_a.sum(axis=1),
            var_b.sum(axis=1),
        ]

    def distances(self, holdouts: int) -> dict[str, tuple[float, float, float, float]]:
        """Of each distance: debiased, plain, the floor, and p, the share of reassignments that are as far apart."""
        figures = {}
        plain, debiased = _squares(self.plain / holdouts), _squares((self.plain - self.bias) / holdouts)
        for distance, to_units in UNITS.items():
            # What the variance does not explain, the reassigned pairs show: they have no difference.
            values = debiased[distance] - debiased[distance][1:].mean()
            own, others = values[0], np.sort(values[1:])
            order = math.ceil((1 - RATE) * (others.size + 1)) - 1
            p = (1 + int((others >= own - 1e-12).sum())) / (1 + others.size)
            # A floor is what chance reaches; a distance must be above it, also where both are 0.
            squares = np.clip([own, plain[distance][0], others[order]], 0, 2)
            figures[distance] = (*to_units(squares).tolist(), p)
        return figures


def _squares(sums: Floats) -> dict[str, Floats]:
    """Divergence, squared Euclidean distance and 1 − cosine, which are additive; may be negative if debiased."""
    divergence, squared, product, own, others = sums
    norms = np.sqrt(np.maximum(own, 0.0) * np.maximum(others, 0.0))
    cosine = np.where(norms > 0, product / np.where(norms > 0, norms, 1), 1.0)
    return {"jensen_shannon": divergence, "euclidean": squared, "angle": 1 - cosine}


UNITS: dict[str, Callable[[Floats], Floats]] = {
    "jensen_shannon": np.sqrt,
    "euclidean": np.sqrt,
    "angle": lambda squares: np.degrees(np.arccos(1 - squares)),
}


def _lost(variance: Floats, mean: Floats) -> Floats:
    """By how much the entropy of a mean distribution is too low, in bits, to first order."""
    return np.asarray((variance / np.where(mean > 0, mean, 1)).sum(axis=-1) / (2 * math.log(2)))


def _entropy(shares: Floats) -> Floats:
    return np.asarray(p_log_p(shares).sum(axis=-1))


def _arranged(distances: Floats) -> dict[str, Any]:
    """Average linkage, a map of the learners, and the share of the variation that it preserves: fields of `Kinship`."""
    linkage = hierarchy.linkage(squareform(distances, checks=False), "average")
    # Classical scaling to two dimensions.
    size = len(distances)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    plane = vectors[:, :2] * np.sqrt(values[:2])
    # Eigenvectors have no sign; make the largest entry of each positive, so that the map is always the same.
    plane *= np.where(plane[np.argmax(np.abs(plane), axis=0), [0, 1]] < 0, -1.0, 1.0)
    kept = float(values[:2].sum() / values.sum()) if values.sum() > 0 else 1.0
    return {"linkage": linkage, "coordinates": plane, "kept": kept}
