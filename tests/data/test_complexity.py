from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.datasets import load_iris

from classay.data.geometry.cross_fit import fit_temperature
from classay.data.geometry.distances import CLASS_OFFSET, DISTANCES
from classay.data.geometry.moments import Geometry
from classay.data.row_complexity import Complexity
from classay.data.rows import complexity
from classay.estimators.encoder import numbers, numbers_of_two
from classay.expect import InputError
from classay.splits import fold_of_rows

PAPER = {"cross_fit": False, "temperature": 1}


def clouds(n=150, d=3, c=3, seed=0, apart=2.0):
    """Overlapping classes of unlike shape, in random order, at least 30 rows each."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % c)
    shapes = rng.normal(size=(c, d, d)) + 2 * np.eye(d)
    middles = apart * rng.normal(size=(c, d))
    X = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), shapes[y]) + middles[y]
    return X, np.array([f"class {k}" for k in y])


def softmax_complexity(distances, codes):
    near = np.exp(-np.asarray(distances))
    return -np.log(near[np.arange(len(codes)), codes] / near.sum(axis=1))


# Formulas, against numbers computed by hand and against the definitions written out.


def test_two_classes_on_a_line_by_hand():
    X, y = [[0.0], [2.0], [4.0], [8.0]], ["a", "a", "b", "b"]  # means 1 and 6, variances 1 and 4
    c = complexity(X, y, "euclidean", **PAPER)
    np.testing.assert_allclose(c.distances, [[1, 6], [1, 4], [3, 2], [7, 2]])
    np.testing.assert_allclose(c.values, np.log1p(np.exp([-5.0, -3.0, -1.0, -5.0])))
    m = complexity(X, y, "mahalanobis", covariance="full", **PAPER)
    np.testing.assert_allclose(m.distances, [[1, 3], [1, 2], [3, 1], [7, 1]])
    np.testing.assert_allclose(m.values, np.log1p(np.exp([-2.0, -1.0, -2.0, -6.0])))
    g = complexity(X, y, "gaussian", covariance="full", **PAPER)
    np.testing.assert_allclose(g.distances[:, 1], 0.5 * np.array([9, 4, 1, 1]) + 0.5 * math.log(4) + math.log(2))
    r = complexity(X, y, "correlation", covariance="full", **PAPER)  # one column correlates with itself only
    np.testing.assert_allclose(r.distances, c.distances)
    assert c.baseline_accuracy.value == 1
    assert c.predicted.tolist() == y
    assert c.nearest.tolist() == ["b", "b", "a", "a"]


def definitions(X, y, rows):
    """The distances of rows from the classes of others, by equations 1 to 6 and what was added to them."""
    parts = [X[y == code] for code in np.unique(y)]
    means = np.array([part.mean(axis=0) for part in parts])
    away = rows[:, None] - means

    def root(matrices):
        return np.sqrt(np.einsum("ncd,cde,nce->nc", away, np.linalg.inv(matrices), away))

    covariances = np.array([np.cov(part.T, bias=True) for part in parts])
    densities = [
        stats.multivariate_normal(mean, matrix).logpdf(rows) + np.log(len(part) / len(X))
        for mean, matrix, part in zip(means, covariances, parts)
    ]
    pooled = sum(len(part) * matrix for part, matrix in zip(parts, covariances)) / (len(X) - len(parts))
    white = np.linalg.cholesky(np.linalg.inv(pooled))
    turned, middles = (rows - X.mean(axis=0)) @ white, (means - X.mean(axis=0)) @ white
    lengths = np.linalg.norm(turned, axis=1)[:, None] * np.linalg.norm(middles, axis=1)
    return {
        "euclidean": np.linalg.norm(away, axis=2),
        "mahalanobis": root(covariances),
        "correlation": root(np.array([np.corrcoef(part.T) for part in parts])),
        "gaussian": -np.array(densities).T - X.shape[1] / 2 * math.log(2 * math.pi),
        "cosine": 1 - rows @ means.T / np.linalg.norm(rows, axis=1)[:, None] / np.linalg.norm(means, axis=1),
        "whitened_cosine": 1 - turned @ middles.T / lengths,
    }


def test_every_distance_is_its_definition():
    X, names = clouds(240)
    classes, y = np.unique(names, return_inverse=True)
    expected = definitions(X, y, X)
    assert set(expected) == set(DISTANCES)
    for distance, distances in expected.items():
        c = complexity(X, names, distance, **PAPER)
        np.testing.assert_allclose(c.distances, distances, rtol=1e-8, err_msg=distance)
        np.testing.assert_allclose(c.values, softmax_complexity(distances, y), rtol=1e-6, atol=1e-12)
        assert c.predicted.tolist() == classes[distances.argmin(axis=1)].tolist()
        assert c.temperature == 1
        assert c.measured == "with the row"


# Invariances.


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(0, 5))
def test_distances_do_not_depend_on_units_axes_or_place(seed, few):
    """Euclidean: on rotation and place only. A class of few rows is shrunk, in any units alike."""
    X, y = clouds(150, seed=seed)
    rng = np.random.default_rng(seed)
    turn, shift = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=3) * 50
    for distance in ("mahalanobis", "gaussian", "whitened_cosine"):
        a, b = (complexity(rows, y, distance, **PAPER) for rows in (X, X @ turn * 100 + shift))
        np.testing.assert_allclose(a.values, b.values, rtol=1e-5, atol=1e-9)
    a, b = (complexity(rows, y, "euclidean", **PAPER) for rows in (X, X @ np.linalg.qr(turn)[0] + [1e6, -1e6, 3]))
    np.testing.assert_allclose(a.values, b.values, rtol=1e-6, atol=1e-7)
    names = np.where(np.arange(150) <= few, "few", y)
    units = np.diag([1e-2, 3, 50]) + np.triu(np.ones((3, 3)), 1)
    a, b = (complexity(rows, names, "mahalanobis", cross_fit=False, temperature=2) for rows in (X, X @ units - 9))
    np.testing.assert_allclose(a.values, b.values, rtol=1e-4, atol=1e-7)
    assert any("shrunk" in note for note in a.notes)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(DISTANCES))
def test_order_of_rows_is_order_of_values_and_none_is_negative(seed, distance):
    X, y = clouds(120, seed=seed)
    order = np.random.default_rng(seed).permutation(120)
    a, b = (complexity(X[rows], y[rows], distance, cross_fit=False, temperature=2) for rows in (slice(None), order))
    np.testing.assert_allclose(a.values[order], b.values, rtol=1e-7, atol=1e-10)
    assert (a.values >= 0).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_features_add_up_to_the_gap(distance):
    X, y = clouds(150, d=4)
    X = np.column_stack([X, np.full(150, 3.0)])
    for cross_fit in (5, False):
        c = complexity(X, y, distance, cross_fit=cross_fit)
        rows = c.hardest(4)["row"].to_numpy()
        parts = c.explain(rows, top=None)
        gap = (c.own_distance - c.nearest_distance)[rows]
        tolerance = {"rtol": 1e-6, "atol": 1e-9}
        np.testing.assert_allclose(parts.groupby("row", sort=False)["contribution"].sum(), gap, **tolerance)
        np.testing.assert_allclose(parts.groupby("row", sort=False)["gap"].first(), gap, **tolerance)
        assert (CLASS_OFFSET in set(parts["feature"])) == (distance == "gaussian")
        assert parts.loc[parts["feature"] == "x4", "contribution"].abs().max() < 1e-6 or distance == "cosine"
    assert c.explain(3, top=2)["feature"].nunique() == 2
    with pytest.raises(InputError, match="row numbers"):
        c.explain([150])


# Geometries that have not seen the row.


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("few", [0, 12])
def test_cross_fitting_is_refitting(distance, few):
    X, names = clouds(150)
    names = np.where(np.arange(150) < few, "few", names)
    X += 1e3
    classes, y = np.unique(names, return_inverse=True)
    c = complexity(X, names, distance, cross_fit=4, temperature=1, random_state=3)
    folds = fold_of_rows(y, 4, 3)
    assert np.ptp(np.bincount(folds)) <= 1
    for fold in range(4):
        out = folds == fold
        fresh = complexity(X[~out], names[~out], distance, X[out], names[out], temperature=1)
        assert fresh.classes.tolist() == classes.tolist()
        np.testing.assert_allclose(c.distances[out], fresh.distances, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(c.values[out], fresh.values, rtol=1e-5, atol=1e-8)


def test_other_rows_are_measured_by_the_geometry_of_the_first():
    X, y = clouds(200)
    c = complexity(X[:150], y[:150], "mahalanobis", X[150:], y[150:])
    assert len(c) == 50
    assert c.measured == "by the geometry of other rows"
    # The temperature comes from the first rows alone.
    flipped = complexity(X[:150], y[:150], "mahalanobis", X[150:], np.roll(y[150:], 1))
    assert flipped.temperature == c.temperature
    g = complexity(c.geometry, X_eval=X[150:], y_eval=y[150:], distance="mahalanobis", temperature=c.temperature)
    np.testing.assert_allclose(g.values, c.values)
    assert "only a geometry was given" in " ".join(complexity(c.geometry, X_eval=X[150:], y_eval=y[150:]).notes)
    with pytest.raises(InputError, match="X_eval"):
        complexity(c.geometry, y)
    with pytest.raises(InputError, match="both or neither"):
        complexity(X, y, X_eval=X)


# Temperature and choice of distance.


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 1e3]))
def test_temperature_is_where_mean_complexity_is_lowest(seed, scale):
    rng = np.random.default_rng(seed)
    codes = rng.integers(4, size=200)
    distances = scale * (rng.gamma(3, size=(200, 4)) + 1.0 * (np.arange(4) != codes[:, None]))
    temperature, lowest, values = fit_temperature(distances, codes)
    grid = temperature * np.geomspace(0.5, 2, 41)
    means = [softmax_complexity(distances / tau, codes).mean() for tau in grid]
    assert lowest <= min(means) + 1e-6
    assert lowest == pytest.approx(values.mean()) == pytest.approx(means[20])


def test_classes_that_never_overlap_still_have_hardest_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 2)), rng.normal(size=(50, 2)) + 100])
    y = np.repeat(["a", "b"], 50)
    for distance in ("euclidean", "mahalanobis"):
        c = complexity(X, y, distance)
        assert c.baseline_accuracy.value == 1
        assert (c.values > 0).all()
        assert np.unique(c.values).size == 100
        assert len(c.suspects()) == 0


def test_auto_takes_the_lowest_cross_fitted_complexity():
    X, y = clouds(300, apart=1.0)
    c = complexity(X, y)
    each = {
        (d, v): complexity(X, y, d, covariance=v).values.mean()
        for d, v in c.tried[["distance", "covariance"]].to_numpy()
    }
    assert (c.distance, c.covariance) == min(each, key=each.get)
    np.testing.assert_allclose(c.tried["mean_complexity"][0], each[c.distance, c.covariance], rtol=1e-6)
    assert c.tried["rows"].max() == 300
    assert complexity(X, y, temperature=3).temperature == 3


@pytest.mark.slow
def test_auto_for_the_ranking_of_errors():
    """Digits: by mean complexity the correlation is best, by ranking errors the whitened cosine."""
    from sklearn.datasets import load_digits
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    X, y = load_digits(return_X_y=True)
    wrong = cross_val_predict(GaussianNB(var_smoothing=0.01), X, y, cv=5) != y  # another learner than the pilot's
    fit, errors = complexity(X, y), complexity(X, y, aim="errors")
    assert errors.tried["error_auc"].is_monotonic_decreasing
    assert fit.tried["error_auc"].isna().all()
    assert roc_auc_score(wrong, errors.values) >= roc_auc_score(wrong, fit.values)
    assert errors.values.mean() >= fit.values.mean()
    with pytest.raises(InputError, match="aim"):
        complexity(X, y, aim="best")


def test_the_same_seed_gives_the_same_bits_and_threads_make_no_difference():
    from threadpoolctl import threadpool_limits

    X, y = clouds(300, d=5)
    a = complexity(X, y, "mahalanobis", random_state=7)
    with threadpool_limits(1):
        b = complexity(X, y, "mahalanobis", random_state=7)
    assert (a.values == b.values).all()
    assert (a.values != complexity(X, y, "mahalanobis", random_state=8).values).any()


# What a result can do.


def test_the_result():
    X, y = load_iris(return_X_y=True, as_frame=True)
    c = complexity(X, y.map({0: "setosa", 1: "versicolor", 2: "virginica"}))
    assert isinstance(c, Complexity)
    frame = c.to_frame()
    assert list(frame.columns[:5]) == ["row", "label", "predicted", "nearest", "value"]
    assert isinstance(frame.index, pd.RangeIndex)
    assert (frame["value"] == c.values).all()
    huge = {"distances", "evidence"}
    assert set(json.loads(json.dumps(c.to_dict(), allow_nan=False))) == set(Complexity.__dataclass_fields__) - huge
    assert "\n" not in str(c)
    assert "150 rows in 3 classes" in str(c)
    assert c.by_class["class"].tolist() == ["setosa", "versicolor", "virginica"]
    assert c.by_class["rows"].tolist() == [50, 50, 50]
    np.testing.assert_allclose(c.by_class["complexity"][1], c.values[50:100].mean())
    np.testing.assert_allclose(c.by_class["recall"][1], (c.predicted[50:100] == "versicolor").mean())
    assert c.by_class["neighbour"].tolist()[1:] == ["virginica", "versicolor"]
    assert c.by_class["confused_with"].tolist()[1:] == ["virginica", "versicolor"]
    np.testing.assert_allclose(c.by_class["confused_share"], 1 - c.by_class["recall"])
    assert c.normalised_entropy == pytest.approx(1)
    assert c.median_class_size == 50
    hardest = c.hardest(3)
    assert hardest["complexity"].tolist() == sorted(c.values, reverse=True)[:3]
    table = c.neighbours()
    assert table["rows"].sum() == 150
    assert table["nearer"].sum() == (c.predicted != c.labels).sum()
    assert "petal" in " ".join(c.explain(hardest["row"])["feature"])


def test_new_rows():
    X, y = clouds(400, d=4)
    c = complexity(X[:300], y[:300], "mahalanobis")
    new = c.score(X[300:])
    assert (new["confidence"] == -new["distance"]).all()
    assert new["unusual"].between(0, 1).all()
    assert (new["unusual"] <= 0.05).mean() < 0.2
    far = c.score(X[300:] + 100)
    assert (far["unusual"] <= 0.05).all()
    with_labels = c.score(X[300:], y[300:])
    same = complexity(X[:300], y[:300], "mahalanobis", X[300:], y[300:], temperature=c.temperature)
    np.testing.assert_allclose(with_labels["complexity"], same.values)
    assert with_labels["predicted"].tolist() == same.predicted.tolist()
    with pytest.raises(InputError, match="3 columns; expected 4"):
        c.score(X[:, :3])
    chunks = Geometry()
    for start in range(0, 300, 50):
        chunks.partial_fit(X[start : start + 50], y[start : start + 50])
    by_chunks = complexity(chunks, X_eval=X[300:], y_eval=y[300:], distance="mahalanobis", temperature=c.temperature)
    np.testing.assert_allclose(by_chunks.values, same.values, rtol=1e-8)


# Bad or awkward input.


def test_a_class_with_one_row_is_said():
    X, y = clouds(90)
    y[0] = "alone"
    c = complexity(X, y, "euclidean")
    assert not c.known[0]
    assert c.known[1:].all()
    assert c.predicted[0] != "alone"
    assert c.own_distance[0] == c.distances[0][np.isfinite(c.distances[0])].max()
    assert np.isfinite(c.values).all()
    assert 0 not in set(c.hardest(90)["row"])  # its complexity is a convention
    assert np.isnan(c.by_class.set_index("class").at["alone", "complexity"])
    assert 0 not in set(c.suspects()["row"])
    with pytest.raises(InputError, match="cannot be explained"):
        c.explain(0)
    json.dumps(c.to_dict(), allow_nan=False)
    assert np.isfinite(complexity(X, y).values).all()
    assert np.isfinite(complexity(X, y, "mahalanobis", **PAPER).values).all()


def test_labels_that_were_never_seen_are_said():
    X, y = clouds(90)
    c = complexity(X[:60], y[:60], "euclidean", X[60:], np.where(np.arange(30) < 2, "new", y[60:]))
    share = np.array([0.75, 0.25])  # equation 9
    uneven = complexity(X[:40], np.repeat(["a", "b"], [30, 10]), "euclidean")
    assert uneven.normalised_entropy == pytest.approx(-(share * np.log(share)).sum() / math.log(2))
    assert uneven.median_class_size == 20
    assert c.known.tolist() == [False] * 2 + [True] * 28
    assert c.labels[0] == "new"
    assert "2 rows have labels that are not in `y` (new)" in " ".join(c.notes)
    assert c.by_class["rows"].sum() == 28
    assert np.isfinite(c.values).all()


def test_fewer_rows_than_columns():
    X, y = clouds(40, d=100)
    for distance in (*DISTANCES, "auto"):
        c = complexity(X, y, distance)
        assert np.isfinite(c.values).all()
    assert "shrunk" in " ".join(complexity(X, y, "mahalanobis").notes)
    assert "no more than 13 rows for 100 columns" in " ".join(complexity(X, y).notes)


def test_duplicated_and_constant_columns_and_columns_constant_in_a_fold():
    X, y = clouds(100)
    lonely = np.zeros(100)
    lonely[3] = 1.0
    wide = np.column_stack([X, X[:, 0], np.full(100, 5.0), lonely, y == "class 0"])
    for distance in DISTANCES:
        for covariance in ("auto", "full", "shared", "diagonal"):
            assert np.isfinite(complexity(wide, y, distance, covariance=covariance).values).all()
    assert "1 constant columns" in " ".join(complexity(wide, y, "mahalanobis", **PAPER).notes)
    # What is told twice is told once.
    twice = complexity(np.column_stack([X, X]), y, "mahalanobis")
    assert np.corrcoef(twice.values, complexity(X, y, "mahalanobis").values)[0, 1] > 0.9


@pytest.mark.parametrize("distance", DISTANCES)
def test_sparse_rows_are_rows(distance):
    X, y = clouds(100)
    X = np.where(np.abs(X) < 1, 0.0, X)
    a, b = complexity(X, y, distance), complexity(sparse.csc_matrix(X), y, distance)
    np.testing.assert_allclose(a.values, b.values)
    assert len(b.explain([1, 2], top=1)) == 2
    assert len(b.score(sparse.csr_array(X[:3]))) == 3


def test_zero_vectors_have_no_direction():
    X, y = clouds(60)
    X[:2] = 0
    c = complexity(X, y, "cosine", temperature=1)
    np.testing.assert_allclose(c.distances[:2], 1)
    np.testing.assert_allclose(c.values[:2], math.log(3))
    assert "zero vectors" in " ".join(c.notes)


@pytest.mark.slow
def test_ten_thousand_classes_are_affordable():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 10_000
    X = rng.normal(size=(10_000, 16))[y] + 0.1 * rng.normal(size=(20_000, 16))
    c = complexity(X, y, "euclidean", X[:2000], y[:2000], cross_fit=2)
    assert c.baseline_accuracy.value > 0.95
    assert len(c.by_class) == 10_000
    assert c.geometry.detail == "diagonal"


def test_distances_that_are_too_many_are_not_kept(monkeypatch):
    X, y = clouds(90)
    whole = complexity(X, y, "mahalanobis")
    monkeypatch.setattr("classay.data.rows.MOST_DISTANCES", 100)
    monkeypatch.setattr("classay.data.rows.AT_ONCE", 10)
    c = complexity(X, y, "mahalanobis")
    assert c.distances is None
    assert "too many to store" in " ".join(c.notes)
    np.testing.assert_allclose(c.values, whole.values, rtol=1e-9)
    assert c.suspects().equals(whole.suspects()) or len(c.suspects()) == len(whole.suspects())
    assert len(c.explain(3)) == 3
    json.dumps(c.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [[1.0], [np.nan], [2.0]]}, "missing.*Impute"),
        ({"y": [0, 1]}, "3 rows but `y` has 2 labels"),
        ({"y": [1, 1, 1]}, "1 class"),
        ({"y": [1, 2, 3]}, "its own class"),
        ({"y": None}, "`y` is missing"),
        ({"y": [1, "1", "a"]}, "has 1 and '1', which would count as the same label"),
        ({"y": pd.Series(["True", True, "b"])}, "'True' and True"),
        ({"y": ["a", "a\0", "b"]}, "'a' and 'a.x00'"),
        ({"y": ["a", "b", float("nan")]}, "missing"),
        ({"y": [2**53, 2**53 + 1, 2.0]}, "2..53"),
        ({"distance": "euclidian"}, "Did you mean euclidean"),
        ({"covariance": "tied"}, "expected one of"),
        ({"temperature": 0}, "above 0"),
        ({"temperature": "hot"}, "above 0"),
        ({"cross_fit": 1}, "at least 2"),
        ({"cross_fit": "five"}, "at least 2. Use cross_fit=False for none"),
        ({"groups": [1, 2]}, "`groups` has 2 values but `X` has 3 rows"),
        ({"X": np.ones((3, 2))}, "All columns are constant"),
        ({"X": np.ones((3, 2)), "distance": "auto"}, "All columns are constant"),
        ({"X": pd.DataFrame({"a": ["x", "y", "z"]})}, "not numbers"),
        ({"X_eval": [[1.0, 2.0]], "y_eval": [0]}, "2 columns; expected 1"),
        ({"X_eval": [[np.inf]], "y_eval": [0]}, "`X_eval` is infinite"),
        ({"X_eval": [[1.0]], "y_eval": ["a"]}, "same labels"),
    ],
)
def test_mistakes_are_explained(change, message):
    given = {"X": [[1.0], [2.0], [4.0]], "y": [0, 0, 1], "distance": "euclidean"} | change
    with pytest.raises(InputError, match=message):
        complexity(**given)


def test_equal_numbers_are_one_class():
    assert complexity(np.eye(3), np.array([1, 1.0, 2], dtype=object), "euclidean").classes.tolist() == [1, 2]


def test_identical_rows_of_two_classes_are_no_success():
    c = complexity(np.tile([[1.0], [2.0]], (20, 1)), np.repeat(["a", "b"], 20), "euclidean", **PAPER)
    assert c.baseline_accuracy.value <= 0.5
    np.testing.assert_allclose(c.values, math.log(2))


def test_columns_are_matched_by_name():
    X, y = load_iris(return_X_y=True, as_frame=True)
    turned = X[X.columns[::-1]]
    c = complexity(X, y)
    pd.testing.assert_frame_equal(c.score(turned), c.score(X))
    other = complexity(X, y, X_eval=turned, y_eval=y)
    np.testing.assert_allclose(other.values, complexity(X, y, X_eval=X, y_eval=y).values)
    twice = Geometry().partial_fit(X, y).partial_fit(turned, y)
    np.testing.assert_allclose(twice.means, Geometry.fit(X, y).means)
    with pytest.raises(InputError, match="other columns"):
        c.score(X.rename(columns={X.columns[0]: "new"}))
    with pytest.raises(InputError, match="another order"):
        Geometry.fit(X, y).merge(Geometry.fit(turned, y))


def test_threads_side_by_side_leave_linear_algebra_as_it_was():
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_info

    X, y = load_iris(return_X_y=True)
    before = [library["num_threads"] for library in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: complexity(X, y, distance="gaussian", temperature=1), range(16)))
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize("distance", ["euclidean", "cosine", "mahalanobis", "correlation"])
def test_the_paper_to_the_letter_on_any_rows(distance):
    X, y = clouds(180, d=4)
    X = X * np.arange(1, 5) + 0.5
    codes = np.unique(y, return_inverse=True)[1]
    train, test = slice(0, 90), slice(90, 180)
    own = complexity(X[train], y[train], distance, paper=True)
    other = complexity(X[train], y[train], distance, X[test], y[test], paper=True)
    by_geometry = complexity(own.geometry, distance=distance, X_eval=X[test], y_eval=y[test], paper=True)
    for result, rows in ((own, train), (other, test), (by_geometry, test)):
        expected = softmax_complexity(definitions(X[train], y[train], X[rows])[distance], codes[rows])
        np.testing.assert_allclose(result.values, expected, rtol=1e-6, atol=1e-9)
    assert own.notes == other.notes == ()


def test_the_paper_is_one_switch():
    X, y = clouds(60, d=3)
    assert complexity(X, y, paper=True).distance == "mahalanobis"
    assert complexity(X, y, paper=True, cross_fit=False).measured == "with the row"
    fixed = ({"distance": "gaussian"}, {"temperature": 2}, {"cross_fit": 5}, {"covariance": "shared"}, {"paper": "no"})
    for other in fixed:
        with pytest.raises(InputError, match=f"`{next(iter(other))}` is.*(paper|expected)"):
            complexity(X, y, **{"paper": True, **other})
    few = complexity(X[:15], y[:15], "mahalanobis", X[15:], y[15:], paper=True)
    assert "shrunk" not in str(few)
    # Indicators of all levels: no class has an inverse, and nothing says that it kept its own covariance.
    level = np.eye(3)[np.random.default_rng(0).integers(0, 3, 60)]
    for rows in (np.hstack([X, X**2, X**3, np.cos(X)])[:30], np.hstack([X, level])):
        text = str(complexity(rows, y[: len(rows)], paper=True))
        assert "has no inverse otherwise" in text
        assert "full covariance" not in text
        assert "own covariance" not in text


def test_rows_of_one_group_are_in_one_fold():
    """Rows that repeat are easy by the geometry of their own copies, and not by that of other groups."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 8)
    X, y = rng.normal(size=(30, 20))[group], rng.integers(2, size=30)[group]
    plain, grouped = (complexity(X, y, "euclidean", groups=given) for given in (None, group))
    assert plain.baseline_accuracy.value > grouped.baseline_accuracy.value + 0.1
    assert grouped.baseline_accuracy.kind == "of a proportion, over groups"
    folds = grouped.evidence.folds
    assert all(len(set(folds[group == each])) == 1 for each in range(30))
    both = complexity(X[:120], y[:120], "euclidean", X[120:], y[120:], groups=group)
    assert both.baseline_accuracy.kind == "of a proportion, over groups"
    half = complexity(X[:120], y[:120], "euclidean", X[120:], y[120:], groups=group[:120])
    assert half.baseline_accuracy.kind == "of a proportion"


