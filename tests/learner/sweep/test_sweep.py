"""`sweep`: at every value what `record` gives there, on the same subsets, whoever fits and however fits are shared."""

from __future__ import annotations

import math
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rough_learners import Centroids, Rowwise, Seeded, Tallied, fits
from scipy import sparse, stats
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Retrain, Subsets, metrics, orientation, record, sweep
from classay.intervals import Estimate
from classay.learner.fitting.paths import SharedPath
from classay.learner.fitting.paths.shared import PATHS
from classay.learner.fitting.runner import HOPELESS
from classay.learner.sweep.result import correlated

X, Y = load_iris(return_X_y=True)
NUMBERED = np.column_stack([np.arange(len(X)), X])
FEW = Subsets(6, 0.3)
KEPT = {"scheme": FEW, "repeats": 3, "executor": 1}


def row_only_in(subset):
    """A row that is in the training set of one subset and of no other, as the first column numbers rows."""
    drawn = record(Rowwise(), NUMBERED, Y, **KEPT).train_rows
    others = np.concatenate([rows for number, rows in enumerate(drawn) if number != subset])
    return int(np.setdiff1d(drawn[subset], others)[0])


def assert_same_record(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.train_accuracy, other.train_accuracy)
    np.testing.assert_array_equal(one.truth, other.truth)
    np.testing.assert_array_equal(one.test_rows, other.test_rows)
    for rows, others in zip(one.train_rows, other.train_rows, strict=True):
        np.testing.assert_array_equal(rows, others)
    assert (one.probe_labels is None) == (other.probe_labels is None)
    if one.probe_labels is not None:
        np.testing.assert_array_equal(one.probe_labels, other.probe_labels)
    assert one.deterministic == other.deterministic
    assert one.failures == other.failures


class Shifting(Centroids):
    """Its answers are drawn anew from numpy's global generator if `noisy`, so that some values are deterministic."""

    def __init__(self, noisy=False):
        self.noisy = noisy

    def predict(self, rows):
        return np.random.choice(self.classes_, len(rows)) if self.noisy else super().predict(rows)


# The same as record


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "name", "values"),
    [
        (RandomForestClassifier(max_depth=3), "n_estimators", [1, 4, 2]),
        (KNeighborsClassifier(), "n_neighbors", [3, 1, 7]),
        (DecisionTreeClassifier(max_features=1), "min_samples_leaf", [1, 5]),
        (DecisionTreeClassifier(random_state=3, max_features=1), "max_depth", [1, 2]),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "kneighborsclassifier__n_neighbors", [1, 5]),
        (Shifting(), "noisy", [False, True]),
        (Seeded(), "random_state", [None, 1]),
    ],
    ids=["prefixes", "neighbours", "no path", "frozen", "pipeline", "mixed", "seed"],
)
def test_every_value_is_what_record_gives(learner, name, values):
    found = sweep(learner, X, Y, name, values, **KEPT)
    assert list(found.records) == values
    for value, labelings in found.records.items():
        alone = record(type(learner)(**learner.get_params(deep=False)).set_params(**{name: value}), X, Y, **KEPT)
        assert_same_record(labelings, alone)
        assert labelings.name == alone.name
        own = found.orientations[value]
        assert own.to_dict() == orientation(alone, own.holdout_size).to_dict()


def test_probes_of_other_types_are_not_joined_to_the_rows():
    frame = pd.DataFrame({"a": X[:, 2], "b": np.arange(len(X))})
    given = {"probes": frame.astype(float), "scheme": HalfSplits(2), "repeats": 2, "executor": 1}
    found = sweep(RandomForestClassifier(), frame, Y, "n_estimators", [1, 3], **given)
    assert {use.kind for use in found.paths} == {"value by value"}
    assert_same_record(found.records[3], record(RandomForestClassifier(3), frame, Y, **given))


