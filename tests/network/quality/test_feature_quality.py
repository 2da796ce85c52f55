import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import classay
from classay import InputError
from classay.network.cosines import cosines, separations


def rows(seed, classes=3, each=7, size=5):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each)
    return rng.random((classes * each, size)) + 2 * np.eye(classes, size)[labels], labels


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 9))
@settings(max_examples=30)
def test_sums_give_what_pairs_give(seed, classes, each):
    features, labels = rows(seed, classes, each)
    found = cosines(features, labels, classes)
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    inside = [[a @ b for a, b in itertools.combinations(units[labels == one], 2)] for one in range(classes)]
    others = [
        u @ units[labels == other].mean(axis=0)
        for one in range(classes) for other in range(classes) if one != other for u in units[labels == one]
    ]  # fmt: skip
    np.testing.assert_allclose(found.within, [np.mean(pairs) for pairs in inside])
    assert found.within_std == pytest.approx(np.std(np.concatenate(inside)), abs=1e-7)
    assert found.cs_bt == pytest.approx(np.mean(others))
    assert found.between_std == pytest.approx(np.std(others), abs=1e-7)
    assert found.within_histogram.sum() == sum(map(len, inside))
    assert found.between_histogram.sum() == len(others)


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_neither_scale_nor_rotation_nor_order_matter(seed):
    features, labels = rows(seed)
    rng = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    order = rng.permutation(len(labels))
    other = (features * rng.uniform(0.1, 9, (len(labels), 1)) @ turned)[order]
    one, two = classay.feature_quality(features, labels), classay.feature_quality(other, labels[order])
    for name in ("within", "within_std", "between", "between_std"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-6)
    np.testing.assert_allclose(one.cosines, two.cosines, atol=1e-9)


def test_classes_of_unequal_size_count_alike():
    features = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    q = classay.feature_quality(features, ["a"] * 4 + ["b"] * 2)
    assert q.within == pytest.approx((1 + 0) / 2)
    assert q.between == pytest.approx(1)
    assert q.per_class["rows"].tolist() == [4, 2]


def test_one_row_of_a_class_is_said():
    q = classay.feature_quality([[1, 0], [1, 0], [0, 1]], ["a", "a", "b"])
    assert q.within == 1
    assert any("There is only one row of b" in note for note in q.notes)


def test_features_below_zero_and_at_zero_are_said():
    q = classay.feature_quality([[1, -1], [1, 0], [0, 0], [0, 1]], list("aabb"))
    assert not q.nonnegative
    assert any("below 0" in note for note in q.notes)
    assert any("1 features are all zero" in note for note in q.notes)


def test_it_is_json_has_a_head_and_many_rows():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=6000)
    q = classay.feature_quality(rng.random((6000, 4)) + np.eye(3, 4)[labels], labels, head=np.eye(3, 4))
    json.dumps(q.to_dict(), allow_nan=False)
    assert q.head.classifier_quality == 1
    assert q.rows == 6000
    assert {*q.per_pair["first"], *q.per_pair["second"]} == {"0", "1", "2"}
    assert "paper's bounds" in str(q)


@pytest.mark.parametrize(
    ("features", "labels", "words"),
    [
        (np.zeros(3), [0, 1, 0], r"\(rows, d\)"),
        ([[1, 2], [np.nan, 0]], [0, 1], "NaN or infinite numbers, in rows 1"),
        ([["a", "b"]], [0], "numbers"),
        (np.eye(3), [0, 1], r"expected \(3,\)"),
        (np.eye(3), [0, 0, 0], "1 class"),
        (np.eye(3), [0, 1, 2], "No class has 2 rows"),
        (np.eye(2), [None, "a"], "missing"),
    ],
)
def test_bad_input_is_refused(features, labels, words):
    with pytest.raises(InputError, match=words):
        classay.feature_quality(features, labels)


def test_three_ways_to_count_separation():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(4), 5)
    features = rng.normal(size=(20, 6)) + 2 * np.eye(4, 6)[codes]
    units = features / np.linalg.norm(features, axis=1, keepdims=True)
    means = np.stack([units[codes == one].mean(axis=0) for one in range(4)])
    members = [units[a] @ units[b] for a, b in itertools.permutations(range(20), 2) if codes[a] != codes[b]]
    others = [units[a] @ means[c] for a in range(20) for c in range(4) if codes[a] != c]
    directions = means / np.linalg.norm(means, axis=1, keepdims=True)
    both = [directions[a] @ directions[b] for a, b in itertools.combinations(range(4), 2)]
    found = separations(features, codes, 4)
    for name, values in zip(("members", "means of others", "means"), (members, others, both)):
        assert found[name] == pytest.approx((1 - np.mean(values), np.std(values))), name
    measured = cosines(features, codes, 4)
    assert found["means of others"][0] - 2 * found["means of others"][1] == pytest.approx(measured.bounds[0])
