"""Charts of the room network: valid, with the right numbers in them, whatever classes and networks are called."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from drawings import drawn, rows_with
from walks import walks

from classay import charts
from classay.charts.style.theme import labels
from classay.expect import InputError
from classay.intervals import Estimate
from classay.network.quality.features import feature_quality
from classay.network.quality.head import head_quality
from classay.network.quality.quality import network_quality
from classay.network.quality.rank_networks import rank_networks

HOSTILE = ("<script>alert(1)</script>", "datum.value + ${x}\n\x00", "y" * 5000, "a.b[0]['c']")


def pictured(classes=4, noise=0.2, shape=(3, 6, 6)):
    """Walks of which the inputs are kept: pictures."""
    rng, record = np.random.default_rng(0), walks(noise, classes, width=classes + 2)
    return replace(
        record,
        weight=rng.normal(size=(classes, classes + 2)).astype(np.float32),
        inputs=rng.normal(size=(len(record), *shape)).astype(np.float32),
        settings=record.settings | {"input_shape": list(shape), "normalize": [[0.5] * shape[0], [0.2]]},
        about=record.about | {"network": HOSTILE[0]},
    )


@pytest.fixture(scope="module")
def quality():
    return network_quality(pictured(), class_names=HOSTILE)


def test_cosines_of_class_means(quality):
    chart = charts.class_cosines(quality)
    cells = rows_with(chart, "one", "other", "value")
    values = {(row["down"], row["across"]): row["value"] for row in cells}
    assert len(values) == 16
    short = labels(HOSTILE)
    for a in range(4):
        for b in range(4):
            assert values[short[a], short[b]] == quality.cosines[a, b]
    assert "Most similar" in drawn(chart)


def test_of_many_classes_those_of_the_closest_pairs():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(160, 20))
    features[2:4] = features[:2] = [1.0] * 20  # the rows of classes 0 and 1 are the same
    found = feature_quality(features, np.repeat(np.arange(80), 2))
    chart = charts.class_cosines(found)
    cells = rows_with(chart, "one", "other", "value")
    assert len(cells) == 30**2
    assert {"0", "1"} <= {row["down"] for row in cells}
    assert "Of 80 classes" in drawn(chart)


def test_two_classes():
    found = feature_quality([[1.0, 0], [1, 0.1], [0, 1], [-1, 1]], list("aabb"))
    assert "Most similar" in drawn(charts.class_cosines(found))
    assert "cosine" in drawn(charts.within_between(found))


def test_within_and_between(quality):
    chart = charts.within_between(quality)
    bars = rows_with(chart, "from", "to", "count_text")
    counted = sum(int(bar["count_text"].split(" of ")[0].replace(",", "")) for bar in bars)
    assert counted == quality.distributions["count"].sum()
    assert f"mean {quality.within.value:.3f}" in drawn(chart)
    assert "prototypes" in drawn(chart)
    assert "overlap" in drawn(charts.within_between(network_quality(pictured(noise=5.0))))
    assert "are apart" in drawn(charts.within_between(network_quality(pictured(noise=0.01))))


@pytest.mark.parametrize("shape", [(2, 5), (10, 64), (300, 40)])
def test_heads(shape):
    head = head_quality(np.random.default_rng(0).normal(size=shape))
    chart = charts.head_cosines(head)
    assert len(rows_with(chart, "at", "text")) == 2
    assert "H_w" in drawn(chart)
    simplex = head_quality(np.eye(5) - 0.2)
    assert "as similar as by chance" in drawn(charts.head_cosines(simplex))


def test_accuracies_of_networks(quality):
    networks = {
        HOSTILE[0]: replace(quality, labelled=Estimate(0.7, 0.6, 1.2, 0.9), accuracy_bounds=(-0.3, 0.9)),
        HOSTILE[1]: replace(quality, labelled=Estimate(0.4, 0.3, 0.5, 0.9), accuracy_bounds=(0.8, 0.6)),
        HOSTILE[2]: quality,
    }
    ranking = rank_networks(networks, {HOSTILE[0]: 0.65, HOSTILE[1]: 0.7})
    chart = charts.accuracy_bounds(ranking)
    rows = rows_with(chart, "lower", "upper", "true")
    assert len({row["value_text"] for row in rows}) == 3
    first, second, third = (next(row for row in rows if row.get("value") == value) for value in (0.7, 0.4, None))
    assert (first["lower"], first["upper"], first["low"], first["high"], first["true"]) == (0, 0.9, 0.6, 1, 0.65)
    assert second["lower"] == second["upper"]  # bounds that cross hold nothing
    assert third["true"] is None
    text = drawn(chart)
    for words in ("Diamonds", "by labelled rows", "Dotted"):
        assert words in text
    assert "Diamonds" not in drawn(charts.accuracy_bounds(quality))


@pytest.mark.parametrize("channels", [1, 3])
def test_the_gallery(channels):
    record = pictured(shape=(channels, 6, 6))
    chart = charts.prototype_gallery(record, HOSTILE)
    rows = rows_with(chart, "image", "begun")
    assert len(rows) == 4 * (2 + 3)
    assert {row["begun"] for row in rows if row["column"] < 2} == {"noise"}
    assert all(row["image"].startswith("data:image/png;base64,") for row in rows)
    assert all("a prototype of" in row["begun"] for row in rows if row["column"] >= 2)
    drawn(chart)
    assert len(rows_with(charts.prototype_gallery(record, seeds=1, cores=0), "image")) == 4
    many = charts.prototype_gallery(pictured(classes=20, shape=(channels, 6, 6)))
    assert "12 of 20 classes" in drawn(many)


def test_bad_galleries():
    record = pictured()
    with pytest.raises(InputError, match="keep_inputs=True"):
        charts.prototype_gallery(replace(record, inputs=None))
    with pytest.raises(InputError, match=r"images of \(1 or 3, height, width\)"):
        charts.prototype_gallery(replace(record, inputs=np.ones((len(record), 7), np.float32)))
    with pytest.raises(InputError, match="2 names but there are 4 classes"):
        charts.prototype_gallery(record, ["a", "b"])
    with pytest.raises(InputError, match="at least one seed or core"):
        charts.prototype_gallery(record, seeds=0, cores=0)


def test_kinds(quality):
    for kind in ("both", "cosines", "distributions", "bounds", "head"):
        drawn(quality.plot(kind=kind))
    with pytest.raises(InputError, match="cosines"):
        feature_quality(np.eye(4), list("aabb")).plot(kind="bounds")
