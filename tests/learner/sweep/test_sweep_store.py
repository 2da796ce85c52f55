"""A sweep in a store: nothing is fitted twice, whatever happened in between, and the figures are the same bits."""

from __future__ import annotations

import errno
import importlib
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rough_learners import Tallied, fits
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from classay import InputError, Subsets, record, sweep
from classay.engine import archive
from classay.engine import store as engine_store
from classay.engine.store import Chunks, DamagedRecordWarning, StoreFull

X, Y = load_iris(return_X_y=True)
FEW = Subsets(6, 0.3)
KEPT = {"scheme": FEW, "repeats": 2, "executor": 1}

# In a module of its own, so that processes can be killed: there fits are slow. Each leaves a line.
MODULE = """
import sys, time
import numpy as np
from sklearn.datasets import load_iris
sys.path.insert(0, {tests!r})
from rough_learners import Tallied
import classay

WAIT = {{"s": 0}}  # not a number: a constant that the learner names would be part of its address

class Slow(Tallied):
    def __init__(self, path, power=1, random_state=None):
        super().__init__(path, power)
        self.random_state = random_state
    def before_fit(self, X, y):
        time.sleep(WAIT["s"])
        super().before_fit(X, y)
    def predict(self, X):
        seeded = np.random.default_rng(self.random_state + self.power)
        return np.where(seeded.random(len(X)) < 0.2, 0, super().predict(X))

def swept(store):
    X, y = load_iris(return_X_y=True)
    slow = Slow({path!r})
    return classay.sweep(slow, X, y, "power", [1, 2, 3], classay.Subsets(8), 2, executor=1, store=store).to_frame()
"""


