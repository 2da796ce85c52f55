"""One class after another on as many threads as linear algebra has, each with linear algebra on one.

Matrices of a class are small. A library that splits each product over threads waits for them more than it gains, and on
a busy machine a hundred times longer; whole classes on threads of their own need not wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  # its library has to be loaded before it can be found
from threadpoolctl import ThreadpoolController


def each(work: Callable[[int], None], count: int) -> None:
    """Do `work(0)` to `work(count - 1)`, in any order."""
    controller = _controller()
    threads = max((library["num_threads"] for library in controller.info()), default=1)
    with controller.limit(limits=1, user_api="blas"):
        if threads == 1 or count == 1:
            for place in range(count):
                work(place)
            return
        with ThreadPoolExecutor(min(threads, count)) as pool:
            for _ in pool.map(work, range(count)):
                pass


@cache
def _controller() -> Any:
    return ThreadpoolController().select(user_api="blas")
