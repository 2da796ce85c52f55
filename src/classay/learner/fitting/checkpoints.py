"""What `record` and `sweep` keep in a store: whole records, and the result of each task until a record is done."""

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
from ..records.scores import KINDS, RefitScores
from . import provenance
from .checks import Setup
from .provenance import DRAWING
from .task import Bench, SubsetAnswers

Place = tuple[int, tuple[int, ...]]  # a subset, and some of its refits

FORMAT = 2
"""Raise it when chunks are divided or written differently: older chunks must not be reused then."""


NAME = re.compile(r"(\d{5,})-(\d{3,})\+(\d{1,6})")


def chunk_name(subset: int, refits: tuple[int, ...]) -> str:
    """The file name of a task.

    >>> chunk_name(7, (0, 1, 2))
    '00007-000+3'
    """
    return f"{subset:05d}-{refits[0]:03d}+{len(refits)}"


def place_of(name: str) -> Place | None:
    """The subset and refits that a file name stands for; None if the file is not one of ours.

    >>> place_of("00007-000+3"), place_of("copy of 00007-000+3")
    ((7, (0, 1, 2)), None)
    """
    match = NAME.fullmatch(name)
    if match is None:
        return None
    subset, first, count = map(int, match.groups())
    return subset, tuple(range(first, first + count))


def packed(
    answers: list[SubsetAnswers], warnings: list[set[str]], about: dict[str, Any], tasks: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of the predictions of a task, one entry per value; values are the first axis of each array.

    `said`: warnings of fits that several values share, by refit. `about` and `tasks`: what these results are a part of
    and how many parts that has, for those who inspect the store.
    """
    arrays = {name: np.stack([getattr(one, name) for one in answers]) for name in ("test", "quality", "seconds")}
    if answers[0].probes is not None:
        arrays["probes"] = np.stack([one.probes for one in answers if one.probes is not None])
    known = next((one.scores for one in answers if one.scores is not None), None)
    if known is not None:
        scored = [(one.scores or known.missing(len(one.seconds))).arrays() for one in answers]
        arrays |= {name: np.stack([each[name] for each in scored]) for name in scored[0]}
    header = {
        "errors": [[[repeat, why] for repeat, why in sorted(one.errors.items())] for one in answers],
        "warnings": [[sorted(each) for each in one.warnings] for one in answers],
        "said": [sorted(each) for each in warnings],
        "drew": [one.drew for one in answers],
        "about": about,
        "tasks": tasks,
    }
    return header, arrays


def unpacked(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[list[SubsetAnswers], list[set[str]]]:
    """Undo `packed`: the predictions, and the warnings."""
    answers = [
        SubsetAnswers(
            arrays["test"][place],
            arrays["probes"][place] if "probes" in arrays else None,
            arrays["quality"][place],
            arrays["seconds"][place],
            {int(repeat): str(why) for repeat, why in errors},
            [set(each) for each in warned],
            bool(drew),
            _unpacked_scores(arrays, place),
        )
        for place, (errors, warned, drew) in enumerate(zip(header["errors"], header["warnings"], header["drew"]))
    ]
    return answers, [set(each) for each in header["said"]]


def _unpacked_scores(arrays: dict[str, NDArray[Any]], place: int) -> RefitScores | None:
    if "scores" not in arrays or not arrays["score_kinds"][place].any():
        return None
    probes = arrays["probe_scores"][place] if "probe_scores" in arrays else None
    return RefitScores(arrays["scores"][place], probes, arrays["score_kinds"][place])


def open_chunks(
    store: Store, keys: list[str], path: str, about: dict[str, Any], **more: Any
) -> tuple[Chunks, dict[str, Any]]:
    """Where the parts of records with these keys, which are fitted together, are stored, and their description."""
    which = {"records": keys, "path": path, "chunks": FORMAT}
    description = {**about, **more, "records": keys, "path": path, "drawing": DRAWING, "chunks": FORMAT}
    return Chunks(store, store.key(which)), description


def taken_up(chunks: Chunks, bench: Bench, values: int) -> dict[Place, tuple[list[SubsetAnswers], list[set[str]]]]:
    """What an earlier run has left in the store, by subset and refits, at so many values. The rest is set aside."""
    by_place = {}
    for name in chunks.names():
        place = place_of(name)
        if place is None:
            continue
        part = chunks.restore(name, partial(_checked, place=place, bench=bench, values=values))
        if part is not None:
            by_place[place] = part
    return by_place


def _checked(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], *, place: Place, bench: Bench, values: int
) -> tuple[list[SubsetAnswers], list[set[str]]]:
    """What `unpacked` gives, if it can be the predictions of these refits on these data."""
    refits = len(place[1])
    shapes: dict[str, tuple[int, ...]] = {
        "test": (values, refits, bench.points(place[0]).size),
        "quality": (values, refits),
        "seconds": (values, refits),
    }
    if bench.probes is not None:
        shapes["probes"] = (values, refits, bench.n_probes)
    if bench.scores is not None and "scores" in arrays:
        shapes |= {"scores": (*shapes["test"], bench.scores.width), "score_kinds": (values, refits)}
        if bench.probes is not None:
            shapes["probe_scores"] = (*shapes["probes"], bench.scores.width)
    found = {name: array.shape for name, array in arrays.items()}
    if found != shapes:
        raise ValueError(f"its arrays have shapes {found}, expected {shapes}")
    if not all(bench.codec.holds(arrays[name]) for name in shapes if name in ("test", "probes")):
        raise ValueError("its predictions are out of range")
    if "scores" in arrays and not np.isin(arrays["score_kinds"], range(len(KINDS))).all():
        raise ValueError("its scores are of an unknown kind")
    if bench.scores is not None and any(
        arrays[name].dtype != bench.scores.dtype for name in ("scores", "probe_scores") if name in arrays
    ):
        raise ValueError(f"its scores are not {bench.scores.dtype} numbers")
    if any((arrays[name] < 0).any() for name in ("quality", "seconds")):
        raise ValueError("it has numbers below 0")
    answers, said = unpacked(header, arrays)
    whole = len(answers) == values and all(len(one.warnings) == refits for one in answers)
    if not whole or any(not set(one.errors) <= set(place[1]) for one in answers):
        raise ValueError("it is not about the refits that its name says")
    return answers, said


# Records of a store: taken only if they are what a request describes, with its rows and its truth.


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
