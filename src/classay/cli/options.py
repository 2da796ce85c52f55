"""Arguments and options that commands share, with one help text each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from .. import expect
from ..result import plain
from . import console

if TYPE_CHECKING:
    from ..learner.records.labelings import Labelings
    from ..tables.read import Table

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Built-in name (iris, wine, breast_cancer, digits), file (CSV, TSV, gz, Parquet, ARFF, npz) or "
        "openml:NAME.",
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column with the labels. Default: the last one.")]
Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value). Put a name of your own in front, as in "
        "tree=DecisionTreeClassifier. Repeat for more.",
    ),
]
Text = Annotated[str | None, typer.Option(help="Column of texts to embed; other columns are dropped.")]
TextModel = Annotated[str, typer.Option(help="Model that embeds texts: wordllama or minilm.")]
TextCache = Annotated[Path | None, typer.Option(help="Folder to cache embedded texts in.")]
TestSize = Annotated[float, typer.Option(help="Share of the rows held out from every refit.")]
Level = Annotated[float, typer.Option(help="Confidence level of intervals and bounds.")]
Seed = Annotated[int, typer.Option("--seed", "-s", help="Random seed; the same seed gives the same results.")]
Workers = Annotated[int | None, typer.Option("--workers", "-w", help="Number of local workers. Default: one per core.")]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Scheduler of a Dask cluster to run on, such as tcp://host:8786. Default: run locally.",
    ),
]
TimeLimit = Annotated[float | None, typer.Option(help="Time limit for one fit, in seconds.")]
Records = Annotated[Path | None, typer.Option(help="Folder of records; fits found there are reused.")]
Charts = Annotated[Path | None, typer.Option(help="Folder to save charts in, as SVG and PNG.")]
Mlflow = Annotated[
    str | None,
    typer.Option(
        "--mlflow",
        metavar="[URI]",
        help="Log figures, settings, charts and page to MLflow at this URI. Default: as configured in MLflow.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on stdout instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress or remarks on stderr.")]
AllowImport = Annotated[
    bool, typer.Option("--allow-import", help="Allow learners given as module:Name, which runs code of that module.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


# Shared by commands that fit learners: read the table, record each learner, describe both.


USUAL = [
    "tree=DecisionTreeClassifier",
    "forest=RandomForestClassifier(n_estimators=50)",
    "logistic regression=make_pipeline(StandardScaler(), LogisticRegression())",
    "nearest neighbours=make_pipeline(StandardScaler(), KNeighborsClassifier())",
]
"""The default learners."""


def tell(table: Table, quiet: bool) -> None:
    """Describe the table on stderr."""
    rows, columns = table.X.shape
    console.say(f"{table.name}: {rows} rows, {columns} columns, {table.y.nunique()} classes.", quiet)
    for note in table.notes:
        console.say(note, quiet)


def record_all(
    learners: dict[str, Any], table: Table, settings: dict[str, Any], scheduler: str | None = None
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    """Record every learner. One that cannot be fitted does not stop the others; if none can, that is an error.

    With a `scheduler` the work runs on that cluster. Return records, why others failed, and whether Ctrl-C was pressed.
    """
    from ..engine.dask import executor_of

    with executor_of(scheduler, settings["executor"]) as executor:
        return _record_all(learners, table, {**settings, "executor": executor})


def _record_all(
    learners: dict[str, Any], table: Table, settings: dict[str, Any]
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    from ..estimators.encoder import encoded
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


def table_as_json(table: Table) -> dict[str, Any]:
    """The description of a table."""
    return {
        "name": table.name,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "target": table.target,
        "classes": plain(sorted(table.y.unique().tolist())),
        "notes": list(table.notes),
    }


def record_as_json(labelings: Labelings) -> dict[str, Any]:
    """The source of a record, the time per fit, and what failed."""
    return {
        "about": plain(labelings.about),
        "seconds_per_fit": plain(np.nanmean(labelings.seconds)),
        "failures": plain(labelings.failures),
    }
