"""`classay stability`: how repeatable learners are, beside how accurate, and where their refits disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .. import expect
from . import console, options

if TYPE_CHECKING:
    from ..learner.disagreement import DisagreementRegions
    from ..learner.stability import Stability

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
    n_probes: int = typer.Option(10_000, help="How many probes to draw."),
    splits: int = typer.Option(25, help="Random splits of the training part into two halves, each fitted."),
    size: int = typer.Option(None, help="Rows of each half that are used. Default: all."),
    repeats: int = typer.Option(1, "--repeats", "-r", help="Refits on each half. Two tell the learner's own dice."),
    test_size: options.TestSize = 0.2,
    regions: int = typer.Option(3, help="Most regions to show of each learner in which refits disagree; 0: none."),
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
    """Tell how repeatable learners are: how far two refits on different rows agree, beside accuracy, and where not."""
    from .. import tables
    from ..learner.named import learners_from_texts
    from ..learner.probes import KINDS
    from ..learner.schemes import HalfSplits
    from ..learner.stability import stability
    from ..learner.stability_table import stabilities
    from . import stability_view as view
    from .recording import USUAL, record_all, tell

    learners = learners_from_texts(learner or USUAL, allow_import)
    expect.one_of(probes, "probes", KINDS)
    expect.whole(regions, "regions", at_least=0)
    scheme = HalfSplits(splits, size)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = tables.read(data, target)
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
            # Without regions there are still the figures.
            if name in found:
                console.say(f"{name}: no regions. {too_little}", quiet)
            else:
                failed[name] = str(too_little)
    side_by_side = stabilities(found) if found else None
    if as_json:
        console.write_json(view.as_json(table, settings, records, found, where, side_by_side, failed, interrupted))
    elif side_by_side is not None:
        view.show(records, found, where, side_by_side)
    for name, why in failed.items():
        console.error(f"{name} gave no figures. {why}")
    if charts is not None and side_by_side is not None:
        for path in view.save_charts(charts, found, where, side_by_side):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the figures above are of what was done by then.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)
