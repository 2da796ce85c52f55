"""How a function and its data reach workers on this machine: once per worker, not once per task. Others: `remote`."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import tempfile
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from ..expect import InputError
from ..private_apis import watch_folder
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


def dump(content: Any, file: IO[bytes], take_buffer: Callable[[pickle.PickleBuffer], bool] | None = None) -> None:
    """Pickle the function and its data, including classes from a notebook. `take_buffer` may take out large arrays."""
    import cloudpickle

    try:
        cloudpickle.dump(content, file, protocol=5, buffer_callback=take_buffer)
    except (pickle.PicklingError, TypeError, AttributeError, NotImplementedError) as error:
        raise InputError(
            f"The function or its data cannot be sent to other processes ({error}). Pass executor=1 to run in this one."
        ) from error


def _write_folder(folder: Path, content: Any) -> None:
    spans: list[tuple[int, int]] = []
    with open(folder / "arrays", "wb") as arrays, open(folder / "pickle", "wb") as packed:

        def take_buffer(buffer: pickle.PickleBuffer) -> bool:
            with buffer.raw() as raw:
                if raw.nbytes < OUT_OF_BAND:
                    return True  # keep it in the pickle
                arrays.write(bytes(-arrays.tell() % ALIGNED))
                spans.append((arrays.tell(), arrays.tell() + raw.nbytes))
                arrays.write(raw)
            return False

        dump(content, packed, take_buffer)
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
