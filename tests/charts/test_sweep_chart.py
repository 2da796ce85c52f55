"""Charts of sweeps: what is drawn is what was measured, and users' words are data only."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import InputError, charts
from classay.charts.sweep import logarithmic

X, Y = load_iris(return_X_y=True)
ODD = "<b>tree</b> 'x' \\ {datum}"


@pytest.fixture(scope="module")
def along():
    return classay.sweep(
        DecisionTreeClassifier(), X, Y, "max_depth", [1, 2, 5], classay.Subsets(5), 2, executor=1, name=ODD
    )


def rows(chart):
    return next(iter(chart.to_dict()["datasets"].values()))


def test_lines_are_the_figures(along):
    drawn = rows(along.plot(kind="entropy"))
    found = {(row["label"], row["x"]): (row["value"], row["low"], row["high"]) for row in drawn}
    one = along.orientations[5].capacity
    assert found["capacity", 5] == (one.value, one.low, one.high)
    assert {label for label, _ in found} == {"expressivity", "capacity", "stochasticity"}
    drawn = rows(along.plot(kind="bias"))
    assert {row["label"] for row in drawn} == {f"{threshold} of 5 right" for threshold in range(1, 6)}
    assert {row["label"] for row in rows(along.plot(kind="accuracy"))} == {"training rows", "test points"}


def test_shares_are_of_what_is_possible_and_nothing_unknown_is_in_the_legend(along):
    drawn = {(row["label"], row["x"]): row["value"] for row in rows(along.plot(kind="shares"))}
    one = along.orientations[5]
    assert drawn["capacity", 5] == one.capacity.value / one.log2_labelings
    assert drawn["stability", 5] == along.stability(5).value
    once = classay.sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 2], classay.Subsets(5), 1, executor=1)
    text = json.dumps(once.plot(kind="entropy").to_dict())
    assert '"expressivity"' in text
    assert '"capacity"' not in text


def test_all_three_stand_beside_each_other(along):
    assert len(along.plot().to_dict()["hconcat"]) == 3
    with pytest.raises(InputError, match="kind"):
        along.plot(kind="bais")
    with pytest.raises(InputError, match="option"):
        along.plot(kind="bias", metric="capacity")
    with pytest.raises(InputError, match="a map needs two"):
        along.plot(kind="map")


def test_many_thresholds_are_thinned():
    found = classay.sweep(
        DecisionTreeClassifier(), X, Y, "max_depth", [1, 2], classay.Subsets(4), 2, holdout_size=20, executor=1
    )
    labels = {row["label"] for row in rows(found.plot(kind="bias"))}
    assert len(labels) == 7
    assert "20 of 20 right" in labels


def test_words_and_none_have_an_axis_in_their_order():
    found = classay.sweep(DecisionTreeClassifier(), X, Y, "max_depth", [None, 3, 1], classay.Subsets(4), 2, executor=1)
    spec = found.plot(kind="accuracy").to_dict()
    assert spec["layer"][0]["encoding"]["x"]["sort"] == ["None", "3", "1"]


def test_decades_have_a_logarithmic_axis(along):
    assert logarithmic((0.001, 0.01, 0.1, 1.0))
    assert logarithmic((1, 3, 10, 30, 100))
    assert not logarithmic(tuple(range(1, 201, 5)))
    assert not logarithmic((0, 1, 10, 100))
    assert not logarithmic((1, 100))
    assert "scale" in along.plot(kind="bias").to_dict()["layer"][0]["encoding"]["x"]


def test_two_parameters_make_a_map():
    found = classay.sweep(
        DecisionTreeClassifier(), X, Y, ("max_depth", "splitter"), ([1, 2], ["best", "random"]), classay.Subsets(4), 2,
        executor=1,
    )  # fmt: skip
    drawn = rows(found.plot(metric="stochasticity"))
    assert len(drawn) == 4
    at = next(row for row in drawn if (row["across"], row["down"]) == ("2", "random"))
    assert at["value"] == found.orientations[2, "random"].stochasticity.value
    drawn = rows(found.plot(kind="map", metric="stochasticity", plugin=True))
    at = next(row for row in drawn if (row["across"], row["down"]) == ("2", "random"))
    assert at["value"] == found.orientations[2, "random"].plugin.stochasticity.value
    with pytest.raises(InputError, match="test accuracy has no plain estimate"):
        found.plot(kind="map", plugin=True)
    with pytest.raises(InputError, match="kind='map'"):
        found.plot(kind="bias")
    with pytest.raises(InputError, match="metric"):
        found.plot(metric="kappa")


@pytest.fixture(scope="module")
def random_labels():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.integers(0, 3, 200)


def test_lower_limits_are_hollow_and_on_no_line(random_labels):
    found = classay.sweep(
        DecisionTreeClassifier(), *random_labels, "max_depth", [1, 5], classay.Subsets(12, 0.3), 2, executor=1
    )
    assert found.orientations[5].capacity.prefix
    chart = found.plot(kind="entropy").to_dict()
    by_name = chart["datasets"]
    _, line, points = chart["layer"]
    limits = {(row["label"], row["x"]) for row in by_name[points["data"]["name"]] if row["limit"]}
    assert ("capacity", 5) in limits
    joined = {(row["label"], row["x"]) for row in by_name[line["data"]["name"]]}
    assert joined
    assert not joined & limits
    hollow = points["encoding"]["fillOpacity"]["condition"]
    assert (hollow["test"], hollow["value"]) == ("datum.limit", 0)
    assert "Hollow: lower limits" in json.dumps(chart["title"])


def test_lower_limits_are_marked_in_a_map(random_labels):
    found = classay.sweep(
        DecisionTreeClassifier(), *random_labels, ("max_depth", "min_samples_leaf"), ([1, 5], [1, 2]),
        classay.Subsets(12, 0.3), 2, executor=1,
    )  # fmt: skip
    for row in rows(found.plot(metric="capacity")):
        one = found.orientations[int(row["across"]), int(row["down"])].capacity
        assert row["text"].startswith("≥ ") == bool(one.prefix)
    assert found.orientations[5, 1].capacity.prefix


def test_names_are_data_and_charts_can_be_saved(along, tmp_path):
    for kind in ("bias", "entropy", "accuracy"):
        chart = along.plot(kind=kind)
        text = json.dumps(chart.to_dict())
        assert "signal" not in text
        path = charts.save(chart, tmp_path / f"{kind}.svg")
        assert "<b>tree" not in path.read_text()
    assert np.isfinite([row["value"] for row in rows(along.plot(kind="bias"))]).all()


def test_plain_estimates_and_bounds_along_a_sweep(along):
    drawn = rows(along.plot(kind="entropy", plugin=True))
    found = {(row["label"], row["x"]): row["value"] for row in drawn}
    assert found["capacity", 5] == along.orientations[5].plugin.capacity.value
    found = {(row["label"], row["x"]): row["value"] for row in rows(along.plot(kind="bounds", threshold=3))}
    for value, one in along.orientations.items():
        assert found["tight upper bound", value] == one.bounds[2].expressivity_tight
        assert found["published upper bound", value] == one.bounds[2].expressivity_lauw
        plain = found["expressivity (plain)", value]
        assert found["lower bound", value] - 1e-9 <= plain <= found["tight upper bound", value] + 1e-9
    with pytest.raises(InputError, match="at most 5"):
        along.plot(kind="bounds", threshold=6)


def test_a_comparison_is_drawn_as_it_is(along):
    found = along.compare()
    drawn = {
        row["x"]: row for row in along.compare().plot().to_dict()["datasets"].values() for row in row if "from" in row
    }
    for value, one in found.difference.items():
        assert drawn[str(value)]["value"] == one.value
    assert drawn[str(found.best)]["label"] == "best"
