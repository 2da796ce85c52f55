"""Tasks on any `concurrent.futures.Executor`: crashes are contained, and Ctrl-C keeps what is done.

The engine knows nothing of learners: it calls ``function(shared, task)`` for every task. What a task answers
must not depend on where or in which order it runs; then neither does the outcome.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import nullcontext, suppress
from math import inf
from typing import Any

from .. import expect
from .job import Enough, Job, Outcome
from .limits import TimeLimitExceeded, limit, one_thread
from .pool import borrowed, interrupts_held, is_warm
from .progress import Progress
from .remote import parcel
from .shared import Failure, Folder, Function, Parcel, Reference, perform

__all__ = ["Failure", "Outcome", "TimeLimitExceeded", "limit", "run"]

PATIENCE = 2.0  # seconds of work that are done here rather than start workers for it
PATIENCE_WARM = 0.2  # the same when workers are waiting from an earlier run
KILLED = "killed its worker twice: out of memory, or a crash in compiled code?"


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
    window: int | None = None,
) -> Outcome:
    """Call ``function(shared, task)`` for every task and collect what it returns.

    A task that raises is listed in `failures` and the rest go on. A task whose worker dies is tried again
    alone; if it kills that worker, too, it is listed. If an executor of yours breaks, what is done is kept,
    the rest is listed. On Ctrl-C what is done is returned, with `interrupted` set; a second Ctrl-C raises.

    - `function` is called in the workers, on one BLAS thread; it must not alter `shared`.
    - `tasks`: small picklable objects.
    - `shared`: data for all tasks. They travel once per worker; classes from a notebook may be among them.
    - `executor`: any `concurrent.futures.Executor`; or a number of local workers, where 1 is this process; or
      None: one worker per core, but a job of less than about two seconds is done in this process.
    - `on_result` is called here, as ``on_result(index, result)``, when a task is done. If it returns a true
      value the rest is left; if it raises, the rest is left and that is raised.
    - `wanted` is asked here, by index, just before a task is begun or sent; one that is not wanted is let go.
    - `progress`, `label`: show a bar on stderr, and its name.
    - `isolate`: never run a task in this process, so that a crash or a hang in compiled code cannot take it
      along. Without it, None runs the first task or two here.
    - `window`: most tasks in flight at once; by default a little more than two per worker.

    >>> run(lambda shared, task: shared + task, [1, 2, 3], shared=10, executor=1).results
    {0: 11, 1: 12, 2: 13}
    """
    listed = list(tasks)
    outcome = Outcome()
    workers = None if isinstance(executor, Executor) else _workers(executor)
    with Progress(len(listed), label, progress) as bar:
        job = Job(function, listed, shared, on_result, wanted, bar, outcome)
        waiting = deque(range(len(listed)))
        try:
            if isinstance(executor, Executor):
                _on_given(job, waiting, executor, window)
            elif workers is not None:
                if workers == 1 and not isolate:
                    _here(job, waiting, inf)
                elif executor is None and not isolate:
                    _here(job, waiting, PATIENCE_WARM if is_warm(workers) else PATIENCE)
                _on_own(job, waiting, workers, window)
        except KeyboardInterrupt:
            outcome.interrupted = True
        except Enough:
            outcome.stopped = True
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
        f"`executor` is {executor!r}; a concurrent.futures.Executor, a number of local workers, or None for "
        f"one worker per core is expected.{hint}"
    )


def _here(job: Job, waiting: deque[int], patience: float) -> None:
    """Work in this process until what remains would take longer than `patience`."""
    seconds: list[float] = []
    while job.any_of(waiting):
        begin = time.perf_counter()
        index = waiting.popleft()
        job.take(index, perform(job.function, job.shared, job.tasks[index]))
        seconds.append(time.perf_counter() - begin)
        if len(seconds) == 1 and seconds[0] < patience / 2:
            continue  # the first one may have paid for imports; let the second one tell
        typical = sum(seconds[1:]) / (len(seconds) - 1) if seconds[1:] else seconds[0]
        if typical * len(waiting) > patience:
            return


def _on_given(job: Job, waiting: deque[int], executor: Executor, window: int | None) -> None:
    """Work on an executor that is not ours, so that it cannot be started anew when it breaks."""
    sent = parcel(job.function, job.shared, len(job.tasks), executor)
    try:
        with one_thread() if isinstance(sent, Reference) else nullcontext():
            broken, cause = _across(job, waiting, executor, sent, window)
        while broken and cause is None:
            # A cluster that lives on gave these up because workers died; each one alone shows which it was.
            alone = deque([broken.pop(0)])
            again, cause = _across(job, alone, executor, sent, 1)
            if cause is None:
                job.fail(again, Failure("WorkerDied", KILLED))
            else:
                broken += [*again, *alone]
    finally:
        sent.remove()
    if cause is not None:
        job.outcome.broken = str(cause)
        message = f"the executor broke before this task was done: {cause}"
        job.fail(sorted([*broken, *waiting]), Failure("BrokenExecutor", message))


def _on_own(job: Job, waiting: deque[int], workers: int, window: int | None) -> None:
    """Work on local processes, and start new ones when one dies."""
    if not job.any_of(waiting):
        return
    sent = Folder(job.function, job.shared, len(job.tasks))
    deaths_at_rest = 0
    try:
        while job.any_of(waiting):
            with borrowed(workers) as pool:
                broken, cause = _across(job, waiting, pool, sent, window)
            suspects = [index for index in broken if sent.was_started(index)]
            waiting.extendleft(reversed([index for index in broken if index not in suspects]))
            for index in suspects:
                with borrowed(1) as pool:
                    if _across(job, deque([index]), pool, sent, 1)[0]:
                        job.fail([index], Failure("WorkerDied", KILLED))
            # A worker that dies before it begins a task says nothing about the tasks; do not try for ever.
            deaths_at_rest = 0 if suspects else deaths_at_rest + 1
            if deaths_at_rest == 3:
                job.fail(waiting, Failure("WorkerDied", f"workers die before they begin a task: {cause}"))
                return
    finally:
        sent.remove()


def _across(
    job: Job, waiting: deque[int], executor: Executor, sent: Parcel, window: int | None
) -> tuple[list[int], BaseException | None]:
    """Keep `window` tasks in flight until all are done; return those in flight when it broke, and why.

    Without a cause, the executor goes on, and those that are returned were given up because workers died.

    The window keeps the suspects few when a worker dies, and the tasks few that Ctrl-C has to cancel.
    """
    flying: dict[Future[Any], int] = {}
    landed: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    broken: list[int] = []
    cause: BaseException | None = None
    try:
        while flying or (cause is None and job.any_of(waiting)):
            while cause is None and len(flying) < (window or sent.window(executor)) and job.any_of(waiting):
                with interrupts_held():
                    try:
                        future = sent.send(executor, waiting[0], job.tasks[waiting[0]])
                    except RuntimeError as refusal:  # broken, or shut down
                        cause = refusal
                    else:
                        flying[future] = waiting.popleft()
                        future.add_done_callback(landed.put)
            if not flying:
                continue
            try:
                future = landed.get(timeout=0.2)
            except queue.Empty:
                job.bar.tick()
                lost = sent.lost()
                if lost:
                    cause = BrokenExecutor(lost)
                    broken += flying.values()
                    flying = {}
                continue
            index = flying.pop(future)
            error = CancelledError("it was cancelled elsewhere") if future.cancelled() else future.exception()
            if isinstance(error, CancelledError) and sent.lost():
                error = BrokenExecutor(sent.lost())
            if isinstance(error, BrokenExecutor):
                cause = error
                broken.append(index)
            elif error is not None and sent.killed(error):
                broken.append(index)
            elif error is not None:
                job.fail([index], Failure.of(error))
            else:
                answer = sent.opened(index, future.result())
                if answer is None:
                    waiting.appendleft(index)
                else:
                    job.take(index, answer)
    except KeyboardInterrupt:
        with suppress(Enough):
            for future, index in flying.items():
                if future.done() and not future.cancelled() and future.exception() is None:
                    answer = sent.opened(index, future.result())
                    if answer is not None:
                        job.take(index, answer)
        raise
    finally:
        for future in flying:
            future.cancel()
    return sorted(broken), cause
