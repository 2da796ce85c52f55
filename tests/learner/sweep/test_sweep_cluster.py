"""A sweep on a Dask cluster: the same bits as here, whatever dies."""

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dask_cluster import until
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

pytest.importorskip("distributed", reason="a cluster needs the extra dask")

from classay import InputError, Subsets, sweep
from classay.engine import dask, work

X, Y = load_iris(return_X_y=True)
FEW = Subsets(8, 0.3)


def assert_same(one, other):
    pd.testing.assert_frame_equal(one.to_frame(raw=True), other.to_frame(raw=True), check_exact=True)
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)
    assert one.records.keys() == other.records.keys()
    for value, record in one.records.items():
        np.testing.assert_array_equal(record.labels, other.records[value].labels)
    assert (one.paths, one.failed, one.notes) == (other.paths, other.failed, other.notes)


@pytest.mark.slow
def test_along_a_path_and_value_by_value_the_bits_are_those_of_here(dask_executor, tmp_path):
    for number, (learner, name, values) in enumerate(
        [
            (RandomForestClassifier(max_depth=3), "n_estimators", [1, 3, 0, 6]),
            (SVC(random_state=0), "C", [0.1, 10.0]),
            (DecisionTreeClassifier(), "min_samples_leaf", [1, 8]),
        ]
    ):
        here = sweep(learner, X, Y, name, values, FEW, 2, executor=1, holdouts=10)
        there = sweep(
            learner, X, Y, name, values, FEW, 2, executor=dask_executor, holdouts=10, store=tmp_path / str(number)
        )
        assert_same(here, there)


def lasting():
    """A class that travels by value: each fit takes a while and leaves a mark with the process and the rows."""

    class Lasting(DecisionTreeClassifier):
        def __init__(self, marks=None, deadly=None, waits=False, max_depth=None, random_state=None):
            super().__init__(max_depth=max_depth, random_state=random_state)
            self.marks, self.deadly, self.waits = marks, deadly, waits

        def fit(self, X, y):
            if self.marks is not None:
                time.sleep(0.05)
                (Path(self.marks) / f"{os.getpid()}-{time.monotonic_ns()}").touch()
            if self.waits:
                self.wait_for_another_worker()
            if self.deadly is not None and self.deadly == (self.max_depth, X.sum()):
                os._exit(1)
            return super().fit(X, y)

        def wait_for_another_worker(self):
            """Once a worker was killed, until the one in its place has begun; not for ever, if there is none."""
            marks = Path(self.marks)
            for _ in range(2000):
                pids = {mark.name.partition("-")[0] for mark in marks.iterdir()}
                if len(pids) > 2 or not marks.with_name("killed").exists():
                    return
                time.sleep(0.05)

    return Lasting


@pytest.mark.slow
def test_a_worker_killed_in_the_middle_changes_nothing(dask_executor, tmp_path):
    Lasting = lasting()
    here = sweep(Lasting(), X, Y, "max_depth", [1, 2, 3], FEW, 2, executor=1, holdouts=10, name="tree")
    marks = tmp_path / "marks"
    marks.mkdir()

    def kill():
        until(lambda: len(list(marks.iterdir())) > 8)
        (tmp_path / "killed").touch()
        os.kill(int(min(marks.iterdir()).name.partition("-")[0]), signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    lasting_fits = Lasting(str(marks), waits=True)
    there = sweep(lasting_fits, X, Y, "max_depth", [1, 2, 3], FEW, 2, executor=dask_executor, holdouts=10, name="tree")
    killing.join()
    assert len({mark.name.partition("-")[0] for mark in marks.iterdir()}) == 3
    assert_same(here, there)


@pytest.mark.slow
def test_a_fit_that_always_kills_its_worker_is_told_and_the_rest_completes(dask_executor):
    Lasting = lasting()
    here = sweep(Lasting(), X, Y, "max_depth", [1, 2], FEW, 1, executor=1, holdouts=10)
    rows = here.records[2].train_rows[5]
    fatal = Lasting(deadly=(2, X[rows].sum()))
    there = sweep(fatal, X, Y, "max_depth", [1, 2], FEW, 1, executor=dask_executor, holdouts=10)
    assert there.records[1].failures == ()
    np.testing.assert_array_equal(there.records[1].labels, here.records[1].labels)
    assert [(each.subset, each.error) for each in there.records[2].failures] == [(5, f"WorkerDied: {work.KILLED}")]
    rest = [0, 1, 2, 3, 4, 6, 7]
    np.testing.assert_array_equal(there.records[2].labels[rest], here.records[2].labels[rest])


@pytest.mark.slow
def test_when_the_scheduler_is_gone_the_same_call_goes_on_from_what_is_done(own_cluster, tmp_path):
    Lasting = lasting()
    marks = tmp_path / "marks"
    marks.mkdir()
    given = (Lasting(str(marks)), X, Y, "max_depth", [1, 2, 3], FEW, 2)

    def end():
        until(lambda: len(list(tmp_path.glob("store/unfinished/*/[!.]*.classay"))) > 5)
        own_cluster.kill(own_cluster.scheduler)

    ending = threading.Thread(target=end)
    ending.start()
    with (
        dask.connect(own_cluster.address) as executor,
        pytest.raises(InputError, match=r"tasks? not done: .*connection to the scheduler .* was lost.* run the same"),
    ):
        sweep(*given, executor=executor, holdouts=10, store=tmp_path / "store")
    ending.join()
    kept = len(list(tmp_path.glob("store/unfinished/*/[!.]*.classay")))
    assert 5 < kept < 24
    again = sweep(*given, executor=1, holdouts=10, store=tmp_path / "store")
    assert len(list(marks.glob(f"{os.getpid()}-*"))) == (24 - kept) * 2
    assert_same(again, sweep(*given, executor=1, holdouts=10))
