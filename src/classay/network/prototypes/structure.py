"""How far weights are from random numbers: what shows, without any data, whether a network was trained.

- structure: the largest singular value of a weight over that of the same numbers in random places, as a log;
- whether a normalisation layer has other values than it begins with;
- the same network freshly initialised, to compare with.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING

import numpy as np

from ... import seeds
from ..cosines import singular_values

if TYPE_CHECKING:
    from torch import nn

RANDOM_STRUCTURE = 0.05
"""Mean structure below which weights look untrained: 320 freshly initialised networks had −.49 to .04."""
SHUFFLES = 3
"""Random orders of a weight's numbers; for wide layers one, which varies less there."""
WIDE = 512
SMALLEST = 4
"""Layers with fewer inputs or outputs have no structure that could be seen."""


def layer_structure(network: nn.Module, seed: int) -> dict[str, float]:
    """By layer, log of the weight's largest singular value over that of the same numbers in random places.

    About 0 where the numbers are independent draws, whatever their distribution: an untrained layer. Layers too small
    to show a difference are left out.
    """
    import torch

    by_layer: dict[str, float] = {}
    for name, layer in network.named_modules():
        weight = getattr(layer, "weight", None)
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2 or min(weight.flatten(1).shape) < SMALLEST:
            continue
        matrix = weight.detach().float().cpu().flatten(1).numpy().astype(float)
        generator = seeds.generator(seed, "shuffled weights", len(by_layer))
        orders = SHUFFLES if min(matrix.shape) <= WIDE else 1
        shuffled = [generator.permuted(matrix.ravel()).reshape(matrix.shape) for _ in range(orders)]
        own, *others = (float(singular_values(values)[-1]) for values in (matrix, *shuffled))
        usual = float(np.mean(others))
        if own > 0 and usual > 0:
            by_layer[name or type(layer).__name__] = math.log(own / usual)
    return by_layer


def normalisation_moved(network: nn.Module) -> bool:
    """Whether a normalisation layer has other values than it begins with: the network has been trained, or fed data.

    Networks with batch normalisation can be well trained while their other weights hardly differ from random numbers.
    """
    import torch

    for layer in network.modules():
        if "norm" not in type(layer).__name__.lower():
            continue
        for name, fresh in (("weight", None), ("bias", 0.0), ("running_mean", 0.0)):
            values = getattr(layer, name, None)
            if not isinstance(values, torch.Tensor) or values.ndim != 1 or not len(values):
                continue
            begun = values[0] if fresh is None else fresh  # weights begin equal, at 1 or at 0
            if bool((values != begun).any()):
                return True
    return False


def fresh_network(network: nn.Module, seed: int) -> tuple[nn.Module, list[str]]:
    """A freshly initialised copy of a network, and the layers that cannot be reset and keep trained values."""
    import torch

    fresh = copy.deepcopy(network)
    not_reset = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seeds.integers(seed, "fresh", count=1)[0])
        for name, layer in fresh.named_modules():
            renew = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
            if callable(renew):
                renew()
            elif any(True for _ in layer.parameters(recurse=False)):
                not_reset.append(name or type(layer).__name__)
    return fresh, not_reset
