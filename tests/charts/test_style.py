"""What all charts share: names, colours, dark pages, files, and names beside points."""

import errno
import json
import math

import numpy as np
import pytest
from drawings import HOSTILE, rows_with, titles

from classay import charts
from classay.charts.style import picture_files
from classay.charts.style.placement import apart, place
from classay.charts.style.theme import LONGEST, columns, cut, labels, printable
from classay.engine import archive
from classay.expect import InputError
from classay.intervals import Estimate

ROWS = [{"label": label, "x": x / 2, "y": x / 2, "low": 0, "high": 1} for label in ("a", "b") for x in range(3)]
CHART = charts.curves_with_bands(ROWS, ["a", "b"], "across", "up", "Title", "How.")


def test_labels_are_short_printable_and_unlike():
    short = labels(HOSTILE + HOSTILE)
    assert len(set(short)) == 2 * len(HOSTILE)
    assert all(columns(label) <= LONGEST + 2 for label in short)
    assert all(letter.isprintable() or letter == "\u200d" for label in short for letter in label)
    assert cut("short") == "short"
    assert columns(cut("森" * 100)) <= LONGEST
    assert printable("\n") == "(no name)"


def test_colours_go_by_order_of_appearance():
    scales = [layer["encoding"]["color"]["scale"] for layer in CHART.to_dict()["layer"] if "color" in layer["encoding"]]
    assert all(scale == {"domain": ["a", "b"], "range": ["#0072B2", "#D55E00"]} for scale in scales)


def test_dark_style_changes_ink_alone():
    light, night = CHART.to_dict(), charts.styled(CHART, dark=True).to_dict()
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


def test_unknown_figures_are_marked():
    chart = charts.figures_chart({"a": Estimate(math.nan, 0, 1), "b": Estimate(0.5, 0.4, 0.6)}, "bits", "Title", "How.")
    assert {row["name"] for row in rows_with(chart, "value")} == {"b"}
    assert "Dashed" in titles(chart)[1]


# Files: complete or not there, also if the disk is full or memory is limited.


def test_save_goes_by_suffix(tmp_path):
    assert charts.save(CHART, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert charts.save(CHART, str(tmp_path / "a.SVG")).read_text(encoding="utf-8").startswith("<svg")
    assert json.loads(charts.save(CHART, tmp_path / "a.json").read_text(encoding="utf-8")) == CHART.to_dict()
    page = charts.save(CHART, tmp_path / "a.html").read_text(encoding="utf-8")
    assert 'src="http' not in page
    assert "How." in page
    for name in ("a.gif", "a"):
        with pytest.raises(InputError, match="`suffix` is"):
            charts.save(CHART, tmp_path / name)


@pytest.mark.parametrize("suffix", ["png", "svg", "html", "json"])
def test_a_full_disk_leaves_no_file(tmp_path, monkeypatch, suffix):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archive.os, "fsync", full)
    with pytest.raises(OSError, match="the disk is full"):
        picture_files.save(CHART, tmp_path / f"chart.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_where_memory_is_limited_a_process_of_its_own_draws(tmp_path, monkeypatch):
    expected = picture_files.save(CHART, tmp_path / "one.svg").read_bytes()
    monkeypatch.setattr(picture_files, "_memory_is_limited", lambda: True)
    assert picture_files.save(CHART, tmp_path / "two.svg").read_bytes() == expected
    assert picture_files.save(CHART, tmp_path / "two.png").read_bytes()[:4] == b"\x89PNG"


def test_an_engine_that_aborts_is_reported_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(picture_files, "_memory_is_limited", lambda: True)
    monkeypatch.setattr(picture_files, "CONVERT", "import os; os.abort()")
    with pytest.raises(MemoryError, match=r"could not be drawn.*ulimit"):
        picture_files.save(CHART, tmp_path / "chart.png")
    assert not list(tmp_path.iterdir())
