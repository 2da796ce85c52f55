"""Reading torch files. Such a file is a pickle, which can run code; it is read by torch's reader of weights alone.

One that holds a whole network is refused, with the way to convert it, unless the user trusts it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..expect import InputError, shown

if TYPE_CHECKING:
    from torch import Tensor

CONVERT = (
    "Where you trust it, load it there and save the weights alone: "
    '`torch.save(torch.load("{name}", weights_only=False).state_dict(), "weights.pt")`'
)
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
"""Where training scripts put the weights, the likelier first."""
WRAPPERS = ("module.", "_orig_mod.")
"""What DataParallel and torch.compile put before every name."""


def unpickled(path: Path, trust_pickle: bool) -> Any:
    """What a torch file holds; more than weights only where that is trusted."""
    import pickle

    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on other protocols of pickle and scripted files; what matters is raised
            return torch.load(path, map_location="cpu", weights_only=not trust_pickle)
    except (pickle.UnpicklingError, RuntimeError) as error:
        if trust_pickle:
            raise InputError(f"{path} cannot be read: {_first_line(error)}") from None
        held = re.search(r"GLOBAL (\S+)", str(error))
        if held is None and "TorchScript" not in str(error):
            raise InputError(f"{path} is no file of weights that torch can read: {_last_line(error)}") from None
        what = f"a pickled {held[1]}" if held else "a scripted network"
        raise InputError(
            f"{path} holds {what}, and reading it could run any code; weights alone are expected. "
            f"{CONVERT.format(name=path.name)}, or pass --trust-pickle (trust_pickle=True)."
        ) from None
    except MemoryError:
        raise
    except Exception as error:  # what a file that is no pickle makes the reader raise is anything
        raise InputError(
            f"{path} is no file of weights that torch can read ({type(error).__name__}: {error})."
        ) from None


def state_dict(content: Any, path: Path) -> tuple[dict[str, Tensor], list[str]]:
    """The weights within what a training script saved: itself, or under one of the usual names."""
    import torch

    if not isinstance(content, Mapping):
        raise InputError(f"{path} holds a {type(content).__name__}; weights by name (a state dict) are expected.")
    own = {str(name): value for name, value in content.items() if isinstance(value, torch.Tensor)}
    if any(value.ndim >= 2 for value in own.values()):
        return own, []
    inner = {str(name): value for name, value in content.items() if isinstance(value, Mapping)}
    order = [*(name for name in NESTED if name in inner), *(name for name in inner if name not in NESTED)]
    for name in order:
        try:
            found, notes = state_dict(inner[name], path)
        except InputError:
            continue
        others = [other for other in order if other != name and other in NESTED]
        remark = f"Of {path.name}, {name!r} was taken" + (f"; it also has {shown(others)}." if others else ".")
        return found, [remark, *notes]
    raise InputError(f"{path} holds no weights of two or more dimensions; it has {shown(content) or 'nothing'}.")


def unwrapped(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors without what wrappers of a network put before every name."""
    for wrapper in (*WRAPPERS, *WRAPPERS):  # twice, as one may be around the other
        if tensors and all(name.startswith(wrapper) for name in tensors):
            tensors = {name.removeprefix(wrapper): tensor for name, tensor in tensors.items()}
    return tensors


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0][:300]


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).split("\n") if line.strip() and "documentation" not in line]
    return (lines or [type(error).__name__])[-1][:300]
