"""Cross-validation as a scheme of `record`: each fit predicts the rows of its own fold."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import classay
from classay import Folds, InputError, Subsets, record, seeds
from classay.learner.fitting.checks import prepare
from classay.learner.fitting.folds import fewer
from classay.learner.rounds import RecordRounds
from classay.splits import fold_of_rows, per_row, train_rows_of_fold

X, y = load_wine(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[y]
groups = np.arange(y.size) // 6
time = np.random.default_rng(0).permutation(y.size) // 2
tested = np.arange(3, 178, 4)


BAYES = GaussianNB()


def folds_record(cv=5, learner=BAYES, tested=None, **options):
    return record(learner, X, NAMES, Folds(cv, tested=tested), random_state=7, executor=1, **options)


@pytest.mark.parametrize("given", [{}, {"groups": groups}, {"time": time}, {"sample_weight": np.linspace(0, 2, 178)}])
@pytest.mark.parametrize(("limit", "only"), [(None, None), (60, tested)])
def test_each_fold_is_predicted_by_one_fit_of_the_others(given, limit, only):
    learner = RandomForestClassifier(5)
    out = record(learner, X, NAMES, Folds(5, limit, only), random_state=7, executor=1, **given).out_of_fold()
    rows = per_row(rows=178, **given)
    fold = fold_of_rows(y, 5, 7, rows)
    for place, row in enumerate(out.rows):
        if place % 15:
            continue  # a fit each is slow
        train = train_rows_of_fold(fold, fold[row], rows)
        if limit is not None and limit < train.size:
            train = fewer(train, y[train], limit, 7, int(fold[row]))
        (seed,) = seeds.integers(7, "fit", int(fold[row]), count=1)
        weights = {} if rows.weights is None else {"sample_weight": rows.weights[train]}
        fitted = clone(learner).set_params(random_state=seed).fit(X[train], NAMES[train], **weights)
        assert NAMES[np.argmax(y == out.labels[place])] == fitted.predict(X[[row]])[0]
        assert np.array_equal(out.probabilities[place], fitted.predict_proba(X[[row]])[0])
    every = np.arange(178) if only is None else only
    assert np.array_equal(out.rows, every[fold[every] >= 0])
    sizes = [train_rows_of_fold(fold, number, rows).size for number in range(fold.max() + 1)]
    assert out.available == min(sizes)
    assert out.is_full == (limit is None or min(sizes) <= limit)
    assert out.right.mean() > 0.7


def test_scores_are_what_ranks_best():
    logit = make_pipeline(StandardScaler(), LogisticRegression())
    out = folds_record(learner=logit).out_of_fold()
    assert np.allclose(np.exp(out.scores) / np.exp(out.scores).sum(axis=1, keepdims=True), out.probabilities)
    assert folds_record(learner=Perceptron()).out_of_fold().probabilities is None
    assert folds_record(scores=False).out_of_fold().scores is None
    bayes = folds_record().out_of_fold()
    np.testing.assert_allclose(np.exp(bayes.scores), bayes.probabilities, atol=1e-12)
    # A fit whose rows lack a class gives neither.
    order = np.argsort(y, kind="stable")
    short = record(GaussianNB(), X[order], NAMES[order], Folds(KFold(3)), executor=1).out_of_fold()
    assert short.scores is None
    assert short.probabilities is None
    assert short.labels.size == 178


def test_the_record_says_which_rows_a_fit_predicted(tmp_path):
    labelings = folds_record(groups=groups)
    assert labelings.labels.shape == (5, 1, 178)
    assert np.array_equal(labelings.labels[:, 0] >= 0, labelings.predicted)
    assert (labelings.predicted.sum(axis=0) == 1).all()
    for rows, own in zip(labelings.train_rows, labelings.predicted):
        assert not set(groups[rows]) & set(groups[labelings.test_rows[own]])
    right = labelings.out_of_fold().right
    assert labelings.accuracy().value == right.mean()
    assert labelings.accuracy().kind == "over groups"
    assert np.array_equal(labelings.test_accuracy[:, 0], [right[own].mean() for own in labelings.predicted])
    again = classay.load(labelings.save(tmp_path / "folds.classay"))
    assert np.array_equal(again.out_of_fold().scores, labelings.out_of_fold().scores)
    assert str(again) == str(labelings)
    assert "5 folds of 178 rows" in str(labelings)
    header, arrays = labelings.to_file()
    for wrong in ({"predicted": ~labelings.predicted}, {"full_scores": labelings.full_scores[:, 1:]}):
        with pytest.raises(ValueError, match=r"rows predicted|full scores"):
            classay.Labelings.from_file(header, {**arrays, **wrong})


@pytest.mark.parametrize("measure", [classay.orientation, classay.stability, classay.judges])
def test_measures_of_a_common_test_part_refuse_folds(measure):
    with pytest.raises(InputError, match="only the rows of its own fold"):
        measure(folds_record())
    with pytest.raises(InputError, match="is not of Folds"):
        record(GaussianNB(), X, y, Subsets(2), 1, executor=1).out_of_fold()


def test_an_interrupted_store_continues(tmp_path, monkeypatch):
    whole = folds_record(learner=RandomForestClassifier(3), store=tmp_path / "whole")
    fits, fit = [], RandomForestClassifier.fit

    def third_is_interrupted(self, *rows, **options):
        fits.append(1)
        if len(fits) == 3:
            raise KeyboardInterrupt
        return fit(self, *rows, **options)

    monkeypatch.setattr(RandomForestClassifier, "fit", third_is_interrupted)
    part = folds_record(learner=RandomForestClassifier(3), store=tmp_path / "part")
    assert part.interrupted
    with pytest.raises(InputError, match=r"no predictions in 3 of 5 folds, which were not run"):
        part.out_of_fold()
    again = folds_record(learner=RandomForestClassifier(3), store=tmp_path / "part")
    assert len(fits) == 6  # two were stored
    assert np.array_equal(again.labels, whole.labels)
    assert np.array_equal(again.full_scores, whole.full_scores)
    folds_record(learner=RandomForestClassifier(3), store=tmp_path / "part")
    assert len(fits) == 6


def test_repeats_are_other_fits_of_the_same_folds():
    three = folds_record(learner=RandomForestClassifier(2), repeats=3)
    one = folds_record(learner=RandomForestClassifier(2))
    assert three.labels.shape == (5, 3, 178)
    assert np.array_equal(three.labels[:, :1], one.labels)
    assert np.array_equal(three.out_of_fold().scores, one.out_of_fold().scores)
    assert not np.array_equal(three.out_of_fold(2).scores, one.out_of_fold().scores)
    assert folds_record(repeats=3).deterministic


def test_splitters_and_pairs():
    pairs = list(KFold(4, shuffle=True, random_state=1).split(X))
    by_splitter = folds_record(KFold(4, shuffle=True, random_state=1)).out_of_fold()
    assert np.array_equal(by_splitter.labels, folds_record(iter(pairs)).out_of_fold().labels)
    seeded, again = folds_record(ShuffleSplit(4)), folds_record(ShuffleSplit(4))
    assert np.array_equal(seeded.labels, again.labels)
    assert [note.code for note in seeded.notes] == ["rows-not-predicted"]
    twice = folds_record(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert (twice.predicted.sum(axis=0) == 2).all()
    assert twice.out_of_fold().labels.size == 178
    in_time = folds_record(TimeSeriesSplit(4), time=np.arange(178)[::-1])
    assert all(rows.min() > in_time.test_rows[own].max() for rows, own in zip(in_time.train_rows, in_time.predicted))
    by_group = folds_record(GroupKFold(4), groups=groups)
    assert all(
        not set(groups[rows]) & set(groups[by_group.test_rows[own]])
        for rows, own in zip(by_group.train_rows, by_group.predicted)
    )
    target = load_diabetes(return_X_y=True)
    numbers = record(Ridge(), *target, Folds(4), executor=1)
    assert np.isfinite(numbers.values).sum() == target[1].size
    assert numbers.present.all()


def test_pairs_that_test_the_same_rows_give_a_record_for_every_measure():
    test = np.arange(0, 178, 6)
    rest = np.setdiff1d(np.arange(178), test)
    labelings = folds_record([(rest[::2], test), (np.isin(np.arange(178), rest[1::2]), test)])
    assert labelings.predicted is None
    assert labelings.scores is not None
    assert labelings.test_rows.tolist() == test.tolist()
    assert [rows.tolist() for rows in labelings.train_rows] == [rest[::2].tolist(), rest[1::2].tolist()]
    assert classay.stability(labelings).n_subsets == 2
    out = labelings.out_of_fold()
    assert np.array_equal(out.labels, labelings.labels[0, 0])
    assert np.array_equal(out.probabilities, labelings.scores.values[0, 0])


def test_learners_in_rounds_get_one_fold_each_before_the_second():
    order, pressed = [], []

    class Noted(GaussianNB):
        def fit(self, *rows, **options):
            if len(order) == 7 and not pressed:
                pressed.append("Ctrl-C")
                raise KeyboardInterrupt
            order.append(self.var_smoothing)
            return super().fit(*rows, **options)

    learners = {"one": Noted(var_smoothing=1e-3), "two": Noted(var_smoothing=1e-2)}
    setup = prepare(GaussianNB(), X, NAMES, Folds(5), None, 0.2, None, 7, None, 100)
    stopped = RecordRounds(setup, learners, executor=1)
    assert stopped.grow(list(learners), 1)
    assert order == [1e-3, 1e-2]
    assert not stopped.grow(list(learners))
    assert order == [1e-3, 1e-2] * 3 + [1e-3]
    assert stopped.splits == {"one": 4, "two": 3}
    early = {name: stopped.record(name).out_of_fold(folds=3) for name in learners}
    assert stopped.grow(list(learners))  # continues
    assert len(order) == 10
    for name, learner in learners.items():
        alone = folds_record(learner=learner, name=name)
        assert np.array_equal(stopped.record(name).labels, alone.labels)
        assert np.array_equal(stopped.record(name).full_scores, alone.full_scores)
        assert stopped.record(name).about == alone.about
        same, whole = np.isin(alone.test_rows, early[name].rows), alone.out_of_fold()
        assert np.array_equal(early[name].rows, np.sort(np.concatenate([each.points for each in setup.samples[:3]])))
        assert np.array_equal(early[name].labels, whole.labels[same])
        assert np.array_equal(early[name].probabilities, whole.probabilities[same])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"probes": "uniform"}, "neither `probes` nor `X_test`"),
        ({"X_test": X, "y_test": NAMES}, "neither `probes` nor `X_test`"),
        ({"tested": [200]}, "from 200 to 200; expected row numbers from 0 to 177"),
        ({"cv": KFold(3, shuffle=True, random_state=0), "groups": groups}, "a group must be on one side only"),
        (1, "`cv` is 1; expected a whole number of at least 2"),
        ("kfold", "`cv` is 'kfold'; expected a scikit-learn splitter"),
        (3.5, "`cv` is 3.5; expected a scikit-learn splitter"),
        ([], "`cv` is a list of 0"),
        ([(1, 2, 3)], "not all of them pairs"),
        ([([0, 1], [2]), ([0.5], [2])], "float64 values"),
        ([([0, 100], [2]), ([0, 500], [2])], "from 0 to 500; expected row numbers from 0 to 177"),
        ([([0, 100], [2]), ([2, 101], [2])], "trains on 1 rows that it tests, in pair 1"),
        ([([0, 100], [2]), ([], [2])], "a pair without training rows"),
        ([([0, 100], [])], "tests none of the rows"),
        (GroupKFold(3), r"GroupKFold\(.*\) cannot split the 178 rows"),
    ],
)
def test_mistakes_get_a_sentence_before_any_fit(given, words):
    with pytest.raises(InputError, match=words):
        folds_record(**(given if isinstance(given, dict) else {"cv": given}))
