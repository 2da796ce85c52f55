"""A folder of records addressed by content: the same request finds the same record. One record: `archive`.

`Store` has the finished records, `Chunks` the parts of work that is not finished yet. Every record contains its
address; what is damaged, or belongs to another address, is reported, set aside in a folder, and made again.
`inventory` lists what is in the folder; only files with the names of a store are its own, others are never touched.
"""

from __future__ import annotations

import errno
import hashlib
import re
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ..expect import InputError, shown
from .archive import (
    SCHEMA,
    Arrays,
    DamagedRecord,
    ForeignRecord,
    Header,
    MissingRecord,
    PathLike,
    RecordError,
    read,
    read_header,
    to_json,
    write,
)
from .machine import differences

__all__ = [
    "CANNOT_BE",
    "SCHEMA",
    "DamagedRecord",
    "DamagedRecordWarning",
    "ForeignRecord",
    "MissingRecord",
    "OtherMachineWarning",
    "RecordError",
    "Store",
    "StoreFull",
    "read",
    "read_header",
    "write",
]

SUFFIX = ".classay"
DAMAGED = "damaged"
"""The folder of a store for files that are damaged or belong elsewhere."""
UNFINISHED = "unfinished"
"""The folder of a store for parts of unfinished work, a folder each."""
CHUNK_KIND = "chunk"
KEY = "[0-9a-f]{64}"
RECORD_FILE = re.compile(KEY + re.escape(SUFFIX))
CHUNK_FILE = re.compile(r"\d[\d+-]*" + re.escape(SUFFIX))
SET_ASIDE_FILE = re.compile(rf"({KEY}-)?[\w+-]+" + re.escape(SUFFIX))
TEMPORARY_FILE = re.compile(r"\.[\w.+-]+" + re.escape(SUFFIX) + r"\.[0-9a-f]{32}\.part")
"""The names of files while they are written."""
ABANDONED_AFTER = 600.0
"""Seconds without a write after which a temporary file is abandoned."""
ATTEMPTS = 5
FULL = (errno.ENOSPC, errno.EDQUOT)
CANNOT_BE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What the content of a record raises if it is not what is expected."""
T = TypeVar("T")


class DamagedRecordWarning(RuntimeWarning):
    """A file in a store cannot be read."""


class OtherMachineWarning(UserWarning):
    """What is in a store was made elsewhere, so that its last digits may differ from those computed here."""


class StoreFull(InputError):
    """There is no more space in a store; what was done before is in it."""


@contextmanager
def _full_disk_as_error(folder: Path) -> Iterator[None]:
    """Report that the disk is full, if that is why a write fails."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise StoreFull(
            f"The disk is full: nothing can be written to {folder}. What was done before is in it. Free some space and "
            "run the same again to continue from there."
        ) from error


