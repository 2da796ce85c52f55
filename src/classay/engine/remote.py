"""How a function and its data reach workers that see none of our files: once per worker, not once per task."""

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

from . import limits
from .shared import ALIGNED, OUT_OF_BAND, Answer, Failure, Folder, Function, Parcel, Reference, dump, hold, perform

LOCAL_POOLS = (
    "concurrent.futures.process.ProcessPoolExecutor",
    "loky.process_executor.ProcessPoolExecutor",
    "joblib.externals.loky.process_executor.ProcessPoolExecutor",
)
LACKING = "the data are not here yet"

# In a worker: settings of BLAS belong to the process, so tasks on several threads of one worker take turns.
_turn = threading.Lock()


def parcel(function: Function, shared: Any, count: int, executor: Executor) -> Parcel:
    """How to travel: threads share memory, processes of this machine read a file, others are sent copies."""
    if isinstance(executor, ThreadPoolExecutor):
        return Reference(function, shared)
    if isinstance(executor, ProcessPoolExecutor) or is_one(executor, *LOCAL_POOLS):
        return Folder(function, shared, count)
    if is_one(executor, "distributed.cfexecutor.ClientExecutor") and hasattr(executor, "_client"):
        return Spread(function, shared, executor._client)
    return Copy(function, shared)


def is_one(executor: Executor, *names: str) -> bool:
    """Whether an executor is of a class of this name, without importing where that comes from."""
    return any(f"{kind.__module__}.{kind.__name__}" in names for kind in type(executor).__mro__)


class Copy(Parcel):
    """For workers that may be anywhere: the first task takes the data along; a worker that lacks them asks for them.

    Tasks in flight grow with the answers, so that the data do not leave many times before they first arrive.
    """

    def __init__(self, function: Function, shared: Any) -> None:
        file = io.BytesIO()
        dump((function, shared), file)
        self.name, self.packed = uuid.uuid4().hex, file.getvalue()
        self.lacking: set[int] = set()
        self.answered = 0

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        takes_along = index in self.lacking or not self.answered
        return executor.submit(_perform_copy, self.name, self.packed if takes_along else None, task)

    def window(self, executor: Executor) -> int:
        """Three for every answer so far, up to the usual number."""
        return min(1 + 3 * self.answered, super().window(executor))

    def opened(self, index: int, content: Any) -> Answer | None:
        """Note if the data must travel with this task."""
        if content == LACKING:
            self.lacking.add(index)
            return None
        self.answered += 1
        return super().opened(index, content)


def _perform_copy(name: str, packed: bytes | None, task: Any) -> Answer | str:
    try:
        held = hold(name, None if packed is None else lambda: pickle.loads(packed))
    except Exception as error:
        return False, Failure.of(error)
    if held is None:
        return LACKING
    with _turn:
        return perform(*held, task)


