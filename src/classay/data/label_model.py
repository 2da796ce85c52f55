"""A model of labels that are wrong and of classes that overlap, fitted to all labels at once.

P(label = j | x) = (1 − ε)·q_j(x) + ε·(1 − q_j(x))/(K − 1),

q(x) the probabilities of the K classes without wrong labels, ε the share of wrong ones. log q is linear in evidence
against each class. Weights (none negative) and ε maximise the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.stats import chi2

from ..arrays import Floats, Ints

FAR = 1e3
MOST_EVIDENCE = 0.95
"""Evidence counts up to this quantile of the gap between the nearest class and the next."""
STEPS = 12
MOST_WEIGHT, LEAST_WRONG = 50.0, 1e-6
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
    """The fitted model, with what it was fitted to: (kinds, rows, classes) evidence and the codes of the labels."""

    evidence: Floats
    codes: Ints
    weights: Floats
    wrong: float
    loss: float

    @property
    def informative(self) -> bool:
        """Whether evidence predicts labels better than class sizes do; otherwise any ε fits, as with random labels."""
        counts = np.bincount(self.codes)
        counts = counts[counts > 0]
        by_size = float((counts * np.log(self.codes.size / counts)).sum())
        return 2 * (by_size - self.loss) > chi2.ppf(INFORMATIVE, self.weights.size + 1)


def class_shares(weights: Floats, evidence: Floats) -> Floats:
    """q, the class probabilities of rows without wrong labels."""
    scores = -np.tensordot(weights, evidence, axes=1)
    scores -= scores.max(axis=1, keepdims=True)
    shares: Floats = np.exp(scores, out=scores)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def wrong_given_label(own: Floats, wrong: float, classes: int) -> Floats:
    """P(wrong | row, label), `own` the share of the label's class without wrong labels."""
    stray = wrong * (1 - own) / (classes - 1)
    return np.asarray(stray / np.maximum((1 - wrong) * own + stray, 1e-300))


def negative_log_likelihood(
    parameters: Floats, evidence: Floats, codes: Ints, wrong: float | None
) -> tuple[float, Floats]:
    """−log likelihood and its gradient; the last parameter is ε unless `wrong` fixes it."""
    kinds, n, classes = evidence.shape
    weights, share = parameters[:kinds], float(parameters[-1]) if wrong is None else wrong
    q, rows = class_shares(weights, evidence), np.arange(n)
    own = q[rows, codes]
    chance = np.maximum((1 - share) * own + share * (1 - own) / (classes - 1), 1e-300)
    by_own = ((1 - share) - share / (classes - 1)) / chance * own
    gradient = [-float((by_own * (np.einsum("ij,ij->i", q, each) - each[rows, codes])).sum()) for each in evidence]
    if wrong is None:
        gradient.append(-float((((1 - own) / (classes - 1) - own) / chance).sum()))
    return -float(np.log(chance).sum()), np.array(gradient)


def fit_labels(evidence: Floats, codes: Ints) -> LabelModel:
    """The model of highest likelihood. With many rows the best start is found on some of them."""
    kinds, n, classes = evidence.shape
    bounds = [(0.0, MOST_WEIGHT)] * kinds + [(LEAST_WRONG, (classes - 1) / classes)]

    def fitted(start: Floats, rows: slice) -> OptimizeResult:
        return minimize(
            negative_log_likelihood,
            start,
            args=(evidence[:, rows], codes[rows], None),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
        )

    some = slice(None, None, max(1, n // START_ROWS))
    fits = [fitted(np.append(np.full(kinds, weight / kinds), wrong), some) for weight, wrong in STARTS]
    best = min(fits, key=lambda fit: float(fit.fun))
    best = best if some.step == 1 else fitted(best.x, slice(None))
    return LabelModel(evidence, codes, best.x[:-1], float(best.x[-1]), float(best.fun))


@dataclass(frozen=True)
class Edge:
    """An end of the interval of ε, and the weights that are likeliest there."""

    wrong: float
    weights: Floats


def interval_of_wrong(model: LabelModel, most: float) -> tuple[Edge, Edge]:
    """The least and the largest ε whose likelihood, the weights fitted again, is not clearly below the best.

    most : twice the difference of log likelihoods that still counts as plausible
    """
    kinds, _, classes = model.evidence.shape

    def refitted(share: float, weights: Floats) -> tuple[Edge, bool]:
        fit = minimize(
            negative_log_likelihood,
            weights,
            args=(model.evidence, model.codes, share),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, MOST_WEIGHT)] * kinds,
        )
        return Edge(share, fit.x), bool(2 * (fit.fun - model.loss) <= most)

    def edge(limit: float) -> Edge:
        inside, outside = Edge(model.wrong, model.weights), limit
        at_limit, plausible = refitted(limit, model.weights)
        if plausible:
            return at_limit
        for _ in range(STEPS):
            middle, plausible = refitted((inside.wrong + outside) / 2, inside.weights)
            inside, outside = (middle, outside) if plausible else (inside, middle.wrong)
        return inside

    low, high = edge(LEAST_WRONG), edge((classes - 1) / classes)
    return Edge(0.0 if low.wrong == LEAST_WRONG else low.wrong, low.weights), high
