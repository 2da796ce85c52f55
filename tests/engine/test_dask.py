"""A Dask cluster: the same bits as here, data once per worker, and what is lost when its parts die."""

import os
import signal
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dask_cluster import until
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from started import started

pytest.importorskip("distributed", reason="a cluster needs the extra dask")

import classay
from classay.engine import dask, transport, work
from classay.engine.work import Failure, run
from classay.expect import InputError

pytestmark = pytest.mark.slow  # a cluster takes seconds to start

# Functions for workers are made inside functions, so that they travel by value and no worker imports this.
TABLE = np.random.default_rng(0).normal(size=(2000, 30))  # large enough to travel beside the pickle: 480 kB
IRIS = load_iris(return_X_y=True)


def same(one, two):
    return (
        np.array_equal(one.labels, two.labels)
        and np.array_equal(one.train_accuracy, two.train_accuracy, equal_nan=True)
        and np.array_equal(one.probe_labels, two.probe_labels)
        and one.notes == two.notes
        and one.failures == two.failures
    )


# --- The same, and once ---


@pytest.mark.parametrize("learner", [RandomForestClassifier(5), GaussianNB()], ids=["random", "deterministic"])
def test_a_record_has_the_same_bits_as_here(dask_executor, learner):
    X, y = IRIS
    settings = {"scheme": classay.Subsets(8, 0.5), "repeats": 2, "probes": "uniform", "n_probes": 50}
    here = classay.record(learner, pd.DataFrame(X), y, executor=1, **settings)
    there = classay.record(learner, pd.DataFrame(X), y, executor=dask_executor, **settings)
    assert same(here, there)
    assert there.present.all()


class Counted:
    """Notes each time that it is packed or unpacked, and where."""

    def __init__(self, folder, values):
        self.folder, self.values = folder, values

    def __reduce__(self):
        (Path(self.folder) / f"packed-{os.getpid()}-{time.monotonic_ns()}").touch()

        def unpack(folder, values):
            (Path(folder) / f"unpacked-{os.getpid()}-{time.monotonic_ns()}").touch()
            return values

        return unpack, (self.folder, self.values)


def noted(folder, what):
    return sorted(int(file.name.split("-")[1]) for file in Path(folder).glob(f"{what}-*"))


@pytest.mark.parametrize("rows", [3, 2000], ids=["in the pickle", "beside it"])
def test_data_travel_once_per_worker(dask_executor, tmp_path, rows):
    def which(values, task):
        time.sleep(0.05)
        values[0, 0] += 0.0  # a learner may write into its input
        return os.getpid(), float(values.sum()), values.flags.writeable

    data = Counted(str(tmp_path), TABLE[:rows].copy())
    outcome = run(which, range(24), shared=data, executor=dask_executor)
    workers = {pid for pid, _, _ in outcome.results.values()}
    assert len(workers) == 2
    assert outcome.failures == {}
    assert {(total, writeable) for _, total, writeable in outcome.results.values()} == {
        (float(TABLE[:rows].sum()), True)
    }
    assert noted(tmp_path, "packed") == [os.getpid()]
    assert noted(tmp_path, "unpacked") == sorted(workers)
    # The next run needs the same data and finds them: Dask drops spare copies between runs, but always leaves one.
    run(which, range(12), shared=data, executor=dask_executor)
    assert set(noted(tmp_path, "unpacked")) == workers
    assert len(noted(tmp_path, "unpacked")) < 4


def test_tasks_are_small_and_the_bytes_of_data_leave_once(dask_executor, monkeypatch):
    sent = []
    submit = dask_executor._client.submit

    def weighed(function, *arguments, **options):
        import cloudpickle
        from distributed import Future

        plain = ["future" if isinstance(each, Future) else each for each in arguments]
        sent.append(len(cloudpickle.dumps((function, plain))))
        return submit(function, *arguments, **options)

    monkeypatch.setattr(dask_executor._client, "submit", weighed)
    run(lambda table, task: float(table[task, 0]), range(10), shared=TABLE + 1, executor=dask_executor)
    assert sorted(sent)[-1] > TABLE.nbytes
    assert len(sent) == 11
    assert sorted(sent)[-2] < 500  # the function by its name, a future, and a number


def test_old_data_are_let_go(dask_executor):
    client = dask_executor._client
    for shift in (2, 3):
        run(lambda table, task: task, range(4), shared=TABLE + shift, executor=dask_executor)
    until(lambda: sum("classay-data" in str(key) for key in client.who_has()) == 1)


