"""Tasks: the same results on every executor, failures listed, crashes contained, what is done kept."""

import contextlib
import hashlib
import os
import signal
import sys
import textwrap
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import loky
import numpy as np
import pytest
from started import started

from classay.engine import pool, transport, work
from classay.engine.work import Failure, TimeLimitExceeded, run, time_limit
from classay.expect import InputError

pytestmark = pytest.mark.usefixtures("loky_workers")

# Functions for workers are made inside functions, so that they travel by value and no worker imports this.


def draw_function():
    def draw(table, task):
        rows = np.random.default_rng(task).integers(len(table), size=50)
        return float(np.linalg.svd(table[rows], compute_uv=False).sum())

    return draw


class Postal(Executor):
    """A stand-in for a cluster: an executor of no known kind, which runs what it is sent, out of order."""

    def __init__(self):
        self.sizes = []
        self.batch = []

    def submit(self, fn, /, *args, **kwargs):
        import cloudpickle

        future = Future()
        packed = cloudpickle.dumps((fn, args, kwargs))
        self.sizes.append(len(packed))
        self.batch.append((future, packed))
        threading.Timer(0.01, self.deliver).start()
        return future

    def deliver(self):
        import cloudpickle

        future, packed = self.batch.pop()
        fn, args, kwargs = cloudpickle.loads(packed)
        future.set_running_or_notify_cancel()
        future.set_result(fn(*args, **kwargs))


EXECUTORS = {
    "1": lambda: contextlib.nullcontext(1),
    "2": lambda: contextlib.nullcontext(2),
    "None": contextlib.nullcontext,
    "threads": lambda: ThreadPoolExecutor(3),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")),
    "loky": lambda: loky.ProcessPoolExecutor(2),
    "postal": lambda: contextlib.nullcontext(Postal()),
}
TABLE = np.random.default_rng(0).normal(size=(2000, 30))  # large enough to be mapped: 480 kB


@pytest.fixture(scope="module")
def expected():
    return {index: draw_function()(TABLE, task) for index, task in enumerate(range(100, 120))}


@pytest.mark.parametrize("name", EXECUTORS)
def test_the_same_results_bit_for_bit_everywhere(name, expected):
    with EXECUTORS[name]() as executor:
        outcome = run(draw_function(), range(100, 120), shared=TABLE, executor=executor)
    assert outcome.results == expected
    assert list(outcome.results) == list(range(20))
    assert outcome.failures == {}
    assert not outcome.interrupted


@pytest.mark.parametrize("name", EXECUTORS)
def test_a_task_that_raises_is_listed_and_the_rest_go_on(name):
    def sometimes(_, task):
        if task == 2:
            raise ZeroDivisionError("two is bad")
        if task == 3:
            sys.exit(7)
        return -task

    with EXECUTORS[name]() as executor:
        outcome = run(sometimes, range(6), executor=executor)
    assert outcome.results == {0: 0, 1: -1, 4: -4, 5: -5}
    assert list(outcome.failures) == [2, 3]
    assert str(outcome.failures[2]) == "ZeroDivisionError: two is bad"
    assert "in sometimes" in outcome.failures[2].traceback
    assert outcome.failures[3].error == "SystemExit"


def test_no_tasks():
    for executor in (1, 2, None):
        assert run(draw_function(), [], executor=executor) == work.Outcome()


def test_what_cannot_travel_back_or_forth_is_listed():
    def unpicklable(_, task):
        return threading.Lock() if task == 1 else task

    outcome = run(unpicklable, range(3), executor=2)
    assert outcome.results == {0: 0, 2: 2}
    assert "pickle" in str(outcome.failures[1])
    outcome = run(lambda _, task: 0, [0, threading.Lock(), 2], executor=2)
    assert outcome.results == {0: 0, 2: 0}
    assert list(outcome.failures) == [1]

    class Stubborn:
        def __reduce__(self):
            return int, ("not a number",)

    outcome = run(lambda _, task: task, range(3), shared=Stubborn(), executor=2)
    assert [failure.error for failure in outcome.failures.values()] == ["ValueError"] * 3

    class Awkward(Exception):
        def __init__(self, one, two):
            super().__init__("just one")

    def awkward(kind, task):
        raise kind(1, 2)

    outcome = run(awkward, range(2), shared=Awkward, executor=2)
    assert [str(failure) for failure in outcome.failures.values()] == ["Awkward: just one"] * 2


