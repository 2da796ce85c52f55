"""A folder of records addressed by content: asking for the same again finds it. One record: `archive`."""

from __future__ import annotations

import errno
import hashlib
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..expect import InputError
from .archive import (
    SCHEMA,
    Arrays,
    DamagedRecord,
    Header,
    MissingRecord,
    PathLike,
    RecordError,
    read,
    read_header,
    to_json,
    write,
)

__all__ = [
    "SCHEMA",
    "DamagedRecord",
    "DamagedRecordWarning",
    "MissingRecord",
    "RecordError",
    "Store",
    "StoreFull",
    "read",
    "read_header",
    "write",
]

SUFFIX = ".classay"


class DamagedRecordWarning(RuntimeWarning):
    """A file in a store cannot be read."""


class StoreFull(InputError):
    """There is no more room in a store; what was done before is in it."""


@contextmanager
def room_in(folder: Path) -> Iterator[None]:
    """Say that the disk is full, where that is what a write fails for."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise StoreFull(
            f"The disk is full: {folder} takes no more. What was done before is in it. Make room and run the same "
            "again; it goes on from there."
        ) from error


class Store:
    """A folder of records, each found by a key that is made from what it is a record of.

    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> key = store.key({"learner": "tree", "seed": 0})
    >>> path = store.put(key, "labelings", {"seed": 0}, {"labels": [0, 1]})
    >>> key in store, len(list(store))
    (True, 1)
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"The store {folder} cannot be made: {error.strerror}. A folder, or a new name, is expected."
            ) from error

    def expect_writable(self) -> None:
        """Raise before long work if nothing can be written; by trying, because rights alone do not tell."""
        trial = self.folder / f".trial{SUFFIX}.{uuid.uuid4().hex}.part"  # a name that `runs prune` knows
        try:
            with room_in(self.folder):
                trial.touch()
                trial.unlink()
        except OSError as error:
            raise InputError(
                f"The store {self.folder} takes nothing ({error.strerror}). A folder that you may write to is expected."
            ) from error

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    @staticmethod
    def key(description: Mapping[str, Any]) -> str:
        """The key of what is described by JSON values; the order of names makes no difference."""
        text = to_json(description, "The description of a record", separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, key: str) -> Path:
        """Where the record is or will be."""
        return self.folder / f"{key}{SUFFIX}"

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.path(key).is_file()

    def get(self, key: str, kind: str | None = None) -> tuple[Header, Arrays] | None:
        """The record, or None if it is not there. A damaged one counts as not there, with a warning."""
        try:
            return read(self.path(key), kind)
        except MissingRecord:
            return None
        except DamagedRecord as error:
            message = f"{error} It is taken as missing and will be overwritten."
            warnings.warn(message, DamagedRecordWarning, stacklevel=2)
            return None

    def put(self, key: str, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
        """Write a record. Several processes may write the same one at once; the last to finish stays."""
        with room_in(self.folder):
            return write(self.path(key), kind, header, arrays)

    def keys(self) -> list[str]:
        """The keys of all records, sorted."""
        return sorted(path.name.removesuffix(SUFFIX) for path in self.folder.glob(f"[!.]*{SUFFIX}"))

    def __iter__(self) -> Iterator[Header]:
        """The headers of all records, by key. A file that cannot be read is passed over with a warning."""
        for key in self.keys():
            try:
                yield read_header(self.path(key))
            except RecordError as error:
                warnings.warn(f"{error} It is passed over.", DamagedRecordWarning, stacklevel=2)
