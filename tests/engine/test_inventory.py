"""What is in a store, and what may go: only what is its own, and of no use."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from classay import InputError
from classay.engine.store import Chunks, DamagedRecordWarning, Store, inventory, remove

NOW = {"drawing": 1, "chunks": 1}
SWEEP, RECORD, WORK, DONE, OLD, FAILED = (f"{number:064x}" for number in range(1, 7))


@pytest.fixture
def store(tmp_path):
    """A record, a sweep, work that is unfinished, finished after all, or of an older format, and rubbish."""
    filled = Store(tmp_path / "runs")
    filled.put(SWEEP, "sweep", {"about": {}, "records": [RECORD, FAILED], "failed": [[1, "refused"]]}, {})
    filled.put(RECORD, "labelings", {"about": {}}, {"a": np.arange(9)})
    for key, about in [
        (WORK, {**NOW, "sweep": "f" * 64, "records": ["e" * 64]}),
        (DONE, {**NOW, "sweep": SWEEP, "records": [RECORD, FAILED]}),
        (OLD, {**NOW, "chunks": 0}),
    ]:
        for part in range(3):
            Chunks(filled, key).put(f"{part:05d}", {"about": about, "tasks": 8}, {"a": np.arange(4)})
    damaged = filled.put("d" * 64, "labelings", {"about": {}}, {"a": np.arange(99)})
    damaged.write_bytes(damaged.read_bytes()[:200])
    for folder, name in ((filled.folder, RECORD), (filled.folder / "unfinished" / WORK, "00003")):
        path = folder / f".{name}.classay.{'a' * 32}.part"
        path.write_text("half")
        os.utime(path, (time.time() - 3600,) * 2)
    (filled.folder / f".{RECORD}.classay.{'b' * 32}.part").write_text("being written")
    (filled.folder / "mine.csv").write_text("mine")
    (filled.folder / "mine.classay").write_text("mine")
    (filled.folder / "unfinished" / "mine").mkdir()
    return filled


def test_everything_is_seen(store):
    contents = inventory(store.folder)
    assert contents.keys == {SWEEP, RECORD}
    assert [entry.path.name for entry in contents.unfinished] == [WORK, DONE, OLD]
    assert {(entry.parts, entry.of) for entry in contents.unfinished} == {(3, 8)}
    assert [entry.path.name for entry in contents.unfinished if contents.is_done(entry)] == [DONE]
    assert [path.name[0] for path in contents.damaged] == ["d"]
    assert len(contents.left_over) == 3
    assert sorted(path.name for path in contents.others) == ["mine", "mine.classay", "mine.csv"]


def test_what_is_of_no_use_goes_and_all_else_stays(store):
    doomed = dict(inventory(store.folder).removable(NOW))
    assert {path.name for path in doomed if path.is_dir()} == {DONE, OLD}
    assert sorted(doomed.values()) == [
        "damaged",
        "left over by a process that ended",
        "left over by a process that ended",
        "parts of finished work",
        "parts that this version cannot continue",
    ]
    for path in doomed:
        remove(path)
    contents = inventory(store.folder)
    assert list(contents.removable(NOW)) == []
    assert contents.keys == {SWEEP, RECORD}
    assert [entry.path.name for entry in contents.unfinished] == [WORK]
    assert sorted(path.name for path in contents.others) == ["mine", "mine.classay", "mine.csv"]
    assert len(contents.left_over) == 1  # somebody may be writing it


def test_what_was_set_aside_is_damaged_and_can_go(store):
    records = [store.put(number * 64, "any", {}, {"a": np.arange(3)}) for number in "ab"]
    records[0].replace(records[1])
    with pytest.warns(DamagedRecordWarning, match="another one"):
        store.get("b" * 64)
    mine = store.folder / "damaged" / "mine.txt"
    mine.write_text("mine")
    contents = inventory(store.folder)
    aside = store.folder / "damaged" / f"{'b' * 64}.classay"
    assert aside in contents.damaged
    assert mine in contents.others
    assert dict(contents.removable(NOW))[aside] == "damaged"
    remove(aside)
    assert mine.exists()
    assert not aside.exists()


def test_work_whose_records_are_all_there_is_done(store):
    Chunks(store, "c" * 64).put("00000", {"about": {**NOW, "records": [RECORD]}}, {})
    contents = inventory(store.folder)
    assert contents.is_done(next(entry for entry in contents.unfinished if entry.path.name[0] == "c"))


def test_links_and_folders_are_others_whatever_their_names(store, tmp_path):
    (tmp_path / "precious").write_text("mine")
    folder = store.folder / "unfinished" / DONE
    link, inner = folder / "00007.classay", folder / "00008.classay"
    link.symlink_to(tmp_path / "precious")
    inner.mkdir()
    contents = inventory(store.folder, thorough=True)
    assert {link, inner} <= set(contents.others)
    for path, _ in contents.removable(NOW):
        remove(path)
    assert sorted(folder.iterdir()) == [link, inner]
    assert link.read_text() == "mine"


def test_work_on_a_lost_record_of_a_sweep_is_not_done(store):
    store.path(RECORD).unlink()
    contents = inventory(store.folder)
    assert not any(contents.is_done(entry) for entry in contents.unfinished)
    assert DONE not in {path.name for path, _ in contents.removable(NOW)}


def test_a_store_may_change_while_it_is_looked_through(store, monkeypatch):
    real = Path.iterdir

    def meanwhile(folder):
        there = list(real(folder))
        if folder.name == "unfinished":
            Chunks(store, DONE).remove()
        elif folder.name == WORK:
            (folder / "00001.classay").unlink()
        return iter(there)

    monkeypatch.setattr(Path, "iterdir", meanwhile)
    contents = inventory(store.folder)
    assert [(entry.path.name, entry.parts) for entry in contents.unfinished] == [(WORK, 2), (OLD, 3)]
    assert not contents.unreadable


def test_damage_within_is_found_by_reading_all(store):
    path = store.path(RECORD)
    content = bytearray(path.read_bytes())
    content[-200] ^= 255
    path.write_bytes(bytes(content))
    quick, slow = inventory(store.folder), inventory(store.folder, thorough=True)
    assert len(slow.damaged) >= len(quick.damaged)
    assert path in slow.damaged


def test_a_store_that_is_none(tmp_path):
    (tmp_path / "file").touch()
    for name, what in (("file", "a file"), ("nowhere", "not there")):
        with pytest.raises(InputError, match=f"is {what}; expected a folder of records"):
            inventory(tmp_path / name)
        assert not (tmp_path / "nowhere").exists()
