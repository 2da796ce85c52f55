"""The one runner of all commands: it shows, saves and draws what a command returns, and sets the exit code.

A command returns an `Outcome`: results, and what else there is to show. The same results are text, JSON and charts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_type_hints

import pandas as pd
import typer
from rich.table import Table as Printed

from .. import __version__
from ..engine.store import StoreFull
from ..expect import InputError
from ..intervals import Estimate
from ..regions.region import p_value_text
from ..result import Result, plain
from ..tables.data import Data
from . import console
from .options import HELP, Charts, Output, is_group, parameters_of

if TYPE_CHECKING:
    from ..report.document import Sheet

T = TypeVar("T")
R = TypeVar("R")
NOT_SETTINGS = {"as_json", "quiet", "debug", "charts", "workers", "scheduler", "store", "force", "output", "data"}
"""Options that change no figure, and the data, which are described by themselves."""
MOST = 30


@dataclass(frozen=True)
class Outcome:
    """What a command found.

    results : what --json prints by name: results or dicts of them; data : the table, or its description;
    settings : what was chosen where options were left out; text : paragraphs and tables, if not those of the results;
    charts : makes the charts by name; failed : why others have no results; kept : what an interrupted user may want to
    know; code : the exit code, if all was done; document : JSON with a schema of its own.
    """

    results: Mapping[str, Any]
    data: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    text: Iterable[Any] | None = None
    charts: Callable[[], Mapping[str, Any]] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False
    kept: str = ""
    code: int = 0
    document: Any = None


class Done(NamedTuple):
    """Results by name, why others failed, and whether Ctrl-C was pressed."""

    results: dict[str, Any]
    failed: dict[str, str]
    interrupted: bool


def measure_each(named: Mapping[str, T], measure: Callable[[str, T], R]) -> Done:
    """Measure each of several: one that fails does not stop the others; if all fail, that is an error."""
    done: dict[str, Any] = {}
    failed: dict[str, str] = {}
    interrupted = False
    for name, subject in named.items():
        try:
            done[name] = measure(name, subject)
            interrupted = bool(getattr(done[name], "interrupted", False))
        except StoreFull as full:
            if not done:
                raise
            failed[name] = str(full)
            break
        except InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        if interrupted:
            break
    if not done:
        raise InputError(" ".join(dict.fromkeys(failed.values())))
    return Done(done, failed, interrupted)


def runnable(command: Callable[..., Outcome | None], words: Mapping[str, Any]) -> Callable[..., None]:
    """The command as Typer takes it: its options explained by `words`, their groups filled, its outcome delivered."""
    hints = get_type_hints(command)
    groups = {name: hint for name, hint in hints.items() if is_group(hint)}
    parameters = parameters_of(command, words)

    def call(**values: Any) -> None:
        options = dict(values)
        for name, group in groups.items():
            options[name] = group(**{option.name: options.pop(option.name) for option in fields(group)})
        outcome = command(**options)
        if outcome is not None:
            output = next(option for option in options.values() if isinstance(option, Output))
            deliver(outcome, output, {name: value for name, value in values.items() if name not in NOT_SETTINGS})

    call.__doc__ = words.get("summary")
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return console.reserve_stdout(call)


def deliver(outcome: Outcome, output: Output, settings: Mapping[str, Any]) -> None:
    """Print the results as text or JSON, draw their charts, and exit with the code of the outcome."""
    if output.as_json:
        console.write_json(document(outcome, settings) if outcome.document is None else outcome.document)
    else:
        out = console.out()
        for block in text_of(outcome.results) if outcome.text is None else outcome.text:
            if isinstance(block, Printed):
                out.print()
            out.print(block, markup=False)
    for name, why in outcome.failed.items():
        console.error(f"{name}: no results. {why}")
    if isinstance(output, Charts) and output.charts is not None and outcome.charts is not None:
        save_charts(output.charts, outcome.charts(), output.quiet)
    if outcome.interrupted:
        console.error(f"Interrupted: the results above cover only what had finished.{outcome.kept}")
    code = console.PARTIAL if outcome.interrupted else outcome.code or (console.PARTIAL if outcome.failed else 0)
    if code:
        raise typer.Exit(code)


def document(outcome: Outcome, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of every command."""
    return {
        "classay": __version__,
        "data": about(outcome.data) if isinstance(outcome.data, Data) else plain(outcome.data),
        "settings": plain({**settings, **outcome.settings}),
        **plain(dict(outcome.results)),
        "failed": plain(dict(outcome.failed)),
        "interrupted": outcome.interrupted,
    }


def about(table: Data) -> dict[str, Any]:
    """The description of a table."""
    return {
        "name": table.name,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "target": table.target,
        "classes": plain(table.classes),
        "notes": list(table.notes),
        "audit": table.audit.to_dict(),
    }


