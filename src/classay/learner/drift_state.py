"""What a drift monitor remembers, and how it is written to a file without pickle.

A concept is kept as the rows it was learnt from: with the same learner and seed it is learnt again, bit for bit.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..engine import frames, store
from ..expect import InputError
from ..intervals import Estimate
from ..result import plain
from . import examine
from .calibration import Calibration
from .describe import parameters
from .probes import KINDS
from .updates import Update

if TYPE_CHECKING:
    from .drift import DriftMonitor

KIND = "drift"
SETTINGS = ("n_probes", "false_alarm_rate", "min_stability", "draws", "time_limit", "name")
PARTS = ("reference", "last", "accuracy")


@dataclass
class Last:
    """The last batch, and what its concept answers on the probes."""

    rows: Any
    labels: NDArray[Any]
    answers: NDArray[np.integer]


@dataclass
class State:
    """The reference, the probes, what chance does by batch size, all updates, and the last batch."""

    rows: Any
    labels: NDArray[Any]
    classes: NDArray[Any]
    probes: Any
    probe_kind: str
    reference_answers: NDArray[np.integer] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    calibrations: dict[int, Calibration] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)
    last: Last | None = None


def save(monitor: DriftMonitor, state: State, path: Path) -> Path:
    """Write a monitor's settings and state."""
    tables = {"rows": state.rows, "probes": state.probes}
    arrays: dict[str, NDArray[Any]] = {
        "labels": state.labels,
        "classes": state.classes,
        "reference_answers": state.reference_answers,
    }
    if state.last is not None:
        tables["last_rows"] = state.last.rows
        arrays |= {"last_labels": state.last.labels, "last_answers": state.last.answers}
    forms = {}
    for name, table in tables.items():
        forms[name], content = packed(table, name)
        arrays |= content
    for size, each in state.calibrations.items():
        arrays |= {f"calibration.{size}.{part}": getattr(each, part) for part in PARTS}
    header = {
        "learner": parameters(monitor.learner),
        "settings": {name: plain(getattr(monitor, name)) for name in SETTINGS} | {"random_state": monitor.seed},
        "probe_kind": state.probe_kind,
        "tables": forms,
        "calibrations": [[each.size, each.blocks, each.chance] for each in state.calibrations.values()],
        "updates": [update.to_dict() for update in state.updates],
    }
    return store.write(path, KIND, header, arrays)


def packed(table: Any, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Rows as a file holds them: what they are, and arrays whose names start with `name`."""
    found = frames.pack(table, name)
    if found is None:
        raise InputError(
            "The monitor cannot be saved: its rows are too many (more than 64 MB), or a column holds other things "
            "than numbers, truth values, texts, times and categories."
        )
    return found


def load(path: Path, learner: Any) -> tuple[dict[str, Any], State]:
    """Settings and state from a file that `save` wrote, if it was with the same learner."""
    header, arrays = store.read(path, KIND)
    fresh, _ = examine.learner(learner)
    try:
        if _without_versions(header["learner"]) != _without_versions(parameters(fresh)):
            raise InputError(
                f"{path} was saved with {header['settings']['name']}; the learner given now is another, or has other "
                "parameters. The same is expected."
            )
        tables = {name: frames.unpack(form, arrays, name) for name, form in header["tables"].items()}
        state = State(
            rows=tables["rows"],
            labels=arrays["labels"],
            classes=arrays["classes"],
            probes=tables["probes"],
            probe_kind=header["probe_kind"],
            reference_answers=arrays["reference_answers"],
            calibrations={
                size: Calibration(
                    size=size,
                    blocks=blocks,
                    chance=chance,
                    **{part: arrays[f"calibration.{size}.{part}"] for part in PARTS},
                )
                for size, blocks, chance in header["calibrations"]
            },
            updates=[_update(each) for each in header["updates"]],
        )
        if "last_rows" in tables:
            state.last = Last(tables["last_rows"], arrays["last_labels"], arrays["last_answers"])
        # Drawn by name they can be drawn again for another reference; a function of the user's is not in the file.
        drawn = state.probe_kind if state.probe_kind in KINDS else tables["probes"]
        return {**header["settings"], "probes": drawn}, state
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is no whole state of a monitor ({error}). Fit the monitor again.") from error


def _update(saved: dict[str, Any]) -> Update:
    """An update from its JSON, where NaN was None."""
    made: dict[str, Any] = {}
    for each in dataclasses.fields(Update):
        value = saved[each.name]
        if isinstance(value, dict):
            value = Estimate(**value)
        elif each.name == "notes":
            value = tuple(value)
        elif value is None:
            value = math.nan
        made[each.name] = value
    return Update(**made)


def _without_versions(described: Any) -> Any:
    """The description of a learner without the versions of packages: rows and parameters make the concept."""
    if isinstance(described, dict):
        return {key: _without_versions(part) for key, part in described.items() if key != "version"}
    return [_without_versions(part) for part in described] if isinstance(described, list) else described
