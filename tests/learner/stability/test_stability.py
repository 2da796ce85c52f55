"""Stability: closed forms, the paper's theorem and argument, two-fold accuracy, what is unknown, and mistakes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Labelings, Subsets, load, record, stability


def two_clouds(n=400, seed=0):
    dice = np.random.default_rng(seed)
    X = dice.normal(size=(n, 3))
    return X, (X[:, 0] + 0.5 * dice.normal(size=n) > 0).astype(int)


def test_a_constant_learner_has_stability_1_and_no_kappa():
    X, y = two_clouds()
    constant = DummyClassifier(strategy="constant", constant=0)
    found = stability(record(constant, X, y, HalfSplits(10), 1, probes="uniform", n_probes=300, executor=1))
    assert found.stability.value == 1.0
    assert found.stability.low == pytest.approx(0.05 ** (1 / 10))
    assert math.isnan(found.kappa.value)
    assert "only one class" in found.kappa.kind
    assert "always predicts the same has stability 1" in str(found)
    assert f"accuracy {found.accuracy}" in str(found)


@pytest.mark.parametrize("q", [0.5, 0.7, 0.95])
@pytest.mark.parametrize("halves", [True, False])
def test_random_labels_agree_as_often_as_chance(q, halves):
    labels = (np.random.default_rng(1).random((60, 2, 500)) < q).astype(int)
    found = stability(Labelings.from_arrays(labels, labels[0, 0], halves=halves))
    expected = q**2 + (1 - q) ** 2
    assert abs(found.stability.value - expected) < 3 * found.standard_error
    assert found.kappa.low < 0 < found.kappa.high
    assert abs(found.same_subset.value - expected) < 0.02
    assert found.seed_share == pytest.approx(1.0, abs=0.05)


@pytest.fixture(scope="module")
def correlated():
    dice = np.random.default_rng(0)
    z = dice.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], 1000)
    return pd.DataFrame({"a": z[:, 0], "b": z[:, 1]}), (z.sum(axis=1) > 0).astype(int)


@pytest.mark.slow
def test_the_papers_argument(correlated):
    """Correlated attributes hide from the data's own distribution what uniform probes show, of a tree."""
    X, y = correlated
    found = {}
    for name, learner in {"tree": DecisionTreeClassifier(max_depth=3), "logistic": LogisticRegression()}.items():
        for probes in ("data", "uniform"):
            labelings = record(learner, X, y, HalfSplits(20), 1, probes=probes, n_probes=2000, executor=1)
            found[name, probes] = stability(labelings).stability
    assert found["tree", "data"].value > 0.9
    assert found["tree", "uniform"].high < found["tree", "data"].low - 0.05
    lost = {name: found[name, "data"].value - found[name, "uniform"].value for name in ("tree", "logistic")}
    assert lost["logistic"] < lost["tree"] / 3


def test_halves_are_compared_with_halves_and_subsets_with_all():
    labels = np.zeros((4, 1, 10), dtype=int)
    labels[2:] = 1
    assert float(stability(Labelings.from_arrays(labels, labels[0, 0], halves=True)).stability) == 1.0
    assert float(stability(Labelings.from_arrays(labels, labels[0, 0])).stability) == pytest.approx(2 / 6)


def test_where_refits_are_compared():
    X, y = two_clouds()
    labelings = record(DecisionTreeClassifier(), X, y, HalfSplits(6), 2, probes="uniform", n_probes=200, executor=1)
    auto, test = stability(labelings), stability(labelings, on="test")
    assert (auto.on, auto.n_points) == ("uniform comparison points", 200)
    assert (test.on, test.n_points) == ("test points", 80)
    assert auto.accuracy == test.accuracy
    assert auto.points.shape == (200, 3)
    assert test.points is None
    assert auto.per_point.shape == (200,)
    assert auto.per_refit.shape == (12, 2)
    assert "training randomness" in str(auto)
    assert stability(labelings, level=0.8).stability.level == 0.8


def test_a_deterministic_learner_has_no_randomness():
    X, y = two_clouds()
    labelings = record(LogisticRegression(random_state=0), X, y, HalfSplits(5), 3, executor=1)
    found = stability(labelings)
    assert (found.same_subset.value, found.seed_share) == (1.0, 0.0)
    assert "of the disagreement is" not in str(found)
    assert classay.orientation(labelings).accuracy == found.accuracy


