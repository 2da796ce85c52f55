"""`sweep`: how a learner's character changes along a parameter, with one fit for many values where that is possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import expect
from ...engine import work
from ...engine.store import Store, StoreFull
from ...estimators.scores import may_score
from ...notes import Note
from ..fitting import checks
from ..fitting.checks import prepare
from ..fitting.folds import FoldFits
from ..fitting.groups import FitGroup, can_join, fit_groups, grid
from ..fitting.retrain_scheme import Scheme
from ..fitting.runner import FitRunner, GroupProgress
from ..orientation.by_size import countable_size
from ..orientation.holdouts import USUAL_SIZE, draw_holdouts
from ..orientation.orientation import Orientation, orientation
from ..record import gathered, most_common
from ..records.labelings import LabelCodec, Labelings
from ..scores.metrics import Metrics, metrics
from ..scores.scorers import LABELS, needs_of
from .presets import preset_range
from .result import PathUse, Sweep, summed_up
from .store import SweepStore


def sweep(
    learner: Any,
    X: Any,
    y: ArrayLike,
    param_name: str | tuple[str, str] | None = None,
    param_range: Any = None,
    scheme: Scheme | None = None,
    repeats: int = 5,
    test_size: float = 0.2,
    probes: Any = None,
    n_probes: int = 10_000,
    holdout_size: int | None = None,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    share_paths: bool = True,
    name: str | None = None,
    level: float = 0.95,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    metric: str | None = None,
    preset: str | None = None,
) -> Sweep:
    """Measure how a learner's bias, expressivity, capacity, stochasticity and accuracy change along a parameter.

    Each value gets what `record` and `orientation` give, on the same subsets, test points, holdouts and seeds, so that
    curves can be compared. Where values share fits (the first 10 trees of a forest of 200 are a forest of 10), one fit
    serves all of them: bit for bit as separate fits, or, for depths of trees, the same in distribution; `paths` of the
    result says which. The same seed gives the same bits for any number of workers, and after any interruption.

    With a store, each task is saved as soon as it is done: one subset, with some of its refits, along all values that
    share fits. After a crash the same call continues from there, and `record` finds what was fitted exactly.

    A value that the learner refuses is listed in `failed`, and the others go on. Bands are those of `orientation` for
    each value separately: values share subsets, so differences between values are less uncertain than bands.

    Parameters
    ----------
    learner : a scikit-learn classifier or Pipeline; if it is fitted, only its settings are used
    X, y : rows and labels, as scikit-learn takes them
    param_name : a parameter, as `set_params` takes it (`clf__max_depth` in a Pipeline), or two of them
    param_range : its values; for two parameters a pair of lists, or a mapping of names to lists
    scheme, repeats, test_size, probes, n_probes : as in `record`
    holdout_size, holdouts, level : as in `orientation`; without a size, one that can be counted at every value
    random_state : seed of everything random
    executor : any `concurrent.futures.Executor`, a number of local workers, or None: one worker per core
    store : a folder; what is in it is not fitted again
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; if a shared fit takes longer, values are fitted one by one
    share_paths : whether values may share fits; False fits value by value
    name : display name of the learner; default: its class and the parameters that are not default
    groups, time, sample_weight, X_test, y_test : as in `record`; with weights, no fits are shared
    metric : a metric beside accuracy, by its name in `metrics` or that of a scikit-learn scorer, such as 'roc_auc'.
        Shared fits give labels only: with a metric of scores, values are fitted one by one
    preset : "table-2": parameter and values that the paper swept for this learner, in place of param_name and
        param_range; param_name chooses between two

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> w = sweep(KNeighborsClassifier(), *load_iris(return_X_y=True), "n_neighbors", [1, 5, 9], executor=1)
    >>> w.values, w.paths[0].exact, len(w.to_frame())
    ((1, 5, 9), True, 42)

    References
    ----------
    Pang-Naylor, Chen & Montañez, Model Characterization with Inductive Orientation Vectors, Tables 2 and 4.

    """
    scored = metric is not None and needs_of(metric) != LABELS
    if scored and hasattr(learner, "fit") and not may_score(learner):
        raise expect.InputError(
            f"`metric` is {metric!r}, which needs scores, and {type(learner).__name__} has neither predict_proba nor "
            "decision_function. Use a metric of labels, such as balanced_accuracy, or another learner."
        )
    if preset is not None:
        if param_range is not None:
            raise expect.InputError(
                "Both `preset` and `param_range` are given; the preset has its own values. Drop one."
            )
        if param_name is not None and not isinstance(param_name, str):
            raise expect.InputError("`param_name` is a pair, but a preset has one parameter at a time. Give one name.")
        param_name, param_range = preset_range(preset, learner, param_name)
    elif param_name is None or param_range is None:
        raise expect.InputError("`param_name` and `param_range` are needed, or a `preset` such as 'table-2'.")
    setup = prepare(
        learner,
        X,
        y,
        scheme,
        repeats,
        test_size,
        probes,
        random_state,
        time_limit,
        n_probes,
        groups=groups,
        time=time,
        sample_weight=sample_weight,
        X_test=X_test,
        y_test=y_test,
        scores=scored,
    )
    if not isinstance(setup.codec, LabelCodec):
        raise expect.InputError(
            f"`learner` is {type(setup.learner).__name__}, a regressor; a sweep counts labels: expected a classifier. "
            "For a regressor, `record` each value and use `stability`."
        )
    if isinstance(setup.scheme, FoldFits) and not setup.scheme.common:
        raise expect.InputError(
            "`scheme` is Folds; a sweep compares refits on the same test points: use Subsets(...) or HalfSplits(...)."
        )
    draw_holdouts(setup.test.size, holdout_size, holdouts, setup.seed)
    expect.fraction(level, "level")
    settings = grid(setup.learner, param_name, param_range)
    # Paths do not know weights.
    share = bool(share_paths) and not scored and setup.per_row.weights is None and can_join(setup.X, setup.probes)
    together = fit_groups(settings, share)
    about = setup.about(name)
    label = about["learner"]["name"]
    sweep_store = SweepStore(None if store is None else Store(store), settings, about, name, together, setup)

    records, failed = sweep_store.records(), sweep_store.failed()
    subsets, more = setup.draw()
    fits = FitRunner(setup, subsets, executor, progress, label, sweep_store.chunks)
    states = fits.run(sweep_store.left({*records, *failed}))
    if fits.lost:
        left = expect.counted(sum(len(state.lost) for state in states), "task")
        raise expect.InputError(
            f"{left} not done: {fits.lost} With a store, what is done is saved: run the same call again to continue "
            "from there."
        )
    notes: list[Note] = [*setup.notes, *more]
    warnings = sweep_store.warnings() or _warnings(states)
    made, refused = _records(fits, states, sweep_store, tuple(notes))
    records, failed = {**records, **made}, {**failed, **refused}
    if fits.interrupted and not records:
        raise KeyboardInterrupt
    if not records:
        sweep_store.discard()
        why = next(iter(failed.values()))
        raise expect.InputError(f"{label} failed at every value: {why}{checks.advice(setup.X, why)}")
    notes += warnings
    notes += [Note("text", stranger) for stranger in sweep_store.strangers()] if states else []
    if fits.interrupted:
        done = min(len(record.train_rows) for record in records.values())
        notes.append(Note("subsets-run", count=done, subsets=setup.scheme.n))
        unseen = [point for point in settings.points if point not in records and point not in failed]
        if unseen:
            notes.append(Note("values-not-measured", expect.shown(unseen)))
    elif states or not sweep_store.listed:
        try:
            sweep_store.finish(made, failed, warnings)
        except StoreFull as full:
            notes.append(Note("text", str(full)))
    points = settings.points
    records = {point: records[point] for point in points if point in records}
    if scored and share_paths and any(group.path is not None for group in fit_groups(settings, True)):
        notes.append(Note("values-fitted-alone", str(metric)))
    if holdout_size is None:
        # Curves must be of one size: the largest that can be counted at every value.
        holdout_size = min(countable_size(record, holdouts, setup.seed) for record in records.values())
        if holdout_size < min(USUAL_SIZE, setup.test.size):
            counted = expect.counted(holdout_size, "point")
            notes.append(Note("text", f"Holdouts have {counted}: at some value, labelings of more hardly repeat."))
    return summed_up(
        learner=label,
        parameters=settings.names,
        records=records,
        measured=_measured(records, (holdout_size, holdouts, setup.seed, level), executor),
        paths=tuple(_uses(together, records)),
        failed={point: failed[point] for point in points if point in failed},
        interrupted=fits.interrupted,
        notes=tuple(notes),
        metric=metric or "",
        metrics={} if metric is None else _metrics(records, metric, level),
    )


def _metrics(records: dict[Any, Labelings], metric: str, level: float) -> dict[Any, Metrics]:
    """The metric at each value where it can be computed."""
    found = {}
    for point, record in records.items():
        try:
            one = metrics(record, metric, level=level)
        except expect.InputError:
            continue
        if metric in one.estimates:
            found[point] = one
    return found


def _warnings(states: list[GroupProgress]) -> list[Note]:
    """Warnings of fits that values share, the most frequent first."""
    all_answers = [answers for state in states if not state.hopeless() for answers in state.done.values()]
    by_refit = [each for answers in all_answers for each in answers.warnings]
    return most_common((text for each in by_refit for text in each), len(by_refit))


def _uses(groups: list[FitGroup], records: dict[Any, Labelings]) -> Iterator[PathUse]:
    """How the values that have a record were fitted."""
    for group in groups:
        points = tuple(point for point in group.points if point in records)
        if points:
            yield PathUse(group.parameter, points, group.kind, group.exact)


def _measured(
    records: dict[Any, Labelings], settings: tuple[int, int, int, float], executor: Executor | int | None
) -> dict[Any, Orientation | str]:
    """The orientation at each value, or why there is none. Runs locally: sending records costs more than it saves."""
    outcome = work.run(
        _measure,
        range(len(records)),
        shared=(list(records.values()), settings),
        executor=1 if isinstance(executor, Executor) else executor,
    )
    if outcome.interrupted:
        raise KeyboardInterrupt
    for failure in outcome.failures.values():
        raise RuntimeError(f"a record could not be measured: {failure}")
    found: dict[Any, Orientation | str] = dict(zip(records, outcome.results.values()))
    return {
        value: one.attached(records[value]) if isinstance(one, Orientation) else one for value, one in found.items()
    }


def _measure(shared: tuple[list[Labelings], tuple[int | None, int, int, float]], place: int) -> Orientation | str:
    try:
        return orientation(shared[0][place], *shared[1]).detached()
    except expect.InputError as too_little:
        return str(too_little)


def _records(
    fits: FitRunner, states: Iterable[GroupProgress], sweep_store: SweepStore, notes: tuple[Note, ...]
) -> tuple[dict[Any, Labelings], dict[Any, str]]:
    """The record of each value, and why others have none. After an interruption, of the subsets that were done."""
    records: dict[Any, Labelings] = {}
    failed: dict[Any, str] = {}
    for state in states:
        subsets = [subset for subset in range(state.n_subsets) if state.whole(subset)]
        for value, point in enumerate(state.group.points):
            bench = fits.setup.bench(sweep_store.grid.learner_at(point))
            answers = {place: state.answer(bench, value, subset) for place, subset in enumerate(subsets)}
            errors = [error for answer in answers.values() for error in answer.errors.values()]
            nothing = all(len(answer.errors) == len(answer.seconds) for answer in answers.values())
            if errors and (state.hopeless([value]) or nothing):
                failed[point] = errors[0]
            elif len(subsets) > 1:
                record = gathered(
                    bench,
                    [fits.subsets[subset] for subset in subsets],
                    answers,
                    state.refits,
                    state.deterministic,
                    fits.interrupted and len(subsets) < state.n_subsets,
                    notes,
                    sweep_store.about_of(point),
                )
                assert isinstance(record, Labelings)
                records[point] = record
    return records, failed
