"""What one task of `record` or `sweep` gave, as a file of the store, and back."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.chunks import Chunks
from ..engine.store import Store
from .describe import DRAWING
from .refit import Answer

Place = tuple[int, tuple[int, ...]]  # a subset, and some of its refits
ALONE = "value by value"

FORMAT = 2
"""Raise it when chunks are cut or written in another way: older ones must not be taken up then."""


NAME = re.compile(r"(\d{5,})-(\d{3,})\+(\d{1,6})")


def chunk_name(subset: int, refits: tuple[int, ...]) -> str:
    """What the file of a task is called.

    >>> chunk_name(7, (0, 1, 2))
    '00007-000+3'
    """
    return f"{subset:05d}-{refits[0]:03d}+{len(refits)}"


def place_of(name: str) -> Place | None:
    """The subset and refits of which a file is, by its name; None if it is another's.

    >>> place_of("00007-000+3"), place_of("copy of 00007-000+3")
    ((7, (0, 1, 2)), None)
    """
    found = NAME.fullmatch(name)
    if found is None:
        return None
    subset, first, count = map(int, found.groups())
    return subset, tuple(range(first, first + count))


def packed(
    answers: list[Answer], said: list[set[str]], about: dict[str, Any], tasks: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a task's answers, one a value, which is the first axis of each array.

    `said`: what fits that values share warned, by refit. `about` and `tasks`: what all of it is a part of, and how many
    parts that has, for those who look into the store.
    """
    arrays = {name: np.stack([getattr(one, name) for one in answers]) for name in ("test", "quality", "seconds")}
    if answers[0].probes is not None:
        arrays["probes"] = np.stack([one.probes for one in answers if one.probes is not None])
    header = {
        "errors": [[[repeat, why] for repeat, why in sorted(one.errors.items())] for one in answers],
        "warnings": [[sorted(each) for each in one.warnings] for one in answers],
        "said": [sorted(each) for each in said],
        "drew": [one.drew for one in answers],
        "about": about,
        "tasks": tasks,
    }
    return header, arrays


def unpacked(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[list[Answer], list[set[str]]]:
    """The answers that `packed` took apart, and what was said."""
    answers = [
        Answer(
            arrays["test"][place],
            arrays["probes"][place] if "probes" in arrays else None,
            arrays["quality"][place],
            arrays["seconds"][place],
            {int(repeat): str(why) for repeat, why in errors},
            [set(each) for each in warned],
            bool(drew),
        )
        for place, (errors, warned, drew) in enumerate(zip(header["errors"], header["warnings"], header["drew"]))
    ]
    return answers, [set(each) for each in header["said"]]


def open_chunks(
    store: Store, keys: list[str], path: str, about: dict[str, Any], **more: Any
) -> tuple[Chunks, dict[str, Any]]:
    """Where the parts of records with these keys go, that are fitted together, and what they say of the whole."""
    which = {"records": keys, "path": path, "chunks": FORMAT}
    told = {**about, **more, "records": keys, "path": path, "drawing": DRAWING, "chunks": FORMAT}
    return Chunks(store, store.key(which)), told


def taken_up(chunks: Chunks | None) -> dict[Place, tuple[list[Answer], list[set[str]]]]:
    """What an earlier run has left in the store, by subset and refits."""
    found = {}
    for name in [] if chunks is None else chunks.names():
        place = place_of(name)
        part = chunks.get(name) if chunks is not None and place is not None else None
        if place is not None and part is not None:
            found[place] = unpacked(*part)
    return found
