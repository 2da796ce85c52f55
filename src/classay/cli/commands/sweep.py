"""`classay sweep`: how learners change along a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from ... import __version__, expect
from ...result import plain
from ...tables.read import read_table
from .. import console, options
from ..options import table_as_json

if TYPE_CHECKING:
    from ...learner.sweep.result import Sweep
    from ...tables.read import Table

EXAMPLES = """
**Examples**

    classay sweep breast_cancer --learner DecisionTreeClassifier --param max_depth --values 1:20

    classay sweep eeg.csv --learner RandomForestClassifier --param n_estimators --values 1:200:5 --store runs/

    classay sweep eeg.csv --learner DecisionTreeClassifier --param max_depth --values 1:70:5 --learner KNeighborsClassifier --param n_neighbors --values 1:200:5

    classay sweep eeg.csv --learner SVC --param C --values 1e-2:1e2:log5 --param gamma --values 0.01,0.1,1 --charts charts/
"""  # noqa: E501  a command that can be copied is one line


def command(
    data: options.Data,
    target: options.Target = None,
    learner: list[str] = typer.Option(
        ...,
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value). Repeat with --param and --values for more.",
    ),
    param: list[str] = typer.Option(
        ..., "--param", "-p", help="Parameter of the preceding --learner. Two parameters of one learner make a grid."
    ),
    values: list[str] = typer.Option(
        ...,
        "--values",
        "-v",
        help="Values of the parameter: start:stop:step, start:stop:logN, or a comma-separated list.",
    ),
    subsets: int = typer.Option(100, help="Number of random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: number of rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement, or without."),
    repeats: int = typer.Option(
        5, "--repeats", "-r", help="Refits on each subset. About 10 measure training randomness well."
    ),
    test_size: options.TestSize = 0.2,
    holdout_size: int = typer.Option(
        5, help="Number of test points in a holdout, whose predictions are counted together."
    ),
    holdouts: int = typer.Option(100, help="Number of random holdouts to average over."),
    share_paths: bool = typer.Option(
        True, help="Share fits between values where that is exact, or exact in distribution."
    ),
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
    """Measure how learners change along a parameter: bias, expressivity, capacity, stochasticity and accuracy."""
    from ...engine.dask import executor_of
    from ...estimators.spec import learners_from_texts
    from ...learner.fitting.schemes import Subsets
    from ..options import tell

    asked = _asked(learners_from_texts(learner, allow_import), param, values)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = read_table(data, target)
    settings: dict[str, Any] = {
        "scheme": scheme,
        "repeats": repeats,
        "test_size": test_size,
        "holdout_size": holdout_size,
        "holdouts": holdouts,
        "random_state": seed,
        "store": store,
        "progress": not quiet,
        "time_limit": time_limit,
        "share_paths": share_paths,
    }
    _refuse_early(asked, table)
    tell(table, quiet)
    with executor_of(scheduler, workers) as executor:
        found, failed, interrupted, full = _sweep_all(asked, table, {**settings, "executor": executor})
    if interrupted and not found:
        if store is not None:
            console.say(f"Finished fits are kept in {store}; run the same command to continue.", quiet)
        raise console.NothingDone
    if not found and not full:
        raise expect.InputError(" ".join(dict.fromkeys(failed.values())))
    if as_json and found:
        console.write_json(json_document(table, settings, found, failed, interrupted))
    else:
        show(found)
    for name, why in failed.items():
        console.error(f"{name}: no results. {why}")
    if charts is not None and found:
        for path in save_charts(charts, found):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        kept = f" Finished fits are kept in {store}; run the same command to continue." if store is not None else ""
        console.error(f"Interrupted: the results above cover only what had finished.{kept}")
    refused = [f"{name}, {value}: {why}" for name, one in found.items() for value, why in one.failed.items()]
    for text in refused:
        console.error(text if interrupted else f"{text.rstrip('.')}. The other values are complete.")
    if failed or interrupted or refused:
        raise typer.Exit(console.PARTIAL)


Asked = dict[str, tuple[Any, list[str], list[list[Any]]]]


def _asked(learners: dict[str, Any], params: list[str], texts: list[str]) -> Asked:
    """Parameters and values of each learner: one each, in order; or all of them for a single learner."""
    from ...learner.sweep.values import values_from_text

    if len(params) != len(texts):
        raise expect.InputError(
            f"--param was given {len(params)} times but --values {len(texts)} times; each parameter needs its values."
        )
    ranges = [values_from_text(text) for text in texts]
    if len(learners) == 1 and len(params) <= 2:
        return {name: (learner, params, ranges) for name, learner in learners.items()}
    if len(params) == 1:
        return {name: (learner, params, ranges) for name, learner in learners.items()}
    if len(params) != len(learners):
        raise expect.InputError(
            f"There are {expect.counted(len(learners), 'learner')} and {expect.counted(len(params), 'parameter')}; "
            "expected one parameter per learner, one for all learners, or two for a single learner."
        )
    return {
        name: (learner, [param], [values]) for (name, learner), param, values in zip(learners.items(), params, ranges)
    }


def _refuse_early(asked: Asked, table: Table) -> None:
    """Refuse, before any fit, a parameter that a learner does not have."""
    from ...estimators.encoder import encoded
    from ...learner.fitting.groups import grid

    for unfitted, names, ranges in asked.values():
        grid(encoded(unfitted, table.X), *_as_given(names, ranges))


def _sweep_all(
    asked: Asked, table: Table, settings: dict[str, Any]
) -> tuple[dict[str, Sweep], dict[str, str], bool, bool]:
    """Sweep every learner; one that fails does not stop the others. Also: was it interrupted, is the disk full."""
    from ...engine.store import StoreFull
    from ...estimators.encoder import encoded
    from ...learner.sweep.sweep import sweep

    found: dict[str, Sweep] = {}
    failed: dict[str, str] = {}
    for name, (unfitted, names, ranges) in asked.items():
        learner, given = encoded(unfitted, table.X), _as_given(names, ranges)
        try:
            found[name] = sweep(learner, table.X, table.y, *given, name=name, **settings)
        except StoreFull as problem:
            return found, {**failed, name: str(problem)}, False, True
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            return found, failed, True, False
        if name in found and found[name].interrupted:
            return found, failed, True, False
    return found, failed, False, False


def _as_given(names: list[str], ranges: list[Any]) -> tuple[Any, Any]:
    return (names[0], ranges[0]) if len(names) == 1 else (tuple(names), tuple(ranges))


# The output of `classay sweep`: text, tables, JSON and charts.


MOST_ROWS = 16
COLUMNS = [
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(randomness)",
]


def show(found: dict[str, Sweep]) -> None:
    """Print text and a table for each learner."""
    from ...learner.orientation.orientation import usual_threshold

    out = console.out()
    for place, sweep in enumerate(found.values()):
        if place:
            out.print()
        out.print(str(sweep), markup=False)
        first = next(iter(sweep.orientations.values()))
        threshold = usual_threshold(first.holdout_size)
        rows = []
        for value in _few(list(sweep.values)):
            one = sweep.orientations[value]
            cells = [console.figure(one.accuracy, 3), console.figure(one.train_accuracy, 3)]
            cells += [console.figure(part) for part in (one.expressivity, one.capacity, one.stochasticity)]
            told = ", ".join(map(_word, value)) if len(sweep.parameters) > 1 else _word(value)
            rows.append([told, *cells, console.figure(one.bias[threshold], 3)])
        left_out = len(sweep.values) - len(rows)
        out.print()
        out.print(
            console.table(
                f"{sweep.learner} along {' x '.join(sweep.parameters)}",
                [", ".join(sweep.parameters), *COLUMNS, f"bias at\n{threshold} of {first.holdout_size}"],
                rows,
                f"{left_out} more values are in --json and --charts." if left_out else "",
            )
        )


def json_document(
    table: Table, settings: dict[str, Any], found: dict[str, Sweep], failed: dict[str, str], interrupted: bool
) -> dict[str, Any]:
    """Everything, as JSON; the figures of each learner as the rows of its tidy frame."""
    scheme = settings["scheme"]
    kept = ("repeats", "test_size", "holdout_size", "holdouts", "time_limit", "share_paths")
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "subsets": scheme.n,
            "size": scheme.size,
            "replace": scheme.replace,
            "seed": settings["random_state"],
            **{name: settings[name] for name in kept},
        },
        "sweeps": {
            name: {
                "parameters": list(one.parameters),
                "values": plain(one.values),
                "figures": plain(one.to_frame().astype(object).where(lambda table: table.notna(), None)),
                "gap_correlation": plain(one.gap_correlation),
                "plugin_gap_correlation": plain(one.plugin_gap_correlation),
                "paths": plain(one.paths),
                "failed": plain(one.failed),
                "seconds": plain(sum(float(np.nansum(each.seconds)) for each in one.records.values())),
                "notes": list(one.notes),
            }
            for name, one in found.items()
        },
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(folder: Path, found: dict[str, Sweep]) -> list[Path]:
    """Save the charts of each learner, numbered."""
    from ... import charts

    drawn: dict[str, Any] = {}
    for number, sweep in enumerate(found.values(), 1):
        kinds = ("bias", "entropy", "accuracy") if len(sweep.parameters) == 1 else ("map",)
        drawn |= {f"sweep_{number}_{kind}": sweep.plot(kind=kind) for kind in kinds}
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]


def _few(values: list[Any]) -> list[Any]:
    """All values, or evenly spaced ones that include both ends."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).round().astype(int)
    return [values[place] for place in places]


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