@pytest.mark.slow
def test_sparse_rows_and_frames_with_probes():
    rows = sparse.csr_matrix(np.where(X > 2, X, 0))
    found = sweep(RandomForestClassifier(), rows, Y, "n_estimators", [1, 3], probes="data", n_probes=9, **KEPT)
    alone = record(RandomForestClassifier(3), rows, Y, probes="data", n_probes=9, **KEPT)
    assert_same_record(found.records[3], alone)
    frame = pd.DataFrame({"size": X[:, 2], "hue": np.where(X[:, 3] > 1, "dark", "light")})
    learner = classay.encoded(RandomForestClassifier(), frame)
    found = sweep(learner, frame, Y, "n_estimators", [1, 3], probes="uniform", n_probes=9, **KEPT)
    assert found.parameters == ("n_estimators",)
    alone = record(learner.set_params(learner__n_estimators=3), frame, Y, probes="uniform", n_probes=9, **KEPT)
    assert_same_record(found.records[3], alone)


def test_a_path_in_distribution_says_so_and_keeps_to_the_same_subsets():
    found = sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 2, 3], **KEPT)
    assert not found.paths[0].exact
    assert found.records[1].about["path"]["values"] == [1, 2, 3]
    assert "in distribution" in str(found)
    alone = record(DecisionTreeClassifier(max_depth=2), X, Y, **KEPT)
    for rows, others in zip(found.records[2].train_rows, alone.train_rows):
        np.testing.assert_array_equal(rows, others)
    assert (found.records[2].labels == alone.labels).mean() > 0.9


# The same bits


@pytest.mark.slow
@pytest.mark.parametrize(("learner", "name"), [(RandomForestClassifier(), "n_estimators"), (Seeded(), "random_state")])
def test_the_same_bits_for_any_number_of_workers(learner, name):
    settings = {"scheme": FEW, "repeats": 3}
    alone = sweep(learner, X, Y, name, [1, 2, 5], executor=1, **settings)
    with ThreadPoolExecutor(3) as threads:
        for executor in (2, None, threads):
            other = sweep(learner, X, Y, name, [1, 2, 5], executor=executor, **settings)
            pd.testing.assert_frame_equal(alone.to_frame(), other.to_frame(), check_exact=True)
            for value in (1, 2, 5):
                assert_same_record(alone.records[value], other.records[value])


# Two parameters


@pytest.mark.slow
def test_a_grid_goes_along_one_parameter_and_through_the_other():
    grid = {"max_depth": [1, 2], "n_estimators": [1, 2, 5]}
    found = sweep(RandomForestClassifier(), X, Y, tuple(grid), tuple(grid.values()), **KEPT)
    assert found.values == ((1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (2, 5))
    assert [use.parameter for use in found.paths] == ["n_estimators"] * 2
    for depth, trees in found.values:
        assert_same_record(
            found.records[depth, trees], record(RandomForestClassifier(trees, max_depth=depth), X, Y, **KEPT)
        )
    frame = found.to_frame()
    assert list(frame.columns[:5]) == ["learner", "parameter", "value", "parameter_2", "value_2"]
    assert frame.groupby(["value", "value_2"]).ngroups == 6
    mapped = sweep(RandomForestClassifier(), X, Y, ("max_depth", "n_estimators"), grid, **KEPT)
    pd.testing.assert_frame_equal(frame, mapped.to_frame(), check_exact=True)


# What it tells


def test_the_frame_holds_the_figures_of_orientation():
    found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 5], holdout_size=3, holdouts=7, **KEPT)
    frame = found.to_frame()
    assert list(frame.columns) == [
        "learner", "parameter", "value", "metric", "threshold", "estimate", "low", "high", "level", "kind",
    ]  # fmt: skip
    one = orientation(found.records[5], 3, 7, 0)
    row = frame[(frame["value"] == 5) & (frame["metric"] == "bias_2")].iloc[0]
    assert (row.estimate, row.low, row.high, row.threshold) == (one.bias[2].value, one.bias[2].low, one.bias[2].high, 2)
    gap = frame[(frame["value"] == 5) & (frame["metric"] == "gap")].iloc[0].estimate
    assert gap == pytest.approx(one.train_accuracy.value - one.accuracy.value)
    raw = found.to_frame(raw=True)
    assert len(raw) == 2 * 7 * (3 + 3)
    mean = raw[(raw["value"] == 5) & (raw["metric"] == "expressivity")].estimate.mean()
    assert mean == pytest.approx(one.plugin.expressivity.value)


