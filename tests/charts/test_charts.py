"""Charts: valid, with the right numbers in them, whatever the learners are called."""

import dataclasses
import json
import math
import xml.etree.ElementTree as ElementTree

import altair as alt
import numpy as np
import pytest
import vl_convert

from classay import charts
from classay.charts.style.placement import apart, place
from classay.charts.style.theme import LONGEST, columns, cut, labels, printable
from classay.expect import InputError
from classay.intervals import Estimate
from classay.learner.orientation.bias import most_expressivity
from classay.learner.orientation.kinship import kinship
from classay.learner.orientation.orientation import orientation
from classay.learner.records.labelings import Labelings

POINTS = 40
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    """it's "quoted" \\ and `ticked`""",
    "a.b[0]['c']",
    "datum.value + ' ' + ${x}",
    "🌲 forest 👨‍👩‍👧 森林",
    "x" * 10_000,
    "x" * 10_000,
    "line\nbreak \x00 \x1b[31m \ud800 \u202e end",
    "",
]


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


def rows_with(chart, *fields):
    """The rows of all the chart's data sets that have these fields."""
    spec = chart.to_dict(validate=False)
    return [row for rows in spec["datasets"].values() for row in rows if set(fields) <= set(row)]


def svg(chart):
    text = vl_convert.vegalite_to_svg(chart.to_json(validate=False), vl_version=alt.SCHEMA_VERSION[1:4])
    ElementTree.fromstring(text)  # well formed
    return text


def text_of(drawing):
    return [element.text for element in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]


def every_chart(orientations, akin):
    first = orientations[0]
    return {
        "bias": charts.bias_chart(*orientations),
        "expressivity": charts.expressivity_chart(*orientations),
        "plane": charts.plane_chart(*orientations),
        "heatmap": charts.kinship_heatmap(akin),
        "map": charts.kinship_map(akin),
        "orientation": first.plot(),
        "plain": first.plugin.plot(),
        "kinship": akin.plot(),
    }


@pytest.mark.slow
def test_every_chart_is_valid_and_drawn(three, akin):
    for name, chart in every_chart(three, akin).items():
        assert isinstance(chart, alt.TopLevelMixin), name
        chart.to_dict(validate=True)
        assert "NaN" not in chart.to_json(validate=False), name
        assert len(svg(chart)) > 3000, name


def test_bias_has_every_threshold_and_its_interval(three):
    rows = rows_with(charts.bias_chart(*three), "bias", "threshold")
    assert len(rows) == 3 * 5
    for each in three:
        for threshold, estimate in each.bias.items():
            (row,) = [row for row in rows if (row["learner"], row["threshold"]) == (each.learner, threshold)]
            assert (row["bias"], row["low"], row["high"]) == (estimate.value, estimate.low, estimate.high)
            assert abs(row["x"] - threshold) < 0.5


def test_bias_shows_what_is_possible(three):
    steps = rows_with(charts.bias_chart(*three), "least", "most")
    assert [step["x"] for step in steps] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert [step["least"] for step in steps[:-1]] == [bound.bias_low for bound in three[0].bounds]
    assert [step["most"] for step in steps[:-1]] == [bound.bias_high for bound in three[0].bounds]
    assert "as good as" in svg(charts.bias_chart(three[0]))


def test_ticks_of_many_thresholds_are_few():
    chart = charts.bias_chart(orientation(recorded(), holdout_size=40, holdouts=5))
    numbers = [text for text in text_of(svg(chart)) if text and text.isdigit() and text != "0"]
    assert numbers == ["1", "5", "10", "15", "20", "25", "30", "35", "40"]


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
    chart = charts.expressivity_chart(*three)
    parts = rows_with(chart, "part", "from", "to")
    for each in three:
        capacity, stochasticity = [row for row in parts if row["learner"] == each.learner]
        assert capacity["part"].startswith("capacity")
        assert stochasticity["part"].startswith("stochasticity")
        assert (capacity["from"], capacity["to"]) == (0, each.capacity.value)
        assert (stochasticity["from"], stochasticity["to"]) == (each.capacity.value, each.expressivity.value)
        assert stochasticity["to"] - stochasticity["from"] == pytest.approx(each.stochasticity.value)
    totals = rows_with(chart, "most", "low", "high")
    assert [row["most"] for row in totals] == [5.0] * 3
    assert [row["low"] for row in totals] == [each.expressivity.low for each in three]
    assert [row["high"] for row in totals] == [each.expressivity.high for each in three]


def test_expressivity_of_other_holdouts_may_be_compared(three):
    other = orientation(recorded("other", classes=4), holdout_size=3, holdouts=5)
    totals = rows_with(charts.expressivity_chart(three[0], other), "most", "low")
    assert [row["most"] for row in totals] == [5.0, 6.0]


