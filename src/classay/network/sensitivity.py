"""How much the figure between classes depends on the step: a sample of walks with a third and three times of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import seeds
from .cosines import cosines

if TYPE_CHECKING:
    from .gather import Course
    from .plan import Plan

FACTORS = (1 / 3, 1.0, 3.0)
CLASSES, ORIGINS = 20, 3
"""Classes of the sample, and origins of each."""


def step_sensitivity(course: Course, plan: Plan) -> dict[str, float]:
    """M_bt by the factor of the step, on seeds of the first start and a few cores of each. Empty where time was up."""
    few = seeds.generator(plan.seed, "sensitivity").permutation(plan.pool)[:CLASSES]
    rounds = min(ORIGINS, len(few) - 1)
    place = np.tile(np.arange(len(few)), rounds)
    origin = (place + np.repeat(np.arange(1, rounds + 1), len(few))) % len(few)
    found = {}
    for factor in FACTORS:
        options = {"step": factor * course.step, "max_steps": int(course.max_steps * max(1.0, 1 / factor))}
        begun = course.walk(course.draw(few, 0), few, keep=True, **options)
        if begun.ends is None or not begun.finished.all():
            return {}
        cores = course.walk(begun.ends, few[place], origin, **options)
        if not cores.finished.all():
            return {}
        features = np.concatenate([begun.features, cores.features])
        measured = cosines(features, np.concatenate([np.arange(len(few)), place]), len(few))
        found[f"{factor:.3g}"] = 1 - measured.cs_bt
    return found
