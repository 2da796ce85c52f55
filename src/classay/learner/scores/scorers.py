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

from ...arrays import AnyInts, Floats, Ints
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
        """Those of some of the points."""
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

    def indicator(self) -> tuple[Any, Any]:
        """Truth and scores, one column for each class that occurs and is not alone; of two classes, the second."""
        assert self.scores is not None
        if self.two:
            return self.truth, self.scores[:, 1]
        there = np.flatnonzero(np.bincount(self.truth, minlength=self.n_classes))
        return self.truth[:, None] == there, self.scores[:, there]


@dataclass(frozen=True)
class Metric:
    """A metric of one refit: its name, what it needs, its range, and how it is computed."""

    name: str
    needs: str
    low: float
    high: float
    compute: Callable[[Answers], float]


def _auc(answers: Answers) -> float:
    truth, scores = answers.indicator()
    return float(sk.roc_auc_score(truth, scores))


def _average_precision(answers: Answers) -> float:
    truth, scores = answers.indicator()
    return float(sk.average_precision_score(truth, scores))


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
BY_REFIT = {
    "roc_auc": Metric("roc_auc", RANKS, 0.0, 1.0, _auc),
    "average_precision": Metric("average_precision", RANKS, 0.0, 1.0, _average_precision),
}

FAMILIES = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "d2_brier",
    "d2_log_loss",
    "f1",
    "jaccard",
    "matthews",
    "neg_brier",
    "neg_log_loss",
    "neg_negative_likelihood",
    "positive_likelihood",
    "precision",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)
"""How names of scikit-learn's scorers of classifiers begin."""


def metric_named(name: Any) -> Metric:
    """A metric of single refits by its name here, or by that of a scikit-learn scorer, such as 'f1_macro'."""
    if name in BY_REFIT:
        return BY_REFIT[name]
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
        return float(scorer(recorded(answers), answers.points, answers.truth))

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
    """What one refit predicted, as a fitted classifier for scikit-learn's scorers; its rows are numbers of points."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.classes_ = np.arange(answers.n_classes)

    def predict(self, points: Ints) -> AnyInts:
        """Its labels."""
        return self.answers.labels[np.asarray(points)[:, 0]]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RecordedProbabilities(Recorded):
    """The same, with probabilities."""

    def predict_proba(self, points: Ints) -> NDArray[Any]:
        """Its probabilities."""
        assert self.answers.scores is not None
        scores: NDArray[Any] = self.answers.scores[np.asarray(points)[:, 0]]
        return scores


class RecordedDecisions(Recorded):
    """The same, with decision values."""

    def decision_function(self, points: Ints) -> NDArray[Any]:
        """Its decision values; of two classes, that of the second."""
        assert self.answers.scores is not None
        values: NDArray[Any] = self.answers.scores[np.asarray(points)[:, 0]]
        return values[:, 1] if self.answers.two else values


def recorded(answers: Answers) -> Recorded:
    """The answers of a refit as a fitted classifier that has what was recorded, and no more."""
    if answers.scores is None:
        return Recorded(answers)
    return (RecordedProbabilities if answers.probabilities else RecordedDecisions)(answers)


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
    losses: Floats = -np.log(scores.true(truth).astype(float).clip(LEAST, 1 - LEAST))
    return losses


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


def precisions(counts: NDArray[Any]) -> Floats:
    """(…, C): the share of predictions of each class that are right; NaN where it is never predicted."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: Floats = np.einsum("...ii->...i", counts) / counts.sum(axis=-2)
    return shares
