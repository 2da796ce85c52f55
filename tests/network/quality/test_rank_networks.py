"""Ranking networks, from records written by hand: no torch."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from walks import walks

from classay.expect import InputError
from classay.intervals import Estimate
from classay.network.quality.labelled_rows import accuracy_by_rows, draw
from classay.network.quality.quality import network_quality
from classay.network.quality.rank_networks import rank_networks, tie_groups


@pytest.fixture(scope="module")
def networks():
    return {f"noise {noise}": network_quality(walks(noise)) for noise in (0.9, 0.1, 0.5, 0.3, 0.7)}


def test_best_first(networks):
    found = rank_networks(networks, by="between")
    assert found.names == tuple(f"noise {noise}" for noise in (0.1, 0.3, 0.5, 0.7, 0.9))
    assert found.table["rank"].tolist() == [1, 2, 3, 4, 5]
    assert found.table["between"].is_monotonic_decreasing
    for name, between in zip(found.table["network"], found.table["between"]):
        assert between == networks[name].between.value
    assert found.groups == (found.names,)
    assert "not ranked: no gap in between was shown to order networks by accuracy" in str(found)


def test_what_is_unknown_comes_last_and_equals_keep_their_order(networks):
    known = {name: replace(each, labelled=Estimate(0.5, 0.4, 0.6)) for name, each in networks.items()}
    known["best"] = replace(networks["noise 0.9"], labelled=Estimate(0.9, 0.8, 1.0))
    unknown = replace(networks["noise 0.9"], labelled=None)
    found = rank_networks({"unknown": unknown, **known}, by="labelled")
    assert found.names == ("best", *networks, "unknown")


def test_without_data_networks_are_ties(networks):
    found = rank_networks(networks)
    assert found.by == "between"
    assert len(found.groups) == 1
    assert set(found.table["group"]) == {"1"}
    assert "5 networks, not ranked: no gap in between was shown" in str(found)
    assert "Pass labelled rows" in str(found)
    assert "nothing to rank" in str(rank_networks({"a": networks["noise 0.1"]}))


def labelled(quality, right, rows="these"):
    """The quality with labelled rows, of which these are right."""
    right = np.asarray(right, dtype=bool)
    return replace(quality, labelled=accuracy_by_rows(int(right.sum()), right.size), right=right, rows=rows)


def test_networks_are_compared_in_pairs_on_the_same_rows(networks):
    """Of 200 rows .9 against .85: the intervals overlap, but hardly any row is right in the second alone."""
    right = {"noise 0.9": np.arange(200) < 170, "noise 0.1": np.arange(200) < 180, "noise 0.5": np.arange(200) < 175}
    right["noise 0.3"] = np.arange(200) < 40
    found = rank_networks({name: labelled(networks[name], each) for name, each in right.items()})
    assert found.by == "labelled"
    ends = [found.labelled[name] for name in ("noise 0.1", "noise 0.9")]
    assert ends[0].low < ends[1].high
    # A tie is no order: the middle one is tied with both.
    assert found.groups == (("noise 0.1", "noise 0.5"), ("noise 0.5", "noise 0.9"), ("noise 0.3",))
    assert found.table["group"].tolist() == ["1", "1, 2", "2", "3"]
    assert "4 networks in 3 groups of ties. First, or tied with it: noise 0.1, noise 0.5. Pairs are" in str(found)
    pairs = found.pairs.set_index(["first", "second"])
    assert pairs.loc[("noise 0.1", "noise 0.9"), "difference"] == pytest.approx(10 / 200)
    assert pairs.loc[("noise 0.1", "noise 0.9"), "p_value"] == pytest.approx(3 * stats.binomtest(0, 10).pvalue)
    for tied in (("noise 0.5", "noise 0.9"), ("noise 0.1", "noise 0.5")):  # Holm's rule: p-values never fall
        assert pairs.loc[tied, "p_value"] == pytest.approx(2 * stats.binomtest(0, 5).pvalue)
    assert pairs["separated"].sum() == 4
    same = rank_networks({name: labelled(networks[name], right["noise 0.9"]) for name in right})
    assert "4 networks, not ranked: no pair is separated" in str(same)
    other = {name: labelled(networks[name], each, rows=name) for name, each in right.items()}
    assert "4 networks, not ranked: their labelled rows are not the same" in str(rank_networks(other))


def test_ties_are_the_largest_sets_without_a_separated_pair():
    rng = np.random.default_rng(0)
    names = list("abcdefg")
    pairs = [(one, other, bool(rng.random() < 0.5)) for one, other in itertools.combinations(names, 2)]
    found = tie_groups(names, pd.DataFrame(pairs, columns=["first", "second", "separated"]))
    apart = [{one, other} for one, other, separated in pairs if separated]
    sets = [{*each} for size in range(1, 8) for each in itertools.combinations(names, size)]
    ties = [each for each in sets if not any(pair <= each for pair in apart)]
    largest = [each for each in ties if not any(each < other for other in ties)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


def test_drawn_rows_rank_without_bias():
    """Rows on which all agree are never drawn, and the mean of the estimates is the difference on all rows."""
    rng = np.random.default_rng(0)
    hard = rng.random(400) * 0.8
    answers = np.where(rng.random((4, 400)) < hard * np.array([[0.3], [0.5], [0.6], [1]]), rng.integers(1, 4, 400), 0)
    right = answers == 0
    estimates = []
    for seed in range(300):
        drawn = draw(answers, 40, np.random.default_rng(seed))
        assert len(np.unique(drawn.rows)) == 40
        estimates.append((right[:, drawn.rows] @ drawn.weights) - (right[0, drawn.rows] @ drawn.weights))
    error = np.std(estimates, axis=0) / np.sqrt(300)
    assert (np.abs(np.mean(estimates, axis=0) - (right.mean(axis=1) - right[0].mean())) <= 4 * error + 1e-12).all()
    assert (np.ptp(answers[:, drawn.rows], axis=0) > 0).all()
    every = draw(answers, 400, rng)
    assert len(every.rows) == (np.ptp(answers, axis=0) > 0).sum() < 400
    assert every.weights == pytest.approx(1 / 400)
    with pytest.raises(InputError, match="no label can tell them apart"):
        draw(np.zeros((2, 5), int), 3, rng)


def test_weights_of_drawn_rows_rank_by_differences(networks):
    right = {"noise 0.9": np.arange(60) < 30, "noise 0.1": np.arange(60) < 50, "noise 0.5": np.arange(60) < 49}
    given = {name: labelled(networks[name], each) for name, each in right.items()}
    found = rank_networks(given, weights=np.full(60, 1 / 300))
    assert (found.by, found.labelled) == ("difference", {})
    assert found.groups == (("noise 0.1", "noise 0.5"), ("noise 0.9",))
    assert found.table["difference"].tolist() == pytest.approx((np.array([50, 49, 30]) - 43) / 300)
    # With equal weights it is the exact test, but for the number of random signs.
    exact = rank_networks(given).pairs
    assert found.pairs["p_value"].to_numpy() == pytest.approx(exact["p_value"].to_numpy(), abs=0.01)
    with pytest.raises(InputError, match="one number above 0 for each of the 60"):
        rank_networks(given, weights=np.ones(3))
    with pytest.raises(InputError, match="are not the same, or not known"):
        rank_networks(networks, weights=np.ones(60))


def test_copies_have_the_same_weights():
    """Similar figures make no copy: networks of 45 and 10 % accuracy were once called near-copies."""
    prints = {"one": "a1", "again": "a1", "other": "b2"}
    given = {name: replace(walks(), about={"fingerprint": weights}) for name, weights in prints.items()}
    found = rank_networks(given | {"unknown": walks(), "unknown too": walks()})
    assert found.copies == (("one", "again"),)
    assert "The same weights: one, again." in str(found)


def test_true_accuracies_stand_in_the_table(networks):
    accuracy = {"noise 0.1": 0.9, "noise 0.3": 0.8}
    found = rank_networks(networks, accuracy, by="between")
    assert found.table["accuracy"].isna().sum() == 3
    frame = found.to_frame()
    assert list(frame.columns) == ["rank", "group", "network", "figure", "value"]
    assert sorted(frame["value"][frame["figure"] == "accuracy"]) == sorted(accuracy.values())


def test_notes(networks):
    other = network_quality(walks(classes=4, converged=np.zeros(32, bool)))
    text = str(rank_networks({**networks, "other": other}, by="between"))
    assert "3, 4 classes" in text
    assert "less than 90 % of their walks arrived: other" in text


def test_bad_input(networks):
    for nothing in ({}, [networks["noise 0.1"]]):
        with pytest.raises(InputError, match="a dict of at least one network"):
            rank_networks(nothing)
    with pytest.raises(InputError, match="which is not one of the networks"):
        rank_networks(networks, {"noise": 0.5})
    with pytest.raises(InputError, match="not percent"):
        rank_networks(networks, {"noise 0.1": 93.0})
    with pytest.raises(InputError, match="Did you mean between"):
        rank_networks(networks, by="betwen")
