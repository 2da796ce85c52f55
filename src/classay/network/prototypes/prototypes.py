"""`prototypes`: walk to every class from random inputs, and from every class to every other. Slow, and done once.

A seed prototype begins at a random input, one for every class. A core prototype of class l begins at the seed of
another class j. With k classes there are k seeds and k(k − 1) cores from each draw of random inputs; if k is large,
a sample. The record also has how far the weights are from random numbers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect, seeds
from ...arrays import Floats
from ...engine import archive
from ...engine.store import Store
from ...expect import InputError, counted, need
from ...notes import Note, notes_from_json, notes_to_json
from ..cosines import singular_values
from .runner import PrototypeRows, digest, fingerprint, fold_normalisation, identity
from .schedule import LEAST_WALKS, SEED, expect_sample, find_step, plan, step_sensitivity
from .split import Split
from .split import split as split_network
from .walks import BATCH, MAX_STEPS, Walker, box_of, embeddings_of, fixed_threads, scale_of

if TYPE_CHECKING:
    from torch import nn

    from .trace import Feed

MOST_INPUT_BYTES = 1 << 26
"""Inputs are stored up to this many bytes, unless requested."""

KIND = "prototypes"
ARRAYS = ("features", "target", "origin", "start", "steps", "length", "distance", "loss", "converged", "weight")
IF_ANY = ("bias", "inputs")
HEADER = ("sensitivity", "layers", "settings", "about", "interrupted")


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Features of inputs that the network recognises as members of a class, and how far the walks to them were.

    Row i is the end of one walk: `features[i]` (d,), its target class `target[i]`, the class `origin[i]` whose seed it
    began at (−1: it is a seed itself and began at a random input), the number `start[i]` of the set of random inputs,
    `steps[i]`, `length[i]` of the path and straight `distance[i]`, the `loss[i]` at the end and whether it had
    `converged[i]`. `weight` (k, d) and `bias` are the head. `inputs` (m, ...) are the prototypes themselves, if stored.
    `sensitivity` is the figure between classes by the factor of the step, on a sample of walks; `layers` how far the
    weight of each layer is from random numbers, as the log of its largest singular value over that of the same numbers
    shuffled. `settings` and `about` say how it was made. Make one with `classay.prototypes`.
    """

    features: NDArray[np.float32]
    target: NDArray[np.int64]
    origin: NDArray[np.int64]
    start: NDArray[np.int64]
    steps: NDArray[np.int64]
    length: NDArray[np.float64]
    distance: NDArray[np.float64]
    loss: NDArray[np.float64]
    converged: NDArray[np.bool_]
    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None = None
    inputs: NDArray[np.float32] | None = None
    sensitivity: dict[str, float] = field(default_factory=dict)
    layers: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.target)

    @property
    def classes(self) -> int:
        """k, the classes of the head."""
        return len(self.weight)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the draws of random inputs."""
        return np.unique(self.start)

    @property
    def name(self) -> str:
        """The network's name."""
        return str(self.about.get("network", "network"))

    def to_frame(self) -> pd.DataFrame:
        """One row per prototype: target, origin, start, steps, length, distance, loss, converged."""
        return pd.DataFrame({name: getattr(self, name) for name in ARRAYS[1:-1]})

    def __str__(self) -> str:
        seeds = int((self.origin == SEED).sum())
        reached = counted(len(np.unique(self.target)), "class", "classes")
        text = (
            f"{self.name}: {counted(len(self), 'prototype')} of {reached} ({counted(seeds, 'seed')}, "
            f"{counted(len(self) - seeds, 'core')}) from {counted(len(self.starts), 'start')}; "
            f"{self.converged.mean():.0%} converged, in {np.median(self.steps):.0f} steps of "
            f"{self.settings.get('step', np.nan):.3g} at the median."
        )
        return " ".join([text, *self.notes])

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the record to one file that `Prototypes.load` reads: arrays and a JSON header, no pickle."""
        return archive.write(Path(path), KIND, *self.to_file())

    def to_file(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Header and arrays, as files and stores contain them."""
        arrays = {name: getattr(self, name) for name in (*ARRAYS, *IF_ANY) if getattr(self, name) is not None}
        return {name: getattr(self, name) for name in HEADER} | {"notes": notes_to_json(self.notes)}, arrays

    @classmethod
    def load(cls, path: str | Path) -> Prototypes:
        """Read a record that `save` wrote."""
        header, arrays = archive.read(Path(path), KIND)
        try:
            parts: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
            parts |= {name: header[name] for name in HEADER} | {name: arrays.get(name) for name in IF_ANY}
            return cls(**parts, notes=notes_from_json(header["notes"]))
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is not a complete record of prototypes ({error}). Make it again.") from error


