"""`classay drift`: do batches of data show a change of the process, or only the learner's own instability?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ... import expect
from ...estimators.adapters import kind_of
from ...estimators.spec import learner_from_text
from ...estimators.trial import ready
from ...learner.drift.batches import batch as as_batch
from ...learner.drift.monitor import DriftMonitor
from ...learner.drift.state import packed
from ...learner.drift.verdict import ACCURACY, Drift, Update
from ...tables.data import Data
from ...tables.kinds import EMPTY, IDENTIFIER, LEFT_OUT, NumbersAsLabels
from ...tables.read import read_table
from .. import console, options
from ..runner import Outcome, worded_table


def command(
    columns: options.Columns,
    output: options.Charts,
    files: list[str],
    learner: str = "DecisionTreeClassifier(max_depth=4)",
    reference: str | None = None,
    rate: float = 0.05,
    control: str = "batch",
    probes: str = "uniform",
    n_probes: int = 2_000,
    draws: int | None = None,
    tolerance: float | None = None,
    min_stability: float | None = None,
    state: Path | None = None,
    sort: bool = True,
    seed: int = 0,
    workers: int | None = None,
    time_limit: float | None = None,
    allow_import: bool = False,
) -> Outcome:
    """Detect whether batches of data show a change, or only the usual variation of the learner."""
    name, unfitted = learner_from_text(learner, allow_import, regressors=True)
    if state is not None:
        console.writable_folder(state.resolve().parent, "--state")
    ordered = sorted(files, key=natural) if sort else list(files)
    numbers = kind_of(unfitted) == "regressor"
    first = ordered.pop(0) if reference is None else reference
    try:
        known = read_table(first, columns.target, columns.text, drop=columns.drop or (), numbers=numbers)
    except NumbersAsLabels as mistake:
        raise expect.InputError(f"{mistake} For numbers, pass a regressor: --learner Ridge.") from mistake
    output.say(f"Reference {known.name}: {len(known.X)} rows, {known.X.shape[1]} columns.")
    for note in known.notes:
        console.say(note, output.quiet and note not in known.audit.losses)
    # All files are read before anything is fitted, so that a bad one is reported at once.
    batches = [_read_batch(file, known, numbers) for file in ordered]
    tried = ready(unfitted, known.X, known.y, seed, known.texts)
    for note in tried.notes:
        output.say(f"{name}: {note}")
    settings: dict[str, Any] = {"probes": probes, "n_probes": n_probes, "false_alarm_rate": rate, "control": control}
    settings |= {"min_stability": min_stability, "tolerance": tolerance, "draws": draws}
    work: dict[str, Any] = {"executor": workers, "progress": not output.quiet}
    monitor = DriftMonitor(tried.learner, **settings, random_state=seed, time_limit=time_limit, name=name, **work)
    if state is not None:
        packed(known.X, "rows")  # refuses what cannot be saved, before anything is fitted
    if state is not None and state.exists():
        saved = DriftMonitor.load(state, tried.learner, **work)
        _refuse_another(saved, monitor, (*settings, "seed"), known, state)
        new = [batch for batch in batches if not saved.has_seen(batch.X, batch.y)]
        if len(new) < len(batches):
            output.say(f"{len(batches) - len(new)} of {len(batches)} batches are in {state} already.")
        monitor, batches = saved, new
    elif not batches:
        raise expect.InputError(
            "Only one file was given, and it is the reference; expected at least one batch after it."
        )
    interrupted = _run(monitor, known, batches, state)
    history = monitor.history
    return Outcome(
        {"reference": known.name, "wrapped": tried.wrapped, "any_false_alarm": history.any_false_alarm}
        | history.to_dict(),
        data=known,
        text=_text(history, known.name),
        charts=lambda: {"drift": history.plot()} if history.updates else {},
        interrupted=interrupted,
    )


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key for file names: numbers sort as numbers, so that batch 10 comes after batch 9."""
    parts = re.split(r"(\d{1,18})", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _read_batch(file: str, reference: Data, numbers: bool) -> Data:
    """A batch from a file, read as the reference was; an error names the file."""
    try:
        batch = read_table(file, reference.target, like=reference, numbers=numbers)
        known = {column.name for column in reference.audit.columns}
        new = [
            column.name
            for column in batch.audit.columns
            if column.use == LEFT_OUT and column.kind not in (EMPTY, IDENTIFIER) and column.name not in known
        ]
        if new:
            raise expect.InputError(f"The batch has a column {new[0]!r}, which the reference does not have. Drop it.")
        as_batch(batch.X, batch.y, reference.X, None if numbers else reference.classes)
    except expect.InputError as mistake:
        raise expect.InputError(f"{Path(file).name}: {mistake}") from mistake
    for loss in batch.audit.losses:
        console.say(f"{batch.name}: {loss}")
    return batch


def _refuse_another(
    saved: DriftMonitor, wanted: DriftMonitor, names: Iterable[str], reference: Data, state: Path
) -> None:
    if not saved.knows(reference.X, reference.y):
        raise expect.InputError(
            f"{state} was saved with another reference than {reference.name}. Use the same reference, or another "
            "--state."
        )
    for name in names:
        then, now = getattr(saved, name), getattr(wanted, name)
        if then != now:
            raise expect.InputError(
                f"{state} was saved with {name} = {then}, but it is now {now}. Keep it, or use another --state."
            )


def _run(monitor: DriftMonitor, reference: Data, batches: list[Data], state: Path | None) -> bool:
    """Process the batches, saving the state after each. Return whether Ctrl-C was pressed."""
    try:
        if not monitor.fitted:
            monitor.fit(reference.X, reference.y)
        for batch in batches:
            try:
                monitor.update(batch.X, batch.y, name=batch.name)
            except expect.InputError as mistake:
                raise expect.InputError(f"{batch.name}: {mistake}") from mistake
            if state is not None:
                monitor.save(state)
    except KeyboardInterrupt:
        if not monitor.fitted or not monitor.history.updates:
            raise
        return True
    return False


def _text(history: Drift, reference: str) -> Iterator[Any]:
    yield str(history)
    if measured := [update for update in history.updates if update.measured]:
        yield _table(history, measured[-1], reference)
    for note in dict.fromkeys(note for update in history.updates for note in update.notes):
        names = [update.name for update in history.updates if note in update.notes]
        yield f"{expect.shown(names)}: {note}"


def _table(history: Drift, last: Update, reference: str) -> Any:
    """The batches, with the words for those of a regressor; `last` is the last one with figures."""
    words = {"alike": "predict the same", "side": "low below", "usual": f"accuracy is {last.usual_metric:.3f}"}
    words["old"] = "Accuracy: of the reference's concept on the batch."
    if last.metric != ACCURACY:
        words = {"alike": f"differ by at most {last.tolerance:.3g}", "side": "high above"}
        words["usual"] = f"error is {last.usual_metric:.4g}"
        words["old"] = (
            f"Error: mean absolute error of the reference's concept on the batch, at most {last.cap:.3g} each."
        )
    rows = [
        {**vars(update), "verdict": update.verdict.upper() if update.alarm else update.verdict}
        for update in history.updates
    ]
    return worded_table("batches", rows, reference=reference, history=history, last=last, **words)
