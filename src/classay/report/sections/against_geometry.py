"""Learners against the geometry: do they beat it, and does complexity, known before training, rank their errors?"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...data.complexity_against import complexity_against
from ...data.versus_baseline import versus_baseline
from ..document import Cell, Sheet
from ..results import LearnerResults, Results

COLUMNS = (
    "learner",
    "accuracy, gain",
    "balanced accuracy, gain",
    "macro F1, gain",
    "AUC of complexity for its errors",
    "AUC of its own confidence",
)


def against_geometry(results: Results) -> Sheet:
    """One line per learner with cross-validated predictions of all measured rows."""
    rows = [line for one in results.learners.values() if (line := _line(results, one)) is not None]
    return Sheet(
        "against_geometry",
        "Learners against the nearest class",
        COLUMNS,
        tuple(rows),
        "Gain: the learner minus the nearest class on the same rows, cross-validated, with its interval; 0 is no gain. "
        "AUC: probability that a wrong row has the higher complexity, or the lower confidence, than a right one; 0.5 "
        "says nothing.",
    )


def _line(results: Results, one: LearnerResults) -> tuple[Cell, ...] | None:
    held, complexity = one.held_out, results.complexity
    if held is None or complexity is None or not np.isin(results.measured, held.tested).all():
        return None
    places = np.searchsorted(held.tested, results.measured)
    codes = held.labels[places]
    versus = versus_baseline(complexity, results.data.classes[codes])
    gains: list[Cell] = [versus.difference[name] for name in ("accuracy", "balanced_accuracy", "macro_f1")]
    wrong = codes != results.data.codes[results.measured]
    if wrong.all() or not wrong.any():
        return (one.name, *gains, None, None)
    confidence = None if held.scores is None else _margin(held.scores[places])
    against = complexity_against(complexity, wrong, confidence)
    return (one.name, *gains, against.auc, against.auc_confidence if against.auc_confidence.known else None)


def _margin(scores: Floats) -> Floats:
    """The best score minus the second: a confidence for scores of any kind. The log of a probability of 0 is −∞."""
    best = np.partition(np.nan_to_num(scores, neginf=-1e6, posinf=1e6, nan=0.0), -2, axis=1)[:, -2:]
    return np.asarray(best[:, 1] - best[:, 0])
