"""`record`: the same bits everywhere, every refit accounted for, and nothing of the user's altered."""

import hashlib
import json
import random
import threading
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from rough_learners import (
    AfraidOfProbes,
    Answering,
    Centroids,
    Coin,
    Hopeless,
    Rowwise,
    Saying,
    Scribbler,
    Tallied,
    fits,
)
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Subsets, orientation, record, seeds
from classay.splits import split_by_share

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]
NUMBERED = np.column_stack([np.arange(len(X)), X])  # the first column says which row it is
FEW = Subsets(6, 0.2)


def digest(labelings):
    """Everything of a record but the seconds."""
    header, arrays = labelings.to_file()
    arrays.pop("seconds")
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def assert_same(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.train_accuracy, other.train_accuracy)
    assert one.failures == other.failures
    assert one.notes == other.notes
    assert digest(one) == digest(other)


def rows_only_in(subset, scheme=FEW, data=NUMBERED, **options):
    """A row that is in the training set of one subset and of no other."""
    drawn = record(GaussianNB(), data, Y, scheme, executor=1, **options).train_rows
    others = np.concatenate([rows for number, rows in enumerate(drawn) if number != subset])
    return int(np.setdiff1d(drawn[subset], others)[0])


class Backwards(Executor):
    """Waits until nothing more is sent, then does it all, the last first."""

    def __init__(self):
        self.sent = []
        self.order = []
        self.timer = None

    def submit(self, function, /, *arguments, **options):
        future = Future()
        self.sent.append((future, function, arguments, options))
        if self.timer is not None:
            self.timer.cancel()
        self.timer = threading.Timer(0.1, self.deliver)
        self.timer.start()
        return future

    def deliver(self):
        while self.sent:
            future, function, arguments, options = self.sent.pop()
            if future.set_running_or_notify_cancel():
                self.order.append(arguments[-1][1])  # its subset
                future.set_result(function(*arguments, **options))


# The same bits


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1)),
        Coin(),
        Coin("python"),
        GaussianNB(),
        Saying(["zeta", "alpha", "mu", "beta"]),
    ],
    ids=["tree", "numpy's coin", "Python's coin", "bayes", "warnings"],
)
def test_the_same_bits_for_any_number_of_workers_executor_and_order(learner):
    alone = record(learner, X, NAMES, FEW, repeats=3, executor=1)
    assert_same(alone, record(learner, X, NAMES, FEW, repeats=3, executor=1))
    assert_same(alone, record(learner, X, NAMES, FEW, repeats=3, executor=2))
    assert_same(alone, record(learner, X, NAMES, FEW, repeats=3, executor=None))
    backwards = Backwards()
    assert_same(alone, record(learner, X, NAMES, FEW, repeats=3, executor=backwards))
    assert backwards.order[-6:] != sorted(backwards.order[-6:])
    with ThreadPoolExecutor(3) as threads:
        assert_same(alone, record(learner, X, NAMES, FEW, repeats=3, executor=threads))


@pytest.mark.parametrize("scheme", [Subsets(5), Subsets(4, 30, replace=False), HalfSplits(2)])
def test_labels_and_accuracies_match_a_loop_written_by_hand(scheme):
    labelings = record(RandomForestClassifier(3), X, NAMES, scheme, repeats=2, executor=1, random_state=11)
    # Halves are independent samples only if the test part is drawn without looking at labels, as they are.
    blind = isinstance(scheme, HalfSplits)
    train, test = split_by_share(np.zeros_like(Y) if blind else Y, 0.2, 11)
    np.testing.assert_array_equal(labelings.test_rows, test)
    assert labelings.labels.shape == (scheme.n, 2, 30)
    assert labelings.classes[labelings.truth].tolist() == NAMES[test].tolist()
    for k, rows in enumerate(labelings.train_rows):
        assert np.isin(rows, train).all()
        for r in range(2):
            (seed,) = seeds.integers(11, "refit", k, r, count=1)
            forest = RandomForestClassifier(3, random_state=seed).fit(X[rows], NAMES[rows])
            assert labelings.classes[labelings.labels[k, r]].tolist() == forest.predict(X[test]).tolist()
            # With `rows` as they were drawn, so a row counts as often as it was drawn.
            assert labelings.train_accuracy[k, r] == pytest.approx((forest.predict(X[rows]) == NAMES[rows]).mean())
            assert labelings.seconds[k, r] > 0


# Deterministic or not


