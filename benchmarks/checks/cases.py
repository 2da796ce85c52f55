"""A case of the table: a world with or without a planted fault, and what a check answers about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

FOUND, UNDECIDED, NO, OTHER = "found", "undecided", "no", "other"
"""What a check may answer; `OTHER`: it found something, but not what was planted."""


@dataclass(frozen=True)
class Case:
    """`run(seed)` makes the world with this seed and returns an answer; `planted`: whether there is a fault."""

    world: str
    planted: bool
    run: Callable[[int], str]
