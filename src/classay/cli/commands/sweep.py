"""`classay sweep`: how learners change along a parameter."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import typer

from ... import __version__, expect
from ...engine.dask import executor_of
from ...engine.store import StoreFull
from ...estimators.plain_parameters import expect_plain_setting
from ...estimators.spec import learners_from_texts
from ...estimators.trial import ready
from ...intervals import Estimate
from ...learner.fitting.groups import grid
from ...learner.fitting.schemes import Subsets
from ...learner.orientation.orientation import usual_threshold
from ...learner.scores.scorers import needs_of
from ...learner.sweep.best_value import expect_weights
from ...learner.sweep.result import Sweep
from ...learner.sweep.sweep import sweep
from ...learner.sweep.values import values_from_text
from ...result import plain
from ...tables.data import Data
from ...tables.read import read_table
from .. import console, options
from ..records import describe, of_rows, table_as_json

EXAMPLES = """
**Examples**

    classay sweep breast_cancer --learner DecisionTreeClassifier --param max_depth --values 1:20

    classay sweep eeg.csv --learner RandomForestClassifier --param n_estimators --values 1:200:5 --store runs/

    classay sweep eeg.csv --learner DecisionTreeClassifier --param max_depth --values 1:70:5 --learner KNeighborsClassifier --param n_neighbors --values 1:200:5

    classay sweep churn.csv --learner RandomForestClassifier --param max_depth --values 2:20:3 --metric roc_auc

    classay sweep eeg.csv --learner SVC --param C --values 1e-2:1e2:log5 --param gamma --values 0.01,0.1,1 --charts charts/

    classay sweep eeg.csv -l DecisionTreeClassifier -p max_depth -v 1:70:5 --utility accuracy=1,stability=0.5
"""  # noqa: E501  a command that can be copied is one line
MOST_ROWS = 16
ENTROPIES = ("expressivity", "capacity", "stochasticity")
UNKNOWN = Estimate(math.nan, -math.inf, math.inf)
COLUMNS = [
    "test\naccuracy",
    "train\naccuracy",
    "expressivity\n(bits)",
    "= capacity\n(data)",
    "+ stochasticity\n(randomness)",
]


def command(
    data: options.Data,
    target: options.Target = None,
    text: options.Text = None,
    groups: options.Groups = None,
    time: options.Time = None,
    weight: options.Weight = None,
    test: options.TestFile = None,
    drop: options.Drop = None,
    learner: list[str] = typer.Option(
        None,
        "--learner",
        "-l",
        help="A scikit-learn classifier, as NAME or NAME(argument=value). Repeat with --param and --values for more.",
    ),
    param: list[str] = typer.Option(
        None, "--param", "-p", help="Parameter of the preceding --learner. Two parameters of one learner make a grid."
    ),
    values: list[str] = typer.Option(
        None,
        "--values",
        "-v",
        help="Values of the parameter: start:stop:step, start:stop:logN, or a comma-separated list.",
    ),
    utility: str | None = typer.Option(
        None,
        help="What to compare values by, as weights: accuracy=1,stability=0.5,cost=-0.01. Cost is seconds of a fit; "
        "with it, values are fitted one by one. Default: accuracy.",
    ),
    prefer: str = typer.Option(
        "smallest", help="Which of the values as good as the best is the simplest: smallest, largest or first."
    ),
    subsets: int = typer.Option(100, help="Number of random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: number of rows."),
    replace: bool = typer.Option(True, help="Draw subsets with replacement, or without."),
    every_class: options.EveryClass = True,
    repeats: int = typer.Option(
        5, "--repeats", "-r", help="Refits on each subset. About 10 measure training randomness well."
    ),
    test_size: options.TestSize = 0.2,
    holdout_size: int | None = typer.Option(
        None,
        help="Number of test points per holdout; their predictions are counted together. Default: 5, or as many as can "
        "be counted at every value.",
    ),
    holdouts: int = typer.Option(100, help="Number of random holdouts to average over."),
    metric: str | None = typer.Option(
        None,
        help="Metric beside accuracy: roc_auc, brier, balanced_accuracy, or any scikit-learn scorer of classifiers.",
    ),
    share_paths: bool = typer.Option(
        True, help="Reuse fits across values where results stay the same, exactly or in distribution."
    ),
    seed: options.Seed = 0,
    workers: options.Workers = None,
    scheduler: options.Scheduler = None,
    time_limit: options.TimeLimit = None,
    store: options.Store = None,
    charts: options.Charts = None,
    plugin: options.Plugin = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Measure how learners change along a parameter: bias, expressivity, capacity, stochasticity and accuracy."""
    weights = _weights(utility)
    if weights and weights.get("cost") and share_paths:
        share_paths = False  # what a value of a shared fit costs is not measured
        console.say("--utility has a cost, so values are fitted one by one (as with --no-share-paths).", quiet)
    expect.one_of(prefer, "--prefer", ("smallest", "largest", "first"))
    if not (learner and param and values):
        raise expect.InputError("--learner, --param and --values are needed.")
    plans = _plans(learners_from_texts(learner, allow_import), param, values)
    scheme = Subsets(subsets, int(size) if size > 1 and size.is_integer() else size, replace, every_class)
    console.writable_folder(charts, "--charts")
    table = read_table(data, target, text, groups=groups, time=time, weight=weight, test=test, drop=drop or ())
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
        "metric": metric,
    }
    if metric is not None:
        needs_of(metric)  # refuses an unknown name before the data are read
    for plan in plans.values():
        checked = grid(plan.learner, *plan.arguments)  # refuses an unknown parameter before any fit
        for name, each in zip(checked.parameters, checked.values) if not allow_import else ():
            for value in each:
                expect_plain_setting(plan.learner, name, value)
    describe(table, quiet)
    with executor_of(scheduler, workers) as executor:
        sweeps, failed, interrupted, full = _sweep_all(plans, table, {**settings, "executor": executor})
    if interrupted and not sweeps:
        if store is not None:
            console.say(f"Finished fits are kept in {store}; run the same command to continue.", quiet)
        raise console.NothingDone
    if not sweeps and not full:
        raise expect.InputError(" ".join(dict.fromkeys(failed.values())))
    if as_json and sweeps:
        console.write_json(_as_json(table, settings, sweeps, failed, interrupted, weights, prefer))
    else:
        _show(sweeps, weights, prefer, plugin)
    console.report_failures(failed)
    if charts is not None and sweeps:
        console.save_charts(charts, _draw(sweeps, plugin), quiet)
    if interrupted:
        kept = f" Finished fits are kept in {store}; run the same command to continue." if store is not None else ""
        console.error(f"Interrupted: the results above cover only what had finished.{kept}")
    refused = [f"{name}, {value}: {why}" for name, one in sweeps.items() for value, why in one.failed.items()]
    for text in refused:
        console.error(text if interrupted else f"{text.rstrip('.')}. The other values are complete.")
    if failed or interrupted or refused:
        raise typer.Exit(console.PARTIAL)


