"""How far weights are from random numbers, without any data.

- structure: the largest singular value of a weight over that of the same numbers in random places, as a log;
- which layers lie within the range of fresh initialisations: independent draws, so all orders are equally likely;
- whether a normalisation layer has other values than it begins with;
- the same network freshly initialised, to compare with.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING

import numpy as np

from ... import seeds
from ...arrays import Floats
from ..cosines import singular_values

if TYPE_CHECKING:
    from torch import nn

ORDERS = 19
"""Random orders of every weight's numbers: of 20 networks alike, one is by chance farther out than all others (5 %)."""
BLOCK = 256, 1024
"""Of larger weights a random block of so many rows and columns is measured, since singular values are slow."""


def layer_structure(network: nn.Module, seed: int) -> tuple[dict[str, float], list[str]]:
    """By layer, log of the weight's largest singular value over that of the same numbers in random places.

    About 0 where the numbers are independent draws, whatever their distribution, as in a fresh initialisation. The
    second part names the layers that lie within the range of such draws: neither the largest singular value nor the sum
    of the rows, which training moves to 0 in a head, is farther from the random orders than any random order of any
    layer is from the others. In a fresh network all layers are within in 95 % of cases.
    """
    import torch

    structure: dict[str, float] = {}
    distances: dict[str, Floats] = {}
    for name, layer in network.named_modules():
        weight = getattr(layer, "weight", None)
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2 or min(weight.flatten(1).shape) < 2:
            continue
        matrix = weight.detach().float().cpu().flatten(1).numpy()
        generator = seeds.generator(seed, "shuffled weights", len(structure))
        for axis, most in enumerate(BLOCK):
            if matrix.shape[axis] > most:
                matrix = matrix.take(np.sort(generator.choice(matrix.shape[axis], most, replace=False)), axis)
        matrix = matrix.astype(float)
        orders = [matrix, *(generator.permuted(matrix.ravel()).reshape(matrix.shape) for _ in range(ORDERS))]
        largest = np.array([float(singular_values(values)[-1]) for values in orders])
        sums = np.array([float(np.linalg.norm(values.sum(axis=0))) for values in orders])
        if largest.min() > 0:
            key = name or type(layer).__name__
            structure[key] = math.log(largest[0] / largest[1:].mean())
            distances[key] = np.maximum(_from_others(np.log(largest)), np.abs(_from_others(sums / largest.mean())))
    limit = max((float(distance[1:].max()) for distance in distances.values()), default=0.0)
    return structure, [name for name, distance in distances.items() if distance[0] <= limit]


def _from_others(values: Floats) -> Floats:
    """How far each value is from the mean of the others, in their standard deviations."""
    others = np.array([np.delete(values, place) for place in range(values.size)])
    distance: Floats = (values - others.mean(axis=1)) / np.maximum(others.std(axis=1), 1e-9)
    return distance


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
