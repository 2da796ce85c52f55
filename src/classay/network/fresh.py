"""The same network freshly initialised, to tell what training changed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from .. import seeds

if TYPE_CHECKING:
    from torch import nn


def reset(network: nn.Module, seed: int) -> tuple[nn.Module, list[str]]:
    """A freshly initialised copy of a network, and the layers that cannot be reset and hold trained values still."""
    import torch

    fresh = copy.deepcopy(network)
    kept = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.integers(seed, "fresh", count=1)[0])
        for name, layer in fresh.named_modules():
            renew = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if callable(renew):
                renew()
            elif any(True for _ in layer.parameters(recurse=False)):
                kept.append(name or type(layer).__name__)
    return fresh, kept
