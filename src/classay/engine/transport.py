"""How a function and its data reach workers: once per worker, not once per task."""

from __future__ import annotations

import errno
import hashlib
import io
import mmap
import os
import pickle
import shutil
import tempfile
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError
from ..private_apis import client_of, is_expendable_worker, threads_by_worker, watch_folder
from . import pool
from .pool import Failure, Function, Reply, interrupts_deferred, perform_task

OUT_OF_BAND = 1 << 16  # bytes; arrays smaller than this stay inside the pickle
ALIGNED = 64


class Transport(ABC):
    """The function and its data, ready to be sent to one kind of executor."""

    @abstractmethod
    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task. RuntimeError: the executor accepts no more."""

    def window(self, executor: Executor) -> int:
        """How many tasks to keep in flight: a little more than two per worker."""
        known = getattr(executor, "_max_workers", None)
        # If the number of workers is unknown: enough for a small cluster.
        return 2 * known + 1 if isinstance(known, int) else 256

    def unpack_reply(self, index: int, content: Any) -> Reply | None:
        """The result in what came back from a worker. None: there is none, and the task must be sent again."""
        return cast(Reply, content)

    def is_worker_death(self, error: BaseException) -> bool:
        """Whether this says that a worker died, perhaps because of the task, while the others go on."""
        return False

    def lost_reason(self) -> str:
        """Why no result can come any more, if so; checked a few times per second while none comes."""
        return ""

    def remove(self) -> None:  # noqa: B027
        """Clean up what was left for the workers."""


@dataclass(frozen=True)
class ThreadTransport(Transport):
    """For threads: nothing is sent."""

    function: Function
    shared: Any

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        return executor.submit(perform_task, self.function, self.shared, task)


class Address(NamedTuple):
    """What is sent with a task instead of the data."""

    folder: str
    name: str
    sender: int


class FolderTransport(Transport):
    """For processes of this machine: a private folder contains the pickle, and next to it the large arrays.

    Arrays are mapped copy-on-write: workers share the memory as long as they only read, and a learner that
    writes into its input works as it would here and changes only its own worker's copy. It is cloudpickled, so
    that classes from a notebook can be sent; joblib's dump would map arrays as well, but could not send those.
    """

    def __init__(self, function: Function, shared: Any, count: int) -> None:
        try:
            with interrupts_deferred():
                self.path = Path(tempfile.mkdtemp(prefix="classay-"))  # mode 0700
                # If this process is killed, loky's watcher removes the folder.
                watch_folder(self.path, begin=True)
            self.address = Address(str(self.path), uuid.uuid4().hex, os.getpid())
            _write_folder(self.path, (function, shared))
            (self.path / "started").write_bytes(bytes(count))
        except BaseException as error:
            if not hasattr(self, "path"):
                raise
            self.remove()
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                hint = f"no space for the data in {self.path.parent}; set TMPDIR to a folder on a larger disk"
                raise OSError(errno.ENOSPC, hint) from error
            raise

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        return executor.submit(_perform_from_folder, self.address, index, task)

    def was_started(self, index: int) -> bool:
        """Whether a worker ever started this task. If not, it cannot be what killed the worker."""
        with open(self.path / "started", "rb") as file:
            file.seek(index)
            return file.read(1) == b"\1"

    def remove(self) -> None:
        """Delete the folder. On Windows a mapped file stays until its worker ends."""
        shutil.rmtree(self.path, ignore_errors=True)
        watch_folder(self.path, begin=False)


def dump(content: Any, file: IO[bytes], take: Callable[[memoryview], object] | None = None) -> None:
    """Pickle the function and its data, including classes from a notebook. `take` takes large arrays out of it."""
    import cloudpickle

    def take_buffer(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if take is None or raw.nbytes < OUT_OF_BAND:
            return True  # keep it in the pickle
        take(raw)
        return False

    try:
        cloudpickle.dump(content, file, protocol=5, buffer_callback=take_buffer)
    except (pickle.PicklingError, TypeError, AttributeError, NotImplementedError) as error:
        raise InputError(
            f"The function or its data cannot be sent to other processes ({error}). Pass executor=1 to run in this one."
        ) from error


def _write_folder(folder: Path, content: Any) -> None:
    spans: list[tuple[int, int]] = []
    with open(folder / "arrays", "wb") as arrays, open(folder / "pickle", "wb") as packed:

        def take(raw: memoryview) -> None:
            arrays.write(bytes(-arrays.tell() % ALIGNED))
            spans.append((arrays.tell(), arrays.tell() + raw.nbytes))
            arrays.write(raw)

        dump(content, packed, take)
    (folder / "spans").write_bytes(pickle.dumps(spans))


def _read_folder(folder: Path) -> Any:
    spans = pickle.loads((folder / "spans").read_bytes())
    view = memoryview(b"")
    if spans:
        with open(folder / "arrays", "rb") as arrays:
            view = memoryview(mmap.mmap(arrays.fileno(), 0, access=mmap.ACCESS_COPY))
    with open(folder / "pickle", "rb") as packed:
        return pickle.load(packed, buffers=[view[begin:end] for begin, end in spans])


# In a worker: the last function and data that were unpacked here, under a name that is never reused.
_unpacked: tuple[str, tuple[Function, Any]] | None = None
_unpack_lock = threading.Lock()


def unpack_once(name: str, unpack: Callable[[], Any] | None) -> tuple[Function, Any] | None:
    """The function and data of this name, unpacked once. None if they are not here and cannot be unpacked."""
    global _unpacked
    with _unpack_lock:  # a worker of a cluster may have several threads
        if _unpacked is None or _unpacked[0] != name:
            if unpack is None:
                return None
            _unpacked = None  # first free the old data, then make room for the new
            _unpacked = name, unpack()
        return _unpacked[1]


def _perform_from_folder(address: Address, index: int, task: Any) -> Reply:
    pool.in_worker = os.getpid() != address.sender
    folder = Path(address.folder)
    try:
        with open(folder / "started", "r+b") as started:
            started.seek(index)
            started.write(b"\1")
        unpacked = unpack_once(address.name, lambda: _read_folder(folder))
    except Exception as error:
        return False, Failure.of(error)
    assert unpacked is not None
    return perform_task(*unpacked, task)


# Workers that do not see our files: anywhere, or on a Dask cluster


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
        file = io.BytesIO()
        dump((function, shared), file, lambda raw: arrays.append(np.frombuffer(raw, dtype=np.uint8)))
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
