"""What rules share: how one is declared, what it returns, and when a difference between figures is a finding.

A difference is a finding if its interval supports it, at a level at which all warnings of a page together are rarely
wrong: `Judge` has that level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...intervals import Estimate, normal_quantile
from ..cross_validated import MOSTLY, HeldOut
from ..document import Finding
from ..results import Results

EVERYONE = "all learners"
"""The subject of a finding that is not about a single learner."""
ERROR = 0.03
"""Probability of any wrong warning from the comparisons of a page (Bonferroni)."""
SLICE_ERROR = 0.02
"""The same for slices, over all learners and their slices."""

Outcome = list[Finding] | Finding | str
"""What a rule returns: its findings, if any, or the reason why it could not be checked."""
Need = Callable[[Results], str]
"""What a rule needs of the results: the reason why it is not there, or ""."""


@dataclass(frozen=True)
class Judge:
    """Makes intervals for a number of comparisons that can each give a warning."""

    comparisons: int
    learners: int

    @classmethod
    def of_report(cls, learners: int, networks: int) -> Judge:
        """The judge for this number of learners and networks.

        There are two possible warnings per learner (D201, L103), two per ordered pair (L102, L104), two for the data
        (D202, C401), and one per network.
        """
        return cls(2 * learners + 2 * learners * (learners - 1) + 2 + networks, learners)

    @property
    def level(self) -> float:
        """Confidence level of an interval that can give a warning."""
        return 1 - ERROR / max(self.comparisons, 1)

    def slice_p(self, tested: int) -> float:
        """The p-value up to which one of the `tested` slices gives a warning."""
        return SLICE_ERROR / max(self.learners * tested, 1)

    def widened(self, estimate: Estimate) -> Estimate:
        """The estimate with its interval at this level: each side is extended by the ratio of normal quantiles."""
        ratio = normal_quantile(self.level) / normal_quantile(estimate.level)
        low = estimate.value - ratio * (estimate.value - estimate.low)
        high = estimate.value + ratio * (estimate.high - estimate.value)
        return replace(estimate, low=low, high=high, level=self.level)


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A finding that a report can have: the stable code, the heading, the text of the docs, and the check itself.

    `basis` is what it judges: refits, folds (cross-validated predictions), or nothing that the budget limits.
    """

    code: str
    title: str
    docs: str
    check: Callable[[Results, Judge], Outcome]
    needs: tuple[Need, ...] = ()
    basis: str = ""

    def outcome(self, results: Results, judge: Judge) -> list[Finding] | str:
        """Its findings under its code, or why it could not be checked."""
        for need in self.needs:
            why = need(results)
            if why:
                return why
        outcome = self.check(results, judge)
        if isinstance(outcome, str):
            return outcome
        findings = [outcome] if isinstance(outcome, Finding) else outcome
        named = [replace(each, code=self.code, title=each.title or self.title) for each in findings]
        return [limited(each, self.basis, results) for each in named]


RULES: dict[str, Rule] = {}
"""Every finding that a report can have, by code, as the files of this folder declare them."""


def rule(
    code: str, title: str, *needs: Need, basis: str = ""
) -> Callable[[Callable[[Results, Judge], Outcome]], Callable[[Results, Judge], Outcome]]:
    """Declare a function as the rule of a code; its docstring is its entry in the docs."""

    def declare(check: Callable[[Results, Judge], Outcome]) -> Callable[[Results, Judge], Outcome]:
        RULES[code] = Rule(code=code, title=title, docs=check.__doc__ or "", check=check, needs=needs, basis=basis)
        return check

    return declare


def finding(level: str, of: str, sentence: str, value: Estimate, reference: str, action: str, title: str) -> Finding:
    """A finding of any level; the rule adds its code, and its title if this one is empty."""
    return Finding(
        code="", level=level, of=of, title=title, sentence=sentence, value=value, reference=reference, action=action
    )


def warning(of: str, sentence: str, value: Estimate, reference: str, action: str, title: str = "") -> Finding:
    """Act on it."""
    return finding("warning", of, sentence, value, reference, action, title)


def note(of: str, sentence: str, value: Estimate, reference: str, action: str = "", title: str = "") -> Finding:
    """Good to know."""
    return finding("note", of, sentence, value, reference, action, title)


def fine(of: str, sentence: str, value: Estimate, reference: str, title: str = "") -> Finding:
    """Checked, no problem."""
    return finding("fine", of, sentence, value, reference, "", title)


def refits(results: Results) -> str:
    """Learners that were fitted again, on halves of the rows."""
    return "" if results.learners else "there are no refits"


def two_learners(results: Results) -> str:
    """Learners to compare with each other."""
    return "" if len(results.learners) > 1 else "it needs at least 2 learners"


def complexity(results: Results) -> str:
    """The geometry of the rows."""
    return "" if results.complexity is not None else results.why.get("complexity", "complexity was not measured")


def full_fits(results: Results) -> str:
    """Cross-validated predictions of fits on nearly all rows."""
    if full_folds(results):
        return ""
    if not results.predicted:
        return "there are no cross-validated predictions"
    most = max(results.predicted.values(), key=lambda held: held.rows)
    return f"cross-validated fits had {most.rows:,} of {most.available:,} rows; use a larger budget or --fold-rows all"


def full_folds(results: Results) -> dict[str, HeldOut]:
    """The cross-validated predictions of learners whose fits had nearly all rows: with fewer, it is another learner."""
    return {name: held for name, held in results.predicted.items() if held.is_full}


def most_accurate(held: Mapping[str, HeldOut], results: Results) -> str:
    """The learner whose cross-validated predictions are right most often."""
    return max(held, key=lambda name: float(held[name].right(results.data.codes).mean()))


def fit_size(held: HeldOut) -> str:
    """How many rows the fits of a figure had, such as fits on 2,088 rows."""
    return f"fits on {held.rows:,} rows"


def every_learner(asked: Mapping[str, Any], results: Results) -> str:
    """The learners of a statement on all that could be asked."""
    return "Every learner" if len(asked) == len(results.predicted) else "Every learner with fits on all rows"


def limited(finding: Finding, basis: str, results: Results) -> Finding:
    """The finding as it is, or, if fits used clearly fewer rows than there are, at most as a note that says so."""
    rows, available = _rows_used(finding.of, basis, results)
    if rows >= MOSTLY * available:
        return finding
    return replace(
        finding,
        level="note" if finding.level == "warning" else finding.level,
        sentence=f"{finding.sentence} Fits used {rows:,} of {available:,} rows to stay within the budget.",
    )


def _rows_used(of: str, basis: str, results: Results) -> tuple[int, int]:
    """Rows of the fits behind a finding, and how many there could have been."""
    if basis == "refits":
        half = int(results.settings.get("half", 0))
        size = results.settings.get("size", "all")
        return (size, half) if isinstance(size, int) else (half, half)
    if basis == "folds":
        held = [results.predicted[of]] if of in results.predicted else list(results.predicted.values())
        return min(((each.rows, each.available) for each in held), default=(0, 0))
    return 0, 0
