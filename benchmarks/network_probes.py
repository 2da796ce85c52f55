"""Probes: dataless figures that need another run of the network, or its weights, beside those of `network_quality`.

None predicted accuracy on data sets left out, so classay itself does not have them.

- robustness: how sure of its class the network stays when noise is added to a seed, or when it is shifted by one pixel,
  and how much of the margin over other classes is left;
- certainty: how sure it is of pure noise, and of how many classes; response: how much more logits move on smooth noise
  than on rough noise; sensitivity: how far they move under small noise;
- smoothness: correlation of neighbouring pixels in what a walk changed; agreement: of changes toward the same class;
- weights relative to a fresh initialisation of the same layers: stable rank, largest singular value and norm, as log
  ratios, means over layers; alpha, the exponent of a power law fitted to the largest eigenvalues of each layer's
  weight;
- smoothness of the first layer's weights over the image;
- memory: how far statistics of batch normalisation are from those that noise of the same scale would give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from classay import seeds
from classay.arrays import Floats
from classay.network.cosines import singular_values, unit
from classay.network.prototypes.prototypes import Prototypes, fresh_network
from classay.network.prototypes.schedule import SEED
from classay.network.prototypes.split import Split
from classay.network.prototypes.trace import frozen
from classay.network.prototypes.walks import Walker

if TYPE_CHECKING:
    from torch import Tensor, nn

LogitsOf = Callable[["Tensor"], "Tensor"]
"""A function that returns the logits of inputs."""
NOISE = 0.3
SMALL_NOISE = 0.1
RANDOM = 100
"""Noisy inputs that are predicted."""
COARSE = 4
TAIL = 8
"""A power law is fitted to at least this many eigenvalues, if there are as many."""
PROBED = 100
"""Seeds that are probed."""
BATCH = 128
PROBES = (
    "noise_robustness", "shift_robustness", "certainty", "response", "smoothness", "agreement", "stable_rank",
    "spectral_growth", "norm_growth", "alpha", "margin_robustness", "noise_sensitivity", "noise_classes",
    "filter_smoothness", "memory",
)  # fmt: skip


def probe_record(split: Split, record: Prototypes) -> dict[str, float]:
    """Every probe that applies, of the first seeds of a record with its inputs."""
    import torch

    assert record.inputs is not None
    rows = np.flatnonzero(record.origin == SEED)[:PROBED]
    walker = Walker(split, record.settings["step"], seed=record.settings["seed"])
    begun = [walker.draw_starts(record.target[[row]], int(record.start[row])) for row in rows]
    ends = torch.from_numpy(record.inputs[rows]).to(begun[0])
    return probe(split, torch.cat(begun), ends, record.target[rows], record.settings["seed"], BATCH)


def probe(
    split: Split,
    starts: Tensor,
    ends: Tensor,
    targets: NDArray[np.integer],
    seed: int,
    batch: int,
) -> dict[str, float]:
    """Every probe that applies, by name. `starts` and `ends` (m, ...) of some seeds, and the classes they reached."""
    import torch

    figures: dict[str, float] = {}

    def logits_of(inputs: Tensor) -> Tensor:
        return torch.cat([split.logits(inputs[at : at + batch]) for at in range(0, len(inputs), batch)])

    with frozen(split.network), torch.no_grad():
        figures |= _robustness(logits_of, ends, targets, seed)
        figures |= _noise_figures(split, logits_of, split.inputs(RANDOM, seed, 1), seed)
    figures |= _change_figures((ends - starts).float().cpu().numpy().astype(float), targets)
    figures |= weight_figures(split.network, seed)
    figures |= _filter_figures(split)
    return {name: float(value) for name, value in figures.items() if math.isfinite(value)}


def _robustness(logits_of: LogitsOf, ends: Tensor, targets: NDArray[np.integer], seed: int) -> dict[str, float]:
    """Mean probability of the class that a seed was made for, after a change."""
    import torch

    goal = torch.as_tensor(np.asarray(targets, dtype=np.int64), device=ends.device)

    def sure(inputs: Tensor) -> float:
        return float(logits_of(inputs).softmax(1).gather(1, goal[:, None]).mean())

    def margin(inputs: Tensor) -> float:
        logits = logits_of(inputs)
        own = logits.gather(1, goal[:, None]).ravel()
        others = logits.scatter(1, goal[:, None], -torch.inf).amax(1)
        return float((own - others).mean())

    noise = seeds.generator(seed, "probe noise").standard_normal(tuple(ends.shape), dtype=np.float32)
    noisy = ends + NOISE * torch.from_numpy(noise).to(ends)
    figures = {"noise_robustness": sure(noisy)}
    before = margin(ends)
    figures["margin_robustness"] = margin(noisy) / before if before > 0 else math.nan
    if ends.dim() == 4:
        moves = [(0, 1), (0, -1), (1, 0), (-1, 0)]
        figures["shift_robustness"] = float(np.mean([sure(torch.roll(ends, move, (2, 3))) for move in moves]))
    return figures


def _noise_figures(split: Split, logits_of: LogitsOf, inputs: Tensor, seed: int) -> dict[str, float]:
    """The network's outputs on noise."""
    from torch.nn.functional import interpolate

    with _statistics(split) as batches:
        logits = logits_of(inputs)
    figures = {"certainty": float(logits.softmax(1).max(dim=1).values.mean()), **_memory(batches)}
    shares = np.bincount(logits.argmax(1).cpu().numpy(), minlength=logits.shape[1]) / len(logits)
    shares = shares[shares > 0]
    figures["noise_classes"] = float(-(shares * np.log(shares)).sum()) / math.log(min(logits.shape[1], len(logits)))
    step = seeds.generator(seed, "small noise").standard_normal(tuple(inputs.shape), dtype=np.float32)
    small = logits_of(inputs + SMALL_NOISE * inputs.new_tensor(step)) - logits
    spread = float(logits.std(dim=0).mean()) if len(logits) > 1 else 0.0
    if spread > 0 and bool(small.any()):
        figures["noise_sensitivity"] = math.log(float(small.pow(2).mean().sqrt()) / spread)
    if inputs.dim() == 4 and min(inputs.shape[2:]) > COARSE:
        smooth = interpolate(inputs[:, :, :COARSE, :COARSE], size=tuple(inputs.shape[2:]), mode="bicubic")
        smooth = smooth / smooth.std().clamp_min(1e-12)
        rough, moved = float(logits.std(dim=0).mean()), float(logits_of(smooth).std(dim=0).mean())
        if rough > 0 and moved > 0:
            figures["response"] = math.log(moved / rough)
    return figures


