"""`classay.toml`: what to measure and the gates it must pass, validated in full before any fit; and a first one."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...expect import InputError, nearest, shown
from ...files import expect_file
from ...intervals import Estimate
from ...learner.scores.comparison import check_metric
from ...learner.scores.scorers import scorer_names
from ...tables.sources import BUILT_IN
from ..document import Report
from ..document.glossary import TERMS
from ..document.phrases import printed
from ..export.json_format import KINDS
from ..run.settings import seconds_of
from .gate import FIGURES, AnyGate, ban_from, gate_from

SETTINGS: dict[str, tuple[type, ...]] = {
    "splits": (int,),
    "repeats": (int,),
    "rows": (int, str),
    "n_probes": (int,),
    "retrains": (int,),
    "test_size": (float,),
    "time_limit": (int, float),
}
"""Numbers of fits and rows, the same on any machine; a budget may end before all of them are done."""
COLUMNS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("groups", "time", "weight", "text", "test"), (str,)),
    "drop": (list,),
}
"""What else rows have, and a file of test rows: under the names of the options of `classay report`."""
MEASURING = ("data", "target", "budget", "seed", "metric", *COLUMNS, *SETTINGS)
"""Keys of a new report."""
PREDICTIONS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("file", "truth", "item", "run", "variant", "groups", "wide", "missing"), (str,)),
    **dict.fromkeys(("prediction", "score"), (str, list)),
    "normalise": (bool,),
}
"""Columns of a file of predictions, under the names of the options of `classay report`."""
KEYS = (*MEASURING, "report", "predictions", "gates", "forbid", "learners", "networks")


@dataclass(frozen=True, kw_only=True)
class CheckFile:
    """The content of a check file: `data` to measure, an existing `report`, or a file of `predictions`, and the gates.

    `learners` are texts by name, empty for the default ones; `settings` are keywords of `characterize`.
    """

    path: Path
    gates: tuple[AnyGate, ...]
    data: str | None = None
    report: Path | None = None
    target: str | None = None
    columns: dict[str, Any] = field(default_factory=dict)
    learners: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
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
    known = {"learner": (*report.learners, *report.failed), "network": (*report.networks, *report.failed)}
    for gate in check.gates:
        names = known.get(gate.subject, ())
        if gate.of and gate.of not in names:
            raise InputError(
                f"{str(check.path)!r} has gates for the {gate.subject} {gate.of!r}, which is not in "
                f"{str(check.report)!r}.{nearest(gate.of, names)} It has {shown(names) or 'none'}."
            )


def _check_file(source: Path, content: dict[str, Any]) -> CheckFile:
    _refuse_unknown(content, KEYS, "")
    if "predictions" in content and ("data" in content or "report" in content):
        raise InputError("`predictions` is a file to measure by itself; drop `data` and `report`.")
    if ("data" in content) == ("report" in content) and "predictions" not in content:
        both = "both are" if "data" in content else "neither is"
        raise InputError(
            f"`data` is what to measure, `report` an existing report to check instead; {both} given, expected one."
        )
    texts, of_learners = _subjects(content, "learner", ("learner", "gates", "forbid"))
    gates = [gate_from(text) for text in _typed(content, "gates", (list,), [])] + of_learners
    gates += _subjects(content, "network", ("gates",))[1]
    gates += [ban_from(text) for text in _typed(content, "forbid", (list,), [])]
    if not gates:
        raise InputError('It has no gates; expected at least one, such as gates = ["stability >= 0.9"].')
    if "predictions" in content:
        return CheckFile(path=source, gates=tuple(gates), predictions=_predictions(source, content))
    if "report" in content:
        return CheckFile(path=source, gates=tuple(gates), report=_report(source, content, texts))
    strangers = [gate.of for gate in gates if gate.subject == "learner" and gate.of and gate.of not in texts]
    if strangers:
        raise InputError(
            f'`learners.{strangers[0]}` has gates but no learner. Add learner = "NAME(argument=value)" to it.'
        )
    columns = {key: _typed(content, key, kinds, None) for key, kinds in COLUMNS.items() if key in content}
    data = _typed(content, "data", (str,), "")
    data, test = (name if is_named(name) else str(source.parent / Path(name).expanduser())
                  for name in (data, columns.get("test", "iris")))  # fmt: skip
    if "test" in columns:
        columns["test"] = test
    return CheckFile(
        path=source,
        gates=tuple(gates),
        data=data,
        target=_typed(content, "target", (str,), None),
        columns=columns,
        learners=texts,
        settings=_settings(content, gates),
    )


def is_named(data: str) -> bool:
    """Whether data are named, not those of a file."""
    return data in BUILT_IN or data.startswith("openml:")


def _settings(content: dict[str, Any], gates: list[AnyGate]) -> dict[str, Any]:
    settings = {key: _typed(content, key, kinds, None) for key, kinds in SETTINGS.items() if key in content}
    settings["random_state"] = _typed(content, "seed", (int,), 0)
    if "budget" in content:
        settings["budget"] = seconds_of(_typed(content, "budget", (str, int, float), None))
    named = [_typed(content, "metric", (str,), None)] if "metric" in content else []
    # Without a metric of its own, the report compares by its usual one; those of gates are added.
    figures = [gate.figure for gate in gates if gate.subject == "learner" and gate.figure]
    metrics = dict.fromkeys([*named, *(figure for figure in figures if figure not in FIGURES["learner"])])
    for metric in metrics:
        check_metric(metric)
    if metrics:
        settings["metric"] = list(metrics) if named else ["accuracy", *metrics]
    if any(gate.subject == "classes" for gate in gates):
        settings["more_classes"] = True
    return settings


def _report(source: Path, content: dict[str, Any], texts: dict[str, str]) -> Path:
    """An existing report, of which nothing can be measured anew."""
    for key in MEASURING:
        if key in content:
            raise InputError(f"`{key}` is for a new report, but `report` names an existing one. Drop one of them.")
    if texts:
        raise InputError(
            f"`learners.{next(iter(texts))}` has a learner to fit, but `report` names an existing report. Give only "
            "its gates."
        )
    return source.parent / str(_typed(content, "report", (str,), ""))


def _predictions(source: Path, content: dict[str, Any]) -> dict[str, Any]:
    named = _typed(content, "predictions", (dict,), {})
    _refuse_unknown(named, PREDICTIONS, "predictions.")
    columns = {key: _typed(named, key, PREDICTIONS[key], None, "predictions.") for key in named}
    for key, what in (("file", "file"), ("truth", "column")):
        if key not in named:
            raise InputError(f"`predictions.{key}` is missing; expected the name of a {what}.")
    return {**columns, "file": str(source.parent / named["file"])}


def _subjects(content: dict[str, Any], subject: str, keys: tuple[str, ...]) -> tuple[dict[str, str], list[AnyGate]]:
    """Learners or networks by name: the text of a learner, or a table with its text and gates."""
    texts: dict[str, str] = {}
    gates: list[AnyGate] = []
    for name, entry in _typed(content, f"{subject}s", (dict,), {}).items():
        if isinstance(entry, str) and "learner" in keys:
            texts[name] = entry
            continue
        place = f"{subject}s.{name}."
        table = _typed({name: entry}, name, (dict,), None, f"{subject}s.")
        _refuse_unknown(table, keys, place)
        if "learner" in table:
            texts[name] = _typed(table, "learner", (str,), "", place)
        gates += [gate_from(text, name, subject) for text in _typed(table, "gates", (list,), [], place)]
        gates += [ban_from(text, name) for text in _typed(table, "forbid", (list,), [], place)]
    return texts, gates


def _typed(content: dict[str, Any], key: str, kinds: tuple[type, ...], default: Any, place: str = "") -> Any:
    """The value of a key, if its type is allowed."""
    if key not in content:
        return default
    value = content[key]
    # TOML has true and false, which Python treats as 1 and 0.
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        expected = " or ".join(KINDS.get(kind, "a table") for kind in kinds)
        raise InputError(f"`{place}{key}` is {value!r}; expected {expected}.")
    return value


def _refuse_unknown(content: dict[str, Any], known: Iterable[str], place: str) -> None:
    for key in content:
        if key not in known:
            raise InputError(f"`{place}{key}` is not a valid key.{nearest(key, known)} Valid keys: {shown(known, 20)}.")


# A first check file, made from a report: gates that it passes, with what was measured beside them.


LOWER = ("stability", "self_agreement")
"""Figures, besides the metric of the report, whose lower end must not fall."""
UPPER = ("seed_change", "changed_items", "slices")
"""Figures whose upper end must not rise."""
SLACK = 0.02
"""How far below the lower end of the first report a bound is set: another run moves the end itself."""


def first_gates(report: Report, path: str, measured: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """The text of a check file (TOML) for a report that is saved at `path`.

    measured : what the report measured, by the keys of a check file, so that it is measured anew; empty if not known
    texts : its learners by name, as texts
    """
    columns = report.settings.get("columns")
    names = [each.name for each in report.figures if each.subject == "learner"]
    metric = names[0] if names and names[0] in scorer_names() else "accuracy"
    if columns:
        source = ["# The predictions to check are at the end of this file, under [predictions]."]
    elif measured:
        source = ["# Every run measures this anew."]
        about = {**measured, "metric": metric} if metric != "accuracy" else measured
        source += [f"{key} = {_toml(value)}" for key, value in about.items()]
    else:
        source = [
            "# This checks a saved report, so it says the same until that file changes. To measure anew, replace the",
            '# line by `data` and `target`, and give each learner its text: learner = "SVC(C=2)".',
            f"report = {_toml(path)}",
        ]
    lines = [
        "# Gates for `classay check`, from a first report. Every gate passes on that report; change the bounds to what",
        "# you need. A gate compares the end of the interval that makes passing harder, unless it names .value.",
        *("", *source, "", *_shared_gates(report, metric), "", *_forbidden(report)),
    ]
    for name in report.learners:
        lines += ["", *_gates_of_learner(report, name, metric, texts.get(name, "") if measured else "")]
    if columns:
        lines += ["", "[predictions]", *(f"{key} = {_toml(value)}" for key, value in columns.items())]
    return "\n".join(lines) + "\n"


def _shared_gates(report: Report, metric: str) -> list[str]:
    gates = [
        f'    # "candidate.{metric} >= champion.{metric} - 0.01",    # two learners; fails only if a drop is shown'
    ]
    figures = {each.name: each.estimate for each in report.figures if each.subject == "data"}
    if "suspects" in figures:
        gates.append(f'    "data.suspects <= {math.ceil(figures["suspects"].value * 1.2) + 1}",')
    if "classes" in figures:
        gates.append(f'    "data.classes == {figures["classes"].value:.0f}",')
    return ["gates = [", *gates, "]"]


def _forbidden(report: Report) -> list[str]:
    warned = {each.code for each in report.warnings}
    fine = sorted({each.code for each in report.findings if each.level == "fine"} - warned)
    text = ", ".join(_toml(code) for code in fine)
    return ["# Findings that the first report does not have, and that must not appear:", f"forbid = [{text}]"]


def _gates_of_learner(report: Report, name: str, metric: str, text: str) -> list[str]:
    gates = []
    for each in report.figures:
        bound = _bound(each.name, each.estimate, metric) if (each.subject, each.of) == ("learner", name) else ""
        if bound:
            measured = printed(each.estimate, TERMS.get(each.name))
            interval = f" ({measured.interval})" if measured.interval else ""
            gates.append(f'    "{each.name} {bound}",    # measured: {measured.text}{interval}')
    if report.settings.get("columns"):
        return ["# " + line for line in [f"{name}:", *gates]] if len(report.learners) > 1 else []
    return [f"[learners.{_toml(name)}]", *([f"learner = {_toml(text)}"] if text else []), "gates = [", *gates, "]"]


def _bound(figure: str, estimate: Estimate, metric: str) -> str:
    if not estimate.known:
        return ""
    if figure in (metric, *LOWER) and math.isfinite(estimate.low):
        least = math.floor(100 * (estimate.low - SLACK)) / 100
        return f">= {max(least, 0) if estimate.low >= 0 else least:g}"
    if figure in UPPER and math.isfinite(estimate.high):
        most = estimate.high + (1 if TERMS[figure].form == "count" else SLACK)
        return f"<= {math.ceil(100 * most) / 100:g}"
    return ""


def _toml(value: Any) -> str:
    """A value as TOML; JSON writes texts, lists and booleans the same way."""
    text = json.dumps(value, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