class Store:
    """A folder of records, each found by a key that is computed from its description.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> key = store.key({"learner": "tree", "seed": 0})
    >>> path = store.put(key, "labelings", {"seed": 0}, {"labels": [0, 1]})
    >>> key in store
    True
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self.differences: set[str] = set()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The store {folder} cannot be made: {error.strerror}. Expected a folder, or a new name."
            ) from error

    def expect_writable(self) -> None:
        """Raise before long work if nothing can be written; by trying, because permissions alone are not enough."""
        trial = self.folder / f".trial{SUFFIX}.{uuid.uuid4().hex}.part"  # a name that `runs prune` recognises
        try:
            with _full_disk_as_error(self.folder):
                trial.touch()
                trial.unlink()
        except OSError as error:
            raise InputError(
                f"The store {self.folder} is not writable ({error.strerror}). Expected a folder that you can write to."
            ) from error

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    @staticmethod
    def key(description: Mapping[str, Any]) -> str:
        """The key of a description in JSON values; the order of names makes no difference."""
        text = to_json(description, "The description of a record", separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, address: str) -> Path:
        """Where a record is or will be; or a part of unfinished work, whose address is `key/name`."""
        return self.folder / (UNFINISHED if "/" in address else "") / f"{address}{SUFFIX}"

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.path(key).is_file()

    def get(self, address: str, kind: str | None = None) -> tuple[Header, Arrays] | None:
        """The record, or None if it is not there. A damaged or foreign one is set aside, with a warning."""
        return self.restore(address, kind, lambda header, arrays: (header, arrays))

    def restore(self, address: str, kind: str | None, make: Callable[[Header, Arrays], T]) -> T | None:
        """What `make` makes of the record. If it raises, the record does not belong to this request: see `get`."""
        path = self.path(address)
        try:
            header, arrays = read(path, kind, address)
        except MissingRecord:
            return None
        except (DamagedRecord, ForeignRecord) as error:
            self._set_aside(path, str(error))
            return None
        self._compare_machine(header)
        try:
            return make(header, arrays)
        except CANNOT_BE as error:
            self._set_aside(path, f"{path} is not what belongs there ({type(error).__name__}: {error}).")
            return None

    def _set_aside(self, path: Path, problem: str) -> None:
        """Move a useless file out of the way and warn; where nothing can be moved, only warn."""
        place = self.folder / DAMAGED / "-".join(path.relative_to(self.folder).parts[-2:])
        problem += " It counts as missing and will be made again."
        with suppress(OSError):
            place.parent.mkdir(exist_ok=True)
            path.replace(place)
            problem += f" The file is now {place}."
        warnings.warn(problem, DamagedRecordWarning, stacklevel=4)

    def _compare_machine(self, header: Header) -> None:
        """Warn once of each difference to where a record was made that can change its last digits."""
        new = [each for each in differences(header) if each not in self.differences]
        if new:
            self.differences.update(new)
            warnings.warn(
                f"Results in the store {self.folder} were computed with {shown(new)}. They are used; computed "
                "here, their last digits may differ. For figures of one machine alone, use another --store.",
                OtherMachineWarning,
                stacklevel=5,
            )

    def put(self, address: str, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
        """Write a record. Several processes may write the same one at once; the last to finish wins."""
        path = self.path(address)
        with _full_disk_as_error(self.folder):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                if error.errno in FULL:
                    raise
                raise InputError(
                    f"The store {self.folder} is not writable: {path.parent} cannot be made ({error.strerror}). "
                    "Expected a folder that you can write to."
                ) from error
            return write(path, kind, header, arrays, address)


class Chunks:
    """The parts of one unfinished piece of work, by name, each in the store as soon as it is done.

    They are files of one folder. Each is complete or not there, like records, which replace them in the end.

    >>> import tempfile
    >>> chunks = Chunks(Store(tempfile.mkdtemp()), "a" * 64)
    >>> chunks.put("00000", {"subset": 0}, {"labels": [0, 1]})
    >>> chunks.names(), chunks.get("00000")[0]["subset"], chunks.remove()
    (['00000'], 0, None)
    """

    def __init__(self, store: Store, key: str) -> None:
        self.store, self.key = store, key
        self.folder = store.folder / UNFINISHED / key

    def put(self, name: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        """Write one part. Several processes may write the same one at once; the last to finish wins."""
        for left in reversed(range(ATTEMPTS)):
            try:
                self.store.put(f"{self.key}/{name}", CHUNK_KIND, header, arrays)
                return
            except InputError as error:
                # Another process may have finished the same work and is cleaning up: what was being written, or the
                # folder, is gone.
                if not left or not isinstance(error.__cause__, FileNotFoundError):
                    raise

    def names(self) -> list[str]:
        """The names of the parts that are there, sorted."""
        file_names = sorted(path.name for path in self.folder.glob(f"[!.]*{SUFFIX}"))
        return [name.removesuffix(SUFFIX) for name in file_names if CHUNK_FILE.fullmatch(name)]

    def get(self, name: str) -> tuple[Header, Arrays] | None:
        """One part, or None if it is not there. A damaged or foreign one is set aside."""
        return self.store.get(f"{self.key}/{name}", CHUNK_KIND)

    def restore(self, name: str, make: Callable[[Header, Arrays], T]) -> T | None:
        """What `make` makes of a part. If it raises, the part does not belong to this work, and is set aside."""
        return self.store.restore(f"{self.key}/{name}", CHUNK_KIND, make)

    def remove(self) -> None:
        """Remove all parts, and the folders if nothing else is in them."""
        remove(self.folder)


# What is in a store


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

    def removable(self, current: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
        """What can be removed without loss, and why. `current`: what unfinished work must match to continue."""
        for entry in self.unfinished:
            if self.is_done(entry):
                yield entry.path, "parts of finished work"
            elif any(entry.about.get(name) != value for name, value in current.items()):
                yield entry.path, "parts that this version cannot continue"
        for path in self.damaged:
            yield path, "damaged"
        for path in self.left_over:
            if time.time() - _size_and_time(path)[1] > ABANDONED_AFTER:
                yield path, "left over by a process that ended"


def inventory(folder: PathLike, thorough: bool = False) -> Inventory:
    """List the content of a store. `thorough` reads whole files, which also finds damage inside them."""
    place = Path(folder)
    if not place.is_dir():
        what = "a file" if place.exists() else "not there"
        raise InputError(f"The store {folder} is {what}; expected a folder of records, as --store makes it.")
    contents = unfinished_work(folder, thorough)
    for path in _listed(contents, place, RECORD_FILE, folders=(UNFINISHED, DAMAGED)):
        header = _header(contents, path, None, path.name.removesuffix(SUFFIX), thorough)
        if header is not None:
            contents.records.append(StoreEntry(path, header, *_size_and_time(path)))
    contents.damaged += _listed(contents, place / DAMAGED, SET_ASIDE_FILE)
    return contents


def unfinished_work(folder: PathLike, thorough: bool = False) -> Inventory:
    """List only the unfinished work in a store."""
    contents = Inventory(Path(folder))
    works = _listed(contents, contents.folder / UNFINISHED, re.compile(KEY), of_folders=True)
    for work in works:
        headers, size, modified = [], 0, 0.0
        for path in _listed(contents, work, CHUNK_FILE):
            address = f"{work.name}/{path.name.removesuffix(SUFFIX)}"
            if (header := _header(contents, path, CHUNK_KIND, address, thorough)) is not None:
                headers.append(header)
                more, latest = _size_and_time(path)
                size, modified = size + more, max(modified, latest)
        if headers:
            # Parts written before it was known that one refit per subset is enough expect more.
            tasks = min(int(header.get("tasks", 0)) for header in headers)
            contents.unfinished.append(StoreEntry(work, headers[-1], size, modified, len(headers), tasks))
    return contents


def _listed(
    contents: Inventory, folder: Path, own: re.Pattern[str], of_folders: bool = False, folders: tuple[str, ...] = ()
) -> list[Path]:
    """The files of a folder with these names, sorted; temporary files and strangers are noted."""
    try:
        paths = sorted(folder.iterdir())
    except FileNotFoundError:  # there are none, or a running process has removed them meanwhile
        return []
    listed = []
    for path in paths:
        if not path.is_symlink() and path.is_dir() == of_folders and own.fullmatch(path.name):
            listed.append(path)
        elif not path.is_symlink() and not path.is_dir() and TEMPORARY_FILE.fullmatch(path.name):
            contents.left_over.append(path)
        elif path.is_symlink() or not (path.is_dir() and path.name in folders):
            contents.others.append(path)
    return listed


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


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return sum(_size_and_time(each)[0] for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())


def remove(path: Path) -> None:
    """Remove a file of a store, or the parts of a piece of unfinished work; and folders that are empty then."""
    for file in path.glob("*") if path.is_dir() else [path]:
        named = not path.is_dir() or CHUNK_FILE.fullmatch(file.name) or TEMPORARY_FILE.fullmatch(file.name)
        if named and file.is_file() and not file.is_symlink():
            file.unlink(missing_ok=True)
    for folder in (path, path.parent):
        if folder.name in (DAMAGED, UNFINISHED) or folder.parent.name == UNFINISHED:
            with suppress(OSError):
                folder.rmdir()


def _size_and_time(path: Path) -> tuple[int, float]:
    with suppress(OSError):
        status = path.stat()
        return status.st_size, status.st_mtime
    return 0, time.time()
