"""A table as plain arrays and JSON, and back: what a record can hold without pickle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from .archive import Arrays, Header

LARGEST = 2**26
"""Bytes of a table that is still kept."""


def pack(table: Any, name: str) -> tuple[Header, Arrays] | None:
    """Header and arrays, their names starting with `name`, of a DataFrame or array; None if it cannot be kept.

    What cannot be: sparse matrices, more than `LARGEST` bytes, columns of other things than numbers, truth values,
    texts, dates and categories of these.

    >>> header, arrays = pack(pd.DataFrame({"hue": ["red", None], "size": [1, 2]}), "rows")
    >>> sorted(arrays)
    ['rows.0', 'rows.0.missing', 'rows.1']
    >>> unpack(header, arrays, "rows")["size"].tolist()
    [1, 2]
    """
    if isinstance(table, np.ndarray):
        if table.dtype.hasobject or table.nbytes > LARGEST:
            return None
        return {"form": "array"}, {name: table}
    if not isinstance(table, pd.DataFrame):
        return None
    columns: list[Header] = []
    arrays: Arrays = {}
    for place in range(table.shape[1]):
        packed = _packed(table.iloc[:, place], f"{name}.{place}")
        if packed is None:
            return None
        columns.append(packed[0])
        arrays |= packed[1]
    names: list[Any] = table.columns.tolist()
    plain_names = all(isinstance(label, (str, int)) and not isinstance(label, bool) for label in names)
    if not plain_names or sum(array.nbytes for array in arrays.values()) > LARGEST:
        return None
    return {"form": "frame", "rows": len(table), "names": names, "columns": columns}, arrays


def unpack(header: Header, arrays: Arrays, name: str) -> Any:
    """What `pack` took apart."""
    if header["form"] == "array":
        return arrays[name]
    columns = [_unpacked(each, arrays, f"{name}.{place}") for place, each in enumerate(header["columns"])]
    frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(header["rows"]))
    return frame.set_axis(pd.Index(header["names"]), axis=1)


def _packed(column: pd.Series[Any], name: str) -> tuple[Header, Arrays] | None:
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        inner = _packed(dtype.categories.to_series(), f"{name}.categories")
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
    gone = column.isna().to_numpy(dtype=bool)
    kind = types.infer_dtype(column, skipna=True)
    filled: NDArray[Any]
    if kind in ("string", "empty"):
        filled = np.array(["" if missing else str(value) for value, missing in zip(column, gone)], dtype=str)
    elif kind in ("boolean", "integer", "floating"):
        known = np.asarray(column[~gone].tolist())
        filled = np.zeros(len(column), dtype=known.dtype)
        filled[~gone] = known
    else:
        return None
    if filled.dtype.hasobject:
        return None
    arrays: Arrays = {name: filled}
    if gone.any():
        arrays[f"{name}.missing"] = gone
    return {"form": "other", "dtype": str(dtype)}, arrays


def _unpacked(header: Header, arrays: Arrays, name: str) -> Any:
    values = arrays[name]
    if header["form"] == "category":
        inside = _unpacked(header["of"], arrays, f"{name}.categories")
        return pd.Categorical.from_codes(values, categories=pd.Index(inside), ordered=header["ordered"])
    if header["form"] == "plain":
        return values
    if header["form"] == "zoned":
        return pd.DatetimeIndex(values).tz_localize("UTC").tz_convert(header["zone"])
    content = values.astype(object)
    if f"{name}.missing" in arrays:
        content[arrays[f"{name}.missing"]] = None
    return pd.Series(content, dtype=header["dtype"])
