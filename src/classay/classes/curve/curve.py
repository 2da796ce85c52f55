"""`accuracy_curve`: average accuracy over all label sets of every size, with an interval over classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import betaincinv

from ... import expect, seeds
from ...arrays import Floats
from ...expect import InputError, fraction, whole
from ...intervals import Estimate
from ...result import Result, plain
from ..ranks.counts import class_weights
from ..ranks.ranks import TIES, Evidence, Ranks
from .retrain import Retrained

KIND = "over classes"
KIND_OF_ROWS = "over rows, these classes fixed"
KNOTS = 200
"""Sizes at which limits are computed; between them they are interpolated, since they are smooth in log k."""
LEAST_CLASSES = 3


@dataclass(frozen=True, eq=False)
class Curve(Result, chart="classes.curve:curve_chart"):
    """The result of `accuracy_curve`: `accuracy[k − 1]` with `low` and `high`, for label sets of k = 1, …, K classes.

    `ranks` is the record it comes from, `ties` how ties were counted, `retrained` the accuracy of the learner refitted
    on some label sets, if requested.
    """

    accuracy: Floats
    low: Floats
    high: Floats
    ties: str
    level: float
    ranks: Ranks
    retrained: tuple[Retrained, ...] = ()

    @property
    def n_classes(self) -> int:
        """K, the number of observed classes."""
        return int(self.accuracy.size)

    def at(self, k: int) -> Estimate:
        """Accuracy with k classes, 1 ≤ k ≤ K."""
        k = expect.whole(k, "k", at_least=1)
        if k > self.n_classes:
            raise expect.InputError(
                f"`k` is {k} but {self.n_classes} classes were observed. Use `classay.extrapolate(curve, {k})`."
            )
        place = k - 1
        return Estimate(float(self.accuracy[place]), float(self.low[place]), float(self.high[place]), self.level, KIND)

    def over_rows(self, k: int | None = None) -> Estimate:
        """Accuracy with k of *these* classes (default: all), with an interval over rows: what other rows would give.

        The binomial interval of Clopper and Pearson, with as many trials as there are rows; if classes have different
        numbers of rows, or weights, with as many as have the same variance, 1/Σ(weight²/rows) over the classes. It
        needs independent rows, says nothing about other classes, and is conservative if accuracy differs by class.
        """
        size = self.n_classes if k is None else k
        value = self.at(size).value
        rows = np.bincount(self.ranks.truth, minlength=self.n_classes)
        by_row = class_weights(self.ranks.truth, self.n_classes, self.ranks.prior)
        trials = 1 / float((by_row**2).sum())
        low, high = proportion_limits(value, trials, self.level) if size > 1 else (1.0, 1.0)
        # One class alone is always right, and a class without rows was not tested.
        return Estimate(value, low, high, self.level, KIND_OF_ROWS if rows.all() else f"{KIND_OF_ROWS}, if tested")

    def evidence(self) -> Evidence:
        """The evidence of all rows, with ties as they were counted here."""
        return self.ranks.evidence(self.ties)

    def _about_prior(self) -> str:
        return "" if self.ranks.prior is None else "Classes are weighted by the given prior. "

    def to_frame(self) -> pd.DataFrame:
        """One row per size: figure, k, value, low, high, level, kind; retrained learners below."""
        frame = pd.DataFrame(
            {
                "figure": "accuracy",
                "k": np.arange(1, self.n_classes + 1),
                "value": self.accuracy,
                "low": self.low,
                "high": self.high,
                "level": self.level,
                "kind": KIND,
            }
        )
        if not self.retrained:
            return frame
        rows = [
            {
                "figure": "retrained accuracy",
                "k": one.k,
                **{name: getattr(one.accuracy, name) for name in frame.columns[2:]},
            }
            for one in self.retrained
        ]
        return pd.concat([frame, pd.DataFrame(rows)], ignore_index=True)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; only a summary of the record."""
        figures = {
            name: plain(getattr(self, name)) for name in ("accuracy", "low", "high", "ties", "level", "retrained")
        }
        return {**figures, "ranks": self.ranks.summary()}

    def __str__(self) -> str:
        sizes = sorted({k for k in (2, 10, 100, 1000, 10_000) if k < self.n_classes})
        some = ", ".join(f"{self.at(k)} with {k}" for k in sizes)
        text = (
            f"{self.ranks.name}: accuracy {self.at(self.n_classes)} with all {self.n_classes} classes"
            + (f"; {some}" if some else "")
            + f". Average over all label sets of each size; intervals are {KIND}, from {self.ranks.truth.size} test "
            f"rows. For these {self.n_classes} classes alone the interval over rows is "
            f"[{(fixed := self.over_rows()).low:.3g}, {fixed.high:.3g}]. {self._about_prior()}"
            f"{self.ranks.marginal_in_words()}"
        )
        if self.retrained:
            anew = ", ".join(f"{one.accuracy} with {one.k} ({self.accuracy[one.k - 1]:.3g})" for one in self.retrained)
            text += f" Refitted on random label sets it reaches (in brackets: the curve): {anew}."
        return " ".join([text, *self.ranks.notes])


