"""`split`: a network f = h∘g cut into the feature extractor g and the head h, its last linear layer.

One forward pass of random inputs is observed. The head is the last layer with a weight whose output is the network's
output, before a softmax or the like; that it computes x·Wᵀ + b is checked on the numbers, whatever its class is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ...expect import InputError, need
from ...notes import Note
from .last_layer import HeadMatch, find_head, output_kind, pool_positions
from .trace import Feed, Trace, feed_of, first_tensor, frozen, hooked, trace

if TYPE_CHECKING:
    from torch import Tensor, nn

ROWS = 3
"""Random inputs of the observed forward pass."""
SIDES = (32, 28, 64, 96, 224, 299)
"""Sides of square images that are tried, the most common first."""


@dataclass(frozen=True, eq=False)
class Split:
    """A network, and which of its layers is the head.

    `name` is the head's name in the network, `kind` linear or convolution, `weight` its rows (classes, feature_size),
    `bias` (classes,) or None. `output` is what follows the head: softmax, sigmoid, or unknown if the network outputs
    plain scores. `layers` are all layers seen, in words; `notes` are remarks on the choice. `call` feeds inputs to the
    network, `pool` says how positions become one row, `transposed` whether the weight is transposed. If the network
    scales the head's output, as by a temperature, `scale` and `shift` are that, and part of `weight` and `bias`.
    """

    network: nn.Module = field(repr=False)
    name: str
    kind: str
    weight: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] | None = field(repr=False)
    input_shape: tuple[int, ...]
    output: str
    layers: tuple[str, ...] = field(repr=False)
    notes: tuple[Note, ...]
    call: Feed = field(repr=False)
    pool: str = field(repr=False)
    transposed: bool = field(repr=False)
    scale: float = 1.0
    shift: Tensor | None = field(default=None, repr=False)

    def __str__(self) -> str:
        ends = {"unknown": "plain scores"}.get(self.output, f"a {self.output}")
        text = (
            f"The head is {layer_text(self.name)}, a {self.kind} layer from {self.feature_size} features to "
            f"{self.classes} classes {'without' if self.bias is None else 'with'} bias; the network outputs {ends}."
        )
        return " ".join([text, *self.notes])

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.weight)

    @property
    def feature_size(self) -> int:
        """The number of features that the head takes."""
        return int(self.weight.shape[1])

    @property
    def head(self) -> nn.Module:
        """The head itself."""
        return self.network.get_submodule(self.name)

    def features(self, x: Tensor) -> Tensor:
        """The inputs of the head, (n, feature_size). Gradients flow back to the inputs; the mode is unchanged."""
        taken: list[Tensor] = []

        def hook(layer: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            first = first_tensor((*arguments, *keywords.values()))
            if first is not None:
                taken.append(first)

        with hooked(self.head.register_forward_pre_hook(hook, with_kwargs=True)):
            self.call(self.network, x)
        if not taken:
            raise InputError(f"The head {layer_text(self.name)} was not reached by inputs of shape {tuple(x.shape)}.")
        return pool_positions(taken[-1], self.pool, self.kind)

    def logits(self, x: Tensor) -> Tensor:
        """The outputs of the head, (n, classes), before any softmax."""
        return self.both(x)[1]

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Features and logits of one forward pass."""
        from torch.nn.functional import linear

        features = self.features(x)
        head: Any = self.head
        weight = head.weight.flatten(1)
        # From the features, not from the head's output: what follows may overwrite that.
        logits = linear(features, weight.T if self.transposed else weight, getattr(head, "bias", None))
        if self.scale != 1:
            logits = self.scale * logits
        return features, logits if self.shift is None else logits + self.shift.to(logits)

    def inputs(self, rows: int, seed: int = 0, *place: int) -> Tensor:
        """Random inputs, normal with mean 0 and spread 1, on the network's device and in its precision."""
        return random_inputs(self.network, self.input_shape, rows, seed, *place)