def test_unknown_stochasticity_is_not_drawn_as_zero():
    unknown = orientation(recorded("once", refits=1), holdouts=10)
    assert not unknown.stochasticity.known
    chart = charts.expressivity_chart(unknown)
    (row,) = rows_with(chart, "part", "from", "to")
    assert row["part"] == "unknown split"
    assert (row["from"], row["to"]) == (0, unknown.expressivity.value)
    assert row["stochasticity"].startswith("unknown")
    assert any("unknown split" in text for text in text_of(svg(chart)) if text)
    plain = unknown.plugin.plot()
    assert {row["name"] for row in rows_with(plain, "value")} == {"expressivity"}
    assert text_of(svg(plain)).count("unknown") == 2


def test_known_zero_stochasticity_is_drawn_as_zero():
    certain = orientation(recorded("certain", refits=1, deterministic=True), holdouts=10)
    _, stochasticity = rows_with(charts.expressivity_chart(certain), "part", "from", "to")
    assert stochasticity["from"] == stochasticity["to"]


def test_bound_is_above_every_learner(three):
    for threshold in range(1, 6):
        chart = charts.plane_chart(*three, threshold=threshold)
        curve = rows_with(chart, "tight", "lauw")
        bias = [point["bias"] for point in curve]
        points = rows_with(chart, "left", "y")
        assert len(points) == 3
        for each, point in zip(three, points):
            assert (point["x"], point["y"]) == (
                each.bias[threshold].value,
                each.plugin.expressivity.value,
            )
            chance = each.bounds[threshold - 1].chance
            assert point["y"] <= most_expressivity(point["x"] + chance, threshold, 5, 2) + 1e-9
            # The curve is drawn in straight pieces, a little beneath the bound.
            assert point["y"] <= np.interp(point["x"], bias, [c["tight"] for c in curve]) + 0.01
            assert point["least"] == each.bounds[threshold - 1].expressivity_least
            assert point["least"] <= point["y"] + 1e-9
        assert all(point["lauw"] >= point["tight"] - 1e-9 for point in curve)
        assert curve[0]["bias"] == pytest.approx(-chance)
        assert curve[-1]["bias"] == pytest.approx(1 - chance)


def test_a_learner_that_never_varies_is_within_what_is_drawn():
    """Its entropy is 0 at every bias; the region was drawn above it."""
    labels = np.ones((10, 2, 30), dtype=int)
    constant = orientation(Labelings.from_arrays(labels, np.arange(30) % 3 > 0))
    (point,) = rows_with(charts.plane_chart(constant), "left", "y")
    curve = rows_with(charts.plane_chart(constant), "tight", "none")
    assert point["y"] == 0 == point["least"] == min(row["none"] for row in curve)


def test_the_plane_of_capacity(three):
    points = rows_with(charts.plane_chart(*three, figure="capacity"), "left", "y")
    for each, point in zip(three, points):
        assert point["y"] == each.plugin.capacity.value
        assert each.bounds[3].capacity_least <= point["y"] + 1e-9
    with pytest.raises(InputError, match="capacity"):
        charts.plane_chart(*three, figure="accuracy")


def test_plain_estimates_are_an_option(three):
    totals = rows_with(charts.expressivity_chart(*three, plugin=True), "most", "low")
    for each, row in zip(three, totals):
        assert row["figure"].startswith(f"{each.plugin.expressivity.value:.2f}")
    assert "few refits" in json.dumps(three[0].plot(kind="expressivity", plugin=True).to_dict())


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
    # What chance gives is not known: no join is above it, as in the heatmap.
    unknown = dataclasses.replace(kin, floor={name: np.full((3, 3), np.nan) for name in kin.floor})
    assert not any(row["clear"] for row in rows_with(unknown.plot(kind="dendrogram"), "join", "corner"))


def test_plane_is_at_four_of_five_unless_told(three):
    points = rows_with(charts.plane_chart(*three), "left", "y")
    assert [point["x"] for point in points] == [each.bias[4].value for each in three]
    with pytest.raises(InputError, match="at most 5"):
        charts.plane_chart(*three, threshold=6)
    with pytest.raises(InputError, match="at least 1"):
        charts.plane_chart(*three, threshold=0)


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


def test_heatmap_has_every_pair_and_marks_chance(akin):
    for distance in ("jensen_shannon", "euclidean", "angle"):
        cells = rows_with(charts.kinship_heatmap(akin, distance), "value", "other")
        for a, name in enumerate(akin.names):
            for b, other in enumerate(akin.names):
                found = [cell for cell in cells if (cell["learner"], cell["other"]) == (name, other)]
                assert {cell["value"] for cell in found} == {getattr(akin, distance)[a, b]}
    (cell, *_) = [cell for cell in cells if {cell["learner"], cell["other"]} == {"learner 2", "twin"}]
    assert cell["clear"] is False
    assert cell["text"] == "(0)"
    subtitle = " ".join(charts.kinship_heatmap(akin).to_dict()["title"]["subtitle"])
    assert "In brackets" in subtitle