def test_correlations_are_scipys_and_unknown_where_nothing_varies():
    a = [0.0, 0.5, 0.7, 2.0, 2.1, 2.5, 3.0, 3.5, 4.0]
    b = [0.1, 0.3, 0.2, 0.9, 0.4, 0.8, 0.7, 0.6, 1.1]
    found = correlated(a, b)
    assert (found.pearson, found.pearson_p) == tuple(stats.pearsonr(a, b))
    assert (found.spearman, found.spearman_p) == tuple(stats.spearmanr(a, b))
    assert correlated([*a, math.nan], [*b, 1.0]) == found
    assert math.isnan(correlated([0.0] * 9, b).pearson)
    assert math.isnan(correlated(a[:2], b[:2]).spearman)
    assert "unknown over 4 values" in str(correlated([0.0] * 4, b[:4]))


def test_of_few_values_p_counts_the_orders_that_are_as_extreme():
    # Of 4 values, one swap of neighbours: as extreme are 4 of the 24 orders, and the same reversed.
    found = correlated([0.0, 0.5, 0.7, 2.0], [0.1, 0.3, 0.2, 0.9])
    assert (found.spearman, found.spearman_p) == pytest.approx((0.8, 8 / 24))
    # Three values in the same order are no proof: one of three times, chance does as well.
    found = correlated([1, 2, 3], [0.1, 0.2, 0.4])
    assert (found.spearman, found.spearman_p) == pytest.approx((1, 1 / 3))
    assert "Spearman 1.00 over 3 values (on the same test points" in str(found)


def test_copies_are_no_evidence():
    """Four of five values bit for bit the same gave Pearson -1.00, p < .001."""
    found = correlated([0.0, 0.3, 0.3, 0.3, 0.3], [0.2, 0.1, 0.1, 0.1, 0.1])
    assert (found.n, found.distinct) == (5, 2)
    assert math.isnan(found.pearson)
    assert str(found) == "unknown over 5 values, of which 2 differ"
    copied = correlated([1, 2, 2, 2, 2, 3], [0.1, 0.3, 0.3, 0.3, 0.3, 0.2])
    assert copied.distinct == 3
    once = correlated([1, 2, 3], [0.1, 0.3, 0.2])
    assert (copied.pearson, copied.pearson_p, copied.spearman_p) == (once.pearson, once.pearson_p, once.spearman_p)


