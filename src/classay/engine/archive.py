"""A record on disk: one file, without pickle, which is either complete or not there.

It is a zip archive: ``header.json`` first, then one ``NAME.npy`` per array, so that `numpy.load` opens it too. It is
written under a temporary name and then renamed. The same record gives the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ..expect import InputError, shown
from ..files import MissingFile, expect_file, expect_small_members
from .machine import machine, versions

SCHEMA = 1
HEADER = "header.json"
RESERVED = ("format", "schema", "kind", "versions", "machine", "checksum")
"""What every header has besides its content."""
ADDRESS = "address"  # where in a store a record belongs; those outside of stores have none
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip archive can store

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
PathLike = str | os.PathLike[str]


class RecordError(InputError):
    """A file that is not the expected record."""


class MissingRecord(RecordError):
    """There is no such file."""


class DamagedRecord(RecordError):
    """A file that is not a complete record: truncated, altered, or something else."""


class ForeignRecord(RecordError):
    """A complete record in the place of another one."""


def write(
    path: PathLike, kind: str, header: Mapping[str, Any], arrays: Mapping[str, Any], address: str | None = None
) -> Path:
    """Write a record. The header has JSON values; the arrays numbers, booleans, strings or times.

    `address`: where in a store it belongs, so that it is not taken for another record when files are mixed up.
    """
    taken = [name for name in (*RESERVED, ADDRESS) if name in header]
    if taken:
        raise InputError(f"The header has {shown(taken)}, which every record has. Use other names.")
    checked = {name: _checked_array(name, array) for name, array in sorted(arrays.items())}
    own = {"format": "classay", "schema": SCHEMA, "kind": kind, "versions": versions(), "machine": machine()}
    own |= {} if address is None else {ADDRESS: address}
    text = to_json({**own, "checksum": checksum(checked), **header}, "The header of a record", indent=1)
    with atomic_file(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_zip_member(HEADER), text)
        for name, array in checked.items():
            with archive.open(_zip_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return Path(path)


def read(path: PathLike, kind: str | None = None, address: str | None = None) -> tuple[Header, Arrays]:
    """Read a record and verify its checksum. `kind` and `address` are what is expected; None accepts any."""
    with _open_record(path) as archive:
        header = _header(archive, path, kind, address)
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): _array(archive, name) for name in members}
    if checksum(arrays) != header["checksum"]:
        raise DamagedRecord(f"{path} is damaged: its arrays do not match its checksum. Make the record again.")
    return header, arrays


def read_header(path: PathLike, kind: str | None = None, address: str | None = None) -> Header:
    """Read only the header of a record, without its arrays."""
    with _open_record(path) as archive:
        return _header(archive, path, kind, address)


def checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    """A SHA-256 over the names, types, shapes and contents of arrays, in the order of their names."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}\0{np.lib.format.dtype_to_descr(array.dtype)}\0{array.shape}\0".encode())
        if array.nbytes:
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def to_json(content: Mapping[str, Any], what: str, **options: Any) -> str:
    """JSON with sorted names; values that JSON cannot represent, such as NaN, are an error that names `what`."""
    try:
        return json.dumps(content, allow_nan=False, sort_keys=True, **options)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} contains what JSON cannot represent ({error}). Use plain values.") from None


def _checked_array(name: str, array: Any) -> NDArray[Any]:
    if not name or not name.isprintable() or "/" in name or "\\" in name:
        raise InputError(f"An array cannot be called {name!r}; expected a printable name without slashes.")
    values = np.asarray(array, order="C")
    if values.dtype.hasobject:
        raise InputError(
            f"The array {name!r} contains Python objects, which would need pickle. Convert it to numbers, or "
            "to strings of a fixed length by `array.astype(str)`."
        )
    return values


def _zip_member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EPOCH)
    member.external_attr = 0o644 << 16
    member.create_system = 3  # Unix, whatever the system is, for equal bytes
    return member


@contextmanager
def _open_record(path: PathLike) -> Iterator[zipfile.ZipFile]:
    """Open a record. Whatever the libraries raise for a damaged or foreign file becomes a RecordError."""
    try:
        with zipfile.ZipFile(expect_file(path, "a record, which is one file")) as archive:
            expect_small_members(archive, path)
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise zipfile.BadZipFile("its parts are packed")  # a few bytes could unpack to more than the memory
            yield archive
    except RecordError:
        raise
    except MissingFile as error:
        raise MissingRecord(str(error)) from None
    except InputError as error:
        raise RecordError(str(error)) from None
    except zipfile.BadZipFile as error:
        message = f"{path} is not a record of classay, or was truncated or altered ({error})."
        raise DamagedRecord(f"{message} Make the record again.") from error
    except Exception as error:
        raise DamagedRecord(f"{path} is damaged ({error}). Make the record again.") from error


