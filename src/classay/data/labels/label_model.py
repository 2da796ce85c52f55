"""A model of labels that are wrong and of classes that overlap, fitted to all labels at once.

P(label = j | x) = Σ_a q_a(x)·T_aj, T_aj = ε·p_aj for a ≠ j, the diagonal what is left,

q(x) the probabilities of the K classes without wrong labels, ε the share of wrong ones, p the pattern in which they
occur. Wrong labels are anywhere, p_aj = 1/(K − 1), but for pairs of classes in which far more of them are of one class
and labelled as the other: these have their own rate. log q is linear in evidence against each class, with the same
weights for all classes, so a pair that is confused more than the evidence explains stands out. Weights (none negative),
ε and the pattern maximise the likelihood.

Evidence are distances of a row to the classes, distances to the nearest rows of each class (which see what class means
cannot: a class of several clusters) and a learner's doubt, all without the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.stats import chi2

from ...arrays import Floats, Ints
from ...inputs import take
from ...seeds import generator
from ..geometry.covariance import Covariances
from ..geometry.cross_fit import CrossFit

if TYPE_CHECKING:
    from ..row_complexity import Complexity

FAR = 1e3
MOST_EVIDENCE = 0.95
"""Evidence counts up to this quantile of the gap between the nearest class and the next."""
STEPS, TURNS, ENOUGH = 12, 12, 0.05
"""Steps of a search, turns of a fit in turns, and what another turn must gain."""
MOST_WEIGHT, LEAST_WRONG, LEAST_RIGHT = 50.0, 1e-6, 0.95
PAIR, PRIOR = 2.0, 5.0
"""What a pair must gain in log likelihood, besides that of so many pairs; rows by which free rates are drawn in."""
MOST_PAIRED = 200
"""Classes with more than this many are not looked at in pairs."""
INFORMATIVE = 0.9999
"""The level at which evidence must predict labels better than class sizes do."""
START_ROWS = 2000
STARTS = ((1.0, 0.02), (1.0, 0.2), (20.0, 0.05))
"""Weight and ε. The likelihood may have several maxima: soft classes and few wrong labels, or sharp ones and more."""


@dataclass(frozen=True)
class Unit:
    """The unit of a kind of evidence, and how much of it counts at most, in units."""

    size: float
    most: float = FAR


def unit_of(distances: Floats) -> Unit:
    """How much farther the second nearest class is, typically, and in nearly all rows, which is the most that counts.

    Without a limit a copy of a row, or one by the same author, would outweigh all other evidence.
    """
    nearest = np.partition(distances, 1, axis=1)
    with np.errstate(invalid="ignore"):  # infinite both
        gaps = nearest[:, 1] - nearest[:, 0]
    gaps = gaps[np.isfinite(gaps) & (gaps > 0)]
    if not gaps.size:
        return Unit(1.0)
    size = float(np.median(gaps))
    return Unit(size, float(np.quantile(gaps, MOST_EVIDENCE)) / size)


def evidence_against(distances: Floats, unit: Unit) -> list[Floats]:
    """Evidence against each class from (rows, classes) distances: 0 for the nearest, never negative. Two kinds.

    How much farther a class is than the nearest, for tails like the normal one; and the logarithm of how many times as
    far it is, for heavy tails, where a row that is far from everything says little about its class.
    """
    nearest = distances.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):  # no class is within reach
        gaps = (distances - nearest) / unit.size
    np.minimum(np.where(np.isfinite(gaps), gaps, unit.most), unit.most, out=gaps)
    far = np.where(np.isfinite(nearest), np.maximum(nearest, 0.0) / unit.size, 0.0)
    return [gaps, np.log1p(gaps / (1 + far))]


@dataclass(frozen=True)
class LabelModel:
    """The fitted `parameters`, weights and then ε, and the pattern, with what they were fitted to: evidence and codes.

    `pattern[a, j]` is the share of rows of class a that are labelled j, relative to ε; 0 on the diagonal.
    """

    evidence: Floats
    codes: Ints
    parameters: Floats
    pattern: Floats
    loss: float

    @property
    def wrong(self) -> float:
        """ε, the share of wrong labels."""
        return float(self.parameters[-1])

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of classes with a rate of their own: of the first, labelled as the second."""
        usual = float(self.pattern[~np.eye(len(self.pattern), dtype=bool)].min())
        return [(int(a), int(j)) for a, j in np.argwhere(self.pattern > usual * (1 + 1e-9))]

    @property
    def informative(self) -> bool:
        """Whether evidence predicts labels better than class sizes do; otherwise any ε fits, as with random labels."""
        counts = np.bincount(self.codes)
        counts = counts[counts > 0]
        by_size = float((counts * np.log(self.codes.size / counts)).sum())
        return 2 * (by_size - self.loss) > chi2.ppf(INFORMATIVE, self.parameters.size)


