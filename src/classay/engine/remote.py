"""How a function and its data reach workers that do not see our files: once per worker, not once per task."""

from __future__ import annotations

import hashlib
import io
import pickle
import threading
import time
import uuid
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..private_apis import client_of, is_expendable_worker, threads_by_worker
from . import pool
from .pool import Failure, Function, Reply, perform_task
from .transport import (
    ALIGNED,
    OUT_OF_BAND,
    FolderTransport,
    ThreadTransport,
    Transport,
    dump,
    unpack_once,
)

LOCAL_POOLS = (
    "concurrent.futures.process.ProcessPoolExecutor",
    "loky.process_executor.ProcessPoolExecutor",
    "joblib.externals.loky.process_executor.ProcessPoolExecutor",
)
DATA_MISSING = "the data are not here yet"

# In a worker: settings of BLAS belong to the process, so tasks on several threads of one worker take turns.
_task_lock = threading.Lock()


def transport_for(function: Function, shared: Any, count: int, executor: Executor) -> Transport:
    """How to send: threads share memory, processes of this machine read a file, others get copies."""
    if isinstance(executor, ThreadPoolExecutor):
        return ThreadTransport(function, shared)
    if isinstance(executor, ProcessPoolExecutor) or is_instance_of(executor, *LOCAL_POOLS):
        return FolderTransport(function, shared, count)
    client = client_of(executor) if is_instance_of(executor, "distributed.cfexecutor.ClientExecutor") else None
    if client is not None:
        return DaskTransport(function, shared, client)
    return CopyTransport(function, shared)


def is_instance_of(executor: Executor, *names: str) -> bool:
    """Whether an executor is of a class of this name, without importing its package."""
    return any(f"{kind.__module__}.{kind.__name__}" in names for kind in type(executor).__mro__)


class CopyTransport(Transport):
    """For workers that may be anywhere: the first task includes the data; a worker that lacks them requests them.

    Tasks in flight grow with the results, so that the data are not sent many times before they first arrive.
    """

    def __init__(self, function: Function, shared: Any) -> None:
        file = io.BytesIO()
        dump((function, shared), file)
        self.name, self.packed = uuid.uuid4().hex, file.getvalue()
        self.without_data: set[int] = set()
        self.n_replies = 0

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        with_data = index in self.without_data or not self.n_replies
        return executor.submit(_perform_copy, self.name, self.packed if with_data else None, task)

    def window(self, executor: Executor) -> int:
        """Three for every result so far, up to the usual number."""
        return min(1 + 3 * self.n_replies, super().window(executor))

    def unpack_reply(self, index: int, content: Any) -> Reply | None:
        """Note whether the data must be sent with this task."""
        if content == DATA_MISSING:
            self.without_data.add(index)
            return None
        self.n_replies += 1
        return super().unpack_reply(index, content)


def _perform_copy(name: str, packed: bytes | None, task: Any) -> Reply | str:
    try:
        unpacked = unpack_once(name, None if packed is None else lambda: pickle.loads(packed))
    except Exception as error:
        return False, Failure.of(error)
    if unpacked is None:
        return DATA_MISSING
    with _task_lock:
        return perform_task(*unpacked, task)


