"""Ranking networks, from records written by hand: no torch."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from walks import walks

from classay.expect import InputError
from classay.intervals import Estimate
from classay.network.quality.quality import network_quality
from classay.network.quality.rank_networks import rank_correlation, rank_networks


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
    assert found.correlations == {}
    assert math.isnan(found.enclosed)
    assert found.groups == (found.names,)
    assert "not ranked: no gap in between was shown to order networks by accuracy" in str(found)


def test_what_is_unknown_comes_last_and_equals_keep_their_order(networks):
    from dataclasses import replace

    known = {name: replace(each, labelled=Estimate(0.5, 0.4, 0.6)) for name, each in networks.items()}
    known["best"] = replace(networks["noise 0.9"], labelled=Estimate(0.9, 0.8, 1.0))
    unknown = replace(networks["noise 0.9"], labelled=None)
    found = rank_networks({"unknown": unknown, **known}, by="labelled")
    assert found.names == ("best", *networks, "unknown")


def test_without_data_networks_are_ties(networks):
    found = rank_networks(networks)
    assert found.by == "between"
    assert len(found.groups) == 1
    assert set(found.table["group"]) == {1}
    assert "5 networks, not ranked: no gap in between was shown" in str(found)
    assert "Pass labelled rows" in str(found)
    assert "nothing to rank" in str(rank_networks({"a": networks["noise 0.1"]}))


def test_labelled_rows_separate_networks(networks):
    from dataclasses import replace

    ends = {"noise 0.9": (0.5, 0.7), "noise 0.1": (0.85, 0.95), "noise 0.5": (0.65, 0.8), "noise 0.3": (0.1, 0.2)}
    given = {
        name: replace(networks[name], labelled=Estimate((low + high) / 2, low, high, 0.9))
        for name, (low, high) in ends.items()
    }
    found = rank_networks(given)
    assert found.by == "labelled"
    assert found.groups == (("noise 0.1",), ("noise 0.5", "noise 0.9"), ("noise 0.3",))
    assert found.table["group"].tolist() == [1, 2, 2, 3]
    assert "Of 4 networks in 3 groups, noise 0.1 is first" in str(found)
    close = {name: replace(each, labelled=Estimate(0.5, 0.3, 0.7, 0.9)) for name, each in given.items()}
    assert len(rank_networks(close).groups) == 1
    assert "by labelled rows, overlap" in str(rank_networks(close))


def test_copies_are_named(networks):
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(6, 5)).astype(np.float32)
    tuned, other = (rng.normal(size=(6, 5)).astype(np.float32) for _ in range(2))
    weights = {"one": weight, "scaled": 3 * weight, "tuned": weight + np.float32(0.02) * tuned, "other": other}
    found = rank_networks({name: walks(classes=6, weight=each) for name, each in weights.items()})
    assert found.copies == (("one", "scaled", "tuned"),)
    assert "Copies or near-copies of one network: one, scaled, tuned." in str(found)


def test_correlations_with_the_truth(networks):
    accuracy = {"noise 0.1": 0.9, "noise 0.3": 0.8, "noise 0.5": 0.85, "noise 0.7": 0.6}
    found = rank_networks(networks, accuracy, by="between")
    order = [found.table.set_index("network")["between"][name] for name in accuracy]
    expected = stats.spearmanr(order, list(accuracy.values())).statistic
    assert found.correlations["between"].value == pytest.approx(expected)
    assert found.correlations["between"].value == pytest.approx(0.8)
    assert found.correlations["classifier_quality"].known is False  # all heads are the same
    assert found.table["accuracy"].isna().sum() == 1
    frame = found.to_frame()
    assert list(frame.columns) == ["rank", "group", "network", "figure", "value"]
    assert sorted(frame["value"][frame["figure"] == "accuracy"]) == sorted(accuracy.values())
    inside = [networks[name].accuracy_bounds for name in accuracy]
    share = np.mean([low <= true <= high for (low, high), true in zip(inside, accuracy.values())])
    assert found.enclosed == share
    assert "Rank correlation of that with true accuracy, over 4 networks: 0.80" in str(found)


def test_the_interval_of_a_rank_correlation():
    x = np.arange(30.0)
    y = x.copy()
    y[[0, 20]] = y[[20, 0]]
    found = rank_correlation(x, y)
    rho = stats.spearmanr(x, y).statistic
    error = math.sqrt((1 + rho**2 / 2) / 27)
    assert found.value == pytest.approx(rho)
    assert found.low == pytest.approx(math.tanh(math.atanh(rho) - 1.959964 * error), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(math.atanh(rho) + 1.959964 * error), abs=1e-6)
    # Four in order prove little, forty a lot; the sign turns the interval over.
    few, many = rank_correlation(x[:4], x[:4]), rank_correlation(x, x)
    assert (few.value, many.value) == pytest.approx((1, 1))
    assert few.low < 0 < 0.9 < many.low < 1
    turned = rank_correlation(x, -y)
    assert (turned.value, turned.low, turned.high) == pytest.approx((-found.value, -found.high, -found.low))
    assert rank_correlation(x[:3], x[:3]).low == -1
    assert not rank_correlation(x, np.ones(30)).known
    with_gaps = np.where(x < 25, x, np.nan)
    assert rank_correlation(with_gaps, y).kind == "of a rank correlation over 25 networks"


def test_notes(networks):
    other = network_quality(walks(classes=4, converged=np.zeros(32, bool)))
    text = str(rank_networks({**networks, "other": other}, {"other": 0.5, "noise 0.1": 0.6}, by="between"))
    assert "3, 4 classes" in text
    assert "less than 90 % of their walks arrived: other" in text
    assert "over 2 known accuracies" in text


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
