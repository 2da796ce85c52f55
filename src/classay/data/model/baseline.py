"""The baseline: predict the nearest class. Any trained classifier must beat it to be worth its training.

`BaselineClassifier` is the baseline as an estimator. `versus` compares a model with it, and `against` its errors with
complexity; `Complexity` has both as methods, with their documentation. Last, the comparison of two classifiers on the
same rows, with a test and the interval that agrees with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.optimize import brentq
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ... import expect
from ...arrays import Floats, Ints, Mask
from ...auc import auc, of_auc, of_auc_difference
from ...inputs import at_least_two, class_labels, encode
from ...intervals import (
    Estimate,
    bounded,
    by_group,
    crossed_standard_error,
    exact,
    normal_quantile,
    of_proportion_by_group,
)
from ...result import Result
from ...seeds import settle
from ...splits import fold_of_rows
from ..geometry.choice import choose_distance
from ..geometry.covariance import COVARIANCES
from ..geometry.cross_fit import CrossFit, check_temperature
from ..geometry.distances import DISTANCES
from ..geometry.moments import Geometry

if TYPE_CHECKING:
    from ..row_complexity import Complexity

MEASURES = ("accuracy", "balanced_accuracy")
VERDICTS = {1: "yes", 0: "not shown", -1: "no"}
BINS = 10


class BaselineClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Predict the class whose geometry is nearest: f(x) = argmin_c δ(x, c), a scikit-learn classifier without training.

    `predict_proba` is the softmax of −δ(x, c)/τ, so that −log of the probability of a row's label is its complexity.
    With `euclidean` it is the nearest-centroid classifier, with `gaussian` quadratic discriminant analysis, with
    `gaussian` and `covariance="shared"` linear discriminant analysis.

    Parameters
    ----------
    distance : auto (the lowest cross-fitted mean complexity), euclidean, cosine, mahalanobis, correlation, gaussian or
        whitened_cosine
    temperature : a number, "auto" to fit it by cross-fitting, None for 1; predictions do not depend on it
    covariance : auto (one per class, shrunk if there are few rows), full, shared or diagonal
    random_state : seed of the folds

    Attributes
    ----------
    classes_, geometry_, distance_, covariance_, temperature_, notes_ : the fitted values

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(BaselineClassifier(distance="euclidean").fit(X, y).score(X, y)), 3)
    0.927

    References
    ----------
    Kour et al., Classifier Data Quality, equation 8.

    """

    def __init__(
        self,
        distance: str = "auto",
        temperature: float | str | None = "auto",
        covariance: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.distance = distance
        self.temperature = temperature
        self.covariance = covariance
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike) -> BaselineClassifier:
        """Compute the geometry of the classes."""
        expect.one_of(self.distance, "distance", ("auto", *DISTANCES))
        expect.one_of(self.covariance, "covariance", COVARIANCES)
        tau = check_temperature(self.temperature)
        table, target = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        at_least_two(self.classes_)
        # Codes instead of labels: whatever scikit-learn allows as a label stays unchanged in `classes_`.
        self.geometry_ = Geometry.fit(table, codes)
        seed = settle(self.random_state)
        self.distance_, self.covariance_, self.temperature_ = self.distance, self.covariance, tau or 1.0
        self.notes_: tuple[str, ...] = ()
        if self.distance == "auto" or tau is None:
            rows = CrossFit(self.geometry_, table, codes, folds=fold_of_rows(codes, 5, seed))
            choice = choose_distance(rows, self.distance, self.covariance, tau, codes.size, seed)
            self.distance_, self.covariance_, self.temperature_ = choice.distance, choice.covariance, choice.temperature
            self.tried_, self.notes_ = choice.tried, choice.notes
        self._metric = CrossFit(self.geometry_, table, codes).whole_metric(self.distance_, self.covariance_)
        return self

    def distances(self, X: Any) -> Floats:
        """(rows, classes) distances, not divided by the temperature."""
        check_is_fitted(self)
        table = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._metric.measure(table)[self.distance_]

    def predict(self, X: Any) -> NDArray[Any]:
        """The nearest class."""
        nearest = self.distances(X).argmin(axis=1)  # before `classes_`: it says whether this is fitted
        return np.asarray(self.classes_[nearest])

    def predict_proba(self, X: Any) -> Floats:
        """Softmax of −δ/τ."""
        return np.asarray(special.softmax(-self.distances(X) / self.temperature_, axis=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(frozen=True)
class VersusBaseline(Result, unit="share"):
    """The result of `Complexity.versus`: by measure, `model`, `baseline` (nearest class) and `difference`.

    `majority` is the accuracy of always predicting the largest class of the geometry, `p_value` the exact test of the
    rows that only one of the two predicts correctly (McNemar); over groups, a t test. `verdict` is whether the model's
    accuracy is above the baseline's by this test at the level of the intervals: `yes`, `no` or `not shown`.
    """

    model: dict[str, Estimate]
    baseline: dict[str, Estimate]
    difference: dict[str, Estimate]
    majority: float
    only_model: int
    only_baseline: int
    p_value: float
    verdict: str
    rows: int

    def summary(self) -> dict[str, Estimate]:
        """Model and baseline for each measure, and the rate of the largest class."""
        figures: dict[str, Estimate] = {}
        for name in MEASURES:
            words = name.replace("_", " ")
            figures |= {f"{words}, model": self.model[name], f"{words}, nearest class": self.baseline[name]}
        return {**figures, "largest class alone": exact(self.majority)}

    def to_frame(self) -> pd.DataFrame:
        """One line per measure: model, baseline, and the difference as `value` with its interval."""
        gaps = ((name, self.difference[name]) for name in MEASURES)
        lines = [
            (name, self.model[name].value, self.baseline[name].value, gap.value, gap.low, gap.high)
            for name, gap in gaps
        ]
        return pd.DataFrame(lines, columns=["measure", "model", "baseline", "value", "low", "high"])

    def __str__(self) -> str:
        words = {"yes": "beats", "no": "is below", "not shown": "is not shown to beat"}[self.verdict]
        gains = "; ".join(
            f"{name.replace('_', ' ')} {self.model[name].value:.3f} against {self.baseline[name].value:.3f}, "
            f"difference {self.difference[name]:.3f}"
            for name in MEASURES
        )
        return (
            f"The model {words} the nearest class on {self.rows} rows: {gains}. Always predicting the largest class "
            f"gives an accuracy of {self.majority:.3f}. {self.only_model} rows are right by the model alone, "
            f"{self.only_baseline} by the nearest class alone (p = {self.p_value:.2g})."
        )


def versus(result: Complexity, predictions: ArrayLike, level: float) -> VersusBaseline:
    """A model against the nearest class: see `Complexity.versus`."""
    expect.fraction(level, "level")
    predicted = class_labels(predictions, "predictions", len(result))
    # Wide enough for all: predictions of a model that never predicts a long name would cut it to another.
    wide = np.result_type(predicted, result.classes, result.labels)
    names = np.union1d(np.union1d(result.classes.astype(wide), predicted.astype(wide)), result.labels.astype(wide))
    truth, model, base = (encode(labels.astype(wide), names) for labels in (result.labels, predicted, result.predicted))
    groups = result.evidence.row_groups
    right = model == truth, base == truth
    accuracy = paired_accuracy(*right, groups, level)
    singles = [of_proportion_by_group(hits, groups, level) for hits in right]
    by_measure = (*singles, accuracy.difference), balanced_accuracy(truth, model, base, groups, level)
    of_model, of_baseline, difference = (dict(zip(MEASURES, figures)) for figures in zip(*by_measure))
    largest = result.classes[int(result.geometry.counts.argmax())]
    return VersusBaseline(
        model=of_model,
        baseline=of_baseline,
        difference=difference,
        majority=float((result.labels == largest).mean()),
        only_model=accuracy.only_one,
        only_baseline=accuracy.only_other,
        p_value=accuracy.p_value,
        verdict=VERDICTS[accuracy.sign],
        rows=truth.size,
    )


@dataclass(frozen=True)
class ComplexityAgainst(Result, unit="error rate, by complexity"):
    """The result of `Complexity.against`.

    `auc` is the probability that a wrong row has a higher complexity than a right one; `auc_confidence` the same of
    low confidence, and `difference` of the two, unknown without confidences. `correlation` (Spearman) is that of
    complexity with confidence. `curve` has the error rate by complexity, in ranges of about equally many rows.
    """

    auc: Estimate
    auc_confidence: Estimate
    difference: Estimate
    correlation: float
    curve: pd.DataFrame
    errors: int
    rows: int

    def summary(self) -> dict[str, Estimate]:
        """The error rate by range of complexity."""
        columns = ["low", "high", "error_rate", "rate_low", "rate_high"]
        return {
            f"{low:.3g} to {high:.3g}": Estimate(rate, least, most)
            for low, high, rate, least, most in self.curve[columns].to_numpy(dtype=float).tolist()
        }

    def to_frame(self) -> pd.DataFrame:
        """The curve: one line per range of complexity, with its error rate as `value`."""
        return self.curve.rename(columns={"error_rate": "value"})

    def __str__(self) -> str:
        text = (
            f"A row that the model gets wrong has a higher complexity than one that it gets right with probability "
            f"{self.auc:.3f} (AUC; {self.errors} errors in {self.rows} rows)."
        )
        if not self.auc.known:
            text = f"Whether complexity ranks the errors is {self.auc.kind} ({self.errors} errors in {self.rows} rows)."
        if self.auc_confidence.known:
            text += (
                f" Its own confidence reaches {self.auc_confidence:.3f}; complexity minus confidence "
                f"{self.difference:.3f}. Their rank correlation is {self.correlation:.2f}."
            )
        first, last = self.curve["error_rate"].iloc[[0, -1]]
        return f"{text} The error rate is {first:.3g} among the easiest rows and {last:.3g} among the hardest."


def against(
    result: Complexity, errors: ArrayLike, confidence: ArrayLike | None, bins: int, level: float
) -> ComplexityAgainst:
    """Complexity against a model's errors: see `Complexity.against`."""
    expect.fraction(level, "level")
    expect.whole(bins, "bins", at_least=2)
    wrong = np.asarray(errors)
    if wrong.shape != (len(result),) or wrong.dtype.kind not in "bui" or not np.isin(wrong, (0, 1)).all():
        raise expect.InputError(f"`errors` must be True or False for each of the {len(result)} rows.")
    wrong = wrong.astype(bool)
    if wrong.all() or not wrong.any():
        raise expect.InputError(
            f"`errors` is {bool(wrong[0])} in all {wrong.size} rows, so there is nothing to rank. Is it inverted?"
        )
    groups = result.evidence.row_groups
    area = auc(result.values, wrong)
    unknown = Estimate(math.nan, 0.0, 1.0, level, "unknown: no confidence was given")
    of_confidence, difference, correlation = unknown, Estimate(math.nan, -1.0, 1.0, level, unknown.kind), math.nan
    if confidence is not None:
        sure = np.asarray(confidence, dtype=float)
        if sure.shape != wrong.shape or not np.isfinite(sure).all():
            raise expect.InputError(f"`confidence` must be a finite number for each of the {len(result)} rows.")
        its_area = auc(-sure, wrong)
        of_confidence = of_auc(its_area, groups, level)
        difference = of_auc_difference(area, its_area, groups, level)
        constant = np.ptp(sure) == 0 or np.ptp(result.values) == 0
        correlation = math.nan if constant else float(stats.spearmanr(result.values, sure).statistic)
    return ComplexityAgainst(
        auc=of_auc(area, groups, level),
        auc_confidence=of_confidence,
        difference=difference,
        correlation=correlation,
        curve=_curve(result.values, wrong, groups, bins, level),
        errors=int(wrong.sum()),
        rows=wrong.size,
    )


def _curve(values: Floats, wrong: Mask, groups: Ints | None, bins: int, level: float) -> pd.DataFrame:
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(edges.size - 2, 0))
    lines = []
    for number in np.unique(place):
        inside = place == number
        rate = of_proportion_by_group(wrong[inside], None if groups is None else groups[inside], level)
        counts, ends = (int(inside.sum()), int(wrong[inside].sum())), (values[inside].min(), values[inside].max())
        lines.append((*ends, *counts, rate.value, rate.low, rate.high))
    return pd.DataFrame(lines, columns=["low", "high", "rows", "errors", "error_rate", "rate_low", "rate_high"])


# Two classifiers on the same rows: only those that one of the two alone predicts correctly count.
#
# Independent rows: McNemar's exact test and Tango's score interval (1998), which also holds if hardly any row differs.
# Groups: the same score statistic, with as many independent rows as the groups are worth, and Student's t.


@dataclass(frozen=True)
class PairedAccuracy:
    """`difference` of two accuracies and the `p_value` of none; 0 is inside the interval if p is above 1 − level."""

    difference: Estimate
    p_value: float
    only_one: int
    only_other: int

    @property
    def sign(self) -> int:
        """1 if the first is shown to be better, -1 if worse, otherwise 0; by the test of `p_value`."""
        shown = self.p_value <= 1 - self.difference.level
        return int(np.sign(self.difference.value)) if shown else 0


def paired_accuracy(one: Mask, other: Mask, groups: Ints | None = None, level: float = 0.95) -> PairedAccuracy:
    """Compare which rows the one and the other predict correctly.

    >>> paired_accuracy(np.arange(20) < 18, np.arange(20) < 10).difference
    0.4 [0.174, 0.613]
    """
    gap = one.astype(float) - other
    first, second = int((gap > 0).sum()), int((gap < 0).sum())
    if groups is None:
        p_value = float(stats.binomtest(first, first + second).pvalue) if first + second else 1.0
        estimate = tango(first, second, gap.size, normal_quantile(level), level, "over rows, paired")
        if p_value > 1 - level:  # the exact test rejects a little less often than the score
            # By half a row beyond 0: an end at 0 itself would pass for "at least 0".
            half = 0.5 / gap.size
            estimate = replace(estimate, low=min(estimate.low, -half), high=max(estimate.high, half))
        return PairedAccuracy(estimate, p_value, first, second)
    worth, freedom = _worth(gap, groups)
    quantile = float(stats.t.ppf(0.5 + level / 2, freedom))
    estimate = tango(first * worth, second * worth, gap.size * worth, quantile, level, "over groups, paired")
    p_value = 1.0
    if first + second:
        p_value = 2 * float(stats.t.sf(abs(first - second) * math.sqrt(worth / (first + second)), freedom))
    return PairedAccuracy(estimate, p_value, first, second)


def _worth(gap: Floats, groups: Ints) -> tuple[float, int]:
    """How many independent rows a row is worth, and degrees of freedom.

    It is the variance of independent rows over that of groups. If rows differ in few groups, or in none, they cannot
    show that; so a part of one more group counts in both, all rows of which differ.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    number = int(codes.max()) + 1
    size = gap.size / number
    part = 1 / (1 + np.unique(codes[gap != 0]).size)
    sums = np.bincount(codes, gap - gap.mean())
    alone = float(((gap - gap.mean()) ** 2).sum()) + part * size
    together = float((sums**2).sum()) * number / max(number - 1, 1) + part * size**2
    return min(alone / together, 1.0), max(number - 1, 1)


def tango(first: float, second: float, rows: float, quantile: float, level: float, kind: str) -> Estimate:
    """Tango's interval of (first − second) / rows: the differences Δ whose score is at most `quantile` away from it."""
    value = (first - second) / rows

    def score(gap: float) -> float:
        b = -first - second + (2 * rows - first + second) * gap
        c = -second * gap * (1 - gap)
        rare = (math.sqrt(max(b * b - 8 * rows * c, 0.0)) - b) / (4 * rows)
        variance = rows * (2 * rare + gap * (1 - gap))
        return (first - second - rows * gap) / math.sqrt(variance) if variance > 0 else math.inf * (value - gap)

    # Just inside: at -1 and 1 the variance is 0, as it is at the value itself if no row differs.
    low = _root(lambda gap: score(gap) - quantile, -1 + 1e-12, value - 1e-12, -1.0)
    high = _root(lambda gap: score(gap) + quantile, value + 1e-12, 1 - 1e-12, 1.0)
    return Estimate(value, min(low, value), max(high, value), level, kind)


def _root(function: Callable[[float], float], low: float, high: float, otherwise: float) -> float:
    """Where the function is 0; `otherwise` if it has the same sign at both ends."""
    if low >= high or not function(low) * function(high) < 0:
        return otherwise
    return float(brentq(function, low, high, xtol=1e-10))


# Balanced accuracy: the mean recall of the classes.


def balanced_accuracy(
    truth: Ints, one: Ints, other: Ints, groups: Ints | None, level: float
) -> tuple[Estimate, Estimate, Estimate]:
    """That of `one`, of `other`, and the difference. It is a mean of rows, weighted so that classes count the same."""
    counts = np.bincount(truth)
    weights = truth.size / (np.count_nonzero(counts) * counts[truth])
    right = np.stack([one == truth, other == truth, (one == truth) * 1.0 - (other == truth)]) * weights
    number = truth.size if groups is None else np.unique(groups).size
    # Weighted rows are worth fewer.
    units = max(number * float(weights.sum() ** 2 / (weights**2).sum()) / truth.size, 1.0)
    kind = "over rows" if groups is None else "over groups"
    singles = [
        bounded(
            float(row.mean()), crossed_standard_error(by_group(row[None, :], groups)), units, level, of, number, low
        )
        for row, of, low in zip(right, (kind, kind, f"{kind}, paired"), (0.0, 0.0, -1.0))
    ]
    return singles[0], singles[1], singles[2]
