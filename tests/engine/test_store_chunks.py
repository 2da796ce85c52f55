"""Parts of unfinished work: whole or not there, found by name, and cleared up without touching what is others'."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from classay import InputError
from classay.engine import archive, store
from classay.engine.store import Chunks, DamagedRecordWarning, Store, StoreFull, inventory, unfinished_work

KEY = "0123456789abcdef" * 4


@pytest.fixture
def part(tmp_path):
    chunks = Chunks(Store(tmp_path / "runs"), KEY)
    chunks.put("00000", {"subset": 0}, {"a": np.arange(3)})
    return chunks


def test_parts_come_back_by_name(part):
    part.put("00001-000+2", {"subset": 1}, {"a": np.arange(2)})
    assert part.names() == ["00000", "00001-000+2"]
    header, arrays = part.get("00001-000+2")
    assert header["subset"] == 1
    assert arrays["a"].tolist() == [0, 1]
    assert part.get("00002") is None
    (work,) = unfinished_work(part.store.folder).unfinished
    assert (work.path.name, work.header["subset"], work.parts) == (KEY, 1, 2)
    assert inventory(part.store.folder).records == []


def test_removing_leaves_nothing_of_its_own_and_all_of_others(part):
    mine = part.folder / "notes.txt"
    mine.write_text("mine")
    other = Chunks(part.store, KEY[::-1])
    other.put("00000", {}, {})
    part.remove()
    assert list(part.folder.iterdir()) == [mine]
    other.remove()
    assert not other.folder.exists()
    mine.unlink()
    part.remove()
    assert list(part.store.folder.iterdir()) == []


def test_a_folder_that_another_process_removed_is_made_again(part, monkeypatch):
    real = archive.write

    def once_removed(*given):
        monkeypatch.setattr(store, "write", real)
        part.remove()
        return real(*given)

    monkeypatch.setattr(store, "write", once_removed)
    part.put("00001", {}, {})
    assert part.names() == ["00001"]


def test_what_is_being_written_while_another_process_clears_up_is_written_again(part, monkeypatch):
    real, mine = os.replace, part.folder / "notes.txt"
    mine.write_text("mine")  # so that the folder stays

    def cleared(source, target):
        monkeypatch.setattr(os, "replace", real)
        part.remove()
        return real(source, target)

    monkeypatch.setattr(os, "replace", cleared)
    part.put("00001", {}, {})
    assert part.names() == ["00001"]


def test_a_store_that_takes_nothing_is_told(tmp_path):
    (tmp_path / "unfinished").touch()
    with pytest.raises(InputError, match=r"is not writable: .*unfinished.* cannot be made \(Not a directory\)"):
        Chunks(Store(tmp_path), KEY).put("00000", {}, {})


def test_a_damaged_part_counts_as_missing(part):
    path = part.folder / "00000.classay"
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.warns(DamagedRecordWarning, match="counts as missing"):
        assert part.get("00000") is None
    assert unfinished_work(part.store.folder).unfinished == []


def test_a_record_in_the_place_of_a_part_is_set_aside(part):
    archive.write(part.folder / "00003.classay", "labelings", {}, {})
    with pytest.warns(DamagedRecordWarning, match=r"kind 'labelings'.*counts as missing"):
        assert part.get("00003") is None
    assert part.names() == ["00000"]
    assert [path.name for path in (part.store.folder / "damaged").iterdir()] == [f"{KEY}-00003.classay"]
    part.remove()
    assert [path.name for path in part.store.folder.iterdir()] == ["damaged"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said(part, monkeypatch, number):
    def full(*_):
        raise OSError(number, "no room")

    monkeypatch.setattr(store, "write", full)
    with pytest.raises(
        StoreFull, match=r"The disk is full: nothing can be written to .*runs\. What was done before is in it"
    ):
        part.put("00001", {}, {})
    monkeypatch.setattr("classay.engine.store.write", full)
    with pytest.raises(StoreFull, match="disk is full"):
        part.store.put(KEY, "any", {}, {})
    assert part.names() == ["00000"]


def test_other_errors_of_the_disk_are_not_taken_for_that(part, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(store, "write", broken)
    with pytest.raises(OSError, match="broken"):
        part.put("00001", {}, {})
    monkeypatch.undo()
    blocked = Store(part.store.folder)
    (blocked.folder / "unfinished" / KEY[::-1]).touch()
    with pytest.raises(InputError, match="cannot be made"):
        Chunks(blocked, KEY[::-1]).put("00000", {}, {})
