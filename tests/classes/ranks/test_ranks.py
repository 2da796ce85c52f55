"""The record: what is counted, in which words classes may be given, saving, leaving classes out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import classay
from classay.classes.curve.jackknife import class_samples, jackknife_error, leave_groups_out
from classay.classes.ranks import counts
from classay.classes.ranks.counts import class_groups
from classay.classes.ranks.ranks import ARRAYS
from classay.expect import InputError


def made(n=300, K=50, seed=0, decimals=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    scores = rng.normal(size=(n, K))
    scores[np.arange(n), y] += 2
    return np.round(scores, decimals), y


def same(a, b, names=ARRAYS):
    for name in names:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_lower_and_tied_by_hand():
    found = classay.Ranks.from_scores([[3.0, 1, 2, 1], [5, 5, 0, 5], [0, 1, 2, 3]], [2, 0, 0])
    assert found.lower.tolist() == [2, 1, 0]
    assert found.tied.tolist() == [0, 2, 0]
    assert found.truth.tolist() == [2, 0, 0]
    assert found.evidence().weights.tolist() == [1 / 2, 1 / 4, 1 / 4]  # classes weigh alike


@pytest.mark.parametrize("source", ["memory map", "frame", "lists", "chunks", "one row at a time", "an empty chunk"])
def test_every_source_gives_the_same_record(source, tmp_path):
    scores, y = made(decimals=3)
    whole = classay.Ranks.from_scores(scores, y)
    if source == "memory map":
        np.save(tmp_path / "scores.npy", scores)
        scores = np.load(tmp_path / "scores.npy", mmap_mode="r")
    elif source == "frame":
        scores, y = pd.DataFrame(scores), pd.Series(y)
    elif source == "lists":
        scores, y = scores.tolist(), y.tolist()
    if source in ("chunks", "one row at a time", "an empty chunk"):
        cuts = {"chunks": [0, 7, 150, 300], "an empty chunk": [0, 9, 9, 300]}.get(source, list(range(301)))
        parts = ((scores[a:b], y[a:b]) for a, b in pairwise(cuts))
        found = classay.Ranks.from_chunks(parts, classes=np.arange(50))
    else:
        found = classay.Ranks.from_scores(scores, y)
    same(found, whole)


def test_rows_in_detail_are_the_first_of_every_class(monkeypatch):
    monkeypatch.setattr(counts, "DETAIL_ROWS", 150)
    scores, y = made()
    found = classay.Ranks.from_scores(scores, y)
    expected = [row for row in range(300) if (y[:row] == y[row]).sum() < 3]
    assert found.detail.tolist() == expected


def test_saving_and_loading(tmp_path):
    scores, y = made()
    names = np.array([f"class {code}" for code in range(50)])
    found = classay.Ranks.from_scores(scores, y % 49, classes=names, marginal=True, name="mine").with_prior("zipf")
    loaded = classay.Ranks.load(found.save(tmp_path / "ranks.classay"))
    same(loaded, found, (*ARRAYS, "prior"))
    assert (loaded.name, loaded.marginal, str(loaded)) == ("mine", True, str(found))
    assert [(note.code, note.numbers) for note in loaded.notes] == [
        ("classes-without-rows", {"count": 1, "classes": 50})
    ]
    np.testing.assert_array_equal(loaded.among(np.arange(40) < 9).lower, found.among(np.arange(40) < 9).lower)


def test_loading_another_file_is_refused(tmp_path):
    from classay.engine import store

    with pytest.raises(InputError, match="labelings"):
        classay.Ranks.load(store.write(tmp_path / "a", "labelings", {}, {"labels": [0]}))
    with pytest.raises(InputError, match="not a complete record of ranks"):
        classay.Ranks.load(store.write(tmp_path / "b", "ranks", {"marginal": None}, {"truth": [0]}))


@pytest.mark.parametrize("K", [2, 3, 39, 40, 41, 50, 1000])
def test_groups_are_of_equal_size_and_not_by_column(K):
    group = class_groups(K)
    sizes = np.bincount(group)
    assert sizes.size == min(K, 40)
    assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(group, class_groups(K))
    assert K < 10 or (np.diff(group) != 0).mean() > 0.5


@pytest.mark.parametrize(("seed", "K"), [(0, 6), (1, 50), (2, 90)])
def test_leaving_groups_out_is_scoring_fewer_classes(seed, K):
    scores, y = made(200, K, seed)
    found = classay.Ranks.from_scores(scores, y)
    kept = np.random.default_rng(seed).random(found.n_groups) < 0.7
    kept[:2] = True
    columns = np.flatnonzero(kept[found.group])
    rows = np.isin(y, columns)
    fewer = classay.Ranks.from_scores(scores[rows][:, columns], np.searchsorted(columns, y[rows])).evidence("wrong")
    part = found.among(kept, "wrong")
    for name in ("lower", "tied"):
        np.testing.assert_array_equal(getattr(part, name), getattr(fewer, name))
    np.testing.assert_allclose(part.z, fewer.z, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(part.weights, fewer.weights)
    np.testing.assert_allclose(part.accuracy(), fewer.accuracy(), atol=1e-14)
    assert part.ties == "wrong"


@pytest.mark.parametrize("kept", [np.zeros(40, dtype=bool), np.ones(39, dtype=bool)])
def test_a_mask_that_keeps_nothing_or_does_not_fit(kept):
    with pytest.raises(InputError, match="mask over 40 groups"):
        classay.Ranks.from_scores(*made()).among(kept)


def test_jackknife_of_a_mean_is_its_standard_error():
    # For a mean over classes the delete-a-group jackknife is unbiased, whatever the sizes of the groups.
    rng = np.random.default_rng(0)
    sizes = np.array([1, 1, 2, 3, 5])
    group = np.repeat(np.arange(5), sizes)
    squares = []
    for _ in range(5_000):
        values = rng.normal(size=12)
        squares.append(jackknife_error(np.array([values[group != g].mean() for g in range(5)]), sizes) ** 2)
    assert np.mean(squares) == pytest.approx(1 / 12, rel=0.05)


def test_jackknife_of_equal_groups_is_the_usual_formula():
    values = np.random.default_rng(0).normal(size=(7, 3))
    usual = np.sqrt(6 / 7 * ((values - values.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(jackknife_error(values, np.full(7, 4)), usual)


def test_halves_are_repeatable_and_have_their_share():
    found = classay.Ranks.from_scores(*made(K=80))
    first, again = (list(class_samples(found, n=3, seed=5)) for _ in range(2))
    assert [part.n_classes for part in first] == [40, 40, 40]
    assert all(np.array_equal(a.lower, b.lower) for a, b in zip(first, again))
    assert not np.array_equal(first[0].lower, first[1].lower)
    assert next(class_samples(found, n=1, share=0.25)).n_classes == 20


names = ["ant", "bee", "cat"]


@pytest.mark.parametrize(
    ("y", "classes", "columns"),
    [
        (["bee", "ant", "cat"], names, [1, 0, 2]),
        ([1, 0, 2], names, [1, 0, 2]),
        (np.array(["bee", "ant", "cat"], dtype=object), names, [1, 0, 2]),
        (pd.Series(["bee", "ant", "cat"], dtype="category"), names, [1, 0, 2]),
        ([1, 0, 2], None, [1, 0, 2]),
        ([1.0, 0.0, 2.0], None, [1, 0, 2]),
        ([20, 10, 30], [10, 20, 30], [1, 0, 2]),
        ([10, 30, 20], [30, 20, 10], [2, 0, 1]),
        ([[1], [0], [2]], None, [1, 0, 2]),
        ([2, 1, 1], ["1", "2", "3"], [1, 0, 0]),  # a header of numbers is text, and still a header
        ([0, 1, 2], ["2", "0", "1"], [1, 2, 0]),
        (["1", "0", "2"], None, [1, 0, 2]),
        (["a", "b", "c"], pd.Index(["b", "a", "c"]), [1, 0, 2]),  # of a frame
        ([1, 2, 2], pd.RangeIndex(1, 4), [0, 1, 1]),
    ],
)
def test_classes_by_name_or_number(y, classes, columns):
    scores = np.eye(3)
    if isinstance(classes, pd.Index):
        scores, classes = pd.DataFrame(scores, columns=classes), None
    assert classay.Ranks.from_scores(scores, y, classes=classes).truth.tolist() == columns


@pytest.mark.parametrize(
    ("scores", "y", "classes", "message"),
    [
        (np.eye(3), [0, 1], None, "3 rows but `y` has 2 labels"),
        (np.eye(3), [0, 1, 3], None, r"`y` has 3, and the columns.*0 to 2.*classifier.classes_"),
        (np.eye(3), names, None, r"ant, bee, cat.*classes=\["),
        (np.eye(3), ["ant", "dog", "cat"], names, "`y` has dog, which is not the name of a column"),
        (np.eye(3), [0, 1, 2], ["ant", "bee"], "3 columns but `classes` has 2 names"),
        (np.eye(3), [0, 1, 2], ["ant", "bee", "ant"], "ant more than once"),
        (np.eye(3), [0, 1, np.nan], None, r"`y` is missing \(NaN\) in 1 row \(first: 2\)"),
        (np.eye(3), [[0, 1], [1, 2], [0, 2]], None, "one true class per row"),
        (np.ones((3, 1)), [0, 0, 0], None, "1 column; at least 2 classes"),
        (np.ones(3), [0, 0, 0], None, r"shape \(3,\); expected \(rows, classes\)"),
        ([["a", "b"]], [0], None, "not a table of numbers"),
        (np.empty((0, 3)), [], None, "no test rows"),
        (np.eye(3), [0.5, 1, 2], None, "`y` has 0.5"),
        (np.eye(3), [0, 1, 2], ["1", "2", "3"], "`y` has 0, which is not the name of a column"),
        (np.ma.masked_equal(np.eye(3), 1), [0, 1, 2], None, "NaN in row 0, column 0"),
        (np.eye(3) + 0j, [0, 1, 2], None, "complex"),
        (np.array([[0.0, np.nan]]), [0], None, "NaN in row 0, column 1"),
    ],
)
def test_bad_input_is_told(scores, y, classes, message):
    with pytest.raises(InputError, match=message):
        classay.Ranks.from_scores(scores, y, classes=classes)


def test_chunks_of_another_width_are_refused():
    with pytest.raises(InputError, match="4 columns but there are 3 classes"):
        classay.Ranks.from_chunks([(np.eye(3), [0, 1, 2]), (np.eye(4), [0, 1, 2, 0])], classes=names)
    with pytest.raises(InputError, match="no test rows"):
        classay.Ranks.from_chunks([], classes=names)


def test_classes_without_rows_compete_and_unknown_z_are_said():
    found = classay.Ranks.from_scores([[1.0, 0, 2], [0, 1, 2]], [0, 1])
    assert found.evidence().accuracy().tolist() == [1, 0.5, 0]
    assert "1 of 3 classes have no test rows" in str(found)
    scores, y = made(decimals=9)
    scores[5, 7] = -np.inf
    found = classay.Ranks.from_scores(scores, y)
    assert np.flatnonzero(np.isnan(found.z)).tolist() == [5]
    assert "In 1 of 300 rows a score is −inf" in str(found)
    for evidence in leave_groups_out(found):
        assert np.isnan(evidence.z).sum() <= 1
        assert np.isfinite(evidence.accuracy()).all()


def test_probabilities_of_zero_and_one_are_coarse():
    scores = np.eye(4)[np.arange(40) % 4]
    assert "coarse" not in str(classay.Ranks.from_scores(scores, np.arange(40) % 4))
    mostly = np.where(np.arange(40) < 4, (np.arange(40) + 1) % 4, np.arange(40) % 4)
    text = str(classay.Ranks.from_scores(scores, mostly))
    assert "it ties on average with 2 of 3 others, so the curve is coarse" in text
