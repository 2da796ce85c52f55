"""How the rows of a head stand to each other: closed forms and invariances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classay.expect import InputError
from classay.network.cosines import effective_rank
from classay.network.quality.head import FIGURES, head_quality


def simplex(classes):
    """Rows as far apart as can be: unit vectors less their mean."""
    return np.eye(classes) - 1 / classes


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_the_simplex(classes):
    q = head_quality(3.0 * simplex(classes))
    assert q.classifier_quality == pytest.approx(1 + 1 / (classes - 1))
    assert q.mean_cosine == pytest.approx(q.references["simplex"])
    assert q.simplex_distance == pytest.approx(0, abs=1e-7)
    assert q.cosine_std == pytest.approx(0, abs=1e-7)
    assert q.mean_angle == pytest.approx(np.degrees(np.arccos(-1 / (classes - 1))))
    assert q.effective_rank == pytest.approx(classes - 1)


def test_equal_rows_and_rows_at_right_angles():
    q = head_quality(np.ones((4, 3)) * [[1], [2], [3], [4]])
    assert q.classifier_quality == pytest.approx(0)
    assert q.max_angle == pytest.approx(0, abs=1e-5)
    assert q.effective_rank == pytest.approx(1)
    assert q.histogram[-1] == 6
    assert effective_rank(np.zeros((3, 2))) == 0
    q = head_quality(np.eye(5))
    assert q.classifier_quality == pytest.approx(1.0)
    assert (q.mean_angle, q.min_angle, q.max_angle, q.angle_std) == pytest.approx((90, 90, 90, 0))
    assert q.effective_rank == pytest.approx(5)
    assert q.simplex_distance == pytest.approx(0.25)


def test_by_hand():
    q = head_quality([[1, 0], [0, 2], [1, 1]], bias=[1, 2, 3])
    cosines = np.array([0, 0.5**0.5, 0.5**0.5])
    assert q.mean_cosine == pytest.approx(cosines.mean())
    assert q.cosine_std == pytest.approx(cosines.std())
    assert q.mean_angle == pytest.approx(60)
    assert q.angle_std == pytest.approx(np.std([90, 45, 45]))
    assert (q.min_angle, q.max_angle) == pytest.approx((45, 90))
    assert q.simplex_distance == pytest.approx(np.sqrt(np.mean((cosines + 0.5) ** 2)))
    assert q.norms == pytest.approx([1, 2, 2**0.5])
    assert q.norm == pytest.approx(7**0.5)
    assert q.bias.tolist() == [1, 2, 3]
    assert [pair[:2] for pair in q.closest] == [(0, 2), (1, 2), (0, 1)]
    assert q.farthest[0] == (0, 1, pytest.approx(0))
    singular = np.linalg.svd([[1, 0], [0, 2], [1, 1]], compute_uv=False)
    shares = singular / singular.sum()
    assert q.effective_rank == pytest.approx(np.exp(-(shares * np.log(shares)).sum()))
    assert q.histogram.sum() == 3
    assert q.fresh_histogram.sum() == 3 * 20


def test_random_rows_are_near_one_and_like_fresh_ones():
    q = head_quality(np.random.default_rng(0).normal(size=(50, 400)))
    # The mean of 1225 uncorrelated cosines of variance 1/400.
    assert abs(q.mean_cosine) < 4 / np.sqrt(1225 * 400)
    assert q.cosine_std == pytest.approx(1 / 20, rel=0.1)
    for name in FIGURES:
        fresh = q.fresh[name]
        width = fresh.high - fresh.low
        assert fresh.low - width < getattr(q, name) < fresh.high + width, name
    # Uniform between ±1/√d: the mean square of a row is 1/3.
    assert q.fresh["norm"].value == pytest.approx(np.sqrt(50 / 3), rel=0.01)


def test_the_range_of_fresh_heads_contains_fresh_heads():
    """With 1,000 classes two or three draws excluded 8 of 20; with four draws now, 95 % of heads are within."""
    from classay.network.quality import head as module

    inside = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PRODUCTS", 0)
        for seed in range(60):
            weight = np.random.default_rng(seed).uniform(-1, 1, (30, 16))
            fresh = head_quality(weight, random_state=seed).fresh["mean_cosine"]
            inside.append(fresh.low <= head_quality(weight).mean_cosine <= fresh.high)
    assert fresh.kind == "and the range of 95% of fresh heads, by 4 initialisations"
    assert sum(inside) >= 51  # p < .001 of fewer


matrices = st.tuples(st.integers(2, 7), st.integers(2, 6), st.integers(0, 2**32 - 1)).map(
    lambda drawn: np.random.default_rng(drawn[2]).normal(size=drawn[:2])
)


@given(matrices, st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_scale_order_and_rotation_make_no_difference(weight, scale, seed):
    rng = np.random.default_rng(seed)
    rotation = np.linalg.qr(rng.normal(size=(weight.shape[1],) * 2))[0]
    own = rng.permutation(len(weight))
    plain, turned = head_quality(weight), head_quality(scale * weight[own] @ rotation)
    for name in (*FIGURES, "classifier_quality", "angle_std"):
        assert getattr(turned, name) == pytest.approx(getattr(plain, name), rel=1e-6, abs=1e-5), name
    assert turned.norm == pytest.approx(scale * plain.norm)


@given(matrices)
@settings(max_examples=25)
def test_ranges(weight):
    q = head_quality(weight)
    assert -1e-9 <= q.classifier_quality <= 1 + 1 / (q.classes - 1) + 1e-9
    assert 0 <= q.min_angle <= q.mean_angle <= q.max_angle <= 180
    assert 1 <= q.effective_rank <= min(weight.shape) + 1e-9
    # Also for tiny and huge rows.
    lengths = np.geomspace(1e-200, 1e150, len(weight))[:, None]
    assert head_quality(weight * lengths).mean_cosine == pytest.approx(q.mean_cosine)
    assert head_quality(weight).to_dict() == q.to_dict()
    assert head_quality(weight, random_state=4).fresh != q.fresh


def test_blocks_make_no_difference(monkeypatch):
    weight = np.random.default_rng(1).normal(size=(23, 6))
    plain = head_quality(weight)
    monkeypatch.setattr("classay.network.cosines.DIRECTION_BLOCK", 4)
    for name in (*FIGURES, "angle_std"):
        assert getattr(head_quality(weight), name) == pytest.approx(getattr(plain, name))
    blocks = head_quality(weight)
    assert [pair[:2] for pair in blocks.closest] == [pair[:2] for pair in plain.closest]
    assert [pair[:2] for pair in blocks.farthest] == [pair[:2] for pair in plain.farthest]
    assert blocks.histogram.tolist() == plain.histogram.tolist()
    cosines = np.corrcoef(np.hstack([weight, -weight]))  # rows of mean 0, so that it is the cosine
    assert plain.closest[0][2] == pytest.approx(np.max(cosines - 2 * np.eye(23)))


def test_tensors_and_convolutions():
    torch = pytest.importorskip("torch")
    weight = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), requires_grad=True)
    q = head_quality(weight, torch.ones(4, dtype=torch.bfloat16))
    assert head_quality(weight.detach().numpy()).mean_cosine == q.mean_cosine
    assert head_quality(weight[:, :, None, None]).mean_cosine == q.mean_cosine
    assert q.bias.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("weight", "bias", "message"),
    [
        (np.ones((1, 4)), None, "one row, of one class"),
        (np.ones(4), None, r"shape \(4,\)"),
        (np.ones((3, 4, 2)), None, r"shape \(3, 4, 2\)"),
        (np.ones((0, 4)), None, r"shape \(0, 4\)"),
        ([[1, 0], [np.nan, 1], [0, np.inf]], None, "NaN or infinite numbers, in rows 1, 2"),
        ([[1, 0], [0, 0]], None, r"rows of zeros \(classes 1\)"),
        ([["a", "b"]], None, "numbers"),
        (np.eye(2), [1, 2, 3], r"\(3,\); expected \(2,\)"),
        (np.eye(2), [1, np.inf], "`bias` contains NaN"),
    ],
)
def test_bad_input(weight, bias, message):
    with pytest.raises(InputError, match=message):
        head_quality(weight, bias)


def test_words_and_table():
    q = head_quality(np.random.default_rng(0).normal(size=(1000, 8)))
    text = str(q)
    for part in ("1000 rows", "8 features", "simplex", "-0.00100", "not the accuracy of the network"):
        assert part in text
    frame = q.to_frame().set_index("figure")
    assert frame.loc["classifier_quality", "value"] == q.classifier_quality
    assert frame.loc["mean_cosine", "fresh_low"] <= frame.loc["mean_cosine", "fresh"]


def test_estimators_of_scikit_learn_are_heads():
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_iris(return_X_y=True)
    linear = LogisticRegression(max_iter=500).fit(X, y)
    found = head_quality(linear)
    assert found.mean_cosine == head_quality(linear.coef_).mean_cosine
    np.testing.assert_array_equal(found.bias, linear.intercept_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = make_pipeline(StandardScaler(), MLPClassifier((7,), max_iter=30, random_state=0)).fit(X, y)
    own = head_quality(network)
    assert (own.classes, own.feature_size) == (3, 7)
    assert own.mean_cosine == pytest.approx(head_quality(network[-1].coefs_[-1].T).mean_cosine)
    assert head_quality(RidgeClassifier().fit(X, y)).classes == 3
    with pytest.raises(InputError, match="not a fitted classifier"):
        head_quality(LogisticRegression())
    with pytest.raises(InputError, match="2 classes with 1 rows"):
        head_quality(LogisticRegression().fit(X[:100], y[:100]))
    with pytest.raises(InputError, match="no last layer"):
        head_quality(DecisionTreeClassifier().fit(X, y))
