"""Charts of complexity: valid, with the result's own numbers, whatever classes, columns and texts are called."""

import base64
import math
import struct
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from drawings import HOSTILE, drawn, rows_with, texts_of, titles
from sklearn.datasets import load_digits, load_iris

from classay import charts
from classay.charts.stability import cells, grid
from classay.charts.style.picture_files import SIDE, pictures, png
from classay.data.rows import complexity
from classay.expect import InputError


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return complexity(data.data, data.target_names[data.target])


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    return complexity(data.data, data.target, distance="euclidean")


@pytest.fixture(scope="module")
def hundred():
    """A hundred classes, some of which overlap."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(100), rng.integers(5, 30, 100))
    rows = (rng.normal(size=(100, 4)) * 2.5)[y] + rng.normal(size=(y.size, 4))
    return complexity(rows, np.array([f"class {code}" for code in y]), distance="euclidean")


@pytest.fixture(scope="module")
def hostile():
    data = load_digits()
    names = np.array(HOSTILE, dtype=object)[data.target[:600]]
    return complexity(data.data[:600], names, distance="euclidean")


def every_chart(result):
    return {"histogram and confusion": result.plot(), "hardest": result.plot(kind="hardest", n=5)}


def test_histogram_counts_every_row_once_in_its_place(digits):
    bars = rows_with(charts.complexity_histogram(digits), "from", "to", "rows")
    assert sum(bar["rows"] for bar in bars) == len(digits)
    missed = digits.predicted != digits.labels
    end = max(bar["to"] for bar in bars)
    for bar in bars:
        inside = (digits.values >= bar["from"]) & ((digits.values < bar["to"]) | (bar["to"] == end))
        inside &= (missed == (bar["outcome"] == "wrong")) & (digits.labels == int(bar["full"]))
        assert inside.sum() == bar["rows"]


def test_histogram_has_an_edge_at_log_2_and_errors_are_beyond_it(digits):
    chart = charts.complexity_histogram(digits)
    bars = rows_with(chart, "from", "to", "rows")
    assert any(bar["from"] == pytest.approx(math.log(2)) for bar in bars)
    assert all(bar["from"] >= math.log(2) - 1e-9 for bar in bars if bar["outcome"] == "wrong")
    assert any(row["at"] == math.log(2) for row in rows_with(chart, "at", "text"))
    assert "172 of 1,797 rows are nearer to another class" in titles(chart)[0]


def test_histogram_draws_wrong_below_right_above_and_heights_by_share(digits):
    bars = rows_with(charts.complexity_histogram(digits), "from", "to", "rows")
    assert all((bar["end"] < bar["base"]) == (bar["outcome"] == "wrong") for bar in bars)
    sizes = {str(label): (digits.labels == label).sum() for label in digits.classes}
    unit = {
        round((bar["end"] - bar["base"]) ** 2 * sizes[bar["full"]] / bar["rows"], 6)
        for bar in bars
        if abs(bar["end"] - bar["base"]) > 1.5
    }
    assert len(unit) == 1


def test_histogram_has_the_hardest_class_first(digits, hundred):
    lanes = rows_with(charts.complexity_histogram(digits), "label", "figure")
    assert [int(lane["label"]) for lane in lanes] == digits.by_class.sort_values("complexity")["class"].tolist()[::-1]
    lanes = rows_with(charts.complexity_histogram(hundred), "label", "figure")
    hardest = hundred.by_class.sort_values("complexity", ascending=False)["class"].tolist()
    assert [lane["label"] for lane in lanes] == [*hardest[:8], "other 92 classes"]


def test_one_far_row_does_not_squeeze_the_histogram(iris):
    far = replace(iris, values=np.where(np.arange(150) == 60, 1e4, iris.values))
    chart = charts.complexity_histogram(far)
    assert max(bar["to"] for bar in rows_with(chart, "from", "to")) < 10
    assert sum(bar["rows"] for bar in rows_with(chart, "from", "to")) == 150
    assert "last bar" in titles(chart)[1]
    assert any(bar["range"].endswith("or more") for bar in rows_with(chart, "from", "to"))


def test_nothing_wrong_is_said():
    y = np.repeat(np.arange(40), 6)
    easy = complexity(y[:, None] * 100.0 + np.random.default_rng(0).normal(size=(240, 1)), y, distance="euclidean")
    assert "No row is nearer" in titles(charts.complexity_histogram(easy))[0]
    chart = charts.nearest_classes(easy)
    assert "No class is confused with another" in titles(chart)[0]
    assert "Every row is nearest to its own class." in texts_of(chart)
    few = complexity(y[:18, None] * 100.0 + np.arange(18)[:, None] % 6, y[:18], distance="euclidean")
    assert "No class is confused with another" in titles(charts.nearest_classes(few))[0]
    drawn(charts.nearest_classes(few))


def test_confusion_is_that_of_the_baseline(digits):
    chart = charts.nearest_classes(digits)
    cells = {(cell["down"], cell["across"]): cell for cell in rows_with(chart, "down", "rows_text")}
    for label in digits.classes:
        for other in digits.classes:
            rows = int(((digits.labels == label) & (digits.predicted == other)).sum())
            cell = cells[str(label), str(other)]
            assert cell.get("rows", 0) == rows
            assert cell["value"] == (None if label == other else rows / (digits.labels == label).sum())
    assert "“5” with “9”" in titles(chart)[0]


def test_many_classes_are_ranked_as_pairs(hundred):
    chart = charts.nearest_classes(hundred)
    pairs = rows_with(chart, "pair", "rows")
    expected = pd.DataFrame({"label": hundred.labels, "predicted": hundred.predicted}).query("label != predicted")
    most = expected.value_counts()
    assert [pair["rows"] for pair in pairs] == most.tolist()[:20]
    assert all(most[pair["full"], pair["other"]] == pair["rows"] for pair in pairs)
    assert f"{pairs[0]['full']}” with “{pairs[0]['other']}” ({pairs[0]['rows_text']} rows)" in titles(chart)[0]


def test_hardest_are_those_of_the_result(iris):
    table = iris.hardest(7)
    rows = rows_with(charts.hardest_table(iris, n=7), "complexity", "nearest")
    assert [int(row["row"]) for row in rows] == table["row"].tolist()
    assert [row["label"] for row in rows] == table["label"].tolist()
    assert [row["nearest"] for row in rows] == table["nearest"].tolist()
    assert [row["complexity"] for row in rows] == table["complexity"].tolist()
    assert [row["wrong"] for row in rows] == (table["label"] != table["predicted"]).tolist()
    assert len(rows_with(charts.hardest_table(iris, n=1000), "complexity", "nearest")) == 150


def test_hardest_show_texts_cut_and_whole(iris):
    said = [f"row {number} " + "word " * 40 for number in range(150)]
    chart = charts.hardest_table(iris, n=3, texts=pd.Series(said, index=range(1000, 1150)))
    for row in rows_with(chart, "full_text"):
        assert row["full_text"] == said[int(row["row"])].strip()
        assert len(row["text"]) <= 80
        assert row["text"].endswith("…")
        assert row["text"] in texts_of(chart)


def decoded(address):
    """Pixels of a PNG written without filters."""
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    place, parts = 8, {}
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        body = data[place + 4 : place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size : place + 12 + size]) == (zlib.crc32(body),)
        parts[body[:4]] = body[4:]
        place += 12 + size
    width, height, depth, kind = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert depth == 8
    raw = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    assert (raw[:, 0] == 0).all()
    return raw[:, 1:].reshape((height, width, 3) if kind == 2 else (height, width))


def test_png_keeps_every_pixel():
    rng = np.random.default_rng(0)
    for shape in ((5, 7), (5, 7, 3), (1, 1)):
        pixels = rng.integers(256, size=shape, dtype=np.uint8)
        assert np.array_equal(decoded(png(pixels)), pixels)


def test_images_are_scaled_in_value_and_size():
    small = np.arange(2 * 4 * 4).reshape(2, 4, 4) / 31
    seen = [decoded(each) for each in pictures(small, np.array([1, 0]), 2)]
    assert seen[0].shape == (SIDE, SIDE)
    assert (seen[1][0, 0], seen[0][-1, -1]) == (0, 255)
    large = np.zeros((3, 500, 250, 3), np.uint8)
    (one,) = pictures(large, np.array([2]), 3)
    assert max(decoded(one).shape) <= SIDE
    assert decoded(pictures(np.full((1, 3, 3, 1), np.nan), np.array([0]), 1)[0]).max() == 0


def test_hardest_show_images(digits):
    images = load_digits().images
    chart = charts.hardest_table(digits, n=4, images=images)
    rows = rows_with(chart, "image")
    assert len(rows) == 4
    for row in rows:
        pixels = decoded(row["image"])[::12, ::12]
        assert np.array_equal(pixels, np.round(images[int(row["row"])] * 255 / 16).astype(np.uint8))
    assert drawn(chart).count("<image") == 4


def test_texts_and_images_must_fit(iris):
    for message, options in {
        "`texts` has 3 texts but the result has 150 rows": {"texts": ["a"] * 3},
        "`texts` is str": {"texts": "a"},
        "`images` has 3 images": {"images": np.zeros((3, 8, 8))},
        r"`images` has shape \(150, 4\)": {"images": np.zeros((150, 4))},
        "expected numbers": {"images": np.full((150, 2, 2), "a")},
        "`n` is 0": {"n": 0},
    }.items():
        with pytest.raises(InputError, match=message):
            charts.hardest_table(iris, **options)


def test_grid_has_one_cell_a_value_and_leaves_outliers_out():
    rng = np.random.default_rng(0)
    x, y = rng.integers(5, size=400).astype(float), rng.normal(size=400)
    y[0], y[1] = 1e6, np.nan
    plane = grid(x, y)
    assert np.array_equal(plane.across, [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5])
    assert plane.up[-1] < 100
    assert np.flatnonzero(~plane.inside).tolist() == [0, 1]
    assert sum(cell["rows"] for cell in cells(plane, x, y, y)) == 398
    whole = grid(rng.integers(1000, size=400).astype(float), y)
    assert np.ptp(np.diff(whole.across)) == 0
    assert np.diff(whole.across)[0] == round(np.diff(whole.across)[0])


@pytest.mark.slow
def test_hostile_names_and_texts_are_text(hostile):
    texts = [HOSTILE[number % 10] * (1 + number % 3) for number in range(600)]
    drawings = every_chart(hostile) | {"hardest": charts.hardest_table(hostile, n=20, texts=texts)}
    for kind, chart in drawings.items():
        assert all(len(text or "") <= 130 for text in texts_of(chart)), kind
    both = drawings["histogram and confusion"]
    assert {"<script>alert(1)</script>", "a.b[0]['c']", "(no name)"} <= set(texts_of(both))
    assert len({row["label"] for row in rows_with(both, "label", "figure")}) == 10


def test_labels_never_seen_and_classes_without_rows():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 20)
    rows = rng.normal(size=(60, 2)) + 4 * np.repeat(np.arange(3), 20)[:, None]
    result = complexity(rows, y, X_eval=rows[:30], y_eval=np.array(["a"] * 20 + ["new"] * 10), distance="euclidean")
    assert {cell["down"] for cell in rows_with(charts.nearest_classes(result), "down", "rows")} == {"a", "new"}
    lanes = rows_with(charts.complexity_histogram(result), "label", "figure")
    assert lanes[0]["figure"] == "10 rows, 10 wrong"
    drawn(charts.nearest_classes(result))


@pytest.mark.parametrize("labels", [[True, False], [1.0, 2.0], [10, 2]])
def test_labels_of_any_kind(labels):
    rows = np.random.default_rng(0).normal(size=(40, 2))
    result = complexity(rows, np.repeat(labels, 20), distance="euclidean")
    for chart in every_chart(result).values():
        chart.to_json(validate=False)
    cells = rows_with(charts.nearest_classes(result), "down", "rows_text")
    assert {cell["down"] for cell in cells} == set(map(str, labels))