@pytest.fixture
def slow(tmp_path, monkeypatch):
    """The module, here; its `start(store, frame, pause)` runs it in a process, which leaves its table in a file."""
    code = MODULE.format(tests=str(Path(__file__).parents[2] / "helpers"), path=str(tmp_path / "fits"))
    (tmp_path / "slow_sweep.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "slow_sweep", raising=False)
    module = importlib.import_module("slow_sweep")

    def start(store, frame, pause):
        command = f"import slow_sweep as s; s.WAIT['s'] = {pause}; s.swept({str(store)!r}).to_pickle({str(frame)!r})"
        return subprocess.Popen([sys.executable, "-c", command], cwd=tmp_path)

    module.start = start
    return module


def parts(store):
    return sorted(Path(store).glob("unfinished/*/[!.]*.classay"))


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


def full_after(monkeypatch, writes):
    """The disk takes so many files more."""
    left = [writes]
    real = archive.write

    def write(*given):
        if not left[0]:
            raise OSError(errno.ENOSPC, "the disk is full, and it was not written")
        left[0] -= 1
        return real(*given)

    monkeypatch.setattr("classay.engine.store.write", write)


class Shaken(Tallied):
    """Without a random_state; at odd powers its answers are drawn from the global generator, at even ones not."""

    def predict(self, rows):
        plain = super().predict(rows)
        return np.random.permutation(plain) if self.power % 2 else plain


@pytest.mark.slow
def test_stopped_after_any_part_it_goes_on_with_and_without_dice(tmp_path, monkeypatch):
    tally = tmp_path / "fits"

    def swept(store):
        return sweep(Shaken(tally), X, Y, "power", [1, 2], FEW, 3, executor=1, holdouts=3, store=store, progress=False)

    whole = swept(None)
    every = fits(tally)
    assert [record.deterministic for record in whole.records.values()] == [False, True]
    for after in (0, 1, 2, 5, 9, 12, 17):
        tally.unlink()
        with monkeypatch.context() as patch:
            full_after(patch, after)
            with pytest.raises(StoreFull):
                swept(tmp_path / str(after))
        assert len(parts(tmp_path / str(after))) == after
        again = swept(tmp_path / str(after))
        same(again.to_frame(), whole.to_frame())
        # Only the task that could not be kept is done twice: one refit, or the two of a pilot, or the rest of three.
        assert every < fits(tally) <= every + 2
        assert parts(tmp_path / str(after)) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_killed_at_any_moment_it_goes_on_and_gives_the_same_bits(slow, tmp_path):
    moments = random.Random(5)
    store, tally = tmp_path / "store", tmp_path / "fits"
    whole = slow.swept(None)
    assert fits(tally) == 3 * 8 * 2
    tally.unlink()
    for _ in range(2):
        before = len(parts(store))
        running = slow.start(store, tmp_path / "frame", pause=0.15)
        while running.poll() is None and len(parts(store)) < before + 3:
            time.sleep(0.005)
        time.sleep(moments.random() * 0.5)
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
    there, so_far = len(parts(store)), fits(tally)
    assert 6 <= there < 24
    assert so_far <= 2 * (there + 2)  # of each attempt, at most the task at hand is lost
    same(slow.swept(store), whole)
    assert fits(tally) - so_far == 2 * (24 - there)
    assert not (store / "unfinished").exists()
    same(slow.swept(store), whole)
    assert fits(tally) - so_far == 2 * (24 - there)


@pytest.mark.slow
def test_two_processes_at_once_do_no_harm(slow, tmp_path):
    store = tmp_path / "store"
    both = [slow.start(store, tmp_path / f"{number}.frame", pause=0.03) for number in range(2)]
    assert [running.wait() for running in both] == [0, 0]
    whole = slow.swept(None)
    for number in range(2):
        same(pd.read_pickle(tmp_path / f"{number}.frame"), whole)
    assert sorted(archive.read(path)[0]["kind"] for path in store.iterdir()) == ["labelings"] * 3 + ["sweep"]


# A full disk


def test_a_full_disk_stops_with_what_is_done_kept(tmp_path, monkeypatch):
    tally = tmp_path / "fits"
    settings = {**KEPT, "store": tmp_path / "store"}
    with monkeypatch.context() as patch:
        full_after(patch, 4)
        with pytest.raises(StoreFull, match=r"disk is full.*What was done before is in it.*run the same again"):
            sweep(Tallied(str(tally)), X, Y, "power", [1, 2], **settings)
    assert len(parts(tmp_path / "store")) == 4
    done = fits(tally)
    found = sweep(Tallied(str(tally)), X, Y, "power", [1, 2], **settings)
    # Two pilots of two refits and ten tasks of one; of the twelve, four were kept.
    assert fits(tally) - done == 8
    same(found.to_frame(), sweep(Tallied(str(tally)), X, Y, "power", [1, 2], **KEPT).to_frame())


def test_a_disk_that_is_full_at_the_very_end_costs_no_figures(tmp_path, monkeypatch):
    learner = RandomForestClassifier(3)
    full_after(monkeypatch, 12)
    found = sweep(learner, X, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    assert found.notes[-1].startswith("The disk is full")
    same(found.to_frame(), sweep(learner, X, Y, "n_estimators", [1, 2], **KEPT).to_frame())
    assert len(parts(tmp_path)) == 12


# An executor that breaks


class Breaking(Executor):
    """Does so many tasks, and is gone."""

    def __init__(self, tasks):
        self.left = tasks

    def submit(self, function, /, *arguments, **options):
        future = Future()
        self.left -= 1
        if self.left < 0:
            future.set_exception(BrokenExecutor("the cluster is gone"))
        else:
            future.set_result(function(*arguments, **options))
        return future


def test_when_the_executor_breaks_what_is_done_is_kept(tmp_path):
    settings = {"scheme": FEW, "repeats": 2, "store": tmp_path}
    with pytest.raises(InputError, match=r"tasks? not done.*the cluster is gone.*run the same call again"):
        sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], executor=Breaking(5), **settings)
    assert len(parts(tmp_path)) == 5
    found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], executor=1, **settings)
    same(found.to_frame(), sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT).to_frame())


def test_a_record_whose_executor_breaks_is_kept_as_far_as_it_went(tmp_path):
    many = Subsets(12, 0.3)
    found = record(RandomForestClassifier(3), X, Y, many, 2, executor=Breaking(2), store=tmp_path)
    assert found.present.sum() == 4
    assert {failure.error.partition(":")[0] for failure in found.failures} == {"BrokenExecutor"}
    assert len(parts(tmp_path)) == 2
    again = record(RandomForestClassifier(3), X, Y, many, 2, executor=1, store=tmp_path)
    assert again.present.all()
    np.testing.assert_array_equal(again.labels[found.present], found.labels[found.present])


@pytest.mark.parametrize(
    ("learner", "names", "values"),
    [(KNeighborsClassifier(), "n_neighbors", [1, 3]), (DecisionTreeClassifier(random_state=0), "ccp_alpha", [0.1])],
)
def test_how_far_an_unfinished_sweep_is_counts_the_refits_that_are_needed(
    tmp_path, monkeypatch, learner, names, values
):
    full_after(monkeypatch, 4)
    with pytest.raises(StoreFull):
        sweep(learner, X, Y, names, values, FEW, 5, executor=1, store=tmp_path)
    (held,) = engine_store.inventory(tmp_path).unfinished
    assert (held.parts, held.of) == (4, 6)


