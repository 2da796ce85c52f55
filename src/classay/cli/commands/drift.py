"""`classay drift`: do batches of data show a change of the process, or only the learner's own instability?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ... import expect
from ...estimators.adapters import kind_of
from ...estimators.spec import learner_from_text
from ...estimators.trial import ready
from ...inputs import at_least_two
from ...learner.drift.batches import batch as as_batch
from ...learner.drift.monitor import DriftMonitor
from ...learner.drift.state import packed
from ...learner.drift.verdict import ACCURACY, Drift, Update
from ...tables.data import Data
from ...tables.kinds import EMPTY, IDENTIFIER, LEFT_OUT, NumbersAsLabels
from ...tables.read import read_table
from .. import console, options
from ..runner import Outcome, rows_table

if TYPE_CHECKING:
    import pandas as pd  # pd.Series[Any] exists only in the stubs

EXAMPLES = """
**Examples**

    classay drift batches/*.csv --target low_yield --learner "DecisionTreeClassifier(max_depth=4)"

    classay drift week*.csv --reference year.csv --target low_yield --rate 0.01 --charts charts/

    classay drift batches/*.csv --target low_yield --state monitor.classay

    classay drift batches/*.csv --target yield --learner "Ridge(alpha=10)"

With --state, the monitor is saved in that file; run the same command with more files to continue after the last batch.
"""


def command(
    columns: options.Columns,
    output: options.Charts,
    files: list[str] = typer.Argument(
        ..., metavar="FILE", help="Batches, ordered by the numbers in their names; the first is the reference."
    ),
    learner: str = typer.Option(
        "DecisionTreeClassifier(max_depth=4)",
        "--learner",
        "-l",
        help="A scikit-learn classifier, or a regressor if the target is a number, as NAME or NAME(argument=value).",
    ),
    reference: str = typer.Option(None, help="File with the reference. Default: the first FILE."),
    rate: float = typer.Option(0.05, help="False-alarm rate per batch."),
    probes: str = typer.Option(
        "uniform",
        help="Comparison points for fitted models (concepts): uniform, marginal or data (reference rows).",
    ),
    n_probes: int = typer.Option(2_000, help="Number of comparison points to draw."),
    draws: int = typer.Option(
        None, help="Fits on parts of the reference, to measure variation by chance. Default: as many as --rate needs."
    ),
    tolerance: float = typer.Option(
        None,
        help="For a regressor: predictions that differ by at most this count as the same. Default: 0.1 standard "
        "deviations of the target.",
    ),
    min_stability: float = typer.Option(None, help="Stability below which the learner is not trusted to monitor."),
    state: Path = typer.Option(None, help="File to save the monitor in, and to continue from."),
    sort: bool = typer.Option(True, help="Sort the files by name, numbers as numbers, or keep the order given."),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    allow_import: options.AllowImport = False,
) -> Outcome:
    """Detect whether batches of data show a change of the process, or only the usual variation of the learner."""
    name, unfitted = learner_from_text(learner, allow_import, regressors=True)
    if state is not None:
        console.writable_folder(state.resolve().parent, "--state")
    ordered = sorted(files, key=natural) if sort else list(files)
    numbers = kind_of(unfitted) == "regressor"
    first = ordered.pop(0) if reference is None else reference
    try:
        reference_batch = read_reference(first, columns, numbers)
    except NumbersAsLabels as mistake:
        raise expect.InputError(f"{mistake} For numbers, pass a regressor: --learner Ridge.") from mistake
    n_rows, n_columns = reference_batch.X.shape
    output.say(f"Reference {reference_batch.name}: {n_rows} rows, {n_columns} columns.")
    for note in reference_batch.table.notes:
        console.say(note, output.quiet and note not in reference_batch.table.audit.losses)
    # All files are read before anything is fitted, so that a bad one is reported at once.
    batches = [read_batch(file, reference_batch) for file in ordered]
    tried = ready(unfitted, reference_batch.X, reference_batch.y, seed, reference_batch.table.texts)
    for note in tried.notes:
        output.say(f"{name}: {note}")
    monitor = DriftMonitor(
        tried.learner,
        probes=probes,
        n_probes=n_probes,
        false_alarm_rate=rate,
        min_stability=min_stability,
        tolerance=tolerance,
        draws=draws,
        random_state=seed,
        executor=workers,
        progress=not output.quiet,
        time_limit=time_limit,
        name=name,
    )
    if state is not None:
        packed(reference_batch.X, "rows")  # refuses what cannot be saved, before anything is fitted
    if state is not None and state.exists():
        saved = DriftMonitor.load(state, tried.learner, executor=workers, progress=not output.quiet)
        new = _not_seen(saved, monitor, reference_batch, batches, state)
        if len(new) < len(batches):
            output.say(f"{len(batches) - len(new)} of {len(batches)} batches are in {state} already.")
        monitor, batches = saved, new
    elif not batches:
        raise expect.InputError(
            "Only one file was given, and it is the reference; expected at least one batch after it."
        )
    interrupted = _run(monitor, reference_batch, batches, state)
    history = monitor.history
    return Outcome(
        {"reference": reference_batch.name, "wrapped": tried.wrapped, **history.to_dict()},
        data=reference_batch.table,
        text=_text(history, reference_batch.name),
        charts=lambda: {"drift": history.plot()} if history.updates else {},
        interrupted=interrupted,
    )


@dataclass(frozen=True)
class Batch:
    """Rows and labels of one file."""

    name: str
    X: pd.DataFrame
    y: Any


@dataclass(frozen=True)
class Reference(Batch):
    """The reference, with how it was read."""

    table: Data
    numbers: bool = False


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key for file names: numbers sort as numbers, so that batch 10 comes after batch 9.

    >>> sorted(["b10.csv", "b9.csv", "a.csv"], key=natural)
    ['a.csv', 'b9.csv', 'b10.csv']
    """
    parts = re.split(r"(\d{1,18})", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def read_reference(file: str, columns: options.Columns, numbers: bool) -> Reference:
    """The reference from a file; `numbers` if its target is a number."""
    table = read_table(file, columns.target, columns.text, drop=columns.drop or (), numbers=numbers)
    return Reference(table.name, table.X, table.y, table, numbers)


def read_batch(file: str, reference: Reference) -> Batch:
    """A batch from a file, read as the reference was; an error names the file."""
    try:
        table = read_table(file, reference.table.target, like=reference.table, numbers=reference.numbers)
        known = {column.name for column in reference.table.audit.columns}
        new = [
            column.name
            for column in table.audit.columns
            if column.use == LEFT_OUT and column.kind not in (EMPTY, IDENTIFIER) and column.name not in known
        ]
        if new:
            raise expect.InputError(f"The batch has a column {new[0]!r}, which the reference does not have. Drop it.")
        classes = None if reference.numbers else reference.table.classes
        if classes is not None:
            at_least_two(np.unique(table.y))
        batch = Batch(table.name, table.X, table.y)
        as_batch(batch.X, batch.y, reference.X, classes)
    except expect.InputError as mistake:
        raise expect.InputError(f"{Path(file).name}: {mistake}") from mistake
    for loss in table.audit.losses:
        console.say(f"{table.name}: {loss}")
    return batch


def _not_seen(
    saved: DriftMonitor, wanted: DriftMonitor, reference: Batch, batches: list[Batch], state: Path
) -> list[Batch]:
    """The batches that a saved monitor has not seen, if it has the same reference and settings."""
    if not saved.knows(reference.X, reference.y):
        raise expect.InputError(
            f"{state} was saved with another reference than {reference.name}. Use the same reference, or another "
            "--state."
        )
    for name in ("probes", "n_probes", "false_alarm_rate", "min_stability", "tolerance", "draws", "seed"):
        then, now = getattr(saved, name), getattr(wanted, name)
        if then != now:
            raise expect.InputError(
                f"{state} was saved with {name} = {then}, but it is now {now}. Keep it, or use another --state."
            )
    return [each for each in batches if not saved.has_seen(each.X, each.y)]


def _run(monitor: DriftMonitor, reference: Batch, batches: list[Batch], state: Path | None) -> bool:
    """Process the batches, saving the state after each. Return whether Ctrl-C was pressed."""
    try:
        if not monitor.fitted:
            monitor.fit(reference.X, reference.y)
        for each in batches:
            try:
                monitor.update(each.X, each.y, name=each.name)
            except expect.InputError as mistake:
                raise expect.InputError(f"{each.name}: {mistake}") from mistake
            if state is not None:
                monitor.save(state)
    except KeyboardInterrupt:
        if not monitor.fitted or not monitor.history.updates:
            raise
        return True
    return False


def _text(history: Drift, reference: str) -> Iterator[Any]:
    yield str(history)
    if not history.updates:
        return
    last = history.updates[-1]
    side = "low\nbelow" if last.metric == ACCURACY else "high\nabove"
    headings = {
        "name": "batch", "n_rows": "rows", "agreement_reference": "agrees with\nreference",
        "low_below_reference": "low\nbelow", "metric_reference": f"{last.metric} of\nold concept", "metric_limit": side,
        "p_value": "p", "p_rows": "p of\nrows", "agreement_last": "agrees with\nlast batch", "verdict": "verdict",
    }  # fmt: skip
    rows = [{**vars(each), "verdict": each.verdict.upper() if each.alarm else each.verdict} for each in history.updates]
    title = f"Batches after {reference} ({history.n_reference} rows)"
    yield rows_table(title, rows, headings, _legend(history, last), most=len(rows))
    for note in dict.fromkeys(note for update in history.updates for note in update.notes):
        names = [update.name for update in history.updates if note in update.notes]
        yield f"{expect.shown(names)}: {note}"


def _legend(history: Drift, last: Update) -> str:
    """What the columns are, and what is usual in them."""
    alike, old = "predict the same", "Accuracy: of the reference's concept on the batch."
    usual = f"accuracy is {last.usual_metric:.3f}"
    if last.metric != ACCURACY:
        alike, usual = f"differ by at most {last.tolerance:.3g}", f"error is {last.usual_metric:.4g}"
        old = (
            "Error: mean absolute error of the reference's concept on the batch, errors above "
            f"{last.cap:.3g} counted as that."
        )
    return (
        f"Agreement: share of comparison points ({history.probes}) on which two concepts {alike}. {old} p: of both "
        f"together, and of the rows alone. Without a change, batches of {last.n_rows} rows agree on "
        f"{last.stability:.3f}, and {usual}."
    )
