"""Reading weights from files, without running anything in them: torch, safetensors and NumPy.

For ONNX see `head_search`. Names of classes come from Hugging Face's `config.json` beside the file.
"""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...expect import InputError, need, shown, within
from ...files import expect_file, expect_small_members, read_arrays
from ..cosines import array_of

if TYPE_CHECKING:
    from torch import Tensor, nn

SUFFIXES = {".safetensors": "safetensors", ".npz": "NumPy", ".onnx": "ONNX"}
"""The kind of a file by its suffix; others are torch's."""
FOREIGN = (".keras", ".h5", ".hdf5", ".pb", ".tflite", ".ckpt.index", ".msgpack", ".mlmodel")
CONVERT = (
    "If you trust it, load it and save only the weights: "
    '`torch.save(torch.load("{name}", weights_only=False){part}, "weights.pt")`'
)
DEEPEST = 50
SAFE_TORCH = (2, 10)
"""The first torch whose reader of weights alone is not known to run code.

CVE-2025-32434 was fixed in 2.6, CVE-2026-24747 (crafted files corrupt memory) in 2.10.
"""
NESTED = (
    "state_dict",
    "model_state_dict",
    "model",
    "net",
    "network",
    "module",
    "weights",
    "params",
    "ema",
    "model_ema",
)
"""Where training scripts put the weights, the most likely first."""
WRAPPERS = ("module.", "_orig_mod.")
"""Prefixes that DataParallel and torch.compile add to every name."""


