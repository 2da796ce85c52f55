"""`classay learner`: the bias of learners, how they respond to data, and their own training randomness."""

from __future__ import annotations

from typing import Any

import numpy as np
import typer

from ... import __version__, charts, expect
from ...estimators.spec import learners_from_texts
from ...learner.fitting.schemes import Subsets
from ...learner.orientation.entropy import draw_holdouts
from ...learner.orientation.entropy_parts import countable_size
from ...learner.orientation.kinship import Kinship, kinship
from ...learner.orientation.orientation import Orientation, orientation
from ...learner.records.labelings import Labelings
from ...seeds import settle
from ...splits import split_rows
from ...tables.data import Data
from ...tables.read import read_table
from .. import console, options
from ..records import describe, record_all, record_as_json, table_as_json

EXAMPLES = """
**Examples**

    classay learner breast_cancer

    classay learner breast_cancer --learner DecisionTreeClassifier --learner "RandomForestClassifier(n_estimators=50)"

    classay learner spam.csv.gz --target type --learner "KNeighborsClassifier(n_neighbors=5)" --json

    classay learner openml:credit-g --repeats 10 --charts charts/ --store runs/

    classay learner random --learner RandomForestClassifier --bounds
"""
MAIN_COLUMNS = [
    "learner",
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(randomness)",
    "seconds\nper fit",
]


