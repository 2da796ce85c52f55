"""Metrics of refits from recorded labels and scores: of one refit by scikit-learn, or of all refits at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn import metrics as sk
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ...arrays import AnyInts, Floats, Ints, Mask
from ...auc import auc, average_precision
from ...expect import InputError, nearest
from ..records.scores import Scores

LABELS, RANKS, PROBABILITIES = "labels", "scores", "probabilities"
"""What a metric needs of a refit."""


@dataclass(frozen=True)
class Answers:
    """Truth, labels and scores of one refit on some points; classes are codes from 0 up."""

    truth: AnyInts
    labels: AnyInts
    scores: NDArray[Any] | None
    probabilities: bool
    n_classes: int

    def take(self, points: Ints) -> Answers:
        scores = None if self.scores is None else self.scores[points]
        return Answers(self.truth[points], self.labels[points], scores, self.probabilities, self.n_classes)

    @property
    def points(self) -> Ints:
        """Numbers of the points, as rows of one column."""
        return np.arange(self.truth.size)[:, None]

    @property
    def two(self) -> bool:
        """Whether there are two classes, of which the second is the positive one."""
        return self.n_classes == 2


@dataclass(frozen=True)
class Metric:
    """A metric of one refit: its name, what it needs, its range, and how it is computed."""

    name: str
    needs: str
    low: float
    high: float
    compute: Callable[[Answers], float]


def ranking(name: str, answers: Answers) -> tuple[float, Floats]:
    """AUC or average precision, and a value for every row, of which the mean is it (average precision: without bias).

    Of two classes, those of the second; of more, the mean over classes that occur. NaN where only one does.
    """
    assert answers.scores is not None
    table = answers.scores.astype(float)
    if answers.probabilities:  # 32 bits do not separate probabilities near 1, but what they lack to 1
        table = np.where(table > NEARLY_ONE, 1 - (table.sum(axis=1, keepdims=True) - table), table)
    rows = np.bincount(answers.truth, minlength=answers.n_classes)
    codes = [code for code in ([1] if answers.two else range(rows.size)) if 0 < rows[code] < answers.truth.size]
    if not codes:
        return np.nan, np.full(answers.truth.size, np.nan)
    areas = [_AREAS[name](table[:, code], answers.truth == code) for code in codes]
    return float(np.mean([value for value, _ in areas])), np.asarray(np.mean([by_row for _, by_row in areas], axis=0))


def _auc(scores: Floats, positive: Mask) -> tuple[float, Floats]:
    area = auc(scores, positive)
    return area.value, area.by_row


NEARLY_ONE = 1 - 2.0**-16
_AREAS = {"roc_auc": _auc, "average_precision": average_precision}
ALL = "usual"
"""In place of a name: all that are computed by default."""
USUAL = {
    "accuracy": LABELS,
    "balanced_accuracy": LABELS,
    "f1": LABELS,
    "matthews": LABELS,
    "roc_auc": RANKS,
    "average_precision": RANKS,
    "log_loss": PROBABILITIES,
    "brier": PROBABILITIES,
}
"""The metrics of every record, and what they need; of two classes, f1, AUC and precision are those of the second."""
LOWER_IS_BETTER = ("log_loss", "brier", "ece", "reliability", "cost")

FAMILIES = (
    "accuracy", "average_precision", "balanced_accuracy", "d2_brier", "d2_log_loss", "f1", "jaccard", "matthews",
    "neg_brier", "neg_log_loss", "neg_negative_likelihood", "positive_likelihood", "precision", "recall", "roc_auc",
    "top_k_accuracy",
)  # fmt: skip
"""How names of scikit-learn's scorers of classifiers begin."""


