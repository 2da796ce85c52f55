"""What `classay data` asks of a model's predictions: against the geometry, its errors by complexity, and slices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from ..data.complexity import Complexity
from ..data.complexity_against import ComplexityAgainst, complexity_against
from ..data.slices import Slices, slices, slices_by_column
from ..data.versus_baseline import VersusBaseline, versus_baseline
from ..estimators.scores import fit_scorer
from ..estimators.spec import learners_from_texts
from ..estimators.trial import ready
from ..expect import InputError
from ..report.cross_validated import Folds, cross_validate
from ..splits import per_row
from ..tables.read import Table
from .prediction_files import Predictions


@dataclass(frozen=True)
class ModelCheck:
    """The results for one model; what its errors do not allow is None, and `why` says so."""

    versus: VersusBaseline
    against: ComplexityAgainst | None
    slices: Slices | None
    by_column: pd.DataFrame | None
    why: str = ""


def check_model(
    result: Complexity,
    frame: pd.DataFrame,
    predictions: Predictions,
    groups: Any,
    seed: int,
    min_size: int | None = None,
) -> ModelCheck:
    """Compare a model with the geometry on the rows of `result`, whose columns are in `frame`."""
    versus = versus_baseline(result, predictions.predicted, random_state=seed)
    wrong = predictions.predicted != result.labels.astype(predictions.predicted.dtype)
    if wrong.all() or not wrong.any():
        return ModelCheck(versus, None, None, None, f"The model is {'never' if wrong.all() else 'always'} right.")
    searched = frame.reset_index(drop=True).copy()
    added = {"complexity": result.values}
    if predictions.confidence is not None:
        added["confidence"] = predictions.confidence
    for name, values in added.items():
        searched[name if name not in searched else f"{name} (classay)"] = values
    options: dict[str, Any] = {"random_state": seed, "groups": groups}
    return ModelCheck(
        versus,
        complexity_against(result, wrong, predictions.confidence),
        slices(searched, wrong, **options),
        slices_by_column(searched, wrong, **options),
    )


def predictions_of_learner(text: str, table: Table, classes: Any, seed: int, allow_import: bool) -> Predictions:
    """Predictions of a learner: for the test rows by a fit on all others, or cross-validated."""
    ((name, unfitted),) = learners_from_texts([text], allow_import).items()
    learner = ready(unfitted, table.X, table.y, seed, table.texts).learner
    labels = table.y.to_numpy()
    if table.test is None:
        codes = np.searchsorted(classes, labels)
        rows = per_row(table.groups, rows=codes.size)
        run = cross_validate({name: learner}, Folds.of(table.X, codes, classes, seed, per_row=rows), executor=1)
        if name not in run.held_out:
            raise InputError(run.failed.get(name, f"{name} was not fitted."))
        held = run.held_out[name]
        return _of_scores(held.scores, classes, classes[held.labels])
    scorer = fit_scorer(learner, table.X, labels, seed)
    predicted = scorer.predict(table.test.X)
    try:
        scores = scorer.scores(table.test.X)
    except InputError:
        return Predictions(predicted)
    return _of_scores(scores, classes, predicted)


def _of_scores(scores: Any, classes: Any, predicted: Any) -> Predictions:
    if scores is None or scores.shape[1] != classes.size:
        return Predictions(predicted)
    with np.errstate(invalid="ignore"):
        shares = special.softmax(scores, axis=1)
    if not np.isfinite(shares).all():
        return Predictions(predicted)
    return Predictions.of_probabilities(shares, classes, predicted)
