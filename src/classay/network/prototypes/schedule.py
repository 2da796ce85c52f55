"""Which walks to make: all classes from all others if that is feasible, else a random sample that is.

The sample depends on the number of walks alone, never on the clock. Also the step of walks, found by a short search,
and how much the figure between classes depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ... import expect, seeds
from ...arrays import Ints
from ...expect import InputError, counted
from ...notes import Note
from ..cosines import cosines

if TYPE_CHECKING:
    from .walks import Walker

SEED = -1
"""The origin of a seed prototype, which began at a random input."""
IN_FULL = 100
"""Up to this many classes every class is reached from every other."""
ORIGINS = 10
LADDER = (("origins", 3), ("starts", 2), ("classes", 10), ("starts", 1), ("classes", 2), ("origins", 1))
"""What is reduced if walks are limited, in this order, each down to this many before the next."""
MEMORY = 1 << 28
"""Bytes of inputs in memory at once."""
TRIED = (0.1, 0.02, 0.5)
"""Steps first tried, over √dimension: inputs of spread 1 lie about √dimension from the origin."""
STEPS = 12
"""The straight distance from start to end, in steps."""
PATIENCE = 60
SEARCHED = 20
"""Classes of the walks that find the step, at most."""
FACTORS = (1 / 3, 1.0, 3.0)
COMPARED_CLASSES, COMPARED_ORIGINS = 20, 3
"""Classes of the walks with other steps, and origins of each."""
LEAST_WALKS = 4
"""The smallest plan: two classes, with a seed and a core of each."""


@dataclass(frozen=True, eq=False)
class Plan:
    """The classes to reach, sorted; those whose seeds are kept as beginnings; from how many each is reached; how often.

    `rows` is how many inputs may be in memory at once. Cores come in rounds: in each, every class of every start is
    reached once more, so that on Ctrl-C all classes have equally many prototypes.
    """

    classes: Ints
    pool: Ints
    origins: int
    starts: int
    rows: int
    seed: int
    notes: tuple[Note, ...]

    @property
    def walks(self) -> int:
        """Walks in all."""
        return self.starts * len(self.classes) * (1 + self.origins)

    def restricted_to(self, classes: Sequence[int]) -> Plan:
        """The same plan for some of its classes."""
        own, pool = (every[np.isin(every, classes)] for every in (self.classes, self.pool))
        return replace(self, classes=own, pool=pool, origins=min(self.origins, max(len(pool) - 1, 0)))

    def groups(self) -> Iterator[range]:
        """Starts that are walked together: as many as memory allows."""
        together = max(self.rows // len(self.classes), 1)
        for first in range(0, self.starts, together):
            yield range(first, min(first + together, self.starts))

    def cores(self, group: range) -> tuple[Ints, Ints, Ints]:
        """Start, origin and target of each core walk of some starts, round by round."""
        start, target = (grid.ravel() for grid in np.meshgrid(np.array(group), self.classes, indexing="ij"))
        rounds = np.stack([self._origins(int(one), int(to)) for one, to in zip(start, target)], axis=1)
        return np.tile(start, self.origins), rounds.ravel(), np.tile(target, self.origins)

    def _origins(self, start: int, target: int) -> Ints:
        others: Ints = self.pool[self.pool != target]
        if self.origins == len(others):
            return others
        order: Ints = seeds.generator(self.seed, "origins", start, target).permutation(others)
        return order[: self.origins]


def plan(
    k: int, input_bytes: int, starts: int, classes: int | None, origins: int | None, seed: int, limit: int | None = None
) -> Plan:
    """The plan for a head of `k` classes, of at most `limit` walks (None: all)."""
    wanted = expect_sample(k, classes, origins)
    each = (wanted - 1 if wanted <= IN_FULL else ORIGINS) if origins is None else origins
    whole = sizes = {"starts": starts, "classes": wanted, "origins": each}
    fixed = [name for name, size in (("classes", classes), ("origins", origins)) if size is not None]
    if limit is not None:
        sizes = _limited(sizes, limit, fixed)
    planned = _walks(sizes)
    wanted, each = sizes["classes"], sizes["origins"]
    notes = []
    if planned < _walks(whole):
        notes.append(Note("walks-limited", count=planned, walks=_walks(whole), limit=limit))
    order = seeds.generator(seed, "classes").permutation(k)[:wanted]
    rows = max(MEMORY // max(input_bytes, 1), 2 * (each + 1))
    pool = np.sort(order[:rows]) if rows < wanted else np.sort(order)
    if wanted < k:
        notes.append(Note("classes-sampled", count=wanted, classes=k))
    if each < wanted - 1:
        notes.append(Note("origins-sampled", counted(each, "other"), count=each, others=wanted - 1))
    if sizes["starts"] < starts:
        notes.append(Note("starts-reduced", count=sizes["starts"], starts=starts))
    return Plan(np.sort(order), pool, each, sizes["starts"], rows, seed, tuple(notes))


def _walks(sizes: dict[str, int]) -> int:
    return sizes["starts"] * sizes["classes"] * (1 + sizes["origins"])


def expect_sample(k: int, classes: int | None, origins: int | None) -> int:
    """The number of classes to reach, if the given values are possible."""
    wanted = k if classes is None else expect.whole(classes, "classes", at_least=2)
    if wanted > k:
        raise InputError(f"`classes` is {classes}, but the network has {k}. Use fewer, or leave it out.")
    if origins is not None:
        expect.whole(origins, "origins", at_least=1, why="Each class is reached from this many others.")
        if origins >= wanted:
            raise InputError(f"`origins` is {origins}; expected at most {wanted - 1}, the number of other classes.")
    return wanted


def _limited(sizes: dict[str, int], limit: int, fixed: Sequence[str]) -> dict[str, int]:
    """Fewer starts, classes and origins, until there are so many walks or the minimum is reached."""
    wanted, sizes = sizes, dict(sizes)

    def fits(name: str) -> int:
        """How much of one there may be, with the others unchanged."""
        others = [sizes[other] + (other == "origins") for other in sizes if other != name]
        return int(limit / math.prod(others)) - (name == "origins")

    for name, least in LADDER:
        if name not in fixed:
            sizes[name] = min(sizes[name], max(fits(name), least))
            sizes["origins"] = min(sizes["origins"], sizes["classes"] - 1)
    for name in ("classes", "origins"):  # use what the last step left over
        sizes[name] = min(wanted[name], max(fits(name), sizes[name]))
    sizes["origins"] = min(sizes["origins"], sizes["classes"] - 1)
    return sizes


# The length of a step.


def find_step(walker: Walker, classes: int) -> float:
    """A twelfth of the median straight distance of a few walks. If hardly any arrives, the first step tried.

    A step that is too long overshoots and jumps between classes; one that is too short costs time for the same figures.
    A distance measured in a few long steps is too long, so it is measured once more with the resulting step.
    """
    targets = seeds.generator(walker.seed, "classes").permutation(classes)[:SEARCHED]
    starts = walker.draw_starts(targets, 0)
    root = math.sqrt(starts[0].numel())

    def median_way(step: float) -> tuple[float, float]:
        walks = replace(walker, step=step, max_steps=PATIENCE).walk(starts, targets)
        if walks.interrupted:
            raise KeyboardInterrupt  # there is nothing yet that could be kept
        arrived = walks.converged & (walks.steps > 0)
        if arrived.sum() < 0.5 * len(arrived):
            return math.nan, 0.0
        return float(np.median(walks.distance[arrived])), float(np.median(walks.steps[arrived]))

    for tried in TRIED:
        far, steps = median_way(tried * root)
        if steps:
            if steps < STEPS / 2:
                again, steps = median_way(far / STEPS)
                far = again if steps else far
            return _round(far / STEPS)
    return _round(TRIED[0] * root)


def _round(step: float) -> float:
    """Rounded to two digits, so that it can be passed again."""
    return float(f"{step:.2g}")


def step_sensitivity(walker: Walker, plan: Plan) -> dict[str, float]:
    """M_bt by the factor of the step, on seeds of the first start and a few cores of each. Empty on Ctrl-C."""
    classes = seeds.generator(plan.seed, "sensitivity").permutation(plan.pool)[:COMPARED_CLASSES]
    rounds = min(COMPARED_ORIGINS, len(classes) - 1)
    place = np.tile(np.arange(len(classes)), rounds)
    origin = (place + np.repeat(np.arange(1, rounds + 1), len(classes))) % len(classes)
    by_factor = {}
    for factor in FACTORS:
        other = replace(walker, step=factor * walker.step, max_steps=int(walker.max_steps * max(1.0, 1 / factor)))
        seed_walks = other.walk(other.draw_starts(classes, 0), classes, keep=True)
        if seed_walks.ends is None or not seed_walks.finished.all():
            return {}
        cores = other.walk(seed_walks.ends, classes[place], origin)
        if not cores.finished.all():
            return {}
        features = np.concatenate([seed_walks.features, cores.features])
        measured = cosines(features, np.concatenate([np.arange(len(classes)), place]), len(classes))
        by_factor[f"{factor:.3g}"] = 1 - measured.cs_bt
    return by_factor