def test_heatmap_puts_akin_ones_together(akin):
    spec = charts.kinship_heatmap(akin).to_dict()
    order = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert sorted(order) == sorted(akin.names)
    assert abs(order.index("twin") - order.index("learner 2")) == 1


@pytest.mark.slow
def test_plain_distances_of_kinship_are_an_option(akin):
    """The paper's distances, in every chart; what is no more than chance is known of the debiased ones."""
    plain = akin.plain["jensen_shannon"]
    cells = rows_with(akin.plot(kind="heatmap", plugin=True), "value", "other")
    places = {name: place for place, name in enumerate(akin.names)}
    for cell in cells:
        assert cell["value"] == plain[places[cell["learner"]], places[cell["other"]]]
    assert {cell["clear"] for cell in cells if {cell["learner"], cell["other"]} == {"learner 2", "twin"}} == {False}
    shown = akin.undebiased()
    joins = rows_with(akin.plot(kind="dendrogram", plugin=True), "join", "x")
    assert max(row["x"] for row in joins) == pytest.approx(shown.linkage[:, 2].max())
    assert shown.linkage[:, 2].max() > akin.linkage[:, 2].max()
    drawn = np.array(
        [[point["x"], point["y"]] for point in rows_with(akin.plot(kind="map", plugin=True), "learner", "x", "y")]
    )
    np.testing.assert_allclose(drawn - drawn[0], shown.coordinates - shown.coordinates[0], atol=1e-12)
    for kind in ("both", "heatmap", "map", "dendrogram"):
        assert "of the paper" in json.dumps(akin.plot(kind=kind, plugin=True).to_dict()).replace('", "', " ")
        svg(akin.plot(kind=kind, plugin=True))


def test_plain_estimates_by_size_are_an_option():
    record = recorded()
    curve = orientation(record, holdout_size=(1, 3), holdouts=10)
    drawn = rows_with(curve.plot(plugin=True), "label", "x", "value")
    chosen = {(row["label"], row["x"]): row["value"] for row in drawn}
    plain = orientation(record, holdout_size=3, holdouts=10).plugin
    assert chosen["capacity", 3] == pytest.approx(plain.capacity.value)
    frame = curve.to_frame().set_index(["figure", "points"])
    assert frame.loc[("plugin_capacity", 3), "value"] == pytest.approx(plain.capacity.value)
    svg(curve.plot())
    with pytest.raises(InputError, match="has no option 'plugged'; it has 'plugin'"):
        curve.plot(plugged=True)


def test_floor_that_is_unknown_tells_nothing_apart(akin):
    lone = dataclasses.replace(akin, floor={name: np.full_like(akin.angle, np.nan) for name in akin.floor})
    cells = rows_with(lone.plot(kind="heatmap"), "value", "chance")
    assert {cell["chance"] for cell in cells} == {"unknown"}
    assert not any(cell["clear"] for cell in cells)


