"""Parts of what is not finished yet, each in the store as soon as it is done, so that a crash loses little.

They are files of one folder, ``unfinished/KEY``, beside the records. Each is whole or not there, as records are, and is
found by its name. When everything is done, records take their place.
"""

from __future__ import annotations

import errno
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..expect import InputError
from .archive import SCHEMA, Arrays, DamagedRecord, Header, MissingRecord, RecordError, read, read_header, write
from .store import SUFFIX, DamagedRecordWarning, Store, room_in

UNFINISHED = "unfinished"
KIND = "chunk"
PART = re.compile(r"\d[\d+-]*" + re.escape(SUFFIX))
"""What the files of parts are called; others are not a store's own."""
TEMPORARY = re.compile(r"\.[\w.+-]+" + re.escape(SUFFIX) + r"\.[0-9a-f]{32}\.part")
"""What a file is called while it is written."""
ATTEMPTS = 5


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
        """Write one part. Several processes may write the same one at once; the last to finish stays."""
        for left in reversed(range(ATTEMPTS)):
            try:
                with room_in(self.store.folder):
                    self._make_folder()
                    write(self.folder / f"{name}{SUFFIX}", KIND, header, arrays)
                return
            except InputError as error:
                # Another process may have finished the same work, and clears up: what was being written is gone, or
                # the folder is.
                if not left or not isinstance(error.__cause__, FileNotFoundError):
                    raise

    def names(self) -> list[str]:
        """The names of the parts that are there, sorted."""
        there = sorted(path.name for path in self.folder.glob(f"[!.]*{SUFFIX}"))
        return [name.removesuffix(SUFFIX) for name in there if PART.fullmatch(name)]

    def get(self, name: str) -> tuple[Header, Arrays] | None:
        """One part, or None if it is not there. One that is damaged or of an older schema counts as not there."""
        path = self.folder / f"{name}{SUFFIX}"
        try:
            header, arrays = read(path, KIND)
        except MissingRecord:
            return None
        except DamagedRecord as error:
            warnings.warn(f"{error} It is taken as not done.", DamagedRecordWarning, stacklevel=2)
            return None
        if header["schema"] != SCHEMA:
            said = f"{path} has the older schema {header['schema']} (now {SCHEMA}). It is taken as not done."
            warnings.warn(said, DamagedRecordWarning, stacklevel=2)
            return None
        return header, arrays

    def _make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise InputError(
                f"The store {self.store.folder} takes nothing: {self.folder} cannot be made ({error.strerror}). A "
                "folder that you may write to is expected."
            ) from error

    def remove(self) -> None:
        """Remove all parts, and the folders if nothing of others is in them."""
        clear(self.folder)


def clear(folder: Path) -> None:
    """Remove the parts in the folder of a piece of work, and the folder if nothing of others is in it."""
    for path in folder.glob("*"):
        named = PART.fullmatch(path.name) or TEMPORARY.fullmatch(path.name)
        if named and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)
    for each in (folder, folder.parent):
        with suppress(OSError):
            each.rmdir()


def read_headers(store: Store) -> Iterator[tuple[Path, Header]]:
    """The folder of each unfinished piece of work, and the header of its first part that can be read."""
    for folder in sorted((store.folder / UNFINISHED).glob("*")):
        for path in sorted(folder.glob(f"[!.]*{SUFFIX}")):
            with suppress(RecordError):
                yield folder, read_header(path, KIND)
                break
