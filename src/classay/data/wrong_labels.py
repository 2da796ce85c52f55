"""`wrong_labels`: how many labels are wrong, which, and whether they limit the accuracy that can be reached.

A row that looks like another class is either hard or labelled wrongly. Where classes overlap, labels differ among the
classes that are near; wrong labels are anywhere. A model of both, fitted to the labels, shows how many are of the
second kind:

P(label = j | x) = (1 − ε)·q_j(x) + ε·(1 − q_j(x))/(K − 1),

q(x) the probabilities of the K classes without wrong labels, ε the share of wrong ones. log q is linear in the
distances of the row to the classes, in their logarithms, so that tails may be heavy, and in the same of a learner's
log-probabilities if there are any. Weights (none negative) and ε maximise the likelihood of all labels. Every distance
and probability is of a row that its geometry or fit has not seen, so the weights are cross-fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.stats import chi2

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..inputs import encode
from ..intervals import Estimate
from ..result import Result
from ..seeds import generator

if TYPE_CHECKING:
    from .complexity import Complexity

FALSE_ALARMS = 0.1
"""Share of the listed rows whose label may be right."""
TOO_WIDE = 0.25
"""Beyond this width of the interval of ε, wrong labels are indistinguishable from overlap."""
CELLS, LEAST_ROWS = 10**6, 1000
"""The model is fitted on as many rows as have this many distances, at least `LEAST_ROWS`, drawn at random."""
LEAST_PROBABILITY = 1e-3
FAR = 1e3
STEPS = 12


@dataclass(frozen=True, repr=False)
class WrongLabels(Result, chart="data.wrong_labels:wrong_labels_chart"):
    """The result of `wrong_labels`.

    `probability` of each row that its label is wrong, and the class it `likely` has instead. `share` and `number` of
    wrong labels, with intervals; unknown if they look like overlap. `ceiling` is the accuracy that a perfect classifier
    would reach on these labels if no classes overlapped: 1 − share. `errors` counts the rows that the learner (or,
    without one, the nearest class) predicts wrongly, and `explained` is the share of them that wrong labels explain.
    `listed` are the rows to check, the likeliest first, at most a share of `false_alarms` of them with a right label.
    `used` says what the probabilities come from, `notes` what they assume.
    """

    probability: Floats
    likely: NDArray[Any]
    labels: NDArray[Any]
    listed: Ints
    number: Estimate
    share: Estimate
    ceiling: Estimate
    errors: int
    explained: Estimate
    false_alarms: float
    used: str
    weights: tuple[float, ...]
    notes: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """One line per row, the likeliest first: label, likely class, the probability as `value`, if it is `listed`."""
        order = np.argsort(-np.nan_to_num(self.probability), kind="stable")
        rows = np.concatenate([self.listed, order[~np.isin(order, self.listed)]])
        return pd.DataFrame(
            {
                "row": rows,
                "label": self.labels[rows],
                "likely": self.likely[rows],
                "value": self.probability[rows],
                "listed": np.arange(rows.size) < self.listed.size,
            }
        )

    @property
    def answer(self) -> str:
        """Is my accuracy limited by the labels? One or two sentences."""
        if not self.share.known:
            return (
                "Whether wrong labels limit the accuracy is unknown: in these rows they are indistinguishable from "
                f"classes that overlap (between {self.share.low:.0%} and {self.share.high:.0%} may be wrong)."
            )
        limit = f"Wrong labels alone would limit the accuracy to {self.ceiling:.3f}."
        if not self.errors:
            return limit
        who = "the learner's" if "learner" in self.used else "the nearest class's"
        return (
            f"{limit} Wrong labels explain {self.explained.value:.0%} [{self.explained.low:.0%}, "
            f"{self.explained.high:.0%}] of {who} {self.errors} errors."
        )

    def __str__(self) -> str:
        rows = self.probability.size
        if not self.share.known:
            return " ".join([f"No label of {rows} is suspected. {self.answer}", *self.notes])
        listed = (
            f"{self.listed.size} labels to check, about {self.false_alarms:.0%} of them right"
            if self.listed.size
            else "no label is clear enough to be listed"
        )
        return " ".join(
            [
                f"About {self.number.value:.0f} [{self.number.low:.0f}, {self.number.high:.0f}] of {rows} labels are "
                f"wrong, by {self.used}: {listed}. {self.answer}",
                *self.notes,
            ]
        )

    __repr__ = __str__


def wrong_labels(
    result: Complexity,
    probabilities: ArrayLike | None = None,
    *,
    false_alarms: float = FALSE_ALARMS,
    level: float = 0.95,
) -> WrongLabels:
    """Estimate how many labels are wrong, list those to check, and say whether labels limit the accuracy.

    P(label = j | x) = (1 − ε)·q_j(x) + ε·(1 − q_j(x))/(K − 1): q are the class probabilities without wrong labels,
    from distances, and from a learner's probabilities if given; ε is the share of wrong labels. P(wrong | x, label) is
    the second term over the sum. Rows are listed, at the lower end of the interval of ε, as long as the mean of
    1 − P(wrong) is at most `false_alarms`. The interval is by profile likelihood.

    0: certainly right, 1: certainly wrong. If the interval of ε is wide, as with random labels, nothing is listed.

    It misleads if wrong labels are not spread over the other classes: those that are always given to one similar class
    look like overlap and are not counted. Rows that are hard in a way that distances do not show count as wrong
    labels; a learner's probabilities help. On real data up to 26 % of the listed rows were right, at a stated 10 %
    (14 % with a learner's probabilities). Check the rows before you change a label.

    Parameters
    ----------
    result : what `complexity` returned
    probabilities : (rows, classes) of a learner, cross-validated (`cross_val_predict(..., method="predict_proba")`),
        classes in the order of `result.classes`
    false_alarms : expected share of the listed rows whose label is right, at most
    level : confidence level of the intervals

    Examples
    --------
    >>> from classay import complexity
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.choice(y.size, 90, replace=False)
    >>> y[rows] = (y[rows] + rng.integers(1, 10, 90)) % 10
    >>> w = wrong_labels(complexity(X, y))
    >>> w.number.low < 90 < w.number.high, bool(np.isin(w.listed, rows).mean() > 0.8)
    (True, True)

    """
    expect.fraction(false_alarms, "false_alarms")
    expect.fraction(level, "level")
    codes = encode(result.labels, result.classes)
    usable = result.known & (codes >= 0)
    shares = _checked_probabilities(probabilities, codes.size, result.classes.size)
    unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: too few rows with a known class")
    if int(usable.sum()) < 2 * result.classes.size:
        return _nothing(result, unknown, shares is not None, false_alarms)
    rows = generator(0, "wrong labels").permutation(np.flatnonzero(usable))
    rows = np.sort(rows[: max(LEAST_ROWS, CELLS // result.classes.size)])
    parts = list(_distances(result, rows))
    order = np.argsort(np.concatenate([place for place, _ in parts]))
    sample = np.concatenate([distances for _, distances in parts])[order]
    scale = _typical_gap(sample)
    model = _fit(_evidence(sample, None if shares is None else shares[rows], scale), codes[rows])
    low, high = _interval(model, chi2.ppf(level, 1))
    # Of all rows: the number in these data, when the model was fitted on a sample of them.
    probability, cautious, most, likely = np.zeros((4, codes.size))
    for place, distances in _distances(result, np.flatnonzero(usable)):
        q = _class_shares(model.weights, _evidence(distances, None if shares is None else shares[place], scale))
        for out, share in ((probability, model.wrong), (cautious, low), (most, high)):
            out[place] = _wrong_given_label(q[np.arange(place.size), codes[place]], share, q.shape[1])
        q[np.arange(place.size), codes[place]] = -1.0
        likely[place] = q.argmax(axis=1)
    kind = "profile likelihood, wrong labels anywhere"
    if high - low > TOO_WIDE:
        unknown = Estimate(math.nan, low, high, level, "unknown: wrong labels look like overlap")
        return _nothing(result, unknown, shares is not None, false_alarms)
    wrong = Estimate(model.wrong, low, high, level, kind)
    predicted = encode(result.predicted, result.classes) if shares is None else shares.argmax(axis=1)
    errors = usable & (predicted != codes)
    count, rows_used = int(errors.sum()), int(usable.sum())
    explained = Estimate(math.nan, 0.0, 1.0, level, "no errors")
    if count:
        middle, least, largest = (float(each[errors].mean()) for each in (probability, cautious, most))
        explained = Estimate(middle, least, largest, level, kind)
    return WrongLabels(
        probability=probability,
        likely=result.classes[likely.astype(np.int64)],
        labels=result.labels,
        listed=_listed(cautious, false_alarms),
        number=Estimate(rows_used * wrong.value, rows_used * low, rows_used * high, level, kind),
        share=wrong,
        ceiling=Estimate(1 - wrong.value, 1 - high, 1 - low, level, kind),
        errors=count,
        explained=explained,
        false_alarms=false_alarms,
        used=_used(shares is not None),
        weights=tuple(float(weight) for weight in model.weights),
        notes=("Wrong labels that are always given to one similar class look like overlap and are not counted.",),
    )


def _used(learner: bool) -> str:
    return "distances and the learner's probabilities" if learner else "distances alone"


def _nothing(result: Complexity, unknown: Estimate, learner: bool, false_alarms: float) -> WrongLabels:
    """The result where nothing is known."""
    rows, level = len(result), unknown.level
    return WrongLabels(
        probability=np.full(rows, np.nan),
        likely=result.nearest,
        labels=result.labels,
        listed=np.empty(0, dtype=np.int64),
        number=Estimate(math.nan, rows * unknown.low, rows * unknown.high, level, unknown.kind),
        share=unknown,
        ceiling=Estimate(math.nan, 1 - unknown.high, 1 - unknown.low, level, unknown.kind),
        errors=0,
        explained=Estimate(math.nan, 0.0, 1.0, level, unknown.kind),
        false_alarms=false_alarms,
        used=_used(learner),
        weights=(),
        notes=(),
    )


def _checked_probabilities(probabilities: Any, rows: int, classes: int) -> Floats | None:
    if probabilities is None:
        return None
    table = np.asarray(probabilities, dtype=float)
    if table.shape != (rows, classes):
        shape = " x ".join(map(str, table.shape)) or "one number"
        raise expect.InputError(
            f"`probabilities` is {shape}; expected {rows} rows x {classes} classes, in the order of `classes`."
        )
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > 1e-3).any():
        raise expect.InputError(
            "`probabilities` has negative or missing values, or rows that do not sum to 1. Pass predict_proba of a "
            "cross-validated learner."
        )
    return table


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


def _typical_gap(distances: Floats) -> float:
    nearest = np.partition(distances, 1, axis=1)
    gaps = nearest[:, 1] - nearest[:, 0]
    gaps = gaps[np.isfinite(gaps) & (gaps > 0)]
    return float(np.median(gaps)) if gaps.size else 1.0


def _evidence(distances: Floats, probabilities: Floats | None, scale: float) -> Floats:
    """(kinds, rows, classes) evidence against each class: 0 for the best one, never negative."""
    gaps = (distances - distances.min(axis=1, keepdims=True)) / scale
    np.minimum(np.where(np.isfinite(gaps), gaps, FAR), FAR, out=gaps)
    kinds = [gaps, np.log1p(gaps)]
    if probabilities is not None:
        least = min(LEAST_PROBABILITY, 0.1 / distances.shape[1])
        doubt = -np.log(np.maximum(probabilities, least))
        doubt -= doubt.min(axis=1, keepdims=True)
        kinds += [doubt, np.log1p(doubt)]
    return np.stack(kinds)


# The likelihood.


@dataclass(frozen=True)
class _Model:
    evidence: Floats
    codes: Ints
    weights: Floats
    wrong: float
    loss: float


def _class_shares(weights: Floats, evidence: Floats) -> Floats:
    scores = -np.tensordot(weights, evidence, axes=1)
    scores -= scores.max(axis=1, keepdims=True)
    shares: Floats = np.exp(scores, out=scores)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def _wrong_given_label(own: Floats, wrong: float, classes: int) -> Floats:
    """P(wrong | row, label), `own` the share of the label's class without wrong labels."""
    stray = wrong * (1 - own) / (classes - 1)
    return np.asarray(stray / np.maximum((1 - wrong) * own + stray, 1e-300))


def _loss(parameters: Floats, evidence: Floats, codes: Ints, wrong: float | None) -> tuple[float, Floats]:
    """−log likelihood and its gradient; the last parameter is ε unless `wrong` fixes it."""
    kinds, n, classes = evidence.shape
    weights, share = parameters[:kinds], float(parameters[-1]) if wrong is None else wrong
    q, rows = _class_shares(weights, evidence), np.arange(n)
    own = q[rows, codes]
    chance = np.maximum((1 - share) * own + share * (1 - own) / (classes - 1), 1e-300)
    by_own = ((1 - share) - share / (classes - 1)) / chance * own
    gradient = [-float((by_own * (np.einsum("ij,ij->i", q, each) - each[rows, codes])).sum()) for each in evidence]
    if wrong is None:
        gradient.append(-float((((1 - own) / (classes - 1) - own) / chance).sum()))
    return -float(np.log(chance).sum()), np.array(gradient)


MOST_WEIGHT, LEAST_WRONG = 50.0, 1e-6


def _fit(evidence: Floats, codes: Ints) -> _Model:
    kinds, _, classes = evidence.shape
    bounds = [(0.0, MOST_WEIGHT)] * kinds + [(LEAST_WRONG, (classes - 1) / classes)]
    fits = [
        minimize(
            _loss,
            np.append(np.full(kinds, weight / kinds), start),
            args=(evidence, codes, None),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
        )
        # The likelihood may have several maxima: soft classes and few wrong labels, or sharp ones and more.
        for weight, start in ((1.0, 0.02), (1.0, 0.2), (20.0, 0.05))
    ]
    best = min(fits, key=lambda fit: float(fit.fun))
    return _Model(evidence, codes, best.x[:-1], float(best.x[-1]), float(best.fun))


def _interval(model: _Model, most: float) -> tuple[float, float]:
    """The shares of wrong labels whose likelihood, the weights fitted again, is not clearly below the best."""
    kinds, _, classes = model.evidence.shape

    def plausible(share: float) -> bool:
        fit = minimize(
            _loss,
            model.weights,
            args=(model.evidence, model.codes, share),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, MOST_WEIGHT)] * kinds,
        )
        return bool(2 * (fit.fun - model.loss) <= most)

    def edge(limit: float) -> float:
        inside, outside = model.wrong, limit
        if plausible(limit):
            return limit
        for _ in range(STEPS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if plausible(middle) else (inside, middle)
        return inside

    low, high = edge(LEAST_WRONG), edge((classes - 1) / classes)
    return (0.0 if low == LEAST_WRONG else low), high


def _listed(probability: Floats, false_alarms: float) -> Ints:
    """The likeliest rows, as many as have a mean of 1 − P(wrong) of at most `false_alarms`."""
    order = np.argsort(-probability, kind="stable")
    alarms = np.cumsum(1 - probability[order]) / np.arange(1, order.size + 1)
    enough: Mask = alarms <= false_alarms
    return order[: int(np.flatnonzero(enough)[-1]) + 1] if enough.any() else order[:0]
