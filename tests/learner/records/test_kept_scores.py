"""Scores beside labels: what `record` keeps of every refit, in any form, on any executor, in any store."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from rough_learners import Centroids, Tallied, fits
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import classay
from classay import Folds, InputError, Labelings, Subsets, record
from classay.engine import archive
from classay.estimators.fit import fit_once
from classay.estimators.scores import labels_and_scores
from classay.learner.records.scores import COMPACT, ScoreForm

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
FEW = Subsets(5, 0.4)
TWO = (X[50:], NAMES[50:])


def test_scores_match_a_loop_written_by_hand():
    labelings = record(GaussianNB(), X, NAMES, FEW, executor=1, probes=X[:7])
    assert labelings.scores.kind == "probability"
    assert labelings.scores.columns == ("setosa", "versicolor", "virginica")
    assert labelings.scores.values.dtype == np.float32
    assert labelings.scores.values.shape == (5, 1, 30, 3)
    for subset, rows in enumerate(labelings.train_rows):
        fitted = GaussianNB().fit(X[rows], NAMES[rows])
        expected = fitted.predict_proba(X[labelings.test_rows]).astype(np.float32)
        np.testing.assert_array_equal(labelings.scores.values[subset, 0], expected)
        on_probes = fitted.predict_proba(X[:7]).astype(np.float32)
        np.testing.assert_array_equal(labelings.probe_scores.values[subset, 0], on_probes)


@pytest.mark.parametrize("learner", [SVC(), RidgeClassifier(), Perceptron(random_state=0)])
def test_decision_values_where_there_are_no_probabilities(learner):
    many = record(learner, X, NAMES, FEW, executor=1)
    two = record(learner, *TWO, FEW, executor=1)
    assert many.scores.kind == two.scores.kind == "decision"
    assert many.scores.values.shape[3] == 3
    np.testing.assert_array_equal(two.scores.values[..., 0], -two.scores.values[..., 1])
    np.testing.assert_array_equal(two.scores.positive > 0, two.labels == 1)


@pytest.mark.parametrize("learner", [Centroids(), SVC(decision_function_shape="ovo")])
def test_learners_without_scores_have_none(learner):
    assert record(learner, X, NAMES, FEW, executor=1).scores is None


class Mute(GaussianNB):
    """A learner whose scores fail."""

    def predict_proba(self, X):
        raise RuntimeError("not today")


class Sums(GaussianNB):
    """A learner whose probabilities are none."""

    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


@pytest.mark.parametrize(("learner", "said"), [(Mute(), "not today"), (Sums(), "no probabilities")])
def test_scores_that_fail_cost_no_labels(learner, said):
    labelings = record(learner, X, NAMES, FEW, executor=1)
    np.testing.assert_array_equal(labelings.labels, record(GaussianNB(), X, NAMES, FEW, executor=1).labels)
    assert labelings.scores is None
    assert any("No scores" in note and said in note for note in labelings.notes)
    with pytest.raises(InputError, match=f"no refit of .* gave scores.*{said}"):
        record(learner, X, NAMES, FEW, executor=1, scores=True)


def test_what_is_asked_for():
    assert record(GaussianNB(), X, NAMES, FEW, executor=1, scores=False).scores is None
    assert record(GaussianNB(), X, NAMES, FEW, executor=1, scores=True).scores is not None
    with pytest.raises(InputError, match="has neither predict_proba nor decision_function"):
        record(Centroids(), X, NAMES, FEW, scores=True)
    with pytest.raises(InputError, match="`scores` is 'yes'; expected 'auto', True or False"):
        record(GaussianNB(), X, NAMES, FEW, scores="yes")


def test_a_learner_that_knows_its_scores_only_when_fitted():
    stack = StackingClassifier([("nb", GaussianNB())], cv=3)
    assert record(stack, X, NAMES, FEW, repeats=1, executor=1, scores=True).scores.kind == "probability"


def test_too_many_bytes_are_not_kept(monkeypatch):
    monkeypatch.setenv("CLASSAY_LIMITS", "score_bytes=1000")
    labelings = record(GaussianNB(), X, NAMES, FEW, repeats=1, executor=1)
    assert labelings.scores is None
    assert any(getattr(note, "code", "") == "scores-not-kept" for note in labelings.notes)
    with pytest.raises(InputError, match=r"limit is 1,000.*score_bytes"):
        record(GaussianNB(), X, NAMES, FEW, repeats=1, executor=1, scores=True)


def test_a_class_that_a_subset_does_not_have_has_probability_zero():
    pairs = [(np.arange(40, 100), np.arange(0, 150, 10)), (np.arange(30, 120), np.arange(0, 150, 10))]
    pairs = [(np.setdiff1d(train, test), test) for train, test in pairs]
    labelings = record(GaussianNB(), X, NAMES, Folds(pairs), executor=1)
    assert (labelings.scores.values[0, 0, :, 2] == 0).all()
    assert (labelings.scores.values[1, 0, :, 2] > 0).any()
    by_value = record(RidgeClassifier(), X, NAMES, Folds(pairs), executor=1).scores.values
    assert np.isnan(by_value[0, 0, :, 2]).all()
    assert not np.isnan(by_value[0, 0, :, :2]).any()


def same(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.scores.values, other.scores.values)
    np.testing.assert_array_equal(one.probe_scores.values, other.probe_scores.values)
    assert one.scores.kind == other.scores.kind
    assert one.scores.columns == other.scores.columns


def test_the_same_bits_on_any_executor_and_from_file_and_store(tmp_path):
    options = {"repeats": 3, "probes": "uniform", "n_probes": 20}
    forest = RandomForestClassifier(n_estimators=5)
    one = record(forest, X, NAMES, FEW, executor=1, **options)
    same(one, record(forest, X, NAMES, FEW, executor=2, **options))
    with ThreadPoolExecutor(2) as threads:
        same(one, record(forest, X, NAMES, FEW, executor=threads, **options))
    same(one, classay.load(one.save(tmp_path / "one.classay")))
    stored = record(forest, X, NAMES, FEW, executor=1, store=tmp_path / "store", **options)
    same(stored, record(forest, X, NAMES, FEW, executor=1, store=tmp_path / "store", **options))
    np.testing.assert_array_equal(one.labels, record(forest, X, NAMES, FEW, executor=1, scores=False, **options).labels)


class Counted(Tallied):
    """Scores classes by distance, and writes a line for every fit."""

    def decision_function(self, X):
        return -((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2)


@pytest.mark.parametrize(("learner", "addresses"), [(Counted, 2), (Tallied, 1)])
def test_a_record_with_scores_has_another_address_than_one_without(tmp_path, learner, addresses):
    for scores in (False, "auto", False, "auto"):
        record(learner(str(tmp_path / "fits")), X, NAMES, FEW, 1, executor=1, store=tmp_path / "store", scores=scores)
    assert len(list((tmp_path / "store").glob("*.classay"))) == addresses
    assert fits(tmp_path / "fits") == addresses * FEW.n


@pytest.mark.parametrize(
    "change",
    [
        lambda values: values[:, :, :, :2],
        lambda values: values[:-1],
        lambda values: values + 1,
        lambda values: values.astype(float),
        lambda values: np.where(values > 0.5, np.inf, values).astype(np.float32),
    ],
)
def test_scores_that_cannot_be_are_refused_at_read(tmp_path, change):
    header, arrays = record(GaussianNB(), X, NAMES, FEW, executor=1).to_file()
    archive.write(tmp_path / "r.classay", "labelings", header, {**arrays, "scores": change(arrays["scores"])})
    with pytest.raises(InputError, match="not a complete record"):
        classay.load(tmp_path / "r.classay")


def test_a_header_without_the_kind_of_scores_is_refused(tmp_path):
    labelings = record(GaussianNB(), X, NAMES, FEW, executor=1)
    header, arrays = labelings.to_file()
    with pytest.raises(ValueError, match="kind"):
        Labelings.from_file({**header, "scores": {"kind": "guess"}}, arrays)
    older = {name: part for name, part in arrays.items() if name != "scores"}
    assert Labelings.from_file({name: part for name, part in header.items() if name != "scores"}, older).scores is None


def test_a_record_goes_on_from_its_parts_with_its_scores(tmp_path, monkeypatch):
    from classay.engine.store import Chunks

    whole = record(RandomForestClassifier(3), X, NAMES, FEW, repeats=2, executor=1, probes=X[:3])
    put, left = Chunks.put, [3]

    def stopping(self, *parts):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return put(self, *parts)

    monkeypatch.setattr(Chunks, "put", stopping)
    options = {"repeats": 2, "executor": 1, "probes": X[:3], "store": tmp_path}
    with contextlib.suppress(KeyboardInterrupt):
        record(RandomForestClassifier(3), X, NAMES, FEW, **options)
    monkeypatch.setattr(Chunks, "put", put)
    same(whole, record(RandomForestClassifier(3), X, NAMES, FEW, **options))


# Labels from probabilities in one pass are those of `predict`.


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(4, random_state=0),
        ExtraTreesClassifier(4, random_state=0),
        BaggingClassifier(n_estimators=4, random_state=0),
        DecisionTreeClassifier(max_depth=2),
        ExtraTreeClassifier(max_depth=2, random_state=0),
        KNeighborsClassifier(4),
        KNeighborsClassifier(4, algorithm="brute"),
        KNeighborsClassifier(4, weights="distance"),
        make_pipeline(StandardScaler(), KNeighborsClassifier(2)),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
)
@pytest.mark.parametrize("classes", [2, 4])
def test_labels_are_those_of_predict(learner, classes):
    rows, labels = make_classification(400, 5, n_informative=4, n_redundant=0, n_classes=classes, flip_y=0.4,
                                       random_state=1)  # fmt: skip
    rows = rows.round(0)  # many ties
    names = np.array(["a", "b", "c", "d"])[labels]
    fitted = fit_once(learner, rows[:200], names[:200])
    predicted, scores = labels_and_scores(fitted, rows[200:], 50)
    np.testing.assert_array_equal(predicted, fitted.estimator.predict(rows[200:]))
    np.testing.assert_allclose(scores.values, fitted.estimator.predict_proba(rows[200:250]), rtol=1e-12, atol=1e-15)
    assert scores.classes.tolist() == fitted.estimator.classes_.tolist()


# Many classes


def test_a_compact_record_keeps_the_true_and_the_three_best_classes():
    rng = np.random.default_rng(0)
    y = np.arange(24 * 12) % 24
    rows = rng.normal(size=(y.size, 6)) + np.eye(24, 6)[y % 6] * 2
    labelings = record(GaussianNB(), rows, y, Subsets(3, 0.8, replace=False), executor=1, probes=rows[:5])
    assert labelings.scores.compact
    assert labelings.scores.columns == COMPACT
    assert ScoreForm(labelings.classes).bytes_of(1) == 28
    fitted = GaussianNB().fit(rows[labelings.train_rows[1]], y[labelings.train_rows[1]])
    full = fitted.predict_proba(rows[labelings.test_rows])
    values = labelings.scores.values[1, 0]
    points = np.arange(len(full))
    np.testing.assert_allclose(values[:, 0], full[points, labelings.truth], rtol=1e-6)
    ordered = np.sort(full, axis=1)
    np.testing.assert_allclose(values[:, 1:4], ordered[:, :-4:-1], rtol=1e-6)
    np.testing.assert_allclose(full[points, values[:, 4].astype(int)], ordered[:, -1], rtol=1e-6)
    np.testing.assert_array_equal(labelings.scores.top()[0][1, 0], labelings.labels[1, 0])
    np.testing.assert_allclose(labelings.scores.margin()[1, 0], ordered[:, -1] - ordered[:, -2], atol=1e-6)
    assert np.isnan(labelings.probe_scores.values[..., 0]).all()
    with pytest.raises(InputError, match="more than 20 classes"):
        labelings.scores.expect_full("This")


def test_top_and_margin_of_a_full_record():
    X10, y10 = load_digits(return_X_y=True)
    labelings = record(GaussianNB(), X10[:500], y10[:500], Subsets(2, 0.5), executor=1)
    codes, best = labelings.scores.top()
    np.testing.assert_array_equal(codes, labelings.labels)
    np.testing.assert_array_equal(best, labelings.scores.values.max(axis=3))
    assert (labelings.scores.margin() >= 0).all()
    np.testing.assert_array_equal(
        labelings.scores.true(labelings.truth)[0, 0], labelings.scores.values[0, 0, np.arange(100), labelings.truth]
    )


# From arrays


def test_scores_from_arrays():
    labels, truth = [["b", "a"], ["b", "b"]], ["b", "a"]
    one = Labelings.from_arrays(labels, truth, scores=[[0.75, 0.25], [0.75, 0.5]])
    assert one.scores.kind == "probability"
    np.testing.assert_array_equal(one.scores.values[0, 0], [[0.25, 0.75], [0.75, 0.25]])
    np.testing.assert_array_equal(one.scores.positive[1, 0], [0.75, 0.5])
    two = Labelings.from_arrays(labels, truth, scores=[[2.0, -1.0], [3.0, 0.5]])
    assert two.scores.kind == "decision"
    np.testing.assert_array_equal(two.scores.values[0, 0], [[-2, 2], [1, -1]])
    swapped = Labelings.from_arrays(
        labels, truth, classes=["b", "a"], scores=[[[0.75, 0.25]] * 2] * 2, probe_labels=[["a"], ["a"]],
        probe_scores=[[[0.5, 0.5]]] * 2,
    )  # fmt: skip
    np.testing.assert_array_equal(swapped.scores.values[0, 0, 0], [0.25, 0.75])
    assert swapped.probe_scores.values.shape == (2, 1, 1, 2)
    assert Labelings.from_arrays(labels, truth, scores=[[0.75, 0.25]] * 2, score_kind="decision").scores.kind == (
        "decision"
    )


@pytest.mark.parametrize(
    ("scores", "options", "said"),
    [
        ([[0.5]], {}, r"`scores` has shape \(1, 1\) but there are 2 subsets, 1 refits, 2 points and 2 classes"),
        ([["x", "y"]] * 2, {}, "`scores` is not an array of numbers"),
        ([[0.5, np.nan]] * 2, {}, "missing or infinite"),
        ([[[0.5, 0.2]] * 2] * 2, {"score_kind": "probability"}, "with a sum of 1 over classes"),
        ([[0.5, 0.2]] * 2, {"score_kind": "odds"}, "`score_kind` is 'odds'"),
    ],
)
def test_arrays_that_are_no_scores(scores, options, said):
    with pytest.raises(InputError, match=said):
        Labelings.from_arrays([["b", "a"], ["b", "b"]], ["b", "a"], scores=scores, **options)


def test_refits_without_scores_are_left_out():
    scores = np.full((5, 2, 2), 0.5)
    labelings = Labelings.from_arrays(np.zeros((5, 2, 2), int), [0, 1], scores=scores)
    labelings.scores.values[3, 1] = np.nan
    smaller, kept = labelings.scored()
    assert smaller.labels.shape[:2] == kept.values.shape[:2] == (4, 2)
    assert not np.isnan(kept.values).any()
