"""Charts on disk: complete or not there, also if the disk is full or memory is limited."""

import errno

import altair as alt
import pandas as pd
import pytest

from classay.charts.style import picture_files
from classay.engine import archive

CHART = alt.Chart(pd.DataFrame({"a": [1, 2], "b": [3, 4]})).mark_point().encode(x="a", y="b")


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
