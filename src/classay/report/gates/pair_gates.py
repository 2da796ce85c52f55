"""Gates on two learners or versions: `candidate.accuracy >= champion.accuracy - 0.01`.

Such a gate fails only if a regression is *shown*: the interval of the difference lies beyond the allowed drop. With
`.low`, as in `candidate.accuracy.low >= champion.accuracy - 0.01`, it passes only if it is shown that there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...expect import InputError, nearest, shown
from ...intervals import Estimate, difference
from ..document import OTHER_NAMES, Report
from ..metric import is_metric
from .gates import FIGURES, Verdict

PAIR = re.compile(
    r"(?P<one>[\w-]+)\.(?P<figure>\w+)(?:\.(?P<end>value|low|high))?\s*(?P<sign><=|>=)\s*"
    r"(?P<other>[\w-]+)\.(?P<again>[^\W\d]\w*)\s*(?:(?P<plus>[-+−])\s*(?P<offset>\d+\.?\d*|\.\d+))?"
)
"""A figure does not begin with a digit: 0.1 is a number, and no figure 1 of a learner 0."""
CANDIDATE, CHAMPION = "candidate", "champion"
"""With an earlier report: each learner now, and the same learner then."""
Paired = Callable[[str, str, str], Estimate | None]
"""Of two learners and a figure: the difference with its interval over the same items, or None if it is not known."""


@dataclass(frozen=True)
class PairGate:
    """A bound on the difference of a figure of two learners: one − other against `offset`."""

    text: str
    one: str
    other: str
    figure: str
    end: str
    sign: str
    offset: float


def is_pair_gate(text: object) -> bool:
    """Whether a gate compares two learners."""
    return isinstance(text, str) and PAIR.fullmatch(text.strip()) is not None


def pair_gate_from(text: str) -> PairGate:
    """Parse a gate on two learners.

    >>> gate = pair_gate_from("candidate.accuracy >= champion.accuracy - 0.01")
    >>> gate.one, gate.other, gate.figure, gate.offset, gate.end
    ('candidate', 'champion', 'accuracy', -0.01, 'high')
    """
    match = PAIR.fullmatch(text.strip())
    if match is None:
        raise InputError(f"The gate {text!r} cannot be read; expected candidate.accuracy >= champion.accuracy - 0.01.")
    if match["figure"] != match["again"]:
        raise InputError(
            f"The gate {text!r} compares {match['figure']} with {match['again']}; expected the same figure "
            "on both sides."
        )
    figure = OTHER_NAMES.get(match["figure"], match["figure"])
    if figure not in FIGURES["learner"] and not is_metric(figure):
        raise InputError(
            f"The gate {text!r} names {figure!r}, which is not a figure of a learner."
            f"{nearest(figure, FIGURES['learner'])}"
        )
    offset = float(match["offset"] or 0.0) * (-1 if match["plus"] in ("-", "−") else 1)
    # A regression must be shown: the end that makes failing harder.
    end = match["end"] or ("high" if match["sign"] == ">=" else "low")
    return PairGate(match[0], match["one"], match["other"], figure, end, match["sign"], offset)


def check_pair_gates(
    report: Report, gates: Iterable[PairGate], before: Report | None = None, paired: Paired | None = None
) -> list[Verdict]:
    """One verdict for each gate, or for each learner of a gate on candidate and champion with an earlier report.

    paired: gives differences over the same items; without it, or where it gives None, the two figures are taken as
    independent, which makes the interval wider than necessary.
    """
    verdicts = []
    for gate in gates:
        named = gate.one in report.learners or gate.other in report.learners
        if before is not None and not named and {gate.one, gate.other} == {CANDIDATE, CHAMPION}:
            for name in report.learners:
                sides = [_figure(report, name, gate.figure), _figure(before, name, gate.figure)]
                sides = sides if gate.one == CANDIDATE else sides[::-1]
                gap = None if sides[0] is None or sides[1] is None else difference(sides[0], sides[1], "unpaired")
                verdicts.append(_verdict(gate, name, gap, "one of the two reports has no such figure"))
            continue
        for name in (gate.one, gate.other):
            if name not in report.learners:
                alike = nearest(name, report.learners)
                hint = " Or pass an earlier report: --against last.json." if name in (CANDIDATE, CHAMPION) else ""
                raise InputError(
                    f"The gate {gate.text!r} names {name!r}, which is not in the report.{alike} "
                    f"It has {shown(report.learners)}.{hint}"
                )
        gap = None if paired is None else paired(gate.one, gate.other, gate.figure)
        if gap is None:
            one, other = (_figure(report, name, gate.figure) for name in (gate.one, gate.other))
            gap = None if one is None or other is None else difference(one, other, "unpaired")
        verdicts.append(_verdict(gate, gate.one, gap, "there is no such figure"))
    return verdicts


def no_worse(min_effect: float) -> list[PairGate]:
    """The gates of `--against` alone: accuracy of each learner no worse than before by more than `min_effect`."""
    return [pair_gate_from(f"{CANDIDATE}.accuracy >= {CHAMPION}.accuracy - {min_effect:g}")]


def _figure(report: Report, of: str, name: str) -> Estimate | None:
    return next(
        (each.estimate for each in report.figures if (each.subject, each.of, each.name) == ("learner", of, name)), None
    )


def _verdict(gate: PairGate, of: str, gap: Estimate | None, why: str) -> Verdict:
    if gap is None or not gap.known:
        return Verdict(of, gate.text, gate.figure, gap, gate.end, math.nan, False, math.nan, why)
    measured = float(getattr(gap, gate.end))
    margin = measured - gate.offset if gate.sign == ">=" else gate.offset - measured
    passed = margin >= 0
    text = f"the difference is {gap:+.3g} ({gap.kind})"
    reason = text if passed else f"{text}, beyond {gate.offset:+g}"
    return Verdict(of, gate.text, gate.figure, gap, gate.end, measured, passed, margin, reason)
