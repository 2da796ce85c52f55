"""Our own pool of local processes. It waits for the next run, because several records in a row are common."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

IDLE = 60  # seconds after which waiting workers end
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_waiting: list[tuple[int, int, Any]] = []  # the process that made it, its workers, the executor; at most one


# Before modules are taken down: loky's executors cannot be let go after that without a message on stderr.
atexit.register(_waiting.clear)


def is_warm(workers: int) -> bool:
    """Whether a pool of this size is waiting."""
    return any(made_by == os.getpid() and size == workers for made_by, size, _ in _waiting)


@contextmanager
def borrowed(workers: int) -> Iterator[Executor]:
    """A pool of local processes. On leaving it is kept; if it broke or something was raised, it is killed."""
    pool = _take_waiting(workers) or _new(workers)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    if _is_broken(pool) or _waiting:
        pool.shutdown(wait=True, kill_workers=True)
    else:
        _waiting.append((os.getpid(), workers, pool))


def _is_broken(pool: Any) -> bool:
    return pool._flags.broken is not None


def _take_waiting(workers: int) -> Any:
    while _waiting:
        made_by, size, pool = _waiting.pop()
        if made_by == os.getpid():  # a fork has no part in its parent's workers
            if size == workers and not _is_broken(pool):
                return pool
            pool.shutdown(wait=True)
    return None


def _new(workers: int) -> Any:
    import multiprocessing.resource_tracker

    import loky.backend.resource_tracker

    # Without psutil and pgrep, loky can kill only the worker and not what it started, and says so at length.
    warnings.filterwarnings("ignore", message="Failed to kill subprocesses", module="loky")
    # The trackers of shared resources lift the hold on Ctrl-C when they start, so they start before it.
    multiprocessing.resource_tracker.ensure_running()
    loky.backend.resource_tracker.ensure_running()
    with interrupts_held():
        # For libraries that a task loads later; `limits.one_thread` sees to those that are there.
        # LightGBM asks loky how many cores there are.
        environment = {**dict.fromkeys(THREADS, "1"), "LOKY_MAX_CPU_COUNT": "1"}
        return loky.ProcessPoolExecutor(workers, timeout=IDLE, initializer=_settle, env=environment)


def _settle() -> None:
    import loky.process_executor

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends the workers
    with suppress(OSError):  # stderr may be closed
        os.dup2(2, 1)  # what a learner prints must not get among the results of a command
    # Loky restarts a worker that grew by 300 MB, with a warning; here that is the next record's data.
    loky.process_executor._USE_PSUTIL = False


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Put off Ctrl-C until the end, so that a worker is never half started.

    The signal is also blocked, which workers inherit: they are deaf to it from the start. That alone would not
    hold it here, because it may reach another thread (of BLAS, say), and Python then raises in the main one.
    """
    earlier = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(earlier):
        yield
        return
    came: list[FrameType | None] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append(frame))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, earlier)
        if came:
            earlier(signal.SIGINT, came[0])
