"""Files of users, before anything reads them: regular ones that can be opened, and none beyond the limit of bytes.

A pipe or a device may never end, and may wait forever for its other side.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .expect import InputError, within

KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
LONGEST_NAME = 200
"""Characters of a path that messages show."""


class MissingFile(InputError):
    """There is no such file."""


def expect_file(path: str | os.PathLike[str], expected: str = "a file", hint: str = "Is the path right?") -> Path:
    """The path, if it is a regular file that can be opened and is not too large.

    `expected` says what it should be, `hint` what to do if it is not there.

    >>> expect_file(__file__).suffix
    '.py'
    """
    file = Path(path)
    try:
        status = os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile(f"There is no file {quoted(file)}. {hint}") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        reason = error.strerror if isinstance(error, OSError) else "its name has a NUL character"
        raise InputError(f"{quoted(file)} cannot be read: {reason}. Expected {expected}.") from None
    if not stat.S_ISREG(status.st_mode):
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "a device")
        raise InputError(f"{quoted(file)} is {kind}; expected {expected}.")
    if not os.access(file, os.R_OK):
        raise InputError(f"{quoted(file)} cannot be read: Permission denied. Expected {expected}.")
    within(status.st_size, "file_bytes", f"The size of {quoted(file)} in bytes")
    return file


def quoted(path: str | os.PathLike[str]) -> str:
    """A path for a message, shortened in the middle if it is very long."""
    text = os.fspath(path)
    if len(text) > LONGEST_NAME:
        text = f"{text[: LONGEST_NAME // 2]}…{text[-LONGEST_NAME // 2 :]}"
    return f"'{text}'"
