"""The section of a report on how the data were read: columns, cells, classes, what was left out or changed."""

from __future__ import annotations

from ...expect import counted
from ..results import Results
from .document import Cell, Section, Sheet
from .phrases import joined, quoted

MOST_COLUMNS = 200


def reading_section(results: Results) -> Section:
    """Each column with its type, use and why; then what was renamed, dropped, or changed for single learners."""
    if not results.rows_known:
        return Section("reading", "How the data were read", "", absent=results.no_rows, folded=True)
    audit = results.data.audit
    left_out = [quoted(each.name) for each in audit.columns if each.use == "left out"]
    unparsed = sum(each.unparsed for each in audit.columns)
    lead = f"{audit.rows:,} of {audit.rows_read:,} rows were used, with {counted(len(audit.columns), 'column')}."
    if left_out:
        lead += f" Left out: {joined(left_out[:8])}{f' and {len(left_out) - 8} more' if len(left_out) > 8 else ''}."
    if unparsed:
        lead += f" {counted(unparsed, 'cell')} could not be read and count as missing."
    wrapped = {name: one.wrapped for name, one in results.learners.items() if one.wrapped}
    if wrapped:
        names = joined([quoted(name) for name in wrapped])
        lead += f" Some learners do not take this table as it is; inside each fit it is changed for {names}."
    elif results.learners:
        lead += " Every learner takes this table as it is."
    sheets = [_columns(results), _changes(results, wrapped), _classes(results)]
    return Section(
        "reading", "How the data were read", lead, (), tuple(sheet for sheet in sheets if sheet.rows), folded=True
    )


def _columns(results: Results) -> Sheet:
    audit = results.data.audit
    rows: list[tuple[Cell, ...]] = [
        (
            each.name,
            each.kind,
            each.use,
            each.why,
            each.missing,
            each.unparsed,
            "; ".join(f"row {row}: {text}" for row, text in each.examples),
        )
        for each in audit.columns[:MOST_COLUMNS]
    ]
    cut = len(audit.columns) - len(rows)
    return Sheet(
        "columns",
        "Columns",
        ("column", "kind", "use", "why", "missing cells", "cells not read", "examples of cells not read"),
        tuple(rows),
        "Rows of examples are counted from 1." + (f" {cut} more columns are in the JSON file." if cut else ""),
    )


def _changes(results: Results, wrapped: dict[str, str]) -> Sheet:
    audit = results.data.audit
    rows: list[tuple[Cell, ...]] = [("renamed column", f"{old} is now {new}") for old, new in audit.renamed]
    for why, count, first in audit.dropped_rows:
        where = f" (first: rows {', '.join(str(row) for row in first)})" if first else ""
        rows.append(("dropped rows", f"{count:,}: {why}{where}"))
    rows += [("note", note) for note in audit.notes]
    rows += [(f"changed for {name}", how) for name, how in wrapped.items()]
    return Sheet("changes", "What was changed or left out", ("what", "how"), tuple(rows), sort=False)


def _classes(results: Results) -> Sheet:
    audit = results.data.audit
    rows: tuple[tuple[Cell, ...], ...] = tuple((label, count) for label, count in audit.classes[:MOST_COLUMNS])
    return Sheet("class counts", "Classes as read", ("class", "rows"), rows)
