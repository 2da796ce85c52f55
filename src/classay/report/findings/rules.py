"""What rules share: how one is declared, what it says, and when a difference between figures is a finding.

A difference is a finding if its interval supports it, at a level at which all warnings of a page together are rarely
wrong: `Judge` has that level. The words of every finding are in `findings.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from string import Formatter
from typing import Any, NamedTuple

from ...intervals import Estimate, normal_quantile
from ...learner.records.base import MOSTLY, OutOfFold
from ..document import Finding
from ..document.phrases import bits, percent, points, quoted, share
from ..results import Results

EVERYONE = "all learners"
"""The subject of a finding that is not about a single learner."""
OPEN = "it is neither shown nor excluded"
"""Why there is nothing to say after a check that was made."""
ERROR = 0.03
"""Probability of any wrong warning from the comparisons of a page (Bonferroni)."""
SLICE_ERROR = 0.02
"""The same for slices, over all learners and their slices."""
WORDING: dict[str, dict[str, Any]] = tomllib.loads(
    files(__package__).joinpath("findings.toml").read_text(encoding="utf-8")
)
"""By code: the title, the text of the docs, and what is said of each outcome; of the code itself, what they share."""
FORMATS: dict[str, Callable[[Any], str]] = {form.__name__: form for form in (bits, percent, points, quoted, share)}


class Said(NamedTuple):
    """What a rule found: the name of the outcome, whose it is, the figure, and the parts of its sentences."""

    outcome: str
    of: str
    value: Estimate
    parts: dict[str, Any]


Outcome = list[Said] | Said | str
"""What a rule returns: its findings, if any, or the reason why it could not be checked."""
Check = Callable[[Results, "Judge"], Outcome]
Need = Callable[[Results], str]
"""What a rule needs of the results: the reason why it is not there, or ""."""


def say(outcome: str, of: str, value: Estimate, **parts: Any) -> Said:
    """A finding, in the words of its outcome."""
    return Said(outcome, of, value, parts)


class _Words(Formatter):
    """Fills in a sentence; figures of a report have formats of their own, as in {accuracy:percent}."""

    def format_field(self, value: Any, format_spec: str) -> str:
        form = FORMATS.get(format_spec)
        return form(value) if form is not None else str(super().format_field(value, format_spec))


@dataclass(frozen=True)
class Judge:
    """Makes intervals for a number of comparisons that can each give a warning."""

    comparisons: int
    learners: int

    @classmethod
    def of_report(cls, learners: int, networks: int) -> Judge:
        """The judge for this number of learners and networks.

        There are four possible warnings per learner (D201, L103, L111, L116), two per ordered pair (L102, L104), two
        for the data (D202, C401), and one per network.
        """
        return cls(4 * learners + 2 * learners * (learners - 1) + 2 + networks, learners)

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


@dataclass(frozen=True)
class Rule:
    """A finding that a report can have: the stable code, the check itself, and what it needs.

    `basis` is what it judges: refits, folds (cross-validated predictions), or nothing that is fitted. `alone` is
    whether it judges each learner without the others; it then sees only those that were given or are recommended.
    """

    code: str
    check: Check
    needs: tuple[Need, ...] = ()
    basis: str = ""
    alone: bool = False

    @property
    def title(self) -> str:
        """Its heading."""
        return str(WORDING[self.code]["title"])

    @property
    def docs(self) -> str:
        """The question, and when the finding is a warning, a note, or neither."""
        return str(WORDING[self.code]["docs"])

    def outcome(self, results: Results, judge: Judge) -> list[Finding] | str:
        """Its findings, or why it could not be checked."""
        for need in self.needs:
            why = need(results)
            if why:
                return why
        outcome = self.check(results, judge)
        if isinstance(outcome, str):
            return outcome
        said = [outcome] if isinstance(outcome, Said) else outcome
        if self.alone and results.contrast and len(results.names) == 1:  # the one default learner that is recommended
            said = [each._replace(of=results.names[0]) if each.of == EVERYONE else each for each in said]
        return [limited(self.worded(each), self.basis, results) for each in said]

    def worded(self, said: Said) -> Finding:
        """The finding in words."""
        words = WORDING[self.code] | WORDING[self.code][said.outcome]
        texts = {
            name: _Words().format(words.get(name, ""), **{"of": said.of, "value": said.value, **said.parts})
            for name in ("title", "sentence", "reference", "action")
        }
        return Finding(code=self.code, level=words["level"], of=said.of, value=said.value, **texts)


RULES: dict[str, Rule] = {}
"""Every finding that a report can have, by code, as the files of this folder declare them."""


def rule(code: str, *needs: Need, basis: str = "", alone: bool = False) -> Callable[[Check], Check]:
    """Declare a function as the rule of a code; its words are in `findings.toml`."""

    def declare(check: Check) -> Check:
        RULES[code] = Rule(code, check, needs, basis, alone)
        return check

    return declare


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
    most = max(results.predicted.values(), key=lambda held: held.fit_rows)
    return f"cross-validated fits had {most.fit_rows:,} of {most.available:,} rows; use --rows all"


def full_folds(results: Results) -> dict[str, OutOfFold]:
    """The cross-validated predictions of learners whose fits had nearly all rows: with fewer, it is another learner."""
    return {name: held for name, held in results.predicted.items() if held.is_full}


def fits_of(held: OutOfFold | None) -> str:
    """The rows of the fits behind predictions, in parentheses; nothing where these are not known."""
    return "" if held is None or not held.fit_rows else f" (fits on {held.fit_rows:,} rows)"


def refitted(results: Results) -> str:
    """The rows of refits on halves, in parentheses, so that their accuracy is not taken for the cross-validated one."""
    return " (refits)" if results.refit_rows is None else f" (refits on {results.refit_rows:,} rows)"


def every_learner(asked: Mapping[str, Any], results: Results) -> str:
    """The learners of a statement on all that could be asked."""
    if len(asked) == 1:
        return quoted(next(iter(asked)))
    return "Every learner" if len(asked) == len(results.predicted) else "Every learner with fits on all rows"


def limited(finding: Finding, basis: str, results: Results) -> Finding:
    """The finding as it is, or, if fits used clearly fewer rows than there are, at most as a note that says so."""
    rows, available = _rows_used(finding.of, basis, results)
    if rows >= MOSTLY * available:
        return finding
    return replace(
        finding,
        level="note" if finding.level == "warning" else finding.level,
        sentence=f"{finding.sentence} Fits used {rows:,} of {available:,} rows (--rows).",
    )


def _rows_used(of: str, basis: str, results: Results) -> tuple[int, int]:
    """Rows of the fits behind a finding, and how many there could have been."""
    if basis == "refits":
        return results.refit_rows or 0, int(results.settings.get("half", 0))
    if basis == "folds":
        held = [results.predicted[of]] if of in results.predicted else list(results.predicted.values())
        return min(((each.fit_rows, each.available) for each in held), default=(0, 0))
    return 0, 0
