"""Points on which refits are compared, and how they are drawn: not necessarily like the data.

If two columns are correlated, two classifiers that each use one of them agree on the data and differ elsewhere. Probes
with independent columns show that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from ... import expect, seeds
from ...arrays import Ints
from ...expect import InputError, nearest, shown
from ...frames import pandas_of
from ...inputs import as_array, is_sparse, take, text_rows

KINDS = ("uniform", "marginal", "data")


@dataclass(frozen=True)
class Probes:
    """Rows with the columns of the data, and how they were drawn: one of `KINDS`, or "given" or "drawn by …".

    `test_rows` are their row numbers in the data, if they are rows of the test part.
    """

    kind: str
    rows: Any
    test_rows: Ints | None = None


def probes(requested: Any, n_probes: int, X: Any, test: Ints, seed: int) -> Probes | None:
    """The `probes` of `record`, as rows in the form of the data.

    - uniform: each column independently, uniformly over its domain: numbers and dates over the range seen, integers as
      integers; booleans, text and categories over the values seen. Missing values are as frequent as in the data.
    - marginal: each column independently, drawn from its values in the data, including missing ones.
    - data: the rows of the test part, which no refit was trained on; at most `n_probes` of them, at random.
    - a function of a numpy Generator and a number of rows, or the rows themselves.
    """
    n = expect.whole(n_probes, "n_probes", at_least=2)
    if requested is None:
        return None
    if isinstance(requested, str):
        kind = expect.one_of(requested, "probes", KINDS)
        if kind == "data":
            chosen = test
            if test.size > n:
                chosen = np.sort(seeds.generator(seed, "probes").choice(test, n, replace=False))
            return Probes(kind, take(X, chosen), chosen)
        if is_sparse(X):
            raise InputError(
                f"`probes` is {kind!r} and `X` is sparse; independent columns would make it dense. Pass probes='data', "
                "your own rows, or a dense `X`."
            )
        if X.ndim == 1:
            raise InputError(
                f"`probes` is {kind!r} and the rows of `X` are texts, which have no columns to draw from. Pass "
                "probes='data', or your own texts."
            )
        return Probes(kind, _independent(X, n, seed, _uniform if kind == "uniform" else _resampled))
    if callable(requested):
        try:
            rows = requested(seeds.generator(seed, "probes"), n)
        except Exception as error:  # the function is the user's and may fail in any way
            raise InputError(
                f"`probes` is a function that failed when called with a numpy Generator and {n}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return Probes(f"drawn by {getattr(requested, '__name__', type(requested).__name__)}", _as_in_data(rows, X))
    return Probes("given", _as_in_data(requested, X))


def _independent(X: Any, n: int, seed: int, draw: Any) -> Any:
    """Rows whose columns are drawn independently, in the form of X."""
    if isinstance(X, pd.DataFrame):
        columns = [draw(X.iloc[:, place], n, seeds.generator(seed, "probes", place)) for place in range(X.shape[1])]
        frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(n))
        return frame.set_axis(X.columns, axis=1)
    made = np.empty((n, X.shape[1]), dtype=X.dtype)
    for place in range(X.shape[1]):
        column = pd.Series(X[:, place])
        made[:, place] = draw(column, n, seeds.generator(seed, "probes", place)).to_numpy()
    return made


def _resampled(column: pd.Series[Any], n: int, generator: np.random.Generator) -> pd.Series[Any]:
    return column.iloc[generator.integers(len(column), size=n)].reset_index(drop=True)


def _uniform(column: pd.Series[Any], n: int, generator: np.random.Generator) -> pd.Series[Any]:
    gone = column.isna().to_numpy(dtype=bool)
    if gone.all():
        return column.iloc[np.zeros(n, dtype=int)].reset_index(drop=True)
    # Objects may be numbers or dates: an array with text in one column has objects in all.
    known: pd.Series[Any] = column[~gone].infer_objects()
    dtype = known.dtype
    drawn: pd.Series[Any]
    if types.is_numeric_dtype(dtype) and not types.is_bool_dtype(dtype) and not types.is_complex_dtype(dtype):
        drawn = pd.Series(_numbers(known.to_numpy(), n, generator)).astype(dtype)
    elif types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
        low, high = known.min(), known.max()
        days = bool((known == known.dt.floor("D")).all())
        steps = generator.random(n) * ((high - low + pd.Timedelta(days=1)) if days else (high - low)).total_seconds()
        times: Any = pd.Series(low + pd.to_timedelta(steps, unit="s"))
        drawn = (times.dt.floor("D") if days else times).clip(low, high).astype(dtype)
    else:
        seen = known.drop_duplicates()
        # Sorted as text, so that the order of rows makes no difference.
        texts = [str(value) for value in seen]
        seen = seen.iloc[sorted(range(len(texts)), key=texts.__getitem__)]
        drawn = seen.iloc[generator.integers(len(seen), size=n)].reset_index(drop=True)
    if column.dtype == object:
        drawn = drawn.astype(object)
    if gone.any():
        drawn = drawn.mask(generator.random(n) < gone.mean())
    return drawn


def _numbers(values: NDArray[Any], n: int, generator: np.random.Generator) -> NDArray[Any]:
    low, high = values.min(), values.max()
    whole = values.dtype.kind in "iu" or bool((values == np.floor(values)).all())
    if whole and abs(float(low)) < 2**62 and abs(float(high)) < 2**62:
        return generator.integers(int(low), int(high), size=n, endpoint=True)
    share = generator.random(n)
    # Not low + share · (high − low), which may overflow.
    return np.asarray((1 - share) * float(low) + share * float(high))


def _as_in_data(rows: Any, X: Any) -> Any:
    """Probes in the form of the data, columns in its order."""
    rows = pandas_of(rows, "probes")
    if X.ndim == 1:
        texts = text_rows(rows, "probes")
        if texts is None:
            raise InputError("`probes` must be a list of texts, as `X` is.")
        return texts
    if isinstance(X, pd.DataFrame):
        if not isinstance(rows, pd.DataFrame):
            raise InputError(f"`probes` must be a DataFrame with the columns of `X`: {shown(X.columns)}.")
        known = [str(name) for name in X.columns]
        for name in rows.columns:
            if name not in X.columns:
                raise InputError(
                    f"`probes` has a column {name!r}, which `X` does not have.{nearest(str(name), known)} `X` has "
                    f"{shown(known)}."
                )
        lacking = [name for name in X.columns if name not in rows.columns]
        if lacking:
            raise InputError(f"`probes` lacks {shown(lacking)}; expected the columns of `X`: {shown(known)}.")
        if not rows.columns.is_unique:
            raise InputError("`probes` has columns with the same name. Pass each column once.")
        rows = rows[X.columns]
    elif is_sparse(rows):
        rows = rows.tocsr()
    else:
        rows = as_array(rows, "probes")
    if rows.ndim != 2 or rows.shape[1] != X.shape[1] or rows.shape[0] == 0:
        raise InputError(f"`probes` has shape {rows.shape}; expected rows of {X.shape[1]} columns.")
    return rows