def test_data_that_cannot_travel_say_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(transport.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(InputError, match=r"cannot be sent .*lock.* executor=1"):
        run(lambda _, task: task, range(3), shared=threading.Lock(), executor=2)
    assert list(tmp_path.iterdir()) == []
    assert run(lambda _, task: task, range(3), shared=threading.Lock(), executor=1).results[2] == 2


@pytest.mark.parametrize("executor", [0, -1, True, 1.5, "two", object()])
def test_executors_that_are_none(executor):
    with pytest.raises(InputError, match="`executor` is"):
        run(draw_function(), range(3), executor=executor)


# --- Crashes ---


@pytest.mark.slow
def test_a_task_that_always_kills_its_worker_is_set_apart():
    def killer(_, task):
        time.sleep(0.02)
        if task in (3, 11):
            os._exit(9)
        if task == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    outcome = run(killer, range(16), executor=2)
    assert list(outcome.results) == [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15]
    assert outcome.failures == dict.fromkeys((3, 7, 11), Failure("WorkerDied", work.KILLED))


@pytest.mark.slow
def test_a_task_that_kills_its_worker_once_is_done_at_the_second_try(tmp_path):
    def fragile(folder, task):
        marks = Path(folder) / f"{task}"
        marks.write_text(marks.read_text() + "x" if marks.exists() else "x")
        if task == 4 and marks.read_text() == "x":
            os._exit(1)
        time.sleep(0.05)
        return task

    outcome = run(fragile, range(10), shared=str(tmp_path), executor=2)
    assert outcome.results == {task: task for task in range(10)}
    assert outcome.failures == {}
    assert (tmp_path / "4").read_text() == "xx"
    # Only tasks that were in flight when the worker died are done again, and they are few.
    assert sum(len(mark.read_text()) for mark in tmp_path.iterdir()) <= 10 + 5


@pytest.mark.slow
def test_workers_that_die_before_they_begin_do_not_go_on_for_ever(monkeypatch):
    def refuse():
        os._exit(1)

    monkeypatch.setattr(pool, "_init_worker", refuse)
    monkeypatch.setattr(pool, "_idle", [])
    outcome = run(draw_function(), range(3), shared=TABLE, executor=2)
    assert outcome.results == {}
    assert {failure.message.split(":")[0] for failure in outcome.failures.values()} == {
        "workers die before they start a task"
    }


@pytest.mark.parametrize("kind", ["processes", "loky"])
@pytest.mark.slow
def test_an_executor_of_yours_that_breaks_keeps_what_is_done(kind, tmp_path):
    def killer(folder, task):
        if task == 3:
            while len(list(Path(folder).iterdir())) < 3:
                time.sleep(0.01)
            os._exit(1)
        time.sleep(0.0 if task < 3 else 0.3)
        return task

    def note(index, result):
        (tmp_path / f"{index}").touch()

    with EXECUTORS[kind]() as executor:
        outcome = run(killer, range(20), shared=str(tmp_path), executor=executor, on_result=note)
        with pytest.raises(BrokenProcessPool):
            executor.submit(os.getpid).result()
    assert {0, 1, 2} <= set(outcome.results)
    assert 3 in outcome.failures
    assert sorted([*outcome.results, *outcome.failures]) == list(range(20))
    assert outcome.failures[19].error == "BrokenExecutor"
    assert "before this task was done" in outcome.failures[19].message


def test_an_executor_that_was_shut_down():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    outcome = run(draw_function(), range(3), shared=TABLE, executor=executor)
    assert len(outcome.failures) == 3
    assert "after shutdown" in outcome.failures[0].message


@pytest.mark.slow
def test_no_process_and_no_folder_is_left_when_the_program_ends(tmp_path):
    script = """
        import os, subprocess, sys
        from classay.engine.work import run
        def pid(_, task): return os.getpid()
        pids = set(run(pid, range(20), executor=2).results.values())
        print(*pids, os.getpid())
    """
    ended = in_python(script, tmp_path)
    out, err = ended.communicate(timeout=120)
    assert (ended.returncode, err) == (0, "")
    assert len(out.split()) in (2, 3)
    assert [number for number in out.split() if Path(f"/proc/{number}").exists()] == []
    assert list(tmp_path.glob("classay-*")) == []


def in_python(script, folder):
    """Start a script of which `__main__` holds the function, as in a notebook, with warnings as errors."""
    file = folder / "script.py"
    file.write_text(textwrap.dedent(script))
    return started("-W", "error", file, env={**os.environ, "TMPDIR": str(folder)})


# --- Ctrl-C and stopping early ---

INTERRUPTED = """
    import sys, time
    from concurrent.futures import ThreadPoolExecutor
    from classay.engine.work import run

    def slow(_, task):
        if task >= 3:
            time.sleep(600 if EXECUTOR != "threads" else 1)
        return task

    def note(index, result):
        print("done", index, flush=True)

    EXECUTOR = sys.argv[1] if len(sys.argv) > 1 else "KIND"
    executor = ThreadPoolExecutor(1) if EXECUTOR == "threads" else int(EXECUTOR)
    begin = time.monotonic()
    outcome = run(slow, range(50), executor=executor, on_result=note)
    print("kept", sorted(outcome.results), outcome.failures, outcome.interrupted, flush=True)
"""


@pytest.mark.parametrize("kind", ["1", "2", "threads"])
def test_ctrl_c_returns_what_is_done(kind, tmp_path):
    running = in_python(INTERRUPTED.replace("KIND", kind), tmp_path)
    for _ in range(3):
        running.stdout.readline()
    time.sleep(0.2)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    out, err = running.communicate(timeout=60)
    assert out == "kept [0, 1, 2] {} True\n"
    assert (running.returncode, err) == (0, "")
    assert list(tmp_path.glob("classay-*")) == []


@pytest.mark.slow
def test_ctrl_c_while_workers_are_starting_prints_nothing(tmp_path):
    for delay in (0.05, 0.15, 0.3):
        begin = "    begin = time.monotonic()\n"
        running = in_python(
            INTERRUPTED.replace("KIND", "2").replace(begin, f"{begin}    print('go', flush=True)\n"), tmp_path
        )
        running.stdout.readline()
        time.sleep(delay)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert out.splitlines()[-1].endswith("{} True")
        assert running.returncode == 0
        # Very seldom loky's own cleaner tells that a semaphore of a half-started worker is gone already.
        assert err == "" or ("resource_tracker.py" in err and "classay/" not in err)


@pytest.mark.parametrize("name", ["1", "2", "threads"])
def test_a_deadline_keeps_what_is_done_and_ends_what_runs(name):
    def sleep(_, seconds):
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            time.sleep(0.01)
        return seconds

    begin = time.monotonic()
    with EXECUTORS[name]() as executor:
        with work.deadline(begin + 2.0):
            outcome = run(sleep, [0.01, 4.0, 4.0], executor=executor)
            assert run(sleep, [0.01], executor=executor).interrupted
        seconds = time.monotonic() - begin
    assert outcome.results == {0: 0.01}
    assert outcome.failures == {}
    assert outcome.interrupted
    assert seconds < 3.9
    assert run(sleep, [0.01], executor=1).results == {0: 0.01}


@pytest.mark.parametrize("executor", [1, 2])
def test_what_on_result_raises_is_raised(executor):
    def full(index, result):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        run(lambda _, task: task, range(50), executor=executor, on_result=full)
    # And the next run is none the worse for it.
    assert run(lambda _, task: task, range(2), executor=executor).results == {0: 0, 1: 1}


# --- How data travel ---


class Counted:
    """Notes each time it is unpacked, and where."""

    def __init__(self, folder, values):
        self.folder, self.values = folder, values

    def __reduce__(self):
        def unpack(folder, values):
            (Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
            return values

        return unpack, (self.folder, self.values)


@pytest.mark.parametrize("name", ["2", "processes", "loky", "postal"])
@pytest.mark.slow
def test_data_are_unpacked_once_per_worker(name, tmp_path):
    def which(values, task):
        time.sleep(0.01)
        return os.getpid(), values[0], values.flags.writeable

    with EXECUTORS[name]() as executor:
        results = run(which, range(40), shared=Counted(str(tmp_path), TABLE[:, 0].copy()), executor=executor)
    unpacked = [file.name.split("-")[0] for file in tmp_path.iterdir()]
    workers = {str(pid) for pid, _, _ in results.results.values()}
    assert sorted(unpacked) == sorted(workers)
    assert {(value, writeable) for _, value, writeable in results.results.values()} == {(TABLE[0, 0], True)}


def test_an_executor_of_no_known_kind_is_sent_the_data_once_by_each_worker_that_lacks_them():
    executor = Postal()
    table = TABLE + 1  # which this process, Postal's one worker, has not
    outcome = run(lambda values, task: float(values[task, 0]), range(40), shared=table, executor=executor)
    assert outcome.results == {task: float(table[task, 0]) for task in range(40)}
    assert [size > table.nbytes for size in executor.sizes] == [True] + 39 * [False]
    assert max(executor.sizes[1:]) < 500
    transport._unpacked = None  # as in a worker that joins, or was started again
    sent = transport.CopyTransport(lambda values, task: task, table)
    assert sent.unpack_reply(0, sent.send(executor, 0, 5).result()) == (True, 5)
    transport._unpacked = None
    assert sent.unpack_reply(1, sent.send(executor, 1, 6).result()) is None
    assert sent.unpack_reply(1, sent.send(executor, 1, 6).result()) == (True, 6)
    assert [size > table.nbytes for size in executor.sizes[40:]] == [True, False, True]


@pytest.mark.slow
def test_large_arrays_are_mapped():
    def mapped(values, task):
        values[0] += 1  # alters this worker's copy alone
        with open("/proc/self/maps") as maps:
            return any("/arrays" in line for line in maps), int(values[1])

    values = np.arange(200_000)
    assert len(run(mapped, range(4), shared={"values": 1}, executor=2).failures) == 4  # a dict has no [0]
    assert run(mapped, range(4), shared=values, executor=2).results == dict.fromkeys(range(4), (True, 1))
    assert values[0] == 0


def test_the_folder_is_private_and_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(transport.tempfile, "tempdir", str(tmp_path))
    modes = []
    run(
        lambda _, task: task,
        range(3),
        executor=2,
        on_result=lambda *_: modes.extend(folder.stat().st_mode & 0o777 for folder in tmp_path.iterdir()),
    )
    assert set(modes) == {0o700}
    assert list(tmp_path.iterdir()) == []


def test_threads_and_this_process_see_the_very_object():
    token = object()
    with ThreadPoolExecutor(2) as executor:
        for where in (1, executor):
            outcome = run(lambda given, task: given is token, range(3), shared=token, executor=where)
            assert set(outcome.results.values()) == {True}


# --- Where work is done ---


@pytest.mark.parametrize(("crowd", "processes"), [(1.0, 3), (9.0, 1)])
def test_small_jobs_stay_here_and_large_ones_do_not(monkeypatch, crowd, processes):
    here = lambda _, task: (time.sleep(task), os.getpid())[1]  # noqa: E731
    monkeypatch.setattr(pool, "_idle", [])
    monkeypatch.setattr(loky, "cpu_count", lambda: 2)
    monkeypatch.setattr(work, "_crowd", lambda: crowd)
    assert set(run(here, [0.001] * 20).results.values()) == {os.getpid()}
    large = set(run(here, [0.5] * 6).results.values())
    assert os.getpid() in large
    assert len(large) == processes
    alone = run(here, [0.001] * 3, isolate=True).results.values()
    assert os.getpid() not in alone
    assert os.getpid() not in run(here, [0.001] * 3, executor=1, isolate=True).results.values()
    assert set(run(here, [0.001] * 3, executor=1).results.values()) == {os.getpid()}


def test_workers_are_used_again():
    pids = [set(run(lambda _, task: os.getpid(), range(20), executor=2).results.values()) for _ in range(2)]
    assert len(pids[0] | pids[1]) <= 2


@pytest.mark.parametrize("name", ["1", "2", "threads", "processes"])
@pytest.mark.slow
def test_one_blas_thread_inside_and_as_before_outside(name):
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads(_, task):
        from threadpoolctl import threadpool_info

        np.ones((300, 300)) @ np.ones((300, 300))
        time.sleep(0.02 * (task % 3))
        return max(library["num_threads"] for library in threadpool_info())

    from sklearn.neighbors import KNeighborsClassifier  # brings OpenMP along, here and where it is unpacked

    with threadpool_limits(2), EXECUTORS[name]() as executor:
        before = [library["num_threads"] for library in threadpool_info()]
        outcome = run(threads, range(9), shared=KNeighborsClassifier(), executor=executor)
        after = [library["num_threads"] for library in threadpool_info()]
    assert set(outcome.results.values()) == {1}
    assert before == after
    assert 2 in before


# --- Time limits ---


def test_a_limit_interrupts_in_the_main_thread_and_restores_what_was_set():
    rung = []
    earlier = signal.signal(signal.SIGALRM, lambda *_: rung.append("earlier"))
    signal.setitimer(signal.ITIMER_REAL, 500)
    try:
        with pytest.raises(TimeLimitExceeded, match=r"limit of 0\.1 s"), time_limit(0.1):
            time.sleep(600)
        assert rung == []
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] < 500
        signal.raise_signal(signal.SIGALRM)
        assert rung == ["earlier"]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)


