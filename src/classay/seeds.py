"""One seed, many independent streams, each found by its position: the same for any number of workers.

A stream is addressed by a purpose and a place, as in ``generator(seed, "refit", k, r)``. It does not depend on which
process uses it, nor on what was drawn before.
"""

from __future__ import annotations

import zlib

import numpy as np

from .expect import InputError


def settle(random_state: int | np.random.Generator | np.random.RandomState | None) -> int:
    """Turn a user's `random_state` into one whole number that can be recorded and passed again."""
    if random_state is None:
        # numpy types entropy loosely; a fresh SeedSequence always holds one int.
        return int(np.random.SeedSequence().entropy) % 2**63  # type: ignore[arg-type]
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"`random_state` is {random_state!r}; expected a whole number from 0 up, a numpy Generator or RandomState, or "
        "None. Pass random_state=0 for a repeatable result."
    )


def sequence(seed: int, purpose: str, *place: int) -> np.random.SeedSequence:
    """The seed sequence of one purpose and place."""
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *place))


def generator(seed: int, purpose: str, *place: int) -> np.random.Generator:
    """A random generator of one purpose and place."""
    return np.random.default_rng(sequence(seed, purpose, *place))


def integers(seed: int, purpose: str, *place: int, count: int) -> list[int]:
    """`count` whole numbers that any library accepts as a seed (31 bits)."""
    return [int(word) >> 1 for word in sequence(seed, purpose, *place).generate_state(count)]