# What is found again


def test_what_shared_fits_warned_is_told_again_from_the_store(tmp_path):
    given = (LogisticRegression(random_state=0), X, Y, "max_iter", [2, 5])
    first = sweep(*given, store=tmp_path, **KEPT)
    warned = [note for note in first.notes if "ConvergenceWarning" in note]
    assert [note[:22] for note in warned] == ["7 of 7 refits warned: "]
    assert parts(tmp_path) == []
    again = sweep(*given, store=tmp_path, **KEPT)
    assert again.notes == first.notes
    # A value that is refused is fitted apart from the others, which are not counted twice for it.
    refused = sweep(LogisticRegression(random_state=0), X, Y, "max_iter", [-1, 2, 5], **KEPT)
    assert list(refused.failed) == [-1]
    assert [note for note in refused.notes if "ConvergenceWarning" in note] == warned


def test_a_damaged_listing_is_written_again(tmp_path):
    given = (DecisionTreeClassifier(), X, Y, "max_depth", [2, 0])
    sweep(*given, store=tmp_path, **KEPT)
    listings = [path for path in tmp_path.glob("*.classay") if archive.read_header(path)["kind"] == "sweep"]
    listings[0].write_bytes(b"damaged")
    with pytest.warns(DamagedRecordWarning):
        sweep(*given, store=tmp_path, **KEPT)
    assert archive.read_header(listings[0])["kind"] == "sweep"


def test_a_store_that_takes_nothing_is_told_before_any_fit_but_may_be_read(tmp_path, monkeypatch):
    store, tally = tmp_path / "store", tmp_path / "fits"
    sweep(Tallied(tally), X, Y, "power", [1], store=store, **KEPT)
    record(Tallied(tally, 5), X, Y, store=store, **KEPT)
    before = fits(tally)

    def refused(self, *more, **others):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "touch", refused)
    for call in (
        lambda power: sweep(Tallied(tally), X, Y, "power", [power], store=store, **KEPT),
        lambda power: record(Tallied(tally, power), X, Y, store=store, **KEPT),
    ):
        with pytest.raises(InputError, match=r"store is not writable \(Permission denied\)"):
            call(3)
        assert call(1) is not None
    assert fits(tally) == before


def test_the_same_sweep_is_answered_from_the_store(tmp_path):
    tally = tmp_path / "fits"
    settings = {**KEPT, "store": tmp_path / "store"}
    first = sweep(Tallied(str(tally)), X, Y, "power", [1, 2], **settings)
    done = fits(tally)
    again = sweep(Tallied(str(tally)), X.copy(), list(Y), "power", (1, 2), **{**settings, "executor": 2}, name="other")
    assert fits(tally) == done
    assert again.learner == "other"
    same(first.to_frame().drop(columns="learner"), again.to_frame().drop(columns="learner"))
    more = sweep(Tallied(str(tally)), X, Y, "power", [1, 2, 3], **settings)
    assert fits(tally) - done == 2 + 5  # of the new value only
    assert more.values == (1, 2, 3)


def test_ended_between_the_last_record_and_the_clearing_up(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Chunks, "remove", lambda self: None)
        found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    (listing,) = [path for path in tmp_path.glob("*.classay") if archive.read_header(path)["kind"] == "sweep"]
    listing.unlink()
    assert parts(tmp_path)
    again = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    same(found.to_frame(), again.to_frame())
    assert listing.exists()
    assert not (tmp_path / "unfinished").exists()


def test_a_failed_value_of_a_path_in_distribution_does_not_make_the_others_anew(tmp_path, monkeypatch):
    settings = {"param_name": "max_depth", "param_range": [0, 1, 2], **KEPT, "store": tmp_path}
    first = sweep(DecisionTreeClassifier(), X, Y, **settings)
    full_after(monkeypatch, 0)
    again = sweep(DecisionTreeClassifier(), X, Y, **settings)
    assert again.failed == first.failed
    same(again.to_frame(), first.to_frame())


