"""Probes stay in the domain of the data, its columns come apart, and the same seed draws the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import HalfSplits, InputError, Labelings, record
from classay.learner.fitting.probes import probes

N = 500
dice = np.random.default_rng(0)
MIXED = pd.DataFrame(
    {
        "real": dice.normal(10, 3, N),
        "whole": dice.integers(-3, 9, N),
        "counts": dice.integers(0, 5, N).astype(float),
        "small": dice.normal(size=N).astype(np.float32),
        "flag": dice.random(N) < 0.1,
        "hue": dice.choice(["red", "green", "blue"], N, p=[0.9, 0.05, 0.05]),
        "grade": pd.Categorical(dice.choice(["low", "high"], N), categories=["low", "mid", "high"], ordered=True),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(dice.integers(0, 60, N), unit="D"),
        "at": pd.Timestamp("2024-01-01", tz="Europe/Paris") + pd.to_timedelta(dice.random(N), unit="D"),
        "took": pd.to_timedelta(dice.random(N), unit="h"),
        "maybe": pd.array(np.where(dice.random(N) < 0.3, None, dice.integers(1, 5, N)), dtype="Int64"),
        "gaps": np.where(dice.random(N) < 0.2, np.nan, dice.normal(size=N)),
        "empty": np.full(N, np.nan),
    }
)
TEST = np.arange(0, N, 5)


def drawn(kind, X=MIXED, n=3000, seed=0):
    return probes(kind, n, X, TEST, seed).rows


@pytest.mark.parametrize("kind", ["uniform", "marginal", "data"])
def test_columns_keep_their_kind_and_their_domain(kind):
    rows = drawn(kind)
    pd.testing.assert_series_equal(rows.dtypes, MIXED.dtypes)
    assert len(rows) == (len(TEST) if kind == "data" else 3000)
    for name in ("real", "whole", "counts", "small", "day", "at", "took", "maybe", "gaps"):
        known = MIXED[name].dropna()
        assert rows[name].dropna().between(known.min(), known.max()).all(), name
    for name in ("flag", "hue", "grade"):
        assert set(rows[name]) <= set(MIXED[name])
    for name in ("counts", "maybe"):
        values = rows[name].dropna().astype(float)
        assert (values == values.round()).all()
    assert (rows.day == rows.day.dt.normalize()).all()
    assert rows["empty"].isna().all()


def test_uniform_is_uniform_and_independent():
    rows = drawn("uniform", n=20_000)
    low, high = MIXED.real.min(), MIXED.real.max()
    shares = np.histogram(rows.real, np.linspace(low, high, 11))[0] / 20_000
    np.testing.assert_allclose(shares, 0.1, atol=0.012)
    np.testing.assert_allclose(rows.hue.value_counts(normalize=True), 1 / 3, atol=0.02)
    np.testing.assert_allclose(rows.flag.mean(), 0.5, atol=0.02)
    np.testing.assert_allclose(rows.whole.value_counts(normalize=True), 1 / 12, atol=0.012)
    np.testing.assert_allclose(rows.day.value_counts(normalize=True), 1 / 60, atol=0.006)
    np.testing.assert_allclose(rows.gaps.isna().mean(), MIXED.gaps.isna().mean(), atol=0.02)
    assert abs(np.corrcoef(rows.real, rows.counts)[0, 1]) < 0.03


def test_marginal_keeps_the_values_and_breaks_what_goes_together():
    X = pd.DataFrame({"a": MIXED.real, "b": MIXED.real * 2})
    rows = drawn("marginal", X, 20_000)
    assert set(rows.a) <= set(X.a)
    assert abs(rows.a.mean() - X.a.mean()) < 0.1
    assert abs(np.corrcoef(rows.a, rows.b)[0, 1]) < 0.03
    assert drawn("data", X).equals(X.iloc[TEST])


def test_data_are_the_test_rows_or_some_of_them():
    assert drawn("data").equals(MIXED.iloc[TEST])
    few = drawn("data", n=30)
    assert len(few) == 30
    assert set(few.index) <= set(TEST)


def test_the_order_of_rows_makes_no_difference_to_uniform():
    shuffled = MIXED.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(drawn("uniform", shuffled), drawn("uniform"))


@pytest.mark.parametrize("dtype", [float, np.float32, int, bool, object, str])
def test_arrays_stay_arrays(dtype):
    X = dice.integers(0, 2, (N, 3)).astype(dtype)
    for kind in ("uniform", "marginal"):
        rows = drawn(kind, X, 100)
        assert rows.dtype == X.dtype
        assert rows.shape == (100, 3)
        assert set(rows.ravel().tolist()) <= set(X.ravel().tolist())


def test_extreme_numbers():
    X = np.column_stack([np.tile([-1.7e308, 1.7e308], 25), np.full(50, 3.5)])
    rows = drawn("uniform", X, 200)
    assert np.isfinite(rows).all()
    assert (rows[:, 1] == 3.5).all()


def test_record_probes_with_all_kinds():
    X = MIXED[["real", "whole", "hue"]]
    y = (MIXED.real > 10).astype(int)
    learner = classay.encoded(DecisionTreeClassifier(), X)
    kinds = {
        "uniform": "uniform",
        "marginal": "marginal",
        "data": "data",
        "given": X.head(7)[["hue", "real", "whole"]],
        "drawn by mine": mine,
    }
    for kind, asked in kinds.items():
        labelings = record(learner, X, y, HalfSplits(2), 1, probes=asked, n_probes=40, executor=1)
        assert labelings.probe_kind == kind
        assert list(labelings.probes.columns) == list(X.columns)
        assert labelings.probe_labels.shape == (4, 1, len(labelings.probes))
        assert f"({kind})" in str(labelings)
    assert labelings.about["probes"]["rows"] == 40


def mine(generator, n):
    return pd.DataFrame({"real": generator.normal(size=n), "whole": 1, "hue": "red"})


def test_what_cannot_be_kept_is_said():
    X, y = sparse.random_array((200, 5), density=0.5, rng=0).tocsr(), np.arange(200) % 2
    labelings = record(LogisticRegression(), X, y, HalfSplits(2), 1, probes="data", executor=1)
    assert labelings.probes is None
    assert labelings.probe_labels.shape == (4, 1, 40)
    assert "are not stored" in str(labelings)
    with pytest.raises(InputError, match=r"`X` is sparse.*probes='data'"):
        record(LogisticRegression(), X, y, HalfSplits(2), 1, probes="uniform", executor=1)


def test_probes_in_arrays_from_anywhere():
    answers, probing = dice.integers(2, size=(4, 10)), dice.integers(3, size=(4, 6))
    labelings = Labelings.from_arrays(answers, answers[0], probe_labels=probing, probes=np.zeros((6, 2)))
    assert labelings.classes.tolist() == [0, 1, 2]
    assert labelings.probe_labels.shape == (4, 1, 6)
    assert classay.stability(labelings).n_points == 6


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"probe_labels": [[0, 1]] * 3}, r"`probe_labels` has shape \(3, 2\).*same subsets"),
        ({"probe_labels": [["a"]] * 4}, "expected the same labels"),
        ({"probe_labels": [[0, 1]] * 4, "probes": np.zeros((3, 1))}, "There are 3 `probes` but predictions on 2"),
        ({"probes": np.zeros((3, 1))}, "without `probe_labels`"),
        ({"halves": True, "labels": [[0, 1]] * 3}, "there are 3 subsets; expected two per split"),
    ],
)
def test_arrays_that_do_not_fit(options, said):
    with pytest.raises(InputError, match=said):
        Labelings.from_arrays(**{"labels": [[0, 1]] * 4, "y_true": [0, 1], **options})


@pytest.mark.parametrize("as_frame", [True, False])
def test_numbers_among_objects_are_numbers(as_frame):
    rows = np.array([[0.0, "a"], [None, "b"], [1.0, "b"], [0.25, "a"]] * 20, dtype=object)
    found = drawn("uniform", pd.DataFrame(rows) if as_frame else rows, n=400)
    numbers, texts = (np.asarray(found)[:, place] for place in (0, 1))
    known = numbers[~pd.isna(numbers)].astype(float)
    assert numbers.dtype == texts.dtype == object
    assert len(set(known)) == len(known) > 200  # over the range, not over the three values seen
    assert 0 <= known.min() < 0.05 < 0.95 < known.max() <= 1
    assert 0.15 < pd.isna(numbers).mean() < 0.35
    assert set(texts) == {"a", "b"}
