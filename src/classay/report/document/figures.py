"""Every figure of a report, by subject: the source of the tables, the gates and the JSON file."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...arrays import Floats
from ...intervals import Estimate, difference, exact, of_proportion_by_group, within_limits
from ...learner.orientation.orientation import usual_threshold
from ...learner.records.prediction_table import NOTHING_PREDICTED
from ...learner.scores.comparison import accuracy_over_rows, overconfidence
from ..results import LearnerResults, ModelCheck, Results
from .document import Figure


def figures_of(results: Results) -> tuple[Figure, ...]:
    """All figures, learners first."""
    figures: list[Figure] = []
    for name in results.names:
        values = learner_figures(results, name)
        values |= {key: value for key, value in check_figures(results.checks.get(name)).items() if key not in values}
        figures += [Figure("learner", name, figure, value) for figure, value in values.items()]
    figures += [Figure("data", "data", figure, value) for figure, value in data_figures(results).items()]
    if results.classes is not None:
        forecast, size = results.classes.forecast, results.rows.classes.size
        values = {"accuracy_now": forecast.curve.at(size)}
        values |= dict(zip(("accuracy_double", "accuracy_tenfold"), forecast.estimates))
        values["information"] = results.classes.information.implied
        figures += [Figure("classes", "classes", figure, value) for figure, value in values.items()]
    for name, net in results.networks.items():
        values = {
            "classifier_quality": exact(net.classifier_quality),
            "within": net.within,
            "between": net.between,
            "lower_bound": exact(net.accuracy_bounds[0]),
            "upper_bound": exact(net.accuracy_bounds[1]),
            "estimate": net.labelled or Estimate(math.nan, 0.0, 1.0, kind="unknown without labelled rows"),
            "structure": exact(net.figures.get("structure", math.nan)),
            "row_spread": exact(net.figures.get("row_spread", math.nan)),
            "converged": net.converged,
        }
        figures += [Figure("network", name, figure, value) for figure, value in values.items()]
    return tuple(figures)


def metric_figures(results: Results, name: str) -> dict[str, Estimate]:
    """The metrics of one learner, from cross-validated fits on all rows, and the rows of a fit."""
    metrics = {results.metric: results.scored, **results.more_metrics}
    values = {metric: scored[name].estimate for metric, scored in metrics.items() if name in scored}
    held = results.predicted.get(name)
    return values if held is None or not held.fit_rows else {**values, "fit_rows": exact(held.fit_rows, "count")}


def learner_figures(results: Results, name: str) -> dict[str, Estimate]:
    """The figures of one learner: of its cross-validated predictions, its refits, and its slices."""
    values = metric_figures(results, name)
    if name in results.predicted:
        values["accuracy"] = accuracy_of(results, name)
        values |= given_figures(results, name)
    if name in results.learners:
        values |= refit_figures(results.learners[name])
    if name in results.slices:
        values["slices"] = exact(len(results.slices[name].slices), "count")
    return values


def given_figures(results: Results, name: str) -> dict[str, Estimate]:
    """Figures of predictions that were given: whether all are there, are the same again, and keep their promise."""
    held, values = results.predicted[name], {}
    if held.confidence is not None and (gap := overconfidence(held)) is not None:
        values["overconfidence"] = gap
    if results.fitted or results.rows_known:
        return values
    values["predicted"] = predicted_share(results, name)
    for rater in () if results.runs is None else results.runs.raters.raters:
        if rater.name == name and rater.self_agreement.known:
            values |= {"self_agreement": rater.self_agreement, "changed_items": rater.changed}
    return values


def predicted_share(results: Results, name: str) -> Estimate:
    """The share of rows that have a prediction at all; of several runs, the mean over them."""
    for record, one in results.given.items():
        names = [record] if len(one.variants) == 1 else [f"{record}: {variant}" for variant in one.variants]
        places = [place for place, both in enumerate(zip(one.variants, names)) if name in both]
        if places and one.of_predictions:
            silent = np.flatnonzero(one.classes.astype(str) == NOTHING_PREDICTED)
            labels = one.labels[places[0]]
            there = 1 - np.isin(labels[labels[:, 0] != -1], silent).mean(axis=0)
            return accuracy_over_rows(replace(results.predicted[name], share_right=there))
    return of_proportion_by_group(np.ones(len(results.rows), dtype=bool), results.rows.groups)


def refit_figures(learner: LearnerResults) -> dict[str, Estimate]:
    """The figures of the refits of one learner."""
    oriented, steady = learner.orientation, learner.stability
    values: dict[str, Estimate] = {}
    values["refit_accuracy"] = steady.accuracy
    values["train_accuracy"] = oriented.train_accuracy
    values["gap"] = gap(learner)
    values["refit_spread"] = exact(float(_accuracies(learner).std(ddof=1)), "standard deviation over refits")
    if learner.retraining is not None:
        values["retrain_change"] = learner.retraining.change
        values["retrain_by_seed"] = learner.retraining.by_seed
    values["sample_change"] = changed_by_sample(learner)
    values["stability"] = steady.stability
    values["kappa"] = steady.kappa
    if learner.on_probes is not None:
        values["stability_probes"] = learner.on_probes.stability
    values["seed_change"] = changed_by_randomness(learner)
    values["bias"] = oriented.bias[usual_threshold(oriented.holdout_size)]
    for name in ("expressivity", "capacity", "stochasticity"):
        values[name] = getattr(oriented, name)
    seconds = learner.labelings.seconds
    if np.isfinite(seconds).any():  # predictions of another system have none
        values["seconds_per_fit"] = exact(float(np.nanmedian(seconds)), "measured once, on this machine")
    return values


def check_figures(check: ModelCheck | None) -> dict[str, Estimate]:
    """What a model gains over the geometry, and how well complexity and its confidence rank its errors."""
    if check is None:
        return {}
    balanced = check.versus.model["balanced_accuracy"]
    values = {"balanced_accuracy": balanced, "baseline_gain": check.versus.difference["accuracy"]}
    if check.against is not None:
        values["complexity_auc"] = check.against.auc
        if check.against.auc_confidence.known:
            values["confidence_auc"] = check.against.auc_confidence
    return values


def accuracy_of(results: Results, name: str) -> Estimate:
    """Cross-validated accuracy, of fits on all rows but the fold; that of refits on halves if there is none."""
    held = results.predicted.get(name)
    if held is None:
        return results.learners[name].stability.accuracy
    return accuracy_over_rows(held)


def gap(learner: LearnerResults) -> Estimate:
    """Accuracy on its own training rows minus accuracy on test points."""
    estimate = difference(learner.orientation.train_accuracy, learner.stability.accuracy, "over subsets and points")
    return within_limits(estimate, -1.0, 1.0)


def changed_by_randomness(learner: LearnerResults) -> Estimate:
    """Share of test points on which refits on the same rows differ."""
    if learner.labelings.deterministic:
        return exact(0.0, "no training randomness")
    return one_minus(learner.stability.same_subset)


def _accuracies(learner: LearnerResults) -> Floats:
    """The accuracy of every refit on the test points."""
    record = learner.labelings
    right = (record.labels == record.truth).mean(axis=2)
    return np.asarray(right[record.present], dtype=float)


def changed_by_sample(learner: LearnerResults) -> Estimate:
    """Share of test points on which refits on disjoint halves differ."""
    return one_minus(learner.stability.stability)


def one_minus(share: Estimate) -> Estimate:
    """The rest of a share."""
    return replace(share, value=1 - share.value, low=1 - share.high, high=1 - share.low)


def data_figures(results: Results) -> dict[str, Estimate]:
    """The figures of the rows."""
    data = results.data
    counts = np.bincount(data.codes)
    values = {"rows": exact(len(data), "count")}
    if results.rows_known:
        values["columns"] = exact(data.table.shape[1], "count")
    values["classes"] = exact(data.classes.size, "count")
    values["majority_share"] = exact(counts.max() / counts.sum(), "of these rows")
    if results.rows_known:
        values["contradictions"] = exact(data.contradicted_rows.sum(), "count")
        values["duplicates"] = exact(data.duplicates, "count")
    if results.complexity is not None and results.labels is not None:
        values["baseline_accuracy"] = results.complexity.baseline_accuracy
        values["suspects"] = exact(results.labels.listed.size, "count")
        values["wrong_share"] = results.labels.share
        values["evenness"] = exact(results.complexity.normalised_entropy, "of these rows")
    if results.unlike is not None:
        values["unlike_share"] = results.unlike.share
    return values