def test_failures_come_back_and_what_cannot_travel_is_told(dask_executor):
    def sometimes(_, task):
        if task == 2:
            raise ZeroDivisionError("two is bad")
        return threading.Lock() if task == 3 else task

    outcome = run(sometimes, [0, 1, 2, 3, threading.Lock()], executor=dask_executor)
    assert outcome.results == {0: 0, 1: 1}
    assert str(outcome.failures[2]) == "ZeroDivisionError: two is bad"
    assert "pickle" in str(outcome.failures[3])
    assert "pickle" in str(outcome.failures[4])
    with pytest.raises(InputError, match=r"cannot be sent .*lock.* executor=1"):
        run(sometimes, range(3), shared=threading.Lock(), executor=dask_executor)


def test_an_executor_of_the_users_own_client_will_do(two_workers):
    from distributed import Client

    def draw(table, task):
        rows = np.random.default_rng(task).integers(len(table), size=50)
        return float(np.linalg.svd(table[rows], compute_uv=False).sum())

    here = run(draw, range(6), shared=TABLE, executor=1).results
    with Client(two_workers.address, timeout=120, set_as_default=False) as client:
        assert run(draw, range(6), shared=TABLE, executor=client.get_executor()).results == here
        with pytest.raises(InputError, match="get_executor"):
            run(draw, range(6), shared=TABLE, executor=client)


# --- What dies ---


def test_a_worker_killed_in_the_middle_changes_nothing(dask_executor):
    def slow(table, task):
        time.sleep(0.1)
        return os.getpid(), float(table[task].sum())

    killed = []

    def kill(index, result):
        if not killed and result[0] != os.getpid():
            killed.append(result[0])
            os.kill(result[0], signal.SIGKILL)

    outcome = run(slow, range(20), shared=TABLE, executor=dask_executor, on_result=kill)
    assert killed
    assert outcome.failures == {}
    assert {index: total for index, (_, total) in outcome.results.items()} == {
        task: float(TABLE[task].sum()) for task in range(20)
    }


def test_a_task_that_always_kills_its_worker_is_its_own_failure(dask_executor):
    X, y = IRIS
    settings = {"scheme": classay.Subsets(8, 0.5), "repeats": 1}

    class Fatal(DecisionTreeClassifier):
        def __init__(self, fatal=None, random_state=None):
            super().__init__(random_state=random_state)
            self.fatal = fatal

        def fit(self, X, y):
            if self.fatal is not None and X.sum() == self.fatal:
                os._exit(1)
            return super().fit(X, y)

    here = classay.record(Fatal(), X, y, executor=1, **settings)
    there = classay.record(Fatal(X[here.train_rows[3]].sum()), X, y, executor=dask_executor, **settings)
    assert [(failure.subset, failure.error) for failure in there.failures] == [(3, f"WorkerDied: {work.KILLED}")]
    rest = [0, 1, 2, 4, 5, 6, 7]
    assert np.array_equal(here.labels[rest], there.labels[rest])


def test_compiled_code_that_does_not_return_ends_with_its_worker(dask_executor):
    def stuck(_, task):
        import hashlib

        with work.time_limit(0.3 if task in (1, 2) else 500, grace=0.3 if task == 2 else 500):
            while task == 1:
                pass  # a thread that is interrupted
            if task == 2:
                hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)  # minutes, deaf to exceptions
        return task

    outcome = run(stuck, range(5), executor=dask_executor)
    assert list(outcome.results) == [0, 3, 4]
    assert str(outcome.failures[1]) == "TimeLimitExceeded: took longer than the time limit of 0.3 s"
    assert outcome.failures[2] == Failure("WorkerDied", work.KILLED)


def test_when_the_scheduler_is_gone_what_is_done_is_kept(own_cluster, caplog):
    X, y = IRIS

    def slow(_, task):
        time.sleep(0.1)
        return task

    seen = []

    def end(index, result):
        seen.append(index)
        if len(seen) == 6:
            own_cluster.kill(own_cluster.scheduler)

    with dask.connect(own_cluster.address) as executor:
        outcome = run(slow, range(200), executor=executor, on_result=end)
        assert outcome.results == {index: index for index in sorted(seen)}
        assert len(seen) >= 6
        assert sorted([*outcome.results, *outcome.failures]) == list(range(200))
        lost = f"broke before this task was done: the connection to the scheduler at {own_cluster.address} was lost"
        assert {str(failure) for failure in outcome.failures.values()} == {f"BrokenExecutor: the executor {lost}"}
        with pytest.raises(InputError, match=r"failed in every refit.*connection to the scheduler .* was lost"):
            classay.record(GaussianNB(), X, y, executor=executor)
    assert caplog.records == []  # Dask's log goes to the terminal, tracebacks and all
    with (
        pytest.raises(InputError, match=f"No scheduler answers at {own_cluster.address} within 1 s"),
        dask.connect(own_cluster.address, timeout=1),
    ):
        pass


