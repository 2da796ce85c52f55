"""`classay learner`: the bias of learners, how they respond to data, and their own training randomness."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ... import __version__, expect
from ...tables.read import read_table
from .. import console, options
from ..options import record_as_json, table_as_json

if TYPE_CHECKING:
    from ...learner.orientation.kinship import Kinship
    from ...learner.orientation.orientation import Orientation
    from ...learner.records.labelings import Labelings
    from ...tables.read import Table

EXAMPLES = """
**Examples**

    classay learner breast_cancer

    classay learner breast_cancer --learner DecisionTreeClassifier --learner "RandomForestClassifier(n_estimators=50)"

    classay learner spam.csv.gz --target type --learner "KNeighborsClassifier(n_neighbors=5)" --json

    classay learner openml:credit-g --repeats 10 --charts charts/ --store runs/
"""


def command(
    data: options.Data,
    target: options.Target = None,
    learner: options.Learners = None,
    subsets: int = typer.Option(100, help="Number of random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: number of rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement, or without."),
    repeats: int = typer.Option(
        5, "--repeats", "-r", help="Refits on each subset. About 10 measure training randomness well."
    ),
    test_size: options.TestSize = 0.2,
    holdout_size: int = typer.Option(
        5, help="Number of test points in a holdout, whose predictions are counted together."
    ),
    holdouts: int = typer.Option(100, help="Number of random holdouts to average over."),
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
    """Measure the bias of learners, and how much their predictions vary with the data and by training randomness."""
    from ...estimators.spec import learners_from_texts
    from ...learner.fitting.schemes import Subsets
    from ...learner.orientation.kinship import kinship
    from ...learner.orientation.orientation import orientation
    from ..options import USUAL, record_all, tell

    learners = learners_from_texts(learner or USUAL, allow_import)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = read_table(data, target)
    _refuse_early(table, holdout_size, holdouts, test_size, seed)
    tell(table, quiet)

    settings = {
        "scheme": scheme,
        "repeats": repeats,
        "test_size": test_size,
        "random_state": seed,
        "executor": workers,
        "store": store,
        "progress": not quiet,
        "time_limit": time_limit,
    }
    records, failed, interrupted = record_all(learners, table, settings, scheduler)
    found = {}
    for name, labelings in records.items():
        try:
            found[name] = orientation(labelings, holdout_size, holdouts, seed)
        except expect.InputError as too_little:
            failed[name] = str(too_little)
    whole = {name: labelings for name, labelings in records.items() if name in found and not labelings.interrupted}
    related = kinship(whole, holdout_size, holdouts, seed) if len(whole) > 1 else None

    if as_json:
        console.write_json(
            json_document(table, {**settings, "holdouts": holdouts}, records, found, related, failed, interrupted)
        )
    else:
        show(records, found, related)
    for name, why in failed.items():
        console.error(f"{name}: no results. {why}")
    if charts is not None and found:
        for path in save_charts(charts, found, related):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the results above cover only what had finished.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def _refuse_early(table: Table, holdout_size: int, holdouts: int, test_size: float, seed: int) -> None:
    """Refuse, before any fit, a holdout larger than the test part."""
    import numpy as np

    from ...inputs.splits import split_by_share
    from ...learner.orientation.orientation import draw_holdouts
    from ...seeds import settle

    codes = np.unique(table.y.to_numpy(), return_inverse=True)[1]
    _, test = split_by_share(codes, expect.fraction(test_size, "test_size"), settle(seed))
    draw_holdouts(test.size, holdout_size, holdouts, seed)


# The output of `classay learner`: tables, JSON and charts.


MAIN_COLUMNS = [
    "learner",
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(randomness)",
    "seconds\nper fit",
]


def show(records: dict[str, Labelings], found: dict[str, Orientation], related: Kinship | None) -> None:
    """Print the tables."""
    if not found:
        return
    out = console.out()
    first = next(iter(found.values()))
    top = f"{first.log2_labelings:.3g}"
    out.print(
        console.table(
            f"Predictions of {expect.counted(len(found), 'learner')} on holdouts of {first.holdout_size} points",
            MAIN_COLUMNS,
            [
                [
                    name,
                    console.figure(o.accuracy, 3),
                    console.figure(o.train_accuracy, 3),
                    *(console.figure(part) for part in (o.expressivity, o.capacity, o.stochasticity)),
                    f"{np.nanmean(records[name].seconds):.2g}",
                ]
                for name, o in found.items()
            ],
            f"Entropies range from 0 (always the same predictions) to {top} bits (all predictions equally likely). "
            "Capacity: the part that depends on the training sample. Stochasticity: the part by training randomness.",
        )
    )
    thresholds = _few(first.holdout_size)
    out.print()
    out.print(
        console.table(
            "Algorithmic bias: how much more often than by chance at least z predictions are right",
            ["learner", *(f"{z} of {first.holdout_size}" for z in thresholds)],
            [[name, *(console.figure(o.bias[z], 3) for z in thresholds)] for name, o in found.items()]
            + [
                [
                    "possible",
                    *(
                        f"{first.bounds[z - 1].bias_low:.3f}\nto {first.bounds[z - 1].bias_high:.3f}"
                        for z in thresholds
                    ),
                ]
            ],
        )
    )
    out.print()
    out.print(
        console.table(
            "Largest expressivity that each bias allows (for plain estimates, to which the bounds apply)",
            ["learner", "plain\nexpressivity", *(f"at {z} of {first.holdout_size}" for z in thresholds)],
            [
                [
                    name,
                    f"{o.plugin.expressivity.value:.2f}",
                    *(f"{o.bounds[z - 1].expressivity_tight:.2f}" for z in thresholds),
                ]
                for name, o in found.items()
            ],
            "The tight bound H2(q) + q·log2 k + (1 − q)·log2(|Ω| − k). JSON also has the looser published bounds.",
        )
    )
    if related is not None:
        out.print()
        out.print(
            console.table(
                "Kinship: Jensen–Shannon distance between predictions (0: the same, 1: nothing in common)",
                ["learner", *(str(number) for number, _ in enumerate(related.names, 1))],
                [
                    [f"{place + 1} {name}", *(_distance(related, place, other) for other in range(len(related.names)))]
                    for place, name in enumerate(related.names)
                ],
                "In parentheses: no larger than chance alone gives between two equal learners.",
            )
        )
    for name, o in found.items():
        for note in o.notes:
            out.print(f"{name}: {note}", markup=False)


def _distance(related: Kinship, one: int, other: int) -> str:
    value = related.jensen_shannon[one, other]
    return f"{value:.2f}" if one == other or value > related.floor["jensen_shannon"][one, other] else f"({value:.2f})"


def _few(holdout_size: int, most: int = 7) -> list[int]:
    """Thresholds to print: all, or evenly spaced ones that include the last."""
    if holdout_size <= most:
        return list(range(1, holdout_size + 1))
    return sorted({max(round(holdout_size * part / most), 1) for part in range(1, most + 1)})


def json_document(
    table: Table,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    found: dict[str, Orientation],
    related: Kinship | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    scheme = settings["scheme"]
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "subsets": scheme.n,
            "size": scheme.size,
            "replace": scheme.replace,
            "repeats": settings["repeats"],
            "test_size": settings["test_size"],
            "seed": settings["random_state"],
            "holdouts": settings["holdouts"],
            "time_limit": settings["time_limit"],
        },
        "learners": {name: {**o.to_dict(), **record_as_json(records[name])} for name, o in found.items()},
        "kinship": None if related is None else related.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(folder: Path, found: dict[str, Orientation], related: Kinship | None) -> list[Path]:
    from ... import charts

    drawn = {
        "bias": charts.bias_chart(*found.values()),
        "expressivity": charts.expressivity_chart(*found.values()),
        "plane": charts.plane_chart(*found.values()),
    }
    if related is not None:
        drawn["kinship"] = charts.kinship_heatmap(related)
        drawn["kinship_map"] = charts.kinship_map(related)
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]