class DaskTransport(Transport):
    """For a Dask cluster: the data are a separate task, whose result workers fetch once, from one another.

    Scattered data would be lost with the worker that has them; a task is run again elsewhere. They stay on at least one
    worker for the next run, which mostly needs the same, until other data come or the client is closed.
    """

    COUNT_EVERY = 2.0  # seconds between queries for the number of workers
    WAIT_FOR_WORKERS = 60.0  # seconds without any worker after which we stop waiting

    def __init__(self, function: Function, shared: Any, client: Any) -> None:
        self.client = client
        self.data: Any = None
        self.threads, self.counted_at, self.workers_seen_at = 0, -self.COUNT_EVERY, time.monotonic()
        self.address, self.problem = getattr(client.scheduler, "address", "that is closed"), ""
        if self.lost_reason():
            return
        arrays: list[NDArray[np.uint8]] = []

        def take_buffer(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes < OUT_OF_BAND:
                return True  # keep it in the pickle
            arrays.append(np.frombuffer(view, dtype=np.uint8))
            return False

        file = io.BytesIO()
        dump((function, shared), file, take_buffer)
        self.data = _data_future(client, file.getvalue(), arrays)

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        if self.problem or self.client.status != "running":
            raise BrokenExecutor(self.lost_reason())
        try:
            packed = _pickled(task)
        except Exception as error:
            refused: Future[Any] = Future()
            refused.set_exception(error)
            return refused
        # Not pure: a retried task must not get its earlier failure. First come, first served.
        options: dict[str, Any] = {"pure": False, "fifo_timeout": "0 ms"}
        return executor.submit(_perform_on_dask, self.data, packed, **options)

    def unpack_reply(self, index: int, content: Any) -> Reply | None:
        """Unpack the result."""
        try:
            return super().unpack_reply(index, pickle.loads(content))
        except Exception as error:
            return False, Failure.of(error)

    def window(self, executor: Executor) -> int:
        """Follow a cluster that grows or shrinks."""
        self._count_workers()
        # Tasks that wait for the data together would start in any order, and the last ones first.
        return 1 if self.data is not None and self.data.status == "pending" else 2 * self.threads + 1

    def is_worker_death(self, error: BaseException) -> bool:
        """Dask gives up a task when several workers died while they had it, waiting or running."""
        return type(error).__name__ == "KilledWorker"

    def lost_reason(self) -> str:
        """Whether the scheduler is gone, or has been without workers for too long."""
        # On a lost connection Dask cancels every future, including the data, even if it comes back.
        if self.client.status != "running" or (self.data is not None and self.data.cancelled()):
            self.problem = f"the connection to the scheduler at {self.address} was lost"
        self._count_workers()
        if time.monotonic() - self.workers_seen_at > self.WAIT_FOR_WORKERS:
            self.problem = f"the scheduler at {self.address} has had no worker for {self.WAIT_FOR_WORKERS:.0f} s"
        return self.problem

    def _count_workers(self) -> None:
        if self.problem or time.monotonic() - self.counted_at < self.COUNT_EVERY:
            return
        try:
            known = threads_by_worker(self.client, 30)
        except OSError as error:  # timeouts and closed connections are among these
            self.problem = f"the scheduler at {self.address} does not answer ({error})"
            return
        self.threads = sum(known.values())
        self.counted_at = time.monotonic()
        if self.threads:
            self.workers_seen_at = self.counted_at


class PackedData:
    """The pickle and its large arrays, on a worker: unpacked there once, onto the arrays."""

    def __init__(self, packed: bytes, arrays: list[NDArray[np.uint8]]) -> None:
        self.packed, self.arrays = packed, arrays
        self.lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedData, (self.packed, self.arrays)

    def content(self) -> tuple[Function, Any]:
        """The function and the data."""
        with self.lock:
            if not hasattr(self, "unpacked"):
                self.arrays = [_aligned(array) for array in self.arrays]
                self.unpacked: tuple[Function, Any] = pickle.loads(self.packed, buffers=self.arrays)
            return self.unpacked


def _aligned(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same bytes at an aligned address: sums over a table at an unaligned one have other last digits."""
    if array.ctypes.data % ALIGNED == 0:
        return array
    room = np.empty(array.size + ALIGNED, dtype=np.uint8)
    begin = -room.ctypes.data % ALIGNED
    room[begin : begin + array.size] = array
    return room[begin : begin + array.size]


_latest: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()  # by client: what its workers have


def _data_future(client: Any, packed: bytes, arrays: list[NDArray[np.uint8]]) -> Any:
    """The future of these data on the cluster, sent only if they differ from what was sent last."""
    import warnings

    digest = hashlib.blake2b(packed, digest_size=16)
    for array in arrays:
        digest.update(array.data)
    name = digest.hexdigest()
    previous = _latest.pop(client, None)
    if previous is not None and previous[0] == name and previous[1].status in ("pending", "finished"):
        future = previous[1]
    else:
        del previous  # first free the old data, then make room for the new
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # sending it once is intended
            future = client.submit(PackedData, packed, arrays, key=f"classay-data-{name}")
    _latest[client] = name, future
    return future


def _perform_on_dask(data: PackedData, packed: bytes) -> bytes:
    """One task, on a Dask worker. Its result is packed here, because Dask waits forever for what cannot be packed."""
    try:
        pool.in_worker = is_expendable_worker()
        function, shared = data.content()
        with _task_lock:
            return _pickled(perform_task(function, shared, pickle.loads(packed)))
    except Exception as error:
        return _pickled((False, Failure.of(error)))


def _pickled(content: Any) -> bytes:
    import cloudpickle

    packed: bytes = cloudpickle.dumps(content, protocol=5)
    return packed
