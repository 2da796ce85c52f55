"""Files of users, before anything reads them: regular ones that can be opened, and none beyond the limit of bytes.

A pipe or a device may never end, and may wait forever for its other side. What a file unpacks to is counted before it
takes memory: `open_text` counts while it reads, and members of archives are looked at before any is read.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .expect import InputError, advice, limit_of, within

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


# Text, unpacked while it is read


COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
CELLS_IN_LINE = 64
"""A line may be as long as this many of the longest cells: lines are read whole."""


def open_text(path: Path, encoding: str | None = None) -> TextIO:
    """The file as text, unpacked, within the limits: UTF-16 if it begins with its mark, otherwise UTF-8."""
    counted = io.BufferedReader(_Counted(path), 1 << 18)
    if encoding is None:
        encoding = "utf-16" if counted.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return io.TextIOWrapper(counted, encoding=encoding, newline="")


class _Counted(io.RawIOBase):
    """The bytes of a file, unpacked: an error as soon as there are too many in all, or in a line."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, COMPRESSED.get(path.suffix.lower(), open)(path, "rb")
        self.total = self.line = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.total = self.line = 0
        return int(self.file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        part = self.file.read(len(buffer))
        buffer[: len(part)] = part
        self.total = within(self.total + len(part), "array_bytes", f"The unpacked size of {quoted(self.path)} in bytes")
        end = max(part.rfind(b"\n"), part.rfind(b"\r"))
        self.line = len(part) - end - 1 if end >= 0 else self.line + len(part)
        if self.line > (longest := CELLS_IN_LINE * limit_of("cell_characters")):
            raise InputError(
                f"{quoted(self.path)} has a line of more than {longest:,} bytes; expected one row in each line. "
                f"{advice('cell_characters')}"
            )
        return len(part)

    def close(self) -> None:
        self.file.close()
        super().close()


# NumPy files: what they declare is compared with what they contain before any memory is taken


UNREADABLE = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, OverflowError, SyntaxError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)
"""What NumPy and zipfile raise for a file that is damaged. RuntimeError: encrypted, or packed in an unknown way."""
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_arrays(path: str | Path, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """The arrays of an .npz file by name, without any pickle. A damaged file, or one that would not fit, is refused.

    wanted: names in lower case of arrays of numbers or text; all names are then in lower case, with None for others.
    """
    try:
        expect_honest_sizes(path)
        with open(path, "rb") as opened:
            loaded = np.load(opened, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                raise InputError(f"{quoted(path)} contains one array; expected an .npz file made by np.savez.")
            if wanted is None:
                return {name: loaded[name] for name in loaded.files}
            arrays = {name.lower(): loaded[name] if name.lower() in wanted else None for name in loaded.files}
    except InputError:
        raise
    except UNREADABLE as error:
        raise unreadable(path, error) from None
    for name, array in arrays.items():
        if array is not None and array.dtype.kind == "V":
            raise InputError(
                f"`{name}` of {quoted(path)} has values of type {array.dtype}, raw bytes or several fields; expected "
                "numbers or text. Save one array of numbers for each field."
            )
    return arrays


def unreadable(path: str | Path, error: Exception) -> InputError:
    """The error for a NumPy file that cannot be read."""
    if "pickle" in str(error):
        return InputError(
            f"{quoted(path)} has pickled Python objects, or is not an array. Reading such objects could run code, so "
            "classay refuses to. Save numbers, and names as text: labels.astype(str)."
        )
    return InputError(
        f"{quoted(path)} cannot be read as a NumPy file ({type(error).__name__}: {error}). Is it complete?"
    )


def expect_honest_sizes(path: str | Path) -> None:
    """Refuse a NumPy file whose arrays declare more than they contain, or unpack to more than the limit.

    A few bytes can declare, or unpack to, more than the memory. Damage of other kinds is left to `numpy.load`.
    """
    if not zipfile.is_zipfile(path):
        with open(path, "rb") as file:
            declared = _declared_bytes(file)
            contained = os.fstat(file.fileno()).st_size - file.tell()
        if declared is not None and declared > contained:
            raise InputError(f"{path} is damaged or hostile: it declares {declared:,} bytes and has {contained:,}.")
        return
    with zipfile.ZipFile(path) as archive:
        expect_small_members(archive, path)
        for member in archive.infolist():
            with archive.open(member) as file:
                declared = _declared_bytes(file)
            if declared is not None and declared > member.file_size:
                raise InputError(
                    f"{path} is damaged or hostile: its array {member.filename!r} declares {declared:,} bytes and has "
                    f"{member.file_size:,}."
                )


def expect_small_members(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
    """Refuse an archive that unpacks to more than the limit, before anything in it is read."""
    within(sum(each.file_size for each in archive.infolist()), "array_bytes", f"The unpacked size of {path} in bytes")


def _declared_bytes(file: Any) -> int | None:
    """The bytes that the header of an array declares, or None if that cannot be read."""
    try:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = HEADERS.get(version, HEADERS[2, 0])(file)
        return math.prod(shape) * int(dtype.itemsize)
    except UNREADABLE:
        return None
