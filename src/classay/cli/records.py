"""What commands that fit learners share: describe the table, record every learner, and both as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import expect
from ..engine.dask import executor_of
from ..estimators.encoder import encoded
from ..learner.record import record
from ..learner.records.labelings import Labelings
from ..result import plain
from ..tables.read import Table
from . import console


def describe(table: Table, quiet: bool) -> None:
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
    with executor_of(scheduler, settings["executor"]) as executor:
        return _record_all(learners, table, {**settings, "executor": executor})


def _record_all(
    learners: dict[str, Any], table: Table, settings: dict[str, Any]
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    records: dict[str, Labelings] = {}
    failed: dict[str, str] = {}
    for name, unfitted in learners.items():
        try:
            labelings = record(encoded(unfitted, table.X), table.X, table.y, name=name, **settings)
            assert isinstance(labelings, Labelings)  # regressors were refused by name
            records[name] = labelings
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