@pytest.mark.parametrize("executor", [1, 2])
def test_a_deterministic_learner_is_fitted_once_a_subset(executor, tmp_path):
    labelings = record(Tallied(tmp_path / "fits"), X, Y, Subsets(7), repeats=5, executor=executor)
    assert labelings.deterministic
    assert labelings.labels.shape == (7, 1, 30)
    assert labelings.present.all()
    assert fits(tmp_path / "fits") == 2 + 6


@pytest.mark.parametrize("repeats", [1, 4])
def test_a_frozen_seed_makes_it_deterministic_and_says_so(repeats):
    """With repeats=1 it was not, and capacity was unknown."""
    labelings = record(DecisionTreeClassifier(max_features=1, random_state=3), X, Y, FEW, repeats, executor=1)
    assert labelings.deterministic
    assert any("random_state is fixed" in note for note in labelings.notes)
    for k, rows in enumerate(labelings.train_rows):
        tree = DecisionTreeClassifier(max_features=1, random_state=3).fit(X[rows], Y[rows])
        np.testing.assert_array_equal(labelings.labels[k, 0], tree.predict(X[labelings.test_rows]))


def test_one_refit_shows_no_randomness_of_a_learner_of_unknown_code_or_with_a_free_seed():
    for learner, known in ((GaussianNB(), True), (DecisionTreeClassifier(), False), (Centroids(), False)):
        labelings = record(learner, X, Y, FEW, repeats=1, executor=1)
        assert labelings.deterministic == known
        assert orientation(labelings, 3).capacity.known == known


def test_a_free_seed_is_never_taken_as_deterministic():
    labelings = record(LogisticRegression(max_iter=500), X, Y, FEW, repeats=3, executor=1)
    assert (labelings.labels == labelings.labels[:, :1]).all()  # though nothing differs
    assert not labelings.deterministic
    assert labelings.labels.shape[1] == 3


@pytest.mark.parametrize("of", ["numpy", "python"])
def test_a_learner_that_draws_from_the_global_generator_is_varied_and_repeatable(of):
    labelings = record(Coin(of), X, Y, FEW, repeats=3, executor=1)
    assert not labelings.deterministic
    assert len({refit.tobytes() for refit in labelings.labels.reshape(18, -1)}) == 18
    np.random.seed(5)
    random.seed(5)
    assert_same(labelings, record(Coin(of), X, Y, FEW, repeats=3, executor=1))


def test_refits_that_differ_on_the_probes_alone_are_not_the_same():
    class Undecided(Centroids):
        def predict(self, rows):
            # Of its own generator, which nobody can seed or see.
            return (
                np.random.default_rng().choice(self.classes_, len(rows)) if (rows < 0).any() else super().predict(rows)
            )

    without = record(Undecided(), X, Y, FEW, repeats=2, executor=1)
    assert without.deterministic  # nothing differs on the rows that it was asked about
    labelings = record(Undecided(), X, Y, FEW, repeats=2, executor=1, probes=-X)
    assert not labelings.deterministic
    assert (labelings.labels[:, 0] == labelings.labels[:, 1]).all()
    assert (labelings.probe_labels[:, 0] != labelings.probe_labels[:, 1]).any()


def test_dice_of_the_process_are_seen_though_they_fall_the_same_way_twice():
    class Tossed(Centroids):
        def before_fit(self, rows, labels):
            np.random.random()

    found = record(Tossed(), X, Y, FEW, repeats=3, executor=1)
    assert not found.deterministic
    assert found.labels.shape[1] == 3
    assert (found.labels == found.labels[:, :1]).all()
    assert record(Centroids(), X, Y, FEW, repeats=3, executor=1).deterministic


# Nothing of the user's is altered


@pytest.mark.parametrize("executor", [1, 3])
def test_the_learner_and_the_global_generators_stay_as_they_were(executor):
    learner = make_pipeline(StandardScaler(), Coin())
    before = repr(learner.get_params()), vars(learner[-1]).copy()
    data, labels = X.copy(), Y.copy()
    numpys, pythons = np.random.get_state(), random.getstate()
    filters = list(warnings.filters)
    if executor == 3:
        with ThreadPoolExecutor(3) as threads:
            record(learner, data, labels, Subsets(20), repeats=3, executor=threads)
    else:
        record(learner, data, labels, FEW, repeats=3, executor=1)
    assert (repr(learner.get_params()), vars(learner[-1])) == before
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(labels, Y)
    for one, other in zip(numpys, np.random.get_state()):
        np.testing.assert_array_equal(one, other)
    assert random.getstate() == pythons
    assert warnings.filters == filters


