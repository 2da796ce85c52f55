"""`accuracy_curve`: average accuracy over all label sets of every size, with an interval over classes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ... import expect
from ...arrays import Floats
from ...expect import InputError
from ...intervals import Estimate
from ...result import Result
from ..ranks.evidence import TIES, Evidence, class_weights
from ..ranks.ranks import Ranks
from ..ranks.scores import Retrained, rank_and_retrain, split_learner
from .jackknife import band, proportion_limits

if TYPE_CHECKING:
    from ..extrapolate.extrapolate import Plan
    from ..extrapolate.u_distribution import NestedAccuracy, UDistribution
    from .risk import RiskCurve

KIND = "over classes"
KIND_OF_ROWS = "over rows, these classes fixed"


@dataclass(frozen=True, eq=False)
class Curve(Result, chart="curve:curve_chart"):
    """The result of `accuracy_curve`: `accuracy[k − 1]` with `low` and `high`, for label sets of k = 1, …, K classes.

    `ranks` is the record it comes from, `ties` how ties were counted, `retrained` the accuracy of the learner refitted
    on some label sets, if requested. Methods ask further questions: `over_rows`, `u_distribution`, `nested`,
    `plan`, `risk`, `bayes_bound`.
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
        place = observed_size(k, self.n_classes) - 1
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

    def u_distribution(self, method: str = "auto", random_state: int | None = 0) -> UDistribution:
        """Estimate the distribution of U, the share of all classes that a row beats: all figures for k classes follow.

        A row with U = u is right among k classes, drawn from the same source, with chance u^(k−1), and among the first
        m with the chance that at most m − 1 of k − 1 others are above it. So `accuracy(k)`, `top(m, k)`,
        `cost(k, cost)` and `largest(accuracy)`, the inverse question, are integrals of one distribution. Up to K
        classes they are exact averages over label sets.

        D̄(u), the share of rows with U ≤ u, rises from 0 to 1; better classifiers have it lower. The band is a
        jackknife over classes, widened by how far two methods differ. Above 1 − 1/K, K classes cannot
        show it: there the method continues it, and the figures for k far above K depend on that.

        It misleads as `extrapolate` does: if new classes are of another kind, or a learner would be retrained.
        `method` and `random_state` are as in `extrapolate`.

        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
        >>> u = accuracy_curve(scores, np.arange(600) % 60).u_distribution()
        >>> u.accuracy(1000), u.top(5, 1000)                    # in truth .243 and .458
        (0.274 [0.231, 0.364], 0.492 [0.443, 0.588])
        >>> u.largest(0.5)                                      # in truth 100 classes
        128 [93, 222]

        Zheng (2017), Information, Prediction, and Supervised Learning, Theorem 3.3.1.
        """
        from ..extrapolate.u_distribution import u_distribution

        return u_distribution(self, method, random_state)

    def nested(self, k: int, method: str = "auto", random_state: int | None = 0) -> NestedAccuracy:
        """Estimate the accuracy if these K classes are kept and k − K like them are added.

        A row of a kept class must beat the classes it was tested against, which is known, and the added ones: its
        accuracy is that measured now, times E[U^(k−1)]/E[U^(K−1)]. A row of an added class must beat k − 1 classes:
        E[U^(k−1)], as in `extrapolate`. Each of the k classes counts equally.

        From 0 to 1. The measured accuracy of the kept classes has only the uncertainty of its rows, so the interval is
        narrower than that for k classes that are all new. It misleads if the added classes are of another kind than the
        kept, or if a learner would be retrained.

        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=(600, 60)) + 2.5 * np.eye(60)[np.arange(600) % 60]
        >>> more = accuracy_curve(scores, np.arange(600) % 60).nested(100)
        >>> bool(more.kept.low < more.accuracy.value < more.now.value)
        True
        """
        return self.u_distribution(method, random_state).nested(k)

    def plan(self, k: int, width: float = 0.05) -> Plan:
        """Plan how many classes, and rows of each, are needed until accuracy at k is known to ± width.

        The variance over classes shrinks with the number of classes; its part within classes, with the rows too.
        Beyond K, what the model leaves open shrinks with log(k/K) only. An estimate: `width` is half of the interval.

        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=(120, 30)) + 2.5 * np.eye(30)[np.arange(120) % 30]
        >>> bool(accuracy_curve(scores, np.arange(120) % 30).plan(30).classes[0] > 30)
        True
        """
        from ..extrapolate.extrapolate import plan

        return plan(self, k, width)

    def risk(self, costs: ArrayLike, scores: Any) -> RiskCurve:
        """Measure the expected cost with 2, 3, …, K classes, if some errors cost more than others.

        risk_k = mean over test rows, with equal weight per class, and over all label sets of k classes that contain the
        true one, of costs[prediction, truth]. A class j that scores higher than the true one is predicted in
        C(R_j − 2, k−2)/C(K−1, k−1) of them, R_j the number of classes that score as high as j or lower.

        Between the least and the greatest cost; lower is better. With cost 0 for right and 1 for wrong it is
        1 − accuracy. It misleads as the curve does: if the scores of a class depend on which others there are. The
        prediction is the class with the highest score, not the one with the lowest cost. If the cost depends on the
        rank of the true class alone, `u_distribution().cost` needs no scores.

        costs : (K, K), costs[predicted, true], in the order of the columns, or a DataFrame labelled by class
        scores : the (n, K) scores that the curve was made of; the record has only how the true class ranked

        >>> scores, costs = [[3.0, 1, 2], [2, 1, 0], [0, 1, 2]], [[0, 9, 1], [1, 0, 1], [1, 1, 0]]
        >>> accuracy_curve(scores, [0, 1, 2]).risk(costs, scores).risk
        array([0. , 1.5, 3. ])

        Zheng (2017), Information, Prediction, and Supervised Learning, sections 2.3 and 3.3.
        """
        from .risk import risk_curve

        return risk_curve(self.ranks, scores, costs, self.ties, self.level)

    def bayes_bound(
        self, k: int | None = None, alpha: float = 0.05, method: str = "guaranteed", tried: int = 1
    ) -> Estimate:
        """Bound from below the accuracy of the best possible classifier, on average over random sets of k classes.

        The classifier at hand is right less often than the best one, and both depend on chance in their classes and
        rows. `low` is the lowest average Bayes accuracy at which so good a result has a probability above `alpha`: one
        bound on the moment generating function over classes and rows together (see `classes.information.bayes`).
        `value` is the measured accuracy, `high` is 1: there is no upper bound.

        From 1/k, nothing learned, to 1; higher is better. "guaranteed" holds for every sample size and any channel, and
        is therefore wide: 50 classes of 10 rows at .635 give .453. "jackknife" takes the spread over classes from the
        data (.56 there): an approximation for many classes, and for scores that do not change when a class is removed.
        Both need classes drawn at random from many, and test rows separate from the training rows; for the best
        classifier of *these* classes, where only rows are random, use "fixed_classes".

        k : classes in a set, by default all K. Choose it before looking at the results
        alpha : how often the bound may fail
        method : "guaranteed", "jackknife" or "fixed_classes"
        tried : how many classifiers were tried on the same rows: the best of 10 needs `tried=10`

        >>> curve = accuracy_curve(np.eye(50)[np.arange(500) * 7 // 9 % 50], np.arange(500) % 50)
        >>> curve.bayes_bound().low >= 1 / 50
        True

        Zheng (2017), Information, Prediction, and Supervised Learning, Section 2.5; Boucheron, Lugosi & Massart (2000),
        A sharp concentration inequality with applications.
        """
        from ..information.bayes import bayes_bound

        return bayes_bound(self, k, alpha, method, tried)

    def to_frame(self) -> pd.DataFrame:
        """One row per size: figure, k, value, low, high, level, kind; retrained learners below."""
        frame = curve_frame("accuracy", self.accuracy, self.low, self.high, self.level)
        rows = [
            {"figure": "retrained accuracy", "k": each.k}
            | {name: getattr(each.accuracy, name) for name in frame.columns[2:]}
            for each in self.retrained
        ]
        return pd.concat([frame, pd.DataFrame(rows)], ignore_index=True) if rows else frame

    def __str__(self) -> str:
        prior = "" if self.ranks.prior is None else "Classes are weighted by the given prior. "
        fixed = self.over_rows()
        text = (
            f"{self.ranks.name}: accuracy {self.at(self.n_classes)} with all {self.n_classes} classes"
            f"{'; ' if self.n_classes > 2 else ''}{some_sizes(self)}. Average over all label sets of each size; "
            f"intervals are {KIND}, from {self.ranks.truth.size} test rows. For these {self.n_classes} classes alone "
            f"the interval over rows is [{fixed.low:.3g}, {fixed.high:.3g}]. {prior}{self.ranks.marginal_in_words()}"
        )
        if self.retrained:
            anew = ", ".join(
                f"{each.accuracy} with {each.k} ({self.accuracy[each.k - 1]:.3g})" for each in self.retrained
            )
            text += f" Refitted on random label sets it reaches (in brackets: the curve): {anew}."
        return " ".join([text, *self.ranks.notes])