def accuracy_curve(
    scores: Any,
    y: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    ties: str = "random",
    marginal: bool | None = None,
    level: float = 0.95,
    prior: Any = None,
) -> Curve:
    """Measure the accuracy with 2, 3, …, K classes, from scores with K.

    accuracy_k = mean over test rows, with equal weight per class, of the share of label sets of k classes that contain
    the true one in which it scores highest: C(L, k−1)/C(K−1, k−1) for a row that beats L of K − 1 others.

    From 1 (k = 1) down to the accuracy with all classes; it never rises with k. The interval is over classes: what
    another random sample of classes from the same source would give.

    It misleads if the scores of a class depend on which others there are (softmax, trees): a learner fitted on k
    classes alone would give other scores. `marginal=True` says that they do not, as in naive Bayes, discriminant
    analysis and nearest means; for a learner, `curve_of_learner(..., retrain=True)` compares. If classes were not drawn
    at random (the most frequent, the easiest), the curve holds for such classes only.

    Parameters
    ----------
    scores : (n, K) array or memory map, higher means more likely; or a `Ranks`, and then nothing else
    y : (n,) true classes, as names or column numbers
    classes : names of the columns, in order; may be left out if `y` has column numbers
    ties : a tie with the true class counts as "random" (broken at random), "wrong" or "right"
    marginal : whether the score of a class does not depend on which others there are
    level : confidence level of the intervals
    prior : how often each class is the true one: weights in the order of the columns, or by class; "rows": by the
        number of test rows; "zipf": 1, 1/2, 1/3, … by the number of test rows; default: every class equally often. The
        other classes of a label set are drawn evenly

    Examples
    --------
    >>> scores = [[3.0, 1, 2, 0], [2, 1, 3, 0], [0, 1, 2, 1], [3, 2, 1, 0]]
    >>> accuracy_curve(scores, [0, 1, 2, 3]).accuracy.round(3)
    array([1.   , 0.583, 0.5  , 0.5  ])

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19.

    """
    expect.one_of(ties, "ties", TIES)
    expect.fraction(level, "level")
    ranks = ranks_of(scores, y, classes, marginal)
    return curve_of(ranks if prior is None else ranks.with_prior(prior), ties, level)


def expect_curve(curve: Any, name: str = "curve") -> Curve:
    """Return the curve if it is one, of 2 classes or more."""
    if not isinstance(curve, Curve):
        raise expect.InputError(
            f"`{name}` is of type {type(curve).__name__}; expected a curve from `accuracy_curve(scores, y)`."
        )
    if curve.n_classes < 2:
        raise expect.InputError(f"`{name}` has 1 class; at least 2 are needed to measure information.")
    return curve


def ranks_of(scores: Any, y: ArrayLike | None, classes: ArrayLike | None, marginal: bool | None) -> Ranks:
    """A record from scores, or the record itself."""
    if isinstance(scores, Ranks):
        surplus = [
            name for name, value in (("y", y), ("classes", classes), ("marginal", marginal)) if value is not None
        ]
        if surplus:
            raise expect.InputError(f"`scores` is a record of ranks, which has its own {surplus[0]}. Leave that out.")
        return scores
    if y is None:
        raise expect.InputError("`y` is missing; expected the true class of every row of `scores`.")
    return Ranks.from_scores(scores, y, classes, marginal)


def curve_of(ranks: Ranks, ties: str, level: float, retrained: tuple[Retrained, ...] = ()) -> Curve:
    """The curve of a record."""
    accuracy = ranks.evidence(ties).accuracy()
    low, high = band(ranks, accuracy, ties, level)
    return Curve(accuracy, low, high, ties, level, ranks, retrained)


# Intervals over classes.