def test_limits_nest_and_end():
    with time_limit(500), pytest.raises(TimeLimitExceeded), time_limit(0.05):
        time.sleep(600)
    with pytest.raises(TimeLimitExceeded, match=r"0\.05"), time_limit(0.05), time_limit(500):
        time.sleep(0.2)
    with time_limit(500):
        pass
    # Nothing rings after leaving.
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    with time_limit(None):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    for bad in (0, -1, float("nan")):
        with pytest.raises(InputError, match="time limit"), time_limit(bad):
            pass


def test_a_limit_swallowed_by_the_task_is_raised_at_the_end():
    with pytest.raises(TimeLimitExceeded), time_limit(0.05):  # noqa: PT012
        with contextlib.suppress(Exception):
            time.sleep(600)
        time.sleep(0.01)


def test_a_limit_in_a_thread_interrupts_what_returns_to_python():
    def busy(_, task):
        with time_limit(0.1 if task == 1 else 500), time_limit(500):
            while task == 1:
                pass
        with time_limit(1.0):  # not so short that a busy machine exceeds it
            pass
        for _ in range(20):
            time.sleep(0.06)  # what was left behind would fall here
        return task

    with ThreadPoolExecutor(4) as executor:
        outcome = run(busy, range(4), executor=executor)
    assert list(outcome.results) == [0, 2, 3]
    assert str(outcome.failures[1]) == "TimeLimitExceeded: took longer than the time limit of 0.1 s"