def accuracy_curve(
    scores: Any,
    y: ArrayLike | None = None,
    *,
    learner: Any = None,
    test_size: float = 0.5,
    retrain: bool | Sequence[int] = False,
    draws: int = 10,
    classes: ArrayLike | None = None,
    ties: str = "random",
    marginal: bool | None = None,
    prior: Any = None,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    progress: bool = False,
    name: str | None = None,
) -> Curve:
    """Measure the accuracy with 2, 3, …, K classes, from scores with K, or of a learner.

    accuracy_k = mean over test rows, with equal weight per class, of the share of label sets of k classes that contain
    the true one in which it scores highest: C(L, k−1)/C(K−1, k−1) for a row that beats L of K − 1 others.

    From 1 (k = 1) down to the accuracy with all classes; it never rises with k. The interval is over classes: what
    another random sample of classes from the same source would give.

    It misleads if the scores of a class depend on which others there are (softmax, trees): a learner fitted on k
    classes alone would give other scores. `marginal=True` says that they do not, as in naive Bayes, discriminant
    analysis and nearest means. With a learner, `retrain=True` refits it on random label sets of a few sizes, with the
    same rows to train and to test: if those accuracies lie off the curve, trust them. If classes were not drawn at
    random (the most frequent, the easiest), the curve holds for such classes only.

    Parameters
    ----------
    scores : (n, K) array or memory map, higher means more likely; or a `Ranks`; or, with `learner`, the rows X
    y : (n,) true classes, as names or column numbers; none with a `Ranks`
    learner : an unfitted scikit-learn classifier or Pipeline, to be fitted once on some rows of all classes
    test_size : of a learner: share of the rows of each class that are scored, not fitted
    retrain : of a learner: whether to refit it on random label sets; or their sizes, by default about five
    draws : label sets of each size to refit on
    classes : names of the columns of scores, in order; may be left out if `y` has column numbers
    ties : a tie with the true class counts as "random" (broken at random), "wrong" or "right"
    marginal : whether the score of a class does not depend on which others there are; known for most learners
    prior : how often each class is the true one: weights in the order of the columns, or by class; "rows": by the
        number of test rows; "zipf": 1, 1/2, 1/3, … by the number of test rows; default: every class equally often. The
        other classes of a label set are drawn evenly
    level : confidence level of the intervals
    random_state, executor, progress : of the split, the label sets and the fits of a learner; as in `classay.record`
    name : display name

    Examples
    --------
    >>> scores = [[3.0, 1, 2, 0], [2, 1, 3, 0], [0, 1, 2, 1], [3, 2, 1, 0]]
    >>> accuracy_curve(scores, [0, 1, 2, 3]).accuracy.round(3)
    array([1.   , 0.583, 0.5  , 0.5  ])
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = accuracy_curve(*load_digits(return_X_y=True), learner=GaussianNB(var_smoothing=0.01))
    >>> curve.at(2), curve.at(10)
    (0.987 [0.969, 0.996], 0.923 [0.832, 0.972])

    References
    ----------
    Zheng, Achanta & Benjamini (2018), Extrapolating expected accuracies for large multi-class problems, JMLR 19.

    """
    expect.one_of(ties, "ties", TIES)
    expect.fraction(level, "level")
    retrained: tuple[Retrained, ...] = ()
    if learner is not None:
        if isinstance(scores, Ranks) or classes is not None or y is None:
            raise InputError(
                "With a `learner`, the first two arguments are its rows X and labels y, and `classes` is left out."
            )
        split = split_learner(learner, scores, y, test_size, random_state)
        ranks, retrained = rank_and_retrain(split, retrain, draws, ties, marginal, level, executor, progress, name)
    else:
        if retrain is not False:
            raise InputError("`retrain` needs a learner: accuracy_curve(X, y, learner=LinearSVC(), retrain=True).")
        ranks = ranks_of(scores, y, classes, marginal, name)
    ranks = ranks if prior is None else ranks.with_prior(prior)
    accuracy = ranks.evidence(ties).accuracy()
    return Curve(accuracy, *band(ranks, accuracy, ties, level), ties, level, ranks, retrained)


