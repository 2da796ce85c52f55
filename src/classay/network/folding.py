"""`folded`: a network that answers the same and walks faster: batch normalisation made part of the convolutions.

In evaluation mode batch normalisation is a scaling and a shift, which the convolution before it can do as well. What
follows what is seen in one forward pass; that the copy answers the same is checked on numbers, and where it does not
(what a convolution gives is used elsewhere, too) the network is taken as it is.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .trace import at_rest

if TYPE_CHECKING:
    from torch import nn

    from .split import Split

CLOSE = 1e-3
"""How far features may differ, over their largest value."""


def folded(split: Split) -> Split:
    """The same split of a copy with folded normalisation and weights in the order that convolutions like best.

    Without convolutions, and where anything about copying or comparing fails, the split itself.
    """
    import torch
    from torch import nn

    if not any(isinstance(layer, nn.Conv2d) for layer in split.network.modules()):
        return split
    try:
        made = copy.deepcopy(split.network)
        with at_rest(made), torch.no_grad():
            inputs = split.inputs(2, 1)
            for convolution, norm in _pairs(made, split, inputs):
                _fold(made, convolution, norm)
            made = made.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # not in torch's stubs
        other = replace(split, network=made)
        with at_rest(split.network), at_rest(made), torch.no_grad():
            features, theirs = split.features(inputs), other.features(inputs)
        apart = float((features - theirs).abs().max())
        return other if apart <= CLOSE * float(features.abs().max()) else split
    except Exception:  # layers are code of the user's and can refuse in any way; this is for speed alone
        return split


def _pairs(network: nn.Module, split: Split, inputs: Any) -> list[tuple[str, str]]:
    """Names of convolutions and of the normalisation that takes what they give, each used once."""
    from torch import nn

    names = {layer: name for name, layer in network.named_modules()}
    given: dict[int, str] = {}
    kept: list[Any] = []  # so that no tensor takes the identity of another that is gone
    pairs: list[tuple[str, str]] = []
    uses: dict[str, int] = {}

    def hook(layer: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        name = names[layer]
        uses[name] = uses.get(name, 0) + 1
        if isinstance(layer, nn.Conv2d):
            given[id(output)] = name
            kept.append(output)
        elif arguments and id(arguments[0]) in given:
            pairs.append((given[id(arguments[0])], name))

    layers = [layer for layer in network.modules() if type(layer) in (nn.Conv2d, nn.BatchNorm2d)]
    handles = [layer.register_forward_hook(hook) for layer in layers]
    try:
        split.call(network, inputs)
    finally:
        for handle in handles:
            handle.remove()
    return [pair for pair in pairs if all(uses[name] == 1 for name in pair)]


def _fold(network: nn.Module, convolution: str, norm: str) -> None:
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    def put(name: str, layer: nn.Module) -> None:
        parent, _, own = name.rpartition(".")
        setattr(network.get_submodule(parent), own, layer)

    before: Any = network.get_submodule(convolution)
    after: Any = network.get_submodule(norm)
    put(convolution, fuse_conv_bn_eval(before, after))
    put(norm, nn.Identity())
