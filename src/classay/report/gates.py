"""Gates: bounds on the figures of a report, read from words before any fit and held against it afterwards."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..expect import InputError, counted, nearest, shown
from ..intervals import Estimate
from .cells import number
from .document import Report
from .finding import LEVELS
from .findings.codes import CODES
from .glossary import TERMS

FIGURES: dict[str, tuple[str, ...]] = {
    "learner": (
        "accuracy",
        "cv_accuracy",
        "train_accuracy",
        "gap",
        "stability",
        "stability_probes",
        "kappa",
        "dice",
        "bias",
        "expressivity",
        "capacity",
        "stochasticity",
        "seconds_per_fit",
        "slices",
    ),
    "data": (
        "rows",
        "columns",
        "classes",
        "majority_share",
        "contradictions",
        "duplicates",
        "baseline_accuracy",
        "suspects",
        "evenness",
    ),
    "classes": ("accuracy_now", "accuracy_double", "accuracy_tenfold", "information"),
    "network": ("classifier_quality", "within", "between", "lower_bound", "upper_bound", "estimate", "converged"),
}
"""What a gate can be about, by subject."""
FORM = re.compile(
    r"(?:(?P<subject>[\w-]+)\.)??(?P<figure>\w+)(?:\.(?P<end>value|low|high))?\s*(?P<sign><=|>=|==|<|>)\s*"
    r"(?P<bound>[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
)
EXAMPLE = '"stability >= 0.9", "capacity.high <= 1.0" or "data.suspects <= 10"'
ENDS = {">=": "low", ">": "low", "<=": "high", "<": "high", "==": "value"}
"""Which end of the interval is compared, where none is named: the one that makes passing harder."""
FORBIDDABLE = LEVELS[:2]


@dataclass(frozen=True)
class Gate:
    """A bound on a figure: of every learner (or network), or of the one that `of` names."""

    text: str
    subject: str
    figure: str
    end: str
    sign: str
    bound: float
    of: str = ""


@dataclass(frozen=True)
class Ban:
    """A finding that must not be there: by code (`L102`), or all of a level (`warning`); of anybody, or of `of`."""

    what: str
    of: str = ""

    @property
    def text(self) -> str:
        """What it says, beside the gates."""
        return f"no {self.what}"


@dataclass(frozen=True)
class Verdict:
    """A gate held against a report. `margin` is by how much it passed, negative if it failed; `why` says why."""

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
    """The gate that a text stands for: `figure[.value|.low|.high] SIGN number`.

    Without an end, >= and > are held against the lower end of the interval, <= and < against the upper one. A figure
    of the data, of the classes or of networks is named after its subject, as in data.suspects. == is for counts.

    >>> gate_from("stability >= 0.9")
    Gate(text='stability >= 0.9', subject='learner', figure='stability', end='low', sign='>=', bound=0.9, of='')
    """
    found = FORM.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise InputError(
            f"The gate {_short(text)} cannot be read; a figure, a sign and a number are expected: {EXAMPLE}."
        )
    about = found["subject"] or subject
    if about not in FIGURES or (of and about != subject):
        alike = nearest(about, FIGURES) if not of else ""
        others = f"{', '.join(FIGURES)}" if not of else f"figures of a {subject} alone"
        raise InputError(f"The gate {_short(text)} is about {about!r}; expected: {others}.{alike}")
    name = found["figure"]
    if name not in FIGURES[about]:
        raise InputError(
            f"The gate {_short(text)} asks for {name!r}, which is no figure of {_a(about)}.{_hint(name, about)}"
        )
    if found["sign"] == "==" and TERMS[name].form != "count":
        raise InputError(f"The gate {_short(text)} uses ==, which is for counts; {name} is measured: use >= or <=.")
    bound = float(found["bound"].replace("−", "-"))
    if not math.isfinite(bound):
        raise InputError(f"The gate {_short(text)} has no number that is finite.")
    return Gate(found[0], about, name, found["end"] or ENDS[found["sign"]], found["sign"], bound, of)


def ban_from(text: object, of: str = "") -> Ban:
    """The ban that a text stands for: the code of a finding, or a level.

    >>> ban_from("L102").text
    'no L102'
    """
    if text not in (*CODES, *FORBIDDABLE):
        raise InputError(
            f"`forbid` has {_short(text)}; codes of findings and the levels {' and '.join(FORBIDDABLE)} are expected."
            f"{nearest(str(text), (*CODES, *FORBIDDABLE))} There are {shown(CODES, 40)}."
        )
    return Ban(str(text), of)


def hold(
    report: Report, gates: Iterable[Gate], bans: Iterable[Ban] = (), learners: Iterable[str] = ()
) -> list[Verdict]:
    """Hold a report against gates, one verdict for each gate and each whom it is about.

    A figure that is unknown, or of somebody who gave none, fails its gate: what cannot be shown has not been shown.

    learners: who should be in the report; those of the report are added.
    """
    by_place = {(each.subject, each.of, each.name): each.estimate for each in report.figures}
    given: dict[str, list[str]] = {"data": ["data"], "classes": ["classes"]}
    given["network"] = list(dict.fromkeys(each.of for each in report.figures if each.subject == "network"))
    given["learner"] = list(dict.fromkeys([*learners, *report.learners, *report.failed]))
    verdicts = []
    for gate in gates:
        for of in [gate.of] if gate.of else given[gate.subject] or [gate.subject]:
            estimate = by_place.get((gate.subject, of, gate.figure))
            verdicts.append(_unmeasured(gate, of, report) if estimate is None else _held(gate, of, estimate))
    return verdicts + [_banned(ban, report) for ban in bans]


def _held(gate: Gate, of: str, estimate: Estimate) -> Verdict:
    measured = float(getattr(estimate, gate.end))
    known = estimate.known and not math.isnan(measured)
    apart = measured - gate.bound if ">" in gate.sign else gate.bound - measured
    if gate.sign == "==":
        apart = -abs(apart)
    passed = known and (apart > 0 if gate.sign in "<>" else apart >= 0)
    said = _ending(gate, estimate)
    if not known:
        why = "it is unknown: the data cannot tell"
    elif math.isinf(measured):
        why = f"{said} has no limit: there are too few refits or rows to tell"
    elif passed:
        why = f"{said} {_number(measured, gate)}"
    else:
        short = f"by {_number(abs(apart), gate)}" if apart else "as it must not be equal"
        why = f"{said} {_number(measured, gate)} misses {_number(gate.bound, gate)} {short}"
    return Verdict(of, gate.text, gate.figure, estimate, gate.end, measured, passed, apart if known else math.nan, why)


def _ending(gate: Gate, estimate: Estimate) -> str:
    """What is compared, in words; a figure without uncertainty has no ends."""
    if estimate.low == estimate.high or gate.end == "value":
        return "value"
    return {"low": "lower end", "high": "upper end"}[gate.end]


def _unmeasured(gate: Gate, of: str, report: Report) -> Verdict:
    """A gate about what is not in the report: it fails, and says why that is not there."""
    if of in report.failed:
        why = f"{of} gave no figures: {report.failed[of]}"
    elif gate.subject == "network" and not any(each.subject == "network" for each in report.figures):
        why = "no network was given"
    elif gate.subject == "learner" and of not in report.learners:
        why = "it was not fitted" + (": interrupted" if report.settings.get("interrupted") else "")
    else:
        why = f"there is no such figure: {_reason(gate, report)}"
    return Verdict(of, gate.text, gate.figure, None, gate.end, math.nan, False, math.nan, why)


def _reason(gate: Gate, report: Report) -> str:
    absent = next((each.absent for each in report.sections if each.key == gate.subject and each.absent), "")
    return absent or "it could not be measured here"


def _banned(ban: Ban, report: Report) -> Verdict:
    found = [
        each
        for each in report.findings
        if each.level != "fine" and ban.what in (each.code, each.level) and ban.of in ("", each.of)
    ]
    if not found and not any(each.code == ban.what for each in report.findings):
        # A finding that nobody could look for is not known to be absent.
        for each in report.unasked:
            if each.code == ban.what:
                why = f"it could not be looked for: {each.why}"
                return Verdict(ban.of, ban.text, "", None, "value", math.nan, False, math.nan, why)
    why = " ".join(f"{each.code} {each.of}: {each.sentence}" for each in found) or "none was found"
    return Verdict(ban.of, ban.text, "", None, "value", float(len(found)), not found, float(-len(found)), why)


def summary(verdicts: list[Verdict]) -> str:
    """How many gates passed and failed, in a sentence.

    >>> summary([])
    '0 gates passed, none failed.'
    """
    failed = sum(not each.passed for each in verdicts)
    return f"{counted(len(verdicts) - failed, 'gate')} passed, {failed or 'none'} failed."


def _hint(name: str, about: str) -> str:
    """Where the figure is, or which are nearest."""
    for subject, names in FIGURES.items():
        if name in names:
            return f" It is one of {subject}: write {'' if subject == 'learner' else subject + '.'}{name}."
    return nearest(name, FIGURES[about]) + f" There are {shown(FIGURES[about], 20)}."


def _a(subject: str) -> str:
    return {"learner": "a learner", "network": "a network"}.get(subject, f"the {subject}")


def _number(value: float, gate: Gate) -> str:
    text = number(value, TERMS[gate.figure].form)
    # A margin is told as a number, however small.
    return text if "<" not in text and ">" not in text else f"{value:.2g}"


def _short(text: object) -> str:
    said = repr(text)
    return said if len(said) <= 80 else said[:80] + "…"