def ranks_of(
    scores: Any, y: ArrayLike | None, classes: ArrayLike | None, marginal: bool | None, name: str | None
) -> Ranks:
    """A record from scores, or the record itself."""
    if isinstance(scores, Ranks):
        arguments = {"y": y, "classes": classes, "marginal": marginal, "name": name}
        surplus = [argument for argument, value in arguments.items() if value is not None]
        if surplus:
            raise InputError(f"`scores` is a record of ranks, which has its own {surplus[0]}. Leave that out.")
        return scores
    if y is None:
        raise InputError("`y` is missing; expected the true class of every row of `scores`.")
    return Ranks.from_scores(scores, y, classes, marginal, name or "scores")


def expect_curve(curve: Any, name: str = "curve") -> Curve:
    """Return the curve if it is one, of 2 classes or more."""
    if not isinstance(curve, Curve):
        raise InputError(f"`{name}` is of type {type(curve).__name__}; expected a curve from `accuracy_curve`.")
    if curve.n_classes < 2:
        raise InputError(f"`{name}` has 1 class; at least 2 are needed to measure information.")
    return curve


# What the curves of accuracy and of cost have in common.


def observed_size(k: int, n_classes: int) -> int:
    """A number of classes that was observed."""
    if expect.whole(k, "k", at_least=1) > n_classes:
        raise InputError(f"`k` is {k} but {n_classes} classes were observed. For more use `extrapolate(curve, {k})`.")
    return int(k)


def curve_frame(figure: str, values: Floats, low: Floats, high: Floats, level: float) -> pd.DataFrame:
    """One row per size: figure, k, value, low, high, level, kind."""
    sizes = np.arange(1, values.size + 1)
    return pd.DataFrame(
        {"figure": figure, "k": sizes, "value": values, "low": low, "high": high, "level": level, "kind": KIND}
    )


def some_sizes(curve: Curve | RiskCurve) -> str:
    """The figures of a few sizes, in words."""
    return ", ".join(f"{curve.at(k)} with {k}" for k in (2, 10, 100, 1000, 10_000) if k < curve.n_classes)