def save_charts(folder: Path, charts: Mapping[str, Any], quiet: bool) -> None:
    """Save charts under their names, as SVG and PNG."""
    from .. import charts as drawing

    for name, chart in charts.items():
        for suffix in ("svg", "png"):
            console.say(f"Saved {drawing.save(chart, folder / f'{name}.{suffix}')}", quiet)


def drawn(results: Mapping[str, Result | None]) -> dict[str, Any]:
    """The charts of those results that there are, by name."""
    return {name: result.plot() for name, result in results.items() if result is not None}


# Text and tables from results.


def worded_table(name: str, rows: Any, more: Mapping[Any, str] | None = None, /, **values: Any) -> Printed:
    """A table with the words that `help.toml` has for it, filled with values, and headings of more columns.

    Rows are by name, and columns in which nothing is known are left out; or they are a list, or a frame, which is cut.
    """
    words = HELP["tables"][name]
    title, caption, first = (words.get(part, "").format(**values) for part in ("title", "caption", "first"))
    headings = {key: text.format(**values) for key, text in words.get("columns", {}).items()} | dict(more or {})
    if isinstance(rows, Mapping):
        return figures_table(title, rows, headings, caption, first)
    return rows_table(title, rows, headings, caption, MOST if isinstance(rows, pd.DataFrame) else len(rows))


def text_of(results: Mapping[str, Any]) -> Iterable[Any]:
    """Each result as its paragraph and the table of its figures."""
    for result in results.values():
        if isinstance(result, Result):
            yield str(result)
            if figures := result.summary():
                yield estimates_table("", figures)


def estimates_table(title: str, figures: Mapping[str, Estimate], caption: str = "") -> Printed:
    """A table of the figures of one result, each with its interval."""
    rows = {name.replace("_", " "): {"value": figure} for name, figure in figures.items()}
    return figures_table(title, rows, {"value": "value"}, caption, "figure")


def figures_table(
    title: str, rows: Mapping[str, Any], headings: Mapping[Any, str], caption: str = "", first: str = "learner"
) -> Printed:
    """A table of figures side by side: a row per name, a column per figure under its heading, if any is known.

    Rows are results with the figures as attributes, or dicts; a figure is an Estimate, a number or a text.
    """
    cells = [[name, *(_part(row, key) for key in headings)] for name, row in rows.items()]
    columns = [first, *headings.values()]
    known = [place for place in range(len(columns)) if any(_is_known(row[place]) for row in cells)]
    named = [{columns[place]: row[place] for place in known} for row in cells]
    return rows_table(title, named, {columns[place]: columns[place] for place in known}, caption, len(named))


def rows_table(
    title: str,
    rows: pd.DataFrame | Iterable[Any],
    headings: Mapping[Any, str] | None = None,
    caption: str = "",
    most: int = MOST,
) -> Printed:
    """A table of the first rows of a frame, or of results or dicts, with the columns that have a heading.

    Without headings: all columns of a frame.
    """
    if isinstance(rows, pd.DataFrame):
        headings = headings or {name: str(name).replace("_", " ") for name in rows}
        rows = rows.to_dict("records")
    listed, shown = list(rows), headings or {}
    if len(listed) > most:
        caption = f"{caption} {len(listed) - most:,} more: --json.".strip()
    cells = [[cell(_part(row, key)) for key in shown] for row in listed[:most]]
    return console.table(title, list(shown.values()), cells, caption)


def sheet_table(sheet: Sheet) -> Printed:
    """A sheet of a report as a table."""
    return console.table(sheet.title, list(sheet.columns), [list(map(cell, row)) for row in sheet.rows], sheet.note)


def region_table(title: str, regions: Iterable[Any], rate: str, what: Iterable[str] = ()) -> Printed:
    """A table of regions or slices: where, how many rows, the rate there and elsewhere, and the q-value.

    rate : what the rate is; what : what is higher in each region, if that differs.
    """
    kinds = list(what)
    headings = {"where": "where", **({"what": "what"} if kinds else {}), "size": "rows", "share": "share", "rate": rate}
    headings |= {"rest_rate": "elsewhere", "lift": "lift", "q": "q"}
    rows = []
    for region, kind in zip_longest(regions, kinds):
        lower = f" (lower where {region.complement})" if region.complement else ""
        q_value = p_value_text(region.q_value).removeprefix("= ")
        row = {"where": f"{region.rank}. {region.condition}{lower}", "share": f"{region.share:.1%}", "q": q_value}
        rows.append({**vars(region), **row, "what": kind})
    return rows_table(title, rows, headings)


def cell(value: Any) -> str:
    """A figure above its interval, a number, or a text."""
    if isinstance(value, Estimate):
        if value.between:
            return f"{value:z.3f}".replace(" and ", "\nand ")
        figure = f"{value.prefix}{value.value:z.3f}" if value.known else "unknown"
        return f"{figure}\n[{value.low:z.3f}, {value.high:z.3f}]"
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:100]


def _is_known(value: Any) -> bool:
    return value is not None and getattr(value, "known", True)


def _part(row: Any, name: Any) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name)