class Spread(Parcel):
    """For a Dask cluster: the data are a task of their own, whose result workers fetch once, from one another.

    Scattered data would be lost with the worker that has them; a task is done again elsewhere. They stay where they
    are for the next run, which mostly needs the same, until other data come or the client is closed.
    """

    ASK_EVERY = 2.0  # seconds between questions after the number of workers
    ALONE = 60.0  # seconds without any worker after which none is waited for

    def __init__(self, function: Function, shared: Any, client: Any) -> None:
        self.client = client
        self.load: Any = None
        self.threads, self.asked, self.seen = 0, -self.ASK_EVERY, time.monotonic()
        self.address, self.trouble = getattr(client.scheduler, "address", "that is closed"), ""
        if self.lost():
            return
        arrays: list[NDArray[np.uint8]] = []

        def beside(buffer: pickle.PickleBuffer) -> bool:
            view = buffer.raw()
            if view.nbytes < OUT_OF_BAND:
                return True  # keep it in the pickle
            arrays.append(np.frombuffer(view, dtype=np.uint8))
            return False

        file = io.BytesIO()
        dump((function, shared), file, beside)
        self.load = _kept(client, file.getvalue(), arrays)

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        if self.trouble or self.client.status != "running":
            raise BrokenExecutor(self.lost())
        try:
            packed = _packed(task)
        except Exception as error:
            refused: Future[Any] = Future()
            refused.set_exception(error)
            return refused
        # Not pure: a task that is tried again must not be given its earlier failure. First come, first served.
        options: dict[str, Any] = {"pure": False, "fifo_timeout": "0 ms"}
        return executor.submit(perform_loaded, self.load, packed, **options)

    def opened(self, index: int, content: Any) -> Answer | None:
        """Unpack the answer."""
        try:
            return super().opened(index, pickle.loads(content))
        except Exception as error:
            return False, Failure.of(error)

    def window(self, executor: Executor) -> int:
        """Follow a cluster that grows or shrinks."""
        self._ask()
        # Tasks that wait for the data together would start in any order, and the last ones first.
        return 1 if self.load is not None and self.load.status == "pending" else 2 * self.threads + 1

    def killed(self, error: BaseException) -> bool:
        """Dask gives a task up when several workers died while they had it, be it waiting or running."""
        return type(error).__name__ == "KilledWorker"

    def lost(self) -> str:
        """Whether the scheduler is gone, or has been without workers for too long."""
        # On a lost connection Dask cancels every future, the data among them, also if it comes back.
        if self.client.status != "running" or (self.load is not None and self.load.cancelled()):
            self.trouble = f"the connection to the scheduler at {self.address} was lost"
        self._ask()
        if time.monotonic() - self.seen > self.ALONE:
            self.trouble = f"the scheduler at {self.address} has had no worker for {self.ALONE:.0f} s"
        return self.trouble

    def _ask(self) -> None:
        if self.trouble or time.monotonic() - self.asked < self.ASK_EVERY:
            return
        try:
            known = self.client.sync(self.client.scheduler.ncores, workers=None, callback_timeout=30)
        except OSError as error:  # timeouts and closed connections are among these
            self.trouble = f"the scheduler at {self.address} does not answer ({error})"
            return
        self.threads = sum(known.values())
        self.asked = time.monotonic()
        if self.threads:
            self.seen = self.asked


class Load:
    """The pickle and the large arrays of it, on a worker: unpacked there once, onto the arrays."""

    def __init__(self, packed: bytes, arrays: list[NDArray[np.uint8]]) -> None:
        self.packed, self.arrays = packed, arrays
        self.turn = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Load, (self.packed, self.arrays)

    def content(self) -> tuple[Function, Any]:
        """The function and the data."""
        with self.turn:
            if not hasattr(self, "unpacked"):
                self.arrays = [_aligned(array) for array in self.arrays]
                self.unpacked: tuple[Function, Any] = pickle.loads(self.packed, buffers=self.arrays)
            return self.unpacked


def _aligned(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same bytes at an even address: sums over a table that a message left at an odd one have other last digits."""
    if array.ctypes.data % ALIGNED == 0:
        return array
    room = np.empty(array.size + ALIGNED, dtype=np.uint8)
    begin = -room.ctypes.data % ALIGNED
    room[begin : begin + array.size] = array
    return room[begin : begin + array.size]


_latest: WeakKeyDictionary[Any, tuple[str, Any]] = WeakKeyDictionary()  # by client: what its workers have


def _kept(client: Any, packed: bytes, arrays: list[NDArray[np.uint8]]) -> Any:
    """The future of these data on the cluster, sent only if they are not what was sent last."""
    import warnings

    digest = hashlib.blake2b(packed, digest_size=16)
    for array in arrays:
        digest.update(array.data)
    name = digest.hexdigest()
    before = _latest.pop(client, None)
    if before is not None and before[0] == name and before[1].status in ("pending", "finished"):
        future = before[1]
    else:
        del before  # first let go of the old data, then make room for the new
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # that it goes once is the very point
            future = client.submit(Load, packed, arrays, key=f"classay-data-{name}")
    _latest[client] = name, future
    return future


def perform_loaded(load: Load, packed: bytes) -> bytes:
    """One task, on a Dask worker. Its answer is packed here, because Dask waits for ever for what cannot be."""
    try:
        limits.in_worker = _is_expendable()
        function, shared = load.content()
        with _turn:
            return _packed(perform(function, shared, pickle.loads(packed)))
    except Exception as error:
        return _packed((False, Failure.of(error)))


def _packed(content: Any) -> bytes:
    import cloudpickle

    packed: bytes = cloudpickle.dumps(content, protocol=5)
    return packed


def _is_expendable() -> bool:
    """Whether this is a process for one task at a time, which a nanny starts again when it ends."""
    from distributed import get_worker

    worker = get_worker()
    return worker.nanny is not None and worker.state.nthreads == 1
