"""`split`: a network f = h∘g cut into the feature extractor g and the head h, its last linear layer.

One forward pass of random inputs is watched. The head is the last layer with a weight whose output is the network's
answer, before a softmax or the like; that it computes x·Wᵀ + b is checked on the numbers, whatever its class is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import expect, seeds
from ..expect import InputError
from . import trace as tracing
from .last_layer import Found, find_head, pooled
from .needs import need

if TYPE_CHECKING:
    from torch import Tensor, nn

ROWS = 3
"""Random inputs of the watched forward pass."""


@dataclass(frozen=True, eq=False)
class Split:
    """A network, and which of its layers is the head.

    `name` is the head's name in the network, `kind` linear or convolution, `weight` its rows (classes, feature_size),
    `bias` (classes,) or None. `output` is what follows the head: softmax, sigmoid, or unknown where the network
    answers plain scores. `layers` are all layers seen, in words; `notes` what to know about the choice. `call` feeds
    inputs to the network, `pool` says how positions become one row, `turned` whether the weight lies on its side.
    """

    network: nn.Module = field(repr=False)
    name: str
    kind: str
    weight: NDArray[np.float32] = field(repr=False)
    bias: NDArray[np.float32] | None = field(repr=False)
    classes: int
    feature_size: int
    input_shape: tuple[int, ...]
    output: str
    layers: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...]
    call: tracing.Feed = field(repr=False)
    pool: str = field(repr=False)
    turned: bool = field(repr=False)

    def __str__(self) -> str:
        ends = {"unknown": "plain scores"}.get(self.output, f"a {self.output}")
        text = (
            f"The head is {called(self.name)}, a {self.kind} layer from {self.feature_size} features to {self.classes} "
            f"classes {'without' if self.bias is None else 'with'} bias; the network answers {ends}."
        )
        return " ".join([text, *self.notes])

    @property
    def head(self) -> nn.Module:
        """The head itself."""
        return self.network.get_submodule(self.name)

    def features(self, x: Tensor) -> Tensor:
        """What the head takes, (n, feature_size). Gradients flow back to the inputs; the mode is left as it is."""
        with self._watched() as taken:
            self.call(self.network, x)
        if not taken:
            raise InputError(f"The head {called(self.name)} was not reached by inputs of shape {tuple(x.shape)}.")
        return pooled(taken[-1], self.pool, self.kind)

    def logits(self, x: Tensor) -> Tensor:
        """What the head answers, (n, classes), before any softmax."""
        return self.both(x)[1]

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Features and logits of one forward pass."""
        from torch.nn.functional import linear

        features = self.features(x)
        head: Any = self.head
        weight = head.weight.flatten(1)
        # From the features, not as the head answered: what follows may write over that.
        return features, linear(features, weight.T if self.turned else weight, getattr(head, "bias", None))

    def inputs(self, rows: int, seed: int = 0, *place: int) -> Tensor:
        """Random inputs, normal with mean 0 and spread 1, on the network's device and in its precision."""
        return random_inputs(self.network, self.input_shape, rows, seed, *place)

    @contextmanager
    def _watched(self) -> Iterator[list[Tensor]]:
        taken: list[Tensor] = []

        def hook(layer: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
            first = tracing.first_tensor((*arguments, *keywords.values()))
            if first is not None:
                taken.append(first)

        handle = self.head.register_forward_pre_hook(hook, with_kwargs=True)
        try:
            yield taken
        finally:
            handle.remove()


def split(
    network: nn.Module, input_shape: Sequence[int], head: str | None = None, call: tracing.Feed | None = None
) -> Split:
    """Find the head of a network: its last linear layer, and thereby the features that it takes.

    It works for any `nn.Module` that ends in a linear layer or a 1×1 convolution, followed by nothing, a softmax, a
    sigmoid or a reshaping, or by a mean over positions. What it cannot split it refuses with the reason and the layers
    it saw. A head computed by `F.linear` or `@` outside of a layer cannot be seen: make it an `nn.Linear`.

    Parameters
    ----------
    network : any nn.Module; its mode and parameters are left as they are
    input_shape : shape of one input, as (3, 32, 32); for walks in embedding space (tokens, width)
    head : name of the head as in `network.named_modules()`, where it should not be searched
    call : how to feed inputs, (network, inputs) -> answer; by default plainly, or as Hugging Face's classifiers want

    Examples
    --------
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3), nn.Softmax(dim=1))
    >>> found = split(network, (3, 2, 2))
    >>> found.name, found.classes, found.feature_size, found.output
    ('3', 3, 8, 'softmax')

    """
    need("torch", "Splitting a network")
    network = checked(network)
    shape = expect_shape(input_shape)
    feed = tracing.feeding(network, call)
    inputs = random_inputs(network, shape, ROWS, 0)
    with tracing.at_rest(network):
        try:
            # With a gradient, so that what made the answer can be told if no layer did.
            trace = tracing.trace(network, inputs.requires_grad_(), feed)
        except InputError:
            raise
        except Exception as error:  # a network runs code of the user's, which can fail in any way
            raise InputError(_refused(shape, error)) from error
        found = find_head(network, trace, head)
    return _made(network, found, trace, shape, feed)


def checked(network: Any) -> nn.Module:
    """The network, if it is one whose weights can be used."""
    import torch
    from torch import nn
    from torch.nn.parameter import is_lazy

    if not isinstance(network, nn.Module):
        hint = " A state dict is weights without the network: build the network and load it." * isinstance(
            network, dict
        )
        raise InputError(f"`network` is a {type(network).__name__}; a torch.nn.Module is expected.{hint}")
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
                f"{name!r} of the network holds NaN or infinite numbers: training went astray, or the file is damaged. "
                "Take an earlier checkpoint."
            )
        if values.dtype in (torch.float16, torch.bfloat16) and values.device.type == "cpu":
            raise InputError(
                f"The network is in half precision ({str(values.dtype).removeprefix('torch.')}) on the CPU, which is "
                "too coarse for small steps. Call `network.float()` first."
            )
    return plain


