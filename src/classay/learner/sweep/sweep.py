"""`sweep`: how a learner's character changes along a parameter, with one fit for many values where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import expect, seeds
from ...engine import work
from ...engine.store import Store, StoreFull
from ...estimators.adapters import short_name
from ...estimators.scores import may_score
from ...intervals import Estimate
from ...notes import Note
from ..fitting import checks
from ..fitting.checks import Setup, prepare
from ..fitting.groups import ALONE, can_join, fit_groups, grid
from ..fitting.schemes import Scheme
from ..orientation.entropy import USUAL_SIZE, draw_holdouts
from ..orientation.entropy_parts import countable_size
from ..orientation.orientation import Orientation, orientation
from ..record import recorded
from ..records.codecs import LabelCodec
from ..records.labelings import Labelings
from ..scores.metrics import RefitSpread, metrics
from ..scores.scorers import LABELS, needs_of
from .result import PathUse, Sweep, SweepRecords, summed_up
from .store import SweepFits
from .training_data import STORED, TIME, between, data_setups, of_data, share_stored


def sweep(
    learner: Any,
    X: Any,
    y: ArrayLike,
    param_name: str | tuple[str, str],
    param_range: Any,
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
    param_name : a parameter, as `set_params` takes it (`clf__max_depth` in a Pipeline), or two of them; or one of the
        training data, while test points stay as they are: "size" of the subsets, a share or a number of rows;
        "random_labels", the share of training labels that are replaced by random ones; "repeated_rows", the share of
        training rows that are replaced by copies of the others; "labels_to_store", the size of subsets whose labels are
        all random, to measure how many of them fits reproduce; "time", windows of the training part, each given by the
        share of its rows at which it ends: [0.25, 0.5, 0.75, 1] are quarters in order of `time`
    param_range : its values; for two parameters a pair of lists, or a mapping of names to lists
    scheme, repeats, test_size, probes, n_probes : as in `record`
    holdout_size, holdouts, level : as in `orientation`; without a size, one that can be counted at every value
    random_state : seed of everything random
    executor : any `concurrent.futures.Executor`, a number of local workers, or None: one worker per core
    store : a folder; what is in it is not fitted again, unless other values that share its fits are missing
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; if a shared fit takes longer, values are fitted one by one
    share_paths : whether values may share fits; False fits value by value
    name : display name of the learner; default: its class and the parameters that are not default
    groups, time, sample_weight, X_test, y_test : as in `record`; with weights, no fits are shared
    metric : a metric beside accuracy, by its name in `metrics` or that of a scikit-learn scorer, such as 'roc_auc'.
        Shared fits give labels only: with a metric of scores, values are fitted one by one

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
    seed = seeds.settle(random_state)
    rows: dict[str, Any] = {"groups": groups, "time": time, "sample_weight": sample_weight}
    rows |= {"X_test": X_test, "y_test": y_test, "scores": scored}
    setup = prepare(learner, X, y, scheme, repeats, test_size, probes, seed, time_limit, n_probes, **rows)
    if not isinstance(setup.codec, LabelCodec):
        raise expect.InputError(
            f"`learner` is {type(setup.learner).__name__}, a regressor; a sweep counts labels: expected a classifier. "
            "For a regressor, `record` each value and use `stability`."
        )
    if setup.masked:
        raise expect.InputError(
            "`scheme` is Folds; a sweep compares refits on the same test points: use Subsets(...) or HalfSplits(...)."
        )
    draw_holdouts(setup.test.size, holdout_size, holdouts, seed)
    expect.fraction(level, "level")
    setups: dict[Any, Setup] = {}
    if of_data(setup.learner, param_name):
        if metric is not None and param_name == STORED:
            raise expect.InputError(f"`metric` is {metric!r}; a sweep over {STORED} has its own figure. Leave it out.")
        setups = data_setups(setup, str(param_name), param_range)
        swept = _by_data(setups, str(param_name), lambda each: recorded(each, name, executor, store, progress))
    else:
        # Paths do not know weights.
        share = bool(share_paths) and setup.per_row.weights is None and can_join(setup.X, setup.probes)
        settings = grid(setup.learner, param_name, param_range)
        kept = None if store is None else Store(store)
        fits = SweepFits(setup, settings, fit_groups(settings, share and not scored), name, kept, executor, progress)
        swept = _by_value(fits)
        if scored and share_paths and any(group.path is not None for group in fit_groups(settings, True)):
            swept.notes.append(Note("values-fitted-alone", str(metric)))
    records = swept.records
    if holdout_size is None:
        # Curves must be of one size: the largest that can be counted at every value.
        holdout_size = min(countable_size(labelings, holdouts, seed) for labelings in records.values())
        if holdout_size < min(USUAL_SIZE, setup.test.size):
            counted = expect.counted(holdout_size, "point")
            swept.notes.append(
                Note("text", f"Holdouts have {counted}: at some value, labelings of more hardly repeat.")
            )
    options = holdout_size, holdouts, seed, level
    measured = _measured(records, options, executor)
    figures = _metrics(records, metric, level) if metric is not None else {}
    if param_name == STORED and setups:
        metric = "share of labels stored"
        figures = {value: share_stored(record, setups[value], level) for value, record in records.items()}
    found = summed_up(name or short_name(setup.learner), swept, measured, metric or "", figures)
    if param_name == TIME and setups and len(found.values) > 1:
        return replace(found, between_windows=between(found.orientations, found.records, options))
    return found


def _by_data(setups: dict[Any, Setup], kind: str, make: Callable[[Setup], Any]) -> SweepRecords:
    """A record for each version of the training data, all with the same test part, probes and seeds."""
    records: dict[Any, Labelings] = {}
    failed: dict[Any, str] = {}
    interrupted = False
    for value, setup in setups.items():
        try:
            labelings = make(setup)
        except KeyboardInterrupt:  # before any refit of this value was done
            interrupted = True
            break
        except expect.InputError as error:
            failed[value] = str(error)
            continue
        if labelings.interrupted:
            interrupted = True
            break
        records[value] = labelings
    if not records:
        if interrupted:
            raise KeyboardInterrupt
        raise expect.InputError(f"No value could be recorded: {next(iter(failed.values()))}")
    notes = [note for note in setup.notes if isinstance(note, Note)]
    if interrupted:
        unseen = [value for value in setups if value not in records and value not in failed]
        notes.append(Note("values-not-measured", expect.shown(unseen)))
    return SweepRecords((kind,), records, failed, (PathUse(kind, tuple(records), ALONE, True),), interrupted, notes)


def _by_value(fits: SweepFits) -> SweepRecords:
    """The record of every value of a grid; values that share work are fitted together."""
    setup, points = fits.setup, fits.grid.points
    fitted = fits.run()
    records, failed, notes = fits.records, fits.failed, [*setup.notes, *setup.of_samples, *fits.warnings]
    if fits.recorder.interrupted and not records:
        raise KeyboardInterrupt
    if not records:
        fits.recorder.discard()
        why = next(iter(failed.values()))
        raise expect.InputError(f"{fits.label} failed at every value: {why}{checks.advice(setup.X, why)}")
    notes += [Note("text", stranger) for stranger in fits.strangers()] if fitted else []
    if fits.recorder.interrupted:
        done = min(len(labelings.train_rows) for labelings in records.values())
        notes.append(Note("subsets-run", count=done, subsets=len(setup.samples)))
        unseen = [point for point in points if point not in records and point not in failed]
        if unseen:
            notes.append(Note("values-not-measured", expect.shown(unseen)))
    else:
        try:
            fits.finish()
        except StoreFull as full:
            notes.append(Note("text", str(full)))
    records = {point: records[point] for point in points if point in records}
    failed = {point: failed[point] for point in points if point in failed}
    fitted_so = ((group, tuple(point for point in group.points if point in records)) for group in fits.groups)
    paths = tuple(PathUse(group.parameter, there, group.kind, group.exact) for group, there in fitted_so if there)
    return SweepRecords(fits.grid.names, records, failed, paths, fits.recorder.interrupted, notes)


def _metrics(records: dict[Any, Labelings], metric: str, level: float) -> dict[Any, tuple[Estimate, RefitSpread]]:
    """The metric at each value where it can be computed, and its spread over refits."""
    by_value = {}
    for point, labelings in records.items():
        try:
            measured = metrics(labelings, metric, level=level)
        except expect.InputError:
            continue
        if metric in measured.estimates:
            by_value[point] = measured[metric], measured.refit_spread[metric]
    return by_value


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
    by_value: dict[Any, Orientation | str] = dict(zip(records, outcome.results.values()))
    return {
        value: measured.attached(records[value]) if isinstance(measured, Orientation) else measured
        for value, measured in by_value.items()
    }


def _measure(shared: tuple[list[Labelings], tuple[int | None, int, int, float]], place: int) -> Orientation | str:
    try:
        return orientation(shared[0][place], *shared[1]).detached()
    except expect.InputError as too_little:
        return str(too_little)
