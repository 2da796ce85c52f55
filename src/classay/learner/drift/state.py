"""The state of a drift monitor, and how it is written to a file without pickle.

A concept is stored as the rows it was learned from: with the same learner and seed it is learned again, bit for bit.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from ...engine import archive, store
from ...engine.machine import versions as versions_here
from ...expect import InputError, shown
from ...intervals import Estimate
from ...result import plain
from ..fitting import checks
from ..fitting.probes import KINDS
from ..fitting.provenance import differences, parameters
from .calibration import Calibration, Target
from .verdict import Update

if TYPE_CHECKING:
    from .monitor import DriftMonitor

KIND = "drift"
SETTINGS = ("n_probes", "false_alarm_rate", "control", "min_stability", "tolerance", "draws", "time_limit", "name")
ARRAYS, NUMBERS = ("reference", "last", "quality"), ("blocks", "chance", "cap")
"""What a calibration consists of, besides its size."""


@dataclass(frozen=True, eq=False)
class Concept:
    """What the learner finds in some rows, and its predictions on the probes. Its `number` defines its seed."""

    number: int
    rows: Any
    y: NDArray[Any]
    weights: Floats | None
    answers: NDArray[Any] = field(default_factory=lambda: np.empty(0))


@dataclass
class MonitorState:
    """The concepts of the reference and of the last batch, the calibration by batch size, and all updates.

    `groups` are those of the rows of the reference, `until` is the last time so far, a number or a date.
    """

    reference: Concept
    target: Target
    probes: Any
    probe_kind: str
    groups: Ints | None
    until: float | str | None
    calibrations: dict[int, Calibration] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)
    last: Concept | None = None


def save(monitor: DriftMonitor, state: MonitorState, path: Path) -> Path:
    """Write a monitor's settings and state."""
    forms, arrays = {}, {"classes": state.target.classes, "groups": state.groups}
    tables = {"probes": state.probes}
    for name, concept in (("reference", state.reference), ("last", state.last)):
        if concept is not None:
            tables[name] = concept.rows
            arrays |= {f"{name}.{part}": getattr(concept, part) for part in ("y", "weights", "answers")}
    for name, table in tables.items():
        forms[name], content = packed(table, name)
        arrays |= content
    for size, calibration in state.calibrations.items():
        arrays |= {f"calibration.{size}.{part}": getattr(calibration, part) for part in ARRAYS}
        arrays[f"calibration.{size}.numbers"] = np.array([getattr(calibration, part) for part in NUMBERS])
    header = {
        "learner": parameters(monitor.learner),
        "settings": {name: plain(getattr(monitor, name)) for name in SETTINGS} | {"random_state": monitor.seed},
        "target": [state.target.tolerance, state.target.deviation],
        "probe_kind": state.probe_kind,
        "until": state.until,
        "tables": forms,
        "calibrations": list(state.calibrations),
        # As text, because updates have NaN and infinite numbers, which a header has not.
        "updates": json.dumps([asdict(update) for update in state.updates]),
    }
    return store.write(path, KIND, header, {name: array for name, array in arrays.items() if array is not None})


def packed(table: Any, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Rows as a file stores them: a description, and arrays whose names start with `name`."""
    as_arrays = archive.pack_table(table, name)
    if as_arrays is None:
        raise InputError(
            "The monitor cannot be saved: it has too many rows (more than 64 MB), or a column contains something other "
            "than numbers, booleans, text, times and categories."
        )
    return as_arrays


def load(path: Path, learner: Any) -> tuple[dict[str, Any], MonitorState]:
    """Settings and state from a file that `save` wrote with the same learner."""
    header, arrays = store.read(path, KIND)
    here = parameters(checks.unfitted_learner(learner)[0])
    try:
        if _without_versions(header["learner"]) != _without_versions(here):
            raise InputError(_another_learner(path, header, here))
        tables = {name: archive.unpack_table(form, arrays, name) for name, form in header["tables"].items()}

        def concept(name: str, number: int) -> Concept:
            y, answers = arrays[f"{name}.y"], arrays[f"{name}.answers"]
            return Concept(number, tables[name], y, arrays.get(f"{name}.weights"), answers)

        updates = [_update(saved) for saved in json.loads(header["updates"])]
        state = MonitorState(
            reference=concept("reference", 0),
            target=Target(arrays.get("classes"), *map(float, header["target"])),
            probes=tables["probes"],
            probe_kind=header["probe_kind"],
            groups=arrays.get("groups"),
            until=header["until"],
            calibrations={size: _calibration(size, arrays) for size in header["calibrations"]},
            updates=updates,
            last=concept("last", max(each.number for each in updates if each.measured)) if "last" in tables else None,
        )
        # Probes drawn by name can be drawn again for another reference; a function of the user is not in the file.
        drawn = state.probe_kind if state.probe_kind in KINDS else state.probes
        saved = {"control": "batch"} | header["settings"]  # which files of earlier versions do not have
        settings = {name: saved[name] for name in (*SETTINGS, "random_state")}
        return {**settings, "probes": drawn}, state
    except InputError:
        raise
    except store.CANNOT_BE as error:
        raise InputError(f"{path} is not a complete monitor state ({error}). Fit the monitor again.") from error


def _calibration(size: int, arrays: dict[str, NDArray[Any]]) -> Calibration:
    parts: dict[str, Any] = {part: arrays[f"calibration.{size}.{part}"] for part in ARRAYS}
    numbers = dict(zip(NUMBERS, arrays[f"calibration.{size}.numbers"].tolist(), strict=True))
    return Calibration(size, **parts, **numbers)


def _update(saved: dict[str, Any]) -> Update:
    estimates = {name: Estimate(**saved[name]) for name in ("usual_metric", "stability")}
    return Update(**{"level": saved["false_alarm_rate"], **saved, **estimates, "notes": tuple(saved["notes"])})


def _another_learner(path: Path, header: dict[str, Any], here: dict[str, Any]) -> str:
    """Why a learner is not that of a file: its class, its parameters, or the versions of packages that set these."""
    saved, now = header["learner"], versions_here()
    pairs = [(name, then, now.get(name)) for name, then in header["versions"].items()]
    pairs.append((f"version of {here['class']}", saved.get("version"), here.get("version")))
    changed = [f"{name} {then} (now {other})" for name, then, other in pairs if other not in (None, then)]
    text = f"{path} was saved with {header['settings']['name']}{', under ' * bool(changed)}{', '.join(changed)}; "
    advice = ", or install that version: another one can have other defaults" if changed else ""
    differing = shown(differences(saved, here), 4)
    return f"{text}this learner is another one, or has other parameters: {differing}. Pass the same learner{advice}."


def _without_versions(described: Any) -> Any:
    """The description of a learner without package versions: rows and parameters determine the concept."""
    if isinstance(described, dict):
        return {key: _without_versions(part) for key, part in described.items() if key != "version"}
    return [_without_versions(part) for part in described] if isinstance(described, list) else described
