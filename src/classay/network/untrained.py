"""The same architecture freshly initialised, walked by a sample: what of a network's figures is training's work?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..expect import InputError
from .fresh import reset
from .record import Prototypes
from .split import Split, split

STARTS, ORIGINS, STEPS = 2, 3, 60
SHARE = 0.2
"""Share of a budget that is kept for the fresh network."""
NAME = "freshly initialised"

Make = Callable[..., Prototypes]


def both_records(
    own: Split, options: dict[str, Any], make: Make, compare: bool = True
) -> tuple[Prototypes, Prototypes | None, list[str]]:
    """The record of a network, that of a fresh one if wanted, and what is to be said of the latter.

    `make` makes prototypes with `options`. A budget is for both: the fresh network has a fifth of it, and no more.
    """
    budget = options.get("budget")
    if not compare or not isinstance(budget, (int, float)):
        record = make(own, **options)
    else:
        record = make(own, **{**options, "budget": (1 - SHARE) * budget})
        options = {**options, "budget": SHARE * budget}
    if not compare or record.interrupted:
        return record, None, []
    try:
        fresh, remarks = _fresh(own, record, options, make)
        return replace(record, interrupted=fresh.interrupted), fresh, remarks
    except KeyboardInterrupt:
        return replace(record, interrupted=True), None, []
    except InputError as error:
        return record, None, [f"There is no comparison with a fresh network. {error}"]  # what was found stays


def _fresh(own: Split, record: Prototypes, options: dict[str, Any], make: Make) -> tuple[Prototypes, list[str]]:
    """The step is found anew, as the slopes of an untrained network are others.

    Walks are short, as in many untrained networks no input reaches the loss.
    """
    copied, kept = reset(own.network, record.settings["seed"])
    again = split(copied, own.input_shape, own.name, own.call)
    few = {
        "starts": min(STARTS, options.get("starts", STARTS)),
        "origins": min(ORIGINS, record.settings["origins"]),
        "step": None,
        "max_steps": min(STEPS, record.settings["max_steps"]),
        "sensitivity": False,
        "keep_inputs": False,
        "name": NAME,
    }
    remarks = [f"{', '.join(kept[:3])} cannot be reset: the fresh network holds trained values there."] if kept else []
    return make(again, **{**options, **few}), remarks
