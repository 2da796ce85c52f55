"""Rules on what makes every figure wrong: D205 (leaks), D206 (tied rows), D207 and D208 (the test part)."""

from __future__ import annotations

from ...data.checks.part_shift import Shift
from ...data.checks.row_dependence import COLUMN, ORDER, Tie
from ...data.checks.target_leaks import Leak
from ...intervals import exact
from ..document.phrases import joined, quoted, share
from ..results import Results
from .rules import Judge, Outcome, Said, rule, say


@rule("D205")
def leak(results: Results, judge: Judge) -> Outcome:
    """Does one column predict the label by itself, as if it were made from it?"""
    measured = results.suspicions.leaks
    if measured is None:
        return results.suspicions.why.get("leaks", "it was not measured")
    if measured.found:
        first, rest = measured.found[0], [quoted(each.column) for each in measured.found[1:]]
        named = f" Its name looks like that of the labels, {quoted(results.data.target)}." if first.named else ""
        too = f" So {'do' if len(rest) > 1 else 'does'} {joined(rest)}." if rest else ""
        return _of_column("leak", first, named + too)
    if measured.suspects:
        return _of_column("suspect", measured.suspects[0])
    most = max((each.skill.value for each in measured.columns), default=0.0)
    value = exact(most, "skill of the best column")
    return say("fine", "data", value, columns=len(measured.columns), best=max(most, 0))


def _of_column(outcome: str, leak: Leak, too: str = "") -> Said:
    assert leak.all_columns is not None
    assert leak.others is not None
    skills = (
        f"{quoted(leak.column)} alone has a skill of {leak.skill.value:.2f} (0: as good as chance; 1: always right), "
        f"all columns together have {leak.all_columns.value:.2f}, all others {leak.others.value:.2f}."
    )
    return say(outcome, "data", leak.skill, column=leak.column, skills=skills, others=leak.others.value, too=too)


@rule("D206")
def tied_rows(results: Results, judge: Judge) -> Outcome:
    """Do rows belong together, so that accuracy on shuffled rows promises too much?"""
    measured = results.suspicions.dependence
    if measured is None:
        return results.suspicions.why.get("dependence", "it was not measured")
    if measured.found:
        return _tied(measured.found, results)
    beyond = " beyond the groups that were given" if "groups" in results.data.per_row.given else ""
    return say("fine", "data", exact(0, "count"), beyond=beyond, candidates=len(measured.screened))


def _tied(ties: tuple[Tie, ...], results: Results) -> Said:
    # A column can be passed as it is; so can the order of the file; near rows only point to something.
    first = min(ties, key=lambda tie: (COLUMN, ORDER).index(tie.kind) if tie.kind in (COLUMN, ORDER) else 2)
    others = [f"{tie.what} ({share(tie.apart.value)})" for tie in ties if tie is not first]
    name = quoted(first.name)
    outcome, what, how = {
        COLUMN: ("column", f"Rows with the same {name}", f"with all rows of the same {name} on one side"),
        ORDER: ("order", "Neighbouring rows of the file", "with a fifth of the file left out at a time"),
    }.get(first.kind, ("near", "Rows that are nearly the same", "with such rows on one side"))
    return say(
        outcome,
        "data",
        first.apart,
        what=what,
        how=how,
        name=first.name,
        shuffled=first.shuffled.value,
        rows="" if first.rows == results.data.codes.size else f" (measured on {first.rows:,} rows)",
        too=f" The same holds for {joined(others)}." if others else "",
    )


@rule("D207")
def contaminated_test(results: Results, judge: Judge) -> Outcome:
    """Are rows of the test part also in the training part?"""
    measured = results.suspicions.shift
    if measured is None:
        return results.suspicions.why.get("shift", "it was not measured")
    outcome = "contaminated" if measured.contaminated else "usual" if measured.copies.value else "fine"
    return say(outcome, "data", measured.copies, rows=measured.n_test, usual=measured.usual_copies)


@rule("D208")
def shifted_test(results: Results, judge: Judge) -> Outcome:
    """Is the test part unlike the training part?"""
    measured = results.suspicions.shift
    if measured is None or not measured.auc.known:
        return results.suspicions.why.get("shift", "too few groups are in one of the parts")
    auc = f"{measured.auc.value:.2f} ({measured.auc.low:.2f} to {measured.auc.high:.2f}; 0.5: not at all)"
    outcome = "unlike" if measured.unlike else "fine"
    return say(outcome, "data", measured.auc, auc=auc, columns=_columns_that_differ(measured))


def _columns_that_differ(measured: Shift) -> str:
    named = [f"{quoted(each.column)} ({each.train} in training, {each.test} in test)" for each in measured.columns[:3]]
    if not named:
        return "No single column differs; the columns are related in another way."
    more = len(measured.columns) - 3
    return f"These columns differ most: {joined(named)}{f', and {more} more' if more > 0 else ''}."
