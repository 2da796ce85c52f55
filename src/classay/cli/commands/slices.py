"""`classay slices`: where a classifier's errors concentrate, from a table of predictions."""

from __future__ import annotations

import pandas as pd
import typer

from ... import __version__, expect
from ...data.model.error_slices import Slices, slices
from ...regions.region import p_value_text
from ...tables.expressions import compare
from ...tables.read import read_frame
from .. import console, options

EXAMPLES = """
**Examples**

    classay slices predictions.csv --wrong "label != predicted" --confidence p_max

    classay slices logs.parquet --wrong failed --columns country,device,latency

    classay slices scores.csv --wrong "score < 0.5 and status == 'open'" --min-size 100 --json

    classay slices tests.csv --wrong '`true label` != predicted' --charts charts/

Put names with spaces in backticks and the whole expression in single quotes, so that the shell does not run them.
Comparisons are == != < <= > >=, joined by and, or, not. They are parsed, never executed.
"""
COLUMNS = ["where", "rows", "share", "error rate", "elsewhere", "lift", "excess\nerrors", "q", "part of"]


def command(
    data: str = typer.Argument(
        ..., metavar="FILE", help="Table with one row per prediction: CSV, TSV, gz, Parquet, ARFF or openml:NAME."
    ),
    wrong: str = typer.Option(
        ...,
        "--wrong",
        help="What counts as an error: a column of True and False, or a comparison such as 'label != predicted'.",
    ),
    confidence: str = typer.Option(None, help="Column with the confidence; it is always searched."),
    columns: str = typer.Option(
        None, help="Columns to search, comma-separated. Default: all that --wrong does not use."
    ),
    max_features: int = typer.Option(2, help="Search single columns (1) or also pairs of columns (2)."),
    min_size: int = typer.Option(
        None, help="Minimum number of rows in a slice. Default: 0.5% of the rows, at least 20."
    ),
    q: float = typer.Option(
        0.05, "--q", help="False-discovery rate: expected share of the slices shown that are due to chance."
    ),
    top: int = typer.Option(10, help="Maximum number of slices to show."),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Find where errors concentrate: ranges and categories of one or two columns, tested on held-out rows."""
    console.writable_folder(charts, "--charts")
    table = read_frame(data)
    errors = compare(wrong, table)
    searched, remarks = _searched(table, errors.columns, columns, confidence)
    if not errors.known.all():
        unknown = int((~errors.known).sum())
        if unknown == len(table):
            raise expect.InputError(
                f"--wrong is {wrong!r}, but {expect.shown(errors.columns)} has no values. Is it the right column?"
            )
        remarks.append(f"Dropped because a value of --wrong is missing: {unknown} of {len(table)} rows.")
    console.say(f"{data}: {len(table)} rows, {int(errors.meets.sum())} of them wrong by {wrong!r}.", quiet)
    for remark in remarks:
        console.say(remark, quiet)
    # Not the whole table: a column that says which rows are wrong would make every slice.
    result = slices(
        table.loc[errors.known, searched],
        errors.meets[errors.known],
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
        console.save_charts(charts, {"slices": result.plot()}, quiet)


def _searched(
    table: pd.DataFrame, used: tuple[str, ...], columns: str | None, confidence: str | None
) -> tuple[list[str], list[str]]:
    """The columns to search, and remarks on them."""
    if confidence is not None and confidence not in table:
        raise expect.InputError(
            f"--confidence is {confidence!r}, which is not a column.{expect.nearest(confidence, table.columns)} "
            f"There are {expect.shown(table.columns)}."
        )
    if columns is None:
        hidden = [name for name in used if name != confidence]
        chosen = [name for name in table.columns if name not in hidden]
        if not chosen:
            raise expect.InputError(f"There is no column to search besides {expect.shown(used)}, which --wrong uses.")
        return chosen, [f"Not searched because --wrong uses them: {expect.shown(hidden)}."] if hidden else []
    chosen = [name.strip() for name in columns.split(",") if name.strip()]
    for name in chosen:
        if name not in table:
            raise expect.InputError(
                f"--columns has {name!r}, which is not a column.{expect.nearest(name, table.columns)} There are "
                f"{expect.shown(table.columns)}."
            )
    if not chosen:
        raise expect.InputError("--columns is empty; expected at least one column. Name one, or drop the option.")
    if confidence is not None and confidence not in chosen:
        chosen.append(confidence)
    both = [name for name in chosen if name in used]
    remark = f"Searched because you named them, although --wrong uses them: {expect.shown(both)}."
    return list(dict.fromkeys(chosen)), [remark] if both else []


def _show(result: Slices) -> None:
    out = console.out()
    if not result.slices:
        out.print(str(result), markup=False)
        return
    rows = [
        [
            f"{each.rank}. {each.condition}"
            + (f"\nerrors are rarer where {each.complement}" if each.complement else ""),
            str(each.size),
            f"{each.share:.1%}",
            console.figure(each.rate, 3),
            f"{each.rest_rate:.3f}",
            f"{each.lift:.2f}",
            f"{each.excess:.0f}",
            p_value_text(each.q_value).removeprefix("= "),
            "" if each.nested_under is None else str(each.nested_under),
        ]
        for each in result.slices
    ]
    out.print(
        console.table(
            f"Where errors concentrate: {result.n_errors} of {result.n_rows} rows are wrong "
            f"({result.error_rate.value:.1%})",
            COLUMNS,
            rows,
            f"Error rates are for rows that were not searched; {len(result.tested)} slices were tested on them, at a "
            f"false-discovery rate of {result.q:g}. Excess errors: rows × (lower end of error rate − that of all "
            "rows). Ranked by them, with a penalty for size.",
        )
    )
    for note in result.notes:
        out.print(note, markup=False)
