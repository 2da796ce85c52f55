"""`compare`: paired figures by hand, churn and its split, regions, exchange of fits, and intervals over items."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef

import classay
from classay import InputError, Labelings
from classay.intervals import bounded
from classay.learner.versions.differences import between, within
from classay.learner.versions.exchange import BoxFamily, p_changed, p_worse


def record(labels, truth, **options) -> Labelings:
    return Labelings.from_arrays(labels, truth, **options)


def noisy(rng, truth, fits, rate=0.1, classes=2):
    """Fits that err at random at each item."""
    wrong = (truth + rng.integers(1, classes, size=(fits, truth.size))) % classes
    return np.where(rng.random((fits, truth.size)) < rate, wrong, truth)


def test_two_vectors_by_hand():
    truth = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    old = np.array([0, 0, 1, 1, 1, 1, 0, 1])
    new = np.array([0, 1, 0, 1, 0, 0, 0, 1])
    result = classay.compare(record([old], truth), record([new], truth))
    assert result.difference.value == pytest.approx(-2 / 8)
    assert result.churn.value == pytest.approx(4 / 8)
    assert result.regressions.value == pytest.approx(3 / 8)
    assert result.gains.value == pytest.approx(1 / 8)
    # Changes of −1, 0 and 1: the mean square is 4/8.
    error = math.sqrt((4 - 8 * 0.25**2) / 7 / 8)
    assert result.difference.low == pytest.approx(bounded(-0.25, error, 8, draws=8, least=-1.0).low)
    assert not result.refit_churn.known
    assert math.isnan(result.p_beyond)


def test_one_fit_each_shows_nothing_about_the_versions():
    rng = np.random.default_rng(12)
    truth = rng.integers(2, size=500)
    table = pd.DataFrame({"x": rng.random(500)})
    good, bad = truth, np.where(table.x < 0.4, 1 - truth, truth)  # as a refit that happens to fail
    result = classay.compare(record([good], truth), record([bad], truth), table)
    assert result.difference.high < -0.3
    assert result.worse
    assert not result.regression_shown
    assert "These two fits" in result.answer()
    assert "A refit of one version alone may differ as much" in str(result)
    kinds = result.to_frame().set_index("figure")["kind"]
    assert set(kinds.drop(["refit_churn", "beyond_refit"])) == {"over items; for these fits"}
    assert not {"of these by a mere refit", "beyond a refit"} & set(result.summary())
    refits = record(np.tile(truth, (1, 5, 1)), truth)
    assert classay.compare(record([good], truth), record([bad], truth), refits=refits).regression_shown
    failing = np.where(rng.random((5, 1)) < 0.5, good, bad)
    again = classay.compare(record([good], truth), record([bad], truth), refits=record(failing[None], truth))
    assert again.difference.high > 0  # refits differ as much
    assert again.difference.kind == "over items and fits"


@pytest.mark.parametrize(("old", "new"), [(1, 1), (2, 2), (5, 5), (5, 1)])
@pytest.mark.parametrize("changes", [0, 1])
def test_no_interval_is_without_width(old, new, changes):
    """Nothing varies, or one item of one fit does."""
    truth = np.arange(40) % 2
    after = np.tile(truth, (1, new, 1))
    after[0, 0, :changes] = 1
    result = classay.compare(record(np.tile(truth, (1, old, 1)), truth), record(after, truth), metric="mcc")
    frame = result.to_frame()
    assert (frame["high"] - frame["low"] > 0.005).all()
    assert ((frame["low"] <= frame["value"]) & (frame["value"] <= frame["high"]) | frame["value"].isna()).all()


def test_churn_within_and_between_by_hand():
    old = np.array([[[0, 0, 1]], [[0, 1, 1]], [[0, 1, 0]]])
    new = np.array([[[1, 1, 1]], [[0, 1, 1]]])
    by_new, by_old = between(new, old, 2), between(old, new, 2)
    assert by_new == pytest.approx(np.array([[1, 1 / 3, 1 / 3], [0, 1 / 3, 1 / 3]]))
    assert by_new.mean() == pytest.approx(by_old.mean())
    assert within(old, 2).mean(axis=0).tolist() == [0.0, pytest.approx(2 / 3), pytest.approx(2 / 3)]
    several = np.array([[[0], [1]], [[1], [1]]])  # two subsets x two refits
    assert within(several, 2).mean() == pytest.approx(0.5)


def test_beyond_is_half_the_squared_distance_of_the_shares():
    rng = np.random.default_rng(0)
    truth = np.zeros(4000, dtype=int)
    old, new = (rng.random((40, truth.size)) < rate for rate in (0.2, 0.5))
    result = classay.compare(record(old.astype(int)[None], truth), record(new.astype(int)[None], truth))
    # ½ Σ (p − q)² = (0.2 − 0.5)² for two classes.
    assert result.beyond_refit.value == pytest.approx(0.09, abs=0.01)
    assert result.beyond_refit.low < 0.09 < result.beyond_refit.high
    assert result.beyond_shown


def test_items_are_matched_by_name_and_classes_by_word():
    a = pd.DataFrame({"id": [1, 2, 3, 4], "y": list("nyny"), "pred": list("nyyy")})
    b = a.assign(pred=list("nynm")).iloc[[3, 1, 0, 2]]
    roles = {"truth": "y", "item": "id"}
    result = classay.compare(Labelings.from_frame(a, **roles), Labelings.from_frame(b, **roles))
    assert result.n_items == 4
    assert result.items["changed"].tolist() == [0.0, 0.0, 1.0, 1.0]
    fewer = classay.compare(Labelings.from_frame(a, **roles), Labelings.from_frame(b.iloc[:3], **roles))
    assert fewer.n_items == 3
    assert "3 items are in both records" in fewer.notes[0]


@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1_macro", "mcc"])
def test_metrics_are_those_of_scikit_learn(metric):
    rng = np.random.default_rng(1)
    truth, predicted = rng.integers(3, size=(2, 300))
    better = np.where(rng.random(300) < 0.5, truth, predicted)
    result = classay.compare(record([predicted], truth), record([better], truth), metric=metric)
    theirs = {"balanced_accuracy": balanced_accuracy_score, "mcc": matthews_corrcoef}
    theirs["f1_macro"] = lambda *labels: f1_score(*labels, average="macro")
    expected = theirs[metric](truth, better) - theirs[metric](truth, predicted)
    assert result.metric_difference.value == pytest.approx(expected)
    assert result.metric_difference.low > 0
    assert metric in str(result)


def test_a_changed_region_is_found_and_an_unchanged_version_is_not():
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=2000)
    table = pd.DataFrame({"age": rng.integers(18, 80, 2000), "job": rng.choice(["a", "b"], 2000)})
    fits = noisy(rng, truth, 10, 0.05)
    worse = fits[5:].copy()
    inside = (table.age >= 70).to_numpy()
    worse[:, inside] = np.where(rng.random((5, inside.sum())) < 0.5, 1 - worse[:, inside], worse[:, inside])
    old = record(fits[None, :5], truth)
    result = classay.compare(old, record(worse[None], truth), table)
    assert result.beyond_shown
    assert result.regression_shown
    assert "age" in result.worse[0].condition
    assert result.worse[0].rate.high < -0.3
    assert result.worst_region.value == result.worse[0].rate.value
    assert "age" in result.changed[0].condition
    assert not result.better
    assert "It is worse where age" in str(result)
    assert set(result.regions_frame()["what"]) == {"worse", "changed"}
    same = classay.compare(old, record(fits[None, 5:], truth), table)
    assert not same.beyond_shown
    assert not same.regression_shown
    assert same.answer().startswith("new is not shown to be better or worse than old: accuracy ")
    assert "no more than that is shown" in str(same)
    assert "would have been found in about 4 of 5 cases" in same.notes[-1]
    assert classay.compare(old, record(fits[None, 5:], truth), table).to_dict() == same.to_dict()


def test_a_minimum_effect():
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=4000)
    old, new = noisy(rng, truth, 3, 0.05), noisy(rng, truth, 3, 0.08)
    assert classay.compare(record(old[None], truth), record(new[None], truth)).regression_shown
    assert not classay.compare(record(old[None], truth), record(new[None], truth), min_effect=0.05).regression_shown


def test_refits_can_be_given_apart():
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=800)
    fits = noisy(rng, truth, 8, 0.1)
    one, other = record(fits[:1], truth), record(fits[1:2], truth)
    result = classay.compare(one, other, refits=record(fits[None, 2:], truth))
    assert result.churn.value == pytest.approx(float((fits[0] != fits[1]).mean()))
    assert result.refit_churn.value == pytest.approx(0.18, abs=0.03)
    assert result.p_beyond > 0.05


def test_exchange_is_exact_for_five_against_five():
    far = np.concatenate([np.zeros((5, 300)), np.ones((5, 300))]).astype(int)
    assert p_changed(far[:5], far[5:], BoxFamily(300, None), 0) == pytest.approx(2 / 252)
    assert p_worse(far[5:] == 1, far[:5] == 1, BoxFamily(300, None), 0) == pytest.approx(1 / 252)
    assert math.isnan(p_changed(far[:2], far[8:9], BoxFamily(300, None), 0))


def test_groups_widen_the_interval():
    rng = np.random.default_rng(9)
    group = np.repeat(np.arange(30), 20)
    truth = rng.integers(2, size=600)
    worse = np.isin(group, rng.choice(30, 6, replace=False))
    new = np.where(worse, 1 - truth, truth)
    alone = classay.compare(record([truth], truth), record([new], truth)).difference
    grouped = classay.compare(record([truth], truth, groups=group), record([new], truth, groups=group)).difference
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def named(items) -> Labelings:
    frame = pd.DataFrame({"id": items, "y": [0, 1] * 5, "pred": [0, 1] * 5})
    return Labelings.from_frame(frame, truth="y", item="id")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "f2"}, "expected one of 'accuracy'"),
        ({"min_effect": 2}, "`min_effect` is 2"),
        ({"level": 5}, "`level` is 5"),
        ({"table": pd.DataFrame({"x": [1, 2]})}, "`table` has 2 rows but `old` has 20 items"),
        ({"new": Labelings.from_arrays([[0, 1]], [0, 1])}, "have 20 and 2 items"),
        ({"new": Labelings.from_arrays([[0, 1] * 10], [1, 0] * 10)}, "The truth differs in 20 of 20 items"),
        ({"new": [0, 1]}, "`new` is list; expected a record"),
        ({"old": named(range(10)), "new": named(range(8, 18))}, "Only 2 items are in both"),
    ],
)
def test_mistakes(change, message):
    given = {"old": record([[0, 1] * 10], [0, 1] * 10), "new": record([[0, 1] * 10], [0, 1] * 10)} | change
    with pytest.raises(InputError, match=message):
        classay.compare(**given)


def one_slice_worse(seed):
    """One fit each: 85 of 1,500 items go from .72 to .45 right, the others gain as much."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{i}": rng.normal(size=1500) for i in range(4)} | {"area": rng.choice(list("nesw"), 1500)})
    table["job"] = rng.permutation(np.repeat(list("abcdefghijklmno"), 100))
    table.loc[table.job.eq("a") & (np.cumsum(table.job == "a") > 85), "job"] = "b"
    inside = (table.job == "a").to_numpy()
    old = rng.random(1500) < np.where(inside, 0.72, 0.8)
    new = np.where(rng.random(1500) < 0.03, ~old, old)
    new[rng.choice(np.flatnonzero(inside & old), 23, replace=False)] = False
    new[rng.choice(np.flatnonzero(~inside & ~old), 29, replace=False)] = True
    return *(record([np.where(right, 0, 1)], np.zeros(1500, int), classes=[0, 1]) for right in (old, new)), table


