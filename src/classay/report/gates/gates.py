"""Gates checked against a report: one verdict for each, as an assertion (`assert_gates`), and as JUnit XML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np

from ...expect import InputError, counted, nearest, shown
from ...intervals import Estimate, difference
from ...learner.records.labelings import Labelings
from ...learner.stability.disagreement import as_frame
from ...learner.versions.compare import compare
from ..characterization import Characterization
from ..document import Report
from ..document.glossary import term_of
from ..document.phrases import number
from ..export.files import open_report
from ..findings.differences import paired_difference
from ..results import Results
from .gate import CANDIDATE, CHAMPION, FIGURES, WORST_REGION, AnyGate, Ban, Gate, PairGate, gate_from

MOST_LINES = 4
"""Lines for failed gates in an assertion."""
Paired = Callable[[str, str, str], Estimate | None]
"""Of two learners and a figure: the difference with its interval over the same items, or None if it is not known."""


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


def assert_gates(report: Any, *gates: str, against: Any = None, min_effect: float = 0.0) -> None:
    """Raise an AssertionError that lists the gates that a report does not pass.

    A gate is a text as in `classay check`: a figure, a sign and a number ("stability >= 0.9"), two learners
    ("candidate.accuracy >= champion.accuracy - 0.01"), the region in which one lost most against the champion
    ("candidate.worst_region >= -0.05"), or a finding that must not occur ("no L102", "no warning").
    Without an end (.low, .value, .high), a gate on a figure compares the end of its interval that makes passing harder;
    a gate on two learners fails only if a drop is shown.

    Parameters
    ----------
    report : a report, a characterization, or the path of a saved report (.json or .html)
    gates : texts of gates
    against : an earlier report, the champion; without a gate on candidate and champion, the accuracy of each learner
        must not be shown to be lower
    min_effect : with `against`, the drop that does not matter

    Examples
    --------
    >>> from classay.intervals import Estimate
    >>> from classay.report.document import Figure
    >>> figure = Figure("learner", "tree", "accuracy", Estimate(0.93, 0.91, 0.95))
    >>> report = Report("tree", {}, (), (), (figure,), (), {}, {})
    >>> assert_gates(report, "accuracy >= 0.9")
    >>> assert_gates(report, "accuracy >= 0.92")
    Traceback (most recent call last):
    AssertionError: 0 gates passed, 1 failed.
    tree: accuracy >= 0.92: lower end 0.910 misses 0.920 by 0.010.

    """
    __tracebackhide__ = True  # pytest would print this function
    document, before = _document(report, "report"), None if against is None else _document(against, "against")
    if not gates and before is None:
        raise InputError('There are no gates; expected at least one, such as "accuracy >= 0.9".')
    paired = partial(difference_of, report.parts) if isinstance(report, Characterization) else None
    parsed = [gate_from(text) for text in gates]
    verdicts = check_gates(document, parsed, before=before, paired=paired, min_effect=min_effect)
    lines = [f"{each.of or 'report'}: {each.gate}: {each.why.rstrip('.')}." for each in verdicts if not each.passed]
    if lines:
        more = [] if len(lines) <= MOST_LINES else [f"and {len(lines) - MOST_LINES + 1} more"]
        lines = lines[: MOST_LINES - len(more)]
        raise AssertionError("\n".join([summary(verdicts), *(shorten(line, 200) for line in lines), *more]))


def difference_of(parts: Results, one: str, other: str, figure: str) -> Estimate | None:
    """A figure of one learner minus that of the other, over the same rows; None if it is not known."""
    first, second = parts.predicted.get(one), parts.predicted.get(other)
    if figure != WORST_REGION:
        return paired_difference(parts, one, other, figure)
    if first is None or second is None or not np.array_equal(first.rows, second.rows) or not parts.rows.X.shape[1]:
        return None
    new, old = (Labelings.from_arrays([each.labels], each.truth, groups=each.groups) for each in (first, second))
    return compare(old, new, as_frame(parts.rows.X).iloc[first.rows]).worst_region


def _document(report: Any, name: str) -> Report:
    if isinstance(report, Characterization):
        return report.report
    if isinstance(report, Report):
        return report
    if isinstance(report, (str, Path)):
        return open_report(report)
    raise InputError(
        f"`{name}` is {type(report).__name__}; expected a report, a result of `classay.characterize`, or the path of "
        "a saved report."
    )


def check_gates(
    report: Report,
    gates: Iterable[AnyGate],
    learners: Iterable[str] = (),
    before: Report | None = None,
    paired: Paired | None = None,
    min_effect: float = 0.0,
) -> list[Verdict]:
    """One verdict for each gate and each subject: gates on figures first, then bans, then gates on two learners.

    A figure that is unknown or missing fails its gate: what could not be measured has not been shown.

    learners: names that should be in the report; those of the report are added.
    before: an earlier report: champion is then the same learner there. Without a gate on candidate and champion, the
    accuracy of each learner must not be shown to be lower by more than `min_effect`.
    paired: gives differences over the same items; without it, or where it gives None, the two figures are taken as
    independent, which makes the interval wider than necessary.
    """
    gates = list(gates)
    pairs = [gate for gate in gates if isinstance(gate, PairGate)]
    if before is not None and not any({gate.one, gate.other} == {CANDIDATE, CHAMPION} for gate in pairs):
        offset = f"{CANDIDATE}.accuracy >= {CHAMPION}.accuracy - {min_effect:g}"
        pairs.append(PairGate(offset, CANDIDATE, CHAMPION, "accuracy", "high", ">=", -min_effect))
    names = {"learner": [*learners, *report.learners, *report.failed], "network": report.networks}
    verdicts = []
    for gate in gates:
        if isinstance(gate, Gate):
            subjects = [gate.of] if gate.of else dict.fromkeys(names.get(gate.subject, ())) or [gate.subject]
            verdicts += [_of_figure(gate, of, report) for of in subjects]
    verdicts += [_of_ban(gate, report) for gate in gates if isinstance(gate, Ban)]
    for gate in pairs:
        verdicts += _of_pair(gate, report, before, paired)
    return verdicts


def _estimate(report: Report, subject: str, of: str, name: str) -> Estimate | None:
    place = (subject, of, name)
    return next((each.estimate for each in report.figures if (each.subject, each.of, each.name) == place), None)


def _of_figure(gate: Gate, of: str, report: Report) -> Verdict:
    estimate = _estimate(report, gate.subject, of, gate.figure)
    if estimate is None:
        return _failed(of, gate, _why_absent(gate, of, report))
    measured = float(getattr(estimate, gate.end))
    known = estimate.known and not math.isnan(measured)
    apart = measured - gate.bound if ">" in gate.sign else gate.bound - measured
    if gate.sign == "==":
        apart = 0.0 - abs(apart)  # 0, not -0, where it is met
    passed = known and (apart > 0 if gate.sign in "<>" else apart >= 0)
    end = {"low": "lower end", "high": "upper end"}.get(gate.end, "value")
    if estimate.low == estimate.high:  # a figure without uncertainty has only a value
        end = "value"
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


def _failed(of: str, gate: AnyGate, why: str, estimate: Estimate | None = None) -> Verdict:
    """A gate on what could not be measured."""
    return Verdict(of, gate.text, gate.figure, estimate, gate.end, math.nan, False, math.nan, why)


def _why_absent(gate: Gate, of: str, report: Report) -> str:
    if of in report.failed:
        return f"{of} gave no results: {report.failed[of]}"
    if gate.subject == "network" and not report.networks:
        return "no network was given"
    if gate.subject == "learner" and of not in report.learners:
        return "it was not fitted" + (": interrupted" if report.settings.get("interrupted") else "")
    if gate.figure not in FIGURES[gate.subject]:
        return f"the report has no {gate.figure}: make it with --metric {gate.figure}, by a learner with probabilities"
    absent = next((each.absent for each in report.sections if each.key == gate.subject and each.absent), "")
    return f"there is no such figure: {absent or 'it could not be measured'}"


def _of_ban(ban: Ban, report: Report) -> Verdict:
    banned = [
        each
        for each in report.findings
        if each.level != "fine" and ban.what in (each.code, each.level) and ban.of in ("", each.of)
    ]
    if not banned and not any(each.code == ban.what for each in report.findings):
        # A finding that could not be checked is not known to be absent.
        for each in report.unasked:
            if each.code == ban.what:
                return _failed(ban.of, ban, f"it could not be checked: {each.why}")
    why = " ".join(f"{each.code} {each.of}: {each.sentence}" for each in banned) or "none found"
    return Verdict(ban.of, ban.text, "", None, "value", float(len(banned)), not banned, float(-len(banned)), why)


def _of_pair(gate: PairGate, report: Report, before: Report | None, paired: Paired | None) -> list[Verdict]:
    """One verdict; of candidate and champion with an earlier report, one for each learner."""
    named = gate.one in report.learners or gate.other in report.learners
    if before is not None and not named and {gate.one, gate.other} == {CANDIDATE, CHAMPION}:
        sides = (report, before) if gate.one == CANDIDATE else (before, report)
        why = "one of the two reports has no such figure"
        return [
            _of_difference(gate, name, _unpaired(gate.figure, (sides[0], name), (sides[1], name)), why)
            for name in report.learners
        ]
    for name in (gate.one, gate.other):
        if name not in report.learners:
            hint = " Or pass an earlier report: --against last.json." if name in (CANDIDATE, CHAMPION) else ""
            raise InputError(
                f"The gate {gate.text!r} names {name!r}, which is not in the report.{nearest(name, report.learners)} "
                f"It has {shown(report.learners)}.{hint}"
            )
    gap = None if paired is None else paired(gate.one, gate.other, gate.figure)
    if gap is None:
        gap = _unpaired(gate.figure, (report, gate.one), (report, gate.other))
    region = "the predictions of both are needed, with columns to search"
    return [_of_difference(gate, gate.one, gap, region if gate.figure == WORST_REGION else "there is no such figure")]


def _unpaired(figure: str, one: tuple[Report, str], other: tuple[Report, str]) -> Estimate | None:
    first, second = (_estimate(report, "learner", name, figure) for report, name in (one, other))
    return None if first is None or second is None else difference(first, second, "unpaired")


def _of_difference(gate: PairGate, of: str, gap: Estimate | None, why: str) -> Verdict:
    if gap is None or not gap.known:
        return _failed(of, gate, why, gap)
    measured = float(getattr(gap, gate.end))
    margin = measured - gate.offset if gate.sign == ">=" else gate.offset - measured
    text = f"the difference is {gap:+.3g} ({gap.kind})"
    reason = text if margin >= 0 else f"{text}, beyond {gate.offset:+g}"
    return Verdict(of, gate.text, gate.figure, gap, gate.end, measured, margin >= 0, margin, reason)


def _number(value: float, gate: Gate) -> str:
    text = number(value, term_of(gate.figure).form)
    # A margin is always shown as a number, however small.
    return text if "<" not in text and ">" not in text else f"{value:.2g}"


def summary(verdicts: list[Verdict]) -> str:
    """How many gates passed and failed, in a sentence."""
    failed = sum(not each.passed for each in verdicts)
    return f"{counted(len(verdicts) - failed, 'gate')} passed, {failed or 'none'} failed."


# Characters that XML 1.0 cannot represent, not even as entities.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdicts: list[Verdict], suite: str = "classay", seconds: float = 0.0) -> str:
    """JUnit XML, which CI services show: one test case per gate; a failed one has the measured value."""
    failed = sum(not each.passed for each in verdicts)
    root = xml.Element("testsuites")
    counts = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0", "skipped": "0"}
    block = xml.SubElement(root, "testsuite", {"name": clean(suite), **counts, "time": f"{seconds:.3f}"})
    for each in verdicts:
        names = {"classname": clean(f"classay.{each.of or 'findings'}"), "name": clean(each.gate), "time": "0"}
        case = xml.SubElement(block, "testcase", names)
        if not each.passed:
            failure = xml.SubElement(case, "failure", {"message": clean(each.why), "type": "gate"})
            estimate = each.estimate
            measured = "" if estimate is None else f"\n{each.figure}: {estimate}, {estimate.kind or 'interval'}"
            failure.text = clean(f"{each.of}: {each.gate}: {each.why}{measured}")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def clean(text: str) -> str:
    """The text without characters that XML cannot represent."""
    return UNWRITABLE.sub("\ufffd", text)
