"""The state of a drift monitor, and how it is written to a file without pickle.

A concept is stored as the rows it was learned from: with the same learner and seed it is learned again, bit for bit.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
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
from .batches import TimeSpan
from .calibration import Calibration, LabelTarget, NumberTarget, Target
from .verdict import RegressionUpdate, Update

if TYPE_CHECKING:
    from .monitor import DriftMonitor

KIND = "drift"
SETTINGS = ("n_probes", "false_alarm_rate", "min_stability", "tolerance", "draws", "time_limit", "name")
PARTS = ("reference", "last", "quality")
"""The arrays of a calibration."""


@dataclass
class LastBatch:
    """The last batch, and what its concept predicts on the probes."""

    rows: Any
    labels: NDArray[Any]
    answers: NDArray[Any]
    weights: Floats | None = None


@dataclass
class MonitorState:
    """The reference, the probes, the calibration by batch size, all updates, and the last batch.

    `labels` are those of the reference, or the numbers that a regressor learns; `updates` are all of one class.
    `groups` and `weights` are those of the rows of the reference, `span` the time that is covered so far.
    """

    rows: Any
    labels: NDArray[Any]
    target: Target
    probes: Any
    probe_kind: str
    reference_answers: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    calibrations: dict[int, Calibration] = field(default_factory=dict)
    updates: list[Any] = field(default_factory=list)
    last: LastBatch | None = None
    groups: Ints | None = None
    weights: Floats | None = None
    span: TimeSpan | None = None


def save(monitor: DriftMonitor, state: MonitorState, path: Path) -> Path:
    """Write a monitor's settings and state."""
    tables = {"rows": state.rows, "probes": state.probes}
    arrays: dict[str, NDArray[Any]] = {
        "labels": state.labels,
        "reference_answers": state.reference_answers,
    }
    if isinstance(state.target, LabelTarget):
        arrays["classes"] = state.target.classes
    if state.last is not None:
        tables["last_rows"] = state.last.rows
        arrays |= {"last_labels": state.last.labels, "last_answers": state.last.answers}
        if state.last.weights is not None:
            arrays["last_weights"] = state.last.weights
    arrays |= {
        name: values for name, values in (("groups", state.groups), ("weights", state.weights)) if values is not None
    }
    forms = {}
    for name, table in tables.items():
        forms[name], content = packed(table, name)
        arrays |= content
    for size, each in state.calibrations.items():
        arrays |= {f"calibration.{size}.{part}": getattr(each, part) for part in PARTS}
    settings = {name: plain(getattr(monitor, name)) for name in SETTINGS}
    header = {
        "learner": parameters(monitor.learner),
        "settings": settings | {"random_state": monitor.seed},
        "probe_kind": state.probe_kind,
        "tables": forms,
        "calibrations": [[each.size, each.chance, plain(each.cap)] for each in state.calibrations.values()],
        "updates": [update.to_dict() for update in state.updates],
        **({} if state.span is None else {"span": dataclasses.asdict(state.span)}),
        **(dataclasses.asdict(state.target) if isinstance(state.target, NumberTarget) else {}),
    }
    return store.write(path, KIND, header, arrays)


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
    fresh, _ = checks.unfitted_learner(learner)
    try:
        if _without_versions(header["learner"]) != _without_versions(parameters(fresh)):
            raise InputError(_another_learner(path, header, parameters(fresh)))
        tables = {name: archive.unpack_table(form, arrays, name) for name, form in header["tables"].items()}
        target: Target
        if "classes" in arrays:
            target = LabelTarget(arrays["classes"])
        else:
            target = NumberTarget(float(header["tolerance"]), float(header["deviation"]))
        kind = Update if isinstance(target, LabelTarget) else RegressionUpdate
        state = MonitorState(
            rows=tables["rows"],
            labels=arrays["labels"],
            target=target,
            probes=tables["probes"],
            probe_kind=header["probe_kind"],
            reference_answers=arrays["reference_answers"],
            calibrations={
                size: Calibration(
                    size=size,
                    blocks=target.worth(len(arrays["labels"]) / max(size, 1)),
                    chance=chance,
                    cap=math.inf if cap is None else cap,
                    reference=arrays[f"calibration.{size}.reference"],
                    last=arrays[f"calibration.{size}.last"],
                    quality=arrays[f"calibration.{size}.quality"],
                )
                for size, chance, cap in header["calibrations"]
            },
            updates=[_update(kind, each) for each in header["updates"]],
            groups=arrays.get("groups"),
            weights=arrays.get("weights"),
            span=TimeSpan(**header["span"]) if "span" in header else None,
        )
        if "last_rows" in tables:
            state.last = LastBatch(
                tables["last_rows"], arrays["last_labels"], arrays["last_answers"], arrays.get("last_weights")
            )
        # Probes drawn by name can be drawn again for another reference; a function of the user is not in the file.
        drawn = state.probe_kind if state.probe_kind in KINDS else tables["probes"]
        settings = {name: header["settings"][name] for name in (*SETTINGS, "random_state")}
        return {**settings, "probes": drawn}, state
    except store.CANNOT_BE as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is not a complete monitor state ({error}). Fit the monitor again.") from error


def _update(kind: type[Update] | type[RegressionUpdate], saved: dict[str, Any]) -> Update | RegressionUpdate:
    """An update from its JSON, where NaN was None, and so was an infinite error."""
    made: dict[str, Any] = {}
    for each in dataclasses.fields(kind):
        value = saved[each.name]
        if isinstance(value, dict):
            value = Estimate(**value)
        elif each.name == "notes":
            value = tuple(value)
        elif value is None:
            value = math.inf if each.name in ("high_above_error", "cap") else math.nan
        made[each.name] = value
    return kind(**made)


def _another_learner(path: Path, header: dict[str, Any], now: dict[str, Any]) -> str:
    """Why a learner is not that of a file: its class, its parameters, or the versions of packages that set these."""
    saved, name = header["learner"], header["settings"]["name"]
    differing = shown(differences(saved, now), 4)
    here = versions_here()
    versions = {key: (value, here.get(key)) for key, value in header["versions"].items()}
    changed = [f"{key} {then} (now {here})" for key, (then, here) in versions.items() if here not in (None, then)]
    own = (saved.get("version"), now.get("version"))
    if saved.get("class") == now.get("class") and own[0] != own[1] and not changed:
        changed = [f"version {own[0]} of {str(now['class']).split('.')[0]} (now {own[1]})"]
    if saved.get("class") == now.get("class") and changed:
        return (
            f"{path} was saved with {name} under {', '.join(changed)}, and parameters differ: {differing}. Another "
            "version can have other defaults: install that version, set these parameters as they were, or fit the "
            "monitor again."
        )
    return (
        f"{path} was saved with {name}; this learner is another one, or has other parameters: {differing}. Pass the "
        "same learner."
    )


def _without_versions(described: Any) -> Any:
    """The description of a learner without package versions: rows and parameters determine the concept."""
    if isinstance(described, dict):
        return {key: _without_versions(part) for key, part in described.items() if key != "version"}
    return [_without_versions(part) for part in described] if isinstance(described, list) else described
