"""A Dask cluster as an executor: connect to its scheduler, refuse what cannot work, disconnect at the end."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from ..expect import InputError, counted, shown
from ..private_apis import threads_by_worker
from .machine import differences, machine

CONNECT_TIMEOUT = 5.0  # seconds
START = (
    "Start it with `dask scheduler`, and on every machine `dask worker {address} --nworkers auto --nthreads 1`, in "
    "environments with the same packages."
)
MUST_MATCH = ("classay", "scikit-learn")
"""Packages that must be the same everywhere: they compute the result."""
SHOULD_MATCH = ("numpy", "scipy", "pandas", "cloudpickle")
"""Packages whose other releases of the same major version mostly work, but may give other last digits."""

Versions = dict[str, Any]


class ClusterWarning(RuntimeWarning):
    """A cluster that works, but not as well or as reliably as it could."""


@contextmanager
def executor_of(scheduler: str | None, workers: int | None = None) -> Iterator[Executor | int | None]:
    """The `executor` for a `--scheduler` or a number of `--workers`, at most one of them given.

    >>> with executor_of(None, 2) as executor:
    ...     executor
    2
    """
    if scheduler is None:
        yield workers
        return
    if workers is not None:
        raise InputError(
            f"Both a scheduler ({scheduler}) and {counted(workers, 'local worker')} were given; expected only one of "
            "them. The number of workers of a cluster is set where they are started."
        )
    with connect(scheduler, CONNECT_TIMEOUT) as executor:
        yield executor


@contextmanager
def connect(address: str, timeout: float = CONNECT_TIMEOUT) -> Iterator[Executor]:
    """An executor on the workers of the Dask scheduler at `address`, such as tcp://host:8786, until leaving.

    Raises `InputError` within about `timeout` seconds if nothing answers there, if there is no worker, or if Python or
    packages differ so that the work would fail or give other results. Smaller differences give a warning. Workers that
    join later are used without a check.
    """
    client = _client(address, timeout)
    with _quiet_logs(), _closed_at_end(client, timeout):
        with _lost_as_error(address):
            threads = _threads_by_worker(client, timeout)
            if not threads:
                raise InputError(f"The scheduler at {address} has no workers. {START.format(address=address)}")
            _check_versions(address, client.get_versions(packages=[*MUST_MATCH, *SHOULD_MATCH]))
            _compare_machines(address, client.run(machine))
        threaded = [name for name, number in threads.items() if number > 1]
        if threaded:
            has = "has" if len(threaded) == 1 else "have"
            warnings.warn(
                f"{counted(len(threaded), 'worker')} at {address} ({shown(threaded, 3)}) {has} "
                "several threads. Refits in one process take turns, so only one of them works. Start workers with "
                "--nworkers auto --nthreads 1.",
                ClusterWarning,
                stacklevel=4,
            )
        yield client.get_executor(pure=False)


def _threads_by_worker(client: Any, timeout: float) -> dict[str, int]:
    """Threads by worker. Waits for workers that are just being started."""
    deadline = time.monotonic() + timeout
    while True:
        threads = threads_by_worker(client, timeout)
        if threads or time.monotonic() > deadline:
            return threads
        time.sleep(0.1)


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep Dask from logging, with tracebacks, that a scheduler is gone: we report it ourselves."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels):
            log.setLevel(level)


@contextmanager
def _closed_at_end(client: Any, timeout: float) -> Iterator[None]:
    try:
        yield
    finally:
        # Do not wait for what still runs on the workers, nor for a scheduler that is gone.
        with suppress(TimeoutError, OSError):
            client.close(timeout=timeout)


def _client(address: str, timeout: float) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            f"A scheduler ({address}) needs the package distributed, which is not installed. Install it with "
            "pip install 'classay[dask]'."
        ) from None
    if not re.fullmatch(r"([a-z][a-z0-9+.-]*://)?[^\s/]*[^\s/:]:\d+/?", str(address)):
        raise InputError(f"The scheduler's address is {address!r}; expected one such as tcp://host:8786.")
    try:
        with ThreadPoolExecutor(1) as apart:  # here an event loop may be running, as in notebooks
            apart.submit(asyncio.run, _try_connection(address, timeout)).result()
        return Client(address, timeout=timeout, set_as_default=False, name="classay")
    except (MemoryError, OverflowError, EOFError, UnicodeDecodeError) as error:
        # Dask takes the first bytes of any reply for the length of what follows.
        raise InputError(
            f"What answers at {address} is not a Dask scheduler. Is that the port of its dashboard (usually 8787) or "
            "of another web server? The port of a scheduler is usually 8786; it prints its address when it starts."
        ) from error
    except OSError as error:
        raise InputError(
            f"No scheduler answers at {address} within {timeout:g} s. Is the address right, is the scheduler running, "
            f"and does a firewall block it? {START.format(address=address)}"
        ) from error
    except (ValueError, TypeError, ImportError) as error:  # an unknown scheme, or TLS without certificates
        raise InputError(f"The scheduler's address is {address!r}, which Dask cannot use: {error}.") from error


async def _try_connection(address: str, timeout: float) -> None:
    """Connect and let go again. The client would wait for ever where something listens that never says a word."""
    from distributed.comm import connect
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    connected = await asyncio.wait_for(connect(address, timeout=timeout, **arguments), timeout)
    await connected.close()


@contextmanager
def _lost_as_error(address: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # timeouts and closed connections are among these
        raise InputError(f"The scheduler at {address} stopped answering ({error}). Is it running?") from error


def _check_versions(address: str, versions: Versions) -> None:
    """Refuse workers that cannot do the work, warn about those whose figures may differ in the last digits."""
    own = _package_versions(versions["client"])
    refused: dict[str, list[str]] = defaultdict(list)
    doubtful: dict[str, list[str]] = defaultdict(list)
    for name, software in {"the scheduler": versions["scheduler"], **versions["workers"]}.items():
        theirs = _package_versions(software)
        for package in ("python", *MUST_MATCH, *SHOULD_MATCH):
            here, there = own[package], theirs[package]
            if here == there:
                continue
            difference = f"{package} {there or 'is absent'} (here {here or 'absent'})"
            # The scheduler computes nothing; it only has to read what is sent.
            computes = name != "the scheduler" or not there
            decides = package in ("python", *MUST_MATCH) or str(here).split(".")[0] != str(there).split(".")[0]
            if decides and (computes or package == "python"):
                refused[difference].append(name)
            elif computes:
                doubtful[difference].append(name)
    if refused:
        raise InputError(
            f"The cluster at {address} has other software: {_differences_text(refused)}. Install the same versions "
            "there and here."
        )
    if doubtful:
        warnings.warn(
            f"The cluster at {address} has other versions: {_differences_text(doubtful)}. Figures may depend on which "
            "worker computes them; install the same versions everywhere.",
            ClusterWarning,
            stacklevel=6,
        )


def _compare_machines(address: str, machines: Mapping[str, Mapping[str, str]]) -> None:
    """Warn about workers whose processor or BLAS computes other last digits."""
    doubtful: dict[str, list[str]] = defaultdict(list)
    for name, of_worker in machines.items():
        for difference in differences({"machine": of_worker}):
            doubtful[difference].append(name)
    if doubtful:
        warnings.warn(
            f"The cluster at {address} has other processors or another BLAS: {_differences_text(doubtful)}. The last "
            "digits of figures may depend on which worker computes them.",
            ClusterWarning,
            stacklevel=6,
        )


def _package_versions(software: Any) -> dict[str, str | None]:
    """Versions by package; for Python only what decides whether code can be sent: 3.11, not 3.11.7."""
    packages = software["packages"]
    python = ".".join(str(software["host"]["python"]).split(".")[:2])
    return {"python": python, **{package: packages.get(package) for package in (*MUST_MATCH, *SHOULD_MATCH)}}


def _differences_text(differences: dict[str, list[str]]) -> str:
    return "; ".join(f"{difference} on {shown(names, 3)}" for difference, names in differences.items())
