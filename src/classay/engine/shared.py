"""How a function and its data reach workers on this machine: once per worker, not once per task. Others: `remote`."""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import tempfile
import threading
import traceback
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from ..expect import InputError
from . import limits
from .pool import interrupts_held

Function = Callable[[Any, Any], Any]
Answer = tuple[bool, Any]  # (True, result) or (False, Failure)

OUT_OF_BAND = 1 << 16  # bytes; arrays smaller than this stay inside the pickle
ALIGNED = 64


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task has no result. Plain strings, because an exception may not survive the way back."""

    error: str
    message: str
    traceback: str = ""

    def __str__(self) -> str:
        return f"{self.error}: {self.message}" if self.message else self.error

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Describe an exception."""
        return cls(type(error).__name__, str(error), "".join(traceback.format_exception(error)))


def perform(function: Function, shared: Any, task: Any) -> Answer:
    """Run one task on one thread. What it raises is an answer, too, even the `sys.exit` of a rude learner."""
    try:
        with limits.one_thread():
            return True, function(shared, task)
    except (Exception, SystemExit) as error:
        return False, Failure.of(error)


class Parcel(ABC):
    """The function and its data, ready to travel to one kind of executor."""

    @abstractmethod
    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task. RuntimeError: the executor takes no more."""

    def window(self, executor: Executor) -> int:
        """How many tasks to keep in flight: a little more than two per worker."""
        known = getattr(executor, "_max_workers", None)
        # Where the number of workers is not known: enough for a small cluster.
        return 2 * known + 1 if isinstance(known, int) else 256

    def opened(self, index: int, content: Any) -> Answer | None:
        """The answer in what came back from a worker. None: there is none, and the task is to be sent again."""
        return cast(Answer, content)

    def killed(self, error: BaseException) -> bool:
        """Whether this says that a worker died, perhaps of the task, while the others go on."""
        return False

    def lost(self) -> str:
        """Why no answer can come any more, if so; asked a few times a second while none comes."""
        return ""

    def remove(self) -> None:  # noqa: B027
        """Clear up what was left for the workers."""


@dataclass(frozen=True)
class Reference(Parcel):
    """For threads: nothing travels."""

    function: Function
    shared: Any

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        return executor.submit(perform, self.function, self.shared, task)


class Address(NamedTuple):
    """What travels with a task instead of the data."""

    folder: str
    name: str
    sender: int


class Folder(Parcel):
    """For processes of this machine: a private folder holds the pickle, and beside it the large arrays.

    Arrays are mapped copy-on-write: workers share the memory as long as they only read, and a learner that
    writes into its input works as it would here and alters only its own worker's copy. It is cloudpickled, so
    that classes from a notebook travel; joblib's dump would map arrays as well, but could not carry those.
    """

    def __init__(self, function: Function, shared: Any, count: int) -> None:
        from loky.backend import resource_tracker

        try:
            with interrupts_held():
                self.path = Path(tempfile.mkdtemp(prefix="classay-"))  # mode 0700
                # If this process is killed, loky's watcher removes the folder.
                resource_tracker.register(str(self.path), "folder")
            self.address = Address(str(self.path), uuid.uuid4().hex, os.getpid())
            _pack(self.path, (function, shared))
            (self.path / "started").write_bytes(bytes(count))
        except BaseException as error:
            if not hasattr(self, "path"):
                raise
            self.remove()
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                hint = f"no room for the data in {self.path.parent}; set TMPDIR to a folder on a larger disk"
                raise OSError(errno.ENOSPC, hint) from error
            raise

    def send(self, executor: Executor, index: int, task: Any) -> Future[Any]:
        """Submit one task."""
        return executor.submit(_perform_from_folder, self.address, index, task)

    def was_started(self, index: int) -> bool:
        """Whether a worker ever began this task. If not, it cannot be what killed the worker."""
        with open(self.path / "started", "rb") as file:
            file.seek(index)
            return file.read(1) == b"\1"

    def remove(self) -> None:
        """Delete the folder. On Windows a mapped file stays until its worker ends."""
        from loky.backend import resource_tracker

        shutil.rmtree(self.path, ignore_errors=True)
        resource_tracker.unregister(str(self.path), "folder")


def dump(content: Any, file: IO[bytes], beside: Callable[[pickle.PickleBuffer], bool] | None = None) -> None:
    """Pickle the function and its data, classes from a notebook included. `beside` may take large arrays out of it."""
    import cloudpickle

    try:
        cloudpickle.dump(content, file, protocol=5, buffer_callback=beside)
    except (pickle.PicklingError, TypeError, AttributeError, NotImplementedError) as error:
        raise InputError(
            f"The function or its data cannot be sent to other processes ({error}). Pass executor=1 to work "
            "in this one."
        ) from error


def _pack(folder: Path, content: Any) -> None:
    spans: list[tuple[int, int]] = []
    with open(folder / "arrays", "wb") as arrays, open(folder / "pickle", "wb") as packed:

        def beside(buffer: pickle.PickleBuffer) -> bool:
            with buffer.raw() as raw:
                if raw.nbytes < OUT_OF_BAND:
                    return True  # keep it in the pickle
                arrays.write(bytes(-arrays.tell() % ALIGNED))
                spans.append((arrays.tell(), arrays.tell() + raw.nbytes))
                arrays.write(raw)
            return False

        dump(content, packed, beside)
    (folder / "spans").write_bytes(pickle.dumps(spans))


def _unpack(folder: Path) -> Any:
    spans = pickle.loads((folder / "spans").read_bytes())
    view = memoryview(b"")
    if spans:
        with open(folder / "arrays", "rb") as arrays:
            view = memoryview(mmap.mmap(arrays.fileno(), 0, access=mmap.ACCESS_COPY))
    with open(folder / "pickle", "rb") as packed:
        return pickle.load(packed, buffers=[view[begin:end] for begin, end in spans])


# In a worker: the last function and data that were unpacked here, under a name that is never used twice.
_held: tuple[str, tuple[Function, Any]] | None = None
_holding = threading.Lock()


def hold(name: str, unpack: Callable[[], Any] | None) -> tuple[Function, Any] | None:
    """The function and data of this name, unpacked once. None if they are not here and cannot be unpacked."""
    global _held
    with _holding:  # a worker of a cluster may have several threads
        if _held is None or _held[0] != name:
            if unpack is None:
                return None
            _held = None  # first let go of the old data, then make room for the new
            _held = name, unpack()
        return _held[1]


def _perform_from_folder(address: Address, index: int, task: Any) -> Answer:
    limits.in_worker = os.getpid() != address.sender
    folder = Path(address.folder)
    try:
        with open(folder / "started", "r+b") as started:
            started.seek(index)
            started.write(b"\1")
        held = hold(address.name, lambda: _unpack(folder))
    except Exception as error:
        return False, Failure.of(error)
    assert held is not None
    return perform(*held, task)
