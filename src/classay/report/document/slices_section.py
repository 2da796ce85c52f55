"""Where errors concentrate: slices of the columns, of complexity and confidence, and each column alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import charts
from ...arrays import Ints
from ...data.model.error_slices import Slices
from ...expect import counted
from ...regions.region import Region
from ..model_check import ModelCheck
from ..results import Results
from .document import Picture, Section, Sheet
from .geometry_section import sentence_name
from .learners_section import spec_of
from .phrases import joined, quoted, share
from .shown_rows import cell, columns_first

TITLE = "Where do errors concentrate? (slices)"
MOST_IN_SLICE, MOST_COLUMNS = 15, 30
FOUND = (
    "Ranges and categories of one or two columns in which {} is wrong more often than elsewhere: found in one part of "
    "the rows, confirmed in the others."
)


def slices_section(results: Results) -> Section:
    """Where the errors of each learner concentrate."""
    searched = results.slices
    if not searched:
        why = results.why.get("slices", "there are no cross-validated predictions")
        return Section("slices", TITLE, "", absent=why, folded=True)
    sheets = [_of_learner(results, name) for name in searched]
    none = [quoted(name) for name, sheet in zip(searched, sheets) if not sheet.rows]
    lead = f"{FOUND.format('a learner')} Open one to see its rows."
    tested = results.predicted[next(iter(searched))].tested.size
    if tested < results.data.codes.size:
        lead += f" Searched among {tested:,} of {results.data.codes.size:,} rows, those with predictions."
    lead += f" No slice stands out for {joined(none)}." if none else ""
    filled = [name for name, found in searched.items() if found.slices]
    pictures: tuple[Picture, ...] = ()
    if filled:
        # The chart shows the learner that one would choose.
        best = max(filled, key=lambda name: float(results.predicted[name].right(results.data.codes).mean()))
        pictures = (_picture(best, searched[best]),)
    for check in results.checks.values():
        sheets += [_of_added(check), by_column_sheet(check)]
    return Section("slices", TITLE, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def model_slices_section(check: ModelCheck | None, labels: NDArray[Any], numbers: Ints, absent: str = "") -> Section:
    """The same of one model: slices of its columns, then of complexity and confidence too, with their rows."""
    if check is None or check.slices is None:
        return Section("slices", TITLE, "", absent=absent if check is None else check.why)
    found, name = check.slices, check.name
    inside = tuple(
        _inside(name, place, each, np.flatnonzero(found.rows(place)), check, labels, numbers)
        for place, each in enumerate(found.slices)
    )
    sheets = (_sheet(f"slices/{name}", f"Where {quoted(name)} is wrong", found, found.slices, inside),)
    none = "" if found.slices else " No slice stands out."
    also = " A second list searches complexity and, if it is known, the model's confidence like columns."
    lead = FOUND.format(quoted(name)) + none + also
    pictures = (_picture(name, found),) if found.slices else ()
    kept = tuple(sheet for sheet in (*sheets, _of_added(check), by_column_sheet(check)) if sheet.rows)
    return Section("slices", TITLE, lead, pictures, kept)


def concentrated(check: ModelCheck) -> str:
    """Where errors concentrate, in one sentence; first by a column, as low confidence alone is no place to look."""
    assert check.slices is not None
    own = [each for each in check.slices.slices if each.complement is None]
    found = own or [each for each in _added_slices(check) if each.complement is None]
    if not found:
        return "No slice is shown to have more errors than the rest."
    first = found[0]
    start = "Errors concentrate" if own else "No slice of the columns alone stands out; errors concentrate"
    more = f" There are {len(found) - 1} more such slices." if len(found) > 2 else ""
    return (
        f"{start} where {quoted(first.condition)}: {share(first.rate.value)} of {first.size:,} rows are "
        f"wrong there, {share(first.rest_rate)} elsewhere.{more}"
    )


def by_column_sheet(check: ModelCheck) -> Sheet:
    """The most significant slice of each column alone (the table of FreaAI), complexity and confidence among them."""
    table = pd.DataFrame() if check.by_column is None else check.by_column.head(MOST_COLUMNS)
    columns = ("column", "condition", "size", "error_rate", "rest_rate", "q_value", "stands_out")
    rows = tuple(zip(*(table[name].tolist() for name in columns))) if len(table) else ()
    cut = 0 if check.by_column is None else len(check.by_column) - len(rows)
    return Sheet(
        f"slices_by_column/{check.name}",
        f"{sentence_name(check.name)}: each column alone",
        ("column", "where it is worst", "size", "error_rate", "rest_rate", "q_value", "stands out"),
        rows,
        "The most significant slice of each column, complexity and confidence among them; q corrects over the columns."
        + (f" {cut} more columns are less significant." if cut > 0 else ""),
        (check.name,) * len(rows),
    )


def _of_added(check: ModelCheck) -> Sheet:
    """Slices that use complexity or confidence, which a report does not search for its findings."""
    found, own = check.known_slices, _added_slices(check)
    title = f"Where {quoted(check.name)} is wrong, by complexity and confidence"
    if found is None:
        return Sheet(f"slices_known/{check.name}", title, COLUMNS, ())
    return _sheet(f"slices_known/{check.name}", title, found, own)


def _added_slices(check: ModelCheck) -> tuple[Region, ...]:
    found = () if check.known_slices is None else check.known_slices.slices
    return tuple(each for each in found if set(each.features) & set(check.added))


COLUMNS = ("where", "size", "error_rate", "rest_rate", "lift", "q_value")


def _sheet(key: str, title: str, found: Slices, own: tuple[Region, ...], details: tuple[Sheet, ...] = ()) -> Sheet:
    rows = tuple((each.condition, each.size, each.rate, each.rest_rate, each.lift, each.q_value) for each in own)
    note = (
        f"{found.n_errors:,} of {found.n_rows:,} rows are predicted wrongly; "
        f"{counted(len(found.tested), 'slice')} tested."
    )
    return Sheet(key, title, COLUMNS, rows, note, (key.partition("/")[2],) * len(rows), details)


def _picture(name: str, found: Slices) -> Picture:
    return Picture(
        f"slices/{name}",
        f"Error rates of {quoted(name)}",
        f"Error rates in the slices in which {quoted(name)} is wrong most often, with intervals, compared with all "
        "rows.",
        spec_of(charts.slices_chart(found)),
        None,
    )


def _of_learner(results: Results, name: str) -> Sheet:
    data, held, found = results.data, results.predicted[name], results.slices[name]
    details = tuple(
        _rows_inside(
            f"slice/{name}/{place}",
            each,
            np.flatnonzero(found.rows(place)),
            data.X,
            held.tested,
            data.classes[data.codes[held.tested]],
            data.classes[held.labels],
            held.tested,
        )
        for place, each in enumerate(found.slices)
    )
    return _sheet(f"slices/{name}", f"Where {name} is wrong", found, found.slices, details)


def _inside(
    name: str, place: int, each: Region, rows: Ints, check: ModelCheck, labels: NDArray[Any], numbers: Ints
) -> Sheet:
    every = np.arange(labels.size)
    predicted = check.predictions.predicted
    return _rows_inside(f"slice/{name}/{place}", each, rows, check.searched, every, labels, predicted, numbers)


def _rows_inside(
    key: str,
    each: Region,
    rows: Ints,
    frame: pd.DataFrame,
    places: Ints,
    labels: NDArray[Any],
    predicted: NDArray[Any],
    numbers: Ints,
) -> Sheet:
    """Rows of a slice, errors first; row i is row `places[i]` of the frame, and `numbers[i]` of its source."""
    wrong = predicted[rows] != labels[rows]
    shown = np.concatenate([rows[wrong], rows[~wrong]])[:MOST_IN_SLICE]
    names = columns_first(frame, each.features)
    return Sheet(
        key,
        f"Rows where {each.condition}",
        ("row", "label", "prediction", *names),
        tuple(
            (
                int(numbers[row]),
                cell(labels[row]),
                cell(predicted[row]),
                *(cell(frame[name].iloc[int(places[row])]) for name in names),
            )
            for row in shown
        ),
        f"{shown.size} of {rows.size:,} rows, errors first. Rows are counted from 0.",
    )
