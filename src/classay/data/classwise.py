"""One class after another on as many threads as linear algebra has, each with linear algebra on one.

Matrices of a class are small. A library that splits each product over threads waits for them more than it gains, and on
a busy machine a hundred times longer; whole classes on threads of their own need not wait for each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  # its library has to be loaded before it can be found
from threadpoolctl import ThreadpoolController


def each(work: Callable[[int], None], count: int) -> None:
    """Do `work(0)` to `work(count - 1)`, in any order."""
    with _one_thread() as threads:
        if threads == 1 or count == 1:
            for place in range(count):
                work(place)
            return
        with ThreadPoolExecutor(min(threads, count)) as pool:
            for _ in pool.map(work, range(count)):
                pass


# The limit belongs to the process: of callers side by side the first sets it and the last puts it back.
_lock = threading.Lock()
_inside = 0
_threads = 1
_limit: Any = None


@contextmanager
def _one_thread() -> Iterator[int]:
    """Linear algebra on one thread; how many it had."""
    global _inside, _threads, _limit
    with _lock:
        if _inside == 0:
            controller = _controller()
            _threads = max((library["num_threads"] for library in controller.info()), default=1)
            _limit = controller.limit(limits=1, user_api="blas")
        _inside += 1
        threads = _threads
    try:
        yield threads
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit.restore_original_limits()


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")
