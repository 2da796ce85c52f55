"""Running a network without changing it, and observing the inputs and outputs of each of its layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...expect import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.utils.hooks import RemovableHandle

Feed = Callable[[Any, Any], Any]
"""How to feed inputs to a network: (network, inputs) -> its output."""


@dataclass(frozen=True)
class Call:
    """One use of a layer that has a weight of two or more dimensions: what went in, what came out."""

    name: str
    layer: nn.Module
    input: Tensor
    output: Tensor

    @property
    def weight(self) -> Tensor:
        """Its weight with one row per output, kernels of a convolution flattened."""
        layer: Any = self.layer
        flat: Tensor = layer.weight.detach().flatten(1)
        return flat

    @property
    def bias(self) -> Tensor | None:
        """Its bias, if it has one."""
        bias: Any = getattr(self.layer, "bias", None)
        detached: Tensor | None = None if bias is None else bias.detach()
        return detached

    @property
    def kind(self) -> str:
        """Linear or convolution, by the dimensions of the weight."""
        layer: Any = self.layer
        return "linear" if layer.weight.ndim == 2 else "convolution"


@dataclass(frozen=True)
class Trace:
    """One forward pass: uses of layers with weights in order, all layers in words, and the output tensors."""

    calls: tuple[Call, ...]
    layers: tuple[str, ...]
    outputs: tuple[Tensor, ...]


@contextmanager
def frozen(network: nn.Module) -> Iterator[nn.Module]:
    """The network in evaluation mode with frozen parameters. Both are restored afterwards, also after an error."""
    modes = [(layer, layer.training) for layer in network.modules()]
    gradients = [(parameter, parameter.requires_grad) for parameter in network.parameters()]
    try:
        network.eval()
        for parameter, _ in gradients:
            parameter.requires_grad_(False)
        yield network
    finally:
        # Layer by layer: some may have been in evaluation mode, such as frozen batch normalisation, and others not.
        for layer, mode in modes:
            layer.training = mode
        for parameter, wanted in gradients:
            parameter.requires_grad_(wanted)


@contextmanager
def hooked(*handles: RemovableHandle) -> Iterator[None]:
    """Hooks of layers that are removed afterwards, also after an error."""
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def feed_of(network: nn.Module, call: Feed | None) -> Feed:
    """How to feed the network: as given, or by the keyword that Hugging Face's classifiers take, or plainly."""
    if call is not None:
        if not callable(call):
            raise InputError(f"`call` is {call!r}; expected a function (network, inputs) -> output.")
        return call
    try:
        takes = inspect.signature(network.forward).parameters
    except (TypeError, ValueError):
        takes = {}  # type: ignore[assignment]  # forward is a builtin, which has no signature
    for keyword in ("pixel_values", "inputs_embeds"):
        if keyword in takes:
            return lambda network, inputs: network(**{keyword: inputs})
    return lambda network, inputs: network(inputs)


def trace(network: nn.Module, inputs: Tensor, call: Feed) -> Trace:
    """Run one forward pass of the network at rest, and record the inputs and outputs of each layer."""
    calls: list[Call] = []
    layers: list[str] = []

    def watch(name: str) -> Callable[..., None]:
        def hook(layer: nn.Module, arguments: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> None:
            layer_input, layer_output = first_tensor((*arguments, *keywords.values())), first_tensor((output,))
            if layer_input is None or layer_output is None:
                return
            if not list(layer.children()):
                layers.append(f"{name} {type(layer).__name__} {_shape(layer_input)} -> {_shape(layer_output)}")
            if getattr(getattr(layer, "weight", None), "ndim", 0) >= 2:
                # Copied, because a later layer may write into the same memory.
                calls.append(Call(name, layer, layer_input.detach().clone(), layer_output.detach().clone()))

        return hook

    watched = {name: layer for name, layer in network.named_modules() if layer is not network}
    with hooked(
        *(
            layer.register_forward_hook(watch(name), with_kwargs=True)
            for name, layer in (watched or {"": network}).items()
        )
    ):
        output = call(network, inputs)
    return Trace(tuple(calls), tuple(layers), tuple(output_tensors(output)))


def output_tensors(output: Any) -> list[Tensor]:
    """The tensors in a network's output: the output itself, `logits` of a Hugging Face output, or those of a dict."""
    import torch

    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, Mapping):
        output = [output["logits"]] if isinstance(output.get("logits"), torch.Tensor) else list(output.values())
    elif isinstance(getattr(output, "logits", None), torch.Tensor):
        output = [output.logits]
    if isinstance(output, (list, tuple)):
        return [each for each in output if isinstance(each, torch.Tensor)]
    return []


def first_tensor(values: tuple[Any, ...]) -> Tensor | None:
    """The first tensor among some arguments."""
    import torch

    return next((value for value in values if isinstance(value, torch.Tensor)), None)


def _shape(tensor: Tensor) -> str:
    return "×".join(map(str, tensor.shape[1:])) or "1"