def test_lower_limits_are_named_and_not_correlated():
    """ "capacity 2.8 to 1.15" stood where it was at least 2.8, and at least 1.15."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    found = sweep(
        DecisionTreeClassifier(max_features=1), rows, labels, "max_depth", [1, 2, 8], Subsets(12, 0.3), 3,
        holdout_size=12, executor=1,
    )  # fmt: skip
    first, last = found.orientations[1].capacity, found.orientations[8].capacity
    assert first.prefix
    assert last.prefix
    assert f"capacity at least {first.value:.3g} to at least {last.value:.3g}" in str(found)
    limits = sum(bool(one.stochasticity.prefix) for one in found.orientations.values())
    assert limits > 0
    assert (found.gap_correlation.n, found.gap_correlation.limits) == (3 - limits, limits)
    assert f", without {limits} of which only a lower limit is known" in str(found)
    assert found.plugin_gap_correlation.n == 3


def test_what_one_refit_cannot_tell_is_called_unknown():
    found = sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 3], Subsets(5), 1, executor=1)
    assert "capacity unknown, stochasticity unknown bits" in str(found)
    assert "nan" not in str(found)
    ranged = replace(found.orientations[1], capacity=Estimate(0.0, 0.0, 1.2, kind="between: few refits"))
    told = str(replace(found, orientations={**found.orientations, 1: ranged}))
    assert "capacity between 0 and 1.2 to " in told


# What goes wrong


def test_a_value_that_is_refused_is_reported_and_the_others_complete():
    found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [0, 2, 4], **KEPT)
    assert found.values == (2, 4)
    assert [use.values for use in found.paths] == [(2, 4)]
    assert "n_estimators" in found.failed[0]
    assert "0 failed: " in str(found)
    alone = sweep(DecisionTreeClassifier(), X, Y, "min_samples_leaf", [0, 3], **KEPT)
    assert (alone.values, list(alone.failed)) == ((3,), [0])
    with pytest.raises(InputError, match="failed at every value"):
        sweep(DecisionTreeClassifier(), X, Y, "max_depth", [0, -1], **KEPT)


class Refusing(Tallied):
    """Leaves a line with its power, and fails if that is 0."""

    def before_fit(self, rows, labels):
        with open(self.path, "a") as file:
            file.write(f"{self.power}\n")
        if self.power == 0:
            raise ValueError("no power")


def test_a_learner_that_fails_from_the_start_is_given_up_soon(tmp_path):
    tally = tmp_path / "fits"
    many = Subsets(40, 0.3)
    with pytest.raises(InputError, match="failed at every value: ValueError: no power"):
        sweep(Refusing(tally), X, Y, "power", [0], many, repeats=3, executor=1)
    assert fits(tally) == HOPELESS * 3
    tally.unlink()
    found = sweep(Refusing(tally), X, Y, "power", [0, 1], many, repeats=3, executor=1)
    assert (found.values, list(found.failed)) == ((1,), [0])
    assert fits(tally) == HOPELESS * 3 + len(found.records[1].train_rows) + 1


def test_what_fails_on_some_subsets_is_listed_as_record_lists_it():
    poison = row_only_in(4)
    found = sweep(Rowwise(), NUMBERED, Y, "row", [None, poison], **KEPT)
    assert len(found.records[poison].failures) == 3
    assert_same_record(found.records[poison], record(Rowwise(poison), NUMBERED, Y, **KEPT))


def test_a_worker_that_dies_costs_its_own_values_and_subsets_only():
    poison = row_only_in(5)
    found = sweep(Rowwise(deed="die"), NUMBERED, Y, "row", [None, poison], FEW, 2, executor=2)
    assert found.records[None].failures == ()
    assert {failure.subset for failure in found.records[poison].failures} == {5}
    assert "killed its worker" in found.records[poison].failures[0].error


class Slow(Centroids):
    """Fast by itself; its path, registered below, is not."""

    def __init__(self, value=1):
        self.value = value


class SlowPath(SharedPath):
    KIND, EXACT = "a slow path", True

    @classmethod
    def applies(cls, learner, param_name, values):
        return isinstance(learner, Slow) and param_name == "value"

    @classmethod
    def along(cls, learner, param_name, values, X, y, asked):
        signal.setitimer(signal.ITIMER_REAL, 0.05, 1.0)  # the time limit, however long, is over
        time.sleep(600)
        yield values[0], np.zeros(len(asked), dtype=int)


def test_where_a_path_takes_too_long_values_are_fitted_one_by_one(monkeypatch):
    monkeypatch.setattr("classay.learner.fitting.paths.shared.PATHS", PATHS)
    PATHS.append(SlowPath)
    try:
        found = sweep(Slow(), X, Y, "value", [1, 2], Subsets(2), 1, executor=1, time_limit=120)
        assert found.paths[0].kind == "a slow path"
        assert_same_record(found.records[2], record(Slow(2), X, Y, Subsets(2), 1, executor=1))
    finally:
        PATHS.remove(SlowPath)


def test_ctrl_c_keeps_the_subsets_that_are_done():
    poison = row_only_in(4)
    found = sweep(Rowwise(poison, "interrupt"), NUMBERED, Y, "deed", ["interrupt", "none"], **KEPT)
    assert found.interrupted
    assert len(found.records["none"].train_rows) == 4
    assert found.notes[-1] == "Interrupted: 4 of 6 subsets were run."
    whole = record(Rowwise(poison, "none"), NUMBERED, Y, **KEPT)
    np.testing.assert_array_equal(found.records["none"].labels, whole.labels[:4])
    with pytest.raises(KeyboardInterrupt):
        sweep(Rowwise(row_only_in(0), "interrupt"), NUMBERED, Y, "deed", ["interrupt", "none"], **KEPT)


class Halting(Shifting):
    """Ctrl-C at some fit, counted over all learners."""

    fits = 0

    def __init__(self, after=10**9, noisy=False, random_state=0):
        super().__init__(noisy)
        self.after, self.random_state = after, random_state

    def before_fit(self, rows, labels):
        Halting.fits += 1
        if Halting.fits == self.after:
            raise KeyboardInterrupt


def test_ctrl_c_keeps_whole_subsets_where_refits_differ_without_a_seed():
    class Seedless(Halting):
        def __init__(self, after=10**9, noisy=True):
            super().__init__(after, noisy, random_state=None)
            del self.random_state

    Halting.fits = 0
    found = sweep(Seedless(after=21), X, Y, "noisy", [True], Subsets(20), 2, executor=1, holdouts=5)
    assert len(found.records[True].train_rows) == 10
    Halting.fits = 0
    half = record(Seedless(after=22), X, Y, Subsets(20), 2, executor=1)
    assert half.present.sum() == 21


def test_values_of_which_too_little_was_done_are_named():
    Halting.fits = 0
    found = sweep(Halting(), X, Y, "after", [99, 4], Subsets(20), 1, executor=1, holdouts=5)
    assert list(found.records) == [99]
    assert found.notes[-1] == "Too little was done to measure anything at 4."


def test_a_subset_that_kills_its_worker_is_not_tried_for_every_refit(tmp_path):
    marks = tmp_path / "deaths"
    poison = row_only_in(5)

    class Dying(Rowwise):
        def __init__(self, row=None, marks=None):
            super().__init__(row, "none")
            self.marks = marks

        def before_fit(self, rows, labels):
            if self.row is not None and self.row in np.asarray(rows)[:, 0]:
                with open(self.marks, "a") as file:
                    file.write("dead\n")
                os._exit(1)

    found = record(Dying(poison, str(marks)), NUMBERED, Y, FEW, 3, executor=2)
    assert found.deterministic
    assert [failure.subset for failure in found.failures] == [5]
    assert len(marks.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("max_dept", [1], r"no parameter 'max_dept'\. Did you mean max_depth.* It has .*min_samples_leaf"),
        ("max_depth", [], "is empty"),
        ("max_depth", 5, "expected a list of values"),
        ("max_depth", "1:5", "expected a list of values"),
        ("max_depth", [1, float("nan")], "finite"),
        ("max_depth", [1, True], "sweep them separately"),
        ("max_depth", [{}], "has no hash"),
        (("max_depth",), ([1],), "two names"),
        (("max_depth", "max_depth"), ([1], [2]), "twice"),
        (("max_depth", "splitter"), [1, 2], "a pair of lists"),
        (("max_depth", "splitter"), {"max_depth": [1]}, "same names"),
        (3, [1], "name of a parameter"),
    ],
)
def test_bad_settings_are_refused_before_any_fit(name, values, message):
    with pytest.raises(InputError, match=message):
        sweep(DecisionTreeClassifier(), X, Y, name, values, **KEPT)


def test_regressors_large_holdouts_and_the_parameter_of_a_step_without_its_name_are_refused():
    tree = DecisionTreeClassifier()
    for arguments, options, message in (
        ((LinearRegression(), X, X[:, 0], "fit_intercept", [True, False]), {}, "a regressor; a sweep counts labels"),
        ((LinearRegression(), X, X[:, 0], "size", [30]), {}, "a regressor"),
        ((tree, X, Y, "max_depth", [1]), {"holdout_size": 500}, "`holdout_size` is 500"),
        ((make_pipeline(StandardScaler(), tree), X, Y, "max_depth", [1]), {}, "mean decisiontreeclassifier__max_depth"),
    ):
        with pytest.raises(InputError, match=message):
            sweep(*arguments, **options, **KEPT)


# A metric beside accuracy: by labels on shared fits, by scores on separate ones


RARE = make_classification(300, 6, weights=[0.8], random_state=0)
FIVE = {"scheme": Subsets(5, 0.4), "repeats": 2, "executor": 1, "holdouts": 10}


def test_a_metric_of_labels_shares_fits():
    w = sweep(KNeighborsClassifier(), *RARE, "n_neighbors", [1, 5], metric="balanced_accuracy", **FIVE)
    assert w.paths[0].exact
    assert w.paths[0].kind != "value by value"
    for value, labelings in w.records.items():
        assert labelings.scores is None
        assert w.metric_estimates[value] == metrics(labelings, "balanced_accuracy")["balanced_accuracy"]
    table = w.to_frame()
    assert (table["metric"] == "balanced_accuracy").sum() == 2
    assert "balanced_accuracy is best at" in str(w)


def test_a_metric_of_scores_fits_each_value_and_says_so(tmp_path):
    w = sweep(RandomForestClassifier(), *RARE, "n_estimators", [2, 6], metric="roc_auc", store=tmp_path, **FIVE)
    assert {use.kind for use in w.paths} == {"value by value"}
    assert "roc_auc needs scores, which shared fits do not give" in str(w)
    shared = sweep(RandomForestClassifier(), *RARE, "n_estimators", [2, 6], **FIVE)
    for value in (2, 6):
        np.testing.assert_array_equal(w.records[value].labels, shared.records[value].labels)
        assert w.metric_estimates[value].value > 0.5
        assert w.metric_spread[value].sd > 0
    there = len(list(tmp_path.iterdir()))
    settings = {name: part for name, part in FIVE.items() if name != "holdouts"}
    found = record(RandomForestClassifier(6), *RARE, store=tmp_path, **settings)
    assert len(list(tmp_path.iterdir())) == there
    np.testing.assert_array_equal(found.scores.values, w.records[6].scores.values)
    assert w.plot(kind="metric") is not None


def test_what_a_retraining_changes_along_a_sweep():
    rows, labels = make_classification(600, 4, flip_y=0.3, random_state=0)
    settings = {**FIVE, "scheme": Retrain(12), "repeats": 1}
    w = sweep(KNeighborsClassifier(), rows, labels, "n_neighbors", [1, 61], **settings)
    table = w.ask(classay.retraining)
    change = table[table["metric"] == "change"].set_index("value")["estimate"]
    assert change[61] < change[1]


def test_metrics_that_are_refused():
    with pytest.raises(InputError, match=r"The metric 'auc' is not known.*Did you mean"):
        sweep(KNeighborsClassifier(), *RARE, "n_neighbors", [1], metric="auc", **FIVE)
    with pytest.raises(InputError, match="needs scores, and Centroids has neither"):
        sweep(Centroids(), *RARE, "power", [1], metric="brier", **FIVE)
    with pytest.raises(InputError, match="has no metric beside accuracy"):
        sweep(KNeighborsClassifier(), *RARE, "n_neighbors", [1, 3], **FIVE).plot(kind="metric")
