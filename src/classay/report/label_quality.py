"""Wrong labels of a report's rows: by distances and, where it predicted all of them, by the most accurate learner."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..arrays import Floats
from ..data.labels.wrong_labels import WrongLabels
from .results import Results


def best_learner(results: Results) -> str | None:
    """The learner with the highest cross-validated accuracy."""
    right = {name: float(held.right(results.data.codes).mean()) for name, held in results.predicted.items()}
    return max(right, key=lambda name: right[name], default=None)


def learner_probabilities(results: Results) -> Floats | None:
    """Its probabilities for the measured rows, if it has scores for all of them."""
    name = best_learner(results)
    held = None if name is None else results.predicted[name]
    if held is None or held.scores is None or not np.isin(results.measured, held.tested).all():
        return None
    scores = held.scores[np.searchsorted(held.tested, results.measured)]
    with np.errstate(invalid="ignore"):
        shares: Floats = special.softmax(scores, axis=1)
    return shares if np.isfinite(shares).all() else None


def labels_of(results: Results) -> WrongLabels:
    """How many labels are wrong, and which; computed once. There must be a complexity."""
    kept = vars(results)
    if "_wrong_labels" not in kept:
        assert results.complexity is not None
        kept["_wrong_labels"] = results.complexity.wrong_labels(learner_probabilities(results))
    labels: WrongLabels = kept["_wrong_labels"]
    return labels
