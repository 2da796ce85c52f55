"""Do rows belong together, so that accuracy on shuffled rows promises too much?

- *A warning when:* Balanced accuracy of a forest falls by 3 points or more, and by a quarter of what it has above
  chance, when tied rows are left out together instead of at random; the 99.9 % interval of the fall, over groups, is
  above 0. Ties: neighbouring rows of the file, the same value of a column, or nearly the same values in all columns.
  Both ways leave out the same share of each class, so that a file sorted by class is not mistaken for it.
- *Fine when:* No tie shows this. Groups that were given are already kept together.
- *Not checked when:* Times were given, or there are texts only.
"""

from __future__ import annotations

from ...data.dependence import COLUMN, ORDER, Tie
from ...intervals import exact
from ..document import Finding, Unasked
from ..document.phrases import joined, percent, quoted, share
from ..results import Results
from .rules import Judge, Outcome

CODE = "D206"
TITLE = "Rows belong together"


def check(results: Results, judge: Judge) -> Outcome:
    """One warning on what ties rows together, or one finding that nothing does."""
    measured = results.suspicions.dependence
    if measured is None:
        return Unasked(CODE, TITLE, results.suspicions.why.get("dependence", "it was not measured"))
    if measured.found:
        return [_warning(measured.found, results)]
    return [_fine(len(measured.screened), results)]


def _warning(found: tuple[Tie, ...], results: Results) -> Finding:
    # A column can be passed as it is; so can the order of the file; near rows only point to something.
    first = min(found, key=lambda tie: (COLUMN, ORDER).index(tie.kind) if tie.kind in (COLUMN, ORDER) else 2)
    others = [f"{tie.what} ({share(tie.apart.value)})" for tie in found if tie is not first]
    too = f" The same holds for {joined(others)}." if others else ""
    rows = "" if first.rows == results.data.codes.size else f" (measured on {first.rows:,} rows)"
    how = {
        COLUMN: f"with all rows of the same {quoted(first.name)} on one side",
        ORDER: "with a fifth of the file left out at a time",
    }.get(first.kind, "with such rows on one side")
    what = {COLUMN: f"Rows with the same {quoted(first.name)}", ORDER: "Neighbouring rows of the file"}
    return Finding(
        code=CODE,
        level="warning",
        of="data",
        title=TITLE,
        sentence=f"{what.get(first.kind, 'Rows that are nearly the same')} give each other away: a forest predicts "
        f"{share(first.shuffled.value)} of shuffled rows correctly, but {percent(first.apart)} {how}{rows}.{too} "
        "Accuracy on this page is that of shuffled rows.",
        value=first.apart,
        reference=f"shuffled rows: {share(first.shuffled.value)}",
        action=_action(first),
    )


def _action(tie: Tie) -> str:
    if tie.kind == COLUMN:
        name = quoted(tie.name)
        return f"Make the report again with --groups {name}, unless you will predict rows of the same values again."
    if tie.kind == ORDER:
        return (
            "Find out what neighbouring rows have in common (a recording, a person, a day) and give it as --groups, or "
            "the time of each row as --time. Without a column for it, number the blocks of the file."
        )
    return (
        "Find out what these rows have in common (a patient, a machine, a copy with noise) and give it as --groups: "
        "the column may have been dropped."
    )


def _fine(candidates: int, results: Results) -> Finding:
    given = " beyond the groups that were given" if "groups" in results.data.per_row.given else ""
    return Finding(
        code=CODE,
        level="fine",
        of="data",
        title="Rows need not be kept together",
        sentence="Neither the order of the file, nor a column with repeated values, nor nearness ties rows "
        f"together{given}.",
        value=exact(0, "count"),
        reference=f"{candidates} candidates",
    )
