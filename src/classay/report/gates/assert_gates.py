"""`assert_gates`: gates as an assertion, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...expect import InputError
from ..assay import Assay
from ..document import Report
from ..export.files import open_report
from .gates import ban_from, check_gates, gate_from, summary
from .pair_gates import check_pair_gates, is_pair_gate, no_worse, pair_gate_from
from .paired import paired_learners


def assert_gates(report: Any, *gates: str, against: Any = None, min_effect: float = 0.0) -> None:
    """Raise an AssertionError that lists the gates that a report does not pass.

    A gate is a text as in `classay check`: a figure, a sign and a number ("stability >= 0.9"), two learners
    ("candidate.accuracy >= champion.accuracy - 0.01"), or a finding that must not occur ("no L102", "no warning").
    Without an end (.low, .value, .high), a gate on a figure compares the end of its interval that makes passing harder;
    a gate on two learners fails only if a drop is shown.

    Parameters
    ----------
    report : a report, an assay, or the path of a saved report (.json or .html)
    gates : texts of gates
    against : an earlier report; the accuracy of each learner must not be shown to be lower
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
    AssertionError: tree: accuracy >= 0.92: lower end 0.910 misses 0.920 by 0.010. 0 gates passed, 1 failed.

    """
    document, paired = _document(report, "report")
    before = None if against is None else _document(against, "against")[0]
    if not gates and before is None:
        raise InputError('There are no gates; expected at least one, such as "accuracy >= 0.9".')
    bans = [ban_from(text.removeprefix("no ").strip()) for text in gates if _is_ban(text)]
    of_two = [pair_gate_from(text) for text in gates if is_pair_gate(text)]
    others = [gate_from(text) for text in gates if not _is_ban(text) and not is_pair_gate(text)]
    if before is not None:
        of_two += no_worse(min_effect)
    verdicts = check_gates(document, others, bans) + check_pair_gates(document, of_two, before, paired)
    failed = [each for each in verdicts if not each.passed]
    if failed:
        lines = [f"{each.of or 'report'}: {each.gate}: {each.why.rstrip('.')}." for each in failed]
        raise AssertionError(" ".join([*lines, summary(verdicts)]))


def _is_ban(text: Any) -> bool:
    return isinstance(text, str) and text.startswith("no ")


def _document(report: Any, name: str) -> tuple[Report, Any]:
    if isinstance(report, Assay):
        return report.report, paired_learners(report.parts)
    if isinstance(report, Report):
        return report, None
    if isinstance(report, (str, Path)):
        return open_report(report), None
    raise InputError(
        f"`{name}` is {type(report).__name__}; expected a report, an assay of `classay.characterize`, or the path of "
        "a saved report."
    )
