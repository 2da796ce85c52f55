"""Charts of orientation and kinship: valid, with the right numbers in them, whatever the learners are called."""

import dataclasses
import json

import altair as alt
import numpy as np
import pytest
from drawings import HOSTILE, drawn, rows_with, texts_of, titles

from classay import charts
from classay.expect import InputError
from classay.learner.orientation.bias import most_expressivity
from classay.learner.orientation.kinship import kinship
from classay.learner.orientation.orientation import orientation
from classay.learner.records.labelings import Labelings

POINTS = 40


def recorded(name="learner", *, right=0.8, subsets=12, refits=4, classes=2, deterministic=False, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(POINTS) % classes
    wrong = (truth + 1 + rng.integers(classes - 1, size=(subsets, 1, POINTS))) % classes
    by_data = np.where(rng.random((subsets, 1, POINTS)) < right, truth, wrong)
    answers = np.where(rng.random((subsets, refits, POINTS)) < 0.9, by_data, truth)
    return Labelings.from_arrays(answers, truth, name=name, deterministic=deterministic)


@pytest.fixture(scope="module")
def three():
    return [orientation(recorded(f"learner {n}", right=0.5 + 0.2 * n, seed=n), holdouts=30) for n in range(3)]


@pytest.fixture(scope="module")
def akin():
    records = {f"learner {n}": recorded(right=0.5 + 0.2 * n, seed=n) for n in range(3)}
    return kinship(records | {"twin": records["learner 2"]}, holdouts=30)


def every_chart(orientations, akin):
    return {
        "bias": charts.bias_chart(*orientations),
        "expressivity": charts.expressivity_chart(*orientations),
        "plane": charts.plane_chart(*orientations),
        "heatmap": charts.kinship_heatmap(akin),
        "map": charts.kinship_map(akin),
        "orientation": orientations[0].plot(),
    }


def test_bias_has_every_threshold_and_its_interval(three):
    rows = rows_with(charts.bias_chart(*three), "value", "threshold")
    assert len(rows) == 3 * 5
    for each in three:
        for threshold, estimate in each.bias.items():
            (row,) = [row for row in rows if (row["learner"], row["threshold"]) == (each.learner, threshold)]
            assert (row["value"], row["low"], row["high"]) == (estimate.value, estimate.low, estimate.high)
            assert abs(row["x"] - threshold) < 0.5


def test_bias_shows_what_is_possible(three):
    steps = rows_with(charts.bias_chart(*three), "least", "most")
    assert [step["x"] for step in steps] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert [step["least"] for step in steps[:-1]] == [bound.bias_low for bound in three[0].bounds]
    assert [step["most"] for step in steps[:-1]] == [bound.bias_high for bound in three[0].bounds]
    assert "as good as" in drawn(charts.bias_chart(three[0]))


def test_ticks_of_many_thresholds_are_few():
    chart = charts.bias_chart(orientation(recorded(), holdout_size=40, holdouts=5))
    ticks = [text for text in texts_of(chart) if text and text.isdigit() and text != "0"]
    assert ticks == ["1", "5", "10", "15", "20", "25", "30", "35", "40"]


def test_expressivity_does_not_add_up_lower_limits(three):
    assert all(each.capacity.prefix for each in three)
    parts = rows_with(charts.expressivity_chart(*three), "part", "from", "to")
    assert [(row["part"], row["to"]) for row in parts] == [("unknown split", each.expressivity.value) for each in three]


def test_expressivity_splits_into_capacity_and_stochasticity():
    three = [
        orientation(recorded(f"learner {n}", right=0.5 + 0.2 * n, subsets=60, refits=8, seed=n), holdouts=30)
        for n in range(3)
    ]
    assert not any(each.capacity.prefix for each in three)
    parts = rows_with(charts.expressivity_chart(*three), "part", "from", "to")
    for each in three:
        capacity, stochasticity = [row for row in parts if row["learner"] == each.learner]
        assert capacity["part"].startswith("capacity")
        assert stochasticity["part"].startswith("stochasticity")
        assert (capacity["from"], capacity["to"]) == (0, each.capacity.value)
        assert (stochasticity["from"], stochasticity["to"]) == (each.capacity.value, each.expressivity.value)
        assert stochasticity["to"] - stochasticity["from"] == pytest.approx(each.stochasticity.value)
        assert (capacity["most"], capacity["low"]) == (5.0, each.expressivity.low)
        assert capacity["high"] == each.expressivity.high


def test_expressivity_of_other_holdouts_may_be_compared(three):
    other = orientation(recorded("other", classes=4), holdout_size=3, holdouts=5)
    totals = {row["label"]: row["most"] for row in rows_with(charts.expressivity_chart(three[0], other), "most")}
    assert list(totals.values()) == [5.0, 6.0]


def test_unknown_stochasticity_is_not_drawn_as_zero():
    unknown = orientation(recorded("once", refits=1), holdouts=10)
    assert not unknown.stochasticity.known
    chart = charts.expressivity_chart(unknown)
    (row,) = rows_with(chart, "part", "from", "to")
    assert (row["part"], row["from"], row["to"]) == ("unknown split", 0, unknown.expressivity.value)
    assert row["stochasticity"].startswith("unknown")
    assert any("unknown split" in text for text in texts_of(chart) if text)
    plain = unknown.plugin.plot()
    assert {row["name"] for row in rows_with(plain, "value")} == {"expressivity"}
    assert texts_of(plain).count("unknown") == 2
    certain = orientation(recorded("certain", refits=1, deterministic=True), holdouts=10)
    _, stochasticity = rows_with(charts.expressivity_chart(certain), "part", "from", "to")
    assert stochasticity["from"] == stochasticity["to"]


def test_bound_is_above_every_learner(three):
    for threshold in range(1, 6):
        chart = charts.plane_chart(*three, threshold=threshold)
        curve = rows_with(chart, "tight", "lauw")
        bias = [point["x"] for point in curve]
        for each, point in zip(three, rows_with(chart, "left", "y"), strict=True):
            assert (point["x"], point["y"]) == (each.bias[threshold].value, each.plugin.expressivity.value)
            chance = each.bounds[threshold - 1].chance
            assert point["y"] <= most_expressivity(point["x"] + chance, threshold, 5, 2) + 1e-9
            # The curve is drawn in straight pieces, a little beneath the bound.
            assert point["y"] <= np.interp(point["x"], bias, [c["tight"] for c in curve]) + 0.01
            assert point["least"] == each.bounds[threshold - 1].expressivity_least
            assert point["least"] <= point["y"] + 1e-9
        assert all(point["lauw"] >= point["tight"] - 1e-9 for point in curve)
        assert (bias[0], bias[-1]) == pytest.approx((-chance, 1 - chance))


def test_a_learner_that_never_varies_is_within_what_is_drawn():
    """Its entropy is 0 at every bias; the region was drawn above it."""
    constant = orientation(Labelings.from_arrays(np.ones((10, 2, 30), dtype=int), np.arange(30) % 3 > 0))
    (point,) = rows_with(charts.plane_chart(constant), "left", "y")
    curve = rows_with(charts.plane_chart(constant), "tight", "none")
    assert point["y"] == 0 == point["least"] == min(row["none"] for row in curve)


def test_the_plane_of_capacity_and_its_threshold(three):
    points = rows_with(charts.plane_chart(*three, figure="capacity"), "left", "y")
    for each, point in zip(three, points):
        assert (point["x"], point["y"]) == (each.bias[4].value, each.plugin.capacity.value)
        assert each.bounds[3].capacity_least <= point["y"] + 1e-9
    for options, words in (({"figure": "accuracy"}, "capacity"), ({"threshold": 6}, "at most 5"),
                           ({"threshold": 0}, "at least 1")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            charts.plane_chart(*three, **options)


def test_plain_estimates_are_an_option(three):
    totals = {row["label"]: row for row in rows_with(charts.expressivity_chart(*three, plugin=True), "most", "low")}
    for each, row in zip(three, totals.values(), strict=True):
        assert row["figure"].startswith(f"{each.plugin.expressivity.value:.2f}")
    assert "few refits" in json.dumps(three[0].plot(kind="expressivity", plugin=True).to_dict())


def test_plain_estimates_by_size_are_an_option():
    record = recorded()
    curve = orientation(record, holdout_size=(1, 3), holdouts=10)
    chosen = {(row["label"], row["x"]): row["value"] for row in rows_with(curve.plot(plugin=True), "label", "x")}
    plain = orientation(record, holdout_size=3, holdouts=10).plugin
    assert chosen["capacity", 3] == pytest.approx(plain.capacity.value)
    frame = curve.to_frame().set_index(["figure", "points"])
    assert frame.loc[("plugin_capacity", 3), "value"] == pytest.approx(plain.capacity.value)
    drawn(curve.plot())
    with pytest.raises(InputError, match="has no option 'plugged'; it has 'plugin'"):
        curve.plot(plugged=True)


@pytest.mark.parametrize("draw", [charts.plane_chart, charts.bias_chart])
def test_learners_of_other_holdouts_are_refused(three, draw):
    with pytest.raises(InputError, match="holdouts of 3 points"):
        draw(three[0], orientation(recorded(), holdout_size=3, holdouts=5))
    with pytest.raises(InputError, match="3 classes"):
        draw(three[0], orientation(recorded(classes=3), holdouts=5))
    with pytest.raises(InputError, match="nothing to draw"):
        draw()
    with pytest.raises(InputError, match="Got dict; expected what"):
        draw({})


@pytest.mark.slow
def test_many_learners_have_a_legend_and_not_a_thicket_of_names():
    many = [orientation(recorded(f"learner {n}", seed=n), holdouts=5) for n in range(12)]
    chart = charts.plane_chart(*many)
    assert not rows_with(chart, "to_x", "to_y")
    assert "learner 11" in texts_of(chart)


def test_kinds_and_options(three, akin):
    assert isinstance(three[0].plot(), alt.HConcatChart)
    for kind in ("bias", "expressivity", "plane"):
        assert isinstance(three[0].plot(kind=kind), alt.LayerChart)
    assert rows_with(three[0].plot(kind="plane", threshold=2), "left")[0]["x"] == three[0].bias[2].value
    assert isinstance(akin.plot(kind="map"), alt.LayerChart)
    for result, options, words in (
        (three[0], {"kind": "plan"}, "Did you mean plane"),
        (three[0], {"kind": "bias", "threshold": 3}, "chart 'bias' has no option 'threshold'"),
        (three[0].plugin, {"kind": "bias"}, "chart of PluginOrientation takes no options; kind was given"),
        (akin, {"kinds": "map"}, r"has no option 'kinds'.*Did you mean kind"),
        (akin, {"distance": "cosine"}, "`distance` is 'cosine'"),
    ):
        with pytest.raises(InputError, match=words):
            result.plot(**options)


# Kinship.


def test_heatmap_has_every_pair_and_marks_chance(akin):
    for distance in ("jensen_shannon", "euclidean", "angle"):
        cells = rows_with(charts.kinship_heatmap(akin, distance), "value", "across")
        for a, name in enumerate(akin.names):
            for b, other in enumerate(akin.names):
                values = {cell["value"] for cell in cells if (cell["down"], cell["across"]) == (name, other)}
                assert values == {getattr(akin, distance)[a, b]}
    (cell, *_) = [cell for cell in cells if {cell["down"], cell["across"]} == {"learner 2", "twin"}]
    assert cell["doubtful"] is True
    assert cell["text"] == "(0)"
    assert "In brackets" in titles(charts.kinship_heatmap(akin))[1]


def test_heatmap_puts_akin_ones_together(akin):
    order = charts.kinship_heatmap(akin).to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert sorted(order) == sorted(akin.names)
    assert abs(order.index("twin") - order.index("learner 2")) == 1


@pytest.mark.slow
def test_plain_distances_of_kinship_are_an_option(akin):
    """The paper's distances, in every chart; what is no more than chance is known of the debiased ones."""
    plain = akin.plain["jensen_shannon"]
    cells = rows_with(akin.plot(kind="heatmap", plugin=True), "value", "across")
    places = {name: place for place, name in enumerate(akin.names)}
    for cell in cells:
        assert cell["value"] == plain[places[cell["down"]], places[cell["across"]]]
    assert {cell["doubtful"] for cell in cells if {cell["down"], cell["across"]} == {"learner 2", "twin"}} == {True}
    shown = akin.undebiased()
    joins = rows_with(akin.plot(kind="dendrogram", plugin=True), "join", "x")
    assert max(row["x"] for row in joins) == pytest.approx(shown.linkage[:, 2].max())
    assert shown.linkage[:, 2].max() > akin.linkage[:, 2].max()
    on_map(akin.plot(kind="map", plugin=True), shown.coordinates)
    for kind in ("both", "heatmap", "map", "dendrogram"):
        assert "of the paper" in json.dumps(akin.plot(kind=kind, plugin=True).to_dict()).replace('", "', " ")
        drawn(akin.plot(kind=kind, plugin=True))


def on_map(chart, coordinates):
    points = np.array([[point["x"], point["y"]] for point in rows_with(chart, "learner", "x", "y")])
    np.testing.assert_allclose(points - points[0], coordinates - coordinates[0], atol=1e-12)
    return points


def test_map_keeps_distances_and_proportions(akin):
    chart = charts.kinship_map(akin)
    spec = chart.to_dict()
    assert spec["width"] == spec["height"]
    x, y = (spec["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in "xy")
    assert x == y
    assert np.abs(on_map(chart, akin.coordinates)).max() < x[1]
    assert f"{akin.kept:.0%}" in titles(chart)[1]
    record = recorded()
    drawn(kinship({"a": record, "b": record}, holdouts=5).plot())  # all alike


def test_a_dendrogram_joins_at_the_linkage():
    rng = np.random.default_rng(0)
    truth = np.arange(40) % 2
    kin = kinship(
        {
            f"<{name}>": Labelings.from_arrays(np.where(rng.random((20, 2, 40)) < flip, 1 - truth, truth), truth)
            for name, flip in (("a", 0.05), ("b", 0.05), ("c", 0.5))
        }
    )
    chart = kin.plot(kind="dendrogram")
    joins = rows_with(chart, "join", "corner")
    assert sorted({row["x"] for row in joins if row["corner"] == 1}) == pytest.approx(sorted(kin.linkage[:, 2]))
    assert sorted(row["text"] for row in rows_with(chart, "x", "text") if row["x"] == 0) == ["<a>", "<b>", "<c>"]


def test_chance_that_is_unknown_tells_nothing_apart(akin):
    lone = dataclasses.replace(akin, floor={name: np.full_like(akin.angle, np.nan) for name in akin.floor})
    cells = [cell for cell in rows_with(lone.plot(kind="heatmap"), "value", "chance") if cell["down"] != cell["across"]]
    assert {cell["chance"] for cell in cells} == {"unknown"}
    assert all(cell["doubtful"] for cell in cells)
    assert not any(row["clear"] for row in rows_with(lone.plot(kind="dendrogram"), "join", "corner"))


# Names that are code.


@pytest.mark.slow
def test_hostile_names_are_only_text(tmp_path):
    names = [*HOSTILE[:-1], "half a letter: \ud800"]
    records = [recorded(name, right=0.5 + n / 25, seed=n) for n, name in enumerate(names)]
    orientations = [orientation(record, holdouts=10) for record in records]
    for name, chart in every_chart(orientations, kinship(dict(zip(names, records)), holdouts=5)).items():
        drawn(chart)
        for encoding in encodings(json.loads(chart.to_json(validate=False))):
            assert not any(odd in json.dumps(encoding) for odd in ("alert", "datum.value + ' ' + $", "a.b[0]")), name
    assert {"<script>alert(1)</script>", "a.b[0]['c']"} <= set(texts_of(charts.expressivity_chart(*orientations)))
    bias = rows_with(charts.bias_chart(*orientations), "learner")
    assert {row["learner"] for row in bias if "xx" in row["label"]} == set(HOSTILE[6:8])
    page = charts.save(charts.bias_chart(*orientations[:2]), tmp_path / "chart.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 2
    assert "alert(1)" in page


def encodings(spec):
    """All encodings but the domains of their scales, which hold names."""
    if isinstance(spec, list):
        for part in spec:
            yield from encodings(part)
    elif isinstance(spec, dict):
        for channel in spec.get("encoding", {}).values():
            if isinstance(channel, dict):
                yield {key: value for key, value in channel.items() if key != "scale"}
        for key, part in spec.items():
            if key not in ("encoding", "datasets"):
                yield from encodings(part)
