"""A real Dask cluster for tests: a scheduler and two worker processes with their nannies, on loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

# Dask forgives a task three dead workers by default; one is enough here and three restarts faster.
SETTINGS = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1", "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}


class Cluster:
    """A scheduler, and workers of one thread each. They end by themselves if the tests are killed."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--idle-timeout", "120s")
        until(self.file.exists)
        self.address = json.loads(self.file.read_text())["address"]
        self.nannies = None
        if workers:
            from distributed import Client  # here, because this file is collected also where it is not installed

            options = ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0", "--death-timeout", "60"]
            self.nannies = self._start("worker", *options)
            with Client(self.address, set_as_default=False) as client:
                client.wait_for_workers(workers, timeout=30)

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


def until(condition, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the cluster did not start"
        time.sleep(0.02)
