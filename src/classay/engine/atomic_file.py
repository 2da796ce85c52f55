"""A file that is there completely or not at all, whatever happens while it is written."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..expect import InputError


@contextmanager
def atomic_file(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file next to the target that replaces it at the end, and is removed if something fails."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")  # others may write it too
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError) as error:
        raise InputError(f"{target} cannot be written: {error.strerror}. Choose another place.") from error
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        message = f"the disk is full, and {target} was not written. Free some space and run the same again"
        raise OSError(error.errno, message) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    with suppress(OSError):  # folders cannot be synced on every system
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the new name also survives a power failure
        finally:
            os.close(folder)
