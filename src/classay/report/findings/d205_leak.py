"""Does a column give the label away?

- *A warning when:* One column alone has a skill of 0.9 or more (0.6 if its name looks like that of the labels), all
  columns together have at most 0.05 more, and all others at least 0.25 less. Skill is balanced accuracy above chance
  as a share of what is possible, cross-fitted: 0 by chance, 1 if always right. D202 is then not asked.
- *A note when:* The same from a skill of 0.5 on, or a number with a skill below 0.99 that errs only where classes
  overlap, as measurements do: it may be the one column that matters, and may be right.
- *Fine when:* No column is like that.
- *Not checked when:* There are texts only.
"""

from __future__ import annotations

from ...data.leaks import Leak
from ...intervals import exact
from ..document import Finding, Unasked
from ..document.phrases import joined, quoted
from ..results import Results
from .rules import Judge, Outcome

CODE = "D205"
TITLE = "A column gives the label away"


def check(results: Results, judge: Judge) -> Outcome:
    """One finding on the columns that give the label away, or that may, or that none does."""
    measured = results.suspicions.leaks
    if measured is None:
        return Unasked(CODE, TITLE, results.suspicions.why.get("leaks", "it was not measured"))
    if measured.found:
        return [_warning(measured.found, results)]
    if measured.suspects:
        return [_note(measured.suspects[0])]
    return [_fine(len(measured.columns), max((each.skill.value for each in measured.columns), default=0.0))]


def _warning(found: tuple[Leak, ...], results: Results) -> Finding:
    first, rest = found[0], [quoted(each.column) for each in found[1:]]
    named = f" Its name looks like that of the labels, {quoted(results.data.target)}." if first.named else ""
    too = f" So {'do' if len(rest) > 1 else 'does'} {joined(rest)}." if rest else ""
    return Finding(
        code=CODE,
        level="warning",
        of="data",
        title=TITLE,
        sentence=f"{_skills(first)}{named}{too} Either it was made from the label or recorded after it, or this one "
        "column is all that matters.",
        value=first.skill,
        reference=_reference(first),
        action=f"Ask whether {quoted(first.column)} is known when you predict. If not, drop it (--drop) and make this "
        "report again: no other figure of this page means anything until then. If its values are names of groups, "
        "such as patients, give them as --groups.",
    )


def _note(one: Leak) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title="One column does what all do",
        sentence=f"{_skills(one)} That is right if this is the one column that matters, and wrong if it is recorded "
        "after the label is known.",
        value=one.skill,
        reference=_reference(one),
        action=f"Check that {quoted(one.column)} is known when you predict.",
    )


def _skills(one: Leak) -> str:
    assert one.all_columns is not None
    assert one.others is not None
    return (
        f"{quoted(one.column)} alone has a skill of {one.skill.value:.2f} (0: as good as chance; 1: always right), all "
        f"columns together have {one.all_columns.value:.2f}, all others {one.others.value:.2f}."
    )


def _reference(one: Leak) -> str:
    return "" if one.others is None else f"all other columns: {one.others.value:.2f}"


def _fine(columns: int, most: float) -> Finding:
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="No column gives the label away",
        sentence=f"Of {columns} columns tried alone, the best has skill {max(most, 0):.2f} (1: always right). None "
        "has nearly all the skill that all have together while the others lack it.",
        value=exact(most, "skill of the best column"),
        reference=f"{columns} columns",
    )