def split(network: nn.Module, input_shape: Sequence[int], head: str | None = None, call: Feed | None = None) -> Split:
    """Find the head of a network: its last linear layer, and with it the features that the head uses.

    It works for any `nn.Module` that ends in a linear layer or a 1×1 convolution, followed by nothing, a softmax, a
    sigmoid or a reshaping, or by a mean over positions. Its output may be divided by a temperature, or have constants
    added; that counts as part of the head. What it cannot split it refuses with the reason and the layers
    it saw. A head computed by `F.linear` or `@` outside of a layer cannot be seen: make it an `nn.Linear`.

    Parameters
    ----------
    network : any nn.Module; its mode and parameters are left unchanged
    input_shape : shape of one input, as (3, 32, 32); for walks in embedding space (tokens, width)
    head : name of the head as in `network.named_modules()`, instead of searching for it
    call : how to feed inputs, (network, inputs) -> output; by default plainly, or as Hugging Face's classifiers expect

    Examples
    --------
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))
    >>> parts = split(network, (3, 2, 2))
    >>> parts.name, parts.classes, parts.feature_size, parts.output
    ('3', 3, 8, 'softmax')

    """
    need("torch", "Splitting a network")
    network = expect_network(network)
    if isinstance(input_shape, (str, bytes)) or not isinstance(input_shape, Sequence) or not len(input_shape):
        raise InputError(f"`input_shape` is {input_shape!r}; expected the shape of one input, such as (3, 32, 32).")
    why = "It is the shape of one input."
    shape = tuple(expect.whole(side, "input_shape", at_least=1, why=why) for side in input_shape)
    feed = feed_of(network, call)
    inputs = random_inputs(network, shape, ROWS, 0)
    with frozen(network):
        try:
            # With a gradient, so that it can be found what made the output if no layer did.
            traced = trace(network, inputs.requires_grad_(), feed)
        except InputError:
            raise
        except Exception as error:  # a network runs the user's code, which can fail in any way
            raise InputError(_refusal_text(shape, error)) from error
        match = find_head(network, traced, head)
    return _make_split(network, match, traced, shape, feed)


def split_by_likely_shape(network: nn.Module, head: str | None = None) -> tuple[Split, str]:
    """Split a network by the first likely input shape that it takes, and say why that was tried.

    A network that averages over positions takes images of any size; the side is then a guess.
    """
    refused: InputError | None = None
    for shape, why in likely_shapes(network):
        try:
            parts = split(network, shape, head)
            return parts, f"No input shape was given; {'x'.join(map(str, shape))} was used, {why}."
        except InputError as error:
            refused = refused or error
    reason = f" The first that was tried: {refused}" if refused is not None else ""
    raise InputError(
        f"--input is missing and cannot be inferred from the network: the shape of one input, as 3x32x32.{reason}"
    )


def likely_shapes(network: nn.Module) -> Iterator[tuple[tuple[int, ...], str]]:
    """Input shapes, the most likely first, each with the reason."""
    import torch

    for name in ("input_shape", "input_size"):
        if (own := _shape_or_none(getattr(network, name, None))) is not None:
            yield own, f"as its {name} says"
    for name in ("pretrained_cfg", "default_cfg"):  # timm
        settings = getattr(network, name, None)
        if isinstance(settings, dict) and (own := _shape_or_none(settings.get("input_size"))) is not None:
            yield own, f"as its {name} says"
    config = getattr(network, "config", None)  # Hugging Face
    channels, side = getattr(config, "num_channels", None), getattr(config, "image_size", None)
    if isinstance(channels, int) and isinstance(side, int):
        yield (channels, side, side), "as its config says"
    for layer in network.modules():
        weight: Any = getattr(layer, "weight", None)
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2 or not weight.is_floating_point():
            continue
        if "Embedding" in type(layer).__name__:
            continue
        if weight.ndim == 2:
            yield (int(weight.shape[1]),), "since its first layer takes this many numbers"
        elif weight.ndim == 4:
            taken = int(weight.shape[1]) * int(getattr(layer, "groups", 1))
            for side in SIDES:
                yield (taken, side, side), f"since its first layer takes {taken} channels; the side is a guess"
        return


