"""What is in the folder of a store: records, unfinished work, damaged files, leftovers. And how to clean up.

Only files with the names of a store are its own. Others are counted and never touched.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..expect import InputError
from .archive import DamagedRecord, ForeignRecord, Header, MissingRecord, RecordError, read, read_header
from .store import (
    CHUNK_FILE,
    CHUNK_KIND,
    DAMAGED,
    SUFFIX,
    TEMPORARY_FILE,
    UNFINISHED,
    chunk_address,
    remove_chunks,
)

ABANDONED_AFTER = 600.0
"""Seconds without a write after which a temporary file is abandoned."""
KEY = "[0-9a-f]{64}"
RECORD = re.compile(KEY + re.escape(SUFFIX))
SET_ASIDE = re.compile(rf"({KEY}-)?[\w+-]+" + re.escape(SUFFIX))


@dataclass(frozen=True)
class StoreEntry:
    """A record, or a piece of unfinished work with `parts` of `of`; `header` is that of the record or of a part."""

    path: Path
    header: Header
    size: int
    modified: float
    parts: int = 0
    of: int = 0

    @property
    def about(self) -> dict[str, Any]:
        """Its provenance."""
        about = self.header.get("about")
        return about if isinstance(about, dict) else {}


@dataclass
class Inventory:
    """What is in a store. `damaged` and `left_over` are its own files that are useless; `others` are not its own."""

    folder: Path
    records: list[StoreEntry] = field(default_factory=list)
    unfinished: list[StoreEntry] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)
    left_over: list[Path] = field(default_factory=list)
    unreadable: dict[Path, str] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        """The keys of all records."""
        return {entry.path.name.removesuffix(SUFFIX) for entry in self.records}

    @cached_property
    def finished_keys(self) -> set[str]:
        """The keys of all records, and of those that will not come: a sweep found that their values cannot be fitted.

        Use it only once everything is listed.
        """
        sweeps = [entry.header for entry in self.records if entry.header["kind"] == "sweep"]
        return self.keys | {header["records"][place] for header in sweeps for place, _ in header["failed"]}

    def is_done(self, entry: StoreEntry) -> bool:
        """Whether unfinished work was finished after all: all of its possible records are there."""
        records = entry.about.get("records") or []
        return bool(records) and self.finished_keys.issuperset(records)


def inventory(folder: str | Path, thorough: bool = False) -> Inventory:
    """List the content of a store. `thorough` reads whole files, which also finds damage inside them."""
    place = Path(folder)
    if not place.is_dir():
        what = "a file" if place.exists() else "not there"
        raise InputError(f"The store {folder} is {what}; expected a folder of records, as --store makes it.")
    contents = Inventory(place)
    for path in sorted(place.iterdir()):
        if path.is_symlink() or (path.is_dir() and path.name not in (UNFINISHED, DAMAGED)):
            contents.others.append(path)
        elif path.is_dir() and path.name == DAMAGED:
            for file in _sorted_paths(path):
                own = SET_ASIDE.fullmatch(file.name) and file.is_file() and not file.is_symlink()
                (contents.damaged if own else contents.others).append(file)
        elif path.is_dir():
            for work in _sorted_paths(path):
                _add_unfinished(contents, work, thorough)
        elif TEMPORARY_FILE.fullmatch(path.name):
            contents.left_over.append(path)
        elif RECORD.fullmatch(path.name):
            header = _header(contents, path, None, path.name.removesuffix(SUFFIX), thorough)
            if header is not None:
                contents.records.append(StoreEntry(path, header, *_size_and_time(path)))
        else:
            contents.others.append(path)
    return contents


def removable(contents: Inventory, current: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What can be removed without loss, and why. `current`: what unfinished work must match to continue."""
    for entry in contents.unfinished:
        if contents.is_done(entry):
            yield entry.path, "parts of finished work"
        elif any(entry.about.get(name) != value for name, value in current.items()):
            yield entry.path, "parts that this version cannot continue"
    for path in contents.damaged:
        yield path, "damaged"
    for path in contents.left_over:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_AFTER:
                yield path, "left over by a process that ended"


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    total = 0
    for each in files:
        with suppress(OSError):
            total += each.stat().st_size if each.is_file() else 0
    return total


def remove(path: Path) -> None:
    """Remove a file of a store, or the parts of a piece of unfinished work."""
    if path.is_dir():
        remove_chunks(path)
    else:
        path.unlink(missing_ok=True)
        if path.parent.name == DAMAGED:
            with suppress(OSError):
                path.parent.rmdir()


def _add_unfinished(contents: Inventory, work: Path, thorough: bool) -> None:
    if not re.fullmatch(KEY, work.name) or not work.is_dir() or work.is_symlink():
        contents.others.append(work)
        return
    headers, size, modified = [], 0, 0.0
    for path in _sorted_paths(work):
        if path.is_symlink() or path.is_dir():
            contents.others.append(path)
        elif TEMPORARY_FILE.fullmatch(path.name):
            contents.left_over.append(path)
        elif not CHUNK_FILE.fullmatch(path.name):
            contents.others.append(path)
        elif (header := _header(contents, path, CHUNK_KIND, _address(work, path), thorough)) is not None:
            headers.append(header)
            more, latest = _size_and_time(path)
            size, modified = size + more, max(modified, latest)
    if headers:
        # Those written before it was known that one refit per subset is enough expect more.
        tasks = min(int(header.get("tasks", 0)) for header in headers)
        contents.unfinished.append(StoreEntry(work, headers[-1], size, modified, len(headers), tasks))


def _address(work: Path, path: Path) -> str:
    return chunk_address(work.name, path.name.removesuffix(SUFFIX))


def _header(contents: Inventory, path: Path, kind: str | None, address: str, thorough: bool) -> Header | None:
    try:
        return read(path, kind, address)[0] if thorough else read_header(path, kind, address)
    except MissingRecord:
        pass  # its process has removed it meanwhile
    except (DamagedRecord, ForeignRecord):
        contents.damaged.append(path)
    except RecordError as error:
        contents.unreadable[path] = str(error)
    return None


def _sorted_paths(folder: Path) -> list[Path]:
    """The content of a folder, sorted; nothing if a running process has removed it meanwhile."""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []


def _size_and_time(path: Path) -> tuple[int, float]:
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_size, status.st_mtime
    return 0, 0.0
