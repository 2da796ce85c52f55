"""Tasks on any `concurrent.futures.Executor`: crashes are contained, and Ctrl-C keeps what is done.

The engine knows nothing about learners: it calls ``function(shared, task)`` for every task. The result of a task
must not depend on where or in which order it runs; then neither does the outcome.
"""

from __future__ import annotations

import os
import queue
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from typing import Any

from .. import expect
from ..seeds import one_thread
from .pool import (
    Failure,
    Function,
    LostTask,
    Reply,
    TimeLimitExceeded,
    has_idle_pool,
    interrupts_deferred,
    local_workers,
    perform_task,
    time_limit,
)
from .progress import Progress
from .transport import FolderTransport, ThreadTransport, Transport, transport_for

__all__ = ["Failure", "LostTask", "Outcome", "TimeLimitExceeded", "deadline", "run", "time_limit"]
PATIENCE = 2.0  # seconds of work that are done here rather than starting workers for it, on an idle machine
PATIENCE_WARM = 0.2  # the same when workers are waiting from an earlier run
KILLED = "killed its worker twice: out of memory, or a crash in compiled code?"


_deadline: ContextVar[float] = ContextVar("deadline", default=inf)


@contextmanager
def deadline(end: float) -> Iterator[None]:
    """Inside, every `run` ends at this time of `time.monotonic` as if someone pressed Ctrl-C: what is done is kept."""
    token = _deadline.set(min(end, _deadline.get()))
    try:
        yield
    finally:
        _deadline.reset(token)


@dataclass
class Outcome:
    """The results of the tasks, by their index. One in neither dict was not wanted, or not finished before the end."""

    results: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    interrupted: bool = False  # by Ctrl-C, or by a deadline


def run(
    function: Function,
    tasks: Iterable[Any],
    *,
    shared: Any = None,
    executor: Executor | int | None = None,
    on_result: Callable[[int, Any], object] | None = None,
    wanted: Callable[[int], bool] | None = None,
    progress: bool = False,
    label: str = "",
    isolate: bool = False,
) -> Outcome:
    """Call ``function(shared, task)`` for every task and collect the results.

    A task that raises is listed in `failures` and the rest go on. A task whose worker dies is tried again
    alone; if it kills that worker too, it is listed. If an executor of yours breaks, what is done is kept, and
    the rest is listed. On Ctrl-C what is done is returned, with `interrupted` set; a second Ctrl-C raises. A `deadline`
    is an automatic Ctrl-C: tasks that run in local workers are ended, and one that runs here as soon as it can be.

    - `function` is called in the workers, on one BLAS thread; it must not change `shared`.
    - `tasks`: small picklable objects.
    - `shared`: data for all tasks. They are sent once per worker; they may include classes from a notebook.
    - `executor`: any `concurrent.futures.Executor`; or a number of local workers, where 1 is this process; or
      None: one worker per core, but a job of less than about two seconds is done in this process.
    - `on_result` is called here, as ``on_result(index, result)``, when a task is done. If it raises, the rest is
      skipped and that is raised.
    - `wanted` is called here, by index, just before a task is started or sent; one that is not wanted is skipped.
    - `progress`, `label`: show a bar on stderr, and its name.
    - `isolate`: never run a task in this process, so that a crash or a hang in compiled code cannot take it
      down. Without it, None runs the first task or two here.

    >>> run(lambda shared, task: shared + task, [1, 2, 3], shared=10, executor=1).results
    {0: 11, 1: 12, 2: 13}
    """
    task_list = list(tasks)
    outcome = Outcome()
    workers = None if isinstance(executor, Executor) else _workers(executor)
    with Progress(len(task_list), label, progress) as bar:
        job = Job(function, task_list, shared, on_result, wanted, bar, outcome)
        waiting = deque(range(len(task_list)))
        try:
            if isinstance(executor, Executor):
                _run_on_executor(job, waiting, executor)
            elif workers is not None:
                if workers == 1 and not isolate:
                    _run_here(job, waiting, inf)
                elif executor is None and not isolate:
                    _run_here(job, waiting, (PATIENCE_WARM if has_idle_pool(workers) else PATIENCE) * _crowd())
                _run_on_local_workers(job, waiting, workers)
        except KeyboardInterrupt:
            outcome.interrupted = True
    outcome.results = dict(sorted(outcome.results.items()))
    outcome.failures = dict(sorted(outcome.failures.items()))
    return outcome


def _workers(executor: Any) -> int:
    if executor is None:
        import loky

        return int(loky.cpu_count())
    if isinstance(executor, int):
        return expect.whole(executor, "executor", at_least=1)
    hint = " Pass client.get_executor()." if hasattr(executor, "get_executor") else ""
    raise expect.InputError(
        f"`executor` is {executor!r}; expected a concurrent.futures.Executor, a number of local workers, or None for "
        f"one worker per core.{hint}"
    )


