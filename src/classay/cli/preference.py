"""`classay preference`: which of two concepts learners lean to at equal evidence, and how much evidence turns them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import __version__, expect
from . import console, options

if TYPE_CHECKING:
    from ..learner.preference import Preference

EXAMPLES = """
**Examples**

    classay preference --learner DecisionTreeClassifier --concept "x0 > 0.5" --against "x1 > 0.5" --correlation 0.9

    classay preference --concept "x0 > 0.5" --against "x0 > 0.3 and x1 > 0.3" --charts charts/

    classay preference --column heat=20:80 --column "alloy=A|B|C" --concept "heat > 60" --against "alloy == 'A'"

    classay preference --data steel.csv --concept "heat > 60" --against "pressure > 3 and not wet" --json

Concepts are comparisons (== != < <= > >=), joined by and, or, not. They are read, never run.
"""
COLUMNS = [
    "learner",
    "favoured at\nequal evidence",
    "difference\nof agreement",
    "changes over\nat p*",
    "verdict",
    "fits",
]


def command(
    concept: str = typer.Option(..., "--concept", help="The first concept, an expression over columns: 'x0 > 0.5'."),
    against: str = typer.Option(..., "--against", help="The second concept."),
    learner: options.Learners = None,
    columns: int = typer.Option(
        None, help="Number of columns x0, x1, … between 0 and 1. Default: as many as the concepts name."
    ),
    column: list[str] = typer.Option(
        None, help="A column of its own: heat=20:80, alloy=A|B|C or wet=bool. Repeat it for more."
    ),
    data: str = typer.Option(None, help="A table from which training rows are drawn, instead of described columns."),
    correlation: float = typer.Option(0.0, help="Of every pair of numeric columns in training rows."),
    rows: int = typer.Option(200, "--rows", "-n", help="Rows of a training set."),
    probes: str = typer.Option(
        "uniform", help="Points on which agreement is measured: uniform, marginal, or data (as training rows)."
    ),
    budget: int = typer.Option(600, help="Most fits to spend on each learner."),
    precision: float = typer.Option(0.02, help="How near p* should be told: half the width of its interval."),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Tell which of two concepts learners favour when the evidence is balanced, and how much evidence turns them."""
    from ..learner.named import learners_from_texts
    from ..learner.preference import INTERRUPTED
    from ..learner.probes import KINDS
    from .recording import USUAL

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
        console.error(f"{name} gave no figures. {why}")
    if charts is not None and found:
        for path in _save_charts(charts, found):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the figures above are of what was done by then.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def _attributes(columns: int | None, described: list[str], data: str | None) -> Any:
    """What training rows are drawn from: a table, described columns, or a number of plain ones."""
    given = [name for name, value in (("--columns", columns), ("--column", described), ("--data", data)) if value]
    if len(given) > 1:
        raise expect.InputError(f"{' and '.join(given)} were given; one way to say what the columns are is expected.")
    if data is not None:
        from .. import tables

        return tables.read_frame(data)
    return dict(_column(text) for text in described) if described else columns


def _refuse_unknown(*concepts: str) -> None:
    """Refuse names other than x0, x1, … where nothing says what they are."""
    from ..expressions import parse
    from ..learner.concepts import columns_named

    if columns_named(*concepts) is not None:
        return
    names = list(dict.fromkeys(name for each in concepts for name in parse(each).columns))
    raise expect.InputError(
        f"The concepts name {expect.shown(names) or 'no column'}; by themselves only x0, x1, … are known. Describe "
        "each column, --column heat=20:80 --column 'alloy=A|B|C' --column wet=bool, or give a table by --data."
    )


def _column(text: str) -> tuple[str, Any]:
    name, equals, content = text.partition("=")
    name = name.strip()
    if not equals or not name or not content.strip():
        raise expect.InputError(f"--column is {text!r}; heat=20:80, alloy=A|B|C or wet=bool is expected.")
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
    raise expect.InputError(f"--column {name!r} is {content!r}; low:high, A|B|C or bool is expected.")


def _ask_all(
    learners: dict[str, Any], concept: str, against: str, settings: dict[str, Any]
) -> tuple[dict[str, Preference], dict[str, str], bool]:
    """Ask every learner. One that cannot be fitted does not stop the others; if none can, that is an error."""
    import pandas as pd

    from ..encoding import encoded
    from ..learner.preference import INTERRUPTED, preference

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
            each.favoured or "none told",
            console.figure(each.difference, 3),
            console.figure(each.crossing, 3) if each.crossing.known else "none",
            each.verdict,
            str(each.n_fits),
        ]
        for name, each in found.items()
    ]
    out.print(
        console.table(
            f"«{first.f1}» against «{first.f2}»",
            COLUMNS,
            rows,
            f"They differ on {first.disagreement:.1%} of probes ({first.probes}). Difference: how much more of the "
            "probes are answered as the first would than as the second, at p = 0.5. p: the share of rival labels that "
            "speak for the first, which is preferred above p*.",
        )
    )
    for name, each in found.items():
        for note in each.notes:
            out.print(f"{name}: {note}", markup=False)


def _save_charts(folder: Path, found: dict[str, Preference]) -> list[Path]:
    from .. import charts

    drawn = charts.preference_chart(*found.values())
    return [charts.save(drawn, folder / f"preference.{suffix}") for suffix in ("svg", "png")]
