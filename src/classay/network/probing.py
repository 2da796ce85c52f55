"""Probes: figures for which the network is run once more, or its weights read. They go into the record of prototypes.

- robustness: how sure of its class the network stays when noise is added to a seed, or when it is shifted by one pixel;
- certainty: how sure it is of pure noise; response: how much more logits move on smooth noise than on rough noise;
- smoothness: correlation of neighbouring pixels in what a walk changed; agreement: of changes toward the same class;
- weights beside a fresh initialisation of the same layers: stable rank, largest singular value and norm, as log ratios,
  means over layers; alpha, the exponent of a power law fitted to the largest eigenvalues of each layer's weight;
- memory: how far statistics of batch normalisation are from those that noise of the same scale would leave.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import seeds
from .cosines import unit
from .fresh import reset
from .trace import at_rest

if TYPE_CHECKING:
    from torch import Tensor, nn

    from .split import Split

Floats = NDArray[np.float64]
Answer = Callable[["Tensor"], "Tensor"]
"""What gives the logits of inputs."""
NOISE = 0.3
RANDOM = 100
COARSE = 4
TAIL = 8
"""A power law is fitted to at least so many eigenvalues, where there are as many."""


def probe(
    split: Split,
    begun: Tensor,
    ends: Tensor,
    targets: NDArray[np.integer],
    seed: int,
    batch: int = RANDOM,
    random: int = RANDOM,
) -> dict[str, float]:
    """Every probe that applies, by name. `begun` and `ends` (m, ...) of some seeds, and the classes they reached.

    `batch` rows are run at once; answers to `random` noisy inputs are looked at.
    """
    import torch

    found: dict[str, float] = {}

    def answer(inputs: Tensor) -> Tensor:
        return torch.cat([split.logits(inputs[at : at + batch]) for at in range(0, len(inputs), batch)])

    with at_rest(split.network), torch.no_grad():
        found |= _robustness(answer, ends, targets, seed)
        found |= _of_noise(split, answer, split.inputs(random, seed, 1))
    found |= _of_ways((ends - begun).float().cpu().numpy().astype(float), targets)
    found |= of_weights(split.network, seed)
    return {name: float(value) for name, value in found.items() if math.isfinite(value)}


def _robustness(answer: Answer, ends: Tensor, targets: NDArray[np.integer], seed: int) -> dict[str, float]:
    """Mean probability of the class that a seed was made for, after a change."""
    import torch

    goal = torch.as_tensor(np.asarray(targets, dtype=np.int64), device=ends.device)

    def sure(inputs: Tensor) -> float:
        return float(answer(inputs).softmax(1).gather(1, goal[:, None]).mean())

    noise = seeds.generator(seed, "probe noise").standard_normal(tuple(ends.shape), dtype=np.float32)
    found = {"noise_robustness": sure(ends + NOISE * torch.from_numpy(noise).to(ends))}
    if ends.dim() == 4:
        moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]
        found["shift_robustness"] = float(np.mean([sure(torch.roll(ends, move, (2, 3))) for move in moves]))
    return found


def _of_noise(split: Split, answer: Answer, inputs: Tensor) -> dict[str, float]:
    """How the network answers noise."""
    from torch.nn.functional import interpolate

    with _statistics(split) as seen:
        logits = answer(inputs)
    found = {"certainty": float(logits.softmax(1).max(dim=1).values.mean()), **_memory(seen)}
    if inputs.dim() == 4 and min(inputs.shape[2:]) > COARSE:
        smooth = interpolate(inputs[:, :, :COARSE, :COARSE], size=tuple(inputs.shape[2:]), mode="bicubic")
        smooth = smooth / smooth.std().clamp_min(1e-12)
        rough, moved = float(logits.std(dim=0).mean()), float(answer(smooth).std(dim=0).mean())
        if rough > 0 and moved > 0:
            found["response"] = math.log(moved / rough)
    return found


@contextmanager
def _statistics(split: Split) -> Iterator[dict[Any, list[tuple[int, Tensor]]]]:
    """Rows and mean of what each batch normalisation takes meanwhile, batch by batch."""
    from torch import nn

    seen: dict[Any, list[tuple[int, Tensor]]] = {}

    def hook(layer: Any, arguments: tuple[Any, ...]) -> None:
        values = arguments[0]
        means = values.mean(dim=[axis for axis in range(values.dim()) if axis != 1])
        seen.setdefault(layer, []).append((len(values), means))

    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    layers = [one for one in split.network.modules() if isinstance(one, kinds) and one.running_mean is not None]
    handles = [layer.register_forward_pre_hook(hook) for layer in layers]
    try:
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def _memory(seen: dict[Any, list[tuple[int, Tensor]]]) -> dict[str, float]:
    """Root mean square distance of batch statistics of noise from the stored ones, in stored spreads, as a log."""
    gaps = []
    for layer, batches in seen.items():
        means = sum(rows * mean for rows, mean in batches) / sum(rows for rows, _ in batches)
        gap = (means - layer.running_mean) / (layer.running_var + layer.eps).sqrt()
        gaps.append(float((gap**2).mean()))
    return {"memory": 0.5 * math.log(max(float(np.mean(gaps)), 1e-12))} if gaps else {}


def _of_ways(ways: Floats, targets: NDArray[np.integer]) -> dict[str, float]:
    """What walks changed: how smooth it is, and how alike for the same class from different starts."""
    found: dict[str, float] = {}
    if ways.ndim == 4 and min(ways.shape[2:]) > 1:
        found["smoothness"] = float(
            np.mean([_neighbours(ways[..., 1:], ways[..., :-1]), _neighbours(ways[:, :, 1:], ways[:, :, :-1])])
        )
    units = unit(ways.reshape(len(ways), -1))
    classes, codes = np.unique(targets, return_inverse=True)
    counts = np.bincount(codes)
    if len(units) and counts.max() > 1:
        sums = np.zeros((len(classes), units.shape[1]))
        np.add.at(sums, codes, units)
        several = counts > 1
        pairs = (sums[several] ** 2).sum(axis=1) - counts[several]
        found["agreement"] = float((pairs / (counts[several] * (counts[several] - 1))).mean())
    return found


def _neighbours(one: Floats, other: Floats) -> float:
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / scale if scale else math.nan


def of_weights(network: nn.Module, seed: int) -> dict[str, float]:
    """Weights beside fresh ones: log ratios of stable rank ‖W‖²/σ², of σ and of ‖W‖, means over layers; and alpha."""
    import torch

    fresh, _ = reset(network, seed)
    theirs = dict(fresh.named_modules())
    ratios, alphas = [], []
    for name, layer in network.named_modules():
        weight = getattr(layer, "weight", None)
        # What is called weight can be a module, too: torch's list of parametrizations is.
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2 or min(weight.flatten(1).shape) < 2:
            continue
        own, other = (_singular(one.weight) for one in (layer, theirs[name]))
        if own.size and other.size and own[0] > 0 and other[0] > 0:
            norms = [float(np.linalg.norm(values)) for values in (own, other)]
            ratios.append(
                [
                    2 * math.log(norms[0] / own[0]) - 2 * math.log(norms[1] / other[0]),
                    math.log(own[0] / other[0]),
                    math.log(norms[0] / norms[1]),
                ]
            )
            alphas.append(power_law(own**2))
    if not ratios:
        return {}
    stable, spectral, norm = np.mean(ratios, axis=0)
    alpha = float(np.nanmean(alphas)) if np.isfinite(alphas).any() else math.nan
    return {
        "stable_rank": float(stable),
        "spectral_growth": float(spectral),
        "norm_growth": float(norm),
        "alpha": alpha,
    }


def _singular(weight: Tensor) -> Floats:
    matrix = weight.detach().float().cpu().flatten(1).numpy().astype(float)
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    values: Floats = np.sqrt(np.maximum(np.linalg.eigvalsh(product)[::-1], 0))
    return values


def power_law(eigenvalues: Floats) -> float:
    """Exponent of the power law that fits the largest values best, by the distance of Kolmogorov and Smirnov.

    The tail is that for which the distance is least (Clauset, Shalizi & Newman, 2009), as WeightWatcher does it.
    """
    values = np.sort(eigenvalues[eigenvalues > 1e-12 * eigenvalues.max(initial=0.0)])[::-1]
    n = len(values)
    best = (math.inf, math.nan)
    logs = np.cumsum(np.log(values)) if n else np.zeros(0)
    for size in range(min(TAIL, n), n + 1):
        excess = logs[size - 1] - size * math.log(values[size - 1])
        if size < 2 or excess <= 0:
            continue
        alpha = 1 + size / excess
        model = 1 - (values[:size][::-1] / values[size - 1]) ** (1 - alpha)
        best = min(best, (float(np.abs(model - np.arange(1, size + 1) / size).max()), alpha))
    return best[1]