def _header(archive: zipfile.ZipFile, path: PathLike, kind: str | None, address: str | None) -> Header:
    if HEADER not in archive.namelist():
        raise DamagedRecord(f"{path} is a zip archive but not a record of classay: it has no {HEADER}.")
    try:
        header = json.loads(archive.read(HEADER))
    except (ValueError, RecursionError):
        raise DamagedRecord(f"{path} is damaged: its {HEADER} is not JSON. Make the record again.") from None
    if not isinstance(header, dict) or header.get("format") != "classay":
        raise DamagedRecord(f"{path} is not a record of classay: its {HEADER} does not say so.")
    schema = header.get("schema")
    if isinstance(schema, int) and schema != SCHEMA:
        raise RecordError(
            f"{path} was written by another classay (schema {schema}; this one reads {SCHEMA}). Make it again."
        )
    lacking = [name for name in RESERVED if name not in header]
    if lacking:
        raise DamagedRecord(f"{path} is damaged: {HEADER} lacks {shown(lacking)}. Make the record again.")
    kinds = {"schema": int, "kind": str, "versions": dict, "machine": dict, "checksum": str}
    wrong = [name for name, expected in kinds.items() if not isinstance(header[name], expected)]
    if wrong:
        raise DamagedRecord(f"{path} is damaged: {HEADER} has another {shown(wrong)} than records. Make it again.")
    if kind is not None and header["kind"] != kind:
        raise ForeignRecord(f"{path} is a record of kind {header['kind']!r}; expected {kind!r}.")
    if address is not None and header.get(ADDRESS) != address:
        raise ForeignRecord(f"{path} is the record {header.get(ADDRESS)!s:.80}, in the place of another one.")
    return header


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(name) as member:
        # Read to the end once, which verifies the checksum, before numpy trusts a size that a flipped bit made huge.
        while member.read(1 << 20):
            pass
    with archive.open(name) as member:
        return np.lib.format.read_array(member, allow_pickle=False)


# Tables as plain arrays and JSON, and back: what a record can store without pickle.


MOST_TABLE_BYTES = 2**26
"""Maximum bytes of a table that is stored."""


def pack_table(table: Any, name: str) -> tuple[Header, Arrays] | None:
    """Header and arrays, their names starting with `name`, of a DataFrame or array; None if it cannot be stored.

    Not stored: sparse matrices, more than `MOST_TABLE_BYTES` bytes, columns of anything other than numbers, booleans,
    text, dates and categories of these.

    >>> header, arrays = pack_table(pd.DataFrame({"hue": ["red", None], "size": [1, 2]}), "rows")
    >>> sorted(arrays)
    ['rows.0', 'rows.0.missing', 'rows.1']
    >>> unpack_table(header, arrays, "rows")["size"].tolist()
    [1, 2]
    """
    if isinstance(table, np.ndarray):
        if table.dtype.hasobject or table.nbytes > MOST_TABLE_BYTES:
            return None
        return {"form": "array"}, {name: table}
    if not isinstance(table, pd.DataFrame):
        return None
    columns: list[Header] = []
    arrays: Arrays = {}
    for place in range(table.shape[1]):
        packed = _pack_column(table.iloc[:, place], f"{name}.{place}")
        if packed is None:
            return None
        columns.append(packed[0])
        arrays |= packed[1]
    names: list[Any] = table.columns.tolist()
    plain_names = all(isinstance(label, (str, int)) and not isinstance(label, bool) for label in names)
    if not plain_names or sum(array.nbytes for array in arrays.values()) > MOST_TABLE_BYTES:
        return None
    return {"form": "frame", "rows": len(table), "names": names, "columns": columns}, arrays


def unpack_table(header: Header, arrays: Arrays, name: str) -> Any:
    """Undo `pack`."""
    if header["form"] == "array":
        return arrays[name]
    columns = [_unpack_column(column, arrays, f"{name}.{place}") for place, column in enumerate(header["columns"])]
    frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(header["rows"]))
    return frame.set_axis(pd.Index(header["names"]), axis=1)


def _pack_column(column: pd.Series[Any], name: str) -> tuple[Header, Arrays] | None:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        inner = _pack_column(dtype.categories.to_series(), f"{name}.categories")
        if inner is None:
            return None
        codes = column.cat.codes.to_numpy()
        return {"form": "category", "ordered": bool(dtype.ordered), "of": inner[0]}, {name: codes, **inner[1]}
    if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
        return {"form": "plain"}, {name: column.to_numpy()}
    if isinstance(dtype, pd.DatetimeTZDtype):
        return {"form": "zoned", "zone": str(dtype.tz)}, {
            name: column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
        }
    missing = column.isna().to_numpy(dtype=bool)
    kind = types.infer_dtype(column, skipna=True)
    values: NDArray[Any]
    if kind in ("string", "empty"):
        texts = ["" if is_missing else str(value) for value, is_missing in zip(column, missing)]
        if 4 * len(texts) * max(map(len, texts), default=0) > MOST_TABLE_BYTES:
            return None  # an array has the width of its longest text in every row
        values = np.array(texts, dtype=str)
    elif kind in ("boolean", "integer", "floating"):
        known = np.asarray(column[~missing].tolist())
        values = np.zeros(len(column), dtype=known.dtype)
        values[~missing] = known
    else:
        return None
    if values.dtype.hasobject:
        return None
    arrays: Arrays = {name: values}
    if missing.any():
        arrays[f"{name}.missing"] = missing
    return {"form": "other", "dtype": str(dtype)}, arrays


def _unpack_column(header: Header, arrays: Arrays, name: str) -> Any:
    values = arrays[name]
    if header["form"] == "category":
        categories = _unpack_column(header["of"], arrays, f"{name}.categories")
        return pd.Categorical.from_codes(values, categories=pd.Index(categories), ordered=header["ordered"])
    if header["form"] == "plain":
        return values
    if header["form"] == "zoned":
        return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(header["zone"])
    objects = values.astype(object)
    if f"{name}.missing" in arrays:
        objects[arrays[f"{name}.missing"]] = None
    return pd.Series(objects, dtype=header["dtype"])


# A file that is there completely or not at all, whatever happens while it is written


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
