"""Where errors concentrate: slices of the columns, of complexity and confidence, and each column alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import charts
from ...arrays import Ints
from ...data.model.error_slices import Slices
from ...expect import counted
from ...regions.region import Region
from ..results import ModelCheck, Results, best_of
from .document import Picture, Section, Sheet
from .learners_section import spec_of
from .phrases import joined, quoted, share
from .rows_section import sentence_name
from .shown_rows import ShownRows, cell, columns_first, frame_sheet

TITLE = "Where do errors concentrate? (slices)"
MOST_IN_SLICE, MOST_COLUMNS = 15, 30
FOUND = (
    "Ranges and categories of one to three columns in which {} is wrong more often than elsewhere: found in one part "
    "of the rows, confirmed in the others."
)


def slices_section(results: Results) -> Section:
    """Where the errors of each learner concentrate."""
    searched, folded = results.slices, results.fitted
    if not searched:
        why = results.why.get("slices", "there are no predictions for rows that a model was not trained on")
        return Section("slices", TITLE, "", absent=why, folded=folded)
    sheets = [_of_learner(results, name) for name in searched]
    none = [quoted(name) for name, sheet in zip(searched, sheets) if not sheet.rows]
    lead = f"{FOUND.format('a learner' if results.fitted else 'a model')} Open one to see its rows."
    tested = results.predicted[next(iter(searched))].rows.size
    if tested < len(results.rows):
        lead += f" Searched among {tested:,} of {len(results.rows):,} rows, those with predictions."
    lead += f" No slice stands out for {joined(none)}." if none else ""
    filled = [name for name, found in searched.items() if found.slices]
    # The chart shows the learner that one would choose.
    best = best_of({name: results.predicted[name] for name in filled}) if filled else ""
    pictures = (_picture(best, searched[best]),) if filled else ()
    for check in results.checks.values():
        sheets += [_of_added(check), by_column_sheet(check)]
    return Section("slices", TITLE, lead, pictures, tuple(sheet for sheet in sheets if sheet.rows), folded=folded)


def _of_learner(results: Results, name: str) -> Sheet:
    held = results.predicted[name]
    shown, labels = ShownRows.of(results.rows, held.rows), held.classes[held.truth]
    return _with_rows(name, f"Where {name} is wrong", results.slices[name], shown, labels, held.classes[held.labels])


def concentrated(slices: Slices, check: ModelCheck) -> str:
    """Where errors concentrate, in one sentence; first by a column, as low confidence alone is no place to look."""
    own = [each for each in slices.slices if each.complement is None]
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
    key, title = f"slices_by_column/{check.name}", f"{sentence_name(check.name)}: each column alone"
    if check.by_column is None or not len(check.by_column):
        return Sheet(key, title, tuple(BY_COLUMN.values()), ())
    cut = len(check.by_column) - MOST_COLUMNS
    note = (
        "The most significant slice of each column, complexity and confidence among them; q corrects over the columns."
    )
    note += f" {cut} more columns are less significant." if cut > 0 else ""
    return frame_sheet(key, title, check.by_column.head(MOST_COLUMNS), BY_COLUMN, note, check.name)


def _of_added(check: ModelCheck) -> Sheet:
    """Slices that use complexity or confidence, which a report does not search for its findings."""
    key, title = f"slices_known/{check.name}", f"Where {quoted(check.name)} is wrong, by complexity and confidence"
    found = check.known_slices
    return Sheet(key, title, COLUMNS, ()) if found is None else _sheet(key, title, found, _added_slices(check))


def _added_slices(check: ModelCheck) -> tuple[Region, ...]:
    found = () if check.known_slices is None else check.known_slices.slices
    return tuple(each for each in found if set(each.features) & set(check.added))


BY_COLUMN = {name: name for name in ("column", "condition", "size", "error_rate", "rest_rate", "q_value", "stands_out")}
BY_COLUMN |= {"condition": "where it is worst", "stands_out": "stands out"}
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


def _with_rows(
    name: str, title: str, found: Slices, shown: ShownRows, labels: NDArray[Any], predicted: NDArray[Any]
) -> Sheet:
    """The slices of a model, each with rows that it holds: row i of a result has label and prediction i."""
    inside = tuple(
        _rows_inside(f"slice/{name}/{place}", region, np.flatnonzero(found.rows(place)), shown, labels, predicted)
        for place, region in enumerate(found.slices)
    )
    return _sheet(f"slices/{name}", title, found, found.slices, inside)


def _rows_inside(
    key: str, region: Region, rows: Ints, shown: ShownRows, labels: NDArray[Any], predicted: NDArray[Any]
) -> Sheet:
    """Rows of a slice, errors first."""
    wrong, names = predicted[rows] != labels[rows], columns_first(shown.frame, region.features)
    first = np.concatenate([rows[wrong], rows[~wrong]])[:MOST_IN_SLICE]
    frame = shown.frame[names].iloc[shown.place[first]].reset_index(drop=True)
    cells = [tuple(map(cell, row)) for row in zip(*(frame[name] for name in names))] if names else [()] * first.size
    return Sheet(
        key,
        f"Rows where {region.condition}",
        ("row", "label", "prediction", *names),
        tuple(
            (int(shown.number[row]), cell(labels[row]), cell(predicted[row]), *values)
            for row, values in zip(first, cells)
        ),
        f"{first.size} of {rows.size:,} rows, errors first. Rows are counted from 0.",
    )
