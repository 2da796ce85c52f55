"""`classay.toml`: what to assay and the gates it must pass, validated in full before any fit."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...expect import InputError, nearest, shown
from ...input_files import expect_file
from ...tables.sources import BUILT_IN
from ..budget import seconds_of
from ..document import Report
from ..metric import check_metric
from .gates import FIGURES, Ban, Gate, ban_from, gate_from, metrics_of
from .pair_gates import PairGate, is_pair_gate, pair_gate_from

SETTINGS: dict[str, tuple[type, ...]] = {
    "splits": (int,),
    "repeats": (int,),
    "size": (int, str),
    "n_probes": (int,),
    "fold_rows": (int, str),
    "test_points": (int,),
    "retrains": (int,),
    "test_size": (float,),
    "time_limit": (int, float),
}
"""Settings with fixed numbers by default, the same on any machine; a budget chooses them by its speed."""
ASSAY = ("data", "target", "budget", "seed", "metric", *SETTINGS)
PREDICTIONS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("file", "truth", "item", "run", "variant", "groups", "wide", "missing"), (str,)),
    **dict.fromkeys(("prediction", "score"), (str, list)),
    "normalise": (bool,),
}
"""Columns of a file of predictions, under the names of the options of `classay report`."""
KEYS = (*ASSAY, "report", "predictions", "gates", "forbid", "learners", "networks")
WORDS = {str: "a string", int: "an integer", float: "a number", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class CheckFile:
    """The content of a check file. Either `data` (what to assay) or `report` (an existing report) is given, not both.

    `learners` are texts by name, empty for the default ones; `settings` are keywords of `characterize`.
    """

    path: Path
    data: str | None
    report: Path | None
    target: str | None = None
    learners: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()
    bans: tuple[Ban, ...] = ()
    pair_gates: tuple[PairGate, ...] = ()
    predictions: dict[str, Any] = field(default_factory=dict)


def read_check_file(path: str | Path) -> CheckFile:
    """Read a check file. Paths in it are relative to its folder; errors suggest the nearest valid name."""
    source = expect_file(Path(path).expanduser(), "a check file")
    try:
        content = tomllib.loads(source.read_text(encoding="utf-8-sig"))  # editors of Windows write a mark
    except OSError as problem:
        raise InputError(f"{str(source)!r} cannot be read ({problem.strerror}); expected a check file.") from None
    except (UnicodeDecodeError, RecursionError):
        raise InputError(f"{str(source)!r} is not valid TOML in UTF-8.") from None
    except ValueError as problem:  # of TOML, or a number of more than 4,300 digits
        raise InputError(f"{str(source)!r} is not valid TOML: {problem}.") from None
    try:
        return _check_file(source, content)
    except InputError as mistake:
        raise InputError(f"{str(source)!r}: {mistake}") from None


def refuse_unknown_subjects(check: CheckFile, report: Report) -> None:
    """Refuse gates for learners and networks that are not in the report."""
    networks = dict.fromkeys(each.of for each in report.figures if each.subject == "network")
    for subject, known in (("learner", (*report.learners, *report.failed)), ("network", (*networks, *report.failed))):
        named = [gate.of for gate in check.gates if gate.of and gate.subject == subject]
        if subject == "learner":
            named += [ban.of for ban in check.bans if ban.of]
        for name in named:
            if name not in known:
                raise InputError(
                    f"{str(check.path)!r} has gates for the {subject} {name!r}, which is not in {str(check.report)!r}."
                    f"{nearest(name, known)} It has {shown(known) or 'none'}."
                )


def _check_file(source: Path, content: dict[str, Any]) -> CheckFile:
    _refuse_unknown(content, KEYS, "")
    if "predictions" in content and ("data" in content or "report" in content):
        raise InputError("`predictions` is a file to assay by itself; drop `data` and `report`.")
    if ("data" in content) == ("report" in content) and "predictions" not in content:
        both = "both are" if "data" in content else "neither is"
        raise InputError(
            f"`data` is what to assay, `report` an existing report to check instead; {both} given, expected one."
        )
    texts, gates, bans = _learner_entries(content)
    for name, table in _typed(content, "networks", dict, {}).items():
        _refuse_unknown(_typed({name: table}, name, dict, None, "networks."), ("gates",), f"networks.{name}.")
        gates += [gate_from(text, name, "network") for text in _typed(table, "gates", list, [], f"networks.{name}.")]
    of_all = _typed(content, "gates", list, [])
    pair_gates = tuple(pair_gate_from(text) for text in of_all if is_pair_gate(text))
    gates = [gate_from(text) for text in of_all if not is_pair_gate(text)] + gates
    bans = [ban_from(text) for text in _typed(content, "forbid", list, [])] + bans
    if not gates and not bans and not pair_gates:
        raise InputError('It has no gates; expected at least one, such as gates = ["stability >= 0.9"].')
    if "predictions" in content:
        return _of_predictions(
            source, content, CheckFile(source, None, None, gates=(*gates,), bans=(*bans,)), pair_gates
        )
    if "report" in content:
        for key in ASSAY:
            if key in content:
                raise InputError(
                    f"`{key}` is for a new assay, but `report` names an existing report. Drop one of them."
                )
        if texts:
            raise InputError(
                f"`learners.{next(iter(texts))}` has a learner to fit, but `report` names an existing report. Give "
                "only its gates."
            )
        return CheckFile(
            source,
            None,
            source.parent / _typed(content, "report", str, ""),
            None,
            {},
            {},
            (*gates,),
            (*bans,),
            pair_gates,
        )
    named = [gate.of for gate in gates if gate.subject == "learner"] + [ban.of for ban in bans]
    strangers = [name for name in named if name and name not in texts]
    if strangers:
        raise InputError(
            f'`learners.{strangers[0]}` has gates but no learner. Add learner = "NAME(argument=value)" to it.'
        )
    settings = {key: _typed(content, key, kinds, None) for key, kinds in SETTINGS.items() if key in content}
    settings["random_state"] = _typed(content, "seed", int, 0)
    if "budget" in content:
        settings["budget"] = seconds_of(_typed(content, "budget", (str, int, float), None))
    named = [_typed(content, "metric", str, None)] if "metric" in content else []
    # Without a metric of its own, the report compares by its usual one; those of gates are added.
    of_two = [gate.figure for gate in pair_gates if gate.figure not in FIGURES["learner"]]
    metrics = dict.fromkeys([*named, *metrics_of(gates), *of_two])
    for metric in metrics:
        check_metric(metric)
    if metrics:
        settings["metric"] = list(metrics) if named else ["accuracy", *metrics]
    if any(gate.subject == "classes" for gate in gates):
        settings["more_classes"] = True
    data = _typed(content, "data", str, "")
    if data not in BUILT_IN and not data.startswith("openml:"):
        data = str(source.parent / Path(data).expanduser())
    return CheckFile(
        source, data, None, _typed(content, "target", str, None), texts, settings, (*gates,), (*bans,), pair_gates
    )


def _of_predictions(
    source: Path, content: dict[str, Any], check: CheckFile, pair_gates: tuple[PairGate, ...]
) -> CheckFile:
    """A check of a file of predictions."""
    named = _typed(content, "predictions", dict, {})
    _refuse_unknown(named, PREDICTIONS, "predictions.")
    for key, value in named.items():
        if not isinstance(value, PREDICTIONS[key]):
            raise InputError(
                f"`predictions.{key}` is {value!r}; expected {WORDS.get(PREDICTIONS[key][0], 'true or false')}."
            )
    for key, what in (("file", "file"), ("truth", "column")):
        if key not in named:
            raise InputError(f"`predictions.{key}` is missing; expected the name of a {what}.")
    return replace(check, predictions={**named, "file": str(source.parent / named["file"])}, pair_gates=pair_gates)


def _learner_entries(content: dict[str, Any]) -> tuple[dict[str, str], list[Gate], list[Ban]]:
    """Learners by name: a text, or a table with the text and its gates."""
    texts: dict[str, str] = {}
    gates: list[Gate] = []
    bans: list[Ban] = []
    for name, entry in _typed(content, "learners", dict, {}).items():
        if isinstance(entry, str):
            texts[name] = entry
            continue
        place = f"learners.{name}."
        table = _typed({name: entry}, name, dict, None, "learners.")
        _refuse_unknown(table, ("learner", "gates", "forbid"), place)
        if "learner" in table:
            texts[name] = _typed(table, "learner", str, "", place)
        gates += [gate_from(text, name) for text in _typed(table, "gates", list, [], place)]
        bans += [ban_from(text, name) for text in _typed(table, "forbid", list, [], place)]
    return texts, gates, bans


def _typed(content: dict[str, Any], key: str, kinds: type | tuple[type, ...], default: Any, place: str = "") -> Any:
    """The value of a key, if its type is allowed."""
    if key not in content:
        return default
    value = content[key]
    allowed = kinds if isinstance(kinds, tuple) else (kinds,)
    # TOML has true and false, which Python treats as 1 and 0.
    if not isinstance(value, allowed) or isinstance(value, bool):
        expected = " or ".join(WORDS[kind] for kind in allowed)
        raise InputError(f"`{place}{key}` is {value!r}; expected {expected}.")
    return value


def _refuse_unknown(content: dict[str, Any], known: Iterable[str], place: str) -> None:
    for key in content:
        if key not in known:
            raise InputError(f"`{place}{key}` is not a valid key.{nearest(key, known)} Valid keys: {shown(known, 20)}.")
