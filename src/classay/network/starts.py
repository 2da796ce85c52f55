"""Where walks to prototypes begin, and within what limits: noise, inputs of a box, or embeddings of random tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from ..expect import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .split import Split


@dataclass(frozen=True)
class Normalize:
    """Mean and spread by channel that made inputs of 0..1 into what the network takes: (x − mean) / std."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


def normalize_of(given: Any, shape: tuple[int, ...]) -> Normalize | None:
    """`normalize` as users give it: None, (mean, std), each a number or one a channel."""
    if given is None or isinstance(given, Normalize):
        return given
    try:
        mean, std = (tuple(np.atleast_1d(np.asarray(part, dtype=float)).ravel().tolist()) for part in given)
    except (TypeError, ValueError):
        raise InputError(
            f"`normalize` is {given!r}; a pair (mean, std) is expected, each a number or one a channel."
        ) from None
    for part in (mean, std):
        if len(part) not in (1, shape[0]):
            raise InputError(
                f"`normalize` has {len(part)} values for {shape[0]} channels (`input_shape` {shape}); 1 or as many as "
                "channels are expected."
            )
    if not np.isfinite([*mean, *std]).all() or min(std) <= 0:
        raise InputError(f"`normalize` is {given!r}; finite means and spreads above 0 are expected.")
    return Normalize(mean, std)


def box_of(split: Split, normalize: Normalize | None) -> tuple[Tensor, Tensor]:
    """The least and greatest input of images of 0..1, as the network takes them."""
    like = split.inputs(1)[0]

    def by_channel(values: Sequence[float]) -> Tensor:
        return like.new_tensor(list(values)).view(-1, *[1] * (like.dim() - 1))

    if normalize is None:
        return by_channel([0.0]), by_channel([1.0])
    mean, std = by_channel(normalize.mean), by_channel(normalize.std)
    return (0.0 - mean) / std, (1.0 - mean) / std


def draw(
    split: Split,
    targets: NDArray[np.integer],
    seed: int,
    start: int,
    box: tuple[Tensor, Tensor] | None = None,
    embeddings: Tensor | None = None,
) -> Tensor:
    """(c, ...) one random input for each target class of start number `start`, found by its class.

    Normal with mean 0 and spread 1; uniform in the box if there is one; or embeddings of random tokens.
    """
    import torch

    like = split.inputs(1)[0]
    shape = tuple(like.shape)
    if embeddings is not None:
        picked = [seeds.generator(seed, "start", start, int(one)).integers(len(embeddings), size=shape[:-1])
                  for one in targets]  # fmt: skip
        return embeddings[torch.as_tensor(np.stack(picked))].to(like)
    rows = np.stack(
        [seeds.generator(seed, "start", start, int(one)).standard_normal(shape, dtype=np.float32) for one in targets]
        if box is None
        else [seeds.generator(seed, "start", start, int(one)).random(shape, dtype=np.float32) for one in targets]
    )
    values = torch.from_numpy(rows).to(like)
    return values if box is None else box[0] + values * (box[1] - box[0])


def embeddings_of(network: nn.Module, given: Any, shape: tuple[int, ...]) -> Tensor | None:
    """The table of embeddings to draw tokens from: a layer of the network by name, a layer, or an array."""
    import torch

    if given is None:
        return None
    if isinstance(given, str):
        layers = dict(network.named_modules())
        if given not in layers:
            tables = [name for name, layer in layers.items() if isinstance(layer, torch.nn.Embedding)]
            raise InputError(f"The network has no layer {given!r}; its embeddings are {', '.join(tables) or 'none'}.")
        given = layers[given]
    table = getattr(given, "weight", given)
    table = table.detach() if isinstance(table, torch.Tensor) else torch.as_tensor(np.asarray(table))
    if table.ndim != 2 or table.shape[1] != shape[-1]:
        raise InputError(
            f"`embeddings` has shape {tuple(table.shape)}; (tokens, {shape[-1]}) is expected, the last side of "
            f"`input_shape` {shape}."
        )
    return table
