"""A record of a store, taken only if it is what a request describes: its address, its rows, its truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.store import Store
from ..records.labelings import LabelCodec, Labelings
from ..records.predictions import Predictions, restored
from . import provenance
from .checks import Setup


def stored_record(store: Store, key: str, setup: Setup) -> Labelings | Predictions | None:
    """The record at this key, or None. One that does not belong there is set aside, with a warning."""

    def make(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Labelings | Predictions:
        # Older records do not contain their key, but it can be computed from their description.
        if record_key(header["about"], setup.time_limit) != key:
            raise ValueError("it is the record of another request")
        record = restored(header, arrays)
        _expect_same_data(record, setup)
        return record

    return store.restore(key, None, make)


def record_key(about: dict[str, Any], time_limit: float | None) -> str:
    """The key of the record with this provenance. How an exact path shared fits makes no difference to the result."""
    exact = about.get("path", {"exact": True})["exact"]
    deciding = {name: part for name, part in about.items() if name != "path" or not exact}
    return Store.key(provenance.address(deciding, time_limit))


def _expect_same_data(record: Labelings | Predictions, setup: Setup) -> None:
    refits = 1 if record.deterministic else setup.repeats
    if record.present.shape != (setup.scheme.n, refits):
        raise ValueError(f"it has {record.present.shape} subsets and refits, expected {(setup.scheme.n, refits)}")
    same = np.array_equal(record.test_rows, setup.test) and np.array_equal(
        record.truth, setup.codec.truth(setup.y[setup.test])
    )
    if isinstance(setup.codec, LabelCodec):
        same = same and isinstance(record, Labelings) and np.array_equal(record.classes, setup.codec.classes)
    else:
        same = same and isinstance(record, Predictions)
    if not same:
        raise ValueError("its test rows, classes or truth are not those of the data")
