"""NumPy files of users: what they declare is compared with what they contain before any memory is taken."""

from __future__ import annotations

import math
import os
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .expect import InputError, within

UNREADABLE = (
    *(OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, OverflowError, SyntaxError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error, tokenize.TokenError),
)
"""What NumPy and zipfile raise for a file that is damaged. RuntimeError: encrypted, or packed in an unknown way."""
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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
    total = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            total = within(total + member.file_size, "array_bytes", f"The unpacked size of {path} in bytes")
            with archive.open(member) as file:
                declared = _declared_bytes(file)
            if declared is not None and declared > member.file_size:
                raise InputError(
                    f"{path} is damaged or hostile: its array {member.filename!r} declares {declared:,} bytes and has "
                    f"{member.file_size:,}."
                )


def expect_numbers_or_text(array: NDArray[Any], name: str) -> None:
    """Refuse arrays of raw bytes and of several fields: no learner can read them."""
    if array.dtype.kind == "V":
        raise InputError(
            f"`{name}` has values of type {array.dtype}, raw bytes or several fields; expected numbers or text. Save "
            "one array of numbers for each field."
        )


def _declared_bytes(file: Any) -> int | None:
    """The bytes that the header of an array declares, or None if that cannot be read."""
    try:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = HEADERS.get(version, HEADERS[2, 0])(file)
        return math.prod(shape) * int(dtype.itemsize)
    except UNREADABLE:
        return None
