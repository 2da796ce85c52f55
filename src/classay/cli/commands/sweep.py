"""`classay sweep`: how learners change along a parameter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import typer

from ... import expect
from ...engine.dask import executor_of
from ...estimators.plain_parameters import expect_plain_setting
from ...estimators.spec import learners_from_texts
from ...estimators.trial import ready
from ...learner.fitting.groups import grid
from ...learner.fitting.schemes import Subsets
from ...learner.orientation.orientation import usual_threshold
from ...learner.scores.scorers import needs_of
from ...learner.sweep.best_value import expect_weights
from ...learner.sweep.result import Sweep
from ...learner.sweep.sweep import sweep
from ...learner.sweep.values import values_from_text
from .. import options
from ..inputs import roles_of
from ..runner import Outcome, cell, each, figures_table
from .learner import VARIATION

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


def command(
    rows: options.Rows,
    effort: options.Effort,
    output: options.Charts,
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
    utility: str = typer.Option(
        None,
        help="What to compare values by, as weights: accuracy=1,stability=0.5,cost=-0.01. Cost is seconds of a fit; "
        "with it, values are fitted one by one. Default: accuracy.",
    ),
    prefer: str = typer.Option(
        "smallest", help="Which of the values as good as the best is the simplest: smallest, largest or first."
    ),
    metric: str = typer.Option(
        None,
        help="Metric beside accuracy: roc_auc, brier, balanced_accuracy, or any scikit-learn scorer of classifiers.",
    ),
    samples: int = typer.Option(100, help="Number of random training subsets."),
    size: float = typer.Option(0.15, help="Share of the training part in each subset; above 1: number of rows."),
    repeats: int = typer.Option(
        5, "--repeats", "-r", help="Refits on each subset. About 10 measure training randomness well."
    ),
    test_size: options.TestSize = 0.2,
    allow_import: options.AllowImport = False,
    holdout_size: options.HoldoutSize = None,
    holdouts: options.Holdouts = 100,
    replace: options.Replace = True,
    every_class: options.EveryClass = True,
    share_paths: bool = typer.Option(
        True,
        help="Reuse fits across values where results stay the same, exactly or in distribution.",
        rich_help_panel=options.ADVANCED,
    ),
    plugin: options.Plugin = False,
) -> Outcome:
    """Measure how learners change along a parameter: bias, expressivity, capacity, stochasticity and accuracy."""
    weights = _weights(utility)
    if weights and weights.get("cost") and share_paths:
        share_paths = False  # what a value of a shared fit costs is not measured
        output.say("--utility has a cost, so values are fitted one by one (as with --no-share-paths).")
    expect.one_of(prefer, "--prefer", ("smallest", "largest", "first"))
    if not (learner and param and values):
        raise expect.InputError("--learner, --param and --values are needed.")
    plans = _plans(learners_from_texts(learner, allow_import), param, values)
    scheme = Subsets(samples, int(size) if size > 1 and size.is_integer() else size, replace, every_class)
    if metric is not None:
        needs_of(metric)  # refuses an unknown name before the data are read
    for plan in plans.values():
        checked = grid(plan.learner, *plan.arguments)  # refuses an unknown parameter before any fit
        for name, each_values in zip(checked.parameters, checked.values) if not allow_import else ():
            for value in each_values:
                expect_plain_setting(plan.learner, name, value)
    table = rows.read(output.quiet)
    kept = f" Finished fits are kept in {effort.store}; run the same command to continue." if effort.store else ""

    def measure(name: str, plan: Plan) -> Sweep:
        tried = ready(plan.learner, table.X, table.y, effort.seed, table.texts)
        one = sweep(tried.learner, table.X, table.y, *plan.arguments, name=name, **settings)
        return dataclasses.replace(one, notes=(*one.notes, *tried.notes))

    with executor_of(effort.scheduler, effort.workers) as executor:
        settings: dict[str, Any] = {
            "scheme": scheme, "repeats": repeats, "test_size": test_size, "holdout_size": holdout_size,
            "holdouts": holdouts, "share_paths": share_paths, "metric": metric,
            **effort.settings(executor, output.quiet), **roles_of(table),
        }  # fmt: skip
        try:
            done = each(plans, measure)
        except KeyboardInterrupt:
            output.say(kept.strip())
            raise
    sweeps: dict[str, Sweep] = done.results
    refused = {f"{name}, {value}": why for name, one in sweeps.items() for value, why in one.failed.items()}
    return Outcome(
        lambda: {"sweeps": {name: _as_json(one, weights, prefer) for name, one in sweeps.items()}},
        data=table,
        settings={"share_paths": share_paths},
        text=_text(sweeps, weights, prefer, plugin),
        charts=lambda: _draw(sweeps, plugin),
        failed={**done.failed, **refused},
        interrupted=done.interrupted,
        kept=kept,
    )


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


def _text(sweeps: dict[str, Sweep], weights: dict[str, float] | None, prefer: str, plugin: bool) -> Iterator[Any]:
    """A paragraph and a table for each learner."""
    for one in sweeps.values():
        # The table has plain estimates then; the text always has the corrected ones.
        yield f"Corrected estimates: {one}" if plugin else str(one)
        if (weights is not None or prefer != "smallest") and len(one.values) > 1:
            yield str(one.compare(weights, prefer))
        holdout_size = next(iter(one.orientations.values())).holdout_size
        threshold = usual_threshold(holdout_size)
        rows = {}
        for value in _few(list(one.values)):
            o = one.orientations[value]
            shown = o.plugin if plugin else o
            rows[", ".join(map(cell, value)) if len(one.parameters) > 1 else cell(value)] = {
                "accuracy": o.accuracy,
                "metric": one.metric_estimates.get(value),
                "train_accuracy": o.train_accuracy,
                **{part: getattr(shown, part) for part in ENTROPIES},
                "bias": o.bias[threshold],
            }
        headings = {"accuracy": "test\naccuracy", "metric": "test\n" + one.metric.replace("_", " "), **VARIATION}
        hidden = len(one.values) - len(rows)
        yield figures_table(
            f"{one.learner} along {' x '.join(one.parameters)}",
            rows,
            {**headings, "bias": f"bias at\n{threshold} of {holdout_size}"},
            f"{hidden} more values are in --json and --charts. " * bool(hidden)
            + "Plain estimates of the paper, biased with few refits." * plugin,
            ", ".join(one.parameters),
        )


def _few(values: list[Any]) -> list[Any]:
    """All values, or evenly spaced ones that include both ends."""
    places = np.linspace(0, len(values) - 1, min(len(values), MOST_ROWS)).round().astype(int)
    return [values[place] for place in places]


def _as_json(one: Sweep, weights: dict[str, float] | None, prefer: str) -> dict[str, Any]:
    """The sweep: its figures as the rows of its tidy frame, and its values compared."""
    frame = one.to_frame()
    try:
        comparison = one.compare(weights, prefer)
    except expect.InputError:  # after Ctrl-C, values may have no subsets in common
        comparison = None
    return {
        **{name: part for name, part in one.to_dict().items() if name not in ("orientations", "records")},
        "figures": frame.astype(object).where(frame.notna(), None),
        "comparison": comparison,
        "seconds": sum(float(np.nansum(each.seconds)) for each in one.records.values()),
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