class Plan(NamedTuple):
    """A learner, one or two of its parameters, and the values of each."""

    learner: Any
    parameters: list[str]
    ranges: list[list[Any]]

    @property
    def arguments(self) -> tuple[Any, Any]:
        """Names and values as `sweep` takes them: two parameters as tuples."""
        if len(self.parameters) == 1:
            return self.parameters[0], self.ranges[0]
        return tuple(self.parameters), tuple(self.ranges)


def _plans(learners: dict[str, Any], params: list[str], texts: list[str]) -> dict[str, Plan]:
    """Parameters and values of each learner: one each, in order; or all of them for a single learner."""
    if len(params) != len(texts):
        raise expect.InputError(
            f"--param was given {len(params)} times but --values {len(texts)} times; each parameter needs its values."
        )
    ranges = [values_from_text(text) for text in texts]
    if len(params) == 1 or (len(params) == 2 and len(learners) == 1):
        return {name: Plan(learner, params, ranges) for name, learner in learners.items()}
    if len(params) != len(learners):
        raise expect.InputError(
            f"There are {expect.counted(len(learners), 'learner')} and {expect.counted(len(params), 'parameter')}; "
            "expected one parameter per learner, one for all learners, or two for a single learner."
        )
    return {
        name: Plan(learner, [param], [values])
        for (name, learner), param, values in zip(learners.items(), params, ranges)
    }


def _weights(text: str | None) -> dict[str, float] | None:
    """The weights of a utility, as text: accuracy=1,cost=-0.01."""
    if text is None:
        return None
    weights: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        if not equals or not weight.strip():
            raise expect.InputError(
                f"--utility has {part.strip()!r} without a weight; expected {name.strip() or 'accuracy'}=1, and commas "
                "between several."
            )
        weights[name.strip()] = weight.strip()
    return expect_weights(weights)


def _sweep_all(
    plans: dict[str, Plan], table: Data, settings: dict[str, Any]
) -> tuple[dict[str, Sweep], dict[str, str], bool, bool]:
    """Sweep every learner; one that fails does not stop the others. Also: was it interrupted, is the disk full."""
    sweeps: dict[str, Sweep] = {}
    failed: dict[str, str] = {}
    for name, plan in plans.items():
        try:
            tried = ready(plan.learner, table.X, table.y, settings["random_state"], table.texts)
            one = sweep(tried.learner, table.X, table.y, *plan.arguments, name=name, **{**settings, **of_rows(table)})
            sweeps[name] = replace(one, notes=(*one.notes, *tried.notes))
        except StoreFull as problem:
            return sweeps, {**failed, name: str(problem)}, False, True
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except KeyboardInterrupt:
            return sweeps, failed, True, False
        if name in sweeps and sweeps[name].interrupted:
            return sweeps, failed, True, False
    return sweeps, failed, False, False


