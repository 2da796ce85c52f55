"""Records of learners on disk: `load` reads what `save` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..engine import store
from ..expect import InputError
from .labelings import Labelings
from .predictions import Predictions

KINDS: dict[str, type[Labelings] | type[Predictions]] = {kind.KIND: kind for kind in (Labelings, Predictions)}


def load(path: str | Path) -> Any:
    """Read a record that `Labelings.save` or `Predictions.save` wrote."""
    header, arrays = store.read(Path(path))
    if header["kind"] not in KINDS:
        raise store.RecordError(
            f"{path} is a record of kind {header['kind']!r}; one of {', '.join(map(repr, KINDS))} is expected."
        )
    try:
        return restored(header, arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no whole record of {header['kind']} ({error}). Make the record again.") from error


def restored(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Labelings | Predictions:
    """The record that `to_file` took apart."""
    return KINDS[header["kind"]].from_file(header, arrays)
