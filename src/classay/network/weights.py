"""Reading weights from files, without running anything in them: safetensors, NumPy, and what `torch_file` reads.

ONNX: `onnx_weights`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..expect import InputError, shown
from .needs import need
from .torch_file import state_dict, unpickled, unwrapped

if TYPE_CHECKING:
    from torch import Tensor, nn

SUFFIXES = {".safetensors": "safetensors", ".npz": "NumPy", ".onnx": "ONNX"}
"""What a file is by its suffix; others are torch's."""
FOREIGN = (".h5", ".hdf5", ".keras", ".pb", ".tflite", ".ckpt.index", ".msgpack", ".mlmodel")


@dataclass(frozen=True)
class Entry:
    """One array of a file, not read before it is asked for."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], Any]

    def array(self) -> NDArray[np.float32]:
        """Its numbers, in single precision."""
        value = self.load()
        if hasattr(value, "detach"):
            value = value.detach().cpu().float().numpy()
        return np.asarray(value, dtype=np.float32)


@dataclass(frozen=True)
class Weights:
    """What a file holds: its arrays of floating numbers; whether their order is that of the layers; remarks."""

    path: Path
    entries: tuple[Entry, ...]
    ordered: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """What a torch or safetensors file holds: tensors by name, the whole network if that was trusted, remarks."""

    tensors: dict[str, Tensor]
    network: nn.Module | None
    notes: tuple[str, ...]


def kind_of(path: str | Path) -> str:
    """What a file of weights is: safetensors, NumPy, ONNX or torch."""
    file = Path(path)
    if not file.exists():
        raise InputError(f"There is no file {path}. Is the path right?")
    if not file.is_file():
        raise InputError(f"{path} is a folder; one file of weights is expected, such as model.safetensors.")
    if file.name.lower().endswith(FOREIGN):
        raise InputError(
            f"{path} is of a kind that is not read. Save the weights as safetensors, or as a NumPy file by "
            "`np.savez(path, **{name: array})`."
        )
    return SUFFIXES.get(file.suffix.lower(), "torch")


def read_weights(path: str | Path, trust_pickle: bool = False) -> Weights:
    """The arrays of a file of torch, safetensors or NumPy."""
    kind = kind_of(path)
    if kind == "safetensors":
        return _from_safetensors(Path(path))
    if kind == "NumPy":
        return _from_numpy(Path(path))
    if kind == "ONNX":
        raise InputError(f"{path} is an ONNX file, of which only the head is read. Use `--weights-only`.")
    state = read_state(path, trust_pickle)
    entries = [
        Entry(name, tuple(tensor.shape), partial(_itself, tensor))
        for name, tensor in state.tensors.items()
        if tensor.is_floating_point()
    ]
    return Weights(Path(path), tuple(entries), True, state.notes)


def read_state(path: str | Path, trust_pickle: bool = False) -> State:
    """The tensors of a torch or safetensors file, by name, on the CPU and in single precision."""
    kind = kind_of(path)
    if kind not in ("torch", "safetensors"):
        raise InputError(f"{path} is a {kind} file; a network is loaded from torch or safetensors weights.")
    need("torch", f"Reading {path}")
    import torch
    from torch import nn

    network = None
    if kind == "safetensors":
        tensors, notes = _safetensors_tensors(Path(path)), []
    else:
        content = unpickled(Path(path), trust_pickle)
        if isinstance(content, nn.Module):
            network = content
            tensors, notes = dict(content.state_dict()), ["The file holds a whole network, which was trusted."]
        else:
            tensors, notes = state_dict(content, Path(path))
    tensors = unwrapped(tensors)
    coarse = sorted({str(each.dtype) for each in tensors.values() if each.is_floating_point() and each.itemsize < 4})
    if coarse:
        notes.append(f"Half precision ({shown(coarse)}) was turned into float32.")
        tensors = {name: each.to(torch.float32) if each.is_floating_point() else each for name, each in tensors.items()}
        network = None if network is None else network.float()
    return State(tensors, network, tuple(notes))


def _itself(value: Any) -> Any:
    return value


def _from_numpy(path: Path) -> Weights:
    try:
        # Without pickle: a file that needs it is refused by NumPy.
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, EOFError, TypeError, ValueError, zipfile.BadZipFile) as error:  # TypeError: one array alone
        raise InputError(f"{path} cannot be read as a NumPy file of arrays ({error}).") from None
    kept = {name: array for name, array in arrays.items() if array.dtype.kind == "f"}
    return Weights(
        path, tuple(Entry(name, each.shape, partial(_itself, each)) for name, each in kept.items()), True, ()
    )


def _from_safetensors(path: Path) -> Weights:
    with _opened(path, "np") as file:
        parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict
        shapes = {name: (tuple(part.get_shape()), part.get_dtype()) for name, part in parts.items()}
    entries = [
        Entry(name, shape, partial(_safetensor, path, name, dtype))
        for name, (shape, dtype) in shapes.items()
        if dtype.startswith(("F", "BF"))
    ]
    coarse = sorted({dtype for _, dtype in shapes.values() if dtype in ("F16", "BF16")})
    notes = [f"Half precision ({shown(coarse)}) was turned into float32."] if coarse else []
    # The format sorts arrays by type and name.
    return Weights(path, tuple(entries), False, tuple(notes))


def _safetensor(path: Path, name: str, dtype: str) -> Any:
    if dtype.startswith("F") and dtype[1:] in ("16", "32", "64"):
        framework = "np"
    else:
        need("torch", f"Reading {dtype} numbers")
        framework = "pt"
    with _opened(path, framework) as file:
        return file.get_tensor(name)


def _safetensors_tensors(path: Path) -> dict[str, Tensor]:
    with _opened(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict


def _opened(path: Path, framework: str) -> Any:
    need("safetensors", f"Reading {path}")
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework=framework)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path} is not a whole safetensors file ({error}). Was it cut off?") from None
