"""A real Dask cluster for tests: a scheduler and worker processes with their nannies, on loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

from classay.engine import dask

SETTINGS = {
    # Dask forgives a task three dead workers by default; one is enough here and three restarts faster.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    # A worker in the place of a dead one has imported what it needs.
    "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
    "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
}


class Cluster:
    """A scheduler, and workers of one thread each. They end by themselves if the tests are killed."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder = folder
        self.workers = workers
        self.file = folder / "scheduler.json"
        # On a busy machine, an hour may pass between two tests that use it.
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--idle-timeout", "2h")
        until(lambda: self.file.exists() and bool(self.file.read_text()))  # it is written after it is made
        self.address = json.loads(self.file.read_text())["address"]
        options = ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0", "--death-timeout", "120"]
        self.nannies = self._start("worker", *options)
        with self.connected():
            pass

    @contextlib.contextmanager
    def connected(self) -> Iterator[Executor]:
        """An executor on the cluster, once all its workers are there; a test before may have killed one."""
        with dask.connect(self.address, timeout=120) as executor:
            executor._client.wait_for_workers(self.workers, timeout=120)
            yield executor

    def _start(self, what: str, *options: str) -> subprocess.Popen:
        command = [sys.executable, "-m", "dask", what, "--scheduler-file", str(self.file), "--no-dashboard", *options]
        with open(self.folder / f"{what}.log", "wb") as log:
            return subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env={**os.environ, **SETTINGS},
                start_new_session=True,
            )

    def kill(self, process: subprocess.Popen | None) -> None:
        """End a process and all that it started, at once."""
        if process is not None and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def close(self) -> None:
        self.kill(self.nannies)
        self.kill(self.scheduler)


def until(condition) -> None:
    """Wait for an event. It is given up after a time that only a failure takes."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.02)
