from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from classay.data.geometry.covariance import Covariances
from classay.data.geometry.moments import Geometry
from classay.expect import InputError


def cloud(n=60, d=3, c=4, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(c, size=n)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + y[:, None] + offset, np.array(list("abcdefgh"))[y]


def same(a: Geometry, b: Geometry, tolerance=1e-9):
    assert a.classes.tolist() == b.classes.tolist()
    assert a.counts.tolist() == b.counts.tolist()
    np.testing.assert_allclose(a.means, b.means, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(a.squares, b.squares, rtol=tolerance, atol=tolerance)
    assert a.detail == b.detail
    if a.pooled is not None:
        np.testing.assert_allclose(a.pooled, b.pooled, rtol=tolerance, atol=tolerance)
    if a.scatter is not None:
        np.testing.assert_allclose(a.scatter, b.scatter, rtol=tolerance, atol=tolerance)


def test_a_table_computed_by_hand():
    g = Geometry.fit([[0.0, 0.0], [2.0, 4.0], [5.0, 5.0]], ["a", "a", "b"])
    assert g.classes.tolist() == ["a", "b"]
    assert g.counts.tolist() == [2, 1]
    assert g.means.tolist() == [[1, 2], [5, 5]]
    assert g.scatter[0].tolist() == [[2, 4], [4, 8]]
    assert g.scatter[1].tolist() == [[0, 0], [0, 0]]
    assert g.squares.tolist() == [[2, 8], [0, 0]]
    np.testing.assert_allclose(g.mean, [7 / 3, 3])
    np.testing.assert_allclose(g.variances, np.var([[0, 0], [2, 4], [5, 5]], axis=0))


@pytest.mark.parametrize("detail", ["full", "shared", "diagonal"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_chunks_give_what_all_rows_give(detail, offset):
    X, y = cloud(200, offset=offset)
    whole = Geometry.fit(X, y, detail=detail)
    chunks = Geometry(detail)
    for start in range(0, 200, 7):
        chunks.partial_fit(X[start : start + 7], y[start : start + 7])
    # At offset 1e6 a row itself is known to 1e-10; plain sums of squares would be off by 1e-2.
    same(whole, chunks, 1e-9 if offset == 0 else 1e-7)
    centred = np.concatenate([X[y == k] - X[y == k].mean(axis=0) for k in whole.classes])
    np.testing.assert_allclose(whole.squares.sum(axis=0), (centred**2).sum(axis=0), rtol=1e-8)
    if detail != "diagonal":
        np.testing.assert_allclose(whole.pooled, centred.T @ centred, rtol=1e-7, atol=1e-7)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 29), st.integers(31, 60), st.sampled_from(["full", "shared", "diagonal"]))
def test_merging_is_associative_and_taking_out_undoes_it(seed, first, second, detail):
    X, y = cloud(60, seed=seed)
    a, b = (Geometry.fit(X[part], y[part], detail=detail) for part in (slice(first), slice(first, second)))
    c = Geometry(detail)
    if second < 60:
        c.partial_fit(X[second:], y[second:])
    whole, before = Geometry.fit(X, y, detail=detail), (a.means.copy(), b.means.copy())
    a.merge(b).partial_fit(X, y)  # a new one: both stay as they were
    c.merge(b).partial_fit(X, y)
    assert (a.means == before[0]).all()
    assert (b.means == before[1]).all()
    assert c.n_rows == 60 - second
    same(a.merge(b).merge(c), whole)
    same(a.merge(b.merge(c)), whole)
    same(b.merge(a).merge(c), whole)
    rest = whole.without(a)
    there = rest.counts > 0
    other = b.merge(c)
    assert rest.classes[there].tolist() == other.classes[other.counts > 0].tolist()
    np.testing.assert_allclose(rest.means[there], other.means[other.counts > 0], atol=1e-9)
    np.testing.assert_allclose(rest.squares[there], other.squares[other.counts > 0], atol=1e-8)
    if detail != "diagonal":
        np.testing.assert_allclose(rest.pooled, other.pooled, atol=1e-8)


def test_new_classes_and_named_ones():
    g = Geometry().partial_fit([[1.0], [3.0]], ["m", "m"])
    g.partial_fit([[5.0]], ["a"]).partial_fit([[7.0]], ["z"], classes=["z", "unseen"])
    assert g.classes.tolist() == ["a", "m", "unseen", "z"]
    assert g.counts.tolist() == [1, 2, 0, 1]
    assert g.means[:, 0].tolist() == [5, 2, 0, 7]
    assert g.scatter[1].tolist() == [[2]]


def test_float32_sparse_and_frames_are_the_same_rows():
    import pandas as pd

    X, y = cloud(50)
    X = X.astype(np.float32)
    whole = Geometry.fit(X, y)
    assert whole.means.dtype == whole.scatter.dtype == np.float64
    same(whole, Geometry.fit(X.astype(float), y))
    same(whole, Geometry.fit(sparse.csr_array(X.astype(float)), y))
    framed = Geometry.fit(pd.DataFrame(X, columns=list("pqr")), pd.Series(y))
    same(whole, framed)
    assert framed.feature_names == ("p", "q", "r")


def test_detail_gives_way_when_numbers_are_too_many():
    X, y = cloud(60, d=3, c=4)
    g = Geometry(most_numbers=30).partial_fit(X[y == "a"], y[y == "a"])
    assert g.detail == "full"
    g.partial_fit(X[y != "a"], y[y != "a"])
    assert g.detail == "shared"
    same(g, Geometry.fit(X, y, detail="shared"))
    assert Geometry.fit(X, y, most_numbers=8).detail == "diagonal"
    with pytest.raises(InputError, match="too many numbers"):
        Covariances(g, "full")
    assert Covariances(g, "auto").kind == "shared"


@pytest.mark.parametrize("detail", ["full", "shared", "diagonal"])
def test_saving(tmp_path, detail):
    g = Geometry.fit(*cloud(30), detail=detail)
    path = g.save(tmp_path / "g.classay")
    again = Geometry.load(path)
    same(g, again)
    assert again.feature_names == g.feature_names
    same(again.partial_fit(*cloud(30, seed=1)), g.partial_fit(*cloud(30, seed=1)))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [np.nan]], [0, 1], "missing.*row 1, column 0"),
        ([[1.0], [np.inf]], [0, 1], "infinite"),
        ([[1.0], [2.0]], [0], "2 rows but `y` has 1 labels"),
        ([1.0, 2.0], [0, 1], "shape"),
        ([["a"], ["b"]], [0, 1], "not a table of numbers"),
        ([[1.0], [2.0]], [0.5, 1.5], "class labels"),
        ([[1.0], [2.0]], ["a", None], "missing"),
        (np.empty((0, 2)), [], "at least one row"),
    ],
)
def test_bad_rows_are_refused(X, y, message):
    with pytest.raises(InputError, match=message):
        Geometry.fit(X, y)


