"""`classay preference`: which of two concepts learners prefer at equal evidence, and how much evidence changes that."""

from __future__ import annotations

import re
from typing import Any

import typer

from ... import __version__, charts, expect
from ...estimators.spec import learners_from_texts
from ...learner.fitting.probes import KINDS
from ...learner.preference.concepts import columns_named
from ...learner.preference.preference import INTERRUPTED, Preference, preference
from ...tables.expressions import parse
from ...tables.read import read_frame
from .. import console, options

EXAMPLES = """
**Examples**

    classay preference --learner DecisionTreeClassifier --concept "x0 > 0.5" --against "x1 > 0.5" --correlation 0.9

    classay preference --concept "x0 > 0.5" --against "x0 > 0.3 and x1 > 0.3" --charts charts/

    classay preference -l SVC --column heat=20:80 --column "alloy=A|B|C" --concept "heat > 60" --against "alloy == 'A'"

    classay preference --data steel.csv --concept "heat > 60" --against "pressure > 3 and not wet" --json

Concepts are comparisons (== != < <= > >=), joined by and, or, not. They are parsed, never executed.
"""
COLUMNS = [
    "learner",
    "favoured at\nequal evidence",
    "difference\nof agreement",
    "preference\nchanges at p*",
    "strength\nof bias",
    "verdict",
    "fits",
]


def command(
    concept: str = typer.Option(..., "--concept", help="First concept, an expression over columns such as 'x0 > 0.5'."),
    against: str = typer.Option(..., "--against", help="Second concept."),
    learner: options.Learners = None,
    columns: int = typer.Option(
        None, help="Number of columns x0, x1, … with values from 0 to 1. Default: as many as the concepts name."
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
    precision: float = typer.Option(
        0.02, help="Target half-width of the interval of p*, the share of evidence that changes the preference."
    ),
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
    expect.one_of(probes, "probes", KINDS)
    learners = learners_from_texts(learner or options.USUAL, allow_import)
    attributes = _attributes(columns, column or [], data)
    if attributes is None:
        _refuse_unknown(concept, against)
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
    preferences, failed, interrupted = _measure_all(learners, concept, against, settings)
    if as_json:
        kept = ("n_samples", "correlation", "probes", "budget", "precision")
        source = {"seed": seed, "data": data, "columns": column or columns}
        console.write_json(
            {
                "classay": __version__,
                "concept": concept,
                "against": against,
                "settings": {name: settings[name] for name in kept} | source,
                "learners": {name: each.to_dict() for name, each in preferences.items()},
                "failed": failed,
                "interrupted": interrupted,
            }
        )
    else:
        _show(preferences)
    console.report_failures(failed)
    if charts is not None:
        console.save_charts(charts, _draw(preferences), quiet)
    console.exit_if_partial(failed, interrupted)


def _attributes(columns: int | None, described: list[str], data: str | None) -> Any:
    """The source of training rows: a table, described columns, or a number of default columns."""
    sources = [name for name, value in (("--columns", columns), ("--column", described), ("--data", data)) if value]
    if len(sources) > 1:
        raise expect.InputError(f"{' and '.join(sources)} were given; expected only one of them.")
    if data is not None:
        return read_frame(data)
    return dict(_column(text) for text in described) if described else columns


def _refuse_unknown(*concepts: str) -> None:
    """Refuse names other than x0, x1, … if they are not described."""
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


def _measure_all(
    learners: dict[str, Any], concept: str, against: str, settings: dict[str, Any]
) -> tuple[dict[str, Preference], dict[str, str], bool]:
    """Measure every learner. One that cannot be fitted does not stop the others; if none can, that is an error.

    Return preferences, why others failed, and whether Ctrl-C was pressed.
    """
    preferences: dict[str, Preference] = {}
    failed: dict[str, str] = {}
    for name, unfitted in learners.items():
        try:
            preferences[name] = preference(unfitted, concept, against, name=name, **settings)
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            if not preferences:
                raise console.NothingDone from None
            return preferences, failed, True
        if name in preferences and preferences[name].stopped == INTERRUPTED:
            return preferences, failed, True
    if not preferences:
        raise expect.InputError(next(iter(failed.values())))
    return preferences, failed, False


def _show(preferences: dict[str, Preference]) -> None:
    out = console.out()
    first = next(iter(preferences.values()))
    rows = [
        [
            name,
            each.favoured or "neither",
            console.figure(each.difference, 3),
            *(console.figure(part, 3) if part.known else "none" for part in (each.crossing, each.strength)),
            each.verdict,
            str(each.n_fits),
        ]
        for name, each in preferences.items()
    ]
    out.print(
        console.table(
            f"`{first.f1}` against `{first.f2}`",
            COLUMNS,
            rows,
            f"The concepts differ on {first.disagreement:.1%} of the probes ({first.probes}). Difference: agreement "
            "with the first concept minus agreement with the second, at p = 0.5. p: the share of contested labels that "
            "support the first concept. Above p* the learner prefers the first. Strength: the share that the less "
            "favoured concept needs, from 0.5 (no bias) to 1 (exclusive).",
        )
    )
    for name, each in preferences.items():
        for note in each.notes:
            out.print(f"{name}: {note}", markup=False)


def _draw(preferences: dict[str, Preference]) -> dict[str, Any]:
    return {"preference": charts.preference_chart(*preferences.values())}