def test_what_one_refit_and_one_pair_leave_unknown():
    labels = np.random.default_rng(0).integers(2, size=(8, 30))
    found = stability(Labelings.from_arrays(labels, [0, 1] * 15))
    assert math.isnan(found.same_subset.value)
    assert math.isnan(found.seed_share)
    found = stability(Labelings.from_arrays(labels[:2], [0, 1] * 15))
    assert (found.stability.low, found.stability.high) == (0.0, 1.0)
    assert "one pair" in str(found)


def test_missing_refits_drop_both_halves():
    labels = np.random.default_rng(0).integers(2, size=(12, 1, 20)).astype(np.int8)
    whole = Labelings.from_arrays(labels, labels[0, 0], halves=True)
    gone = labels.copy()
    gone[3] = -1
    damaged = replace(whole, labels=gone)
    found = stability(damaged)
    kept = np.delete(labels, [2, 3], axis=0)
    assert found.n_subsets == 10
    assert float(found.stability) == pytest.approx((kept[::2] == kept[1::2]).mean())
    assert "Refits are missing; 10 subsets" in str(found)


def test_the_same_figures_after_saving(tmp_path):
    X, y = two_clouds()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(hue=np.where(y, "red", "blue"))
    learner = classay.encoded(DecisionTreeClassifier(), frame)
    labelings = record(learner, frame, y, HalfSplits(8), 1, probes="uniform", n_probes=300, executor=1)
    loaded = classay.load(labelings.save(tmp_path / "record"))
    pd.testing.assert_frame_equal(loaded.probes, labelings.probes)
    assert str(stability(loaded)) == str(stability(labelings))
    assert str(stability(loaded).regions()) == str(stability(labelings).regions())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "prbes"}, "Did you mean probes"),
        ({"on": "probes"}, "The record has no probes"),
        ({"level": 95}, "`level` is 95"),
        ({"tolerance": 0.1}, "`tolerance` is for regressors"),
        ({"labelings": [[0, 1]]}, "expected a record"),
        ({"labelings": Labelings.from_arrays([[0, 1]], [0, 1])}, "one set of predictions; comparing needs two refits"),
    ],
)
def test_mistakes(options, message):
    labels = np.random.default_rng(0).integers(2, size=(8, 30))
    with pytest.raises(InputError, match=message):
        stability(**{"labelings": Labelings.from_arrays(labels, [0, 1] * 15)} | options)


@pytest.mark.parametrize("halves", [True, False])
def test_an_interval_holds_its_value_where_every_pair_agrees_alike(halves):
    # Two refits a subset that never agree: of the four pairs of refits of two subsets, two do, at every point.
    labels = np.zeros((40, 2, 10), dtype=int)
    labels[:, 1] = 1
    found = stability(Labelings.from_arrays(labels, np.arange(10) % 2, halves=halves))
    rare = 1 - 0.05 ** (1 / 10)  # of ten points none differed
    assert found.stability.value == pytest.approx(0.5)
    assert found.stability.low == pytest.approx(0.5 - rare / 2)
    assert found.stability.high == pytest.approx(0.5 + rare / 2)
    assert (found.same_subset.value, found.same_subset.low) == (0.0, 0.0)


def test_kappa_of_a_class_that_few_points_get_allows_for_disagreement_not_seen():
    """Two of 60 points get the second class, from nearly all refits: the next such point may be another matter."""
    labels = np.zeros((20, 60), dtype=int)
    labels[:, :2] = 1
    labels[0, 0] = 0
    kappa = stability(Labelings.from_arrays(labels, labels[1], halves=True)).kappa
    assert 0.9 < kappa.value < 1
    assert kappa.low < 0.5


@pytest.mark.parametrize("seed", range(4))
def test_kappa_of_constants_is_0_and_inside_its_interval(seed):
    """Rounding put the value outside its own interval, as in -3.2e-16 [-2.2e-16, -2.2e-16]."""
    constants = np.random.default_rng(seed).random((40, 1)) < 0.5
    kappa = stability(Labelings.from_arrays(np.repeat(constants.astype(int), 100, axis=1), np.arange(100) % 2)).kappa
    assert kappa.value == 0
    assert kappa.low <= 0 <= kappa.high