@pytest.mark.parametrize("learner", [Scribbler(), make_pipeline(StandardScaler(copy=False), GaussianNB())])
def test_a_learner_that_writes_into_its_input_harms_no_other_refit(learner):
    data, probes = X.copy(), X[:9].copy()
    labelings = record(learner, data, Y, FEW, repeats=3, executor=1, probes=probes)
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(probes, X[:9])
    assert labelings.deterministic
    for k, rows in enumerate(labelings.train_rows):
        fitted = clone(learner).fit(X[rows], Y[rows].copy())
        np.testing.assert_array_equal(labelings.labels[k, 0], fitted.predict(X[labelings.test_rows]))
        np.testing.assert_array_equal(labelings.probe_labels[k, 0], fitted.predict(X[:9].copy()))


# What goes in and comes out


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (NAMES.astype(object), ["setosa", "versicolor", "virginica"]),
        (Y * 5 + 7, [7, 12, 17]),
        ((Y * 5 + 7).astype(float), [7.0, 12.0, 17.0]),
        (Y == 1, [False, True]),
    ],
)
def test_labels_survive(labels, classes):
    labelings = record(DecisionTreeClassifier(), X, labels, FEW, repeats=2, executor=1)
    assert labelings.classes.tolist() == classes
    expected = np.asarray(labels)[labelings.test_rows]
    assert labelings.classes[labelings.truth].tolist() == expected.tolist()
    codes = record(
        DecisionTreeClassifier(), X, np.unique(np.asarray(labels), return_inverse=True)[1], FEW, 2, executor=1
    )
    np.testing.assert_array_equal(labelings.labels, codes.labels)


def test_probes_are_labelled_by_the_same_refits():
    probes = np.random.default_rng(0).uniform(0, 8, (11, 4))
    labelings = record(DecisionTreeClassifier(), X, NAMES, FEW, repeats=2, executor=1, probes=probes)
    assert labelings.probe_labels.shape == (6, 2, 11)
    assert labelings.probe_labels.dtype == np.int8
    for k, rows in enumerate(labelings.train_rows):
        (seed,) = seeds.integers(0, "refit", k, 1, count=1)
        tree = DecisionTreeClassifier(random_state=seed).fit(X[rows], NAMES[rows])
        assert labelings.classes[labelings.probe_labels[k, 1]].tolist() == tree.predict(probes).tolist()
    without = record(DecisionTreeClassifier(), X, NAMES, FEW, repeats=2, executor=1)
    assert without.probe_labels is None
    np.testing.assert_array_equal(without.labels, labelings.labels)


def test_a_refit_that_fails_on_the_probes_is_missing_as_a_whole():
    row = rows_only_in(3, data=X)
    probes = np.vstack([X[:2], -X[:1]])

    class Sometimes(AfraidOfProbes):
        def before_fit(self, rows, labels):
            self.calm_ = not (rows == X[row]).all(axis=1).any()

        def predict(self, rows):
            return Centroids.predict(self, rows) if self.calm_ else super().predict(rows)

    labelings = record(Sometimes(), X, Y, FEW, repeats=2, executor=1, probes=probes)
    hit = [k for k, rows in enumerate(labelings.train_rows) if (X[rows] == X[row]).all(axis=1).any()]
    assert {failure.subset for failure in labelings.failures} == set(hit)
    assert (labelings.labels[hit] == -1).all()
    assert (labelings.probe_labels[hit] == -1).all()
    assert np.isnan(labelings.train_accuracy[hit]).all()
    assert labelings.present.sum() == 6 - len(hit)


@pytest.mark.parametrize("form", ["plain", "column", "object", "list", "float"])
def test_answers_in_every_form(form):
    labels = Y * 5 + 7  # 7, 12, 17: as texts they would be sorted otherwise
    labelings = record(Answering(form), X, labels, FEW, repeats=2, executor=1)
    np.testing.assert_array_equal(labelings.labels, record(Centroids(), X, Y, FEW, repeats=2, executor=1).labels)


def test_numbers_for_texts_are_an_answer():
    words = Y.astype(str)
    labelings = record(make_pipeline(FunctionTransformer(), Answering("object")), X, words, FEW, executor=1)
    assert labelings.classes.tolist() == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("stranger", "ValueError: it predicted 77, which is not one of the classes"),
        ("stranger among objects", "ValueError: it predicted 77, which is not one of the classes"),
        ("text", "ValueError: it predicted '0', which is not one of the classes"),
        ("bytes", "ValueError: it predicted '0', which is not one of the classes"),
        ("nan", "ValueError: it predicted nan, which is not one of the classes"),
        ("shares", r"ValueError: it predicted an array of shape \(\d+, 3\) for \d+ rows; expected one label per row"),
        ("one", r"ValueError: it predicted an array of shape \(1,\) for \d+ rows"),
    ],
)
def test_answers_that_are_none(form, said):
    with pytest.raises(InputError, match=said):
        record(Answering(form), X, Y, FEW, executor=1)


