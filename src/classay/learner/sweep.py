"""`sweep`: how a learner's character changes along a parameter, with one fit for many values where that is possible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import expect
from ..engine import work
from ..engine.store import Store, StoreFull
from . import examine
from .answers import Codes
from .fitting import Fitting
from .gathering import gathered, most_common
from .holdouts import draw_holdouts
from .labelings import Labelings
from .line import Line
from .orientation import Orientation, orientation
from .preparing import prepare
from .schemes import Scheme
from .sweep_grid import grid
from .sweep_result import PathUse, Sweep, summed_up
from .sweep_store import Shelf
from .sweep_strands import Strand, can_join, strands


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
    holdout_size: int = 5,
    holdouts: int = 100,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    share_paths: bool = True,
    name: str | None = None,
    level: float = 0.95,
) -> Sweep:
    """Tell how a learner's bias, expressivity, capacity, stochasticity and accuracy change along a parameter.

    For each value, what `record` and `orientation` tell, on the same subsets, test points, holdouts and seeds, so that
    curves can be compared. Where values share fits (the first 10 trees of a forest of 200 are a forest of 10), one fit
    answers for all of them: bit for bit as separate fits, or, for depths of trees, the same in distribution; `paths` of
    the result says which. The same seed gives the same bits for any number of workers, and after any interruption.

    With a store, each task is kept as soon as it is done: one subset, with some of its refits, along all values that
    share fits. The same call goes on from there after a crash, and `record` finds what was fitted exactly.

    A value that the learner refuses is listed in `failed`, and the others go on. Bands are those of `orientation`, each
    value by itself: they overlap more than the differences between values are uncertain, because values share subsets.

    Parameters
    ----------
    learner : a scikit-learn classifier or Pipeline; if it is fitted, only its settings are used
    X, y : rows and labels, as scikit-learn takes them
    param_name : a parameter, as `set_params` takes it (`clf__max_depth` in a Pipeline), or two of them
    param_range : its values; for two parameters a pair of lists, or a mapping of names to lists
    scheme, repeats, test_size, probes, n_probes : as `record` takes them
    holdout_size, holdouts, level : as `orientation` takes them
    random_state : the seed of everything
    executor : any `concurrent.futures.Executor`, a number of local workers, or None: one worker a core
    store : a folder; what is in it is not fitted again
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; where a shared fit takes longer, values are fitted one by one
    share_paths : whether values may share fits; False fits value by value
    name : what to call the learner; default: its class and the parameters that are not default

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
    given = prepare(learner, X, y, scheme, repeats, test_size, probes, random_state, time_limit, n_probes)
    if not isinstance(given.answers, Codes):
        raise expect.InputError(
            f"`learner` is {type(given.learner).__name__}, a regressor; a sweep counts labels, so a classifier is "
            "expected. For a regressor, `record` each value and ask `stability`."
        )
    draw_holdouts(given.test.size, holdout_size, holdouts, given.seed)
    expect.fraction(level, "level")
    settings = grid(given.learner, param_name, param_range)
    found = strands(settings, share=bool(share_paths) and can_join(given.X, given.probes))
    about = given.about(name)
    label = about["learner"]["name"]
    shelf = Shelf(None if store is None else Store(store), settings, about, given.time_limit, name, found)

    records, failed = shelf.records(), shelf.failed()
    subsets, more = given.draw()
    fits = Fitting(given, subsets, executor, progress, label, shelf.chunks)
    lines = fits.run(shelf.left({*records, *failed}))
    if fits.lost:
        left = expect.counted(sum(len(line.lost) for line in lines), "task")
        raise expect.InputError(
            f"{left} not done: {fits.lost} What is done is kept if there is a store: run the same again, and it goes "
            "on from there."
        )
    notes = [*given.notes, *more]
    said = shelf.said() or _said(lines)
    made, refused = _records(fits, lines, shelf, notes)
    records, failed = {**records, **made}, {**failed, **refused}
    if fits.interrupted and not records:
        raise KeyboardInterrupt
    if not records:
        shelf.discard()
        why = next(iter(failed.values()))
        raise expect.InputError(f"{label} failed at every value: {why}{examine.advice(given.X, why)}")
    notes += said
    notes += shelf.strangers() if lines else []
    if fits.interrupted:
        done = min(len(record.train_rows) for record in records.values())
        notes.append(f"Interrupted: {done} of {given.scheme.n} subsets were run.")
        unseen = [point for point in settings.points if point not in records and point not in failed]
        if unseen:
            notes.append(f"Too little was done to tell anything at {expect.shown(unseen)}.")
    elif lines or not shelf.listed:
        try:
            shelf.finish(made, failed, said)
        except StoreFull as full:
            notes.append(str(full))
    points = settings.points
    records = {point: records[point] for point in points if point in records}
    return summed_up(
        learner=label,
        parameters=settings.names,
        records=records,
        measured=_measured(records, (holdout_size, holdouts, given.seed, level), executor),
        paths=tuple(_uses(found, records)),
        failed={point: failed[point] for point in points if point in failed},
        interrupted=fits.interrupted,
        notes=tuple(notes),
    )


def _said(lines: list[Line]) -> list[str]:
    """What fits that values share warned, the most frequent first."""
    strips = [strip for line in lines if not line.hopeless() for strip in line.done.values()]
    return most_common(
        (text for strip in strips for each in strip.said for text in each), sum(len(strip.said) for strip in strips)
    )


def _uses(found: list[Strand], records: dict[Any, Labelings]) -> Iterator[PathUse]:
    """How the values that have a record were fitted."""
    for strand in found:
        points = tuple(point for point in strand.points if point in records)
        if points:
            yield PathUse(strand.parameter, points, strand.kind, strand.exact)


def _measured(
    records: dict[Any, Labelings], settings: tuple[int, int, int, float], executor: Executor | int | None
) -> dict[Any, Orientation | str]:
    """The orientation at each value, or why there is none. On this machine: records travel farther than they pay."""
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
    return dict(zip(records, outcome.results.values()))


def _measure(shared: tuple[list[Labelings], tuple[int, int, int, float]], place: int) -> Orientation | str:
    try:
        return orientation(shared[0][place], *shared[1])
    except expect.InputError as too_little:
        return str(too_little)


def _records(
    fits: Fitting, lines: Iterable[Line], shelf: Shelf, notes: list[str]
) -> tuple[dict[Any, Labelings], dict[Any, str]]:
    """The record of each value, and why others have none. Of what was interrupted, the subsets that were done."""
    records: dict[Any, Labelings] = {}
    failed: dict[Any, str] = {}
    for line in lines:
        subsets = [subset for subset in range(line.n_subsets) if line.whole(subset)]
        for value, point in enumerate(line.strand.points):
            bench = fits.given.bench(shelf.grid.learner_at(point))
            answers = {place: line.answer(bench, value, subset) for place, subset in enumerate(subsets)}
            errors = [error for answer in answers.values() for error in answer.errors.values()]
            nothing = all(len(answer.errors) == len(answer.seconds) for answer in answers.values())
            if errors and (line.hopeless([value]) or nothing):
                failed[point] = errors[0]
            elif len(subsets) > 1:
                record = gathered(
                    bench,
                    [fits.subsets[subset] for subset in subsets],
                    answers,
                    line.refits,
                    line.deterministic,
                    fits.interrupted and len(subsets) < line.n_subsets,
                    notes,
                    shelf.about_of(point),
                )
                assert isinstance(record, Labelings)
                records[point] = record
    return records, failed
