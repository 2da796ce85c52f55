"""What is in the folder of a store: records, unfinished work, damaged files, left-overs. And how to clear up.

Only files whose names a store gives are its own. Others are counted and never touched.
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
from .archive import DamagedRecord, Header, MissingRecord, RecordError, read, read_header
from .chunks import KIND, PART, TEMPORARY, UNFINISHED, clear
from .store import SUFFIX

RESTING = 600.0
"""Seconds without a write after which a temporary file is nobody's any more."""
KEY = "[0-9a-f]{64}"
RECORD = re.compile(KEY + re.escape(SUFFIX))


@dataclass(frozen=True)
class Held:
    """A record, or a piece of unfinished work with `parts` of `of`; `header` is that of the record or of a part."""

    path: Path
    header: Header
    size: int
    modified: float
    parts: int = 0
    of: int = 0

    @property
    def about(self) -> dict[str, Any]:
        """What it says of itself."""
        about = self.header.get("about")
        return about if isinstance(about, dict) else {}


@dataclass
class Inventory:
    """What is in a store. `damaged` and `left_over` are its own files that are of no use; `others` are not its own."""

    folder: Path
    records: list[Held] = field(default_factory=list)
    unfinished: list[Held] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)
    left_over: list[Path] = field(default_factory=list)
    unreadable: dict[Path, str] = field(default_factory=dict)
    others: list[Path] = field(default_factory=list)

    @property
    def keys(self) -> set[str]:
        """The keys of all records."""
        return {held.path.name.removesuffix(SUFFIX) for held in self.records}

    @cached_property
    def settled(self) -> set[str]:
        """The keys of all records, and of those that will not come: a sweep found that their values cannot be fitted.

        Look once all is listed.
        """
        sweeps = [held.header for held in self.records if held.header["kind"] == "sweep"]
        return self.keys | {header["records"][place] for header in sweeps for place, _ in header["failed"]}

    def is_done(self, held: Held) -> bool:
        """Whether unfinished work was finished after all: all of its records are there that can be."""
        records = held.about.get("records") or []
        return bool(records) and self.settled.issuperset(records)


def inventory(folder: str | Path, thorough: bool = False) -> Inventory:
    """Look through a store. `thorough` reads whole files, which finds damage within them, too."""
    place = Path(folder)
    if not place.is_dir():
        what = "a file" if place.exists() else "not there"
        raise InputError(f"The store {folder} is {what}; a folder of records is expected, as --store makes it.")
    found = Inventory(place)
    for path in sorted(place.iterdir()):
        if path.is_symlink() or (path.is_dir() and path.name != UNFINISHED):
            found.others.append(path)
        elif path.is_dir():
            for work in _inside(path):
                _look_into(found, work, thorough)
        elif TEMPORARY.fullmatch(path.name):
            found.left_over.append(path)
        elif RECORD.fullmatch(path.name):
            header = _header(found, path, None, thorough)
            if header is not None:
                found.records.append(Held(path, header, *_size_and_time(path)))
        else:
            found.others.append(path)
    return found


def useless(found: Inventory, current: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """What can be removed without loss, and why. `current`: what unfinished work must say of itself to be taken up."""
    for held in found.unfinished:
        if found.is_done(held):
            yield held.path, "parts of what is finished"
        elif any(held.about.get(name) != value for name, value in current.items()):
            yield held.path, "parts that this version cannot take up"
    for path in found.damaged:
        yield path, "damaged"
    for path in found.left_over:
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > RESTING:
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
        clear(path)
    else:
        path.unlink(missing_ok=True)


def _look_into(found: Inventory, work: Path, thorough: bool) -> None:
    if not re.fullmatch(KEY, work.name) or not work.is_dir() or work.is_symlink():
        found.others.append(work)
        return
    headers, size, modified = [], 0, 0.0
    for path in _inside(work):
        if path.is_symlink() or path.is_dir():
            found.others.append(path)
        elif TEMPORARY.fullmatch(path.name):
            found.left_over.append(path)
        elif not PART.fullmatch(path.name):
            found.others.append(path)
        elif (header := _header(found, path, KIND, thorough)) is not None:
            headers.append(header)
            more, latest = _size_and_time(path)
            size, modified = size + more, max(modified, latest)
    if headers:
        # Those that were written before it was known that one refit a subset is enough expect more.
        tasks = min(int(header.get("tasks", 0)) for header in headers)
        found.unfinished.append(Held(work, headers[-1], size, modified, len(headers), tasks))


def _header(found: Inventory, path: Path, kind: str | None, thorough: bool) -> Header | None:
    try:
        return read(path, kind)[0] if thorough else read_header(path, kind)
    except MissingRecord:
        pass  # its process has removed it meanwhile
    except DamagedRecord:
        found.damaged.append(path)
    except RecordError as error:
        found.unreadable[path] = str(error)
    return None


def _inside(folder: Path) -> list[Path]:
    """What is in a folder, sorted; nothing if a running process has removed it meanwhile."""
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []


def _size_and_time(path: Path) -> tuple[int, float]:
    with suppress(FileNotFoundError):
        status = path.stat()
        return status.st_size, status.st_mtime
    return 0, 0.0
