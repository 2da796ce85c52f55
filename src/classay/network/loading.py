"""A network from a checkpoint: weights from a file, put into an architecture that is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..expect import InputError, shown
from .architecture import Architecture, architecture
from .named_head import candidates_of, likely_classes
from .weights import Entry, State, read_state

if TYPE_CHECKING:
    from torch import Tensor, nn

COUNTER = "num_batches_tracked"
"""What batch normalisation counts, which old files lack and no answer depends on."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """A network with the weights of a file, in evaluation mode; remarks."""

    path: Path
    network: nn.Module
    notes: tuple[str, ...]


def load_network(
    path: str | Path,
    arch: str | None = None,
    *,
    input_shape: tuple[int, ...] | None = None,
    allow_import: bool = False,
    trust_pickle: bool = False,
) -> Loaded:
    """Load a network: an architecture by name, with the weights of a torch or safetensors file.

    No code of the file is run. Names and shapes of the weights must be those of the architecture; what does not fit is
    listed. A name in front of all of them (`module.`, `model.`) is taken off where that makes them fit.

    Parameters
    ----------
    path : the file
    arch : timm:NAME, torchvision:NAME, or with `allow_import` module:function, which returns the network; arguments in
        brackets are literals. Not needed for a whole network that is trusted
    input_shape : shape of one input, whose first side is taken for the channels by timm
    allow_import : import a module that is no known library, which runs its code
    trust_pickle : read a torch file that holds more than weights, which can run any code

    """
    state = read_state(path, trust_pickle)
    if arch is None:
        if state.network is None:
            raise InputError(
                f"{path} holds weights, not the network they belong to. Name its architecture: --arch timm:resnet18, "
                "or --builder mymodels:make_net --allow-import. For the head alone, --weights-only."
            )
        return Loaded(Path(path), state.network.eval(), state.notes)
    named = architecture(arch, allow_import)
    network = named.build(**_wishes(named, state, input_shape))
    notes = fill(network, state.tensors, path, str(named))
    return Loaded(Path(path), network.eval(), (*state.notes, *notes))


def fill(network: nn.Module, tensors: Mapping[str, Tensor], path: str | Path, name: str) -> list[str]:
    """Put tensors into a network whose names and shapes they have, or say which do not fit."""
    wanted = network.state_dict()
    given, notes = _fitted(dict(tensors), set(wanted))
    missing = [each for each in wanted if each not in given and not each.endswith(COUNTER)]
    surplus = [each for each in given if each not in wanted]
    shapes = [
        f"{each} ({_sides(given[each])} in the file, {_sides(wanted[each])} in the network)"
        for each in wanted
        if each in given and given[each].shape != wanted[each].shape
    ]
    if missing or surplus or shapes:
        told = {"missing": missing, "not known to it": surplus, "of another shape": shapes}
        listed = "; ".join(f"{what}: {shown(which)}" for what, which in told.items() if which)
        raise InputError(f"The weights of {path} do not fit {name}. {listed}. Is it the right architecture?")
    network.load_state_dict(given, strict=False)
    return notes


def _wishes(named: Architecture, state: State, input_shape: tuple[int, ...] | None) -> dict[str, int]:
    """What a library should be told beside the name: classes as in the file, channels as in the input."""
    entries = [
        Entry(name, tuple(tensor.shape), lambda: None)
        for name, tensor in state.tensors.items()
        if tensor.is_floating_point()
    ]
    classes = likely_classes(candidates_of(entries))
    wishes = {} if classes is None else {"num_classes": classes}
    if named.module == "timm" and input_shape is not None and len(input_shape) == 3:
        wishes["in_chans"] = input_shape[0]
    return wishes


def _fitted(tensors: dict[str, Any], wanted: set[str]) -> tuple[dict[str, Any], list[str]]:
    """The tensors, without the name in front of them that keeps them from fitting."""
    needed = {name for name in wanted if not name.endswith(COUNTER)}
    if needed <= set(tensors):
        return tensors, []
    for prefix in dict.fromkeys(name[: place + 1] for name in tensors for place in _dots(name)):
        inner = {name.removeprefix(prefix): each for name, each in tensors.items() if name.startswith(prefix)}
        if needed <= set(inner):
            others = len(tensors) - len(inner)
            left = f"; {others} others were left out" if others else ""
            return inner, [f"Weights under {prefix!r} were taken{left}."]
    return tensors, []


def _dots(name: str) -> list[int]:
    return [place for place, letter in enumerate(name) if letter == "."]


def _sides(tensor: Any) -> str:
    return "×".join(map(str, tensor.shape)) or "one number"