def metric_named(name: Any) -> Metric:
    """A metric of single refits by its name here, or by that of a scikit-learn scorer, such as 'f1_macro'."""
    if name in _AREAS:
        return Metric(name, RANKS, 0.0, 1.0, lambda answers: ranking(name, answers)[0])
    scorers = scorer_names()
    if name not in scorers:
        raise InputError(
            f"The metric {name!r} is not known; expected one of {', '.join(USUAL)}, or a scikit-learn scorer of "
            f"classifiers, such as f1_macro.{nearest(str(name), [*USUAL, *scorers])}"
        )
    scorer = sk.get_scorer(name)
    verbs = getattr(scorer, "_response_method", "predict")
    verbs = (verbs,) if isinstance(verbs, str) else tuple(verbs)
    needs = LABELS if "predict" in verbs else RANKS if "decision_function" in verbs else PROBABILITIES
    if "likelihood" in name:
        low, high = (0.0, np.inf) if name.startswith("positive") else (-np.inf, 0.0)
    elif name.startswith("neg_"):
        low, high = -np.inf, 0.0
    elif name.startswith("d2_"):
        low, high = -np.inf, 1.0
    else:
        low, high = (-1.0 if name.startswith("matthews") else 0.0), 1.0

    def compute(answers: Answers) -> float:
        return float(scorer(Recorded(answers), answers.points, answers.truth))

    return Metric(name, needs, low, high, compute)


def needs_of(name: Any) -> str:
    """What a metric needs of a refit: labels, scores or probabilities. An unknown name is an error."""
    return USUAL[name] if name in USUAL else metric_named(name).needs


def chosen_metrics(names: str | Iterable[str] | None) -> list[str]:
    """The names of the metrics to compute, each known; None: the usual ones."""
    if names is None:
        return list(USUAL)
    listed = [names] if isinstance(names, str) else list(names)
    if ALL in listed:
        listed = [*USUAL, *(name for name in listed if name != ALL)]
    listed = list(dict.fromkeys(listed))
    if not listed:
        raise InputError(
            "`names` is empty; expected metrics, such as ['roc_auc', 'brier'], or None for the usual ones."
        )
    for name in listed:
        needs_of(name)
    return listed


def scorer_names() -> list[str]:
    """Names of scikit-learn's scorers that apply to labels and scores of a classifier."""
    names = [name for name in sk.get_scorer_names() if name.startswith(FAMILIES)]
    # Those of several labels per row do not apply.
    return [name for name in names if not name.endswith("_samples")]


class Recorded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What one refit predicted, as a fitted classifier for scikit-learn's scorers; its rows are numbers of points.

    It has `predict_proba` or `decision_function` if probabilities or decision values were recorded, and no more.
    """

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.classes_ = np.arange(answers.n_classes)
        self.scores_: Any = answers.scores

    def predict(self, points: Ints) -> AnyInts:
        return self.answers.labels[np.asarray(points)[:, 0]]

    @available_if(lambda self: self.scores_ is not None and self.answers.probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, points: Ints) -> Any:
        return self.scores_[np.asarray(points)[:, 0]]

    @available_if(lambda self: self.scores_ is not None and not self.answers.probabilities)  # type: ignore[untyped-decorator]
    def decision_function(self, points: Ints) -> Any:
        """Its decision values; of two classes, that of the second."""
        return self.scores_[np.asarray(points)[:, 0]][:, 1 if self.answers.two else slice(None)]

    def __sklearn_is_fitted__(self) -> bool:
        return True


@contextmanager
def quiet() -> Iterator[None]:
    """Without scikit-learn's checks of what is known to be right, and its warnings on classes that do not occur."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore")
        with config_context(assume_finite=True, skip_parameter_validation=True):
            yield


# Metrics of all refits at once: means over points, and functions of the confusion matrix, as scikit-learn defines them.
# One call of scikit-learn costs about two milliseconds, and a record has hundreds of refits.


LEAST = float(np.finfo(np.float32).eps)
"""Log loss takes lower probabilities as this, as scikit-learn does with 32-bit scores."""


def log_losses(scores: Scores, truth: AnyInts) -> Floats:
    """(K, R, n): −log of the probability of the true class."""
    return np.asarray(-np.log(scores.true(truth).astype(float).clip(LEAST, 1 - LEAST)))


