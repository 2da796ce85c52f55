"""Gates as texts, parsed before any fit: a bound on a figure, on two learners, or a finding that must not occur."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import ClassVar

from ...expect import InputError, nearest, short, shown
from ...learner.scores.scorers import scorer_names
from ..document import LEVELS
from ..document.glossary import figures_by_subject, term_of
from ..findings import RULES

FIGURES = figures_by_subject()
"""The figures that a gate can name, by subject."""
FIGURE, NUMBER = r"(?P<figure>\w+)(?:\.(?P<end>value|low|high))?", r"(?:\d+\.?\d*|\.\d+)"
FORM = re.compile(
    rf"(?:(?P<subject>[\w-]+)\.)??{FIGURE}\s*(?P<sign><=|>=|==|<|>)\s*(?P<bound>[-+−]?{NUMBER}(?:[eE][-+]?\d+)?)"
)
PAIR = re.compile(
    rf"(?P<one>[\w-]+)\.{FIGURE}\s*(?P<sign><=|>=)\s*"
    rf"(?P<other>[\w-]+)\.(?P<again>[^\W\d]\w*)\s*(?:(?P<plus>[-+−])\s*(?P<offset>{NUMBER}))?"
)
REGION = re.compile(rf"(?P<one>[\w-]+)\.worst_region(?:\.(?P<end>value|low|high))?\s*>=\s*(?P<offset>[-+−]?{NUMBER})")
"""A figure does not begin with a digit: 0.1 is a number, and no figure 1 of a learner 0."""
EXAMPLE = '"stability >= 0.9", "capacity.high <= 1.0" or "data.suspects <= 10"'
ENDS = {">=": "low", ">": "low", "<=": "high", "<": "high", "==": "value"}
"""The end of the interval that is compared by default: the one that makes passing harder."""
FORBIDDABLE = LEVELS[:2]
CANDIDATE, CHAMPION, WORST_REGION = "candidate", "champion", "worst_region"
"""With an earlier report, candidate is each learner now, and champion the same learner then."""


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
class PairGate:
    """A bound on the difference of a figure of two learners: one − other against `offset`.

    The figure `worst_region` is the difference in accuracy in the region of the table that lost most.

    It fails only if a regression is *shown*: the interval of the difference lies beyond the allowed drop. With `.low`,
    as in `candidate.accuracy.low >= champion.accuracy - 0.01`, it passes only if it is shown that there is none.
    """

    text: str
    one: str
    other: str
    figure: str
    end: str
    sign: str
    offset: float
    subject: ClassVar[str] = "learner"
    of: ClassVar[str] = ""


@dataclass(frozen=True)
class Ban:
    """A finding that must not occur: by code (`L102`), or all of a level (`warning`); for all, or only for `of`."""

    what: str
    of: str = ""
    subject: ClassVar[str] = "learner"
    figure: ClassVar[str] = ""
    end: ClassVar[str] = "value"

    @property
    def text(self) -> str:
        """The text that is shown beside the gates."""
        return f"no {self.what}"


AnyGate = Gate | PairGate | Ban


def gate_from(text: object, of: str = "", subject: str = "learner") -> AnyGate:
    """Parse a gate: `figure[.value|.low|.high] SIGN number`, one on two learners, or `no` and a finding.

    Without an end, >= and > compare the lower end of the interval, <= and < the upper end. Put the subject in front of
    a figure of the data, the classes or a network, as in data.suspects. == is for counts only.

    >>> gate_from("stability >= 0.9")
    Gate(text='stability >= 0.9', subject='learner', figure='stability', end='low', sign='>=', bound=0.9, of='')
    >>> gate = gate_from("candidate.accuracy >= champion.accuracy - 0.01")
    >>> gate.one, gate.other, gate.figure, gate.offset, gate.end
    ('candidate', 'champion', 'accuracy', -0.01, 'high')
    """
    stripped = text.strip() if isinstance(text, str) else ""
    if stripped.startswith("no "):
        return ban_from(stripped.removeprefix("no ").strip(), of)
    region = None if of else REGION.fullmatch(stripped)
    if region is not None:
        one, end, least = region["one"], region["end"] or "high", float(region["offset"].replace("−", "-"))
        return PairGate(stripped, one, CHAMPION if one != CHAMPION else CANDIDATE, WORST_REGION, end, ">=", least)
    pair = None if of else PAIR.fullmatch(stripped)
    if pair is not None:
        return _pair_gate(stripped, pair)
    match = FORM.fullmatch(stripped)
    if match is None:
        raise InputError(
            f"The gate {short(text, 80)} cannot be read; expected a figure, a sign and a number, such as {EXAMPLE}."
        )
    about = match["subject"] or subject
    if about not in FIGURES or (of and about != subject):
        alike = nearest(about, FIGURES) if not of else ""
        others = f"one of {', '.join(FIGURES)}" if not of else f"only figures of a {subject}"
        raise InputError(f"The gate {short(text, 80)} is about {about!r}; expected {others}.{alike}")
    name = _figure(match["figure"], about, text)
    if match["sign"] == "==" and term_of(name).form != "count":
        raise InputError(
            f"The gate {short(text, 80)} uses ==, which is only for counts; {name} is not a count. Use >= or <=."
        )
    bound = float(match["bound"].replace("−", "-"))
    if not math.isfinite(bound):
        raise InputError(f"The gate {short(text, 80)} has an infinite number; expected a finite one.")
    return Gate(stripped, about, name, match["end"] or ENDS[match["sign"]], match["sign"], bound, of)


def ban_from(text: object, of: str = "") -> Ban:
    """Parse a ban: the code of a finding, or a level.

    >>> ban_from("L102").text
    'no L102'
    """
    if text not in (*RULES, *FORBIDDABLE):
        raise InputError(
            f"`forbid` has {short(text, 80)}; expected codes of findings or the levels {' and '.join(FORBIDDABLE)}."
            f"{nearest(str(text), (*RULES, *FORBIDDABLE))} The codes are {shown(RULES, 40)}."
        )
    return Ban(str(text), of)


def _pair_gate(text: str, match: re.Match[str]) -> PairGate:
    if match["figure"] != match["again"]:
        raise InputError(
            f"The gate {text!r} compares {match['figure']} with {match['again']}; expected the same figure on both "
            "sides."
        )
    figure = _figure(match["figure"], "learner", text)
    offset = float(match["offset"] or 0.0) * (-1 if match["plus"] in ("-", "−") else 1)
    # A regression must be shown: the end that makes failing harder.
    end = match["end"] or ("high" if match["sign"] == ">=" else "low")
    return PairGate(text, match["one"], match["other"], figure, end, match["sign"], offset)


def _figure(name: str, about: str, text: object) -> str:
    """The figure, if the subject has it; else where to find it, or the nearest ones."""
    if name in FIGURES[about] or (about == "learner" and name in scorer_names()):
        return name
    hint = nearest(name, FIGURES[about]) + f" The figures are {shown(FIGURES[about], 18)}."
    subject = term_of(name).subject
    if subject:
        hint = f" It is a figure of {_a(subject)}: write {'' if subject == 'learner' else subject + '.'}{name}."
    raise InputError(f"The gate {short(text, 80)} names {name!r}, which is not a figure of {_a(about)}.{hint}")


def _a(subject: str) -> str:
    return {"learner": "a learner", "network": "a network"}.get(subject, f"the {subject}")