# Learners side by side.


def noisy(rate, n=300, **options):
    wrong = np.random.default_rng(0).random((20, n)) < rate
    return Labelings.from_arrays(wrong ^ (np.arange(n) % 2), np.arange(n) % 2, **options)


def test_who_is_unbeaten():
    constant = Labelings.from_arrays(np.zeros((20, 300), dtype=int), np.arange(300) % 2)
    table = stability({"constant": constant, "good": noisy(0.1), "bad": noisy(0.3)})
    assert (table.names, table.unbeaten) == (("constant", "good", "bad"), ("constant", "good"))
    assert "constant (stability 1" in str(table)
    assert table.stability["good"] == stability(noisy(0.1)).stability
    frame = table.to_frame()
    assert len(frame) == 9
    assert set(frame.figure) == {"stability", "kappa", "accuracy"}
    # Equal learners do not beat each other, and one learner is a table too.
    assert stability({"a": noisy(0.2), "b": noisy(0.2)}).unbeaten == ("a", "b")
    assert "most repeatable and the most accurate" in str(stability({"only": stability(noisy(0.2))}))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ({}, "is empty"),
        ({"a": 3}, "is int; expected the record of a classifier"),
        ({"a": noisy(0.2), "b": noisy(0.1, n=200)}, "'b' was compared on 200 test points"),
        ({"a": noisy(0.2), "b": noisy(0.1, halves=True)}, "by disjoint halves"),
    ],
)
def test_records_that_cannot_be_compared(records, message):
    with pytest.raises(InputError, match=message):
        stability(records)


# Two-fold accuracy, as in the paper's figure 1: each half is tested on the other half of all rows


X, Y = load_iris(return_X_y=True)
SETTINGS = {"repeats": 1, "test_size": 0, "probes": "uniform", "n_probes": 100, "executor": 1}


def test_accuracy_is_that_of_the_other_half(tmp_path):
    labelings = record(GaussianNB(), X, Y, HalfSplits(4), **SETTINGS)
    assert sorted(len(rows) for rows in labelings.train_rows) == [75] * 8
    by_hand = []
    for rows in labelings.train_rows:
        others = np.setdiff1d(np.arange(150), rows)
        by_hand.append(GaussianNB().fit(X[rows], Y[rows]).score(X[others], Y[others]))
    np.testing.assert_allclose(labelings.test_accuracy[:, 0], by_hand)
    found = stability(labelings)
    assert found.accuracy.value == pytest.approx(np.mean(by_hand))
    assert found.accuracy.low < found.accuracy.value < found.accuracy.high
    assert found.on == "uniform comparison points"
    again = load(labelings.save(tmp_path / "record.classay"))
    assert again.accuracy() == labelings.accuracy()


def test_regressors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 1))
    target = rows[:, 0] + rng.normal(size=200)
    predictions = record(LinearRegression(), rows, target, HalfSplits(5), **SETTINGS)
    assert stability(predictions).rmse.value == pytest.approx(np.sqrt((predictions.test_rmse**2).mean()), rel=1e-6)
    assert abs(stability(predictions).rmse.value - 1) < 0.15


def test_other_measures_on_test_points_are_refused_with_advice():
    labelings = record(GaussianNB(), X, Y, HalfSplits(4), **SETTINGS)
    assert "150 test points" in str(labelings)
    for measure in (lambda: stability(labelings, on="test"), lambda: classay.orientation(labelings)):
        with pytest.raises(InputError, match=r"no test part \(test_size=0\).*on='probes'"):
            measure()
    bare = record(GaussianNB(), X, Y, HalfSplits(4), **{**SETTINGS, "probes": None})
    with pytest.raises(InputError, match="no test part"):
        stability(bare)


@pytest.mark.parametrize(
    "given", [{"scheme": Subsets(4)}, {"scheme": HalfSplits(4, 30)}, {"scheme": HalfSplits(4), "time": np.arange(150)}]
)
def test_it_needs_another_half(given):
    with pytest.raises(InputError, match="`test_size` is 0: each half is then tested"):
        record(GaussianNB(), X, Y, **SETTINGS, **given)
