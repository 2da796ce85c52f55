"""For all tests: one thread each, no deadlines, clusters, and what is not collected for doctests."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

import loky.backend.context
import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from dask_cluster import Cluster

# Before NumPy is imported, here and in what tests start. Tests run beside each other, and threads of linear algebra
# that wait for a core take up to ten times as long as one thread.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A busy machine makes any example slow now and then; that is no failure.
settings.register_profile("classay", deadline=None)
settings.load_profile("classay")

# Conftest files are all called alike.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob += ["tests/helpers/small_networks.py"]


QUICK, BUSY = 1.0, 5.0
"""Processor seconds of a test that is not marked slow, and how many times that the first use of a library may take."""


def processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that takes too long for `make test`, unless it is marked slow."""
    begin = processor_seconds()
    yield
    used = processor_seconds() - begin
    may_take_long = item.get_closest_marker("slow") or isinstance(item, pytest.DoctestItem) or "long" in item.path.parts
    if used > QUICK * BUSY and not may_take_long:
        pytest.fail(
            f"It took {used:.1f} s of processor time; a test that is not marked slow may take {QUICK:g} s. Make it "
            "smaller, or mark it with @pytest.mark.slow.",
            pytrace=False,
        )


@pytest.fixture(scope="session", autouse=True)
def forked_workers() -> Iterator[None]:
    """Fork local workers from a server that has imported what they need: on its own, each imports for two seconds.

    With `loky_workers`, and in every process that tests start, they are started as for users.
    """
    multiprocessing.set_forkserver_preload(["classay.engine.transport", "classay.learner.record", "sklearn.tree"])
    loky.backend.context.set_start_method("forkserver", force=True)
    yield
    loky.backend.context.set_start_method("loky", force=True)


@pytest.fixture(scope="module")
def loky_workers() -> Iterator[None]:
    """Start local workers as loky does for users."""
    from classay.engine import pool

    loky.backend.context.set_start_method("loky", force=True)
    pool._take_idle(0)  # ends the pool that waits
    yield
    pool._take_idle(0)
    loky.backend.context.set_start_method("forkserver", force=True)


@pytest.fixture(scope="session")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A Dask cluster for all tests of this process. They may kill its workers, which are started again."""
    from dask_cluster import Cluster

    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield cluster
    cluster.close()


@pytest.fixture
def dask_executor(two_workers: Cluster) -> Iterator[Executor]:
    """An executor on that cluster, with both workers there."""
    with two_workers.connected() as executor:
        yield executor


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A Dask cluster of one worker, for a test that destroys it."""
    from dask_cluster import Cluster

    cluster = Cluster(tmp_path, workers=1)
    yield cluster
    cluster.close()