def band(ranks: Ranks, accuracy: Floats, ties: str, level: float) -> tuple[Floats, Floats]:
    """Lower and upper limits for k = 1, …, K, from the rows that are stored in detail.

    The variance over the choice of classes comes from a jackknife over groups of classes. It gives the number of
    independent trials with the same uncertainty, n* = a(1 − a)/variance; the interval is that of a proportion in n*
    trials (Korn & Graubard, 1998, with Jeffreys' limits). So it stays within 0 and 1, and has a width even without any
    error.
    """
    n_classes = ranks.n_classes
    with_rows = int(np.unique(ranks.truth).size)
    if ranks.prior is not None:  # as many classes of equal weight as have the same variance
        share = ranks.prior[np.unique(ranks.truth)]
        with_rows = max(int(share.sum() ** 2 / (share**2).sum()), 1)
    if with_rows < LEAST_CLASSES:  # two classes say nothing about others
        return np.where(np.arange(n_classes) == 0, accuracy, 0.0), np.ones(n_classes)
    knots = np.unique(np.geomspace(2, n_classes, KNOTS).round().astype(np.int64))
    values = np.array([accuracy_up_to(evidence, knots) for evidence in leave_groups_out(ranks, ties, statistics=False)])
    parts = contributions(values, np.bincount(ranks.group))
    most = ranks.truth.size * (n_classes - 1)  # number of comparisons in all
    low, high = interval_limits(accuracy[knots - 1], parts, with_rows, most, level)
    at, sizes = np.log(knots), np.log(np.arange(1, n_classes + 1))
    low, high = np.interp(sizes, at, low), np.interp(sizes, at, high)
    low[0] = high[0] = 1.0  # one class alone is always right
    return np.minimum(low, accuracy), np.maximum(high, accuracy)


def proportion_limits(share: float, trials: float, level: float) -> tuple[float, float]:
    """Clopper and Pearson's limits of a proportion; the trials need not be whole (Korn & Graubard, 1998).

    >>> tuple(round(end, 4) for end in proportion_limits(0.0, 10, 0.95))
    (0.0, 0.3085)
    """
    tail, right = (1 - level) / 2, share * trials
    low = float(betaincinv(right, trials - right + 1, tail)) if right > 0 else 0.0
    high = float(betaincinv(right + 1, trials - right, 1 - tail)) if trials - right > 1e-12 * trials else 1.0
    return min(low, share), max(high, share)


def accuracy_up_to(evidence: Evidence, sizes: NDArray[np.int64]) -> Floats:
    """The curve without some classes; a size that no longer exists is replaced by the largest that does.

    Fewer classes vary more, so the error is rather too large than too small (Efron & Stein, 1981).
    """
    return evidence.accuracy(np.minimum(sizes, evidence.n_classes))


