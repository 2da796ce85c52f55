"""What one task may take: a limit on time for one fit, and one thread for its linear algebra."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import IO, Any

from ..expect import InputError

in_worker = False
"""Whether this process is a worker, which may be ended without harm. `shared` sets it, in workers only."""


class TimeLimitExceeded(TimeoutError):
    """One fit took longer than its limit."""


@contextmanager
def limit(seconds: float | None, grace: float = 5.0) -> Iterator[None]:
    """Raise `TimeLimitExceeded` if what is inside takes longer than `seconds`. None means no limit.

    - In the main thread of a process, on Linux and macOS, an alarm interrupts it. Compiled code is
      interrupted when it next returns to Python. Elsewhere (other threads, Windows) another thread does it, which
      cannot break off waiting, as in `time.sleep`.
    - In a worker process, compiled code that does not return within `grace` more seconds is ended together
      with its worker; the task then counts as one that killed its worker. Your own process is never ended.

    Limits can be nested. An alarm that was set before is put back; if it fell due, it goes off on leaving.

    >>> with limit(10):
    ...     sum(range(10))
    45
    """
    if seconds is None:
        yield
        return
    if not seconds > 0:
        raise InputError(f"The time limit is {seconds!r} seconds; a number above 0, or None, is expected.")
    begin = time.monotonic()
    with _backstop(begin + seconds + grace), _alarm(seconds):
        yield
    # Reached when the alarm fell in code that swallows exceptions, or in what cannot be interrupted.
    if time.monotonic() - begin > seconds:
        raise TimeLimitExceeded(_message(seconds))


def _message(seconds: float) -> str:
    return f"took longer than the time limit of {seconds:g} s"


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not possible:
        with _knock(seconds):
            yield
        return
    armed = True

    def ring(number: int, frame: FrameType | None) -> None:
        if armed:
            raise TimeLimitExceeded(_message(seconds))

    begin = time.monotonic()
    earlier_handler = signal.signal(signal.SIGALRM, ring)
    # It rings again every second, because a learner may swallow the first one in a broad `except`.
    earlier_delay, earlier_interval = signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        try:
            yield
        finally:
            armed = False  # from here on a late ring must not break the clearing up
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier_handler)
        if earlier_delay:
            left = max(earlier_delay - (time.monotonic() - begin), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, earlier_interval)


@contextmanager
def _knock(seconds: float) -> Iterator[None]:
    """The alarm of a thread that gets no signals: another thread has the exception raised in it."""

    class Knocked(TimeLimitExceeded):
        def __init__(self) -> None:
            super().__init__(_message(seconds))

    Knocked.__name__ = Knocked.__qualname__ = TimeLimitExceeded.__name__
    here, done, turn = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()

    def knock() -> None:
        pause = seconds
        while not done.wait(pause):
            pause = 1.0  # again every second, as the alarm
            with turn:
                if not done.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(here, ctypes.py_object(Knocked))

    threading.Thread(target=knock, daemon=True).start()
    try:
        yield
    finally:
        while not done.is_set():
            try:
                with turn:
                    done.set()
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(here, None)  # take back what was not yet raised
            except Knocked:  # it came in between; `limit` raises in the end
                continue


_deadlines: list[float] = []  # of the nested limits, since faulthandler has only one timer


@contextmanager
def _backstop(deadline: float) -> Iterator[None]:
    """End this worker at the deadline. Faulthandler's timer is a thread that needs no interpreter lock."""
    if not in_worker:
        yield
        return
    _deadlines.append(deadline)
    _arm()
    try:
        yield
    finally:
        _deadlines.remove(deadline)
        _arm()


def _arm() -> None:
    faulthandler.cancel_dump_traceback_later()
    if _deadlines:
        left = max(min(_deadlines) - time.monotonic(), 1e-3)
        faulthandler.dump_traceback_later(left, exit=True, file=_nowhere())


@cache
def _nowhere() -> IO[str]:
    return open(os.devnull, "w")  # held for the life of the worker


_known: tuple[int, Any] | None = None  # modules loaded when libraries were sought; the libraries


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS and OpenMP to one thread, so that the bits of a fit do not depend on where it runs.

    A library that is first loaded in between is kept to one thread from the next time on. BLAS settings belong
    to the process, so around threads that work side by side the thread that started them must hold this, too.
    """
    global _known
    # Seeking takes milliseconds, so it is done again only after something was imported.
    if _known is None or _known[0] != len(sys.modules):
        from threadpoolctl import ThreadpoolController

        _known = len(sys.modules), ThreadpoolController()
    with _known[1].limit(limits=1):
        yield
