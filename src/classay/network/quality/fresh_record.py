"""The same architecture freshly initialised, with a sample of walks: which figures come from training?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...expect import InputError
from ..prototypes.probes import fresh_network
from ..prototypes.record import Prototypes
from ..split.split import Split, split

STARTS, ORIGINS, STEPS = 2, 3, 60
NAME = "freshly initialised"

Make = Callable[..., Prototypes]


def record_with_fresh(
    own: Split, options: dict[str, Any], make: Make, compare: bool = True
) -> tuple[Prototypes, Prototypes | None, list[str]]:
    """The record of a network, that of a fresh one if wanted, and notes on the latter.

    `make` makes prototypes with `options`.
    """
    record = make(own, **options)
    if not compare or record.interrupted:
        return record, None, []
    try:
        fresh, notes = _fresh_record(own, record, options, make)
        return replace(record, interrupted=fresh.interrupted), fresh, notes
    except KeyboardInterrupt:
        return replace(record, interrupted=True), None, []
    except InputError as error:
        return record, None, [f"There is no comparison with a fresh network. {error}"]  # the record is kept


def _fresh_record(own: Split, record: Prototypes, options: dict[str, Any], make: Make) -> tuple[Prototypes, list[str]]:
    """The step is searched again, since the gradients of an untrained network are different.

    Walks are short, since in many untrained networks no input reaches the loss.
    """
    copied, not_reset = fresh_network(own.network, record.settings["seed"])
    again = split(copied, own.input_shape, own.name, own.call)
    reduced = {
        "starts": min(STARTS, options.get("starts", STARTS)),
        "origins": min(ORIGINS, record.settings["origins"]),
        "step": None,
        "max_steps": min(STEPS, record.settings["max_steps"]),
        "sensitivity": False,
        "keep_inputs": False,
        "name": NAME,
    }
    notes = (
        [f"{', '.join(not_reset[:3])} cannot be reset: the fresh network keeps trained values there."]
        if not_reset
        else []
    )
    return make(again, **{**options, **reduced}), notes
