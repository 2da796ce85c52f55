"""Our own pool of local processes, kept for the next run, and what one task may use: time and one thread.

Several records in a row are common, so workers wait for the next one.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import IO, Any

from ..expect import InputError
from ..private_apis import ignore_growth_of_worker, is_broken, start_resource_tracker
from ..seeds import one_thread

Function = Callable[[Any, Any], Any]
Reply = tuple[bool, Any]  # (True, result) or (False, Failure)

IDLE_SECONDS = 60  # seconds after which waiting workers end
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

_idle: list[tuple[tuple[int, bool], int, Any]] = []  # who made it, its workers, the executor; at most one


# Before modules are unloaded: after that, loky's executors cannot be closed without a message on stderr.
atexit.register(_idle.clear)


def has_idle_pool(workers: int) -> bool:
    """Whether a pool of this size is waiting."""
    return any(made_by == _parent() and size == workers for made_by, size, _ in _idle)


@contextmanager
def local_workers(workers: int) -> Iterator[Executor]:
    """A pool of local processes. On leaving it is kept; if it broke or something was raised, it is killed."""
    pool = _take_idle(workers) or _new_pool(workers)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    if is_broken(pool) or _idle:
        pool.shutdown(wait=True, kill_workers=True)
    else:
        _idle.append((_parent(), workers, pool))


def _take_idle(workers: int) -> Any:
    while _idle:
        made_by, size, pool = _idle.pop()
        if made_by[0] == os.getpid():  # a fork does not share its parent's workers
            # A worker that another thread starts would be killed when that thread ends: see `_end_with`.
            if made_by == _parent() and size == workers and not is_broken(pool):
                return pool
            pool.shutdown(wait=True)
    return None


def _new_pool(workers: int) -> Any:
    import multiprocessing.resource_tracker

    import loky

    # Without psutil and pgrep, loky can only kill the worker and not what it started, and warns at length.
    warnings.filterwarnings("ignore", message="Failed to kill subprocesses", module="loky")
    # The trackers of shared resources reset the handling of Ctrl-C when they start, so they start before it.
    multiprocessing.resource_tracker.ensure_running()
    start_resource_tracker()
    with interrupts_deferred():
        # For libraries that a task loads later; `one_thread` handles those already loaded.
        # LightGBM asks loky how many cores there are.
        environment = {**dict.fromkeys(THREAD_VARIABLES, "1"), "LOKY_MAX_CPU_COUNT": "1"}
        return loky.ProcessPoolExecutor(
            workers, timeout=IDLE_SECONDS, initializer=_init_worker, initargs=_parent(), env=environment
        )


def _parent() -> tuple[int, bool]:
    """The process, and whether workers can be bound to the thread that starts them: the main one lives as long."""
    return os.getpid(), threading.current_thread() is threading.main_thread()


def _init_worker(parent: int, by_main_thread: bool) -> None:
    _end_with(parent, by_main_thread)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends the workers
    with suppress(OSError):  # stderr may be closed
        os.dup2(2, 1)  # what a learner prints must not mix with the output of a command
    # Loky restarts a worker that grew by 300 MB, with a warning; here that is the next record's data.
    ignore_growth_of_worker()


LOOK_EVERY = 1.0  # seconds between looks whether the parent lives
PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when the thread that started it ends


def _end_with(parent: int, by_main_thread: bool) -> None:
    """End this worker soon after its parent, however that ended; else it would finish what is queued.

    On Linux the kernel does it at once, also within compiled code. Elsewhere, and as a second way, a thread looks.
    """
    if os.name != "posix" or os.getppid() != parent:  # Windows, or something is between the two: we cannot know
        return
    if sys.platform == "linux" and by_main_thread:
        with suppress(Exception):  # best effort: there may be no C library
            ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_EVERY)
        os._exit(1)

    threading.Thread(target=look, name="classay-parent", daemon=True).start()


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Defer Ctrl-C until the end, so that a worker is never half started.

    The signal is also blocked, which workers inherit: they ignore it from the start. That alone would not defer it
    here, because it may reach another thread (of BLAS, say), and Python then raises in the main one.
    """
    earlier = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(earlier):
        yield
        return
    deferred: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: deferred.append((number, frame)))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, earlier)
        if deferred:
            earlier(*deferred[0])  # with its number: the command lets a SIGTERM do the same


# Limits of one task: on the time of one fit, and one thread for its linear algebra.


in_worker = False
"""Whether this process is a worker, which may be terminated without harm. `transport` sets it, in workers only."""


