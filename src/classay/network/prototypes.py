"""`prototypes`: walk to every class from random inputs, and from every class to every other. Slow, and done once.

A seed prototype begins at a random input, one for every class. A core prototype of class l begins at the seed of
another class j. With k classes there are k seeds and k(k − 1) cores from each draw of random inputs; where k is large,
a sample.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import expect, seeds
from ..engine.store import Store
from ..expect import InputError
from .cosines import cosines
from .folding import folded
from .gather import Course, gather
from .needs import need
from .plan import Plan, plan
from .probing import probe
from .record import Prototypes
from .split import Split
from .split import split as split_network
from .starts import box_of, embeddings_of, normalize_of
from .stride import find_step
from .walks import BATCH, MAX_STEPS

if TYPE_CHECKING:
    from torch import nn

    from .trace import Feed

FACTORS = (1 / 3, 1.0, 3.0)
PILOT, FEW = 20, 6
"""Classes of the walks by which a step is found; fewer where time is short, which is then judged by them, too."""
SAMPLE = 3
"""Origins of each class in the sample that is walked with other steps."""
KEPT = 1 << 26
"""Inputs are kept up to so many bytes, unless asked for."""


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
    budget: float | None = None,
    max_steps: int = MAX_STEPS,
    box: bool = False,
    head: str | None = None,
    call: Feed | None = None,
    embeddings: Any = None,
    batch: int = BATCH,
    keep_inputs: bool | None = None,
    sensitivity: bool = True,
    random_state: int | np.random.Generator | None = 0,
    store: str | Path | Store | None = None,
    progress: bool = False,
    name: str | None = None,
) -> Prototypes:
    """Make inputs that the network takes for members of each class, by walking down the slope of the loss.

    x ← x − step · ∇L/‖∇L‖, L the cross-entropy of the wanted class, until L ≤ delta. No data are needed. All walks
    share batches, each scaled by its own slope; the same seed gives the same walks. Time that is up and Ctrl-C keep
    what is done, and with a `store` the same call goes on where it stopped.

    It misleads where walks do not converge (`converged`), where the inputs are in another range than the network was
    trained on (give `normalize` for a box), and where the step is so long that walks jump (`sensitivity`).

    Parameters
    ----------
    network : any nn.Module that ends in a linear layer, or what `split` made of it; it is left as it was
    input_shape : shape of one input, as (3, 32, 32); in embedding space (tokens, width)
    normalize : (mean, std) by channel that the network's inputs are scaled with, for `box` and for pictures
    starts : draws of random inputs; the spread over them is reported
    step : length of a step; None: found by a short search
    delta : cross-entropy at which a walk has arrived
    classes : how many classes to walk to, drawn at random; None: all, or as many as the budget allows
    origins : cores of each class, begun at the seeds of so many others; None: all up to 100 classes, else 10
    budget : seconds; fewer classes and origins are taken where all would take longer
    max_steps : a walk that has not arrived by then ends where it is
    box : keep inputs within images of 0..1, and begin with uniform noise
    head, call : as in `split`
    embeddings : where the network takes tokens: the table to draw embeddings of random tokens from, or its layer's name
    batch : rows walked at once; halved while memory does not suffice
    keep_inputs : keep the prototypes themselves; None: if they are few
    sensitivity : walk a sample with a third and three times the step, too
    random_state : seed of the random inputs and of samples
    store : folder in which finished walks are kept, so that the same call goes on where it stopped
    progress : say on stderr how far it is
    name : of the network

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
    found = _split(network, input_shape, head, call)
    expect.whole(starts, "starts", at_least=1)
    expect.whole(max_steps, "max_steps", at_least=1)
    expect.whole(batch, "batch", at_least=1)
    for value, label in ((delta, "delta"), (step, "step"), (budget, "budget")):
        if value is not None and not (isinstance(value, (int, float)) and 0 < value < np.inf):
            raise InputError(f"`{label}` is {value!r}; a number above 0 is expected.")
    scale = normalize_of(normalize, found.input_shape)
    table = embeddings_of(found.network, embeddings, found.input_shape)
    if box and table is not None:
        raise InputError("`box` is for images and `embeddings` for tokens; give one of them.")
    kept = store if store is None or isinstance(store, Store) else Store(store)
    seed = seeds.settle(random_state)
    began = time.monotonic()
    limits = box_of(found, scale) if box else None
    course = Course(folded(found), seed, step or 0.0, delta, max_steps, batch, limits, table)
    some = seeds.generator(seed, "classes").permutation(found.classes)[: PILOT if budget is None else FEW]
    course.deadline = None if budget is None else began + budget / 3
    if step is None:
        course.step = find_step(course, some)
    each = found.inputs(1)[0]
    affordable = None if budget is None else _affordable(course, some, began + budget)
    chosen = plan(found.classes, each.numel() * each.element_size(), starts, classes, origins, affordable, seed)
    course.deadline = None if budget is None else began + budget
    settings = {
        "step": course.step, "delta": float(delta), "max_steps": max_steps, "box": bool(box), "batch": batch,
        "seed": seed, "input_shape": list(found.input_shape),
        "normalize": None if scale is None else [scale.mean, scale.std],
    }  # fmt: skip
    description = {
        **settings,
        "network": fingerprint(found.network),
        "head": found.name,
        "embeddings": table is not None,
    }
    keep = keep_inputs if keep_inputs is not None else chosen.walks * each.numel() * 4 <= KEPT
    gathered = gather(course, chosen, keep, kept, description, progress)
    if not gathered.rows or not len(gathered.arrays()["target"]):
        raise InputError("No walk came to an end in the time there was. Allow a longer `budget`.")
    course.deadline = None
    arrays = gathered.arrays()
    notes = [*found.notes, *chosen.notes, *_notes(gathered.cut, gathered.interrupted, len(arrays["target"]), chosen)]
    if course.batch < batch:
        notes.append(f"Memory sufficed for batches of {course.batch} rows, not {batch}.")
    probes = {}
    if gathered.probed and not gathered.interrupted:
        probes = probe(found, *gathered.probed[0], seed)
    return Prototypes(
        **arrays,
        weight=found.weight,
        bias=found.bias,
        inputs=np.concatenate(gathered.inputs) if keep and gathered.inputs else None,
        probes=probes,
        sensitivity=_sensitivity(course, chosen) if sensitivity and not gathered.cut else {},
        settings={
            **settings,
            "starts": starts,
            "classes": len(chosen.classes),
            "origins": chosen.origins,
            "budget": budget,
        },
        about={
            "network": name or type(found.network).__name__,
            "head": found.name,
            "output": found.output,
            "fingerprint": description["network"],
        },
        notes=tuple(notes),
        interrupted=gathered.interrupted,
    )


