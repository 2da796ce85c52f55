"""Every figure of a report, by subject: the source of the tables, the gates and the JSON file."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..intervals import Estimate, difference, exact, of_proportion_by_group, within_limits
from ..learner.orientation.orientation import usual_threshold
from .document import Figure
from .label_quality import labels_of
from .results import DataResults, LearnerResults, Results


def figures_of(results: Results) -> tuple[Figure, ...]:
    """All figures, learners first."""
    figures: list[Figure] = []
    for name, learner in results.learners.items():
        figures += [
            Figure("learner", name, figure, value) for figure, value in learner_figures(learner, results.data).items()
        ]
    figures += [Figure("data", "data", figure, value) for figure, value in data_figures(results).items()]
    if results.classes is not None:
        forecast, size = results.classes.forecast, results.data.classes.size
        values = {"accuracy_now": forecast.curve.at(size)}
        values |= dict(zip(("accuracy_double", "accuracy_tenfold"), forecast.estimates))
        values["information"] = results.classes.information.bits
        figures += [Figure("classes", "classes", figure, value) for figure, value in values.items()]
    for name, net in results.networks.items():
        values = {
            "classifier_quality": exact(net.classifier_quality),
            "within": net.within,
            "between": net.between,
            "lower_bound": exact(net.accuracy_bounds[0]),
            "upper_bound": exact(net.accuracy_bounds[1]),
            "estimate": net.labelled if net.labelled is not None else net.estimate,
            "structure": exact(net.figures.get("structure", math.nan)),
            "row_spread": exact(net.figures.get("row_spread", math.nan)),
            "converged": net.converged,
        }
        figures += [Figure("network", name, figure, value) for figure, value in values.items()]
    return tuple(figures)


def learner_figures(learner: LearnerResults, data: DataResults) -> dict[str, Estimate]:
    """The figures of one learner."""
    oriented, steady = learner.orientation, learner.stability
    values = {"accuracy": steady.accuracy}
    if learner.held_out is not None:
        right = learner.held_out.right(data.codes)
        values["cv_accuracy"] = of_proportion_by_group(right, data.groups_of(learner.held_out.tested))
    values["train_accuracy"] = oriented.train_accuracy
    values["gap"] = gap(learner)
    values["stability"] = steady.stability
    values["kappa"] = steady.kappa
    if learner.on_probes is not None:
        values["stability_probes"] = learner.on_probes.stability
    values["dice"] = changed_by_randomness(learner)
    values["bias"] = oriented.bias[usual_threshold(oriented.holdout_size)]
    for name in ("expressivity", "capacity", "stochasticity"):
        values[name] = getattr(oriented, name)
    values["seconds_per_fit"] = exact(float(np.nanmedian(learner.labelings.seconds)), "measured once, on this machine")
    if learner.slices is not None:
        values["slices"] = exact(len(learner.slices.slices), "count")
    return values


def gap(learner: LearnerResults) -> Estimate:
    """Accuracy on its own training rows minus accuracy on test points."""
    estimate = difference(learner.orientation.train_accuracy, learner.stability.accuracy, "over subsets and points")
    return within_limits(estimate, -1.0, 1.0)


def changed_by_randomness(learner: LearnerResults) -> Estimate:
    """Share of test points on which refits on the same rows differ."""
    if learner.labelings.deterministic:
        return exact(0.0, "no training randomness")
    same = learner.stability.same_subset
    return replace(same, value=1 - same.value, low=1 - same.high, high=1 - same.low)


def data_figures(results: Results) -> dict[str, Estimate]:
    """The figures of the rows."""
    data = results.data
    counts = np.bincount(data.codes)
    contradictions, duplicates = data.repeated_rows
    values = {
        "rows": exact(data.codes.size, "count"),
        "columns": exact(data.X.shape[1], "count"),
        "classes": exact(data.classes.size, "count"),
        "majority_share": exact(counts.max() / counts.sum(), "of these rows"),
        "contradictions": exact(contradictions, "count"),
        "duplicates": exact(duplicates, "count"),
    }
    if results.complexity is not None:
        values["baseline_accuracy"] = results.complexity.baseline_accuracy
        values["suspects"] = exact(labels_of(results).listed.size, "count")
        values["evenness"] = exact(results.complexity.normalised_entropy, "of these rows")
    return values
