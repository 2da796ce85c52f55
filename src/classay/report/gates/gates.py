"""Gates: thresholds on the figures of a report, parsed before any fit and checked afterwards."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as xml

from ...expect import InputError, counted, nearest, shown
from ...intervals import Estimate
from ..document import LEVELS, OTHER_NAMES, Report
from ..document.glossary import figures_by_subject, term_of
from ..document.phrases import number
from ..findings import RULES
from ..metric import is_metric

FIGURES = figures_by_subject()
"""The figures that a gate can name, by subject."""
FORM = re.compile(
    r"(?:(?P<subject>[\w-]+)\.)??(?P<figure>\w+)(?:\.(?P<end>value|low|high))?\s*(?P<sign><=|>=|==|<|>)\s*"
    r"(?P<bound>[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
)
EXAMPLE = '"stability >= 0.9", "capacity.high <= 1.0" or "data.suspects <= 10"'
ENDS = {">=": "low", ">": "low", "<=": "high", "<": "high", "==": "value"}
"""The end of the interval that is compared by default: the one that makes passing harder."""
FORBIDDABLE = LEVELS[:2]


@dataclass(frozen=True)
class Gate:
    """A bound on a figure: of every learner (or network), or only of the one named by `of`."""

    text: str
    subject: str
    figure: str
    end: str
    sign: str
    bound: float
    of: str = ""


@dataclass(frozen=True)
class Ban:
    """A finding that must not occur: by code (`L102`), or all of a level (`warning`); for all, or only for `of`."""

    what: str
    of: str = ""

    @property
    def text(self) -> str:
        """The text that is shown beside the gates."""
        return f"no {self.what}"


@dataclass(frozen=True)
class Verdict:
    """The result of checking a gate. `margin` is by how much it passed, negative if it failed; `why` is the reason."""

    of: str
    gate: str
    figure: str
    estimate: Estimate | None
    end: str
    measured: float
    passed: bool
    margin: float
    why: str


def gate_from(text: object, of: str = "", subject: str = "learner") -> Gate:
    """Parse a gate: `figure[.value|.low|.high] SIGN number`.

    Without an end, >= and > compare the lower end of the interval, <= and < the upper end. Put the subject in front of
    a figure of the data, the classes or a network, as in data.suspects. == is for counts only.

    >>> gate_from("stability >= 0.9")
    Gate(text='stability >= 0.9', subject='learner', figure='stability', end='low', sign='>=', bound=0.9, of='')
    """
    match = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise InputError(
            f"The gate {_short(text)} cannot be read; expected a figure, a sign and a number, such as {EXAMPLE}."
        )
    about = match["subject"] or subject
    if about not in FIGURES or (of and about != subject):
        alike = nearest(about, FIGURES) if not of else ""
        others = f"one of {', '.join(FIGURES)}" if not of else f"only figures of a {subject}"
        raise InputError(f"The gate {_short(text)} is about {about!r}; expected {others}.{alike}")
    name = OTHER_NAMES.get(match["figure"], match["figure"])
    if name not in FIGURES[about] and not (about == "learner" and is_metric(name)):
        raise InputError(
            f"The gate {_short(text)} names {name!r}, which is not a figure of {_a(about)}.{_hint(name, about)}"
        )
    if match["sign"] == "==" and term_of(name).form != "count":
        raise InputError(
            f"The gate {_short(text)} uses ==, which is only for counts; {name} is not a count. Use >= or <=."
        )
    bound = float(match["bound"].replace("−", "-"))
    if not math.isfinite(bound):
        raise InputError(f"The gate {_short(text)} has an infinite number; expected a finite one.")
    return Gate(match[0], about, name, match["end"] or ENDS[match["sign"]], match["sign"], bound, of)


def ban_from(text: object, of: str = "") -> Ban:
    """Parse a ban: the code of a finding, or a level.

    >>> ban_from("L102").text
    'no L102'
    """
    if text not in (*RULES, *FORBIDDABLE):
        raise InputError(
            f"`forbid` has {_short(text)}; expected codes of findings or the levels {' and '.join(FORBIDDABLE)}."
            f"{nearest(str(text), (*RULES, *FORBIDDABLE))} The codes are {shown(RULES, 40)}."
        )
    return Ban(str(text), of)


def metrics_of(gates: Iterable[Gate]) -> list[str]:
    """The metrics that gates name and a report has only if it is asked for them."""
    named = [gate.figure for gate in gates if gate.subject == "learner" and gate.figure not in FIGURES["learner"]]
    return list(dict.fromkeys(named))


def check_gates(
    report: Report, gates: Iterable[Gate], bans: Iterable[Ban] = (), learners: Iterable[str] = ()
) -> list[Verdict]:
    """Check a report against gates, with one verdict for each gate and each subject.

    A figure that is unknown or missing fails its gate: what could not be measured has not been shown.

    learners: names that should be in the report; those of the report are added.
    """
    by_place = {(each.subject, each.of, each.name): each.estimate for each in report.figures}
    names: dict[str, list[str]] = {"data": ["data"], "classes": ["classes"]}
    names["network"] = list(dict.fromkeys(each.of for each in report.figures if each.subject == "network"))
    names["learner"] = list(dict.fromkeys([*learners, *report.learners, *report.failed]))
    verdicts = []
    for gate in gates:
        for of in [gate.of] if gate.of else names[gate.subject] or [gate.subject]:
            estimate = by_place.get((gate.subject, of, gate.figure))
            verdicts.append(_unmeasured_verdict(gate, of, report) if estimate is None else _verdict(gate, of, estimate))
    return verdicts + [_ban_verdict(ban, report) for ban in bans]


def _verdict(gate: Gate, of: str, estimate: Estimate) -> Verdict:
    measured = float(getattr(estimate, gate.end))
    known = estimate.known and not math.isnan(measured)
    apart = measured - gate.bound if ">" in gate.sign else gate.bound - measured
    if gate.sign == "==":
        apart = -abs(apart)
    passed = known and (apart > 0 if gate.sign in "<>" else apart >= 0)
    end = _end_in_words(gate, estimate)
    if not known:
        why = "it is unknown: the data cannot identify it"
    elif math.isinf(measured):
        why = f"{end} is unbounded: there are too few refits or rows"
    elif passed:
        why = f"{end} {_number(measured, gate)}"
    else:
        short = f"by {_number(abs(apart), gate)}" if apart else "because it must not be equal"
        why = f"{end} {_number(measured, gate)} misses {_number(gate.bound, gate)} {short}"
    return Verdict(of, gate.text, gate.figure, estimate, gate.end, measured, passed, apart if known else math.nan, why)


def _end_in_words(gate: Gate, estimate: Estimate) -> str:
    """The compared end in words; a figure without uncertainty has only a value."""
    if estimate.low == estimate.high or gate.end == "value":
        return "value"
    return {"low": "lower end", "high": "upper end"}[gate.end]


def _unmeasured_verdict(gate: Gate, of: str, report: Report) -> Verdict:
    """A gate on a figure that is not in the report: it fails, and gives the reason."""
    if of in report.failed:
        why = f"{of} gave no results: {report.failed[of]}"
    elif gate.subject == "network" and not any(each.subject == "network" for each in report.figures):
        why = "no network was given"
    elif gate.subject == "learner" and of not in report.learners:
        why = "it was not fitted" + (": interrupted" if report.settings.get("interrupted") else "")
    elif gate.figure not in FIGURES[gate.subject]:
        why = f"the report has no {gate.figure}: make it with --metric {gate.figure}, by a learner with probabilities"
    else:
        why = f"there is no such figure: {_reason(gate, report)}"
    return Verdict(of, gate.text, gate.figure, None, gate.end, math.nan, False, math.nan, why)


def _reason(gate: Gate, report: Report) -> str:
    absent = next((each.absent for each in report.sections if each.key == gate.subject and each.absent), "")
    return absent or "it could not be measured"


def _ban_verdict(ban: Ban, report: Report) -> Verdict:
    banned = [
        each
        for each in report.findings
        if each.level != "fine" and ban.what in (each.code, each.level) and ban.of in ("", each.of)
    ]
    if not banned and not any(each.code == ban.what for each in report.findings):
        # A finding that could not be checked is not known to be absent.
        for each in report.unasked:
            if each.code == ban.what:
                why = f"it could not be checked: {each.why}"
                return Verdict(ban.of, ban.text, "", None, "value", math.nan, False, math.nan, why)
    why = " ".join(f"{each.code} {each.of}: {each.sentence}" for each in banned) or "none found"
    return Verdict(ban.of, ban.text, "", None, "value", float(len(banned)), not banned, float(-len(banned)), why)


def summary(verdicts: list[Verdict]) -> str:
    """How many gates passed and failed, in a sentence.

    >>> summary([])
    '0 gates passed, none failed.'
    """
    failed = sum(not each.passed for each in verdicts)
    return f"{counted(len(verdicts) - failed, 'gate')} passed, {failed or 'none'} failed."


def _hint(name: str, about: str) -> str:
    """The subject of the figure, or the nearest figures."""
    for subject, names in FIGURES.items():
        if name in names:
            return f" It is a figure of {_a(subject)}: write {'' if subject == 'learner' else subject + '.'}{name}."
    return nearest(name, FIGURES[about]) + f" The figures are {shown(FIGURES[about], 18)}."


def _a(subject: str) -> str:
    return {"learner": "a learner", "network": "a network"}.get(subject, f"the {subject}")


def _number(value: float, gate: Gate) -> str:
    text = number(value, term_of(gate.figure).form)
    # A margin is always shown as a number, however small.
    return text if "<" not in text and ">" not in text else f"{value:.2g}"


def _short(text: object) -> str:
    shortened = repr(text)
    return shortened if len(shortened) <= 80 else shortened[:80] + "…"


# Gates as JUnit XML, which CI services show: one test case per gate.


# Characters that XML 1.0 cannot represent, not even as entities.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdicts: list[Verdict], suite: str = "classay", seconds: float = 0.0) -> str:
    """JUnit XML: one test case per gate; a failed gate has a failure with the measured value.

    >>> junit([]).splitlines()[1]
    '<testsuites><testsuite name="classay" tests="0" failures="0" errors="0" skipped="0" time="0.000" /></testsuites>'
    """
    failed = sum(not each.passed for each in verdicts)
    root = xml.Element("testsuites")
    counts = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0", "skipped": "0"}
    block = xml.SubElement(root, "testsuite", {"name": clean(suite), **counts, "time": f"{seconds:.3f}"})
    for each in verdicts:
        case = xml.SubElement(
            block,
            "testcase",
            {"classname": clean(f"classay.{each.of or 'findings'}"), "name": clean(each.gate), "time": "0"},
        )
        if each.passed:
            continue
        failure = xml.SubElement(case, "failure", {"message": clean(each.why), "type": "gate"})
        measured = (
            "" if each.estimate is None else f"\n{each.figure}: {each.estimate}, {each.estimate.kind or 'interval'}"
        )
        failure.text = clean(f"{each.of}: {each.gate}: {each.why}{measured}")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def clean(text: str) -> str:
    """The text without characters that XML cannot represent.

    >>> clean("a" + chr(0) + "b")
    'a�b'
    """
    return UNWRITABLE.sub("\ufffd", text)
