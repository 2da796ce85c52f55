"""`classay stability`: how repeatable and how accurate learners are, and where their refits disagree."""

from __future__ import annotations

from typing import Any

import numpy as np
import typer

from ... import __version__, charts, expect
from ...estimators.spec import learners_from_texts
from ...intervals import Estimate
from ...learner.fitting.probes import KINDS
from ...learner.fitting.schemes import HalfSplits
from ...learner.records.labelings import Labelings
from ...learner.stability.disagreement import DisagreementRegions
from ...learner.stability.stability import Stability, StabilityTable, stability
from ...regions.region import p_value_text
from ...tables.data import Data
from ...tables.read import read_table
from .. import console, options
from ..records import describe, record_all, record_as_json, table_as_json

EXAMPLES = """
**Examples**

    classay stability breast_cancer

    classay stability steel.csv --learner DecisionTreeClassifier --learner LogisticRegression --probes uniform

    classay stability steel.csv --target low_yield --learner "DecisionTreeClassifier(max_depth=4)" --charts charts/

    classay stability openml:credit-g --probes marginal --splits 50 --store runs/ --json
"""
REGION_COLUMNS = ["where", "share of\npoints", "disagreement", "elsewhere", "lift", "q"]


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
    probes: str = typer.Option(
        "uniform",
        help="Points on which refits are compared: uniform (over the domain of each column), marginal (each column "
        "drawn independently) or data (the test part).",
    ),
    n_probes: int = typer.Option(10_000, help="Number of probes to draw."),
    splits: int = typer.Option(25, help="Number of random splits of the training part into two halves to fit on."),
    size: int = typer.Option(None, help="Number of rows to use from each half. Default: all."),
    repeats: int = typer.Option(
        1, "--repeats", "-r", help="Refits on each half. Use 2 or more to separate training randomness from data."
    ),
    test_size: options.TestSizeOfHalves = 0.2,
    regions: int = typer.Option(
        3, help="Maximum number of regions per learner to show where refits disagree; 0: none."
    ),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    store: options.Store = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure how repeatable learners are: how often two refits on different rows agree, and where they do not."""
    learners = learners_from_texts(learner or options.USUAL, allow_import)
    expect.one_of(probes, "probes", KINDS)
    expect.whole(regions, "regions", at_least=0)
    scheme = HalfSplits(splits, size)
    console.writable_folder(charts, "--charts")
    table = read_table(data, target, text, groups=groups, time=time, weight=weight, test=test, drop=drop or ())
    describe(table, quiet)
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
    by_learner: dict[str, Stability] = {}
    regions_of: dict[str, DisagreementRegions] = {}
    for name, labelings in records.items():
        try:
            by_learner[name] = stability(labelings)
            if regions:
                regions_of[name] = by_learner[name].regions(top=regions, random_state=seed)
        except expect.InputError as too_little:
            # The figures are valid without regions.
            if name in by_learner:
                console.say(f"{name}: no regions. {too_little}", quiet)
            else:
                failed[name] = str(too_little)
    comparison = stability(by_learner) if by_learner else None
    if as_json:
        console.write_json(_as_json(table, settings, records, by_learner, regions_of, comparison, failed, interrupted))
    elif comparison is not None:
        _show(records, by_learner, regions_of, comparison)
    console.report_failures(failed)
    if charts is not None and comparison is not None:
        console.save_charts(charts, _draw(by_learner, regions_of, comparison), quiet)
    console.exit_if_partial(failed, interrupted)


def _show(
    records: dict[str, Labelings],
    by_learner: dict[str, Stability],
    regions_of: dict[str, DisagreementRegions],
    comparison: StabilityTable,
) -> None:
    """Print text, the table of learners, and where each of them is not repeatable."""
    out = console.out()
    several = len(by_learner) > 1
    out.print(str(comparison if several else next(iter(by_learner.values()))), markup=False)
    out.print()
    out.print(_agreement_table(records, by_learner))
    for name, regions in regions_of.items():
        out.print()
        if regions.regions:
            out.print(_region_table(name, regions))
        else:
            out.print(str(regions), markup=False)
    if several:
        for name, one in by_learner.items():
            for note in one.notes:
                out.print(f"{name}: {note}", markup=False)


def _agreement_table(records: dict[str, Labelings], by_learner: dict[str, Stability]) -> Any:
    first = next(iter(by_learner.values()))
    figures = {
        "stability": "stability",
        "for new\ndata": "stability_new_data",
        "kappa": "kappa",
        "test\naccuracy": "accuracy",
        "accuracy for\nnew data": "accuracy_new_data",
    }
    caption = (
        "Stability: share of the points on which two refits predict the same class. A learner that always predicts one "
        "class has 1, so read it together with accuracy. Kappa: the same beyond chance. Intervals are for refits on "
        "halves of these rows; for new data: the interval for other data of the same source and size."
    )
    if any(one.same_subset.known for one in by_learner.values()):
        figures["same\nrows"] = "same_subset"
        caption += (
            " Same rows: for refits on the same rows; the difference from 1 is the learner's own training randomness."
        )
    return console.table(
        f"Agreement of two refits on {first.pairs}, on {first.n_points} {first.on}",
        ["learner", *figures, "seconds\nper fit"],
        [
            [
                name,
                *(_cell(getattr(one, part), part) for part in figures.values()),
                f"{np.nanmean(records[name].seconds):.2g}",
            ]
            for name, one in by_learner.items()
        ],
        caption,
    )


def _cell(estimate: Estimate, part: str) -> str:
    """A figure with its interval; for new data its interval alone, since the value is the same."""
    if part.endswith("new_data") and estimate.known:
        return f"[{estimate.low:z.3f}, {estimate.high:z.3f}]"
    return console.figure(estimate, 3)


def _region_table(name: str, regions: DisagreementRegions) -> Any:
    return console.table(
        f"{name}: where refits disagree most ({regions.disagreement.value:.1%} overall)",
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
            for each in regions.regions
        ],
        f"For refits and points that were not searched; {len(regions.tested)} regions were tested on them, at a "
        f"false-discovery rate of {regions.q:g}.",
    )


def _as_json(
    table: Data,
    settings: dict[str, Any],
    records: dict[str, Labelings],
    by_learner: dict[str, Stability],
    regions_of: dict[str, DisagreementRegions],
    comparison: StabilityTable | None,
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
                "regions": regions_of[name].to_dict() if name in regions_of else None,
                **record_as_json(records[name]),
            }
            for name, one in by_learner.items()
        },
        "table": None if comparison is None else comparison.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(
    by_learner: dict[str, Stability], regions_of: dict[str, DisagreementRegions], comparison: StabilityTable
) -> dict[str, Any]:
    """The chart of all learners, and numbered charts of each of them."""
    by_name: dict[str, Any] = {"stability": comparison.plot()}
    for number, (name, one) in enumerate(by_learner.items(), 1):
        by_name[f"agreement_{number}"] = one.plot()
        try:
            by_name[f"disagreement_{number}"] = charts.disagreement_plane(one, regions=regions_of.get(name))
        except expect.InputError:  # a plane needs two numeric columns
            continue
    return by_name
