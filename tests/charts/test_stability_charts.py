"""Charts of stability: valid, whatever the names, and they say what they show."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from drawings import drawn, rows_with

import classay
from classay import InputError, Labelings, Predictions

dice = np.random.default_rng(0)
POINTS = pd.DataFrame(
    {"heat": dice.uniform(0, 100, 800), "<b>\nspeed": dice.uniform(0, 1, 800), "line": ["a", "b"] * 400}
)
LABELS = (POINTS.heat.to_numpy() > dice.normal(60, 15, (60, 1))).astype(int)
RECORD = Labelings.from_arrays(
    LABELS, LABELS[0], probe_labels=LABELS, probes=POINTS, name="</script><b>\x00tree", halves=True
)


def test_the_plane_of_learners():
    found = classay.stability(RECORD)
    constant = classay.stability(
        Labelings.from_arrays(0 * LABELS, LABELS[0], probe_labels=0 * LABELS, probes=POINTS, halves=True)
    )
    table = classay.stability({"<i>tree</i>": found, "always 0": constant})
    chart = table.plot()
    assert "Who is accurate" in json.dumps(chart.to_dict())
    svg = drawn(chart)
    assert "always 0" in svg
    assert "<i>" not in svg
    many = classay.stability({f"learner {number}": found for number in range(14)})
    assert "learner 13" in drawn(many.plot())


def test_the_figures_and_the_histogram():
    found = classay.stability(RECORD)
    for kind in ("both", "figures", "histogram"):
        assert drawn(found.plot(kind=kind))
    assert "all pairs agree" in json.dumps(found.plot(kind="histogram").to_dict())
    assert sum(row["share"] for row in rows_with(found.plot(kind="histogram"), "share")) == pytest.approx(1)
    with pytest.raises(InputError, match="Did you mean plane"):
        found.plot(kind="plain")


def test_where_refits_disagree():
    found = classay.stability(RECORD)
    regions = found.regions()
    chart = found.plot(kind="plane", regions=regions)
    svg = drawn(chart)
    assert "<b>" not in svg
    assert "script" not in svg or "</script" not in svg
    assert "Frames" in json.dumps(chart.to_dict())
    named = found.plot(kind="plane", x="heat", y=1)
    assert "heat" in json.dumps(named.to_dict())
    cells = rows_with(named, "mean")
    assert sum(cell["rows"] for cell in cells) == 800
    assert np.average([c["mean"] for c in cells], weights=[c["rows"] for c in cells]) == pytest.approx(
        1 - found.stability.value
    )
    assert drawn(regions.plot())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"x": "haet"}, "Did you mean heat"),
        ({"x": "line"}, "a column without numbers"),
        ({"X": POINTS.head(3)}, "800 rows"),
        ({"regions": 3}, "`regions` is int"),
        ({"colour": "red"}, "has no option 'colour'"),
    ],
)
def test_mistakes(options, said):
    with pytest.raises(InputError, match=said):
        classay.stability(RECORD).plot(kind="plane", **options)


def test_test_points_are_not_held():
    with pytest.raises(InputError, match="Pass them as `X`"):
        classay.stability(RECORD, on="test").plot(kind="plane")
    assert classay.stability(RECORD, on="test").plot(kind="plane", X=POINTS)


def test_no_region_is_said():
    noise = (dice.random((24, 300)) < 0.3).astype(int)
    none = classay.stability(Labelings.from_arrays(noise, noise[0], halves=True)).regions(POINTS.head(300))
    assert none.regions == ()
    assert "no region stands out" in json.dumps(none.plot().to_dict())
    assert "all points" in drawn(none.plot())


def test_a_regressor_worse_than_the_mean():
    values = dice.normal(size=(8, 2, 50))
    found = classay.stability(Predictions.from_arrays(values, dice.normal(size=50) * 0.1))
    assert found.r2.value < -1
    for kind in ("both", "figures", "histogram"):
        assert drawn(found.plot(kind=kind))
    assert found.plot(kind="figures").to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"][0] == -1


def test_the_plane_is_that_of_the_regions_in_order():
    axes = dice.uniform(0, 1, (3, 2000))
    points = pd.DataFrame({"heat": axes[0], "wet": axes[1] > 0.5, "speed": axes[2]})
    unclear = (np.abs(axes[0] - 0.5) < 0.1) | ((axes[0] > 0.8) & (axes[2] > 0.7))
    labels = np.where(unclear, dice.random((60, 2000)) < 0.5, axes[0] > 0.5)
    # Many points of one category differ a little, which is more of a contrast and less of a reason to look there.
    labels = (labels ^ (points.wet.to_numpy() & (dice.random((60, 2000)) < 0.02))).astype(int)
    found = classay.stability(Labelings.from_arrays(labels, labels[0], probe_labels=labels, probes=points, halves=True))
    regions = found.regions()
    assert regions.regions[0].features == ("heat",)
    assert regions.regions[1].features == ("heat", "speed")
    words = json.dumps(found.plot(kind="plane", regions=regions).to_dict())
    assert '"title": "speed"' in words
    assert '"title": "wet"' not in words
