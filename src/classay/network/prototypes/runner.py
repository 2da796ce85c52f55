"""Running a plan of walks, piece by piece: what is in the store is not walked again, and finished parts are kept."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...engine.progress import Progress
from ...engine.store import Store
from .schedule import SEED, Plan
from .trace import frozen, hooked
from .walks import Walker, Walks

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .split import Split

CHUNK = 8
"""Walks made and stored at once, in batches. More would lose more on Ctrl-C, fewer would leave batches underfilled."""
DIGITS = 3
"""Outputs are compared to this many digits of the largest: the last ones depend on the number of threads."""
CLOSE = 1e-3
"""How far features may differ, relative to their largest value."""


class PrototypeRows:
    """Walks by a plan, piece by piece, and the rows of the record so far.

    What is in the store is not walked again; a finished piece is stored. `keep`: whether the record has the inputs;
    `description`: what the walks belong to, for the store.
    """

    def __init__(self, walker: Walker, keep: bool, store: Store | None, description: Mapping[str, Any]) -> None:
        self.walker, self.keep, self.store, self.description = walker, keep, store, description
        self.rows: dict[str, list[NDArray[Any]]] = {}
        self.inputs: list[NDArray[np.float32]] = []
        self.interrupted = False

    def __len__(self) -> int:
        return sum(map(len, self.rows.get("target", [])))

    def arrays(self) -> dict[str, Any]:
        """Each array of the record in one piece; the inputs are None if they are not stored."""
        joined = {name: np.concatenate(parts) for name, parts in self.rows.items()}
        return {**joined, "inputs": np.concatenate(self.inputs) if self.inputs else None}

    def run(self, plan: Plan, progress: bool) -> None:
        """Make every walk of the plan, or as many as Ctrl-C allows."""
        with Progress(plan.walks, "walking", progress) as shown:

            def tick(ended: int) -> None:
                shown.done += ended
                shown.tick()

            for group in plan.groups():
                ends, place = self._walk_to_seeds(plan, group, tick)
                reached = [code for code in plan.classes.tolist() if all((start, code) in place for start in group)]
                plan = plan.restricted_to(reached)
                if self.interrupted or len(plan.pool) < 2:
                    return
                start, origin, target = plan.cores(group)
                at = np.array([place[pair] for pair in zip(start.tolist(), origin.tolist())], dtype=np.int64)
                size = CHUNK * self.walker.batch
                for first in range(0, len(at), size):
                    rows = slice(first, first + size)
                    named = {"target": target[rows], "origin": origin[rows], "start": start[rows]}
                    if not self._piece(ends, at[rows], named, self.keep, tick).finished.all():
                        return

    def _walk_to_seeds(
        self, plan: Plan, group: range, tick: Callable[[int], None]
    ) -> tuple[Tensor, dict[tuple[int, int], int]]:
        """Walk to the seeds of some starts. Returns the ends that cores may begin at, and the position of each.

        A class outside of the pool has no position among the ends: it is -1.
        """
        import torch

        ends: list[Tensor] = []
        place: dict[tuple[int, int], int] = {}
        n_pooled = 0
        for first in range(0, len(plan.classes), plan.rows):
            classes = plan.classes[first : first + plan.rows]
            start = np.repeat(np.array(group, dtype=np.int64), len(classes))
            target = np.tile(classes, len(group))
            named = {"target": target, "origin": np.full(len(target), SEED, dtype=np.int64), "start": start}
            begun = torch.cat([self.walker.draw_starts(classes, number) for number in group])
            walks = self._piece(begun, np.arange(len(target)), named, True, tick)
            assert walks.ends is not None  # they are stored
            pooled = walks.finished & np.isin(target, plan.pool)
            ends.append(walks.ends[np.flatnonzero(pooled)])
            for row in np.flatnonzero(walks.finished).tolist():
                place[int(start[row]), int(target[row])] = n_pooled if pooled[row] else -1
                n_pooled += int(pooled[row])
            if not walks.finished.all():
                break
        return torch.cat(ends), place

    def _piece(
        self,
        starts: Tensor,
        at: NDArray[np.int64],
        named: Mapping[str, NDArray[np.int64]],
        keep: bool,
        tick: Callable[[int], None],
    ) -> Walks:
        """Some walks, from the store if they are there; those that are finished are added to the rows."""
        import torch

        key, stored = "", None
        if self.store is not None:
            parts = {name: values.tolist() for name, values in named.items()}
            key = self.store.key({"walks": self.description, "keep": keep, **parts})
            stored = self.store.get(key, "walks")
        if stored is None:
            walks = self.walker.walk(starts, named["target"], at, keep=keep, tick=tick)
            if self.store is not None and walks.finished.all():
                self.store.put(key, "walks", {}, walks.to_store())
        else:
            arrays: dict[str, Any] = dict(stored[1])
            ends = arrays.pop("ends", None)
            walks = Walks(**arrays, ends=None if ends is None else torch.from_numpy(ends).to(starts))
            tick(len(at))
        done = walks.finished
        for name, values in {**walks.arrays(), **named}.items():
            if name != "finished":
                self.rows.setdefault(name, []).append(values[done])
        if self.keep and walks.ends is not None:
            self.inputs.append(walks.ends[np.flatnonzero(done)].float().cpu().numpy())
        self.interrupted = self.interrupted or walks.interrupted
        return walks


# How a store recognises a network: its weights, and its outputs, which the weights alone do not determine.


def fingerprint(network: nn.Module) -> str:
    """A SHA-256 over names, shapes and values of all weights."""
    return digest(network.state_dict())


def digest(tensors: Mapping[str, Any]) -> str:
    """A SHA-256 over names, types, shapes and values of tensors."""
    import torch

    hashed = hashlib.sha256()
    for name, values in tensors.items():
        if isinstance(values, torch.Tensor):
            array = values.detach().cpu().contiguous()
            hashed.update(f"{name}\0{array.dtype}\0{tuple(array.shape)}\0".encode())
            # In double precision, which represents every number of the others, including bfloat16.
            hashed.update(array.double().numpy().tobytes())
    return hashed.hexdigest()


def identity(split: Split) -> str:
    """A SHA-256 over the weights, the head and its outputs for two inputs.

    Networks with the same weights can differ in other ways: the activation, a scaling, how they are called.
    """
    import torch

    with frozen(split.network), torch.no_grad():
        answers = split.logits(split.inputs(2, 2)).double().cpu().numpy()
    scale = float(np.abs(answers).max()) or 1.0
    # Zero is added because minus zero has other bytes.
    rounded = np.round(answers / scale, DIGITS) + 0.0
    description = f"{fingerprint(split.network)}\0{split.name}\0{split.input_shape}\0{rounded.tolist()}"
    return hashlib.sha256(description.encode()).hexdigest()


# An equivalent network that walks faster.


def fold_normalisation(split: Split) -> Split:
    """The same split of a copy with folded normalisation and weights in the best order for convolutions.

    In evaluation mode batch normalisation is a scaling and a shift, which the convolution before it can do too.
    Which layer follows which is observed in one forward pass; that the copy gives the same outputs is checked on
    numbers. If it does not (the output of a convolution is also used elsewhere), without convolutions, and if anything
    about copying or comparing fails, the result is the split itself.
    """
    import torch
    from torch import nn

    if not any(isinstance(layer, nn.Conv2d) for layer in split.network.modules()):
        return split
    try:
        copied = copy.deepcopy(split.network)
        with frozen(copied), torch.no_grad():
            inputs = split.inputs(2, 1)
            for convolution, norm in _foldable_layers(copied, split, inputs):
                _fold(copied, convolution, norm)
            copied = copied.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in torch's stubs
        other = replace(split, network=copied)
        with frozen(split.network), frozen(copied), torch.no_grad():
            features, theirs = split.features(inputs), other.features(inputs)
        apart = float((features - theirs).abs().max())
        return other if apart <= CLOSE * float(features.abs().max()) else split
    except Exception:  # layers are the user's code and can fail in any way; this is only for speed
        return split


def _foldable_layers(network: nn.Module, split: Split, inputs: Any) -> list[tuple[str, str]]:
    """Names of convolutions and of the normalisation that uses their output, each used once."""
    from torch import nn

    names = {layer: name for name, layer in network.named_modules()}
    makers: dict[int, str] = {}
    alive: list[Any] = []  # so that no tensor gets the identity of another that was freed
    pairs: list[tuple[str, str]] = []
    uses: dict[str, int] = {}

    def hook(layer: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        name = names[layer]
        uses[name] = uses.get(name, 0) + 1
        if isinstance(layer, nn.Conv2d):
            makers[id(output)] = name
            alive.append(output)
        elif arguments and id(arguments[0]) in makers:
            pairs.append((makers[id(arguments[0])], name))

    layers = [layer for layer in network.modules() if type(layer) in (nn.Conv2d, nn.BatchNorm2d)]
    with hooked(*(layer.register_forward_hook(hook) for layer in layers)):
        split.call(network, inputs)
    return [pair for pair in pairs if all(uses[name] == 1 for name in pair)]


def _fold(network: nn.Module, convolution: str, norm: str) -> None:
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    before: Any = network.get_submodule(convolution)
    after: Any = network.get_submodule(norm)
    for name, layer in ((convolution, fuse_conv_bn_eval(before, after)), (norm, nn.Identity())):
        parent, _, own = name.rpartition(".")
        setattr(network.get_submodule(parent), own, layer)