# Warnings


@pytest.mark.parametrize("executor", [1, 2])
def test_warnings_of_refits_are_counted_and_do_not_leak(executor, recwarn):
    labelings = record(LogisticRegression(max_iter=1), X, Y, FEW, repeats=2, executor=executor)
    assert labelings.present.all()
    (note,) = labelings.notes
    assert note.startswith("12 of 12 refits warned: ConvergenceWarning: lbfgs failed to converge")
    assert "\n" not in note
    assert len(recwarn) == 0


def test_a_warning_counts_once_a_refit_and_three_are_told():
    labelings = record(Saying(["b", "b", "a", "d", "c"]), X, Y, FEW, repeats=1, executor=1)
    assert labelings.notes == tuple(f"6 of 6 refits warned: UserWarning: {letter}" for letter in "abc")


# Failures


def test_refits_that_raise_are_listed_and_the_rest_go_on():
    row = rows_only_in(4)
    labelings = record(Rowwise(row), NUMBERED, Y, FEW, repeats=3, executor=1)
    said = f"ArithmeticError: row {row} is poison"
    assert [(f.subset, f.refit, f.error) for f in labelings.failures] == [(4, r, said) for r in range(3)]
    assert row in labelings.train_rows[4]
    assert labelings.present.sum(axis=1).tolist() == [3, 3, 3, 3, 0, 3]
    assert np.isnan(labelings.train_accuracy[4]).all()
    assert "3 of 18 refits failed; see `failures`." in labelings.notes
    assert "3 of 18 refits are missing" in str(labelings)
    whole = record(Rowwise(), NUMBERED, Y, FEW, repeats=3, executor=1)
    np.testing.assert_array_equal(labelings.complete(), np.delete(whole.labels, 4, axis=0))
    assert orientation(labelings, random_state=0).expressivity.value >= 0
    assert labelings.to_frame()["error"].notna().sum() == 3


@pytest.mark.parametrize("executor", [1, 2])
def test_a_learner_that_always_raises_is_given_up_soon(executor, tmp_path):
    learner = Hopeless(tmp_path / "tries", "my own reason")
    with pytest.raises(
        InputError, match=r"Hopeless.* failed in every refit of the first 3 subsets: RuntimeError: my own"
    ):
        record(learner, X, Y, Subsets(100), repeats=5, executor=executor)
    assert fits(tmp_path / "tries") <= 5 * (3 if executor == 1 else 12)


@pytest.mark.parametrize("how", ["forwards", "backwards"])
def test_what_is_done_first_does_not_decide_whether_it_is_given_up(how):
    # Rows that make the last three of six subsets fail: done backwards, these come first.
    scheme = Subsets(15, 6)
    drawn = record(GaussianNB(), NUMBERED, Y, scheme, executor=1).train_rows
    bad = [int(np.setdiff1d(drawn[k], np.concatenate(drawn[:k] + drawn[k + 1 :]))[0]) for k in (12, 13, 14)]

    class Picky(Rowwise):
        def before_fit(self, rows, labels):
            if np.isin(rows[:, 0], bad).any():
                raise ArithmeticError("bad")

    executor = 1 if how == "forwards" else Backwards()
    labelings = record(Picky(), NUMBERED, Y, scheme, repeats=2, executor=executor)
    assert {failure.subset for failure in labelings.failures} == {12, 13, 14}
    assert labelings.present.sum() == 24


def test_advice_for_text_and_missing_values():
    frame = pd.DataFrame({"size": X[:, 0], "hue": np.where(Y == 1, "dark", "light")})
    with pytest.raises(
        InputError, match=r"could not convert string.*Text columns need encoding: pass classay.encoded\("
    ):
        record(DecisionTreeClassifier(), frame, Y, FEW, executor=1)
    with pytest.raises(InputError, match=r"could not convert string.*make `X` a DataFrame and pass classay.encoded\("):
        record(DecisionTreeClassifier(), frame.to_numpy(), Y, FEW, executor=1)
    holed = np.where(X > 6, np.nan, X)
    with pytest.raises(InputError, match=r"(?s)contains NaN.*imputing: make `X` a DataFrame and pass classay.enc"):
        record(GaussianNB(), holed, Y, FEW, executor=1)
    table = pd.DataFrame(holed)
    with pytest.raises(InputError, match=r"(?s)contains NaN.*imputing: pass classay.encoded\("):
        record(GaussianNB(), table, Y, FEW, executor=1)
    # And the advice helps.
    assert record(classay.encoded(GaussianNB(), table), table, Y, FEW, executor=1).present.all()
    assert record(classay.encoded(GaussianNB(), frame), frame, Y, FEW, executor=1).present.all()