@pytest.mark.slow
@pytest.mark.parametrize("records", [1, 2])
def test_ended_among_its_records_it_goes_on_from_its_parts(tmp_path, monkeypatch, records):
    # One value is there before, so that the parts are not those of all values.
    sweep(RandomForestClassifier(), X, Y, "n_estimators", [3], **KEPT, store=tmp_path)
    settings = {"param_name": "n_estimators", "param_range": [1, 2, 3, 4], **KEPT}
    with monkeypatch.context() as patch:
        full_after(patch, 12 + records)
        sweep(RandomForestClassifier(), X, Y, **settings, store=tmp_path)
    assert len(parts(tmp_path)) == 12
    with monkeypatch.context() as patch:
        patch.setattr("classay.learner.fitting.runner.fit_group", None)  # nothing is fitted
        found = sweep(RandomForestClassifier(), X, Y, **settings, store=tmp_path)
    assert not found.notes
    assert not parts(tmp_path)
    same(found.to_frame(), sweep(RandomForestClassifier(), X, Y, **settings).to_frame())


def test_record_and_sweep_find_what_the_other_made_where_it_is_exact(tmp_path):
    made = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 3], **KEPT, store=tmp_path)
    there = len(list(tmp_path.iterdir()))
    found = record(RandomForestClassifier(3), X, Y, **KEPT, store=tmp_path, scores=False)
    assert len(list(tmp_path.iterdir())) == there
    np.testing.assert_array_equal(found.seconds, made.records[3].seconds)
    alone = record(RandomForestClassifier(5), X, Y, **KEPT, store=tmp_path, scores=False)
    more = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 3, 5], **KEPT, store=tmp_path)
    np.testing.assert_array_equal(more.records[5].seconds, alone.seconds)


def test_a_path_in_distribution_is_not_taken_for_a_record(tmp_path):
    made = sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 2], **KEPT, store=tmp_path)
    there = len(list(tmp_path.iterdir()))
    record(DecisionTreeClassifier(max_depth=2), X, Y, **KEPT, store=tmp_path)
    assert len(list(tmp_path.iterdir())) == there + 1
    # Its values belong together: if one is lost, all are fitted again, to the same bits.
    (lost,) = [path for path in tmp_path.iterdir() if _depth(path) == 2]
    lost.unlink()
    again = sweep(DecisionTreeClassifier(), X, Y, "max_depth", [1, 2], **KEPT, store=tmp_path)
    same(again.to_frame(), made.to_frame())
    assert lost.exists()


def _depth(path):
    about = archive.read_header(path)["about"]
    return about["learner"]["parameters"]["max_depth"] if "path" in about else None


def halted(tmp_path, monkeypatch, writes=4, rows=X):
    """A store with so many parts of a sweep that was stopped."""
    with monkeypatch.context() as patch:
        full_after(patch, writes)
        with pytest.raises(StoreFull):
            sweep(RandomForestClassifier(), rows, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    return parts(tmp_path)


def test_unfinished_work_on_other_data_is_left_and_told(tmp_path, monkeypatch):
    before = halted(tmp_path, monkeypatch, rows=X + 1)
    found = sweep(RandomForestClassifier(), X, Y, "n_estimators", [1, 2], **KEPT, store=tmp_path)
    assert any("unfinished sweep of the same learner and parameter, on other data" in note for note in found.notes)
    assert parts(tmp_path) == before
    other = sweep(RandomForestClassifier(), X + 1, Y, "n_estimators", [1], **KEPT, store=tmp_path)
    assert any("with other settings" in note for note in other.notes)


def test_record_goes_on_too_and_from_what_a_sweep_has_left(tmp_path, monkeypatch):
    tally = tmp_path / "fits"
    learner, settings = Tallied(str(tally)), {**KEPT, "store": tmp_path / "store"}
    with monkeypatch.context() as patch:
        full_after(patch, 3)
        with pytest.raises(StoreFull):
            record(learner, X, Y, **settings)
    assert fits(tally) == 2 + 2 + 1  # the pilot of two refits, two subsets, and the one that was not kept
    found = record(learner, X, Y, **settings)
    assert fits(tally) == 5 + 3
    np.testing.assert_array_equal(found.labels, record(learner, X, Y, **KEPT).labels)
    assert [path.name for path in (tmp_path / "store").iterdir()] == [next((tmp_path / "store").iterdir()).name]
    with monkeypatch.context() as patch:
        full_after(patch, 3)
        with pytest.raises(StoreFull):
            sweep(learner, X, Y, "power", [2], **settings)
    done = fits(tally)
    record(Tallied(str(tally), 2), X, Y, **settings)
    assert fits(tally) - done == 3


def test_what_fails_at_every_value_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="failed at every value"):
        sweep(DecisionTreeClassifier(), X, Y, "max_depth", [0, -1], **KEPT, store=tmp_path)
    with pytest.raises(InputError, match="failed in every refit"):
        record(DecisionTreeClassifier(max_depth=0), X, Y, **KEPT, store=tmp_path)
    assert not list(tmp_path.iterdir())
