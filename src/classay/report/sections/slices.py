"""The section of a report on where errors gather."""

from __future__ import annotations

import numpy as np

from ... import charts
from ...data.slice import Slice
from ...expect import counted
from ..document import Picture, Section, Sheet
from ..parts import Learner, Parts
from ..saying import joined, quoted
from .learners import spec_of
from .shown_rows import cell, columns_first

MOST_IN_SLICE = 15


def slices_section(parts: Parts) -> Section:
    """Where the errors of each learner gather."""
    asked = {name: one for name, one in parts.learners.items() if one.slices is not None}
    if not asked:
        why = next(iter(parts.learners.values())).why.get("slices", "there are no cross-validated answers")
        return Section("slices", "Where errors gather", "", absent=why)
    sheets = [_slices(parts, name, one) for name, one in asked.items()]
    none = [quoted(sheet.key.removeprefix("slices/")) for sheet in sheets if not sheet.rows]
    lead = (
        "Ranges and categories of one or two columns in which a learner is wrong more often than elsewhere: sought in "
        "one half of the rows, confirmed in the other. Open one to see its rows."
    )
    lead += f" Errors of {joined(none)} gather nowhere clearly." if none else ""
    filled = [(name, one) for name, one in asked.items() if one.slices is not None and one.slices.slices]
    pictures: tuple[Picture, ...] = ()
    if filled:
        name, one = max(filled, key=lambda item: _right(parts, item[1]))
        pictures = (_picture(name, one),)
    return Section("slices", "Where errors gather", lead, pictures, tuple(sheet for sheet in sheets if sheet.rows))


def _picture(name: str, one: Learner) -> Picture:
    assert one.slices is not None
    return Picture(
        f"slices/{name}",
        f"Error rates of {name}",
        f"Error rates in the slices in which {name} is wrong most, with intervals, against all rows.",
        spec_of(charts.slices_chart(one.slices)),
        None,
    )


def _right(parts: Parts, one: Learner) -> float:
    """How often it is right: the chart is of the learner that one would take."""
    return 0.0 if one.held_out is None else float((one.held_out.labels == parts.data.codes).mean())


def _slices(parts: Parts, name: str, one: Learner) -> Sheet:
    assert one.slices is not None
    rows = tuple(
        (each.condition, each.size, each.error_rate, each.rest_rate, each.lift, each.q_value)
        for each in one.slices.slices
    )
    details = tuple(_inside(parts, one, place, each) for place, each in enumerate(one.slices.slices))
    return Sheet(
        f"slices/{name}",
        f"Where {name} is wrong",
        ("where", "size", "error_rate", "rest_rate", "lift", "q_value"),
        rows,
        f"{one.slices.n_errors:,} of {one.slices.n_rows:,} rows are labelled wrongly; "
        f"{counted(len(one.slices.tested), 'slice')} tested.",
        (name,) * len(rows),
        details,
    )


def _inside(parts: Parts, one: Learner, place: int, each: Slice) -> Sheet:
    """Rows of a slice, wrong ones first."""
    assert one.slices is not None
    assert one.held_out is not None
    data, held = parts.data, one.held_out
    rows = np.flatnonzero(one.slices.rows(place))
    wrong = held.labels[rows] != data.codes[rows]
    shown = np.concatenate([rows[wrong], rows[~wrong]])[:MOST_IN_SLICE]
    names = columns_first(data, each.features)
    return Sheet(
        f"slice/{one.name}/{place}",
        f"Rows where {each.condition}",
        ("row", "label", "answer", *names),
        tuple(
            (
                int(row),
                cell(data.classes[data.codes[row]]),
                cell(data.classes[held.labels[row]]),
                *(cell(data.X[name].iloc[row]) for name in names),
            )
            for row in shown
        ),
        f"{shown.size} of {rows.size:,} rows, wrong ones first. Rows are counted from 0.",
    )