def test_a_bad_chunk_leaves_the_geometry_as_it_was():
    g = Geometry.fit(*cloud(30))
    before = g.means.copy()
    with pytest.raises(InputError):
        g.partial_fit([[1.0, 2, 3], [1, 2, np.nan]], ["a", "a"])
    with pytest.raises(InputError, match="2 columns; expected 3"):
        g.partial_fit([[1.0, 2]], ["a"])
    with pytest.raises(InputError, match="same labels"):
        g.partial_fit([[1.0, 2, 3]], [7])
    assert (g.means == before).all()
    assert g.n_rows == 30
    with pytest.raises(InputError, match="only added rows"):
        g.without(Geometry.fit(*cloud(50)))


def covariance_of(g, code, kind):
    covariance = Covariances(g, kind).of(code)
    white = covariance.whitener if covariance.whitener.ndim == 2 else np.diag(covariance.whitener)
    return np.linalg.inv(white @ white.T), covariance


def test_covariances_are_the_papers_where_rows_are_enough():
    X, y = cloud(300)
    g = Geometry.fit(X, y)
    for code, name in enumerate(g.classes):
        expected = np.cov(X[y == name].T, bias=True)
        matrix, covariance = covariance_of(g, code, "auto")
        np.testing.assert_allclose(matrix, expected, rtol=1e-8)
        np.testing.assert_allclose(covariance.variances, np.diag(expected))
        assert covariance.log_determinant == pytest.approx(np.linalg.slogdet(expected)[1])
        assert covariance.shrinkage == 0
    centred = np.concatenate([X[y == k] - X[y == k].mean(axis=0) for k in g.classes])
    np.testing.assert_allclose(covariance_of(g, 0, "shared")[0], centred.T @ centred / (300 - 4), rtol=1e-8)


def test_few_rows_are_shrunk_towards_the_shared_covariance_and_said():
    X, y = cloud(300, d=6)
    y = np.where(np.arange(300) < 4, "few", y)
    y = np.where(np.arange(300) == 4, "one", y)
    g = Geometry.fit(X, y)
    covariances = Covariances(g, "auto")
    few, one = (int(np.flatnonzero(g.classes == name)[0]) for name in ("few", "one"))
    for code in range(g.classes.size):
        covariances.of(code)
    assert 0 < covariances.of(few).shrinkage <= 1
    # A class of one row has the shared covariance.
    np.testing.assert_allclose(covariance_of(g, one, "auto")[0], covariance_of(g, 0, "shared")[0], rtol=1e-6)
    assert "2 of 6 classes was shrunk" in " ".join(covariances.notes())


def test_constant_duplicated_and_class_constant_columns_never_fail():
    X, y = cloud(200)
    X = np.column_stack([X, X[:, 0], np.full(200, 7e5), y == "a", X[:, 1] * (y == "b"), X[:, 0] + X[:, 1]])
    g = Geometry.fit(X, y)
    for kind in ("auto", "full", "shared", "diagonal"):
        covariances = Covariances(g, kind)
        for code in range(g.classes.size):
            covariance = covariances.of(code)
            assert np.isfinite(covariance.whitener).all()
            assert np.isfinite(covariance.log_determinant)
        assert "1 constant columns" in " ".join(covariances.notes())
    with pytest.raises(InputError, match="constant"):
        Covariances(Geometry.fit(np.ones((4, 2)), [0, 0, 1, 1]))