def expect_shape(shape: Any, name: str = "input_shape") -> tuple[int, ...]:
    """The shape of one input, as whole numbers."""
    if isinstance(shape, (str, bytes)) or not isinstance(shape, Sequence) or not len(shape):
        raise InputError(f"`{name}` is {shape!r}; the shape of one input is expected, such as (3, 32, 32).")
    return tuple(expect.whole(side, name, at_least=1, why="It is the shape of one input.") for side in shape)


def random_inputs(network: nn.Module, shape: tuple[int, ...], rows: int, seed: int, *place: int) -> Tensor:
    """Normal inputs of a purpose and place, on the network's device and in its precision."""
    import torch

    drawn = seeds.generator(seed, "inputs", *place).standard_normal((rows, *shape), dtype=np.float32)
    like = next((each for each in network.parameters() if each.is_floating_point()), torch.zeros(1))
    return torch.from_numpy(drawn).to(device=like.device, dtype=like.dtype)


def called(name: str) -> str:
    """A layer as messages name it."""
    return repr(name) if name else "the network itself"


def _refused(shape: tuple[int, ...], error: Exception) -> str:
    first = str(error).strip().split("\n")[0][:300]
    text = f"The network cannot take inputs of shape {shape} ({type(error).__name__}: {first}). Is `input_shape` right?"
    if any(word in str(error) for word in ("indices", "LongTensor", "Long, Int", "embedding")):
        text += (
            " It seems to take whole numbers, such as tokens: walk in the space of embeddings, with "
            "input_shape=(tokens, width) and call=lambda network, x: network(inputs_embeds=x)."
        )
    return text


def _made(network: nn.Module, found: Found, trace: tracing.Trace, shape: tuple[int, ...], feed: tracing.Feed) -> Split:
    weight, bias = found.call.weight.T if found.turned else found.call.weight, found.call.bias
    classes, size = weight.shape
    if classes < 2:
        raise InputError(
            f"The head {called(found.call.name)} has one output; at least 2 classes are needed. A network for two "
            "classes with one output is a plain score: there are no two rows of weights to compare."
        )
    return Split(
        network=network,
        name=found.call.name,
        kind=found.kind,
        weight=np.array(weight.float().cpu().numpy(), order="C"),
        bias=None if bias is None else np.array(bias.float().cpu().numpy()),
        classes=int(classes),
        feature_size=int(size),
        input_shape=shape,
        output=found.output,
        layers=trace.layers,
        notes=found.notes,
        call=feed,
        pool=found.pool,
        turned=found.turned,
    )