def command(
    data: options.Data,
    target: options.Target = None,
    text: options.Text = None,
    groups: options.Groups = None,
    time: options.Time = None,
    weight: options.Weight = None,
    test: options.TestFile = None,
    drop: options.Drop = None,
    learner: options.Learners = None,
    subsets: int = typer.Option(100, help="Number of random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: number of rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement, or without."),
    every_class: options.EveryClass = True,
    repeats: int = typer.Option(
        5, "--repeats", "-r", help="Refits on each subset. About 10 measure training randomness well."
    ),
    test_size: options.TestSize = 0.2,
    holdout_size: int | None = typer.Option(
        None,
        help="Number of test points per holdout; their predictions are counted together. Default: 5, or as many as can "
        "be counted for every learner.",
    ),
    holdouts: int = typer.Option(100, help="Number of random holdouts to average over."),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    store: options.Store = None,
    charts: options.Charts = None,
    plugin: options.Plugin = False,
    bounds: bool = typer.Option(False, "--bounds", help="Also print how much variation each bias allows."),
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure the bias of learners, and how much their predictions vary with the data and by training randomness."""
    learners = learners_from_texts(learner or options.USUAL, allow_import)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace, every_class)
    console.writable_folder(charts, "--charts")
    table = read_table(data, target, text, groups=groups, time=time, weight=weight, test=test, drop=drop or ())
    _refuse_early(table, holdout_size, holdouts, test_size, seed)
    describe(table, quiet)
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
    if holdout_size is None:
        # One size for all, so that learners can be compared.
        holdout_size = min((countable_size(each, holdouts, seed) for each in records.values()), default=None)
    orientations: dict[str, Orientation] = {}
    for name, labelings in records.items():
        try:
            orientations[name] = orientation(labelings, holdout_size, holdouts, seed)
        except expect.InputError as too_little:
            failed[name] = str(too_little)
    complete = {name: records[name] for name in orientations if not records[name].interrupted}
    distances = kinship(complete, holdout_size or 5, holdouts, seed) if len(complete) > 1 else None
    if as_json:
        settings["holdouts"] = holdouts
        console.write_json(_as_json(table, settings, records, orientations, distances, failed, interrupted))
    elif orientations:
        _show(records, orientations, distances, bounds, plugin)
    console.report_failures(failed)
    if charts is not None and orientations:
        console.save_charts(charts, _draw(orientations, distances, plugin), quiet)
    console.exit_if_partial(failed, interrupted)


def _refuse_early(table: Data, holdout_size: int | None, holdouts: int, test_size: float, seed: int) -> None:
    """Refuse, before any fit, a holdout larger than the test part."""
    if table.test is not None:
        points = len(table.test.y)
    else:
        codes = table.codes
        rows = table.per_row
        points = split_rows(codes, expect.fraction(test_size, "test_size"), settle(seed), rows)[1].size
    draw_holdouts(points, holdout_size, holdouts, seed)


def _show(
    records: dict[str, Labelings],
    orientations: dict[str, Orientation],
    distances: Kinship | None,
    bounds: bool,
    plugin: bool,
) -> None:
    out = console.out()
    for o in orientations.values():
        # The table has plain estimates then; the text always has the corrected ones.
        out.print(f"{'Corrected estimates: ' if plugin else ''}{o.conclusion()}", markup=False)
        out.print()
    out.print(_main_table(records, orientations, plugin))
    out.print()
    out.print(_bias_table(orientations))
    if bounds:
        out.print()
        out.print(_bounds_table(orientations))
    if distances is not None:
        out.print()
        out.print(_kinship_table(distances, plugin))
    for name, o in orientations.items():
        for note in o.notes:
            out.print(f"{name}: {note}", markup=False)


def _main_table(records: dict[str, Labelings], orientations: dict[str, Orientation], plugin: bool) -> Any:
    first = next(iter(orientations.values()))
    shown = {name: o.plugin if plugin else o for name, o in orientations.items()}
    return console.table(
        f"Predictions of {expect.counted(len(orientations), 'learner')} on holdouts of {first.holdout_size} points",
        MAIN_COLUMNS,
        [
            [
                name,
                console.figure(o.accuracy, 3),
                console.figure(o.train_accuracy, 3),
                *(console.figure(getattr(shown[name], part)) for part in ("expressivity", "capacity", "stochasticity")),
                f"{np.nanmean(records[name].seconds):.2g}",
            ]
            for name, o in orientations.items()
        ],
        f"Entropies range from 0 (always the same predictions) to {first.log2_labelings:.3g} bits (all predictions "
        "equally likely). Capacity: the part that depends on the training sample. Stochasticity: the part by training "
        "randomness." + (" Plain estimates of the paper, biased with few refits." if plugin else ""),
    )


def _bias_table(orientations: dict[str, Orientation]) -> Any:
    first = next(iter(orientations.values()))
    thresholds = _thresholds(first.holdout_size)
    possible = [f"{first.bounds[z - 1].bias_low:.3f}\nto {first.bounds[z - 1].bias_high:.3f}" for z in thresholds]
    rows = [[name, *(console.figure(o.bias[z], 3) for z in thresholds)] for name, o in orientations.items()]
    return console.table(
        "Algorithmic bias: how much more often than by chance at least z predictions are right",
        ["learner", *(f"{z} of {first.holdout_size}" for z in thresholds)],
        [*rows, ["possible", *possible]],
    )


def _bounds_table(orientations: dict[str, Orientation]) -> Any:
    first = next(iter(orientations.values()))
    thresholds = _thresholds(first.holdout_size)
    return console.table(
        "Largest expressivity that each bias allows (for plain estimates, to which the bounds apply)",
        ["learner", "plain\nexpressivity", *(f"at {z} of {first.holdout_size}" for z in thresholds)],
        [
            [
                name,
                f"{o.plugin.expressivity.value:.2f}",
                *(f"{o.bounds[z - 1].expressivity_tight:.2f}" for z in thresholds),
            ]
            for name, o in orientations.items()
        ],
        "The tight bound H2(q) + q·log2 k + (1 − q)·log2(|Ω| − k). JSON also has the looser published bounds.",
    )


def _thresholds(holdout_size: int, most: int = 7) -> list[int]:
    """Thresholds to print: all, or evenly spaced ones that include the last."""
    if holdout_size <= most:
        return list(range(1, holdout_size + 1))
    return sorted({max(round(holdout_size * part / most), 1) for part in range(1, most + 1)})


def _kinship_table(distances: Kinship, plugin: bool) -> Any:
    above = distances.jensen_shannon > distances.floor["jensen_shannon"]
    values = distances.plain["jensen_shannon"] if plugin else distances.jensen_shannon

    def cell(one: int, other: int) -> str:
        value = values[one, other]
        return f"{value:.2f}" if one == other or above[one, other] else f"({value:.2f})"

    how = (
        "Plain distances of the paper: with few subsets, equal learners are apart too."
        if plugin
        else "Corrected for chance: the square of the distance of two equal learners is 0 on average."
    )

    places = range(len(distances.names))
    return console.table(
        "Kinship: Jensen–Shannon distance between predictions (0: the same, 1: nothing in common)",
        ["learner", *(str(place + 1) for place in places)],
        [[f"{one + 1} {distances.names[one]}", *(cell(one, other) for other in places)] for one in places],
        f"{how} In parentheses: no larger than two equal learners reach in 19 of 20 cases.",
    )


def _as_json(
    table: Data,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    orientations: dict[str, Orientation],
    distances: Kinship | None,
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
            "every_class": scheme.every_class,
            "repeats": settings["repeats"],
            "test_size": settings["test_size"],
            "seed": settings["random_state"],
            "holdouts": settings["holdouts"],
            "time_limit": settings["time_limit"],
        },
        "learners": {name: {**o.to_dict(), **record_as_json(records[name])} for name, o in orientations.items()},
        "kinship": None if distances is None else distances.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(orientations: dict[str, Orientation], distances: Kinship | None, plugin: bool) -> dict[str, Any]:
    by_name: dict[str, Any] = {
        "bias": charts.bias_chart(*orientations.values()),
        "expressivity": charts.expressivity_chart(*orientations.values(), plugin=plugin),
        "plane": charts.plane_chart(*orientations.values()),
    }
    if distances is not None:
        by_name["kinship"] = charts.kinship_heatmap(distances, plugin=plugin)
        by_name["kinship_map"] = charts.kinship_map(distances, plugin=plugin)
        by_name["kinship_dendrogram"] = charts.kinship_dendrogram(distances, plugin=plugin)
    return by_name
