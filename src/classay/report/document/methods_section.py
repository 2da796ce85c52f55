"""The last sections of a report: how the data were read, how the page was made, and how to reproduce it."""

from __future__ import annotations

from typing import Any

from ...expect import counted
from ..results import Results
from ..run.settings import time_text
from .document import Cell, Section, Sheet
from .phrases import distance_in_words, joined, quoted

HIDDEN = ("command", "fitted", "stages", "versions", "preliminary", "wrapped")
"""Settings that have rows of their own, or none."""


def methods_section(results: Results) -> Section:
    """What was fitted, how precise it is, and every setting."""
    settings = results.settings
    if not results.fitted:
        return _without_fits(results)
    budget = settings["budget"]
    allowed = "Fixed numbers of fits" if budget is None else f"The budget of {time_text(budget)}"
    lead = (
        f"{allowed} allowed: {settings['fitted']}. It took {time_text(settings['seconds'])}. "
        f"{_precision(results)}Warnings use wider intervals than the 95 % intervals shown: at "
        "their level, all warnings of a page together should be wrong in at most 5 % of pages."
    )
    if settings.get("interrupted"):
        lead = "Interrupted: the results cover only what had finished. " + lead
    rows: list[tuple[Cell, ...]] = [("command", settings["command"])]
    rows += [(name, _cell(settings[name])) for name in settings if name not in HIDDEN]
    rows += [(f"time: {name}", time_text(seconds)) for name, seconds in settings["stages"].items()]
    rows += [(name, str(version)) for name, version in settings["versions"].items()]
    rows += [("note on the data", note) for note in results.data.notes]
    for name, one in results.learners.items():
        rows += [(f"{name} was wrapped", one.wrapped)] if one.wrapped else []
        rows += [(f"note on {name}", note) for note in dict.fromkeys((*one.labelings.notes, *one.orientation.notes))]
    return _methods(lead, rows)


def _methods(lead: str, rows: list[tuple[Cell, ...]]) -> Section:
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), tuple(rows), sort=False)
    return Section("methods", "Methods and settings", lead, (), (sheet,), folded=True)


def _without_fits(results: Results) -> Section:
    """How rows and predictions that were given are measured."""
    lead = (
        "Nothing was fitted again: how much predictions change with the training sample is in a report on learners. "
        "Intervals are over rows, or their groups: they say what other rows of the same kind would give, for these "
        "models. Warnings use wider intervals: all warnings of a page together should be wrong in at most 5 % of pages."
    )
    rows: list[tuple[Cell, ...]] = []
    if results.complexity is not None:
        lead = f"Rows are measured {results.complexity.measured} by {distance_in_words(results.complexity)}. {lead}"
        rows.append(("temperature", float(results.complexity.temperature)))
    rows += [(name.replace("_", " "), _cell(value)) for name, value in results.settings.items() if name != "versions"]
    rows += [(name, str(version)) for name, version in results.settings["versions"].items()]
    return _methods(lead, [*rows, *(("note", note) for note in results.data.notes)])


def _precision(results: Results) -> str:
    """How precise the figures of refits are."""
    steady = [one.stability for one in results.learners.values()]
    if not steady:
        return ""
    half = max((each.stability.high - each.stability.low) / 2 for each in steady)
    accuracy = max((each.accuracy.high - each.accuracy.low) / 2 for each in steady)
    return (
        f"Stabilities are known to within {100 * half:.1f} points and accuracies to within {100 * accuracy:.1f} "
        "(half the width of the widest 95 % interval). "
    )


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    return value if isinstance(value, (str, int, float, bool)) else str(value)


# How the data were read: columns, cells, classes, what was left out or changed.


READING, MOST_COLUMNS = "How the data were read", 200


def reading_section(results: Results) -> Section:
    """Each column with its type, use and why; then what was renamed, dropped, or changed for single learners."""
    if not results.rows_known:
        return Section("reading", READING, "", absent=results.no_rows, folded=True)
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
    return Section("reading", READING, lead, (), tuple(sheet for sheet in sheets if sheet.rows), folded=True)


def _columns(results: Results) -> Sheet:
    audit = results.data.audit
    rows: list[tuple[Cell, ...]] = []
    for each in audit.columns[:MOST_COLUMNS]:
        examples = "; ".join(f"row {row}: {text}" for row, text in each.examples)
        rows.append((each.name, each.kind, each.use, each.why, each.missing, each.unparsed, examples))
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
