"""`classay stability`: how repeatable and how accurate learners are, and where their refits disagree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ... import __version__, expect
from ...expect import InputError
from ...tables.read import read_table
from .. import console, options
from ..options import record_as_json, table_as_json

if TYPE_CHECKING:
    from ...learner.records.labelings import Labelings
    from ...learner.stability.comparison import StabilityTable
    from ...learner.stability.disagreement import DisagreementRegions
    from ...learner.stability.stability import Stability
    from ...tables.read import Table

EXAMPLES = """
**Examples**

    classay stability breast_cancer

    classay stability steel.csv --learner DecisionTreeClassifier --learner LogisticRegression --probes uniform

    classay stability steel.csv --target low_yield --learner "DecisionTreeClassifier(max_depth=4)" --charts charts/

    classay stability openml:credit-g --probes marginal --splits 50 --store runs/ --json
"""


def command(
    data: options.Data,
    target: options.Target = None,
    learner: options.Learners = None,
    probes: str = typer.Option(
        "uniform",
        help="Points on which refits are compared: uniform (over the domain of each column), marginal (each column "
        "drawn on its own) or data (the test part).",
    ),
    n_probes: int = typer.Option(10_000, help="Number of probes to draw."),
    splits: int = typer.Option(25, help="Number of random splits of the training part into two halves to fit on."),
    size: int = typer.Option(None, help="Number of rows to use from each half. Default: all."),
    repeats: int = typer.Option(
        1, "--repeats", "-r", help="Refits on each half. Use 2 or more to separate training randomness from data."
    ),
    test_size: options.TestSize = 0.2,
    regions: int = typer.Option(
        3, help="Maximum number of regions to show per learner, where refits disagree; 0: none."
    ),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    store: options.Records = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure how repeatable learners are: how often two refits on different rows agree, and where they do not."""
    from ...estimators.spec import learners_from_texts
    from ...learner.fitting.probes import KINDS
    from ...learner.fitting.schemes import HalfSplits
    from ...learner.stability.comparison import stabilities
    from ...learner.stability.stability import stability
    from ..options import USUAL, record_all, tell

    learners = learners_from_texts(learner or USUAL, allow_import)
    expect.one_of(probes, "probes", KINDS)
    expect.whole(regions, "regions", at_least=0)
    scheme = HalfSplits(splits, size)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = read_table(data, target)
    tell(table, quiet)
    settings = {
        "scheme": scheme,
        "repeats": repeats,
        "test_size": test_size,
        "probes": probes,
        "n_probes": n_probes,
        "random_state": seed,
        "executor": workers,
        "store": store,
        "progress": not quiet,
        "time_limit": time_limit,
    }
    records, failed, interrupted = record_all(learners, table, settings, scheduler)
    found: dict[str, Stability] = {}
    where: dict[str, DisagreementRegions] = {}
    for name, labelings in records.items():
        try:
            found[name] = stability(labelings)
            if regions:
                where[name] = found[name].regions(top=regions, random_state=seed)
        except expect.InputError as too_little:
            # The figures are valid without regions.
            if name in found:
                console.say(f"{name}: no regions. {too_little}", quiet)
            else:
                failed[name] = str(too_little)
    side_by_side = stabilities(found) if found else None
    if as_json:
        console.write_json(json_document(table, settings, records, found, where, side_by_side, failed, interrupted))
    elif side_by_side is not None:
        show(records, found, where, side_by_side)
    for name, why in failed.items():
        console.error(f"{name}: no results. {why}")
    if charts is not None and side_by_side is not None:
        for path in save_charts(charts, found, where, side_by_side):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the results above cover only what had finished.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


# The output of `classay stability`: text, tables, JSON and charts.


REGION_COLUMNS = ["where", "share of\npoints", "disagreement", "elsewhere", "lift", "q"]


def show(
    records: dict[str, Labelings],
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable,
) -> None:
    """Print text, the table of learners, and where each of them is not repeatable."""
    out = console.out()
    words = str(side_by_side) if len(found) > 1 else str(next(iter(found.values())))
    out.print(words, markup=False)
    first = next(iter(found.values()))
    figures = {"stability": "stability", "kappa": "kappa", "test\naccuracy": "accuracy"}
    caption = (
        "Stability: share of the points on which two refits predict the same class. A learner that always predicts one "
        "class has 1, so read it beside accuracy. Kappa: the same beyond chance."
    )
    if any(one.same_subset.known for one in found.values()):
        figures["same\nrows"] = "same_subset"
        caption += (
            " Same rows: for refits on the same rows; the difference from 1 is the learner's own training randomness."
        )
    out.print()
    out.print(
        console.table(
            f"Agreement of two refits on {first.pairs}, on {first.n_points} {first.on}",
            ["learner", *figures, "seconds\nper fit"],
            [
                [
                    name,
                    *(console.figure(getattr(one, part), 3) for part in figures.values()),
                    f"{np.nanmean(records[name].seconds):.2g}",
                ]
                for name, one in found.items()
            ],
            caption,
        )
    )
    for name, regions in where.items():
        out.print()
        if not regions.regions:
            out.print(str(regions), markup=False)
            continue
        out.print(_regions(name, regions))
    if len(found) > 1:
        for name, one in found.items():
            for note in one.notes:
                out.print(f"{name}: {note}", markup=False)


def _regions(name: str, found: DisagreementRegions) -> Any:
    from ...regions.region import p_value_text

    return console.table(
        f"{name}: where refits disagree most ({found.disagreement.value:.1%} overall)",
        REGION_COLUMNS,
        [
            [
                f"{each.rank}. {each.condition}",
                f"{each.share:.1%}",
                console.figure(each.rate, 3),
                f"{each.rest_rate:.3f}",
                f"{each.lift:.2f}",
                p_value_text(each.q_value).removeprefix("= "),
            ]
            for each in found.regions
        ],
        f"For refits and points that were not searched; {len(found.tested)} regions were tested on them, at a "
        f"false-discovery rate of {found.q:g}.",
    )


def json_document(
    table: Table,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    """Everything, as JSON."""
    scheme = settings["scheme"]
    kept = ("repeats", "test_size", "probes", "n_probes", "time_limit")
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "splits": scheme.m,
            "size": scheme.size,
            "seed": settings["random_state"],
            **{name: settings[name] for name in kept},
        },
        "learners": {
            name: {
                **one.to_dict(),
                "regions": where[name].to_dict() if name in where else None,
                **record_as_json(records[name]),
            }
            for name, one in found.items()
        },
        "table": None if side_by_side is None else side_by_side.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(
    folder: Path,
    found: dict[str, Stability],
    where: dict[str, DisagreementRegions],
    side_by_side: StabilityTable,
) -> list[Path]:
    """Save the chart of all learners, and a numbered chart per learner of where its refits disagree."""
    from ... import charts

    drawn: dict[str, Any] = {"stability": side_by_side.plot()}
    for number, (name, one) in enumerate(found.items(), 1):
        regions = where.get(name)
        drawn[f"agreement_{number}"] = one.plot()
        try:
            drawn[f"disagreement_{number}"] = charts.disagreement_plane(one, regions=regions)
        except InputError:  # a plane needs two numeric columns
            continue
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
