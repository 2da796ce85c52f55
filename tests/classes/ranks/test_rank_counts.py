"""Counts from blocks of scores: against plain comparisons, for every kind of number and any number of columns."""

from __future__ import annotations

import numpy as np
import pytest

from classay.classes.ranks import counts
from classay.classes.ranks.counts import GroupCounter, RowCounter, blocks, class_groups
from classay.expect import InputError


def plain(scores, truth):
    """Lower, tied and z by the definition, in double precision."""
    wide = np.asarray(scores, dtype=float)
    own = wide[np.arange(len(wide)), truth][:, None]
    z = []
    for row, column in enumerate(truth):
        others = np.delete(wide[row], column)
        z.append((wide[row, column] - others.mean()) / others.std(ddof=1) if np.ptp(others) else np.nan)
    return (wide < own).sum(axis=1), (wide == own).sum(axis=1) - 1, np.array(z)


def counted(scores, truth):
    counter = RowCounter(scores.shape[1])
    parts = [counter.count(block, truth[part], part.start) for part, block in blocks(scores)]
    return tuple(np.concatenate([part[name] for part in parts]) for name in ("lower", "tied", "z"))


KINDS = ["float16", "float32", "float64", "longdouble", "int8", "uint8", "int32", "int64", "bool"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("K", [2, 7, 8, 41, 300])
def test_every_kind_of_number(kind, K):
    rng = np.random.default_rng(K)
    scores = (rng.normal(scale=30, size=(150, K)) if kind != "bool" else rng.normal(size=(150, K)) > 0).clip(0, 120)
    scores = scores.astype(kind)
    truth = rng.integers(K, size=150)
    for found, expected in zip(counted(scores, truth), plain(scores, truth)):
        np.testing.assert_allclose(
            found, expected if K > 2 or expected.dtype.kind == "i" else np.nan, rtol=2e-5, atol=1e-5
        )


@pytest.mark.parametrize("K", [2040, 2041, 5000])
def test_rows_of_more_bytes_than_a_word_can_count(K):
    scores = np.zeros((3, K), dtype=np.float32)
    scores[0, -1] = 1
    scores[1, 0] = -1
    lower, tied, _ = counted(scores, np.array([K - 1, 0, 5]))
    assert lower.tolist() == [K - 1, 0, 0]
    assert tied.tolist() == [0, 0, K - 1]


def test_large_whole_numbers_are_compared_exactly():
    scores = np.array([[2**60, 2**60 + 1, 2**60 - 1]])
    lower, tied, _ = counted(scores, np.array([0]))
    assert (lower[0], tied[0]) == (1, 0)


@pytest.mark.parametrize("layout", ["fortran", "strided", "negative"])
def test_any_layout_in_memory(layout):
    scores = np.random.default_rng(0).normal(size=(60, 24))
    truth = np.arange(60) % 12
    other = {"fortran": np.asfortranarray(scores[:, :12]), "strided": scores[:, ::2], "negative": scores[:, 11::-1]}[
        layout
    ]
    for found, expected in zip(counted(other, truth), plain(other, truth)):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_z_keeps_its_digits_far_from_zero_and_for_any_scale(kind):
    rng = np.random.default_rng(0)
    near = rng.normal(size=(50, 100)).astype(kind)
    truth = rng.integers(100, size=50)
    for shift, scale in [(1e4, 1.0), (0, 1e-20), (0, 1e20), (0, 1e30)]:
        moved = (near * np.asarray(scale, kind) + np.asarray(shift, kind)).astype(kind)
        np.testing.assert_allclose(counted(moved, truth)[2], plain(moved, truth)[2], rtol=1e-3 if shift else 1e-4)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_z_is_unknown_where_the_others_are_alike(kind):
    scores = np.full((2, 50), 0.1, dtype=kind)
    scores[0, 3] = 0.7
    assert np.isnan(counted(scores, np.array([3, 4]))[2]).all()


def test_minus_infinity_is_the_lowest_score():
    scores = np.array([[0.0, -np.inf, 1.0, -np.inf], [-np.inf, -np.inf, 1.0, 0.0]])
    lower, tied, z = counted(scores, np.array([0, 0]))
    assert lower.tolist() == [2, 0]
    assert tied.tolist() == [0, 1]
    assert np.isnan(z).all()


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, r"\+inf")])
@pytest.mark.parametrize("own", [True, False])
def test_nan_and_infinity_are_refused_with_their_place(value, word, own, monkeypatch):
    monkeypatch.setattr(counts, "BLOCK", 400)
    scores = np.random.default_rng(0).normal(size=(30, 100)).astype(np.float32)
    scores[17, 55] = value
    with pytest.raises(InputError, match=f"{word} in row 17, column 55; .*Drop such rows"):
        counted(scores, np.full(30, 55 if own else 2))
    scores[17, 56] = value
    with pytest.raises(InputError, match="1 more scores of rows 16 to 19"):
        counted(scores, np.full(30, 0))


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("K", [2, 30, 41, 100, 700])
def test_groups_against_each_class(kind, K):
    rng = np.random.default_rng(K)
    scores = rng.normal(scale=9, size=(20, K)).astype(kind)
    truth, group = rng.integers(K, size=20), class_groups(K)
    block = scores if kind != "float16" else scores.astype(np.float32)
    found = GroupCounter(group).count(block, truth)
    wide = scores.astype(float)
    apart = wide - wide[np.arange(20), truth][:, None]
    for number in range(group.max() + 1):
        inside = (group == number) & (np.arange(K) != truth[:, None])
        np.testing.assert_array_equal(found["lower_in"][:, number], ((apart < 0) & inside).sum(axis=1))
        np.testing.assert_array_equal(found["tied_in"][:, number], ((apart == 0) & inside).sum(axis=1))
        np.testing.assert_allclose(found["sum_in"][:, number], (apart * inside).sum(axis=1), atol=1e-9)
        np.testing.assert_allclose(found["square_in"][:, number], (apart**2 * inside).sum(axis=1), rtol=1e-9)
