"""A Dask cluster as an executor: connect to its scheduler, refuse what cannot work, let go at the end."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from ..expect import InputError, counted, shown

ANSWERS_WITHIN = 5.0  # seconds
START = (
    "Start it with `dask scheduler`, and on every machine `dask worker {address} --nworkers auto --nthreads 1`, in "
    "environments with the same packages."
)
DECIDE = ("classay", "scikit-learn")
"""Packages that must be the same everywhere: what they compute is the result."""
MATTER = ("numpy", "scipy", "pandas", "cloudpickle")
"""Packages of which other releases of the same major version mostly work, but may give other last digits."""

Versions = dict[str, Any]


class ClusterWarning(RuntimeWarning):
    """A cluster that works, but not as well or as surely as it could."""


@contextmanager
def executor_of(scheduler: str | None, workers: int | None = None) -> Iterator[Executor | int | None]:
    """What to pass as `executor` for a `--scheduler` and a number of `--workers`, at most one of them given.

    >>> with executor_of(None, 2) as executor:
    ...     executor
    2
    """
    if scheduler is None:
        yield workers
        return
    if workers is not None:
        raise InputError(
            f"Both a scheduler ({scheduler}) and {counted(workers, 'local worker')} were asked for; one of the two is "
            "expected. How many workers a cluster has is settled where they are started."
        )
    with connect(scheduler, ANSWERS_WITHIN) as executor:
        yield executor


@contextmanager
def connect(address: str, timeout: float = ANSWERS_WITHIN) -> Iterator[Executor]:
    """An executor on the workers of the Dask scheduler at `address`, such as tcp://host:8786, until leaving.

    Raises `InputError` within about `timeout` seconds if nothing answers there, if no worker is there, or if Python or
    packages differ so that the work would fail or mean something else. Smaller differences are warned of. Workers that
    join later are used and not examined.
    """
    client = _client(address, timeout)
    with _hushed(), _closing(client, timeout):
        with _lost(address):
            threads = _threads(client, timeout)
            if not threads:
                raise InputError(f"The scheduler at {address} has no workers. {START.format(address=address)}")
            _same_everywhere(address, client.get_versions(packages=[*DECIDE, *MATTER]))
        many = [name for name, number in threads.items() if number > 1]
        if many:
            warnings.warn(
                f"{counted(len(many), 'worker')} at {address} ({shown(many, 3)}) {'has' if len(many) == 1 else 'have'} "
                "several threads. Refits in one process take turns, so only one of them works. Start workers with "
                "--nworkers auto --nthreads 1.",
                ClusterWarning,
                stacklevel=4,
            )
        yield client.get_executor(pure=False)


def _threads(client: Any, timeout: float) -> dict[str, int]:
    """Threads by worker. Workers that are just being started are waited for."""
    deadline = time.monotonic() + timeout
    while True:
        found: dict[str, int] = client.sync(client.scheduler.ncores, workers=None, callback_timeout=timeout)
        if found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep Dask from logging, tracebacks and all, that a scheduler is gone: we tell of it ourselves."""
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
def _closing(client: Any, timeout: float) -> Iterator[None]:
    try:
        yield
    finally:
        # What still runs on the workers is let go; a scheduler that is gone is not waited for.
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
        raise InputError(f"The scheduler's address is {address!r}; one such as tcp://host:8786 is expected.")
    try:
        with ThreadPoolExecutor(1) as apart:  # here a loop may be running, as in notebooks
            apart.submit(asyncio.run, _greet(address, timeout)).result()
        return Client(address, timeout=timeout, set_as_default=False, name="classay")
    except OSError as error:
        raise InputError(
            f"No scheduler answers at {address} within {timeout:g} s. Is the address right, is the scheduler running, "
            f"and does a firewall let you through? {START.format(address=address)}"
        ) from error
    except (ValueError, TypeError, ImportError) as error:  # a scheme that Dask has not, or TLS without certificates
        raise InputError(f"The scheduler's address is {address!r}, which Dask cannot use: {error}.") from error


async def _greet(address: str, timeout: float) -> None:
    """Connect and let go again. The client would wait for ever where something listens that never says a word."""
    from distributed.comm import connect
    from distributed.security import Security

    arguments = Security().get_connection_args("client")
    connected = await asyncio.wait_for(connect(address, timeout=timeout, **arguments), timeout)
    await connected.close()


@contextmanager
def _lost(address: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:  # timeouts and closed connections are among these
        raise InputError(f"The scheduler at {address} answered, and then no more ({error}). Is it running?") from error


def _same_everywhere(address: str, found: Versions) -> None:
    """Refuse workers that cannot do the work, warn of those whose figures may differ in the last digits."""
    own = _flat(found["client"])
    refused: dict[str, list[str]] = defaultdict(list)
    doubtful: dict[str, list[str]] = defaultdict(list)
    for name, told in {"the scheduler": found["scheduler"], **found["workers"]}.items():
        their = _flat(told)
        for package in ("python", *DECIDE, *MATTER):
            here, there = own[package], their[package]
            if here == there:
                continue
            line = f"{package} {there or 'is absent'} (here {here or 'absent'})"
            # The scheduler computes nothing; it only has to read what is sent.
            computes = name != "the scheduler" or not there
            decides = package in ("python", *DECIDE) or str(here).split(".")[0] != str(there).split(".")[0]
            if decides and (computes or package == "python"):
                refused[line].append(name)
            elif computes:
                doubtful[line].append(name)
    if refused:
        raise InputError(
            f"The cluster at {address} has other software: {_told(refused)}. Install the same versions there and here."
        )
    if doubtful:
        warnings.warn(
            f"The cluster at {address} has other versions: {_told(doubtful)}. Figures may depend on which worker "
            "computes them; install the same versions everywhere.",
            ClusterWarning,
            stacklevel=6,
        )


def _flat(told: Any) -> dict[str, str | None]:
    """Versions by package; of Python only what decides whether code can travel: 3.11, not 3.11.7."""
    packages = told["packages"]
    python = ".".join(str(told["host"]["python"]).split(".")[:2])
    return {"python": python, **{package: packages.get(package) for package in (*DECIDE, *MATTER)}}


def _told(differences: dict[str, list[str]]) -> str:
    return "; ".join(f"{line} on {shown(names, 3)}" for line, names in differences.items())
