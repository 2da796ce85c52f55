"""`versus_baseline`: does a model beat the geometry? Paired on the same rows, by three measures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect
from ..inputs import class_labels, encode
from ..intervals import Estimate, of_proportion_by_group
from ..result import Result
from .class_means import class_means
from .complexity import Complexity
from .paired_accuracy import paired_accuracy

MEASURES = ("accuracy", "balanced_accuracy", "macro_f1")
VERDICTS = {1: "yes", 0: "not shown", -1: "no"}


@dataclass(frozen=True)
class VersusBaseline(Result, chart="data.versus_baseline:versus_baseline_chart"):
    """The result of `versus_baseline`: by measure, the `model`, the `baseline` (nearest class) and their `difference`.

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
    baseline on the same rows, with an interval over rows, or over groups if `result` has them. That of accuracy is
    Tango's score interval, which agrees with the test behind `verdict`; the others count four half rows more in each
    class, so that few rows claim no certainty.

    0: no better than geometry; higher is better. It misleads if the model was trained on these rows: pass predictions
    for a test set, or cross-validated ones.

    Parameters
    ----------
    result : complexity of the rows, cross-fitted or of a test set (`X_eval`)
    predictions : the model's class for each of these rows
    level : confidence level of the intervals
    random_state : without effect, as nothing is drawn; accepted because other measures of a report take it

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
    right = model == truth, base == truth
    accuracy = paired_accuracy(*right, groups, level)
    singles = [of_proportion_by_group(each, groups, level) for each in right]
    by_measure = {"accuracy": (*singles, accuracy.difference)}
    by_measure |= class_means(truth, model, base, names.size, groups, level)
    largest = result.classes[int(result.geometry.counts.argmax())]
    return VersusBaseline(
        model={name: by_measure[name][0] for name in MEASURES},
        baseline={name: by_measure[name][1] for name in MEASURES},
        difference={name: by_measure[name][2] for name in MEASURES},
        majority=float((result.labels == largest).mean()),
        only_model=accuracy.only_one,
        only_baseline=accuracy.only_other,
        p_value=accuracy.p_value,
        verdict=VERDICTS[accuracy.sign],
        rows=truth.size,
    )
