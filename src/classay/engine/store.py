"""A folder of records addressed by content: the same request finds the same record. One record: `archive`.

`Store` has the finished records, `Chunks` the parts of work that is not finished yet. Every record contains its
address; what is damaged, or belongs to another address, is reported, set aside in a folder, and made again.
"""

from __future__ import annotations

import errno
import hashlib
import re
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
T = TypeVar("T")


class DamagedRecordWarning(RuntimeWarning):
    """A file in a store cannot be read."""


class OtherMachineWarning(UserWarning):
    """What is in a store was made elsewhere, so that its last digits may differ from those computed here."""


class StoreFull(InputError):
    """There is no more space in a store; what was done before is in it."""


@contextmanager
def full_disk_as_error(folder: Path) -> Iterator[None]:
    """Report that the disk is full, if that is why a write fails."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
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
    >>> key in store, len(list(store))
    (True, 1)
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
            with full_disk_as_error(self.folder):
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

    def path(self, key: str) -> Path:
        """Where the record is or will be."""
        return self.folder / f"{key}{SUFFIX}"

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.path(key).is_file()

    def get(self, key: str, kind: str | None = None) -> tuple[Header, Arrays] | None:
        """The record, or None if it is not there. A damaged or foreign one is set aside, with a warning."""
        try:
            found = read(self.path(key), kind, key)
            self.compare_machine(found[0])
            return found
        except MissingRecord:
            return None
        except (DamagedRecord, ForeignRecord) as error:
            self.set_aside(self.path(key), str(error), "It counts as missing and will be made again")
            return None

    def restore(self, key: str, kind: str | None, make: Callable[[Header, Arrays], T]) -> T | None:
        """What `make` makes of the record. If it raises, the record does not belong to this request: see `get`."""
        found = self.get(key, kind)
        if found is None:
            return None
        try:
            return make(*found)
        except CANNOT_BE as error:
            problem = f"{self.path(key)} is not what belongs there ({type(error).__name__}: {error})."
            self.set_aside(self.path(key), problem, "It counts as missing and will be made again")
            return None

    def set_aside(self, path: Path, problem: str, effect: str) -> None:
        """Move a useless file out of the way and warn; where nothing can be moved, only warn."""
        place = self.folder / DAMAGED / "-".join(path.relative_to(self.folder).parts[-2:])
        moved = ""
        with suppress(OSError):
            place.parent.mkdir(exist_ok=True)
            path.replace(place)
            moved = f" The file is now {place}."
        warnings.warn(f"{problem} {effect}.{moved}", DamagedRecordWarning, stacklevel=3)

    def compare_machine(self, header: Header) -> None:
        """Warn once of each difference to where a record was made that can change its last digits."""
        new = [each for each in differences(header) if each not in self.differences]
        if new:
            self.differences.update(new)
            warnings.warn(
                f"Results in the store {self.folder} were computed with {shown(new)}. They are used; computed "
                "here, their last digits may differ. For figures of one machine alone, use another --store.",
                OtherMachineWarning,
                stacklevel=4,
            )

    def put(self, key: str, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
        """Write a record. Several processes may write the same one at once; the last to finish wins."""
        with full_disk_as_error(self.folder):
            return write(self.path(key), kind, header, arrays, key)

    def keys(self) -> list[str]:
        """The keys of all records, sorted."""
        return sorted(path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"[!.]*{SUFFIX}"))

    def __iter__(self) -> Iterator[Header]:
        """The headers of all records, by key. A file that cannot be read is skipped with a warning."""
        for key in self.keys():
            try:
                yield read_header(self.path(key), None, key)
            except RecordError as error:
                warnings.warn(f"{error} It is skipped.", DamagedRecordWarning, stacklevel=2)


# Parts of unfinished work, each in the store as soon as it is done, so that a crash loses little.
#
# They are files of one folder, ``unfinished/KEY``, next to the records. Each is complete or not there, like records,
# and is found by its name. When everything is done, records replace them.


UNFINISHED = "unfinished"
CHUNK_KIND = "chunk"
CHUNK_FILE = re.compile(r"\d[\d+-]*" + re.escape(SUFFIX))
"""The names of files of parts; others are not a store's own."""
TEMPORARY_FILE = re.compile(r"\.[\w.+-]+" + re.escape(SUFFIX) + r"\.[0-9a-f]{32}\.part")
"""The names of files while they are written."""
ATTEMPTS = 5
CANNOT_BE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What the content of a record raises if it is not what is expected."""


class Chunks:
    """The parts of one unfinished piece of work, by name.

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
                with full_disk_as_error(self.store.folder):
                    self._make_folder()
                    write(self.folder / f"{name}{SUFFIX}", CHUNK_KIND, header, arrays, chunk_address(self.key, name))
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
        """One part, or None if it is not there, or of an older schema. A damaged or foreign one is set aside."""
        path = self.folder / f"{name}{SUFFIX}"
        try:
            header, arrays = read(path, CHUNK_KIND, chunk_address(self.key, name))
        except MissingRecord:
            return None
        except (DamagedRecord, ForeignRecord) as error:
            self.store.set_aside(path, str(error), "It counts as not done")
            return None
        if header["schema"] != SCHEMA:
            message = f"{path} has the older schema {header['schema']} (now {SCHEMA}). It counts as not done."
            warnings.warn(message, DamagedRecordWarning, stacklevel=2)
            return None
        self.store.compare_machine(header)
        return header, arrays

    def restore(self, name: str, make: Callable[[Header, Arrays], T]) -> T | None:
        """What `make` makes of a part. If it raises, the part does not belong to this work, and is set aside."""
        found = self.get(name)
        if found is None:
            return None
        try:
            return make(*found)
        except CANNOT_BE as error:
            path = self.folder / f"{name}{SUFFIX}"
            problem = f"{path} is not what belongs there ({type(error).__name__}: {error})."
            self.store.set_aside(path, problem, "It counts as not done")
            return None

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise InputError(
                f"The store {self.store.folder} is not writable: {self.folder} cannot be made ({error.strerror}). "
                "Expected a folder that you can write to."
            ) from error

    def remove(self) -> None:
        """Remove all parts, and the folders if nothing else is in them."""
        remove_chunks(self.folder)


def chunk_address(key: str, name: str) -> str:
    """The address of a part: that of its work, and its name."""
    return f"{key}/{name}"


def remove_chunks(folder: Path) -> None:
    """Remove the parts in the folder of a piece of work, and the folder if nothing else is in it."""
    for path in folder.glob("*"):
        named = CHUNK_FILE.fullmatch(path.name) or TEMPORARY_FILE.fullmatch(path.name)
        if named and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
    for each in (folder, folder.parent):
        with suppress(OSError):
            each.rmdir()


def unfinished_headers(store: Store) -> Iterator[tuple[Path, Header]]:
    """The folder of each unfinished piece of work, and the header of its first part that can be read."""
    for folder in sorted((store.folder / UNFINISHED).glob("*")):
        for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
            with suppress(RecordError):
                yield folder, read_header(path, CHUNK_KIND)
                break