def test_classes_with_one_row_are_named_however_rows_are_measured():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(61, 2)) + np.repeat([0.0, 4.0, 2.0], [30, 30, 1])[:, None]
    y = np.repeat(["a", "b", "solo"], [30, 30, 1])
    tested = complexity(X, y, "euclidean", X[:40], y[:40])
    for c, row in (
        (complexity(X, y, paper=True), 60),
        (complexity(X, y, "euclidean", cross_fit=False), 60),
        (complexity(X, y, "euclidean"), 60),
        (tested, -1),
        (complexity(X, y, "euclidean", X[50:], y[50:]), 10),
    ):
        assert c.lone_classes.to_numpy().tolist() == [[row, "solo"]]
        assert "1 class has a single row (solo)" in " ".join(c.notes)
    assert "rests on that row alone" in str(tested)


def test_a_class_in_one_group_has_not_a_single_row():
    X, y = clouds(120)
    groups = np.where(y == "class 2", 99, np.arange(120) // 4)
    c = complexity(X, y, "euclidean", groups=groups)
    assert not c.known[y == "class 2"].any()
    assert len(c.lone_classes) == 0
    assert "1 class has all rows in one group (class 2)" in " ".join(c.notes)
    assert "single row" not in " ".join(c.notes)


def test_independent_indicators_give_the_paper_covariances_with_an_inverse():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    table["c"] = rng.choice(["u", "v", "w"], 200)
    table["d"] = rng.choice(["x", "y"], 200)
    y = (table["a"] + (table["c"] == "u") + rng.normal(size=200) > 0.3).to_numpy()
    test = table.head(20).assign(c="u")
    first, second = numbers_of_two(table, test, independent=True)
    assert list(first) == list(second) == ["a", "b", "c_v", "c_w", "d_y"]
    assert not any("shrunk" in note for note in complexity(first, y, paper=True).notes)
    assert any("shrunk" in note for note in complexity(numbers(table), y, paper=True).notes)
    # The left-out level is determined by the others, so any other may be left out: Mahalanobis is the same.
    other = numbers(table).drop(columns=["c_w", "d_x"])
    np.testing.assert_allclose(complexity(first, y, paper=True).values, complexity(other, y, paper=True).values)


def test_two_rows_of_one_class_and_one_of_another_do_not_warn():
    assert len(complexity([[1.0], [2], [3]], [0, 1, 1])) == 3