def class_shares(weights: Floats, evidence: Floats) -> Floats:
    """q, the class probabilities of rows without wrong labels."""
    scores = -np.tensordot(weights, evidence, axes=1)
    scores -= scores.max(axis=1, keepdims=True)
    shares: Floats = np.exp(scores, out=scores)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def anywhere(classes: int) -> Floats:
    """The pattern of labels that are wrong anywhere."""
    return (1 - np.eye(classes)) / max(classes - 1, 1)


def true_class(q: Floats, codes: Ints, wrong: float, pattern: Floats) -> tuple[Floats, Floats]:
    """P(class | row, label), (rows, classes), and P(label | row)."""
    joint = q * (wrong * pattern[:, codes].T)
    rows = np.arange(codes.size)
    joint[rows, codes] = q[rows, codes] * (1 - wrong * pattern.sum(axis=1)[codes])
    chance = np.maximum(joint.sum(axis=1), 1e-300)
    return joint / chance[:, None], chance


def negative_log_likelihood(
    parameters: Floats, evidence: Floats, codes: Ints, pattern: Floats, wrong: float | None
) -> tuple[float, Floats]:
    """−log likelihood and its gradient; the last parameter is ε unless `wrong` fixes it."""
    kinds = len(evidence)
    q, share = class_shares(parameters[:kinds], evidence), float(parameters[-1]) if wrong is None else wrong
    true, chance = true_class(q, codes, share, pattern)
    gradient = [float((true * kind).sum() - (q * kind).sum()) for kind in evidence]
    if wrong is None:
        own = q[np.arange(codes.size), codes]
        stray = np.einsum("ij,ij->i", q, pattern[:, codes].T)
        gradient.append(-float(((stray - own * pattern.sum(axis=1)[codes]) / chance).sum()))
    return -float(np.log(chance).sum()), np.array(gradient)


def _minimised(
    start: Floats, evidence: Floats, codes: Ints, pattern: Floats, steps: int = 15000, wrong: float | None = None
) -> OptimizeResult:
    bounds = [(0.0, MOST_WEIGHT)] * len(evidence) + [(LEAST_WRONG, _most_wrong(pattern))] * (wrong is None)
    args = (evidence, codes, pattern, wrong)
    return minimize(
        negative_log_likelihood,
        start,
        args,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "ftol": 1e-12},
    )


def _most_wrong(pattern: Floats) -> float:
    """ε at most: as with random labels, or as a class has hardly any right label left."""
    classes = len(pattern)
    return min((classes - 1) / classes, LEAST_RIGHT / float(pattern.sum(axis=1).max()))