@contextmanager
def _statistics(split: Split) -> Iterator[dict[Any, list[tuple[int, Tensor]]]]:
    """Number of rows and mean of the inputs of each batch normalisation meanwhile, batch by batch."""
    from torch import nn

    batches: dict[Any, list[tuple[int, Tensor]]] = {}

    def hook(layer: Any, arguments: tuple[Any, ...]) -> None:
        values = arguments[0]
        means = values.mean(dim=[axis for axis in range(values.dim()) if axis != 1])
        batches.setdefault(layer, []).append((len(values), means))

    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)
    layers = [one for one in split.network.modules() if isinstance(one, kinds) and one.running_mean is not None]
    handles = [layer.register_forward_pre_hook(hook) for layer in layers]
    try:
        yield batches
    finally:
        for handle in handles:
            handle.remove()


def _memory(batches: dict[Any, list[tuple[int, Tensor]]]) -> dict[str, float]:
    """Root mean square distance of batch statistics of noise from the stored ones, in stored spreads, as a log."""
    gaps = []
    for layer, means_of_batches in batches.items():
        means = sum(rows * mean for rows, mean in means_of_batches) / sum(rows for rows, _ in means_of_batches)
        gap = (means - layer.running_mean) / (layer.running_var + layer.eps).sqrt()
        gaps.append(float((gap**2).mean()))
    return {"memory": 0.5 * math.log(max(float(np.mean(gaps)), 1e-12))} if gaps else {}


def _change_figures(changes: Floats, targets: NDArray[np.integer]) -> dict[str, float]:
    """What walks changed: how smooth it is, and how similar for the same class from different starts."""
    figures: dict[str, float] = {}
    if changes.ndim == 4 and min(changes.shape[2:]) > 1:
        figures["smoothness"] = float(
            np.mean(
                [_neighbours(changes[..., 1:], changes[..., :-1]), _neighbours(changes[:, :, 1:], changes[:, :, :-1])]
            )
        )
    units = unit(changes.reshape(len(changes), -1))
    classes, codes = np.unique(targets, return_inverse=True)
    counts = np.bincount(codes)
    if len(units) and counts.max() > 1:
        sums = np.zeros((len(classes), units.shape[1]))
        np.add.at(sums, codes, units)
        several = counts > 1
        pairs = (sums[several] ** 2).sum(axis=1) - counts[several]
        figures["agreement"] = float((pairs / (counts[several] * (counts[several] - 1))).mean())
    return figures


def _neighbours(one: Floats, other: Floats) -> float:
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / scale if scale else math.nan


# Weights, relative to the same network freshly initialised.


def weight_figures(network: nn.Module, seed: int) -> dict[str, float]:
    """Weights relative to fresh ones: log ratios of stable rank ‖W‖²/σ², of σ and of ‖W‖, means over layers; alpha."""
    import torch

    fresh, _ = fresh_network(network, seed)
    fresh_layers = dict(fresh.named_modules())
    ratios, alphas = [], []
    for name, layer in network.named_modules():
        weight = getattr(layer, "weight", None)
        # An attribute called weight can also be a module: torch's list of parametrizations is.
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2 or min(weight.flatten(1).shape) < 2:
            continue
        own, other = (singular_values(_matrix(one.weight))[::-1] for one in (layer, fresh_layers[name]))
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


def _filter_figures(split: Split) -> dict[str, float]:
    """How alike the first layer's weights are for neighbouring pixels."""
    import torch

    if len(split.input_shape) != 3 or min(split.input_shape[1:]) < 3:
        return {}
    for layer in split.network.modules():
        weight = getattr(layer, "weight", None)
        if not isinstance(weight, torch.Tensor) or weight.ndim < 2:
            continue
        values = weight.detach().float().cpu().numpy().astype(float)
        if values.ndim == 2 and values.shape[1] == math.prod(split.input_shape):
            values = values.reshape(-1, *split.input_shape)
        if values.ndim != 4 or min(values.shape[2:]) < 3:
            return {}
        values = values - values.mean(axis=(2, 3), keepdims=True)
        pairs = (values[..., 1:], values[..., :-1]), (values[:, :, 1:], values[:, :, :-1])
        return {"filter_smoothness": float(np.mean([_neighbours(*pair) for pair in pairs]))}
    return {}


def _matrix(weight: Tensor) -> Floats:
    """A weight with one row per output."""
    return weight.detach().float().cpu().flatten(1).numpy().astype(float)


def power_law(eigenvalues: Floats) -> float:
    """Exponent of the power law that fits the largest values best, by the distance of Kolmogorov and Smirnov.

    The tail is that with the smallest distance (Clauset, Shalizi & Newman, 2009), as in WeightWatcher.
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
