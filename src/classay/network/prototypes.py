"""`prototypes`: walk to every class from random inputs, and from every class to every other. Slow, and done once.

A seed prototype begins at a random input, one for every class. A core prototype of class l begins at the seed of
another class j. With k classes there are k seeds and k(k − 1) cores from each draw of random inputs; where k is large,
a sample.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import expect, seeds
from ..engine.store import Store
from ..expect import InputError
from .fingerprint import digest, fingerprint, identity
from .folding import folded
from .gather import PROBED, Course, Gathered, gather
from .needs import need
from .plan import Plan, expect_sample, plan
from .probing import probe
from .record import Prototypes
from .sensitivity import step_sensitivity
from .split import Split
from .split import split as split_network
from .starts import box_of, embeddings_of, normalize_of
from .terms import Budget, Terms, find_terms
from .walks import BATCH, MAX_STEPS

if TYPE_CHECKING:
    from torch import nn

    from .trace import Feed

PROBING = 0.01
"""Share of the budget that one pass of probes may take; there are about eight."""
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
    budget : seconds for all of it; fewer origins, starts and classes are taken where all would take longer
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
    began = time.monotonic()
    need("torch", "Making prototypes")
    found = _split(network, input_shape, head, call)
    expect.whole(starts, "starts", at_least=1)
    expect.whole(max_steps, "max_steps", at_least=1)
    expect.whole(batch, "batch", at_least=1)
    for value, label in ((delta, "delta"), (step, "step"), (budget, "budget")):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value < np.inf):
            raise InputError(f"`{label}` is {value!r}; a number above 0 is expected.")
    expect_sample(found.classes, classes, origins)
    scale = normalize_of(normalize, found.input_shape)
    table = embeddings_of(found.network, embeddings, found.input_shape)
    if box and table is not None:
        raise InputError("`box` is for images and `embeddings` for tokens; give one of them.")
    kept = store if store is None or isinstance(store, Store) else Store(store)
    seed = seeds.settle(random_state)
    limits = box_of(found, scale) if box else None
    course = Course(folded(found), seed, step or 0.0, delta, max_steps, batch, limits, table)
    settings: dict[str, Any] = {
        "step": step, "delta": float(delta), "max_steps": max_steps, "box": bool(box), "batch": batch,
        "seed": seed, "input_shape": list(found.input_shape),
        "normalize": None if scale is None else [scale.mean, scale.std],
    }  # fmt: skip
    description = {
        **settings,
        "network": identity(found),
        "embeddings": None if table is None else digest({"table": table}),
    }
    time_for = None if budget is None else Budget(began, float(budget))
    terms = _terms(course, step, time_for, bool(sensitivity), kept, {**description, "budget": budget})
    agreed = {"step": terms.step, "max_steps": terms.max_steps, "batch": terms.batch}
    course.step, course.max_steps, course.batch = terms.step, terms.max_steps, terms.batch
    course.seconds, course.passes = terms.pace, 1
    course.deadline = None if time_for is None else time_for.at(terms.until)
    each = found.inputs(1)[0]
    size = each.numel() * each.element_size()
    chosen = plan(found.classes, size, starts, classes, origins, terms.affordable, seed)
    keep = keep_inputs if keep_inputs is not None else chosen.walks * each.numel() * 4 <= KEPT
    gathered = gather(course, chosen, keep, kept, {**description, **agreed}, progress)
    if not len(gathered):
        if gathered.interrupted:
            raise KeyboardInterrupt  # there is nothing to keep
        raise InputError(
            f"No walk came to an end in {budget:g} s: one step of one input takes {course.pace:.2g} s. Allow a longer "
            "`budget`."
        )
    arrays = gathered.arrays()
    notes = [*found.notes, *chosen.notes, *_notes(gathered, chosen)]
    if terms.max_steps < max_steps:
        notes.append(f"Walks ended after {terms.max_steps} steps at most, not {max_steps}, for the time there was.")
    if course.batch < terms.batch:
        notes.append(f"Memory sufficed for batches of {course.batch} rows, not {terms.batch}.")
    probes = {}
    if not gathered.interrupted:
        most = PROBED if time_for is None else int(np.clip(PROBING * time_for.seconds / course.pace, 2, PROBED))
        begun, ends, reached = gathered.probed[0]
        probes = probe(found, begun[:most], ends[:most], reached[:most], seed, course.batch, most)
    course.deadline = None if time_for is None else time_for.at(1.0)
    tried: dict[str, float] = {}
    if sensitivity and not gathered.cut:
        tried = step_sensitivity(course, chosen)
        if not tried:
            notes.append("There was no time to walk with other steps.")
    return Prototypes(
        **arrays,
        weight=found.weight,
        bias=found.bias,
        inputs=np.concatenate(gathered.inputs) if keep and gathered.inputs else None,
        probes=probes,
        sensitivity=tried,
        settings={
            **settings,
            **agreed,
            "starts": chosen.starts,
            "classes": len(chosen.classes),
            "origins": chosen.origins,
            "budget": budget,
        },
        about={
            "network": name or type(found.network).__name__,
            "head": found.name,
            "output": found.output,
            "fingerprint": fingerprint(found.network),
        },
        notes=tuple(notes),
        interrupted=gathered.interrupted,
    )


def _split(network: Any, input_shape: Any, head: str | None, call: Feed | None) -> Split:
    if isinstance(network, Split):
        return network
    if input_shape is None:
        raise InputError("`input_shape` is missing: the shape of one input is expected, such as (3, 32, 32).")
    return split_network(network, input_shape, head, call)


def _terms(
    course: Course,
    step: float | None,
    budget: Budget | None,
    sensitivity: bool,
    store: Store | None,
    description: dict[str, Any],
) -> Terms:
    """The terms of the walks, out of the store if the same call was made before: it goes on with the same walks."""
    order = seeds.generator(course.seed, "classes").permutation(course.split.classes)
    if store is None:
        return find_terms(course, step, order, budget, sensitivity)
    key = store.key({"terms": description, "sensitivity": sensitivity})
    known = store.get(key, "terms")
    if known is not None:
        return Terms(**known[0]["terms"])
    terms = find_terms(course, step, order, budget, sensitivity)
    store.put(key, "terms", {"terms": asdict(terms)}, {})
    return terms


def _notes(gathered: Gathered, chosen: Plan) -> list[str]:
    done = f"{len(gathered)} of {chosen.walks} walks"
    if gathered.interrupted:
        return [f"It was interrupted after {done}."]
    return [f"Time was up after {done}."] if gathered.cut else []