def test_map_keeps_distances_and_proportions(akin):
    chart = charts.kinship_map(akin)
    spec = chart.to_dict()
    assert spec["width"] == spec["height"]
    points = rows_with(chart, "learner", "x", "y")
    drawn = np.array([[point["x"], point["y"]] for point in points])
    np.testing.assert_allclose(drawn - drawn[0], akin.coordinates - akin.coordinates[0], atol=1e-12)
    x, y = (spec["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in "xy")
    assert x == y
    assert np.abs(drawn).max() < x[1]
    assert f"{akin.kept:.0%}" in " ".join(spec["title"]["subtitle"])


def test_learners_all_alike_have_a_map():
    record = recorded()
    svg(kinship({"a": record, "b": record}, holdouts=5).plot())


@pytest.mark.slow
def test_hostile_names_are_only_text(tmp_path):
    records = [recorded(name, right=0.5 + n / 25, seed=n) for n, name in enumerate(HOSTILE)]
    orientations = [orientation(record, holdouts=10) for record in records]
    akin = kinship(dict(zip(HOSTILE, records)), holdouts=5)
    parts = every_chart(orientations, akin)
    for name in ("bias", "expressivity", "plane", "heatmap", "map", "orientation"):
        chart = parts[name]
        spec = json.loads(chart.to_json(validate=False))
        json.dumps(spec).encode("utf-8")
        drawing = svg(chart)
        assert "<script" not in drawing, name
        assert "<img" not in drawing, name
        for encoding in encodings(spec):
            assert not any(odd in json.dumps(encoding) for odd in ("alert", "datum.value + ' ' + $", "a.b[0]")), name
    drawing = text_of(svg(charts.expressivity_chart(*orientations)))
    assert "<script>alert(1)</script>" in drawing
    assert "a.b[0]['c']" in drawing
    (whole,) = {
        row["learner"] for row in rows_with(charts.bias_chart(*orientations), "learner") if "xx" in row["label"]
    }
    assert whole == "x" * 10_000
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


def test_labels_are_short_printable_and_unlike():
    found = labels(HOSTILE + HOSTILE)
    assert len(set(found)) == 2 * len(HOSTILE)
    assert all(columns(label) <= LONGEST + 2 for label in found)
    assert all(letter.isprintable() or letter == "\u200d" for label in found for letter in label)
    assert cut("short") == "short"
    assert columns(cut("森" * 100)) <= LONGEST
    assert printable("\n") == "(no name)"


def test_colours_go_by_order_of_appearance(three):
    spec = charts.bias_chart(*three).to_dict()
    scales = [layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert all(scale["domain"] == [each.learner for each in three] for scale in scales)
    alone = charts.bias_chart(three[0]).to_dict()
    (first,) = {
        layer["encoding"]["color"]["scale"]["range"][0] for layer in alone["layer"] if "color" in layer["encoding"]
    }
    assert first == scales[0]["range"][0]


@pytest.mark.slow
def test_many_learners_have_a_legend_and_not_a_thicket_of_names():
    many = [orientation(recorded(f"learner {n}", seed=n), holdouts=5) for n in range(12)]
    chart = charts.plane_chart(*many)
    assert not rows_with(chart, "to_x", "to_y")
    assert "learner 11" in text_of(svg(chart))


def test_intervals_without_end_are_drawn_within_what_is_possible():
    single = orientation(recorded(), holdout_size=2, holdouts=1)
    assert math.isinf(single.plugin.expressivity.high)
    (point,) = rows_with(single.plot(kind="plane"), "left", "y")
    assert (point["low"], point["high"]) == (0.0, 2.0)
    svg(single.plugin.plot())


def test_kinds_and_options(three, akin):
    assert isinstance(three[0].plot(), alt.HConcatChart)
    for kind in ("bias", "expressivity", "plane"):
        assert isinstance(three[0].plot(kind=kind), alt.LayerChart)
    assert rows_with(three[0].plot(kind="plane", threshold=2), "left")[0]["x"] == three[0].bias[2].value
    assert isinstance(akin.plot(kind="map"), alt.LayerChart)
    with pytest.raises(InputError, match="Did you mean plane"):
        three[0].plot(kind="plan")
    with pytest.raises(InputError, match="chart 'bias' has no option 'threshold'"):
        three[0].plot(kind="bias", threshold=3)
    with pytest.raises(InputError, match=r"has no option 'kinds'.*Did you mean kind"):
        akin.plot(kinds="map")
    with pytest.raises(InputError, match="`distance` is 'cosine'"):
        akin.plot(distance="cosine")
    with pytest.raises(InputError, match="chart of PluginOrientation takes no options; kind was given"):
        three[0].plugin.plot(kind="bias")
    with pytest.raises(TypeError, match="dict has no chart"):
        charts.draw({})


def test_save_goes_by_suffix(three, tmp_path):
    chart = charts.bias_chart(*three)
    assert charts.save(chart, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert charts.save(chart, str(tmp_path / "a.SVG")).read_text(encoding="utf-8").startswith("<svg")
    assert json.loads(charts.save(chart, tmp_path / "a.json").read_text(encoding="utf-8")) == chart.to_dict()
    page = charts.save(chart, tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert "learner 2" in page
    with pytest.raises(InputError, match=r"`suffix` is '.gif'"):
        charts.save(chart, tmp_path / "a.gif")
    with pytest.raises(InputError, match="suffix"):
        charts.save(chart, tmp_path / "a")


def test_dark_style_changes_ink_alone(three):
    chart = charts.plane_chart(*three)
    dark = charts.styled(chart, dark=True)
    light, night = chart.to_dict(), dark.to_dict()
    assert light.pop("config") != night.pop("config")
    assert light == night


def test_names_do_not_cover_each_other():
    rng = np.random.default_rng(0)
    points = [(float(x), float(y)) for x, y in rng.uniform(100, 300, (10, 2))]
    texts = [f"learner number {n}" for n in range(10)]
    boxes = [spot.box(text) for spot, text in zip(place(points, texts, 500, 400), texts)]
    for n, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert right <= 500
        for other in boxes[n + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top
    assert apart([0.0, 1.0, 50.0], gap=10) == [0.0, 10.0, 50.0]


def test_figures_chart_says_unknown():
    chart = charts.figures_chart({"a": Estimate(math.nan, 0, 1), "b": Estimate(0.5, 0.4, 0.6)}, "bits", "Title", "How.")
    assert {row["name"] for row in rows_with(chart, "value")} == {"b"}
    assert "Dashed" in " ".join(chart.to_dict()["title"]["subtitle"])
