"""`classay sweep`: how learners change along a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from .. import expect
from . import console, options

if TYPE_CHECKING:
    from ..learner.sweep_result import Sweep
    from ..tables import Table

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
        help="A scikit-learn classifier, as NAME or NAME(argument=value). Repeat it, each with --param and --values.",
    ),
    param: list[str] = typer.Option(
        ..., "--param", "-p", help="The parameter of the learner before it. Of one learner, two make a grid."
    ),
    values: list[str] = typer.Option(
        ..., "--values", "-v", help="Its values: start:stop:step, start:stop:logN, or a list with commas."
    ),
    subsets: int = typer.Option(100, help="Random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement."),
    repeats: int = typer.Option(5, "--repeats", "-r", help="Refits on each subset. Ten tell the dice well."),
    test_size: options.TestSize = 0.2,
    holdout_size: int = typer.Option(5, help="Points whose labels are counted together."),
    holdouts: int = typer.Option(100, help="Random holdouts to average over."),
    share_paths: bool = typer.Option(True, help="Let values share fits where that is exact, or exact in distribution."),
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
    """Tell how learners change along a parameter: bias, expressivity, capacity, stochasticity, accuracy."""
    from .. import tables
    from ..engine.cluster import executor_of
    from ..learner.named import learners_from_texts
    from ..learner.schemes import Subsets
    from . import sweep_view as view
    from .recording import tell

    asked = _asked(learners_from_texts(learner, allow_import), param, values)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace)
    if charts is not None:
        console.writable_folder(charts, "--charts")
    table = tables.read(data, target)
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
            console.say(f"What is done is kept in {store}: the same command goes on from there.", quiet)
        raise console.NothingDone
    if not found and not full:
        raise expect.InputError(" ".join(dict.fromkeys(failed.values())))
    if as_json and found:
        console.write_json(view.as_json(table, settings, found, failed, interrupted))
    else:
        view.show(found)
    for name, why in failed.items():
        console.error(f"{name} gave no figures. {why}")
    if charts is not None and found:
        for path in view.save_charts(charts, found):
            console.say(f"Saved {path}", quiet)
    if interrupted:
        kept = f" What is done is kept in {store}: the same command goes on from there." if store is not None else ""
        console.error(f"Interrupted: the figures above are of what was done by then.{kept}")
    refused = [f"{name}, {value}: {why}" for name, one in found.items() for value, why in one.failed.items()]
    for text in refused:
        console.error(text if interrupted else f"{text.rstrip('.')}. The other values are complete.")
    if failed or interrupted or refused:
        raise typer.Exit(console.PARTIAL)


Asked = dict[str, tuple[Any, list[str], list[list[Any]]]]


def _asked(learners: dict[str, Any], params: list[str], texts: list[str]) -> Asked:
    """Which parameters and values go with which learner: in their order, one each; or all with the only one."""
    from ..learner.sweep_values import values_from_text

    if len(params) != len(texts):
        raise expect.InputError(
            f"--param was given {len(params)} times and --values {len(texts)} times; each parameter needs its values."
        )
    ranges = [values_from_text(text) for text in texts]
    if len(learners) == 1 and len(params) <= 2:
        return {name: (learner, params, ranges) for name, learner in learners.items()}
    if len(params) == 1:
        return {name: (learner, params, ranges) for name, learner in learners.items()}
    if len(params) != len(learners):
        raise expect.InputError(
            f"There are {expect.counted(len(learners), 'learner')} and {expect.counted(len(params), 'parameter')}; one "
            "parameter after each learner is expected, one for all, or two of one learner."
        )
    return {
        name: (learner, [param], [values]) for (name, learner), param, values in zip(learners.items(), params, ranges)
    }


def _refuse_early(asked: Asked, table: Table) -> None:
    """Refuse, before any fit, a parameter that a learner has not."""
    from ..encoding import encoded
    from ..learner.sweep_grid import grid

    for unfitted, names, ranges in asked.values():
        grid(encoded(unfitted, table.X), *_as_given(names, ranges))


def _sweep_all(
    asked: Asked, table: Table, settings: dict[str, Any]
) -> tuple[dict[str, Sweep], dict[str, str], bool, bool]:
    """Sweep every learner; one that fails does not stop the others. Also whether Ctrl-C came, or the disk is full."""
    from ..encoding import encoded
    from ..engine.store import StoreFull
    from ..learner.sweep import sweep

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