@dataclass(frozen=True)
class StoredArray:
    """One array of a file, read only when it is used."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], Any]

    def array(self) -> NDArray[np.float32]:
        """Its numbers, in single precision."""
        return np.asarray(array_of(self.load()), dtype=np.float32)


@dataclass(frozen=True)
class WeightFile:
    """The content of a file: its floating-point arrays; whether their order is that of the layers; remarks."""

    path: Path
    entries: tuple[StoredArray, ...]
    ordered: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NetworkState:
    """The content of a torch or safetensors file: tensors by name, the whole network if that was trusted, remarks."""

    tensors: dict[str, Tensor]
    network: nn.Module | None
    notes: tuple[str, ...]


def read_weights(path: str | Path, trust_pickle: bool = False) -> WeightFile:
    """The arrays of a file of torch, safetensors or NumPy."""
    kind = file_kind(path)
    if kind == "safetensors":
        return _from_safetensors(Path(path))
    notes: tuple[str, ...] = ()
    if kind == "NumPy":
        floating: dict[str, Any] = {
            name: array for name, array in read_arrays(Path(path)).items() if array.dtype.kind == "f"
        }
    else:
        state = read_state(path, trust_pickle)
        floating = {name: tensor for name, tensor in state.tensors.items() if tensor.is_floating_point()}
        notes = state.notes
    entries = [StoredArray(name, tuple(values.shape), partial(array_of, values)) for name, values in floating.items()]
    return WeightFile(Path(path), tuple(entries), True, notes)


def read_state(path: str | Path, trust_pickle: bool = False) -> NetworkState:
    """The tensors of a torch or safetensors file, by name, on the CPU and in single precision."""
    kind = file_kind(path)
    if kind not in ("torch", "safetensors"):
        raise InputError(f"{path} is a {kind} file; a network is loaded from torch or safetensors weights.")
    need("torch", f"Reading {path}")
    import torch
    from torch import nn

    network, notes = None, list[str]()
    if kind == "safetensors":
        with _opened(Path(path), "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict
    else:
        content = load_torch_file(Path(path), trust_pickle)
        if isinstance(content, nn.Module):
            network = content
            tensors, notes = dict(content.state_dict()), ["The file contains a whole network, which was trusted."]
        else:
            tensors, notes = find_state_dict(content, Path(path))
    tensors = without_wrappers(tensors)
    coarse = sorted({str(each.dtype) for each in tensors.values() if each.is_floating_point() and each.itemsize < 4})
    if coarse:
        notes.append(f"Half precision ({shown(coarse)}) was converted to float32.")
        tensors = {name: each.to(torch.float32) if each.is_floating_point() else each for name, each in tensors.items()}
        network = None if network is None else network.float()
    return NetworkState(tensors, network, tuple(notes))


def file_kind(path: str | Path) -> str:
    """The kind of a file of weights: safetensors, NumPy, ONNX or torch."""
    file = expect_file(path, "one file of weights, such as model.safetensors")
    if file.name.lower().endswith(FOREIGN):
        raise InputError(
            f"{path} is of an unsupported kind. Save the weights as safetensors, or as a NumPy file by "
            "`np.savez(path, **{name: array})`."
        )
    return SUFFIXES.get(file.suffix.lower(), "torch")


# Safetensors.


def _from_safetensors(path: Path) -> WeightFile:
    with _opened(path, "np") as file:
        parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118  # it is not a dict
        shapes = {name: (tuple(part.get_shape()), part.get_dtype()) for name, part in parts.items()}
    entries = [
        StoredArray(name, shape, partial(_safetensor, path, name, dtype))
        for name, (shape, dtype) in shapes.items()
        if dtype.startswith(("F", "BF"))
    ]
    coarse = sorted({dtype for _, dtype in shapes.values() if dtype in ("F16", "BF16")})
    notes = [f"Half precision ({shown(coarse)}) was converted to float32."] if coarse else []
    # The format sorts arrays by type and name.
    return WeightFile(path, tuple(entries), False, tuple(notes))


def _safetensor(path: Path, name: str, dtype: str) -> Any:
    if dtype.startswith("F") and dtype[1:] in ("16", "32", "64"):
        framework = "np"
    else:
        need("torch", f"Reading {dtype} numbers")
        framework = "pt"
    with _opened(path, framework) as file:
        return file.get_tensor(name)


def _opened(path: Path, framework: str) -> Any:
    need("safetensors", f"Reading {path}")
    from safetensors import SafetensorError, safe_open

    try:
        return safe_open(path, framework=framework)
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path} is not a complete safetensors file ({error}). Was it truncated?") from None


# Labels.


def labels_beside(path: str | Path) -> tuple[str, ...]:
    """The names of classes in the `config.json` of Hugging Face beside a file of weights; none if there are none."""
    try:
        config = json.loads(expect_file(Path(path).with_name("config.json")).read_text(encoding="utf-8"))
        by_number = {int(number): str(label) for number, label in config["id2label"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()  # there is no such file, or it is of another kind
    return tuple(by_number[code] for code in sorted(by_number)) if set(by_number) == set(range(len(by_number))) else ()


# Torch files. Such a file is a pickle, which can run code; it is read by torch's reader of weights alone. One that has
# a whole network is refused, with the way to convert it, unless the user trusts it.


def load_torch_file(path: Path, trust_pickle: bool) -> Any:
    """The content of a torch file; more than weights only if that is trusted."""
    import pickle

    import torch

    if not trust_pickle:
        _expect_safe_reader(str(torch.__version__), path)
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                expect_small_members(archive, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on other pickle protocols and scripted files; what matters is raised
            return torch.load(path, map_location="cpu", weights_only=not trust_pickle)
    except (pickle.UnpicklingError, RuntimeError) as error:
        if trust_pickle:
            raise InputError(f"{path} cannot be read: {first_line(error)}") from None
        pickled = re.search(r"GLOBAL (\S+)", str(error))
        if pickled is None and "TorchScript" not in str(error):
            raise InputError(f"{path} is not a file of weights that torch can read: {_last_line(error)}") from None
        # A checkpoint of Lightning has the weights under a name, beside settings that need its own classes.
        part = '["state_dict"]' if path.suffix.lower() == ".ckpt" else ".state_dict()"
        what = f"a pickled {pickled[1]}" if pickled else "a scripted network"
        raise InputError(
            f"{path} contains {what}, and reading it could run any code; expected only weights. "
            f"{CONVERT.format(name=path.name, part=part)}, or pass --trust-pickle (trust_pickle=True)."
        ) from None
    except (InputError, MemoryError):
        raise
    except Exception as error:  # a file that is not a pickle can make the reader raise anything
        raise InputError(
            f"{path} is not a file of weights that torch can read ({type(error).__name__}: {error})."
        ) from None


def _expect_safe_reader(version: str, path: Path) -> None:
    """Refuse a torch whose reader of weights alone can be made to run code."""
    numbers = re.match(r"(\d+)\.(\d+)(\.0)?(a|b|rc|\.dev)?", version)
    found = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    is_earlier = found < SAFE_TORCH or (found == SAFE_TORCH and numbers is not None and numbers[4])
    if is_earlier:
        wanted = ".".join(map(str, SAFE_TORCH))
        raise InputError(
            f"{path} is a torch file, and torch {version} can be made to run code by such a file, even when it reads "
            f"weights only (CVE-2025-32434, CVE-2026-24747); expected torch {wanted} or later. Run "
            f'`pip install -U "torch>={wanted}"`, use a safetensors file, or pass --trust-pickle (trust_pickle=True).'
        )


def find_state_dict(
    content: Any, path: Path, depth: int = 0, visited: set[int] | None = None
) -> tuple[dict[str, Tensor], list[str]]:
    """The weights in what a training script saved: itself, or under one of the usual names.

    Mappings may contain each other: each is visited once, to a depth of `DEEPEST`.
    """
    import torch

    visited = set() if visited is None else visited
    if id(content) in visited or depth > DEEPEST:
        raise InputError(f"{path} contains itself, or is nested more than {DEEPEST} times; expected weights by name.")
    visited.add(id(content))
    if not isinstance(content, Mapping):
        raise InputError(f"{path} contains a {type(content).__name__}; expected weights by name (a state dict).")
    own = {str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)}
    _expect_plain(own, path)
    if any(value.ndim >= 2 for value in own.values()):
        return own, []
    inner = {str(name): value for name, value in content.items() if isinstance(value, Mapping)}
    order = [*(name for name in NESTED if name in inner), *(name for name in inner if name not in NESTED)]
    for name in order:
        try:
            tensors, notes = find_state_dict(inner[name], path, depth + 1, visited)
        except InputError:
            continue
        others = [other for other in order if other != name and other in NESTED]
        note = f"Of {path.name}, {name!r} was used" + (f"; it also has {shown(others)}." if others else ".")
        return tensors, [note, *notes]
    raise InputError(f"{path} contains no weights of two or more dimensions; it has {shown(content) or 'nothing'}.")


def _expect_plain(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Refuse tensors without values of their own, and those that expand to more than the limit."""
    size = 0
    for name, tensor in tensors.items():
        kind = "meta" if tensor.is_meta else "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        if kind != "strided":
            how = "It has no values." if kind == "meta" else "Convert it by `.to_dense()` before saving."
            raise InputError(f"{path} has a {kind} tensor {name!r}; expected dense tensors. {how}")
        size = within(size + tensor.numel() * tensor.itemsize, "array_bytes", f"The size of the tensors of {path}")


def without_wrappers(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors without the prefixes that wrappers of a network add to every name."""
    for wrapper in (*WRAPPERS, *WRAPPERS):  # twice, as one may be around the other
        if tensors and all(name.startswith(wrapper) for name in tensors):
            tensors = {name.removeprefix(wrapper): tensor for name, tensor in tensors.items()}
    return tensors


def first_line(error: Exception) -> str:
    """An error as messages quote it: its type, and the first line of what it says."""
    return f"{type(error).__name__}: {(str(error).strip() or 'no reason given').splitlines()[0][:300]}"


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip() and "documentation" not in line]
    return (lines or [type(error).__name__])[-1][:300]
