"""`classay learner`: what learners lean to, how they respond to data, how much is their own dice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .. import expect
from . import console

if TYPE_CHECKING:
    from ..learner.labelings import Labelings
    from ..tables import Table

USUAL = [
    "DecisionTreeClassifier",
    "RandomForestClassifier(n_estimators=50)",
    "make_pipeline(StandardScaler(), LogisticRegression())",
    "KNeighborsClassifier",
]

EXAMPLES = """
**Examples**

    classay learner breast_cancer

    classay learner breast_cancer --learner DecisionTreeClassifier --learner "RandomForestClassifier(n_estimators=50)"

    classay learner spam.csv.gz --target type --learner "KNeighborsClassifier(n_neighbors=5)" --json

    classay learner openml:credit-g --repeats 10 --charts charts/ --store runs/
"""


def command(
    data: str = typer.Argument(
        ...,
        metavar="DATA",
        help="A built-in name (iris, wine, breast_cancer, digits), a file (CSV, TSV, gz, Parquet, ARFF, npz) or "
        "openml:NAME.",
    ),
    target: str = typer.Option(None, "--target", "-t", help="Column with the labels. Default: the last one."),
    learner: list[str] = typer.Option(
        None, "--learner", "-l", help="A scikit-learn classifier, as NAME or NAME(argument=value). Repeat it for more."
    ),
    subsets: int = typer.Option(100, help="Random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement."),
    repeats: int = typer.Option(5, "--repeats", "-r", help="Refits on each subset. Ten tell the dice well."),
    test_size: float = typer.Option(0.2, help="Share of the rows that no refit sees."),
    holdout_size: int = typer.Option(5, help="Points whose labels are counted together."),
    holdouts: int = typer.Option(100, help="Random holdouts to average over."),
    seed: int = typer.Option(0, "--seed", "-s", help="The same seed gives the same figures."),
    workers: int = typer.Option(None, "--workers", "-w", help="Local workers. Default: one a core."),
    time_limit: float = typer.Option(None, help="Seconds that one fit may take."),
    store: Path = typer.Option(None, help="Folder of records; what is there is not fitted again."),
    charts: Path = typer.Option(None, help="Folder to save charts to, as SVG and PNG."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON on stdout instead of tables."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress and no remarks on stderr."),
    allow_import: bool = typer.Option(False, help="Allow learners as module:Name, which runs that module's code."),
    debug: bool = typer.Option(False, help="Show the traceback of an error."),
) -> None:
    """Tell what learners lean to, how much they respond to data, and how much of it is their own dice."""
    from .. import tables
    from ..learner.kinship import kinship
    from ..learner.named import learners_from_texts
    from ..learner.orientation import orientation
    from ..learner.schemes import Subsets
    from . import learner_view as view

    learners = learners_from_texts(learner or USUAL, allow_import)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = tables.read(data, target)
    _refuse_early(table, holdout_size, holdouts, test_size, seed)
    rows, columns = table.X.shape
    console.say(f"{table.name}: {rows} rows, {columns} columns, {table.y.nunique()} classes.", quiet)
    for note in table.notes:
        console.say(note, quiet)

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
    records, failed, interrupted = _record_all(learners, table, settings)
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


def _record_all(
    learners: dict[str, Any], table: Table, settings: dict[str, Any]
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    """Record every learner. One that cannot be fitted does not stop the others; if none can, that is an error."""
    from ..encoding import encoded
    from ..learner.record import record

    records: dict[str, Labelings] = {}
    failed: dict[str, str] = {}
    for name, unfitted in learners.items():
        try:
            records[name] = record(encoded(unfitted, table.X), table.X, table.y, name=name, **settings)
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            if not records:
                raise console.NothingDone from None
            return records, failed, True
        if name in records and records[name].interrupted:
            return records, failed, True
    if not records:
        raise expect.InputError(next(iter(failed.values())))
    return records, failed, False