# What is given, and what is made of it.


def expect_network(network: Any) -> nn.Module:
    """The network, if it is one whose weights can be used."""
    import torch
    from torch import nn
    from torch.nn.parameter import is_lazy

    if not isinstance(network, nn.Module):
        hint = " A state dict is weights alone: build the network and load it." if isinstance(network, dict) else ""
        raise InputError(f"`network` is a {type(network).__name__}; expected a torch.nn.Module.{hint}")
    plain: nn.Module = getattr(network, "_orig_mod", network)  # what torch.compile wrapped
    parameters = dict(plain.named_parameters())
    if not parameters:
        raise InputError(f"The network ({type(plain).__name__}) has no parameters. Is it the right object?")
    for name, values in {**parameters, **dict(plain.named_buffers())}.items():
        if values.is_meta or is_lazy(values):
            why = "lazy: it takes its shape from the first inputs" if is_lazy(values) else "device meta"
            raise InputError(f"{name!r} of the network has no values ({why}). Run it once, or load the weights first.")
        if values.is_floating_point() and not torch.isfinite(values).all():
            raise InputError(
                f"{name!r} of the network contains NaN or infinite numbers: training diverged, or the file is damaged. "
                "Use an earlier checkpoint."
            )
        if values.dtype in (torch.float16, torch.bfloat16) and values.device.type == "cpu":
            raise InputError(
                f"The network is in half precision ({str(values.dtype).removeprefix('torch.')}) on the CPU, which is "
                "too coarse for small steps. Call `network.float()` first."
            )
    return plain


def random_inputs(network: nn.Module, shape: tuple[int, ...], rows: int, seed: int, *place: int) -> Tensor:
    """Normal inputs of a purpose and place, on the network's device and in its precision."""
    import torch

    values = seeds.generator(seed, "inputs", *place).standard_normal((rows, *shape), dtype=np.float32)
    like = next((each for each in network.parameters() if each.is_floating_point()), torch.zeros(1))
    return torch.from_numpy(values).to(device=like.device, dtype=like.dtype)


def _make_split(network: nn.Module, match: HeadMatch, traced: Trace, shape: tuple[int, ...], feed: Feed) -> Split:
    weight, bias = match.call.weight.T if match.transposed else match.call.weight, match.call.bias
    if match.scale != 1:
        weight, bias = match.scale * weight, None if bias is None else match.scale * bias
    if match.shift is not None:
        bias = match.shift if bias is None else bias + match.shift.to(bias)
    if len(weight) < 2:
        raise InputError(
            f"The head {layer_text(match.call.name)} has one output; at least 2 classes are needed. A network for two "
            "classes with one output is a plain score: there are no two rows of weights to compare."
        )
    return Split(
        network=network,
        name=match.call.name,
        kind=match.call.kind,
        weight=np.array(weight.float().cpu().numpy(), order="C"),
        bias=None if bias is None else np.array(bias.float().cpu().numpy()),
        input_shape=shape,
        output=output_kind(network, match.link),
        layers=traced.layers,
        notes=match.notes,
        call=feed,
        pool=match.pool,
        transposed=match.transposed,
        scale=match.scale,
        shift=match.shift,
    )


def layer_text(name: str) -> str:
    """A layer as messages name it."""
    return repr(name) if name else "the network itself"


def _refusal_text(shape: tuple[int, ...], error: Exception) -> str:
    first = str(error).strip().split("\n")[0][:300]
    text = f"The network cannot take inputs of shape {shape} ({type(error).__name__}: {first}). Is `input_shape` right?"
    if any(word in str(error) for word in ("indices", "LongTensor", "Long, Int", "embedding")):
        text += (
            " It seems to take whole numbers, such as tokens: walk in the embedding space, with "
            "input_shape=(tokens, width) and call=lambda network, x: network(inputs_embeds=x)."
        )
    return text


def _shape_or_none(value: Any) -> tuple[int, ...] | None:
    """A shape, if it is one."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        return None
    return tuple(value) if all(isinstance(side, int) and side > 0 for side in value) else None