def test_a_record_that_lost_its_cluster_is_not_taken_for_whole(own_cluster, tmp_path):
    X, y = IRIS
    settings = {"scheme": classay.Subsets(40, 0.5), "repeats": 1, "store": tmp_path / "store"}
    marks = tmp_path / "marks"
    marks.mkdir()

    class Slow(DecisionTreeClassifier):
        def fit(self, X, y):
            time.sleep(0.05)
            (Path(marks) / f"{time.monotonic_ns()}").touch()
            return super().fit(X, y)

    def end():
        until(lambda: len(list(marks.iterdir())) > 6)
        own_cluster.kill(own_cluster.scheduler)

    ending = threading.Thread(target=end)
    ending.start()
    with dask.connect(own_cluster.address) as executor:
        cut_short = classay.record(Slow(), X, y, executor=executor, **settings)
    ending.join()
    assert 0 < cut_short.present.sum() < 40
    assert "connection to the scheduler" in cut_short.failures[-1].error
    whole = classay.record(Slow(), X, y, executor=1, **settings)
    assert whole.present.all()
    done = cut_short.present[:, 0]
    assert np.array_equal(cut_short.labels[done], whole.labels[done])


def test_without_workers_nothing_is_waited_for(own_cluster, monkeypatch):
    monkeypatch.setattr(transport.DaskTransport, "WAIT_FOR_WORKERS", 1.0)
    monkeypatch.setattr(transport.DaskTransport, "COUNT_EVERY", 0.2)

    def slow(_, task):
        time.sleep(0.1)
        return task

    def end(index, result):
        if index == 3:
            own_cluster.kill(own_cluster.nannies)

    with dask.connect(own_cluster.address) as executor:
        outcome = run(slow, range(50), executor=executor, on_result=end)
    assert set(outcome.results) <= set(range(10))
    assert outcome.failures[49].message.endswith(f"the scheduler at {own_cluster.address} has had no worker for 1 s")
    with (
        pytest.raises(InputError, match=r"has no workers\. Start it with .*dask worker tcp://"),
        dask.connect(own_cluster.address, timeout=1),
    ):
        pass


INTERRUPTED = """
    import os, time
    from classay.engine import dask
    from classay.engine.work import run

    def slow(_, task):
        while task >= 3 and not os.path.exists("FILE"):
            time.sleep(0.05)
        return task

    with dask.connect("ADDRESS") as executor:
        outcome = run(slow, range(50), executor=executor, on_result=lambda index, _: print("done", index, flush=True))
        print("kept", sorted(outcome.results), outcome.failures, outcome.interrupted, flush=True)
"""


def test_ctrl_c_returns_what_is_done(two_workers, tmp_path):
    script, ended = tmp_path / "script.py", tmp_path / "ended"
    script.write_text(textwrap.dedent(INTERRUPTED).replace("ADDRESS", two_workers.address).replace("FILE", str(ended)))
    running = started("-W", "error", script)
    for _ in range(3):
        running.stdout.readline()
    time.sleep(0.2)
    os.killpg(running.pid, signal.SIGINT)
    out, err = running.communicate(timeout=60)
    ended.touch()  # for tasks that workers have begun
    assert out == "kept [0, 1, 2] {} True\n"
    assert (running.returncode, err) == (0, "")


# --- Commands ---


def test_a_command_on_a_cluster_tells_the_same(two_workers, capsys):
    import json

    from classay.cli.app import run as classay_command

    arguments = ["learner", "iris", "-l", "tree=DecisionTreeClassifier", "--samples", "6", "-r", "2", "--json", "-q"]
    content = []
    for where in (["--workers", "1"], ["--scheduler", two_workers.address]):
        assert classay_command([*arguments, *where]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        content.append(json.loads(out))
    assert without_seconds(content[0]) == without_seconds(content[1])


def without_seconds(content):
    if isinstance(content, dict):
        return {name: without_seconds(value) for name, value in content.items() if name != "seconds_per_fit"}
    return [without_seconds(value) for value in content] if isinstance(content, list) else content
