"""A table from standard input, written `-`: it is copied to a temporary file, because tables are read several times."""

from __future__ import annotations

import atexit
import shutil
import sys
import tempfile
from pathlib import Path
from typing import IO

from ..expect import InputError, within

STANDARD_INPUT = "-"
NAME = "stdin"
SUFFIXES = {
    b"PAR1": ".parquet",
    b"PK\x03\x04": ".npz",
    b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2",
    b"\xfd7zXZ": ".csv.xz",
}
"""How files begin -> the suffix of their kind; all else is CSV, TSV or ARFF."""
PART = 1 << 20
_folders: list[Path] = []
"""The folder of what was copied; it is removed when the process ends. Standard input can be read once."""


def copied() -> Path:
    """The content of standard input as a file, of the kind that its first bytes show."""
    source = getattr(sys.stdin, "buffer", None)
    if source is None or sys.stdin.isatty():
        raise InputError(
            "The table is -, standard input, which is not connected to a file. Write: classay data - < table.csv."
        )
    if _folders:
        raise InputError("Standard input (-) was named twice, but it can be read only once. Save it to a file.")
    _folders.append(Path(tempfile.mkdtemp(prefix="classay-stdin-")))
    atexit.register(shutil.rmtree, _folders[0], ignore_errors=True)
    raw = _folders[0] / NAME
    with open(raw, "wb") as target:
        _copy(source, target)
    return raw.rename(raw.with_name(NAME + _suffix(raw)))


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    total = 0
    while part := source.read(PART):
        total = within(total + len(part), "file_bytes", "The size of standard input in bytes")
        target.write(part)


def _suffix(path: Path) -> str:
    with open(path, "rb") as file:
        begin = file.read(4096)
    known = next((suffix for magic, suffix in SUFFIXES.items() if begin.startswith(magic)), "")
    return known or (".arff" if b"@relation" in begin.lower() else ".csv")
