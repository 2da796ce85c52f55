"""Rules on what makes every figure wrong: D205 (leaks), D206 (tied rows), D207 and D208 (the test part)."""

from __future__ import annotations

from ...data.checks.part_shift import Shift
from ...data.checks.row_dependence import COLUMN, ORDER, Tie
from ...data.checks.target_leaks import Leak
from ...intervals import exact
from ..document import Finding
from ..document.phrases import joined, percent, quoted, share
from ..results import Results
from .rules import Judge, Outcome, fine, note, rule, warning


@rule("D205", "Possible target leak: one column predicts the label")
def leak(results: Results, judge: Judge) -> Outcome:
    """Does one column predict the label by itself, as if it were made from it?

    - *A warning when:* One column alone has a skill of 0.9 or more (0.6 if its name looks like that of the labels), all
      columns together have at most 0.05 more, and all others at least 0.25 less. Skill is balanced accuracy above
      chance as a share of what is possible, cross-fitted: 0 by chance, 1 if always right. D202 is then not asked.
    - *A note when:* The same from a skill of 0.5 on, or a number with a skill below 0.99 that errs only where classes
      overlap, as measurements do: it may be the one column that matters, and may be right.
    - *Fine when:* No column is like that.
    - *Not checked when:* There are texts only.
    """
    measured = results.suspicions.leaks
    if measured is None:
        return results.suspicions.why.get("leaks", "it was not measured")
    if measured.found:
        return _leak(measured.found, results)
    if measured.suspects:
        first = measured.suspects[0]
        return note(
            "data",
            f"{_skills(first)} That is right if this is the one column that matters, and wrong if it is recorded after "
            "the label is known.",
            first.skill,
            _others(first),
            f"Check that {quoted(first.column)} is known when you predict.",
            "One column does what all do",
        )
    columns, most = len(measured.columns), max((each.skill.value for each in measured.columns), default=0.0)
    return fine(
        "data",
        f"Of {columns} columns tried alone, the best has skill {max(most, 0):.2f} (1: always right). None has nearly "
        "all the skill that all have together while the others lack it.",
        exact(most, "skill of the best column"),
        f"{columns} columns",
        "No target leak found",
    )


def _leak(leaks: tuple[Leak, ...], results: Results) -> Finding:
    first, rest = leaks[0], [quoted(each.column) for each in leaks[1:]]
    named = f" Its name looks like that of the labels, {quoted(results.data.target)}." if first.named else ""
    too = f" So {'do' if len(rest) > 1 else 'does'} {joined(rest)}." if rest else ""
    return warning(
        "data",
        f"{_skills(first)}{named}{too} Either it was made from the label or recorded after it, or this one column is "
        "all that matters.",
        first.skill,
        _others(first),
        f"Ask whether {quoted(first.column)} is known when you predict. If not, drop it (--drop) and make this report "
        "again: no other figure of this page means anything until then. If its values are names of groups, such as "
        "patients, give them as --groups.",
    )


def _skills(leak: Leak) -> str:
    assert leak.all_columns is not None
    assert leak.others is not None
    return (
        f"{quoted(leak.column)} alone has a skill of {leak.skill.value:.2f} (0: as good as chance; 1: always right), "
        f"all columns together have {leak.all_columns.value:.2f}, all others {leak.others.value:.2f}."
    )


def _others(leak: Leak) -> str:
    return "" if leak.others is None else f"all other columns: {leak.others.value:.2f}"


@rule("D206", "Rows belong together")
def tied_rows(results: Results, judge: Judge) -> Outcome:
    """Do rows belong together, so that accuracy on shuffled rows promises too much?

    - *A warning when:* Balanced accuracy of a forest falls by 3 points or more, and by a quarter of what it has above
      chance, when tied rows are left out together instead of at random; the 99.9 % interval of the fall, over groups,
      is above 0. Ties: neighbouring rows of the file, the same value of a column, or nearly the same values in all
      columns. Both ways leave out the same share of each class, so that a file sorted by class is not mistaken for it.
    - *Fine when:* No tie shows this. Groups that were given are already kept together.
    - *Not checked when:* Times were given, or there are texts only.
    """
    measured = results.suspicions.dependence
    if measured is None:
        return results.suspicions.why.get("dependence", "it was not measured")
    if measured.found:
        return _tied(measured.found, results)
    beyond = " beyond the groups that were given" if "groups" in results.data.per_row.given else ""
    return fine(
        "data",
        f"Neither the order of the file, nor a column with repeated values, nor nearness ties rows together{beyond}.",
        exact(0, "count"),
        f"{len(measured.screened)} candidates",
        "Rows need not be kept together",
    )