@pytest.mark.parametrize("subset", [0, 3])
def test_a_learner_that_kills_its_worker(subset):
    row = rows_only_in(subset)
    labelings = record(Rowwise(row, "die"), NUMBERED, Y, FEW, repeats=2, executor=2)
    assert [(f.subset, f.refit) for f in labelings.failures] == [(subset, 0), (subset, 1)]
    assert "killed its worker twice" in labelings.failures[0].error
    whole = record(Rowwise(), NUMBERED, Y, FEW, repeats=2, executor=1)
    np.testing.assert_array_equal(labelings.complete(), np.delete(whole.labels, subset, axis=0))


def test_a_subset_that_was_lost_when_it_was_looked_at_is_not_half_filled():
    exits = [True]

    class Once(Centroids):
        def before_fit(self, rows, labels):
            if exits:
                exits.pop()
                raise SystemExit

    labelings = record(Once(), X, Y, FEW, repeats=4, executor=1)
    assert [(f.subset, f.refit) for f in labelings.failures] == [(0, r) for r in range(4)]
    assert labelings.present.sum(axis=1).tolist() == [0, 4, 4, 4, 4, 4]


@pytest.mark.parametrize("executor", [1, 2])
def test_a_fit_that_takes_too_long_is_listed(executor):
    row = rows_only_in(3)
    labelings = record(Rowwise(row, "outlast"), NUMBERED, Y, FEW, repeats=2, executor=executor, time_limit=120)
    assert [(f.subset, f.refit) for f in labelings.failures] == [(3, 0), (3, 1)]
    assert "longer than the time limit of 120 s" in labelings.failures[0].error
    assert labelings.present.sum() == 10
    assert (labelings.seconds[3] >= 0.05).all()


@pytest.mark.parametrize("limit", [0, -1, "5", float("nan"), float("inf"), True])
def test_time_limits_that_are_none(limit):
    with pytest.raises(InputError, match=r"`time_limit` is .*above 0"):
        record(GaussianNB(), X, Y, FEW, executor=1, time_limit=limit)


# Ctrl-C


def test_ctrl_c_returns_what_is_done(tmp_path):
    row = rows_only_in(3)
    numpys = np.random.get_state()[1].copy()
    labelings = record(Rowwise(row, "interrupt"), NUMBERED, Y, FEW, repeats=2, executor=1, store=tmp_path)
    assert labelings.interrupted
    assert labelings.present.sum(axis=1).tolist() == [2, 2, 2, 0, 0, 0]
    assert (labelings.failures, labelings.notes) == ((), ("Interrupted: 6 of 12 refits were not run.",))
    whole = record(Rowwise(), NUMBERED, Y, FEW, repeats=2, executor=1)
    np.testing.assert_array_equal(labelings.labels[:3], whole.labels[:3])
    np.testing.assert_array_equal(np.random.get_state()[1], numpys)
    # Half a record is not kept as one; its parts are, and the same question goes on from there.
    assert [path.name for path in tmp_path.iterdir()] == ["unfinished"]
    with pytest.raises(InputError, match=r"6 of 12 refits .* are missing"):
        labelings.accuracy()


def test_ctrl_c_after_failures_tells_both():
    rows = rows_only_in(1), rows_only_in(4)

    class Both(Rowwise):
        def before_fit(self, given, labels):
            if (given[:, 0] == rows[0]).any():
                raise ArithmeticError("bad")
            if (given[:, 0] == rows[1]).any():
                raise KeyboardInterrupt

    labelings = record(Both(), NUMBERED, Y, FEW, repeats=2, executor=1)
    assert labelings.interrupted
    assert [failure.subset for failure in labelings.failures] == [1, 1]
    assert labelings.notes == ("Interrupted: 4 of 12 refits were not run.", "2 of 12 refits failed; see `failures`.")


# The store


def test_the_same_question_is_answered_from_the_store(tmp_path):
    learner = Tallied(str(tmp_path / "fits"))
    first = record(learner, X, NAMES, FEW, executor=1, store=tmp_path / "store", probes=X[:3])
    done = fits(tmp_path / "fits")
    assert done == 2 + 5
    again = record(
        clone(learner), X.copy(), list(NAMES), Subsets(6, 0.2), executor=2, store=str(tmp_path / "store"), probes=X[:3]
    )
    assert fits(tmp_path / "fits") == done
    assert_same(first, again)
    np.testing.assert_array_equal(first.seconds, again.seconds)