def prototypes(
    network: nn.Module | Split,
    input_shape: Sequence[int] | None = None,
    normalize: Any = None,
    starts: int = 5,
    step: float | None = None,
    delta: float = 0.01,
    *,
    classes: int | None = None,
    origins: int | None = None,
    walks: int | None = None,
    max_steps: int = MAX_STEPS,
    box: bool = False,
    head: str | None = None,
    call: Feed | None = None,
    embeddings: Any = None,
    batch: int = BATCH,
    threads: int = 1,
    keep_inputs: bool | None = None,
    sensitivity: bool = True,
    random_state: int | np.random.Generator | None = 0,
    store: str | Path | Store | None = None,
    progress: bool = False,
    name: str | None = None,
) -> Prototypes:
    """Make inputs that the network recognises as members of each class, by descending the gradient of the loss.

    x ← x − step · ∇L/‖∇L‖, L the cross-entropy of the target class, until L ≤ delta. No data are needed. All walks
    share batches, each scaled by its own gradient. The same seed gives the same walks, however busy the machine is. On
    Ctrl-C, what is done is kept, and with a `store` the same call continues where it stopped.

    It misleads if walks do not converge (`converged`), if the inputs are in another range than the network was
    trained on (pass `normalize` for a box), and if the step is so long that walks jump (`sensitivity`).

    Parameters
    ----------
    network : any nn.Module that ends in a linear layer, or the result of `split`; it is left unchanged
    input_shape : shape of one input, as (3, 32, 32); in embedding space (tokens, width)
    normalize : (mean, std) by channel that the network's inputs are scaled with, for `box` and for pictures
    starts : draws of random inputs; the spread over them is reported
    step : length of a step; None: found by a short search
    delta : cross-entropy at which a walk has arrived
    classes : number of classes to walk to, drawn at random; None: all, or as many as `walks` allows
    origins : cores of each class, begun at the seeds of this many others; None: all up to 100 classes, else 10
    walks : maximum number of walks; with fewer than all, fewer origins, then starts, then classes are used
    max_steps : a walk that has not arrived by then ends where it is
    box : keep inputs within images of 0..1, and begin with uniform noise
    head, call : as in `split`
    embeddings : if the network takes tokens: the table to draw embeddings of random tokens from, or its layer's name
    batch : rows walked at once; halved while memory is insufficient
    threads : threads of torch; more are faster for large networks and change the last digits
    keep_inputs : store the prototypes themselves; None: if they are few
    sensitivity : also walk a sample with a third and three times the step
    random_state : seed of the random inputs and of samples
    store : folder in which finished walks are stored, so that the same call continues where it stopped
    progress : show progress on stderr
    name : display name of the network

    Examples
    --------
    >>> from torch import manual_seed, nn
    >>> _ = manual_seed(0)
    >>> network = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
    >>> record = prototypes(network, (5,), starts=2)
    >>> record.features.shape, bool(record.converged.all())
    ((18, 16), True)

    References
    ----------
    Dean & Sarkar, Novel Deep Neural Network Classifier Characterization Metrics with Applications to Dataless
    Evaluation (2024), algorithms 1 and 2.

    """
    need("torch", "Making prototypes")
    split = split_of(network, input_shape, head, call)
    for number, of_what in ((starts, "starts"), (max_steps, "max_steps"), (batch, "batch"), (threads, "threads")):
        expect.whole(number, of_what, at_least=1)
    if walks is not None:
        expect.whole(walks, "walks", at_least=LEAST_WALKS, why="Two classes need a seed and a core each.")
    expect.number(delta, "delta", above=0)
    if step is not None:
        expect.number(step, "step", above=0)
    expect_sample(split.classes, classes, origins)
    scale = scale_of(normalize, split.input_shape)
    table = embeddings_of(split.network, embeddings, split.input_shape)
    if box and table is not None:
        raise InputError("`box` is for images and `embeddings` for tokens; pass only one of them.")
    folder = store if store is None or isinstance(store, Store) else Store(store)
    seed = seeds.settle(random_state)
    limits = box_of(split, scale) if box else None
    walker = Walker(fold_normalisation(split), step or 0.0, delta, max_steps, batch, limits, table, seed, threads)
    settings: dict[str, Any] = {
        "step": step, "delta": float(delta), "max_steps": max_steps, "box": bool(box), "batch": batch,
        "threads": threads, "seed": seed, "input_shape": list(split.input_shape),
        "normalize": None if scale is None else list(scale),
    }  # fmt: skip
    walker.step = settings["step"] = find_step(walker, split.classes) if step is None else step
    each = split.inputs(1)[0]
    walk_plan = plan(split.classes, each.numel() * each.element_size(), starts, classes, origins, seed, walks)
    keep = keep_inputs if keep_inputs is not None else walk_plan.walks * each.numel() * 4 <= MOST_INPUT_BYTES
    embedded = None if table is None else digest({"table": table})
    rows = PrototypeRows(walker, keep, folder, {**settings, "network": identity(split), "embeddings": embedded})
    rows.run(walk_plan, progress)
    if not len(rows):
        raise KeyboardInterrupt  # there is nothing to keep
    notes = [*split.notes, *walk_plan.notes]
    if rows.interrupted:
        notes.append(Note("walks-interrupted", count=len(rows), walks=walk_plan.walks))
    if walker.batch < batch:
        notes.append(Note("batches-reduced", count=walker.batch, rows=batch))
    with fixed_threads(threads):
        layers, like_fresh = layer_structure(split.network, seed)
    by_factor: dict[str, float] = {}
    if sensitivity and not rows.interrupted:
        by_factor = step_sensitivity(walker, walk_plan)
        if not by_factor:
            notes.append(Note("steps-not-compared"))
    sizes = {"starts": walk_plan.starts, "classes": len(walk_plan.classes), "origins": walk_plan.origins}
    return Prototypes(
        **rows.arrays(),
        weight=split.weight,
        bias=split.bias,
        sensitivity=by_factor,
        layers=layers,
        settings={**settings, **sizes, "walks": walks},
        about={
            "network": name or type(split.network).__name__,
            "head": split.name,
            "output": split.output,
            "normalisation_moved": normalisation_moved(split.network),
            "fingerprint": fingerprint(split.network),
            "like_fresh": like_fresh,
        },
        notes=tuple(notes),
        interrupted=rows.interrupted,
    )


def split_of(network: Any, input_shape: Any, head: str | None, call: Feed | None) -> Split:
    """The network split into features and head, if it is not."""
    if isinstance(network, Split):
        return network
    if input_shape is None:
        raise InputError("`input_shape` is missing; expected the shape of one input, such as (3, 32, 32).")
    return split_network(network, input_shape, head, call)


# How far weights are from random numbers, without any data.


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
