"""What commands that fit learners share: describe the table, record every learner, and both as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import expect
from ..engine.dask import executor_of
from ..estimators.trial import ready
from ..learner.record import record
from ..learner.records.labelings import Labelings
from ..result import plain
from ..tables.data import Data
from . import console


def describe(table: Data, quiet: bool) -> None:
    """Describe the table on stderr: how it was read, and what was lost. `quiet` hides the first, never the second."""
    for line in str(table.audit).splitlines() if not quiet else table.audit.losses:
        console.say(line)
    others = [note for note in table.notes if note not in (*table.audit.notes, *table.audit.losses)]
    for note in others:
        console.say(note, quiet)
    if table.test is not None:
        describe(table.test, quiet)


def of_rows(table: Data) -> dict[str, Any]:
    """The keywords of `record` for what the options name: groups, times and weights of the rows, and the test rows."""
    given: dict[str, Any] = {"groups": table.groups, "time": table.time, "sample_weight": table.weights}
    if table.test is not None:
        given |= {"X_test": table.test.X, "y_test": table.test.y}
        if table.groups is not None and table.test.groups is not None:
            given["groups"] = np.concatenate([table.groups, table.test.groups])
    return {name: values for name, values in given.items() if values is not None}


def record_all(
    learners: dict[str, Any], table: Data, settings: dict[str, Any], scheduler: str | None = None
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    """Record every learner. One that cannot be fitted does not stop the others; if none can, that is an error.

    With a `scheduler` the work runs on that cluster. Return records, why others failed, and whether Ctrl-C was pressed.
    """
    with executor_of(scheduler, settings["executor"]) as executor:
        return _record_all(learners, table, {**settings, "executor": executor})


def _record_all(
    learners: dict[str, Any], table: Data, settings: dict[str, Any]
) -> tuple[dict[str, Labelings], dict[str, str], bool]:
    records: dict[str, Labelings] = {}
    failed: dict[str, str] = {}
    for name, unfitted in learners.items():
        try:
            tried = ready(unfitted, table.X, table.y, settings["random_state"], table.texts)
            labelings = record(tried.learner, table.X, table.y, name=name, **settings, **of_rows(table))
            assert isinstance(labelings, Labelings)  # regressors were refused by name
            records[name] = replace(labelings, notes=(*labelings.notes, *tried.notes))
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


def table_as_json(table: Data) -> dict[str, Any]:
    """The description of a table."""
    return {
        "name": table.name,
        "rows": len(table.y),
        "columns": table.X.shape[1],
        "target": table.target,
        "classes": plain(table.classes),
        "notes": list(table.notes),
        "audit": table.audit.to_dict(),
    }


def record_as_json(labelings: Labelings) -> dict[str, Any]:
    """The source of a record, the time per fit, and what failed."""
    return {
        "about": plain(labelings.about),
        "seconds_per_fit": plain(np.nanmean(labelings.seconds)),
        "failures": plain(labelings.failures),
    }
