"""A record on disk: one file, without pickle, which is either whole or not there.

It is a zip archive: ``header.json`` first, then one ``NAME.npy`` per array, so that `numpy.load` opens it,
too. It is written under a temporary name and then renamed. The same record gives the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError, shown

SCHEMA = 1
HEADER = "header.json"
OWN = (
    "format",
    "schema",
    "kind",
    "versions",
    "checksum",
)  # what the header holds beside the caller's content
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can tell

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
PathLike = str | os.PathLike[str]


class RecordError(InputError):
    """A file that is not the record that was expected."""


class MissingRecord(RecordError):
    """There is no such file."""


class DamagedRecord(RecordError):
    """A file that is not a whole record: cut off, altered, or something else altogether."""


def write(path: PathLike, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Path:
    """Write a record. The header holds JSON values; the arrays numbers, booleans, strings or times."""
    taken = [name for name in OWN if name in header]
    if taken:
        raise InputError(f"The header holds {shown(taken)}, which every record has. Use other names.")
    checked = {name: _checked(name, array) for name, array in sorted(arrays.items())}
    own = {"format": "classay", "schema": SCHEMA, "kind": kind, "versions": versions()}
    text = to_json({**own, "checksum": checksum(checked), **header}, "The header of a record", indent=1)
    with _replacing(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(HEADER), text)
        for name, array in checked.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return Path(path)


def read(path: PathLike, kind: str | None = None) -> tuple[Header, Arrays]:
    """Read a record and check it against its checksum. `kind` is what is expected; None takes any."""
    with _opened(path) as archive:
        header = _header(archive, path, kind)
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): _array(archive, name) for name in members}
    if checksum(arrays) != header["checksum"]:
        raise DamagedRecord(f"{path} is damaged: its arrays do not match its checksum. Make the record again.")
    return header, arrays


def read_header(path: PathLike, kind: str | None = None) -> Header:
    """Read only the header of a record, without its arrays."""
    with _opened(path) as archive:
        return _header(archive, path, kind)


def checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    """A SHA-256 over the names, types, shapes and contents of arrays, in the order of their names."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}\0{np.lib.format.dtype_to_descr(array.dtype)}\0{array.shape}\0".encode())
        if array.nbytes:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """The versions of what makes a record."""

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "unknown"

    packages = {name: installed(name) for name in ("classay", "numpy", "scikit-learn")}
    return {"python": platform.python_version(), **packages}


def to_json(content: Mapping[str, Any], what: str, **options: Any) -> str:
    """JSON with sorted names; what JSON cannot hold, NaN among it, is an error that names `what`."""
    try:
        return json.dumps(content, allow_nan=False, sort_keys=True, **options)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} holds what JSON cannot ({error}). Turn it into plain values.") from None


def _checked(name: str, array: Any) -> NDArray[Any]:
    if not name or not name.isprintable() or "/" in name or "\\" in name:
        raise InputError(f"An array cannot be called {name!r}; a printable name without slashes is expected.")
    values = np.asarray(array, order="C")
    if values.dtype.hasobject:
        raise InputError(
            f"The array {name!r} holds Python objects, which would need pickle. Turn it into numbers, or "
            "into strings of a fixed length by `array.astype(str)`."
        )
    return values


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.external_attr = 0o644 << 16
    member.create_system = 3  # Unix, whatever the system is, for equal bytes
    return member


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside the target that takes its place at the end, and is gone if something fails."""
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")  # others may write it, too
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
        message = f"the disk is full, and {target} was not written. Make room and run the same again"
        raise OSError(error.errno, message) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    with suppress(OSError):  # folders cannot be synced on every system
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the new name, too, survives a power cut
        finally:
            os.close(folder)


@contextmanager
def _opened(path: PathLike) -> Iterator[zipfile.ZipFile]:
    """Open a record. Whatever a damaged or foreign file makes the libraries raise becomes a RecordError."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except RecordError:
        raise
    except FileNotFoundError:
        raise MissingRecord(f"There is no file {path}. Is the path right?") from None
    except (IsADirectoryError, PermissionError) as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}. A record is one file.") from error
    except zipfile.BadZipFile as error:
        message = f"{path} is not a record of classay, or was cut off or altered ({error})."
        raise DamagedRecord(f"{message} Make the record again.") from error
    except Exception as error:
        raise DamagedRecord(f"{path} is damaged ({error}). Make the record again.") from error


def _header(archive: zipfile.ZipFile, path: PathLike, kind: str | None) -> Header:
    if HEADER not in archive.namelist():
        raise DamagedRecord(f"{path} is a zip archive but not a record of classay: it has no {HEADER}.")
    try:
        header = json.loads(archive.read(HEADER))
    except (ValueError, RecursionError):
        raise DamagedRecord(f"{path} is damaged: its {HEADER} is not JSON. Make the record again.") from None
    if not isinstance(header, dict) or header.get("format") != "classay":
        raise DamagedRecord(f"{path} is not a record of classay: its {HEADER} does not say so.")
    schema = header.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise RecordError(
            f"{path} was written by a newer classay (schema {schema}; this one reads up to {SCHEMA}). "
            "Upgrade classay to read it."
        )
    lacking = [name for name in OWN if name not in header]
    if lacking:
        raise DamagedRecord(f"{path} is damaged: {HEADER} lacks {shown(lacking)}. Make the record again.")
    if kind is not None and header["kind"] != kind:
        raise RecordError(f"{path} is a record of kind {header['kind']!r}; {kind!r} is expected.")
    return header


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        # To the end once, which checks the sum, before numpy believes a size that a flipped bit made huge.
        while member.read(1 << 20):
            pass
    with archive.open(name) as member:
        return np.lib.format.read_array(member, allow_pickle=False)
