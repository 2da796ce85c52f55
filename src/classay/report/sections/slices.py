"""The section of a report on where errors concentrate."""

from __future__ import annotations

import numpy as np

from ... import charts
from ...data.slices import Slice
from ...expect import counted
from ..document import Picture, Section, Sheet
from ..phrases import joined, quoted
from ..results import LearnerResults, Results
from .data import cell, columns_first
from .learners import spec_of

MOST_IN_SLICE = 15


def slices_section(parts: Results) -> Section:
    """Where the errors of each learner concentrate."""
    asked = {name: one for name, one in parts.learners.items() if one.slices is not None}
    if not asked:
        why = next(iter(parts.learners.values())).why.get("slices", "there are no cross-validated predictions")
        return Section("slices", "Where errors concentrate", "", absent=why)
    sheets = [_slices(parts, name, one) for name, one in asked.items()]
    none = [quoted(sheet.key.removeprefix("slices/")) for sheet in sheets if not sheet.rows]
    lead = (
        "Ranges and categories of one or two columns in which a learner is wrong more often than elsewhere: found in "
        "one half of the rows, confirmed in the other. Open one to see its rows."
    )
    lead += f" No slice stands out for {joined(none)}." if none else ""
    filled = [(name, one) for name, one in asked.items() if one.slices is not None and one.slices.slices]
    pictures: tuple[Picture, ...] = ()
    if filled:
        name, one = max(filled, key=lambda item: _right(parts, item[1]))
        pictures = (_picture(name, one),)
    return Section("slices", "Where errors concentrate", lead, pictures, tuple(sheet for sheet in sheets if sheet.rows))


def _picture(name: str, one: LearnerResults) -> Picture:
    assert one.slices is not None
    return Picture(
        f"slices/{name}",
        f"Error rates of {name}",
        f"Error rates in the slices in which {name} is wrong most often, with intervals, compared with all rows.",
        spec_of(charts.slices_chart(one.slices)),
        None,
    )


def _right(parts: Results, one: LearnerResults) -> float:
    """How often it is right: the chart shows the learner that one would choose."""
    return 0.0 if one.held_out is None else float((one.held_out.labels == parts.data.codes).mean())


def _slices(parts: Results, name: str, one: LearnerResults) -> Sheet:
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
        f"{one.slices.n_errors:,} of {one.slices.n_rows:,} rows are predicted wrongly; "
        f"{counted(len(one.slices.tested), 'slice')} tested.",
        (name,) * len(rows),
        details,
    )


def _inside(parts: Results, one: LearnerResults, place: int, each: Slice) -> Sheet:
    """Rows of a slice, errors first."""
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
        ("row", "label", "prediction", *names),
        tuple(
            (
                int(row),
                cell(data.classes[data.codes[row]]),
                cell(data.classes[held.labels[row]]),
                *(cell(data.X[name].iloc[row]) for name in names),
            )
            for row in shown
        ),
        f"{shown.size} of {rows.size:,} rows, errors first. Rows are counted from 0.",
    )