def fingerprint(network: nn.Module) -> str:
    """A SHA-256 over names, shapes and values of all weights."""
    digest = hashlib.sha256()
    for name, values in network.state_dict().items():
        if hasattr(values, "detach"):
            array = values.detach().cpu().contiguous()
            digest.update(f"{name}\0{array.dtype}\0{tuple(array.shape)}\0".encode())
            digest.update(array.float().numpy().tobytes())
    return digest.hexdigest()


def _split(network: Any, input_shape: Any, head: str | None, call: Feed | None) -> Split:
    if isinstance(network, Split):
        return network
    if input_shape is None:
        raise InputError("`input_shape` is missing: the shape of one input is expected, such as (3, 32, 32).")
    return split_network(network, input_shape, head, call)


def _affordable(course: Course, some: Any, deadline: float) -> float:
    """How many walks fit into the time that is left, judging by a few; a fifth of it is kept in hand."""
    began = time.monotonic()
    done = int(course.walk(course.draw(some, 0), some).finished.sum())
    now = time.monotonic()
    return 0.8 * max(deadline - now, 0.0) * done / max(now - began, 1e-6)


def _sensitivity(course: Course, chosen: Plan) -> dict[str, float]:
    """M_bt by the factor of the step, on seeds of the first start and a few cores of each."""
    few = seeds.generator(chosen.seed, "sensitivity").permutation(chosen.pool)[:PILOT]
    found = {}
    for factor in FACTORS:
        options = {"step": factor * course.step, "max_steps": int(course.max_steps * max(1.0, 1 / factor))}
        seed_walks = course.walk(course.draw(few, 0), few, keep=True, **options)
        if seed_walks.ends is None or seed_walks.interrupted:
            return {}
        place = np.tile(np.arange(len(few)), min(SAMPLE, len(few) - 1))
        shift = np.repeat(np.arange(1, min(SAMPLE, len(few) - 1) + 1), len(few))
        origin = (place + shift) % len(few)
        cores = course.walk(seed_walks.ends, few[place], origin, **options)
        if cores.interrupted:
            return {}
        features = np.concatenate([seed_walks.features, cores.features])
        measured = cosines(features, np.concatenate([np.arange(len(few)), place]), len(few))
        found[f"{factor:.3g}"] = 1 - measured.cs_bt
    return found


def _notes(cut: bool, interrupted: bool, done: int, chosen: Plan) -> list[str]:
    if interrupted:
        return [f"It was interrupted after {done} of {chosen.walks} walks."]
    return [f"Time was up after {done} of {chosen.walks} walks."] if cut else []
