"""`classay data`: how hard each row is, the accuracy to beat, and which labels to check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from ... import __version__, charts, expect
from ...data.complexity import Complexity, complexity
from ...data.text import embed
from ...estimators.encoder import numbers
from ...result import plain
from ...tables.read import Table, read_table
from .. import console, options
from ..records import describe, of_rows, table_as_json

EXAMPLES = """
**Examples**

    classay data digits

    classay data intents.csv --text utterance --target intent --cache vectors/

    classay data credit.csv --target default --distance mahalanobis --json
"""
MOST_CLASSES = 30


def command(
    data: options.Data,
    target: options.Target = None,
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    groups: options.Groups = None,
    drop: options.Drop = None,
    distance: str = typer.Option(
        "auto", help="Distance: auto, euclidean, cosine, mahalanobis, correlation, gaussian or whitened_cosine."
    ),
    hardest: int = typer.Option(10, "--hardest", "-n", help="Number of hardest rows and of suspected labels to show."),
    paper: bool = typer.Option(False, "--paper", help="Compute as in the paper: no cross-fitting, no temperature."),
    seed: options.Seed = 0,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Measure how hard each row is, the accuracy that any classifier should beat, and which labels to check."""
    expect.whole(hardest, "hardest", at_least=1)
    console.writable_folder(charts, "--charts")
    table = read_table(data, target, text, groups=groups, drop=drop or ())
    describe(table, quiet)
    texts = None if table.text is None else table.X[table.text].fillna("").tolist()
    X, remarks = _rows(table, texts, model, cache)
    for remark in remarks:
        console.say(remark, quiet)
    table = replace(table, notes=(*table.notes, *remarks))
    result = complexity(X, table.y, distance=distance, random_state=seed, paper=paper, **of_rows(table))
    chosen = {"hardest": result.hardest(hardest), "suspects": result.suspects().head(hardest)}
    chosen = {name: _as_in_source(_with_content(rows, result, texts), table) for name, rows in chosen.items()}
    if as_json:
        console.write_json(_as_json(table, result, chosen))
    else:
        _show(table, result, chosen, "text" if texts is not None else "evidence for the other class")
    if charts is not None:
        console.save_charts(charts, _draw(result, texts), quiet)


def _rows(table: Table, texts: list[str] | None, model: str, cache: Path | None) -> tuple[Any, list[str]]:
    """The rows as numbers, and notes on how they were converted."""
    if texts is not None:
        others = [str(name) for name in table.X.columns if name != table.text]
        unused = f" Other columns are not used: {expect.shown(others)}." if others else ""
        return embed(texts, model, cache), [f"Texts of {table.text!r}, embedded by {model}.{unused}"]
    gaps = int(table.X.isna().any(axis=1).sum())
    filled = f"{gaps} of {len(table.X)} rows have missing values: numbers were filled with the median of their column."
    return numbers(table.X), [filled] if gaps else []


def _with_content(rows: pd.DataFrame, result: Complexity, texts: list[str] | None) -> pd.DataFrame:
    """Add what a person needs to judge the rows: the text, or the columns that point to the other class."""
    rows = rows[["row", "label", "nearest", "complexity"]].reset_index(drop=True)
    if texts is not None:
        return rows.assign(content=[texts[row] for row in rows["row"]])
    numbers_of_rows = rows["row"].to_numpy()
    # A row that is the only one of its class cannot be explained.
    explained = numbers_of_rows[result.known[numbers_of_rows]]
    if not explained.size:
        return rows.assign(content="")
    why = result.explain(explained, top=3)
    evidence = why[why["contribution"] > 0].groupby("row")["feature"].agg(", ".join)
    return rows.assign(content=[evidence.get(row, "") for row in rows["row"]])


def _as_in_source(rows: pd.DataFrame, table: Table) -> pd.DataFrame:
    """The rows, numbered as in the source, which may have rows without a label besides."""
    return rows if table.rows is None else rows.assign(row=table.rows[rows["row"].to_numpy()])


def _show(table: Table, result: Complexity, chosen: dict[str, pd.DataFrame], content: str) -> None:
    out = console.out()
    out.print(f"{table.name}: {result}", markup=False)
    out.print()
    by_class = result.by_class.sort_values("complexity", ascending=False, kind="stable")
    first = f" (first {MOST_CLASSES} of {len(by_class)})" if len(by_class) > MOST_CLASSES else ""
    out.print(
        console.table(
            f"Classes, hardest first{first}",
            [str(column).replace("_", " ") for column in by_class.columns],
            [[_cell(value) for value in row] for row in by_class.head(MOST_CLASSES).itertuples(index=False)],
        )
    )
    for name, title in (("hardest", "Hardest rows"), ("suspects", "Labels to check")):
        rows = chosen[name]
        out.print()
        if not len(rows):
            out.print("No label is suspected.")
            continue
        out.print(
            console.table(
                f"{title} (row counted from 0)",
                ["row", "label", "looks like", "complexity", content],
                [[_cell(value)[:100] for value in row] for row in rows.itertuples(index=False)],
            )
        )


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _as_json(table: Table, result: Complexity, chosen: dict[str, pd.DataFrame]) -> dict[str, Any]:
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "complexity": result.to_dict(),
        **{name: plain(rows) for name, rows in chosen.items()},
    }


def _draw(result: Complexity, texts: list[str] | None) -> dict[str, Any]:
    return {
        "complexity": charts.complexity_histogram(result),
        "nearest_classes": charts.nearest_classes(result),
        "hardest": charts.hardest_table(result, texts=texts),
    }