class TimeLimitExceeded(TimeoutError):
    """One fit took longer than its limit."""


@contextmanager
def time_limit(seconds: float | None, grace: float = 5.0) -> Iterator[None]:
    """Raise `TimeLimitExceeded` if the block takes longer than `seconds`. None means no limit.

    - In the main thread of a process, on Linux and macOS, an alarm interrupts it. Compiled code is
      interrupted when it next returns to Python. Elsewhere (other threads, Windows) another thread does it, which
      cannot interrupt waiting, as in `time.sleep`.
    - In a worker process, compiled code that does not return within `grace` more seconds is terminated together
      with its worker; the task then counts as one that killed its worker. Your own process is never terminated.

    Limits can be nested. An alarm that was set before is restored; if it was due meanwhile, it fires on leaving.

    >>> with time_limit(10):
    ...     sum(range(10))
    45
    """
    if seconds is None:
        yield
        return
    if not seconds > 0:
        raise InputError(f"The time limit is {seconds!r} seconds; expected a number above 0, or None.")
    begin = time.monotonic()
    with _end_worker_at(begin + seconds + grace), _alarm(seconds):
        yield
    # Reached if the alarm fired in code that swallows exceptions, or in code that cannot be interrupted.
    if time.monotonic() - begin > seconds:
        raise TimeLimitExceeded(_message(seconds))


def _message(seconds: float) -> str:
    return f"took longer than the time limit of {seconds:g} s"


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not possible:
        with _thread_alarm(seconds):
            yield
        return
    armed = True

    def ring(number: int, frame: FrameType | None) -> None:
        if armed:
            raise TimeLimitExceeded(_message(seconds))

    begin = time.monotonic()
    earlier_handler = signal.signal(signal.SIGALRM, ring)
    # It fires again every second, because a learner may swallow the first one in a broad `except`.
    earlier_delay, earlier_interval = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        try:
            yield
        finally:
            armed = False  # from here on a late alarm must not disturb the cleanup
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier_handler)
        if earlier_delay:
            left = max(earlier_delay - (time.monotonic() - begin), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, earlier_interval)


@contextmanager
def _thread_alarm(seconds: float) -> Iterator[None]:
    """The alarm of a thread that gets no signals: another thread raises the exception in it."""

    class Raised(TimeLimitExceeded):
        def __init__(self) -> None:
            super().__init__(_message(seconds))

    Raised.__name__ = Raised.__qualname__ = TimeLimitExceeded.__name__
    here, done, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()

    def raise_in_thread() -> None:
        pause = seconds
        while not done.wait(pause):
            pause = 1.0  # again every second, like the alarm
            with lock:
                if not done.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(here, ctypes.py_object(Raised))

    threading.Thread(target=raise_in_thread, daemon=True).start()
    try:
        yield
    finally:
        while not done.is_set():
            try:
                with lock:
                    done.set()
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(here, None)  # cancel what was not yet raised
            except Raised:  # it was raised in between; `time_limit` raises in the end
                continue


_deadlines: list[float] = []  # of the nested limits, since faulthandler has only one timer


@contextmanager
def _end_worker_at(deadline: float) -> Iterator[None]:
    """Terminate this worker at the deadline. Faulthandler's timer is a thread that needs no interpreter lock."""
    if not in_worker:
        yield
        return
    _deadlines.append(deadline)
    _set_end_timer()
    try:
        yield
    finally:
        _deadlines.remove(deadline)
        _set_end_timer()


def _set_end_timer() -> None:
    faulthandler.cancel_dump_traceback_later()
    if _deadlines:
        left = max(min(_deadlines) - time.monotonic(), 1e-3)
        faulthandler.dump_traceback_later(left, exit=True, file=_devnull())


@cache
def _devnull() -> IO[str]:
    return open(os.devnull, "w")  # kept open for the life of the worker


# One task, and why it has no result


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task has no result. Plain strings, because an exception may not survive the way back."""

    error: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.error}: {self.message}" if self.message else self.error

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Describe an exception."""
        return cls(type(error).__name__, str(error), "".join(traceback.format_exception(error)))


class LostTask(Failure):
    """A task that the executor could not run at all, because it broke; run again, it may well succeed."""


def perform_task(function: Function, shared: Any, task: Any) -> Reply:
    """Run one task on one thread. What it raises is a result too, even a `sys.exit` of a learner."""
    try:
        with one_thread():
            return True, function(shared, task)
    except (Exception, SystemExit) as error:
        return False, Failure.of(error)
