"""Which shape of input a network takes, where nobody says: what it says of itself, or what its first layer tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..expect import InputError
from .split import Split, split

if TYPE_CHECKING:
    from torch import nn

SIDES = (32, 28, 64, 96, 224, 299)
"""Sides of square images that are tried, the commonest first."""


def split_by_likely_shape(network: nn.Module, head: str | None = None) -> tuple[Split, str]:
    """Split a network by the first likely shape of input that it takes, and say why that was tried.

    A network that averages over positions takes images of any size; the side is then a guess.
    """
    refused: InputError | None = None
    for shape, why in likely_shapes(network):
        try:
            return split(network, shape, head), f"The shape of inputs was not given; {_told(shape)} was taken, {why}."
        except InputError as error:
            refused = refused or error
    reason = f" The first that was tried: {refused}" if refused is not None else ""
    raise InputError(
        f"--input is missing, and the network does not tell it: the shape of one input, as 3x32x32.{reason}"
    )


def likely_shapes(network: nn.Module) -> Iterator[tuple[tuple[int, ...], str]]:
    """Shapes of input, the likelier first, each with the reason."""
    import torch

    for name in ("input_shape", "input_size"):
        if (own := _whole(getattr(network, name, None))) is not None:
            yield own, f"as its {name} says"
    for name in ("pretrained_cfg", "default_cfg"):  # timm
        settings = getattr(network, name, None)
        if isinstance(settings, dict) and (own := _whole(settings.get("input_size"))) is not None:
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
            yield (int(weight.shape[1]),), "as its first layer takes so many numbers"
        elif weight.ndim == 4:
            taken = int(weight.shape[1]) * int(getattr(layer, "groups", 1))
            for side in SIDES:
                yield (taken, side, side), f"as its first layer takes {taken} channels, the side being a guess"
        return


def _whole(value: Any) -> tuple[int, ...] | None:
    """A shape, if it is one."""
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
        return None
    return tuple(value) if all(isinstance(side, int) and side > 0 for side in value) else None


def _told(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
