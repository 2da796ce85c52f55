"""A source in place of a table: fresh samples, and figures of the process."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Subsets, record, stability


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
def test_mistakes(given, said):
    with pytest.raises(InputError, match=said):
        record(GaussianNB(), executor=1, **given)
