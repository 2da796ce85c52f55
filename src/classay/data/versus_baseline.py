"""`versus_baseline`: does a model beat the geometry? Paired on the same rows, by three measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from .. import expect
from ..arrays import Floats, Ints
from ..inputs import class_labels, encode
from ..intervals import Estimate, around, within_limits
from ..result import Result
from ..seeds import generator, settle
from .complexity import Complexity

MEASURES = ("accuracy", "balanced_accuracy", "macro_f1")
DRAWS = 400


@dataclass(frozen=True)
class VersusBaseline(Result, chart="data.versus_baseline:versus_baseline_chart"):
    """The result of `versus_baseline`: by measure, the `model`, the `baseline` (nearest class) and their `difference`.

    `majority` is the accuracy of always predicting the largest class of the geometry, `p_value` the exact test of the
    rows that only one of the two predicts correctly (McNemar); over groups, a t test of the difference.
    """

    model: dict[str, Estimate]
    baseline: dict[str, Estimate]
    difference: dict[str, Estimate]
    majority: float
    only_model: int
    only_baseline: int
    p_value: float
    rows: int

    @property
    def verdict(self) -> str:
        """`yes`, `no` or `not shown`: whether the model's accuracy is above the baseline's, by the interval."""
        gain = self.difference["accuracy"]
        return "yes" if gain.low > 0 else "no" if gain.high < 0 else "not shown"

    def to_frame(self) -> pd.DataFrame:
        """One line per measure: model, baseline, and the difference as `value` with its interval."""
        return pd.DataFrame(
            {
                "measure": MEASURES,
                "model": [self.model[name].value for name in MEASURES],
                "baseline": [self.baseline[name].value for name in MEASURES],
                "value": [self.difference[name].value for name in MEASURES],
                "low": [self.difference[name].low for name in MEASURES],
                "high": [self.difference[name].high for name in MEASURES],
            }
        )

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


def versus_baseline(
    result: Complexity,
    predictions: ArrayLike,
    *,
    level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> VersusBaseline:
    """Compare a model with the nearest class, on the rows of `result`: is it worth its training?

    Accuracy, balanced accuracy (mean recall of the classes) and macro-F1 (mean F1), each of the model minus that of the
    baseline on the same rows, with a bootstrap interval over rows, or over groups if `result` has them.

    0: no better than geometry; higher is better. It misleads if the model was trained on these rows: pass predictions
    for a test set, or cross-validated ones.

    Parameters
    ----------
    result : complexity of the rows, cross-fitted or of a test set (`X_eval`)
    predictions : the model's class for each of these rows
    level : confidence level of the intervals
    random_state : seed of the bootstrap

    Examples
    --------
    >>> from classay import complexity
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> c = complexity(X, y, distance="euclidean")
    >>> versus_baseline(c, y).verdict, versus_baseline(c, c.predicted).verdict
    ('yes', 'not shown')

    """
    expect.fraction(level, "level")
    given = class_labels(predictions, "predictions", len(result))
    # Wide enough for all: predictions of a model that never predicts a long name would cut it to another.
    wide = np.result_type(given, result.classes, result.labels)
    names = np.union1d(np.union1d(result.classes.astype(wide), given.astype(wide)), result.labels.astype(wide))
    truth, model, base = (encode(each.astype(wide), names) for each in (result.labels, given, result.predicted))
    groups = result.evidence.row_groups
    scores = np.stack([_measures(truth, each, names.size, None) for each in (model, base)])
    random = generator(settle(random_state), "versus baseline")
    draws = np.stack(
        [
            [_measures(truth, each, names.size, weights) for each in (model, base)]
            for weights in (_weights(truth.size, groups, random) for _ in range(DRAWS))
        ]
    )
    kind = "bootstrap over rows" if groups is None else "bootstrap over groups"
    number = truth.size if groups is None else np.unique(groups).size
    errors = draws.std(axis=0, ddof=1)
    gaps = (draws[:, 0] - draws[:, 1]).std(axis=0, ddof=1)
    of = [
        {
            name: within_limits(around(scores[who, at], errors[who, at], level, kind, number), 0.0, 1.0)
            for at, name in enumerate(MEASURES)
        }
        for who in (0, 1)
    ]
    difference = {
        name: around(float(scores[0, at] - scores[1, at]), float(gaps[at]), level, kind, number)
        for at, name in enumerate(MEASURES)
    }
    only = int(((model == truth) & (base != truth)).sum()), int(((model != truth) & (base == truth)).sum())
    p_value = float(stats.binomtest(only[0], sum(only)).pvalue) if sum(only) else 1.0
    if groups is not None and gaps[0] > 0:
        p_value = float(2 * stats.t.sf(abs(scores[0, 0] - scores[1, 0]) / gaps[0], max(number - 1, 1)))
    largest = result.classes[int(result.geometry.counts.argmax())]
    return VersusBaseline(
        model=of[0],
        baseline=of[1],
        difference=difference,
        majority=float((result.labels == largest).mean()),
        only_model=only[0],
        only_baseline=only[1],
        p_value=p_value,
        rows=truth.size,
    )


def _weights(rows: int, groups: Ints | None, random: np.random.Generator) -> Floats:
    """How often each row is drawn in one bootstrap sample of rows, or of groups."""
    if groups is None:
        return np.bincount(random.integers(0, rows, rows), minlength=rows).astype(float)
    _, codes = np.unique(groups, return_inverse=True)
    number = int(codes.max()) + 1
    return np.bincount(random.integers(0, number, number), minlength=number).astype(float)[codes]


def _measures(truth: Ints, predicted: Ints, classes: int, weights: Floats | None) -> Floats:
    """Accuracy, mean recall and mean F1 over the classes that have rows, as in scikit-learn."""
    right = (truth == predicted).astype(float)
    hits = np.bincount(truth, right if weights is None else weights * right, minlength=classes)
    support, guessed = (np.bincount(each, weights, minlength=classes) for each in (truth, predicted))
    here, either = support > 0, support + guessed > 0
    return np.array(
        [
            hits.sum() / max(support.sum(), 1),
            (hits[here] / support[here]).mean(),
            (2 * hits[either] / (support + guessed)[either]).mean(),
        ]
    )
