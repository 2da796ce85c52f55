"""A metric beside accuracy along a sweep: by labels on shared fits, by scores on separate ones."""

from __future__ import annotations

import numpy as np
import pytest
from rough_learners import Centroids
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

import classay
from classay import InputError, Retrain, Subsets, metrics, record, sweep

X, Y = make_classification(300, 6, weights=[0.8], random_state=0)
KEPT = {"scheme": Subsets(5, 0.4), "repeats": 2, "executor": 1, "holdouts": 10}


def test_a_metric_of_labels_shares_fits():
    w = sweep(KNeighborsClassifier(), X, Y, "n_neighbors", [1, 5], metric="balanced_accuracy", **KEPT)
    assert w.paths[0].exact
    assert w.paths[0].kind != "value by value"
    for value, labelings in w.records.items():
        assert labelings.scores is None
        assert w.metric_estimates[value] == metrics(labelings, "balanced_accuracy")["balanced_accuracy"]
    table = w.to_frame()
    assert (table["metric"] == "balanced_accuracy").sum() == 2
    assert "balanced_accuracy is best at" in str(w)


def test_a_metric_of_scores_fits_each_value_and_says_so(tmp_path):
    w = sweep(RandomForestClassifier(), X, Y, "n_estimators", [2, 6], metric="roc_auc", store=tmp_path, **KEPT)
    assert {use.kind for use in w.paths} == {"value by value"}
    assert "roc_auc needs scores, which shared fits do not give" in str(w)
    shared = sweep(RandomForestClassifier(), X, Y, "n_estimators", [2, 6], **KEPT)
    for value in (2, 6):
        np.testing.assert_array_equal(w.records[value].labels, shared.records[value].labels)
        assert w.metric_estimates[value].value > 0.5
        assert w.metric_spread[value].sd > 0
    there = len(list(tmp_path.iterdir()))
    settings = {name: part for name, part in KEPT.items() if name != "holdouts"}
    found = record(RandomForestClassifier(6), X, Y, store=tmp_path, **settings)
    assert len(list(tmp_path.iterdir())) == there
    np.testing.assert_array_equal(found.scores.values, w.records[6].scores.values)
    assert w.plot(kind="metric") is not None


def test_what_a_retraining_changes_along_a_sweep():
    rows, labels = make_classification(600, 4, flip_y=0.3, random_state=0)
    settings = {**KEPT, "scheme": Retrain(12), "repeats": 1}
    w = sweep(KNeighborsClassifier(), rows, labels, "n_neighbors", [1, 61], **settings)
    table = w.ask(classay.retraining)
    change = table[table["metric"] == "change"].set_index("value")["estimate"]
    assert change[61] < change[1]


def test_what_is_refused():
    with pytest.raises(InputError, match=r"The metric 'auc' is not known.*Did you mean"):
        sweep(KNeighborsClassifier(), X, Y, "n_neighbors", [1], metric="auc", **KEPT)
    with pytest.raises(InputError, match="needs scores, and Centroids has neither"):
        sweep(Centroids(), X, Y, "power", [1], metric="brier", **KEPT)
    with pytest.raises(InputError, match="has no metric beside accuracy"):
        sweep(KNeighborsClassifier(), X, Y, "n_neighbors", [1, 3], **KEPT).plot(kind="metric")