def _show(sweeps: dict[str, Sweep], weights: dict[str, float] | None, prefer: str, plugin: bool) -> None:
    """Print text and a table for each learner."""
    out = console.out()
    for place, one in enumerate(sweeps.values()):
        if place:
            out.print()
        # The table has plain estimates then; the text always has the corrected ones.
        out.print(f"Corrected estimates: {one}" if plugin else str(one), markup=False)
        if (weights is not None or prefer != "smallest") and len(one.values) > 1:
            out.print(str(one.compare(weights, prefer)), markup=False)
        out.print()
        out.print(_value_table(one, plugin))


def _value_table(one: Sweep, plugin: bool) -> Any:
    holdout_size = next(iter(one.orientations.values())).holdout_size
    threshold = usual_threshold(holdout_size)
    rows = []
    for value in _few(list(one.values)):
        o = one.orientations[value]
        shown = o.plugin if plugin else o
        entropies = (shown.expressivity, shown.capacity, shown.stochasticity)
        rows.append(
            [
                ", ".join(map(_as_text, value)) if len(one.parameters) > 1 else _as_text(value),
                console.figure(o.accuracy, 3),
                *([console.figure(one.metric_estimates.get(value, UNKNOWN), 3)] if one.metric else []),
                console.figure(o.train_accuracy, 3),
                *(console.figure(entropy) for entropy in entropies),
                console.figure(o.bias[threshold], 3),
            ]
        )
    hidden = len(one.values) - len(rows)
    metric = ["test\n" + one.metric.replace("_", " ")] if one.metric else []
    return console.table(
        f"{one.learner} along {' x '.join(one.parameters)}",
        [", ".join(one.parameters), COLUMNS[0], *metric, *COLUMNS[1:], f"bias at\n{threshold} of {holdout_size}"],
        rows,
        " ".join(
            [f"{hidden} more values are in --json and --charts."] * bool(hidden)
            + ["Plain estimates of the paper, biased with few refits."] * plugin
        ),
    )


def _few(values: list[Any]) -> list[Any]:
    """All values, or evenly spaced ones that include both ends."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).round().astype(int)
    return [values[place] for place in places]


def _as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _as_json(
    table: Data,
    settings: dict[str, Any],
    sweeps: dict[str, Sweep],
    failed: dict[str, str],
    interrupted: bool,
    weights: dict[str, float] | None,
    prefer: str,
) -> dict[str, Any]:
    """Everything, as JSON; the figures of each learner as the rows of its tidy frame."""
    scheme = settings["scheme"]
    kept = ("repeats", "test_size", "holdout_size", "holdouts", "time_limit", "share_paths", "metric")
    return {
        "classay": __version__,
        "data": table_as_json(table),
        "settings": {
            "subsets": scheme.n,
            "size": scheme.size,
            "replace": scheme.replace,
            "every_class": scheme.every_class,
            "seed": settings["random_state"],
            **{name: settings[name] for name in kept},
        },
        "sweeps": {
            name: {
                "parameters": list(one.parameters),
                "values": plain(one.values),
                "figures": plain(one.to_frame().astype(object).where(lambda frame: frame.notna(), None)),
                "comparison": one.compare(weights, prefer).to_dict(),
                "gap_correlation": plain(one.gap_correlation),
                "plugin_gap_correlation": plain(one.plugin_gap_correlation),
                "metric": one.metric or None,
                "metric_spread": {str(value): plain(each) for value, each in one.metric_spread.items()},
                "paths": plain(one.paths),
                "failed": plain(one.failed),
                "seconds": plain(sum(float(np.nansum(each.seconds)) for each in one.records.values())),
                "notes": list(one.notes),
            }
            for name, one in sweeps.items()
        },
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(sweeps: dict[str, Sweep], plugin: bool) -> dict[str, Any]:
    """The charts of each learner, numbered."""
    by_name: dict[str, Any] = {}
    for number, one in enumerate(sweeps.values(), 1):
        kinds = ["bias", "entropy", "accuracy", "bounds"] if len(one.parameters) == 1 else ["map"]
        if one.metric_estimates and len(one.parameters) == 1:
            kinds.append("metric")
        for kind in kinds:
            chosen = {"plugin": True} if plugin and kind == "entropy" else {}
            by_name[f"sweep_{number}_{kind}"] = one.plot(kind=kind, **chosen)
        if plugin and len(one.parameters) == 2:
            by_name |= {f"sweep_{number}_{name}": one.plot(kind="map", metric=name, plugin=True) for name in ENTROPIES}
        if len(one.values) > 1:
            by_name[f"sweep_{number}_comparison"] = one.compare().plot()
    return by_name