def test_a_limit_in_a_thread_that_waits_is_told_afterwards():
    def slow(_, task):
        with time_limit(0.05 if task else 500):
            time.sleep(task)
        return "in time"

    with ThreadPoolExecutor(2) as executor:
        outcome = run(slow, [0.0, 0.2], executor=executor)
    assert outcome.results == {0: "in time"}
    assert outcome.failures[1].error == "TimeLimitExceeded"


@pytest.mark.slow
def test_a_limit_in_a_worker_interrupts_python_and_ends_compiled_code_that_does_not_return():
    def stuck(_, task):
        with time_limit(0.1 if task in (1, 4) else 500, grace=0.2):
            if task == 1:
                hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)  # minutes, deaf to signals
            if task == 4:
                time.sleep(600)
        with time_limit(0.7, grace=0.1), time_limit(100):
            pass
        time.sleep(1)  # longer than limit and grace: what was left behind is called off
        return task

    outcome = run(stuck, range(5), executor=2)
    assert list(outcome.results) == [0, 2, 3]
    assert outcome.failures[1] == Failure("WorkerDied", work.KILLED)
    assert outcome.failures[4].error == "TimeLimitExceeded"


@pytest.mark.slow
def test_the_backstop_never_ends_the_users_own_process():
    assert not pool.in_worker
    with ThreadPoolExecutor(1) as executor:
        for where in (1, executor, Postal()):
            run(lambda _, task: task, range(2), executor=where)
    assert not pool.in_worker
    with contextlib.suppress(TimeLimitExceeded), time_limit(0.01, grace=0.01):
        hashlib.pbkdf2_hmac("sha256", b"", b"", 100_000)


# --- Tasks that are not wanted, and pools that are not shared ---


def test_a_task_that_is_no_longer_wanted_is_let_go():
    seen = []

    def wanted(index):
        return not (seen and index % 2)

    for executor in (1, 2):
        seen.clear()
        outcome = run(
            lambda _, task: task,
            range(40),
            executor=executor,
            on_result=lambda index, _: seen.append(index) and None,
            wanted=wanted,
        )
        assert set(range(0, 40, 2)) <= set(outcome.results) < set(range(40))
        assert outcome.failures == {}


@pytest.mark.slow
def test_a_pool_is_not_handed_to_another_thread():
    """Linux ends a worker with the thread that started it, so the next user would lose it in the middle of a task."""
    with pool.local_workers(1):
        pass
    assert pool.has_idle_pool(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append((pool.has_idle_pool(1), pool._take_idle(1))))
    thread.start()
    thread.join()
    assert seen == [(False, None)]
