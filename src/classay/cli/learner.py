"""`classay learner`: what learners lean to, how they respond to data, how much is their own dice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from .. import expect
from . import console, options

if TYPE_CHECKING:
    from ..tables import Table

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
    subsets: int = typer.Option(100, help="Random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement."),
    repeats: int = typer.Option(5, "--repeats", "-r", help="Refits on each subset. Ten tell the dice well."),
    test_size: options.TestSize = 0.2,
    holdout_size: int = typer.Option(5, help="Points whose labels are counted together."),
    holdouts: int = typer.Option(100, help="Random holdouts to average over."),
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
    """Tell what learners lean to, how much they respond to data, and how much of it is their own dice."""
    from .. import tables
    from ..learner.kinship import kinship
    from ..learner.named import learners_from_texts
    from ..learner.orientation import orientation
    from ..learner.schemes import Subsets
    from . import learner_view as view
    from .recording import USUAL, record_all, tell

    learners = learners_from_texts(learner or USUAL, allow_import)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = tables.read(data, target)
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
            view.as_json(table, {**settings, "holdouts": holdouts}, records, found, related, failed, interrupted)
        )
    else:
        view.show(records, found, related)
    for name, why in failed.items():
        console.error(f"{name} gave no figures. {why}")
    if charts is not None and found:
        for path in view.save_charts(charts, found, related):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        console.error("Interrupted: the figures above are of what was done by then.")
    if failed or interrupted:
        raise typer.Exit(console.PARTIAL)


def _refuse_early(table: Table, holdout_size: int, holdouts: int, test_size: float, seed: int) -> None:
    """Refuse, before any fit, a holdout that the test part cannot hold."""
    import numpy as np

    from ..learner.holdouts import draw_holdouts
    from ..learner.schemes import split
    from ..seeds import settle

    codes = np.unique(table.y.to_numpy(), return_inverse=True)[1]
    _, test, _ = split(codes, expect.fraction(test_size, "test_size"), settle(seed))
    draw_holdouts(test.size, holdout_size, holdouts, seed)
