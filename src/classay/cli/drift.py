"""`classay drift`: whether batches of data show a change of the process, or only the learner's own instability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .. import __version__, expect
from . import console, options
from .batch_files import Batch, natural, read_batch, read_reference

if TYPE_CHECKING:
    from ..learner.drift import DriftMonitor
    from ..learner.updates import Drift

EXAMPLES = """
**Examples**

    classay drift batches/*.csv --target low_yield --learner "DecisionTreeClassifier(max_depth=4)"

    classay drift week*.csv --reference year.csv --target low_yield --rate 0.01 --charts charts/

    classay drift batches/*.csv --target low_yield --state monitor.classay

With --state, what is told is kept in that file; the same command on more files goes on after the last batch.
"""
COLUMNS = [
    "batch",
    "rows",
    "agrees with\nreference",
    "alarm\nbelow",
    "agrees with\nlast batch",
    "alarm\nbelow",
    "p",
    "old concept\nright on",
    "verdict",
]


def command(
    files: list[str] = typer.Argument(
        ..., metavar="FILE", help="Batches in the order of the numbers in their names; the first is the reference."
    ),
    target: options.Target = None,
    learner: str = typer.Option(
        "DecisionTreeClassifier(max_depth=4)",
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value).",
    ),
    reference: str = typer.Option(None, help="File with the reference, instead of the first FILE."),
    rate: float = typer.Option(0.05, help="False-alarm rate of each batch."),
    probes: str = typer.Option(
        "uniform", help="Points on which concepts are compared: uniform, marginal, or data (the reference's rows)."
    ),
    n_probes: int = typer.Option(2_000, help="How many probes to draw."),
    draws: int = typer.Option(
        None, help="Parts of the reference that are fitted to learn what chance does. Default: what the rate needs."
    ),
    min_stability: float = typer.Option(None, help="Stability below which the learner is not trusted to monitor."),
    state: Path = typer.Option(None, help="File in which the monitor is kept, and from which it goes on."),
    sort: bool = typer.Option(True, help="Sort the files by name, numbers as numbers; or take them as they are given."),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    time_limit: options.TimeLimit = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Tell whether batches of data show a change of the process, or only differ as the learner's concepts always do."""
    from ..encoding import encoded
    from ..learner.drift import DriftMonitor
    from ..learner.drift_state import packed
    from ..learner.named import learner_from_text

    name, unfitted = learner_from_text(learner, allow_import)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    if state is not None:
        console.writable_folder(state.resolve().parent, "--state")
    ordered = sorted(files, key=natural) if sort else list(files)
    first = ordered.pop(0) if reference is None else reference
    start = read_reference(first, target)
    console.say(f"Reference {start.name}: {len(start.y)} rows, {start.X.shape[1]} columns.", quiet)
    for note in start.notes:
        console.say(note, quiet)
    # All files are read before anything is fitted, so that a bad one is told at once.
    batches = [read_batch(file, start) for file in ordered]
    ready = encoded(unfitted, start.X)
    monitor = DriftMonitor(
        ready,
        probes=probes,
        n_probes=n_probes,
        false_alarm_rate=rate,
        min_stability=min_stability,
        draws=draws,
        random_state=seed,
        executor=workers,
        progress=not quiet,
        time_limit=time_limit,
        name=name,
    )
    if state is not None:
        packed(start.X, "rows")  # refuses what cannot be kept, before anything is fitted
    if state is not None and state.exists():
        kept = DriftMonitor.load(state, ready, executor=workers, progress=not quiet)
        new = _not_seen(kept, monitor, start, batches, state)
        if len(new) < len(batches):
            console.say(f"{len(batches) - len(new)} of {len(batches)} batches are in {state} already.", quiet)
        monitor, batches = kept, new
    elif not batches:
        raise expect.InputError("One file was given, which is the reference; at least one batch is expected beside it.")
    interrupted = _run(monitor, start, batches, state)
    found = monitor.history
    if as_json:
        console.write_json(
            {"classay": __version__, "reference": start.name, **found.to_dict(), "interrupted": interrupted}
        )
    else:
        _show(found, start.name)
    if charts is not None and found.updates:
        from .. import charts as drawing

        drawn = drawing.drift_chart(found)
        for suffix in ("svg", "png"):
            console.say(f"Saved {drawing.save(drawn, charts / f'drift.{suffix}')}", quiet)
    if interrupted:
        console.error("Interrupted: the batches above are those done by then.")
        raise typer.Exit(console.PARTIAL)


def _not_seen(kept: DriftMonitor, wanted: DriftMonitor, start: Batch, batches: list[Batch], state: Path) -> list[Batch]:
    """The batches that a kept monitor has not seen, if it is of the same reference and settings."""
    if not kept.knows(start.X, start.y):
        raise expect.InputError(
            f"{state} was kept with another reference than {start.name}. Give the same one, or another --state."
        )
    for name in ("probes", "n_probes", "false_alarm_rate", "min_stability", "draws", "seed"):
        before, now = getattr(kept, name), getattr(wanted, name)
        if before != now:
            raise expect.InputError(
                f"{state} was kept with {name} = {before}, and it is {now} now. Give the same, or another --state."
            )
    return [each for each in batches if not kept.has_seen(each.X, each.y)]


def _run(monitor: DriftMonitor, start: Batch, batches: list[Batch], state: Path | None) -> bool:
    """Go through the batches, keeping the state after each. Returns whether Ctrl-C came."""
    try:
        if not monitor.fitted:
            monitor.fit(start.X, start.y)
        for each in batches:
            try:
                monitor.update(each.X, each.y, name=each.name)
            except expect.InputError as mistake:
                raise expect.InputError(f"{each.name}: {mistake}") from mistake
            if state is not None:
                monitor.save(state)
    except KeyboardInterrupt:
        if not monitor.fitted or not monitor.history.updates:
            raise console.NothingDone from None
        return True
    return False


def _show(found: Drift, reference: str) -> None:
    out = console.out()
    out.print(str(found), markup=False)
    if not found.updates:
        return
    rows = [
        [
            update.name,
            str(update.n_rows),
            f"{update.agreement_reference:.3f}",
            f"{update.alarm_below_reference:.3f}",
            "" if update.number == 1 else f"{update.agreement_last:.3f}",
            "" if update.number == 1 else f"{update.alarm_below_last:.3f}",
            f"{update.p_value:.3f}",
            f"{update.accuracy_reference:.3f}",
            update.verdict.upper() if update.alarm else update.verdict,
        ]
        for update in found.updates
    ]
    last = found.updates[-1]
    out.print()
    out.print(
        console.table(
            f"Batches after {reference} ({found.n_reference} rows)",
            COLUMNS,
            rows,
            f"Shares of probes ({found.probes}) that two concepts answer alike. Without change, batches of "
            f"{last.n_rows} rows agree on {last.stability:.3f}, and the old concept is right on "
            f"{last.usual_accuracy:.3f}. An alarm while it is right as usual may come from rows that moved.",
        )
    )
    for note in dict.fromkeys(note for update in found.updates for note in update.notes):
        names = [update.name for update in found.updates if note in update.notes]
        out.print(f"{expect.shown(names)}: {note}", markup=False)