def interval_limits(accuracy: Floats, parts: Floats, n_classes: int, most: int, level: float) -> tuple[Floats, Floats]:
    """Limits of accuracies whose variance is the mean of `parts` (G, …), estimated from `n_classes` classes.

    The spread of the parts shows how precisely the variance is known and sets the degrees of freedom: few if one group
    of classes makes all the errors.
    """
    n_groups, tail = parts.shape[0], (1 - level) / 2
    variance = parts.mean(axis=0)
    varies = (variance > 0) & (accuracy > 0) & (accuracy < 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        kurtosis = (parts**2).mean(axis=0) / variance**2
        freedom = np.where(kurtosis > 1, 2 * n_groups / (kurtosis - 1), np.inf)
        freedom = np.clip(freedom, 1, n_groups - 1)
        wider = stats.norm.ppf(1 - tail) / stats.t.ppf(1 - tail, freedom)
        # If all is right, or all wrong, every class counts as one trial: its rows may be fully dependent.
        trials = np.where(varies, np.minimum(accuracy * (1 - accuracy) / variance, most) * wider**2, n_classes)
    right = accuracy * trials
    low, high = (betaincinv(right + 0.5, trials - right + 0.5, q) for q in (tail, 1 - tail))
    return np.where(accuracy == 0, 0.0, low), np.where(accuracy > 1 - 1e-12, 1.0, high)


# Resampling of classes: standard errors of a curve, and of the difference of two


MOST_PAIRS = 200
"""Pairs of groups that `paired_error` leaves out."""
Figure = TypeVar("Figure", float, Floats)


def leave_groups_out(ranks: Ranks, ties: str = "random", statistics: bool = True) -> Iterator[Evidence]:
    """The evidence without the classes of one group, for each of the G groups in turn; see `Ranks.among`."""
    for group in range(ranks.n_groups):
        mask = np.ones(ranks.n_groups, dtype=bool)
        mask[group] = False
        yield ranks.among(mask, ties, statistics)


def class_samples(
    ranks: Ranks, ties: str = "random", n: int = 10, seed: int = 0, share: float = 0.5
) -> Iterator[Evidence]:
    """The evidence of a random `share` of the groups, `n` times."""
    size = round(fraction(share, "share") * ranks.n_groups)
    if size < 2:
        raise InputError(
            f"A share of {share:g} of {ranks.n_classes} classes is {size}; at least 2 are needed. Use more classes or "
            "a larger share."
        )
    for draw in range(whole(n, "n", at_least=1)):
        chosen = seeds.generator(seed, "some classes", draw).choice(ranks.n_groups, size, replace=False)
        mask = np.zeros(ranks.n_groups, dtype=bool)
        mask[chosen] = True
        yield ranks.among(mask, ties)


def standard_error(
    ranks: Ranks, figure: Callable[[Evidence], Figure], ties: str = "random", statistics: bool = True
) -> Figure:
    """Standard error of a figure over the choice of classes: the delete-a-group jackknife.

    se² = 1/G · Σ_g (K/m_g − 1)·(θ_g − θ̄)², where θ_g is the figure without the m_g classes of group g and θ̄ their mean
    with weights K − m_g: exact for a mean over classes, whatever the sizes of the groups (Busing, Meijer & van der
    Leeden, 1999), and (G−1)/G·Σ(θ_g − θ̄)² if they are equal. NaN if a figure is NaN without some group.
    """
    values = np.array([figure(evidence) for evidence in leave_groups_out(ranks, ties, statistics)], dtype=float)
    return jackknife_error(values, np.bincount(ranks.group))  # type: ignore[return-value]  # an array or a float


def jackknife_error(values: Floats, sizes: NDArray[np.integer]) -> Floats | float:
    """The standard error from figures without each group, (G,) or (G, …), and the sizes of the groups."""
    error = np.sqrt(contributions(values, sizes).mean(axis=0))
    return float(error) if values.ndim == 1 else error


def contributions(values: Floats, sizes: NDArray[np.integer]) -> Floats:
    """What each group contributes to the squared standard error, which is their mean."""
    n_classes, wide = sizes.sum(), (slice(None),) + (None,) * (values.ndim - 1)
    left = (n_classes - sizes)[wide]
    mean = (left * values).sum(axis=0) / left.sum()
    parts: Floats = (n_classes / sizes - 1)[wide] * (values - mean) ** 2
    return parts


def paired_error(ranks: Ranks, figure: Callable[[Evidence], float], ties: str = "random") -> float:
    """Standard error of a figure over the choice of classes. It includes that of rows, which come with their class.

    Whether a class is recognised depends on its neighbours, so accuracy is far from a mean over classes. Split its
    variance into what classes do alone, in pairs, in threes: σ₁ + σ₂ + σ₃ + … The jackknife counts these once, twice,
    three times: V₁ = σ₁ + 2σ₂ + 3σ₃ + …, too much. Leaving out two groups at a time gives V₂ = σ₂ + 3σ₃ + 6σ₄ + …
    (Efron & Stein, 1981), and V₁ − V₂ = σ₁ + σ₂ − 2σ₄ − … is too little. The mean of the two, as for an alternating
    series, is used here.
    """
    n_groups = ranks.n_groups

    def without(*groups: int) -> float:
        mask = np.ones(n_groups, dtype=bool)
        mask[list(groups)] = False
        return figure(ranks.among(mask, ties, statistics=False))

    single = np.array([without(group) for group in range(n_groups)])
    alone = float(jackknife_error(single, np.bincount(ranks.group))) ** 2
    if n_groups < 4 or alone == 0:
        return math.sqrt(alone)
    # How much more two groups do together than each alone.
    whole = without()
    together = [
        n_groups * whole - (n_groups - 1) * (single[a] + single[b]) + (n_groups - 2) * without(a, b)
        for a, b in group_pairs(n_groups)
    ]
    in_pairs = float(np.var(together)) * (n_groups - 1) / (2 * (n_groups + 1))
    return math.sqrt(alone - min(in_pairs, alone) / 2)


def group_pairs(n_groups: int) -> NDArray[np.int64]:
    """All pairs of groups, or some at random, always the same."""
    pairs = np.array(list(combinations(range(n_groups), 2)), dtype=np.int64)
    if len(pairs) <= MOST_PAIRS:
        return pairs
    return pairs[seeds.generator(0, "pairs of groups", n_groups).choice(len(pairs), MOST_PAIRS, replace=False)]
