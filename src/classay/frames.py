"""Tables and columns of other libraries (polars, PyArrow, …) as pandas, converted once where users hand them in.

Narwhals, which Altair needs anyway, says what a value is. Nothing needs PyArrow unless the user brought it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from .expect import InputError, unique_names

OURS = ("builtins", "numpy", "pandas", "scipy", "classay")
"""Packages whose values are taken as they are."""
EXACT = 2**53
"""Whole numbers up to here are exact as floats."""


def pandas_of(data: Any, name: str = "X") -> Any:
    """A table or column of any library as a DataFrame or Series; arrays, lists and pandas' own unchanged.

    Names are kept. Whole numbers with missing values become floats as in pandas (or `Int64`, where a float would not
    be exact), booleans with missing values `boolean`, decimals floats, dates datetimes, categories categories. A table
    that is not in memory is refused.

    >>> import narwhals
    >>> pandas_of(narwhals.from_native(pd.DataFrame({"size": [1, 2]}))).columns.tolist()
    ['size']
    """
    if isinstance(data, (pd.DataFrame, pd.Series, np.ndarray)) or type(data).__module__.partition(".")[0] in OURS:
        return data
    import narwhals.stable.v2 as nw

    try:
        known = nw.from_native(data, allow_series=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"`{name}` has several columns with the same name. Give each its own name.") from error
    if isinstance(known, nw.LazyFrame):
        kind = known.implementation
        how = {"polars": ".collect()", "dask": ".compute()", "duckdb": ".df()", "pyspark": ".toPandas()"}
        raise InputError(
            f"`{name}` is a lazy table of {kind.value}, whose rows are not in memory; expected a table in memory. "
            f"Call {how.get(str(kind.value), 'the method that reads it into memory')} first."
        )
    if isinstance(known, nw.DataFrame):
        if known.implementation.is_polars():
            columns = [_of_polars(known[column]) for column in known.columns]
            return pd.DataFrame(dict(zip(known.columns, columns)), index=pd.RangeIndex(len(known)))
        return _of_arrow(known.to_native(), name) if known.implementation.is_pyarrow() else known.to_pandas()
    if isinstance(known, nw.Series):
        if known.implementation.is_polars():
            return pd.Series(_of_polars(known), name=known.name or None)
        return _arrow_column(known.to_native()) if known.implementation.is_pyarrow() else known.to_pandas()
    return _by_protocol(data, name)


def _by_protocol(data: Any, name: str) -> Any:
    """What Narwhals does not know, by Arrow's protocol or the older one; anything else unchanged."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        import pyarrow

        return _arrow_column(data) if isinstance(data, pyarrow.Array) else _of_arrow(pyarrow.table(data), name)
    if hasattr(data, "__dataframe__"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # pandas has no other reader of this protocol
                return pd.api.interchange.from_dataframe(data)
        except (AttributeError, NotImplementedError, RuntimeError, ValueError) as error:
            raise InputError(
                f"`{name}` is a {type(data).__name__}, which pandas cannot read ({error}). Convert it to a pandas "
                "DataFrame first."
            ) from error
    return data


# One column as pandas


def _of_polars(column: Any) -> Any:
    """The values of a polars column, without PyArrow."""
    import narwhals.stable.v2 as nw

    kind = column.dtype
    gaps = bool(column.null_count())
    if kind in (nw.Categorical, nw.Enum):
        # The categories of a Categorical depend on what else was made with it; those of an Enum are the user's.
        fixed = list(kind.categories) if kind == nw.Enum else None
        return pd.Categorical(column.to_list(), categories=fixed, ordered=fixed is not None)
    if kind in (nw.Int128, nw.UInt128):
        numbers = column.to_list()
        fits = all(each is None or -(2**63) <= each < 2**63 for each in numbers)
        return _whole(numbers) if fits else np.array([np.nan if each is None else float(each) for each in numbers])
    if kind.is_integer() and gaps:
        largest = max(abs(column.max() or 0), abs(column.min() or 0))
        return column.to_numpy().astype(float) if largest <= EXACT else _whole(column.to_list())
    if kind == nw.Boolean and gaps:
        return pd.array(column.to_list(), dtype="boolean")
    if kind == nw.Decimal:
        return column.cast(nw.Float64).to_numpy()
    if kind == nw.Datetime and kind.time_zone:
        return pd.DatetimeIndex(column.to_numpy()).tz_localize("UTC").tz_convert(kind.time_zone)
    if kind.is_numeric() or kind in (nw.Boolean, nw.Date, nw.Datetime, nw.Duration):
        values = column.to_numpy()
        return values.astype("datetime64[s]") if kind == nw.Date else values
    if column.null_count() == len(column):
        return np.full(len(column), np.nan)
    return pd.Series(column.to_list())  # text as pandas keeps it; anything else as Python objects


def _of_arrow(table: Any, name: str) -> pd.DataFrame:
    unique_names(table.column_names, f"`{name}`")
    labels = list(table.column_names)
    # With pandas' own metadata: otherwise the index of a table that pandas wrote would be a column.
    frame: pd.DataFrame = table.to_pandas(date_as_object=False).reset_index(drop=True)
    # PyArrow's own names are texts, those of pandas may be anything; an index is not among the columns.
    if frame.shape[1] != len(labels):
        index = set((table.schema.pandas_metadata or {}).get("index_columns", ()) if table.schema.metadata else ())
        labels = [label for label in labels if label not in index]
    pairs = zip(labels, range(frame.shape[1]))
    columns = {place: _arrow_column(table.column(label), frame.iloc[:, place]) for label, place in pairs}
    return pd.DataFrame(columns, index=frame.index).set_axis(frame.columns, axis=1)


def _arrow_column(column: Any, converted: pd.Series[Any] | None = None) -> pd.Series[Any]:
    """A column as PyArrow converts it, but numbers are exact, and decimals, booleans and nothing are no objects."""
    values: pd.Series[Any] = column.to_pandas(date_as_object=False) if converted is None else converted
    values = values.rename(None)
    if str(column.type) in ("int64", "uint64") and values.dtype == float:
        return pd.Series(_whole(column.to_pylist())) if values.abs().max() > EXACT else values
    kind = pd.api.types.infer_dtype(values, skipna=True) if values.dtype == object else ""
    if kind in ("decimal", "empty"):
        return values.astype(float)
    return values.astype("boolean") if kind == "boolean" else values


def _whole(numbers: list[int | None]) -> Any:
    """Exact whole numbers, with or without missing ones."""
    unsigned = max((each for each in numbers if each is not None), default=0) >= 2**63
    if None in numbers:
        return pd.array(numbers, dtype="UInt64" if unsigned else "Int64")
    return np.array(numbers, dtype=np.uint64 if unsigned else np.int64)