def fit_labels(evidence: Floats, codes: Ints) -> LabelModel:
    """The model of highest likelihood, with as many pairs as it bears out. Starts are compared on some of many rows."""
    kinds, n, classes = evidence.shape
    some, even = slice(None, None, max(1, n // START_ROWS)), anywhere(classes)
    starts = [np.append(np.full(kinds, weight / kinds), wrong) for weight, wrong in STARTS]
    fits = [_minimised(start, evidence[:, some], codes[some], even) for start in starts]
    best = min(fits, key=lambda fit: float(fit.fun))
    best = best if some.step == 1 else _minimised(best.x, evidence, codes, even)
    symmetric = LabelModel(evidence, codes, best.x, even, float(best.fun))
    if classes > MOST_PAIRED or not symmetric.informative:
        return symmetric
    free = _alternated(LabelModel(evidence, codes, starts[0], even, np.inf), free_rates)
    paired = _alternated(replace(free, loss=np.inf), _paired_rates)
    gained = (symmetric.loss - paired.loss) / max(len(paired.pairs), 1)
    return paired if paired.pairs and gained > _bar(classes) else symmetric


def _bar(classes: int) -> float:
    """How much the log likelihood must gain for a pair to have its own rate, of so many that could."""
    return PAIR + float(np.log(max(classes * (classes - 1), 1)))


def _alternated(model: LabelModel, rates: Callable[[Floats], Floats]) -> LabelModel:
    """The model with the pattern fitted, too: in turns, the parameters, and the rates from expected counts."""
    for _ in range(TURNS):
        fit = _minimised(model.parameters, model.evidence, model.codes, model.pattern, STEPS)
        gained, model = model.loss - fit.fun, replace(model, parameters=fit.x, loss=float(fit.fun))
        if gained < ENOUGH:
            break
        q = class_shares(model.parameters[:-1], model.evidence)
        true, _ = true_class(q, model.codes, model.wrong, model.pattern)
        counts = np.zeros_like(model.pattern)
        np.add.at(counts.T, model.codes, true)  # of each class, labelled as each
        table = rates(counts)
        wrong = float((counts.sum(axis=1) @ table).sum() / counts.sum())
        pattern = table / max(wrong, LEAST_WRONG)
        parameters = np.append(model.parameters[:-1], min(max(wrong, LEAST_WRONG), _most_wrong(pattern)))
        model = replace(model, parameters=parameters, pattern=pattern)
    return model


def free_rates(counts: Floats) -> Floats:
    """Shares of each class with each wrong label, drawn a little to the mean."""
    others = 1 - np.eye(len(counts))
    usual = (others * counts).sum() / counts.sum() / max(len(counts) - 1, 1)
    rates: Floats = others * (counts + PRIOR * usual) / (counts.sum(axis=1, keepdims=True) + PRIOR)
    return rates


def _paired_rates(counts: Floats) -> Floats:
    """Shares of each class with each wrong label: one rate, but for pairs in which that is far too low."""
    same = np.eye(len(counts), dtype=bool)
    rows = np.broadcast_to(counts.sum(axis=1, keepdims=True), counts.shape)
    own = np.zeros_like(same)
    for _ in range(TURNS):
        usual = (counts[~own & ~same].sum() + 0.5) / max(float(rows[~own & ~same].sum()), 1.0) * rows
        gain = counts * np.log(np.maximum(counts, 1e-12) / usual) - counts + usual
        before, own = own, (counts > usual) & (gain > _bar(len(counts))) & ~same
        if (own == before).all():
            break
    shares: Floats = np.where(own, counts, usual) / np.maximum(rows, 1e-12)
    return np.where(same, 0.0, shares)


def interval_of_wrong(model: LabelModel, most: float) -> tuple[Floats, Floats]:
    """The parameters with the least and the largest ε whose likelihood, weights fitted again, is near the best.

    most : twice the difference of log likelihoods that still counts as plausible
    """

    def refitted(wrong: float, weights: Floats) -> tuple[Floats, bool]:
        fit = _minimised(weights, model.evidence, model.codes, model.pattern, wrong=wrong)
        return np.append(fit.x, wrong), bool(2 * (fit.fun - model.loss) <= most)

    def end(limit: float) -> Floats:
        inside, outside = model.parameters, limit
        at_limit, plausible = refitted(limit, model.parameters[:-1])
        if plausible:
            return at_limit
        for _ in range(STEPS):
            middle, plausible = refitted((inside[-1] + outside) / 2, inside[:-1])
            inside, outside = (middle, outside) if plausible else (inside, middle[-1])
        return inside

    low, high = end(LEAST_WRONG), end(_most_wrong(model.pattern))
    return np.append(low[:-1], 0.0) if low[-1] == LEAST_WRONG else low, high


CELLS = 2 * 10**5
"""Distances that are held at once."""
LEAST_PROBABILITY = 1e-3
RANKS = (1, 3)
"""The nearest row says most where classes are dense, the third is robust to a wrong label among the neighbours."""
MOST_COLUMNS = 2000
MOST_PAIRS, MOST_WORK = 2 * 10**7, 2 * 10**10
"""Pairs of rows, and operations, at most: with more rows they are compared with a random sample of them."""
LEAST_COMPARED, LEAST_PER_CLASS, LEAST_PER_COLUMN = 1000, 10, 20
BLOCK = 2 * 10**6


class NearestRows:
    """The rows with a known class that others are compared with, a random sample if they are many.

    A row is never compared with itself, nor with rows of its group.
    """

    def __init__(self, evidence: CrossFit, distance: str, rows: Ints) -> None:
        self.evidence, self.distance = evidence, distance
        classes = evidence.geometry.classes.size
        most = min(MOST_PAIRS // rows.size, MOST_WORK // (rows.size * evidence.geometry.n_features))
        most = max(most, LEAST_COMPARED, LEAST_PER_CLASS * classes)
        chosen = generator(0, "nearest rows").permutation(rows)[:most]
        self.rows: Ints = chosen[np.argsort(evidence.codes[chosen], kind="stable")]
        self.codes: Ints = evidence.codes[self.rows]
        self.covariances = None
        # Few rows for each column: the covariance within classes would draw rows with the same label together.
        enough = evidence.codes.size >= LEAST_PER_COLUMN * evidence.geometry.n_features
        if enough and distance not in ("euclidean", "cosine") and evidence.geometry.detail != "diagonal":
            self.covariances = Covariances(evidence.geometry, "shared")
        self.points = self._points(self.rows)
        self.squares: Floats = np.einsum("ij,ij->i", self.points, self.points)

    @classmethod
    def among(cls, evidence: CrossFit, distance: str, rows: Ints) -> NearestRows | None:
        """None if rows cannot be compared with rows: there are very many columns, or they are sparse."""
        many = evidence.geometry.n_features > MOST_COLUMNS
        return None if many or hasattr(evidence.table, "toarray") else cls(evidence, distance, rows)

    def measure(self, rows: Ints) -> Floats:
        """(ranks, rows, classes) distances to the nearest rows of each class, one for each of `RANKS`.

        A class with fewer rows has the distance to its farthest; without any it is infinitely far.
        """
        classes = self.evidence.geometry.classes.size
        out = np.full((len(RANKS), rows.size, classes), np.inf)
        present, starts = np.unique(self.codes, return_index=True)
        column = np.searchsorted(present, self.codes)
        step = max(1, BLOCK // self.rows.size)
        for start in range(0, rows.size, step):
            place = slice(start, start + step)
            table = self._squared(rows[place])
            nearest = np.full((table.shape[0], present.size), np.inf)
            for rank in range(1, RANKS[-1] + 1):
                next_nearest = np.minimum.reduceat(table, starts, axis=1)
                nearest = np.where(np.isfinite(next_nearest), next_nearest, nearest)
                if rank in RANKS:
                    out[RANKS.index(rank), place, present] = np.sqrt(nearest).T
                table[table == next_nearest[:, column]] = np.inf
        return out

    def _squared(self, rows: Ints) -> Floats:
        """Squared distances, infinite where rows must not be compared."""
        points = self._points(rows)
        table = points @ (-2 * self.points.T)
        table += self.squares
        table += np.einsum("ij,ij->i", points, points)[:, None]
        np.maximum(table, 0.0, out=table)
        groups = self.evidence.row_groups
        same = rows[:, None] == self.rows if groups is None else groups[rows, None] == groups[self.rows]
        table[same] = np.inf
        return table

    def _points(self, rows: Ints) -> Floats:
        points = np.array(take(self.evidence.table, rows), dtype=float)
        if self.distance != "cosine":
            points -= self.evidence.geometry.mean
        if self.covariances is not None:
            whitener: Any = self.covariances.shared().whitener
            points = points[:, self.covariances.columns] @ whitener
        if "cosine" in self.distance:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points /= np.where(lengths == 0, 1.0, lengths)
        return points


class Evidence:
    """Evidence against every class for any rows: distances to classes, to their nearest rows, and a learner's doubt."""

    def __init__(self, result: Complexity, shares: Floats | None, nearest: NearestRows | None) -> None:
        self.result, self.shares, self.nearest = result, shares, nearest
        self.units: list[Unit] = []

    def fitted_on(self, rows: Ints) -> Floats:
        """The (kinds, rows, classes) evidence of the rows that decide its units."""
        parts = [(place, self._measured(place, distances)) for place, distances in _distances(self.result, rows)]
        order = np.argsort(np.concatenate([place for place, _ in parts]))
        kinds = [np.concatenate(several)[order] for several in zip(*(measured for _, measured in parts))]
        self.units = [unit_of(kind) for kind in kinds]
        if self.shares is not None:
            self.units[-1] = Unit(1.0)  # logarithms of probabilities have a unit
        return self._stacked(kinds)

    def of(self, rows: Ints) -> Iterator[tuple[Ints, Floats]]:
        """Rows in parts, with their evidence in the same units."""
        for place, distances in _distances(self.result, rows):
            yield place, self._stacked(self._measured(place, distances))

    def _measured(self, rows: Ints, distances: Floats) -> list[Floats]:
        measured = [distances, *([] if self.nearest is None else self.nearest.measure(rows))]
        if self.shares is not None:
            least = min(LEAST_PROBABILITY, 0.1 / distances.shape[1])
            measured.append(-np.log(np.maximum(self.shares[rows], least)))
        return measured

    def _stacked(self, kinds: list[Floats]) -> Floats:
        parts = [evidence_against(distances, unit) for distances, unit in zip(kinds, self.units)]
        # A class without other rows to compare with has no neighbours, which is no evidence against it: the distance to
        # the class stands in.
        for distances, own in zip(kinds[1:], parts[1:]):
            for part, of_class in zip(own, parts[0]):
                np.copyto(part, of_class, where=np.isinf(distances))
        return np.stack([part for own in parts for part in own])


def _distances(result: Complexity, rows: Ints) -> Iterator[tuple[Ints, Floats]]:
    """Distances of these rows in parts; measured again if they were too many to store."""
    step = max(1, CELLS // result.classes.size)
    if result.distances is not None:
        for start in range(0, rows.size, step):
            place = rows[start : start + step]
            yield place, result.distances[place]
        return
    for number, group in enumerate(result.evidence.groups):
        metric = result.evidence.metric(number, (result.distance,), result.covariance)
        wanted = np.intersect1d(rows, group, assume_unique=True)
        for start in range(0, wanted.size, step):
            place = wanted[start : start + step]
            yield place, result.evidence.measure(metric, place)[result.distance]
