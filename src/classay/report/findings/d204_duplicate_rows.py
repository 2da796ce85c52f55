"""Do copies of rows make accuracy look better than it is?

- *A warning when:* With copies on both sides it is more accurate by more than 1 point, and the whole interval of the
  difference, paired over rows, is above 0.
- *A note when:* Rows occur more than once with the same label, but that was not shown.
- *Not reported when:* There are none; D203 then says whether rows contradict each other.
- *Judged by:* Rows count as copies if there are more than twice as many equal ones as shuffled columns would give.
  Copies are then kept on one side of every split, for every other finding. The most accurate learner is cross-validated
  a second time, without that.
"""

from __future__ import annotations

import numpy as np

from ...intervals import exact
from ..document import Finding
from ..document.phrases import points, quoted, share
from ..results import Results
from .rules import Judge, Outcome, difference_over_rows, fit_size

CODE = "D204"
TITLE = "Duplicate rows"
SHIFT = 0.01
"""Smallest difference in accuracy that matters."""


def check(results: Results, judge: Judge) -> Outcome:
    """One finding if there are duplicates."""
    data = results.data
    if not data.duplicates:
        return []
    copied = f"{data.duplicates:,} of {data.codes.size:,} rows repeat an earlier one, including the label."
    if not data.copies_together:
        return [_frequent(results, copied)]
    if results.with_copies is None:
        return [_note(data.duplicates, f"{copied} Copies are kept on one side of every split.")]
    return [_measured(results, judge, copied)]


def _measured(results: Results, judge: Judge, copied: str) -> Finding:
    """What the most accurate learner gains by copies on both sides."""
    assert results.with_copies is not None
    data, (name, apart) = results.data, results.with_copies
    together = results.predicted.get(name)
    if together is None or together.tested.size != apart.tested.size:
        return _note(data.duplicates, f"{copied} Copies are kept on one side of every split.")
    tested = apart.tested
    with_copies, without = apart.right(data.codes), together.right(data.codes)
    gain = difference_over_rows(with_copies, without, judge.level, data.groups_of(tested))
    groups = data.per_row.groups
    assert groups is not None
    has_copy = np.bincount(groups)[groups[tested]] > 1
    sentence = (
        f"{copied} With copies in both training and test rows, {quoted(name)} ({fit_size(together)}) predicts "
        f"{share(float(with_copies.mean()))} of the rows correctly: {share(float(with_copies[has_copy].mean()))} of "
        f"those that have a copy, {share(float(with_copies[~has_copy].mean()))} of the others. With copies on one side "
        f"only it is {share(float(without.mean()))}, a difference of {points(gain)}. All other figures of this page "
        "keep copies on one side."
    )
    if gain.low > 0 and gain.value > SHIFT:
        return Finding(
            code=CODE,
            level="warning",
            of="data",
            title="Copies of rows inflate accuracy",
            sentence=sentence,
            value=gain,
            reference=f"accuracy with copies on one side: {share(float(without.mean()))}",
            action="Drop the copies before you split, or keep them together (groups). Do not quote the accuracy of a "
            "random split.",
        )
    return _note(data.duplicates, sentence)


def _note(duplicates: int, sentence: str) -> Finding:
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=sentence,
        value=exact(duplicates, "count"),
        reference="0: no duplicates",
        action="Find out where they come from, and drop them if they are copies of the same case.",
    )


def _frequent(results: Results, copied: str) -> Finding:
    chance = results.data.chance_duplicates
    why = (
        f"With shuffled columns there would be {chance:,}, so equal cases are simply frequent."
        if results.data.duplicates <= 2 * chance
        else "If a copy is among the training rows, a test row is easier to predict than a new one."
    )
    return Finding(
        code=CODE,
        level="note",
        of="data",
        title=TITLE,
        sentence=f"{copied} {why}",
        value=exact(results.data.duplicates, "count"),
        reference=f"shuffled columns: {chance:,}",
        action="Drop the rows if they are copies; keep them if equal cases really are frequent.",
    )