def squared_errors(scores: Scores, truth: AnyInts) -> Floats:
    """(K, R, n): squared difference of probability and outcome; of two classes that of the second, else their sum."""
    if scores.values.shape[3] == 2:
        return np.asarray((scores.positive.astype(float) - truth) ** 2, dtype=float)
    total = np.zeros(scores.values.shape[:3])
    for code in range(scores.values.shape[3]):
        total += (scores.values[..., code].astype(float) - (truth == code)) ** 2
    return total


def confusion_counts(truth: AnyInts, labels: AnyInts, n_classes: int) -> Ints:
    """(…, C, C): how often class i was predicted as j, for labels (…, n)."""
    flat = labels.reshape(-1, labels.shape[-1]).astype(np.int64)
    cells = truth.astype(np.int64) * n_classes + flat
    size = n_classes * n_classes
    cells += np.arange(len(flat))[:, None] * size
    counts = np.bincount(cells.ravel(), minlength=len(flat) * size)
    return counts.reshape(*labels.shape[:-1], n_classes, n_classes)


def count_figures(counts: NDArray[Any]) -> dict[str, Floats]:
    """Balanced accuracy, F1 (of two classes that of the second), its mean over classes, and Matthews' coefficient.

    Of confusion matrices (…, C, C), as scikit-learn defines them.
    """
    table = counts.astype(float)
    right, true, predicted = np.einsum("...ii->...i", table), table.sum(axis=-1), table.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = np.where(true > 0, right / true, np.nan)
        f1 = np.where(true + predicted > 0, 2 * right / (true + predicted), 0.0)
        n = table.sum(axis=(-2, -1))
        covariance = right.sum(axis=-1) * n - (true * predicted).sum(axis=-1)
        own = n**2 - (predicted**2).sum(axis=-1), n**2 - (true**2).sum(axis=-1)
        matthews = np.where(own[0] * own[1] > 0, covariance / np.sqrt(own[0] * own[1]), 0.0)
    # Over classes that occur, in the truth or among predictions.
    f1_macro = f1.sum(axis=-1) / np.maximum((true + predicted > 0).sum(axis=-1), 1)
    return {
        "accuracy": right.sum(axis=-1) / n,
        "balanced_accuracy": np.nanmean(recall, axis=-1),
        "f1": f1[..., 1] if table.shape[-1] == 2 else f1_macro,
        "f1_macro": f1_macro,
        "matthews": matthews,
    }


def count_slope(name: str, counts: NDArray[Any]) -> Floats:
    """(…, C, C): how fast a figure of `count_figures` grows with the share of rows that are in each cell."""
    table = counts.astype(float)
    n, same = table.sum(axis=(-2, -1))[..., None, None], np.eye(table.shape[-1])
    right, true, predicted = np.einsum("...ii->...i", table), table.sum(axis=-1), table.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        if name == "matthews":
            squares = [n[..., 0] ** 2 - (each**2).sum(axis=-1, keepdims=True) for each in (true, predicted)]
            joint = n * same + right.sum(axis=-1)[..., None, None] - predicted[..., :, None] - true[..., None, :]
            alone = (n - true[..., :, None]) / squares[0][..., None] + (n - predicted[..., None, :]) / squares[1][
                ..., None
            ]
            figure = count_figures(table)[name][..., None, None]
            return np.asarray(n * (joint / np.sqrt(squares[0] * squares[1])[..., None] - figure * alone))
        # A mean over classes of right / size, where the size is that of the class, or half of true and predicted rows.
        half = 0.5 if name == "f1" else 0.0
        size = (1 - half) * true + half * predicted
        counted = np.arange(len(same)) == 1 if name == "f1" and len(same) == 2 else size > 0
        weight = np.where(counted, 1 / size, 0.0) / np.maximum(counted.sum(axis=-1, keepdims=True), 1)
        own = weight * np.nan_to_num(right / size)
    return np.asarray(n * (same * weight[..., None] - (1 - half) * own[..., :, None] - half * own[..., None, :]))
