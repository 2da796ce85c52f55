"""What a store keeps for `record` and `sweep`: whole records, and the result of each task until a record is done."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.store import Chunks, Store
from ..records.codecs import LabelCodec
from ..records.labelings import Labelings
from ..records.predictions import Predictions, restored
from ..records.scores import KINDS
from . import provenance
from .checks import Setup
from .task import Answers

Place = tuple[int, tuple[int, ...]]  # the number of a sample, and some of its refits
Record = Labelings | Predictions

FORMAT = 4
"""Raise it when chunks are divided or written differently: older chunks must not be reused then."""


NAME = re.compile(r"(\d{5,})-(\d{3,})\+(\d{1,6})")


def chunk_name(sample: int, refits: tuple[int, ...]) -> str:
    """The file name of a task.

    >>> chunk_name(7, (0, 1, 2))
    '00007-000+3'
    """
    return f"{sample:05d}-{refits[0]:03d}+{len(refits)}"


def place_of(name: str) -> Place | None:
    """The sample and refits that a file name stands for; None if the file is not one of ours.

    >>> place_of("00007-000+3"), place_of("copy of 00007-000+3")
    ((7, (0, 1, 2)), None)
    """
    match = NAME.fullmatch(name)
    if match is None:
        return None
    sample, first, count = map(int, match.groups())
    return sample, tuple(range(first, first + count))


def packed(answers: list[Answers], about: dict[str, Any], tasks: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of the answers of a task, one entry per value; values are the first axis of each array.

    `about` and `tasks`: what these results are a part of and how many parts that has, for those who inspect the store.
    """
    header = {
        "errors": [[[repeat, why] for repeat, why in sorted(value.errors.items())] for value in answers],
        "warnings": [[sorted(refit) for refit in value.warnings] for value in answers],
        "shared": [sorted(refit) for refit in answers[0].shared],
        "drew": [value.drew for value in answers],
        "about": about,
        "tasks": tasks,
    }
    return header, {name: np.stack([value.arrays[name] for value in answers]) for name in answers[0].arrays}


def taken_up(chunks: Chunks, setup: Setup, values: int) -> dict[Place, list[Answers]]:
    """What an earlier run has left in the store, by sample and refits, at so many values. The rest is set aside."""
    by_place = {}
    for name in chunks.names():
        place = place_of(name)
        if place is not None and place[0] < len(setup.samples):
            answers = chunks.restore(name, partial(_unpacked, place=place, setup=setup, values=values))
            if answers is not None:
                by_place[place] = answers
    return by_place


def _unpacked(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], *, place: Place, setup: Setup, values: int
) -> list[Answers]:
    """Undo `packed`, if these can be the answers of these refits on these data."""
    points = setup.points(setup.samples[place[0]]).size
    expected = {name: array.shape for name, array in setup.empty_arrays(len(place[1]), points).items()}
    shapes = {name: array.shape for name, array in arrays.items()}
    if shapes != {name: (values, *shape) for name, shape in expected.items()}:
        raise ValueError(f"its arrays have shapes {shapes}, expected {values} x {expected}")
    if not all(setup.codec.holds(arrays[name]) for name in ("test", "probes") if name in arrays):
        raise ValueError("its predictions are out of range")
    if "scores" in arrays and not np.isin(arrays["score_kinds"], range(len(KINDS))).all():
        raise ValueError("its scores are of an unknown kind")
    dtype = None if setup.scores is None else setup.scores.dtype
    if any(arrays[name].dtype != dtype for name in ("scores", "probe_scores") if name in arrays):
        raise ValueError("its scores are numbers of another type")
    if any((arrays[name] < 0).any() for name in ("quality", "seconds", "complexity")):
        raise ValueError("it has numbers below 0")
    answers = [
        Answers(
            {name: array[number] for name, array in arrays.items()},
            {int(repeat): str(why) for repeat, why in errors},
            [set(refit) for refit in warned],
            [set(refit) for refit in header["shared"]],
            bool(drew),
        )
        for number, (errors, warned, drew) in enumerate(zip(header["errors"], header["warnings"], header["drew"]))
    ]
    whole = len(answers) == values and all(len(value.warnings) == len(place[1]) for value in answers)
    if not whole or any(not set(value.errors) <= set(place[1]) for value in answers):
        raise ValueError("it is not about the refits that its name says")
    return answers


# Records of a store: taken only if they are what a request describes, with its rows and its truth.


def stored_record(store: Store, key: str, setup: Setup) -> Record | None:
    """The record at this key, or None. One that does not belong there is set aside, with a warning."""

    def make(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Record:
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


def _expect_same_data(record: Record, setup: Setup) -> None:
    expected = (len(setup.samples), 1 if record.deterministic else setup.repeats)
    if record.present.shape != expected:
        raise ValueError(f"it has {record.present.shape} subsets and refits, expected {expected}")
    same = np.array_equal(record.test_rows, setup.test)
    same = same and np.array_equal(record.truth, setup.codec.truth(setup.y[setup.test]))
    if isinstance(setup.codec, LabelCodec):
        same = same and isinstance(record, Labelings) and np.array_equal(record.classes, setup.codec.classes)
    else:
        same = same and isinstance(record, Predictions)
    if not same:
        raise ValueError("its test rows, classes or truth are not those of the data")