def _tied(ties: tuple[Tie, ...], results: Results) -> Finding:
    # A column can be passed as it is; so can the order of the file; near rows only point to something.
    first = min(ties, key=lambda tie: (COLUMN, ORDER).index(tie.kind) if tie.kind in (COLUMN, ORDER) else 2)
    others = [f"{tie.what} ({share(tie.apart.value)})" for tie in ties if tie is not first]
    too = f" The same holds for {joined(others)}." if others else ""
    rows = "" if first.rows == results.data.codes.size else f" (measured on {first.rows:,} rows)"
    name = quoted(first.name)
    what, how, action = {
        COLUMN: (
            f"Rows with the same {name}",
            f"with all rows of the same {name} on one side",
            f"Make the report again with --groups {name}, unless you will predict rows of the same values again.",
        ),
        ORDER: (
            "Neighbouring rows of the file",
            "with a fifth of the file left out at a time",
            "Find out what neighbouring rows have in common (a recording, a person, a day) and give it as --groups, or "
            "the time of each row as --time. Without a column for it, number the blocks of the file.",
        ),
    }.get(
        first.kind,
        (
            "Rows that are nearly the same",
            "with such rows on one side",
            "Find out what these rows have in common (a patient, a machine, a copy with noise) and give it as "
            "--groups: the column may have been dropped.",
        ),
    )
    return warning(
        "data",
        f"{what} give each other away: a forest predicts {share(first.shuffled.value)} of shuffled rows correctly, but "
        f"{percent(first.apart)} {how}{rows}.{too} Accuracy on this page is that of shuffled rows.",
        first.apart,
        f"shuffled rows: {share(first.shuffled.value)}",
        action,
    )


@rule("D207", "Test rows are in the training part")
def contaminated_test(results: Results, judge: Judge) -> Outcome:
    """Are rows of the test part also in the training part?

    - *A warning when:* At least 1 % more of the test rows equal a training row in every column than training rows equal
      each other; the 99.9 % interval of the share is also above that.
    - *A note when:* Test rows equal training rows, but no more often than training rows equal each other.
    - *Fine when:* No test row equals a training row.
    - *Not checked when:* No test part was given.
    """
    measured = results.suspicions.shift
    if measured is None:
        return results.suspicions.why.get("shift", "it was not measured")
    reference = f"training rows that equal another training row: {share(measured.usual_copies)}"
    if not measured.copies.value:
        sentence = f"None of {measured.n_test:,} test rows equals a training row."
        return fine("data", sentence, measured.copies, reference, "No test row is in the training part")
    sentence = (
        f"{percent(measured.copies)} of {measured.n_test:,} test rows equal a training row in every column; "
        f"{share(measured.usual_copies)} of the training rows equal another one."
    )
    if not measured.contaminated:
        return note("data", sentence, measured.copies, reference, title="Some test rows equal training rows")
    return warning(
        "data",
        f"{sentence} Accuracy on such rows is that of training rows.",
        measured.copies,
        reference,
        "Drop these rows from one of the parts, and find out how they came into both.",
    )


@rule("D208", "The test part is unlike the training part")
def shifted_test(results: Results, judge: Judge) -> Outcome:
    """Is the test part unlike the training part?

    - *A warning when:* A forest distinguishes test rows from training rows with an AUC of 0.6 or more, cross-fitted,
      and the 99.9 % interval is above 0.5. Columns that differ by themselves are named (p, times the number of columns,
      below .001).
    - *Fine when:* It is not.
    - *Not checked when:* No test part was given.
    """
    measured = results.suspicions.shift
    if measured is None or not measured.auc.known:
        return results.suspicions.why.get("shift", "too few groups are in one of the parts")
    auc = f"{measured.auc.value:.2f} ({measured.auc.low:.2f} to {measured.auc.high:.2f}; 0.5: not at all)"
    sentence = f"A forest distinguishes test rows from training rows with an AUC of {auc}."
    if not measured.unlike:
        return fine("data", sentence, measured.auc, "0.5: alike", "The test part is like the training part")
    return warning(
        "data",
        f"{sentence} {_columns_that_differ(measured)} Figures on the test part are about other rows than learners were "
        "trained on.",
        measured.auc,
        "0.5: alike",
        "Find out why: another time, place or way of recording. If rows like those of the test part are what you will "
        "predict, train on rows like them; if not, draw the test part anew.",
    )


def _columns_that_differ(measured: Shift) -> str:
    named = [f"{quoted(each.column)} ({each.train} in training, {each.test} in test)" for each in measured.columns[:3]]
    if not named:
        return "No single column differs; the columns are related in another way."
    more = len(measured.columns) - 3
    return f"These columns differ most: {joined(named)}{f', and {more} more' if more > 0 else ''}."
