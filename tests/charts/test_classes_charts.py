"""Charts of curves, decoders, information and identification: valid, with the right numbers in them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from drawings import drawn, rows_with

from classay import charts
from classay.charts.curve import AHEAD, LARGE, MOST_SIZES, _ticks, accuracy_chart, drawn_sizes
from classay.classes.curve.curve import accuracy_curve
from classay.classes.extrapolate.extrapolate import extrapolate
from classay.classes.identify.identify import identify
from classay.classes.information.information import information
from classay.classes.ranks.ranks import Ranks
from classay.classes.ranks.scores import Retrained
from classay.expect import InputError
from classay.intervals import Estimate

HOSTILE = ["<script>alert(1)</script>", "datum.value + ${x}\n\x00", "y" * 5000, ""]


def scores(lead=2.0, n_classes=30, seed=0):
    y = np.arange(3 * n_classes) % n_classes
    return np.random.default_rng(seed).normal(size=(y.size, n_classes)) + lead * np.eye(n_classes)[y], y


def curve(lead=2.0, n_classes=30, seed=0, name="scores"):
    table, y = scores(lead, n_classes, seed)
    return accuracy_curve(Ranks.from_scores(table, y, marginal=True, name=name))


def test_a_curve_is_drawn_as_it_is():
    made = curve()
    chart = made.plot()
    seen = [row for row in rows_with(chart, "what", "k") if row["what"] == "observed"]
    unique = {row["k"]: row for row in seen}
    assert set(unique) == set(range(1, 31))
    assert unique[10]["value"] == made.accuracy[9]
    assert (unique[10]["low"], unique[10]["high"]) == (made.low[9], made.high[9])
    guessing = {row["k"]: row["value"] for row in rows_with(chart, "k") if "what" not in row}
    assert guessing[20] == 1 / 20
    text = drawn(chart)
    assert f"{made.accuracy[-1]:.0%} right among 30 classes" in text
    assert "extrapolated" not in text


def test_a_forecast_has_its_path_its_figures_and_its_back_tests():
    made = curve(n_classes=40)
    found = extrapolate(made, [20, 100, 1000])
    chart = found.plot()
    beyond = {row["k"]: row for row in rows_with(chart, "what", "k") if row["what"] == AHEAD}
    assert set(found.path_k) <= set(beyond)
    assert beyond[1000]["value"] == found.estimates[2].value
    points = {row["what"]: row for row in rows_with(chart, "what", "k") if row["what"].startswith("predicted from")}
    assert {row["value"] for row in points.values()} == {test.foreseen.mean() for test in found.back_tests}
    text = drawn(chart)
    for words in ("extrapolated", "predicted from 20", "40 observed", f"{found.estimates[1].value:.0%}"):
        assert words in text
    drawn(extrapolate(made, [20]).plot())


def test_what_is_not_identified_has_a_band_and_no_line():
    found = extrapolate(accuracy_curve(np.eye(20), np.arange(20)), [1000])
    chart = found.plot()
    beyond = [row for row in rows_with(chart, "what", "k") if row["what"] == AHEAD and row["k"] > 20]
    assert beyond
    assert not any("value" in row for row in beyond)
    assert "are too few to extrapolate" in drawn(chart)


def test_a_path_that_begins_above_the_curve_is_not_joined_to_it():
    made = curve()
    above, below = (
        accuracy_chart({"a": made}, "t", "s", ahead={"a": [(40, Estimate(p, p, p))]})
        for p in (made.accuracy[-1] + 0.01, 0.0)
    )
    for chart, start in ((above, 40), (below, 30)):
        assert min(row["k"] for row in rows_with(chart, "what", "k") if row["what"] == AHEAD) == start


def test_retrained_learners_are_points():
    again = Retrained(5, Estimate(0.7, 0.6, 0.8), np.array([0.6, 0.8]))
    made = dataclasses.replace(curve(), retrained=(again,))
    chart = made.plot()
    points = [row for row in rows_with(chart, "what", "k") if row["what"] == "refitted on fewer classes"]
    assert {(row["k"], row["value"]) for row in points} == {(5, 0.7)}
    assert "refitted" in drawn(chart)


def test_names_are_data_and_never_code():
    made = {name: curve(name=name, n_classes=8) for name in HOSTILE}
    for chart in (
        charts.curves_chart(made),
        information(made).plot(),
        made[HOSTILE[0]].plot(),
        extrapolate(made[HOSTILE[1]], [20]).plot(),
    ):
        text = drawn(chart)
        assert "<script>" not in text
        assert "\x00" not in text


def test_several_curves_have_a_legend_and_their_own_ends():
    made = {"strong": curve(3), "weak": curve(1, 20)}
    chart = charts.curves_chart(made, {"weak": [(500, Estimate(0.1, 0.05, 0.2))]})
    by_name = {name: {row["k"] for row in rows_with(chart, "decoder", "k") if row["decoder"] == name} for name in made}
    assert max(by_name["strong"]) == 30
    assert max(by_name["weak"]) == 500
    text = drawn(chart)
    for words in ("strong is most accurate", "among 20 classes", "Dashed: extrapolated", "weak"):
        assert words in text
    with pytest.raises(InputError, match="nothing to draw"):
        charts.curves_chart({})


def test_decoders_are_in_order_with_their_bits():
    found = information({"weak": curve(1), "strong": curve(3), "middle": curve(2)})
    chart = found.plot()
    rows = rows_with(chart, "figure", "label")
    assert [row["label"] for row in rows[:3]] == ["strong", "middle", "weak"]
    assert rows[0]["value"] == found.decoders[0].information.implied.value
    sure = {(row["label"], row["what"]): row["value"] for row in rows_with(chart, "what", "label")}
    assert sure["strong", "guaranteed at least"] == found.decoders[0].information.bound.low
    drawn(chart)


def test_information_with_its_bounds():
    found = information(curve())
    chart = found.plot()
    (row,) = {row["figure"]: row for row in rows_with(chart, "figure", "label")}.values()
    assert (row["value"], row["low"]) == (found.implied.value, found.implied.low)
    sure = {row["what"]: row["value"] for row in rows_with(chart, "what", "label")}
    assert sure == {"guaranteed at least": found.bound.low, "Fano’s bound": found.fano.low}
    assert f"about {found.implied.value:.2g} bits" in drawn(chart)


def test_information_that_is_not_identified_is_open_to_the_right():
    made = accuracy_curve(np.eye(16), np.arange(16))
    chart = information(made).plot()
    row = rows_with(chart, "figure", "label")[0]
    assert row["figure"].startswith("at least")
    assert all(math.isfinite(row["high"]) for row in rows_with(chart, "high"))
    drawn(chart)
    drawn(information({"a": made, "b": curve(1)}).plot())


def test_risk_and_the_share_of_classes_beaten_are_a_line_with_a_band():
    table, y = scores()
    made = accuracy_curve(table, y)
    found = made.risk(1 - np.eye(30), table)
    assert {row["k"]: row["value"] for row in rows_with(found.plot(), "k", "value")}[30] == found.risk[-1]
    assert "expected cost" in drawn(found.plot())
    distribution = made.u_distribution()
    values = [row["value"] for row in rows_with(distribution.plot(), "at", "value")][:81]
    assert values == distribution.to_frame()["value"].tolist()
    assert "at least half right with up to" in drawn(distribution.plot())


def test_identification():
    rng = np.random.default_rng(0)
    stimuli = rng.normal(size=(40, 3))
    text = drawn(identify(stimuli, stimuli + rng.normal(size=(40, 3))).plot())
    assert "the right one of 8 stimuli" in text
    assert "Information about the stimulus" in text


def in_words(tick):
    """As the axis names it, which a browser does."""
    unit, value = next(((unit, value) for unit, value in reversed(LARGE) if tick >= value), ("", 1))
    return f"{tick / value:,.0f} {unit}".strip()


@pytest.mark.parametrize("most", [2, 7, 100, 1500, 10**4, 10**6, 10**12])
def test_named_ticks_do_not_touch(most):
    every, named = _ticks(most, 460)
    assert set(named) <= set(every)
    assert all(1 <= tick <= most for tick in every)
    places = [460 * math.log10(tick) / math.log10(most) for tick in named]
    widths = [6 * len(in_words(tick)) for tick in named]
    for (place, width), (following, its_width) in zip(zip(places, widths), zip(places[1:], widths[1:])):
        assert following - place > (width + its_width) / 2


def test_large_ticks_are_words():
    made = curve()
    text = drawn(accuracy_chart({"a": made}, "a title", ahead={"a": [(10**9, Estimate(0.01, 0.0, 0.02))]}))
    for words in (">1,000<", ">1 million<", ">1 billion<"):
        assert words in text


def test_drawn_sizes_are_few_and_have_both_ends():
    for last in (1, 2, 50, 10**5, 10**12):
        found = drawn_sizes(1, last)
        assert found[0] == 1
        assert found[-1] == last
        assert len(found) <= MOST_SIZES
        assert found == sorted(set(found))
