"""The same bits anywhere: one seed, many independent streams, each found by its position; and one thread.

A stream is addressed by a purpose and a place, as in ``generator(seed, "refit", k, r)``. It does not depend on which
process uses it, nor on what was drawn before.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


# Threads: sums over several round differently.


_threadpools: tuple[int, Any] | None = None  # modules loaded when libraries were searched; the libraries


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, so that the bits of a fit do not depend on where it runs.

    A library that is first loaded in between is limited from the next time on. BLAS settings belong to the process,
    so if threads work concurrently, the thread that started them must use this too.
    """
    global _threadpools
    # Searching takes milliseconds, so it is repeated only after something was imported.
    if _threadpools is None or _threadpools[0] != len(sys.modules):
        from threadpoolctl import ThreadpoolController

        _threadpools = len(sys.modules), ThreadpoolController()
    with _threadpools[1].limit(limits=1):
        yield