def _crowd() -> float:
    """Processes that share a core, at least one: starting a worker takes so many times as long."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0


def _run_here(job: Job, waiting: deque[int], patience: float) -> None:
    """Work in this process until what remains would take longer than `patience`."""
    seconds: list[float] = []
    while job.has_wanted(waiting):
        left = job.time_left()
        begin = time.perf_counter()
        index = waiting.popleft()
        try:
            with time_limit(None if left == inf else left):
                reply = perform_task(job.function, job.shared, job.tasks[index])
        except TimeLimitExceeded:
            raise KeyboardInterrupt from None
        job.time_left()  # a task that was ended may have called that its own failure
        job.add_reply(index, reply)
        seconds.append(time.perf_counter() - begin)
        if len(seconds) == 1 and seconds[0] < patience / 2:
            continue  # the first one may include the time of imports; the second one decides
        typical = sum(seconds[1:]) / (len(seconds) - 1) if seconds[1:] else seconds[0]
        if typical * len(waiting) > patience:
            return


def _run_on_executor(job: Job, waiting: deque[int], executor: Executor) -> None:
    """Work on an executor that is not ours, which cannot be restarted when it breaks."""
    transport = transport_for(job.function, job.shared, len(job.tasks), executor)
    try:
        with one_thread() if isinstance(transport, ThreadTransport) else nullcontext():
            broken, cause = _run_in_flight(job, waiting, executor, transport)
        while broken and cause is None:
            # A cluster that lives on gave these up because workers died; running each alone shows which it was.
            alone = deque([broken.pop(0)])
            killers, cause = _run_in_flight(job, alone, executor, transport)
            if cause is None:
                job.add_failures(killers, Failure("WorkerDied", KILLED))
            else:
                broken += [*killers, *alone]
    finally:
        transport.remove()
    if cause is not None:
        message = f"the executor broke before this task was done: {cause}"
        job.add_failures(sorted([*broken, *waiting]), LostTask("BrokenExecutor", message))


def _run_on_local_workers(job: Job, waiting: deque[int], workers: int) -> None:
    """Work on local processes, and start new ones when one dies."""
    if not job.has_wanted(waiting):
        return
    transport = FolderTransport(job.function, job.shared, len(job.tasks))
    deaths_at_rest = 0
    try:
        while job.has_wanted(waiting):
            with local_workers(workers) as pool:
                broken, cause = _run_in_flight(job, waiting, pool, transport)
            suspects = [index for index in broken if transport.was_started(index)]
            waiting.extendleft(reversed([index for index in broken if index not in suspects]))
            for index in suspects:
                with local_workers(1) as pool:
                    if _run_in_flight(job, deque([index]), pool, transport)[0]:
                        job.add_failures([index], Failure("WorkerDied", KILLED))
            # A worker that dies before it starts a task says nothing about the tasks; do not try forever.
            deaths_at_rest = 0 if suspects else deaths_at_rest + 1
            if deaths_at_rest == 3:
                job.add_failures(waiting, Failure("WorkerDied", f"workers die before they start a task: {cause}"))
                return
    finally:
        transport.remove()


def _run_in_flight(
    job: Job, waiting: deque[int], executor: Executor, transport: Transport
) -> tuple[list[int], BaseException | None]:
    """Keep a few tasks in flight until all are done; return those in flight when it broke, and why.

    Without a cause, the executor goes on, and those returned were given up because workers died.

    That they are few limits the suspects when a worker dies, and the tasks that Ctrl-C has to cancel.
    """
    in_flight: dict[Future[Any], int] = {}
    finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    broken: list[int] = []
    cause: BaseException | None = None
    try:
        while in_flight or (cause is None and job.has_wanted(waiting)):
            job.time_left()
            while cause is None and len(in_flight) < transport.window(executor) and job.has_wanted(waiting):
                with interrupts_deferred():
                    try:
                        future = transport.send(executor, waiting[0], job.tasks[waiting[0]])
                    except RuntimeError as refusal:  # broken, or shut down
                        cause = refusal
                    else:
                        in_flight[future] = waiting.popleft()
                        future.add_done_callback(finished.put)
            if not in_flight:
                continue
            try:
                future = finished.get(timeout=0.2)
            except queue.Empty:
                job.bar.tick()
                lost_reason = transport.lost_reason()
                if lost_reason:
                    cause = BrokenExecutor(lost_reason)
                    broken += in_flight.values()
                    in_flight = {}
                continue
            index = in_flight.pop(future)
            error = CancelledError("it was cancelled elsewhere") if future.cancelled() else future.exception()
            if isinstance(error, CancelledError) and transport.lost_reason():
                error = BrokenExecutor(transport.lost_reason())
            if isinstance(error, BrokenExecutor):
                cause = error
                broken.append(index)
            elif error is not None and transport.is_worker_death(error):
                broken.append(index)
            elif error is not None:
                job.add_failures([index], Failure.of(error))
            else:
                reply = transport.unpack_reply(index, future.result())
                if reply is None:
                    waiting.appendleft(index)
                else:
                    job.add_reply(index, reply)
    except KeyboardInterrupt:
        for future, index in in_flight.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                reply = transport.unpack_reply(index, future.result())
                if reply is not None:
                    job.add_reply(index, reply)
        raise
    finally:
        for future in in_flight:
            future.cancel()
    return sorted(broken), cause


@dataclass
class Job:
    """The tasks of a run, and where their results go."""

    function: Function
    tasks: list[Any]
    shared: Any
    on_result: Callable[[int, Any], object] | None
    wanted: Callable[[int], bool] | None
    bar: Progress
    outcome: Outcome

    def time_left(self) -> float:
        """Seconds until the deadline; after it, the run is interrupted."""
        left = _deadline.get() - time.monotonic()
        if left <= 0:
            raise KeyboardInterrupt
        return left

    def has_wanted(self, waiting: deque[int]) -> bool:
        """Whether anything is waiting, after skipping tasks at its head that are no longer wanted."""
        while waiting and self.wanted is not None and not self.wanted(waiting[0]):
            waiting.popleft()
            self.bar.total -= 1
        return bool(waiting)

    def add_reply(self, index: int, reply: Reply) -> None:
        """Store the result of a task."""
        done, content = reply
        (self.outcome.results if done else self.outcome.failures)[index] = content
        self.bar.advance()
        if done and self.on_result is not None:
            self.on_result(index, content)

    def add_failures(self, indices: Iterable[int], failure: Failure) -> None:
        """Record that tasks failed."""
        for index in indices:
            self.add_reply(index, (False, failure))
