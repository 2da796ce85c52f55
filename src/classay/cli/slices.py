"""`classay slices`: where a classifier's errors gather, from a table of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .. import __version__, expect
from . import console, options

if TYPE_CHECKING:
    import pandas as pd

    from ..data.slices import Slices

EXAMPLES = """
**Examples**

    classay slices predictions.csv --wrong "label != predicted" --confidence p_max

    classay slices logs.parquet --wrong failed --columns country,device,latency

    classay slices scores.csv --wrong "score < 0.5 and status == 'open'" --min-size 100 --json

    classay slices tests.csv --wrong '`true label` != predicted' --charts charts/

Names with spaces stand in backticks, and the whole in single quotes, or the shell runs what is in the backticks.
Comparisons are == != < <= > >=, joined by and, or, not. They are read, never run.
"""
COLUMNS = ["where", "rows", "share", "error rate", "elsewhere", "times\nall", "excess\nerrors", "q", "part of"]


def command(
    data: str = typer.Argument(
        ..., metavar="FILE", help="A table with a row for each prediction: CSV, TSV, gz, Parquet, ARFF or openml:NAME."
    ),
    wrong: str = typer.Option(
        ..., "--wrong", help="What is wrong: a column of True and False, or a comparison such as 'label != predicted'."
    ),
    confidence: str = typer.Option(None, help="Column with the confidence, searched in any case."),
    columns: str = typer.Option(None, help="Columns to search, with commas between. Default: all not in --wrong."),
    max_features: int = typer.Option(2, help="1: single columns only; 2: pairs too."),
    min_size: int = typer.Option(None, help="Fewest rows of a slice. Default: 0.5% of the rows, at least 20."),
    q: float = typer.Option(0.05, "--q", help="False-discovery rate: share of slices shown that may be chance."),
    top: int = typer.Option(10, help="Most slices to show."),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Tell where errors gather: ranges and categories of one or two columns, tested on rows that were not searched."""
    from .. import tables
    from ..data.slices import slices
    from ..expressions import compare

    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = tables.read_frame(data)
    found = compare(wrong, table)
    searched, remarks = _searched(table, found.columns, columns, confidence)
    if not found.known.all():
        unknown = int((~found.known).sum())
        if unknown == len(table):
            raise expect.InputError(
                f"--wrong is {wrong!r}, and no row has values of {expect.shown(found.columns)}. Is it the right column?"
            )
        remarks.append(f"Left out, as a value of --wrong is missing: {unknown} of {len(table)} rows.")
    console.say(f"{data}: {len(table)} rows, {int(found.meets.sum())} of them wrong by {wrong!r}.", quiet)
    for remark in remarks:
        console.say(remark, quiet)
    # Not the whole table: what says that a row is wrong would make every slice.
    result = slices(
        table.loc[found.known, searched],
        found.meets[found.known],
        max_features=max_features,
        min_size=min_size,
        q=q,
        top=top,
        random_state=seed,
    )
    if as_json:
        about = {"name": data, "rows": len(table), "wrong": wrong, "columns": searched, "notes": remarks}
        console.write_json({"classay": __version__, "data": about, **result.to_dict()})
    else:
        _show(result)
    if charts is not None:
        from .. import charts as drawing

        drawn = result.plot()
        for suffix in ("svg", "png"):
            console.say(f"Saved {drawing.save(drawn, charts / f'slices.{suffix}')}", quiet)


def _searched(
    table: pd.DataFrame, used: tuple[str, ...], columns: str | None, confidence: str | None
) -> tuple[list[str], list[str]]:
    """Which columns to search, and what has to be said about that."""
    for name in [confidence] if confidence is not None else []:
        if name not in table:
            raise expect.InputError(
                f"--confidence is {name!r}, which is no column.{expect.nearest(name, table.columns)} There are "
                f"{expect.shown(table.columns)}."
            )
    if columns is None:
        hidden = [name for name in used if name != confidence]
        chosen = [name for name in table.columns if name not in hidden]
        if not chosen:
            raise expect.InputError(
                f"There is no column to search beside {expect.shown(used)}, which --wrong is about."
            )
        return chosen, [f"Not searched, as --wrong is about them: {expect.shown(hidden)}."] if hidden else []
    chosen = [name.strip() for name in columns.split(",") if name.strip()]
    for name in chosen:
        if name not in table:
            raise expect.InputError(
                f"--columns names {name!r}, which is no column.{expect.nearest(name, table.columns)} There are "
                f"{expect.shown(table.columns)}."
            )
    if not chosen:
        raise expect.InputError("--columns is empty; name at least one, or leave it out.")
    if confidence is not None and confidence not in chosen:
        chosen.append(confidence)
    told = [name for name in chosen if name in used]
    remark = f"Searched, as you name them, though --wrong is about them: {expect.shown(told)}."
    return list(dict.fromkeys(chosen)), [remark] if told else []


def _show(result: Slices) -> None:
    from ..regions.region import told_small

    out = console.out()
    if not result.slices:
        out.print(str(result), markup=False)
        return
    rows = [
        [
            f"{each.rank}. {each.condition}",
            str(each.size),
            f"{each.share:.1%}",
            console.figure(each.error_rate, 3),
            f"{each.rest_rate:.3f}",
            f"{each.lift:.2f}",
            f"{each.excess_errors:.0f}",
            told_small(each.q_value).removeprefix("= "),
            "" if each.nested_under is None else str(each.nested_under),
        ]
        for each in result.slices
    ]
    out.print(
        console.table(
            f"Where errors gather: {result.n_errors} of {result.n_rows} rows are wrong ({result.error_rate.value:.1%})",
            COLUMNS,
            rows,
            f"Error rates are of rows that were not searched; {len(result.tested)} slices were tested on them, at a "
            f"false-discovery rate of {result.q:g}. Excess errors: rows × (lower end of error rate − elsewhere).",
        )
    )
    for note in result.notes:
        out.print(note, markup=False)
