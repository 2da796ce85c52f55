"""What classay uses of loky, Dask and scikit-learn that these do not document, all in one place.

Each has a guard: where a release no longer has it, the fallback is slower or less helpful, never wrong. The tests of
this module fail with such a release, so that it is noticed.
"""

from __future__ import annotations

import os
from typing import Any

# loky


def is_broken(pool: Any) -> bool:
    """Whether a pool of loky lost a worker (`_flags.broken`). Fallback: yes, so that it is not used again."""
    flags = getattr(pool, "_flags", None)
    return flags is None or getattr(flags, "broken", True) is not None


def ignore_growth_of_worker() -> None:
    """Keep loky from restarting a worker that grew by 300 MB (`_USE_PSUTIL`). Fallback: it is restarted, and warns."""
    import loky.process_executor

    if hasattr(loky.process_executor, "_USE_PSUTIL"):
        loky.process_executor._USE_PSUTIL = False


def start_resource_tracker() -> None:
    """Start loky's watcher of shared resources (`ensure_running`). Fallback: it starts with the first worker."""
    ensure_running = getattr(_tracker(), "ensure_running", None)
    if ensure_running is not None:
        ensure_running()


def watch_folder(path: str | os.PathLike[str], begin: bool) -> None:
    """Let loky's watcher remove a folder if this process is killed, or no longer. Fallback: it stays after a kill."""
    act = getattr(_tracker(), "register" if begin else "unregister", None)
    if act is not None:
        act(os.fspath(path), "folder")


def _tracker() -> Any:
    try:
        from loky.backend import resource_tracker
    except ImportError:
        return None
    return resource_tracker


# Dask


def client_of(executor: Any) -> Any:
    """The client of an executor of Dask (`_client`). Fallback None: data are sent as to an unknown executor."""
    return getattr(executor, "_client", None)


def threads_by_worker(client: Any, timeout: float) -> dict[str, int]:
    """Threads by worker, by a query with a time limit (`scheduler.ncores`). Fallback: the public one, without limit."""
    query = getattr(client.scheduler, "ncores", None)
    known: dict[str, int] = (
        client.ncores() if query is None else client.sync(query, workers=None, callback_timeout=timeout)
    )
    return known


def is_expendable_worker() -> bool:
    """Whether this Dask worker runs one task at a time under a nanny (`nanny`, `state`). Fallback: no."""
    from distributed import get_worker

    worker = get_worker()
    threads = getattr(getattr(worker, "state", None), "nthreads", None)
    return getattr(worker, "nanny", None) is not None and threads == 1


# scikit-learn


def constraints_of(kind: Any) -> dict[str, Any]:
    """Parameter -> what it accepts (`_parameter_constraints`). Fallback: nothing, so that texts are refused."""
    found: dict[str, Any] = getattr(kind, "_parameter_constraints", {})
    return found


def check_parameters(learner: Any) -> None:
    """Raise now if a parameter is wrong (`_validate_params`). Fallback: its first fit raises."""
    if hasattr(learner, "_parameter_constraints") and hasattr(learner, "_validate_params"):
        learner._validate_params()


def own_requests(part: Any, method: str) -> dict[str, Any]:
    """What a method takes itself, without what it hands on (`_get_metadata_request`). Fallback: nothing."""
    # Public is only what a learner and its parts request together.
    own = part._get_metadata_request() if hasattr(part, "_get_metadata_request") else None
    requests: dict[str, Any] = getattr(getattr(own, method, None), "requests", {})
    return requests
