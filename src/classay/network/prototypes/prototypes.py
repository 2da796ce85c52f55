"""`prototypes`: walk to every class from random inputs, and from every class to every other. Slow, and done once.

A seed prototype begins at a random input, one for every class. A core prototype of class l begins at the seed of
another class j. With k classes there are k seeds and k(k − 1) cores from each draw of random inputs; if k is large,
a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import expect, seeds
from ...engine import archive
from ...engine.store import Store
from ...expect import InputError, counted, need
from ...notes import Note, notes_from_json, notes_to_json
from .runner import PrototypeRows, digest, fingerprint, fold_normalisation, identity, sample_of_weights
from .schedule import LEAST_WALKS, SEED, expect_sample, find_step, plan, step_sensitivity
from .split import Split
from .split import split as split_network
from .structure import layer_structure, normalisation_moved
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
        names = ("target", "origin", "start", "steps", "length", "distance", "loss", "converged")
        return pd.DataFrame({name: getattr(self, name) for name in names})

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
    split = _split(network, input_shape, head, call)
    expect.whole(starts, "starts", at_least=1)
    expect.whole(max_steps, "max_steps", at_least=1)
    expect.whole(batch, "batch", at_least=1)
    expect.whole(threads, "threads", at_least=1)
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
            "weights": sample_of_weights(split.network),
        },
        notes=tuple(notes),
        interrupted=rows.interrupted,
    )


def _split(network: Any, input_shape: Any, head: str | None, call: Feed | None) -> Split:
    if isinstance(network, Split):
        return network
    if input_shape is None:
        raise InputError("`input_shape` is missing; expected the shape of one input, such as (3, 32, 32).")
    return split_network(network, input_shape, head, call)