@pytest.mark.slow
def test_a_slice_that_pairs_of_columns_hid_is_found():
    worlds = [classay.compare(*one_slice_worse(seed)) for seed in range(5)]
    assert sum(bool(each.worse) and each.worse[0].condition == "job = a" for each in worlds) >= 4


def test_slices_of_the_user():
    old, new, table = one_slice_worse(0)
    result = classay.compare(old, new, table, columns=["area"], slices=["job", "x0"])
    parts = {part.condition: part for part in result.slices}
    assert len(parts) == 15 + 12
    assert [name for name, part in parts.items() if part.verdict == "worse"] == ["job = a"]
    assert "It is worse where job = a (85 items, −" in str(result)
    part = parts["job = a"]
    rows = (table.job == "a").to_numpy()
    right = [(one.labels[0, 0, rows] == one.truth[rows]).mean() for one in (old, new)]
    assert (part.size, part.difference.value) == (85, pytest.approx(right[1] - right[0]))
    assert part.difference.level == pytest.approx(1 - 0.05 / 27)
    assert result.worst_region == replace(part.difference, kind="where job = a, over items; for these fits")
    assert set(result.regions_frame()["what"]) == {"slice"}
    assert not result.regression_shown  # one fit each
    table.loc[:99, "area"] = None
    assert "area is missing" in {part.condition for part in classay.compare(old, new, table, slices="area").slices}
    with pytest.raises(InputError, match="no column 'jbo'"):
        classay.compare(old, new, table, slices="jbo")
    with pytest.raises(InputError, match="there is no `table`"):
        classay.compare(old, new, slices="job")
