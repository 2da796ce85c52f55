"""`record` with groups, time, weights, a given test part, and a source in place of a table."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Subsets, record, stability

X, y = load_wine(return_X_y=True)
groups = np.arange(y.size) // 4
SCHEMES = [Subsets(6, 0.4), Subsets(6, 0.4, replace=False), HalfSplits(3), HalfSplits(3, 0.3)]


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_no_group_is_trained_on_and_tested(scheme):
    labelings = record(GaussianNB(), X, y, scheme, 1, executor=1, groups=groups)
    for rows in labelings.train_rows:
        assert not set(groups[rows]) & set(groups[labelings.test_rows])
    if labelings.halves:
        for one, other in zip(labelings.train_rows[::2], labelings.train_rows[1::2]):
            assert not set(groups[one]) & set(groups[other])
    assert np.array_equal(labelings.groups, groups[labelings.test_rows])


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_time_trains_on_the_past(scheme):
    time = pd.Series(pd.date_range("2020", periods=y.size)).sample(frac=1, random_state=0)
    labelings = record(GaussianNB(), X, y, scheme, 1, executor=1, time=time)
    first = time.to_numpy()[labelings.test_rows].min()
    assert all(time.to_numpy()[rows].max() < first for rows in labelings.train_rows)
    assert labelings.test_rows.size == 36


def test_groups_and_time_leave_earlier_rows_of_tested_groups_out():
    labelings = record(GaussianNB(), X, y, Subsets(4), 1, executor=1, time=np.arange(178) % 53, groups=groups)
    (note,) = (note for note in labelings.notes if note.code == "rows-of-tested-groups")
    used = set(np.concatenate(labelings.train_rows)) | set(labelings.test_rows)
    assert note.numbers["count"] <= 178 - len(used)


def test_a_class_that_comes_later_is_named():
    late = np.where(np.arange(178) > 160, 2, np.arange(178) % 2)
    labelings = record(GaussianNB(), X, late, Subsets(4), 1, executor=1, time=np.arange(178))
    assert "classes-not-trained" in [note.code for note in labelings.notes]
    with pytest.raises(InputError, match="training part of 142 rows has 1 class of 2"):
        record(GaussianNB(), X, np.arange(178) > 150, Subsets(4), 1, time=np.arange(178))


def test_weights_of_two_are_rows_drawn_twice():
    """Each subset with weights is the subset in which rows stand as often as they weigh."""
    weights = np.where(np.arange(178) % 3 == 0, 2, 1)
    labelings = record(GaussianNB(), X, y, Subsets(5, 0.3), 1, executor=1, sample_weight=weights)
    for labels, rows in zip(labelings.labels, labelings.train_rows):
        twice = np.repeat(rows, weights[rows])
        fitted = GaussianNB().fit(X[twice], y[twice])
        assert np.array_equal(labels[0], fitted.predict(X[labelings.test_rows]))
    tree = record(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, Subsets(5, 0.3), 1, executor=1,
                  sample_weight=np.ones(178))  # fmt: skip
    plain = record(DecisionTreeClassifier(max_depth=2, random_state=0), X, y, Subsets(5, 0.3), 1, executor=1)
    assert np.array_equal(tree.labels, plain.labels)


def test_a_learner_without_weights_is_refused_before_any_fit():
    with pytest.raises(InputError, match="KNeighborsClassifier cannot use weights of rows"):
        record(KNeighborsClassifier(), X, y, sample_weight=np.ones(178))


def test_records_keep_their_groups(tmp_path):
    labelings = record(GaussianNB(), X, y, HalfSplits(3), 1, executor=1, groups=groups, probes="data", n_probes=20)
    labelings.save(tmp_path / "record.classay")
    again = classay.load(tmp_path / "record.classay")
    assert np.array_equal(again.groups, labelings.groups)
    assert np.array_equal(again.probe_groups, labelings.probe_groups)
    assert classay.stability(again).stability == classay.stability(labelings).stability
    assert len(labelings.probe_groups) == 20
    plain = record(GaussianNB(), X, y, HalfSplits(3), 1, executor=1)
    plain.save(tmp_path / "plain.classay")
    assert classay.load(tmp_path / "plain.classay").groups is None
    assert "groups" not in plain.to_file()[1]
    uniform = record(GaussianNB(), X, y, HalfSplits(3), 1, executor=1, groups=groups, probes="uniform", n_probes=20)
    assert uniform.probe_groups is None
    assert classay.stability(uniform).stability.kind == "of these rows, over subsets and points"


def test_a_store_tells_apart_what_was_given(tmp_path):
    time, weights = np.arange(178), np.linspace(0.1, 1, 178)
    given = [{}, {"groups": groups}, {"groups": groups // 2}, {"time": time}, {"sample_weight": weights}]
    for options in (*given, *given):
        record(GaussianNB(), X, y, Subsets(3), 1, executor=1, store=tmp_path, **options)
    assert len(list(tmp_path.rglob("*.classay"))) == len(given)
    renamed = record(GaussianNB(), X, y, Subsets(3), 1, executor=1, store=tmp_path, groups=[f"g{g}" for g in groups])
    assert len(list(tmp_path.rglob("*.classay"))) == len(given)
    assert renamed.groups is not None


# A test part that is given


def test_a_given_test_part_is_used_as_it_is():
    labelings = record(GaussianNB(), X[::2], y[::2], HalfSplits(3), 1, executor=1, X_test=X[1::2], y_test=y[1::2])
    assert np.array_equal(labelings.test_rows, np.arange(89, 178))
    assert np.array_equal(labelings.truth, y[1::2])
    assert max(rows.max() for rows in labelings.train_rows) == 88
    rows = labelings.train_rows[0]
    assert np.array_equal(labelings.labels[0, 0], GaussianNB().fit(X[::2][rows], y[::2][rows]).predict(X[1::2]))
    assert labelings.about["test"] == {"kind": "given", "rows": 89}


def test_tables_of_any_kind_can_be_the_test_part():
    frame = pd.DataFrame(X, columns=[f"c{place}" for place in range(13)])
    plain = record(GaussianNB(), X[::2], y[::2], HalfSplits(2), 1, executor=1, X_test=X[1::2], y_test=y[1::2])
    turned = frame[frame.columns[::-1]]
    framed = record(GaussianNB(), frame[::2], y[::2], HalfSplits(2), 1, executor=1, X_test=turned[1::2], y_test=y[1::2])
    assert np.array_equal(framed.labels, plain.labels)
    thin = sparse.csr_matrix(X)
    logistic = DecisionTreeClassifier(random_state=0)
    spread = record(logistic, thin[::2], y[::2], HalfSplits(2), 1, executor=1, X_test=thin[1::2], y_test=y[1::2])
    dense = record(logistic, X[::2], y[::2], HalfSplits(2), 1, executor=1, X_test=X[1::2], y_test=y[1::2])
    assert np.array_equal(spread.labels, dense.labels)
    target = load_diabetes(return_X_y=True)[1][:178]
    numbers = record(Ridge(), X[::2], target[::2], HalfSplits(2), 1, executor=1, X_test=X[1::2], y_test=target[1::2])
    assert numbers.values.shape == (4, 1, 89)


def test_groups_of_a_given_test_part():
    both = {"X_test": X[1::2], "y_test": y[1::2], "executor": 1}
    here = record(GaussianNB(), X[::2], y[::2], HalfSplits(2), 1, groups=groups[:89], **both)
    assert here.groups is None  # those of the test rows are unknown
    apart = np.append(np.arange(89) // 5, 50 + np.arange(89) // 5)
    known = record(GaussianNB(), X[::2], y[::2], HalfSplits(2), 1, groups=apart, **both)
    assert np.unique(known.groups).size == 18
    with pytest.raises(InputError, match="groups of `groups` have rows in `X` and in `X_test`"):
        record(GaussianNB(), X[::2], y[::2], HalfSplits(2), 1, groups=np.arange(178) % 7, **both)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X_test": X}, "belong together"),
        ({"X_test": X[:, :3], "y_test": y}, r"`X_test` has shape \(178, 3\) but `X`"),
        ({"X_test": X, "y_test": y + 1}, "`y_test` has classes that `y` does not have: 3"),
        ({"X_test": X, "y_test": y.astype(str)}, "such as '0'"),
        ({"X_test": X, "y_test": y[:5]}, "`X_test` has 178 rows but `y_test` has 5 labels"),
        ({"X_test": pd.DataFrame(X), "y_test": y}, "`X` is an array but `X_test` is a DataFrame"),
        ({"X_test": X, "y_test": y, "time": np.arange(178)}, "`time` and `X_test` are both given"),
        ({"X_test": X, "y_test": y, "sample_weight": np.ones(356)}, "`sample_weight` has 356 values but `X` has 178"),
    ],
)
def test_mistakes_with_a_given_test_part(given, words):
    with pytest.raises(InputError, match=words):
        record(GaussianNB(), X, y, **given)


def test_sweeps_and_sizes_take_the_same(tmp_path):
    given = {"groups": groups, "sample_weight": np.linspace(0.1, 1, 178)}
    tree = DecisionTreeClassifier(random_state=0)
    found = classay.sweep(tree, X, y, "max_depth", [1, 2], Subsets(4), 1, executor=1, store=tmp_path, **given)
    alone = record(tree.set_params(max_depth=2), X, y, Subsets(4), 1, executor=1, **given)
    assert np.array_equal(found.records[2].labels, alone.labels)
    assert [use.exact for use in found.paths] == [True, True]  # no fits are shared with weights
    again = classay.sweep(
        DecisionTreeClassifier(random_state=0), X, y, "max_depth", [1, 2], Subsets(4), 1, executor=1, store=tmp_path,
        groups=groups // 2, sample_weight=given["sample_weight"],
    )  # fmt: skip
    assert not np.array_equal(again.records[2].test_rows, alone.test_rows)
    sizes = classay.sweep(GaussianNB(), X, y, "size", [20, 40], Subsets(4), 1, executor=1, **given)
    assert sizes.values == (20, 40)


# A source in place of a table: fresh samples, and figures of the process


def balanced(generator, n):
    return generator.normal(size=(n, 2)), generator.integers(2, size=n)


def line(generator, n):
    X = pd.DataFrame(generator.uniform(size=(n, 2)), columns=["a", "b"])
    return X, np.where(X["a"] + 0.3 * generator.normal(size=n) > 0.5, "high", "low")


def test_every_sample_is_fresh_and_the_test_part_too():
    settings = {"repeats": 1, "source": line, "test_size": 40, "executor": 1}
    labelings = record(DecisionTreeClassifier(), scheme=Subsets(5, 30), **settings)
    assert labelings.labels.shape == (5, 1, 40)
    rows = [set(each) for each in labelings.train_rows]
    assert [len(each) for each in rows] == [30] * 5
    assert len(set.union(*rows, set(labelings.test_rows))) == 5 * 30 + 40
    assert {"kind": "Subsets", "n": 5, "size": 30, "fresh": True}.items() <= labelings.about["scheme"].items()
    longer = record(DecisionTreeClassifier(), scheme=Subsets(8, 30), **settings)
    np.testing.assert_array_equal(longer.labels[:5], labelings.labels)  # samples do not depend on their number
    other = record(DecisionTreeClassifier(), scheme=Subsets(5, 30), random_state=1, **settings)
    assert (other.labels != labelings.labels).any()


def test_true_stability_of_the_majority_learner():
    """Two samples of 81 balanced labels have the same majority in exactly half of the cases."""
    fresh = record(DummyClassifier(), scheme=HalfSplits(200, 81), repeats=1, source=balanced, test_size=20, executor=1)
    found = stability(fresh)
    assert fresh.halves
    assert abs(found.stability.value - 0.5) < 4 * 0.5 / np.sqrt(200)
    assert found.stability.kind == "of data like these, over subsets and points"
    assert found.stability_new_data == found.stability
    assert "two refits on fresh samples agree on" in str(found)
    assert found.accuracy.kind.startswith("of data like these")


def test_subsets_of_one_table_agree_more_than_fresh_samples():
    X, y = line(np.random.default_rng(0), 150)
    settings = {"repeats": 1, "probes": "uniform", "n_probes": 300, "executor": 1}
    fresh = record(DecisionTreeClassifier(), scheme=Subsets(20, 100), source=line, **settings)
    subsets = record(DecisionTreeClassifier(), X, y, Subsets(20, 100, replace=False), **settings)
    assert stability(fresh).stability.high < stability(subsets).stability.low
    assert classay.orientation(fresh).expressivity.known


def test_regressors_stores_and_workers(tmp_path):
    def slope(generator, n):
        X = generator.normal(size=(n, 1))
        return X, X[:, 0] + generator.normal(size=n)

    one, two = (
        record(LinearRegression(), scheme=HalfSplits(4, 20), source=slope, executor=workers, store=tmp_path)
        for workers in (1, 2)
    )
    np.testing.assert_array_equal(one.values, two.values)
    assert stability(one).stability.kind.startswith("of data like these")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`X` or `y` is missing"),
        ({"source": 5}, "`source` is 5; expected a function"),
        ({"source": balanced}, r"`scheme` is missing: with `source`.*Subsets\(100, 200\)"),
        (
            {"source": balanced, "scheme": Subsets(5, 20), "test_size": 0.2},
            "`test_size` is 0.2; expected a whole number",
        ),
        ({"source": balanced, "scheme": Subsets(5, 20), "test_size": 0}, "number of rows"),
        ({"source": balanced, "scheme": HalfSplits(5, 20, stratify=True)}, "stratify=True; samples of a source"),
        ({"source": balanced, "scheme": Subsets(5, 0.5)}, "whole number of rows"),
        ({"source": balanced, "scheme": Subsets(5, 20), "X": np.ones((4, 2))}, "`source` and `X` are both given"),
        ({"source": lambda g, n: 1 / 0, "scheme": Subsets(5, 20)}, "failed when asked for 20 rows: ZeroDivisionError"),
        ({"source": lambda g, n: np.ones((n, 2)), "scheme": Subsets(5, 20)}, "expected a pair"),
        ({"source": lambda g, n: (np.ones((3, 2)), [0, 1, 0]), "scheme": Subsets(5, 20)}, "expected 20 of each"),
    ],
)
def test_mistakes_with_a_source(given, said):
    with pytest.raises(InputError, match=said):
        record(GaussianNB(), executor=1, **given)
