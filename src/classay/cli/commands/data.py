"""`classay data`: how hard each row is, the accuracy to beat, and which labels to check."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import expect
from ...tables.read import read_table
from .. import console, options

if TYPE_CHECKING:
    import pandas as pd

    from ...data.complexity import Complexity
    from ...tables.read import Table

EXAMPLES = """
**Examples**

    classay data digits

    classay data intents.csv --text utterance --target intent --cache vectors/

    classay data credit.csv --target default --distance mahalanobis --json
"""


def command(
    data: options.Data,
    target: options.Target = None,
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
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
    from ...data.complexity import complexity

    expect.whole(hardest, "hardest", at_least=1)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = read_table(data, target, text)
    texts = None if text is None else table.X[text].tolist()
    X, filled = _rows(table, texts, model, cache)
    table = replace(table, notes=(*table.notes, *filled))
    for note in table.notes:
        console.say(note, quiet)
    plain: dict[str, Any] = {"cross_fit": False, "temperature": 1} if paper else {}
    if paper and distance == "auto":
        distance = "mahalanobis"
    found = complexity(X, table.y, distance=distance, random_state=seed, **plain)
    chosen = {"hardest": found.hardest(hardest), "suspects": found.suspects().head(hardest)}
    chosen = {name: _with_content(rows, found, texts) for name, rows in chosen.items()}
    if as_json:
        console.write_json(_as_json(table, found, chosen))
    else:
        _show(table, found, chosen, "text" if text else "evidence for the other class")
    if charts is not None:
        for path in _save_charts(charts, found, texts):
            console.say(f"Saved {path}", quiet)


def _rows(table: Table, texts: list[str] | None, model: str, cache: Path | None) -> tuple[Any, list[str]]:
    """The rows as numbers, and notes on how they were converted."""
    if texts is not None:
        from ...data.text import embed

        return embed(texts, model, cache), []
    from ...estimators.encoder import numbers

    gaps = int(table.X.isna().any(axis=1).sum())
    filled = f"{gaps} of {len(table.X)} rows have missing values: numbers were filled with the median of their column."
    return numbers(table.X), [filled] if gaps else []


def _with_content(rows: pd.DataFrame, found: Complexity, texts: list[str] | None) -> pd.DataFrame:
    """Add what a person needs to judge the rows: the text, or the columns that point to the other class."""
    rows = rows[["row", "label", "nearest", "complexity"]].reset_index(drop=True)
    if texts is not None:
        return rows.assign(content=[texts[row] for row in rows["row"]])
    # A row that is the only one of its class cannot be explained.
    told = rows["row"].to_numpy()
    told = told[found.known[told]]
    if not told.size:
        return rows.assign(content="")
    why = found.explain(told, top=3)
    speaking = why[why["contribution"] > 0].groupby("row")["feature"].agg(", ".join)
    return rows.assign(content=[speaking.get(row, "") for row in rows["row"]])


def _show(table: Table, found: Complexity, chosen: dict[str, pd.DataFrame], beside: str) -> None:
    out = console.out()
    out.print(f"{table.name}: {found}", markup=False)
    out.print()
    most = 30
    by_class = found.by_class.sort_values("complexity", ascending=False, kind="stable")
    out.print(
        console.table(
            "Classes, hardest first" + (f" (first {most} of {len(by_class)})" if len(by_class) > most else ""),
            [str(column).replace("_", " ") for column in by_class.columns],
            [[_cell(value) for value in row] for row in by_class.head(most).itertuples(index=False)],
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
                ["row", "label", "looks like", "complexity", beside],
                [[_cell(value)[:100] for value in row] for row in rows.itertuples(index=False)],
            )
        )


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _as_json(table: Table, found: Complexity, chosen: dict[str, pd.DataFrame]) -> dict[str, Any]:
    from ... import __version__
    from ...result import plain

    return {
        "classay": __version__,
        "data": {"name": table.name, "rows": len(table.y), "target": table.target, "notes": list(table.notes)},
        "complexity": found.to_dict(),
        **{name: plain(rows) for name, rows in chosen.items()},
    }


def _save_charts(folder: Path, found: Complexity, texts: list[str] | None) -> list[Path]:
    from ... import charts

    drawn = {
        "complexity": charts.complexity_histogram(found),
        "nearest_classes": charts.nearest_classes(found),
        "hardest": charts.hardest_table(found, texts=texts),
    }
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
