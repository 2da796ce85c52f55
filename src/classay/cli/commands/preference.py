"""`classay preference`: which of two concepts learners prefer at equal evidence, and how much evidence changes that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import __version__, expect
from ...tables.read import read_frame
from .. import console, options

if TYPE_CHECKING:
    from ...learner.preference.preference import Preference

EXAMPLES = """
**Examples**

    classay preference --learner DecisionTreeClassifier --concept "x0 > 0.5" --against "x1 > 0.5" --correlation 0.9

    classay preference --concept "x0 > 0.5" --against "x0 > 0.3 and x1 > 0.3" --charts charts/

    classay preference --column heat=20:80 --column "alloy=A|B|C" --concept "heat > 60" --against "alloy == 'A'"

    classay preference --data steel.csv --concept "heat > 60" --against "pressure > 3 and not wet" --json

Concepts are comparisons (== != < <= > >=), joined by and, or, not. They are parsed, never executed.
"""
COLUMNS = [
    "learner",
    "favoured at\nequal evidence",
    "difference\nof agreement",
    "preference\nchanges at p*",
    "verdict",
    "fits",
]


def command(
    concept: str = typer.Option(..., "--concept", help="First concept, an expression over columns such as 'x0 > 0.5'."),
    against: str = typer.Option(..., "--against", help="Second concept."),
    learner: options.Learners = None,
    columns: int = typer.Option(
        None, help="Number of columns x0, x1, … between 0 and 1. Default: as many as the concepts name."
    ),
    column: list[str] = typer.Option(
        None, help="A named column: heat=20:80, alloy=A|B|C or wet=bool. Repeat for more."
    ),
    data: str = typer.Option(None, help="Table to draw training rows from, instead of --column or --columns."),
    correlation: float = typer.Option(0.0, help="Correlation of every pair of numeric columns in training rows."),
    rows: int = typer.Option(200, "--rows", "-n", help="Rows per training set."),
    probes: str = typer.Option(
        "uniform", help="Points on which agreement is measured: uniform, marginal or data (like training rows)."
    ),
    budget: int = typer.Option(600, help="Maximum number of fits per learner."),
    precision: float = typer.Option(0.02, help="Precision wanted for p*: half the width of its interval."),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure which of two concepts learners prefer at equal evidence, and how much evidence changes that."""
    from ...estimators.spec import learners_from_texts
    from ...learner.fitting.probes import KINDS
    from ...learner.preference.preference import INTERRUPTED
    from ..options import USUAL

    expect.one_of(probes, "probes", KINDS)
    learners = learners_from_texts(learner or USUAL, allow_import)
    attributes = _attributes(columns, column or [], data)
    if attributes is None:
        _refuse_unknown(concept, against)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    settings = {
        "attributes": attributes,
        "n_samples": rows,
        "correlation": correlation,
        "probes": probes,
        "budget": budget,
        "precision": precision,
        "random_state": seed,
        "executor": workers,
        "progress": not quiet,
        "time_limit": time_limit,
    }
    found, failed, interrupted = _ask_all(learners, concept, against, settings)
    interrupted = interrupted or any(each.stopped == INTERRUPTED for each in found.values())
    if as_json:
        console.write_json(
            {
                "classay": __version__,
                "concept": concept,
                "against": against,
                "settings": {
                    key: settings[key] for key in ("n_samples", "correlation", "probes", "budget", "precision")
                }
                | {"seed": seed, "data": data, "columns": column or columns},
                "learners": {name: each.to_dict() for name, each in found.items()},
                "failed": failed,
                "interrupted": interrupted,
            }
        )
    else:
        _show(found)
    for name, why in failed.items():
        console.error(f"{name}: no results. {why}")
    if charts is not None and found:
        for path in _save_charts(charts, found):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the results above cover only what had finished.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def _attributes(columns: int | None, described: list[str], data: str | None) -> Any:
    """The source of training rows: a table, described columns, or a number of default columns."""
    given = [name for name, value in (("--columns", columns), ("--column", described), ("--data", data)) if value]
    if len(given) > 1:
        raise expect.InputError(f"{' and '.join(given)} were given; expected only one of them.")
    if data is not None:
        return read_frame(data)
    return dict(_column(text) for text in described) if described else columns


def _refuse_unknown(*concepts: str) -> None:
    """Refuse names other than x0, x1, … if they are not described."""
    from ...learner.preference.concepts import columns_named
    from ...tables.expressions import parse

    if columns_named(*concepts) is not None:
        return
    names = list(dict.fromkeys(name for each in concepts for name in parse(each).columns))
    raise expect.InputError(
        f"The concepts name {expect.shown(names) or 'no column'}; expected columns named x0, x1, …, or described ones. "
        "Describe each column (--column heat=20:80 --column 'alloy=A|B|C' --column wet=bool), or give a table: --data."
    )


def _column(text: str) -> tuple[str, Any]:
    name, equals, content = text.partition("=")
    name = name.strip()
    if not equals or not name or not content.strip():
        raise expect.InputError(f"--column is {text!r}; expected the form heat=20:80, alloy=A|B|C or wet=bool.")
    if content.strip() == "bool":
        return name, "bool"
    if "|" in content:
        return name, [value.strip() for value in content.split("|")]
    number = r"\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*"
    match = re.fullmatch(f"{number}:{number}", content)
    try:
        if match is not None:
            return name, (float(match[1]), float(match[2]))
    except ValueError:
        pass
    raise expect.InputError(f"--column {name!r} is {content!r}; expected low:high, A|B|C or bool.")


def _ask_all(
    learners: dict[str, Any], concept: str, against: str, settings: dict[str, Any]
) -> tuple[dict[str, Preference], dict[str, str], bool]:
    """Measure every learner. One that cannot be fitted does not stop the others; if none can, that is an error."""
    import pandas as pd

    from ...estimators.encoder import encoded
    from ...learner.preference.preference import INTERRUPTED, preference

    found: dict[str, Preference] = {}
    failed: dict[str, str] = {}
    table = settings["attributes"]
    for name, unfitted in learners.items():
        try:
            ready = encoded(unfitted, table) if isinstance(table, pd.DataFrame) else unfitted
            found[name] = preference(ready, concept, against, name=name, **settings)
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            if not found:
                raise console.NothingDone from None
            return found, failed, True
        if name in found and found[name].stopped == INTERRUPTED:
            break
    if not found:
        raise expect.InputError(next(iter(failed.values())))
    return found, failed, False


def _show(found: dict[str, Preference]) -> None:
    out = console.out()
    first = next(iter(found.values()))
    rows = [
        [
            name,
            each.favoured or "neither",
            console.figure(each.difference, 3),
            console.figure(each.crossing, 3) if each.crossing.known else "none",
            each.verdict,
            str(each.n_fits),
        ]
        for name, each in found.items()
    ]
    out.print(
        console.table(
            f"`{first.f1}` against `{first.f2}`",
            COLUMNS,
            rows,
            f"The concepts differ on {first.disagreement:.1%} of the probes ({first.probes}). Difference: agreement "
            "with the first concept minus agreement with the second, at p = 0.5. p: the share of contested labels that "
            "support the first concept. Above p* the learner prefers the first.",
        )
    )
    for name, each in found.items():
        for note in each.notes:
            out.print(f"{name}: {note}", markup=False)


def _save_charts(folder: Path, found: dict[str, Preference]) -> list[Path]:
    from ... import charts

    drawn = charts.preference_chart(*found.values())
    return [charts.save(drawn, folder / f"preference.{suffix}") for suffix in ("svg", "png")]
