"""`record`: fit a learner on many subsets, several times each, and keep what every refit answered.

The only function of the package that fits a learner. Everything else asks the record.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import expect, seeds
from ..engine import work
from ..engine.store import Store
from . import describe, examine
from .labelings import MISSING, Failure, Labelings, code_type
from .refit import Answer, Bench, Task, joined, refit
from .schemes import Scheme, Subsets, split

Ints = NDArray[np.int64]
HOPELESS = 3
"""If every refit of the first so many subsets failed, the learner is given up."""


def record(
    learner: Any,
    X: Any,
    y: ArrayLike,
    scheme: Scheme | None = None,
    repeats: int = 5,
    test_size: float = 0.2,
    probes: Any = None,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    name: str | None = None,
) -> Labelings:
    """Refit a learner on random subsets of the data and record what each refit answers on the same test points.

    The rows are split once into a training and a test part. The scheme draws subsets of the training part; the
    learner is fitted `repeats` times on each, every time with another `random_state` unless you froze it, and labels
    the whole test part. The same seed gives the same bits for any number of workers, executor or order.

    A learner without a free `random_state` whose first two refits agree on everything is taken as deterministic and
    fitted once a subset. Refits that raise are listed in `failures` and the others go on. Ctrl-C returns what is done.

    Parameters
    ----------
    learner : a scikit-learn classifier or Pipeline; if it is fitted, only its settings are used
    X, y : rows and labels, as scikit-learn takes them: arrays, DataFrames, sparse matrices
    scheme : `Subsets` (default: 100 subsets of 15 % of the training part, with replacement) or `HalfSplits`
    repeats : refits on each subset; stochasticity needs at least 2, and is told well by 10
    test_size : share of the rows that no refit sees
    probes : more rows to label, beside the test part
    random_state : the seed of everything
    executor : any `concurrent.futures.Executor` (threads of one process take turns, so they gain nothing); a number
        of local workers; None: one worker a core
    store : a folder of records; the same question asked again is answered from it
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; a refit that takes longer is listed in `failures`
    name : what to call the learner; default: its class and the parameters that are not default

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> labelings = record(GaussianNB(), X, y, Subsets(20), executor=1)
    >>> labelings.labels.shape, labelings.deterministic
    ((20, 1, 30), True)

    """
    scheme = Subsets() if scheme is None else scheme
    if not isinstance(scheme, Scheme):
        raise expect.InputError(f"`scheme` is {scheme!r}; Subsets(...) or HalfSplits(...) is expected.")
    repeats = expect.whole(repeats, "repeats", at_least=1)
    test_size = expect.fraction(test_size, "test_size")
    time_limit = examine.time_limit(time_limit)
    seed = seeds.settle(random_state)
    learner, notes = examine.learner(learner)
    X, y_values, more = examine.data(X, y)
    notes += more
    probes = examine.probes(probes, X)
    classes, codes = np.unique(y_values, return_inverse=True)
    examine.classes(classes, codes)
    train, test, more = split(codes, test_size, seed)
    notes += more
    scheme.check(codes[train])
    about = describe.everything(learner, name, X, y_values, probes, scheme, repeats, test_size, seed)
    kept, key = None, ""
    if store is not None:
        kept = Store(store)
        key = kept.key(describe.address(about, time_limit))
        found = kept.get(key)
        if found is not None:
            # The store knows nothing of names, so the one that was stored may be another.
            return replace(Labelings.from_file(*found), about=about)

    drawn = list(scheme.draw(codes[train], seed))
    forced = sum(by_hand for _, by_hand in drawn)
    if forced:
        notes.append(f"{forced} of {scheme.n} subsets missed a class in every draw; one row of it was put in.")
    bench = Bench(learner, X, y_values, classes, test, probes, tuple(examine.free_seeds(learner)), seed, time_limit)
    answers, deterministic, broken, interrupted = _refit_all(
        bench, [train[rows] for rows, _ in drawn], repeats, executor, progress, about["learner"]["name"]
    )
    labelings = _gather(bench, drawn, train, answers, broken, 1 if deterministic else repeats)
    if deterministic and examine.has_seed(learner):
        notes.append("Its random_state is frozen, so refits cannot differ: stochasticity is 0 by your choice.")
    failed, missing = len(labelings.failures), int((~labelings.present).sum())
    if interrupted:
        notes.append(f"Interrupted: {missing - failed} of {labelings.present.size} refits were not run.")
    if failed:
        notes.append(f"{failed} of {labelings.present.size} refits failed; see `failures`.")
    # The refit that showed a learner to be deterministic is not among the refits of the record.
    kept_refits = [said for answer in answers.values() for said in answer.warnings[: labelings.labels.shape[1]]]
    warned = Counter(text for said in kept_refits for text in said)
    for text, times in sorted(warned.items(), key=lambda item: (-item[1], item[0]))[:3]:
        notes.append(f"{times} of {labelings.present.size} refits warned: {text}")
    labelings = replace(
        labelings, deterministic=deterministic, interrupted=interrupted, notes=tuple(notes), about=about
    )
    if kept is not None and not interrupted:
        kept.put(key, "labelings", *labelings.to_file())
    return labelings


def _refit_all(
    bench: Bench,
    subsets: list[Ints],
    repeats: int,
    executor: Executor | int | None,
    progress: bool,
    label: str,
) -> tuple[dict[int, Answer], bool, dict[int, str], bool]:
    """Refit every subset. Returns answers by subset, whether the learner is deterministic, subsets that could not
    be run and why, and whether Ctrl-C came.
    """
    answers: dict[int, Answer] = {}
    broken: dict[int, str] = {}

    def hopeless() -> bool:
        # Always the same subsets, so that it cannot depend on what is done first.
        early = [answers.get(subset) for subset in range(min(HOPELESS, len(subsets)))]
        return all(answer is not None and len(answer.errors) == repeats for answer in early)

    def go(tasks: list[Task], progress: bool) -> bool:
        def keep(index: int, answer: Answer) -> bool:
            subset = tasks[index][0]
            before = answers.get(subset)
            answers[subset] = answer if before is None else joined(before, answer)
            return hopeless()

        outcome = work.run(
            refit,
            tasks,
            shared=bench,
            executor=executor,
            on_result=keep,
            progress=progress,
            label=label,
            isolate=bench.time_limit is not None and executor is None,
        )
        broken.update({tasks[index][0]: str(failure) for index, failure in outcome.failures.items()})
        return outcome.interrupted

    everything = tuple(range(repeats))
    deterministic = interrupted = False
    first: tuple[int, ...] = everything
    if not bench.free and repeats > 1:
        # Whether two refits agree is seen on subset 0 alone, so that it cannot depend on what is done first.
        interrupted = go([(0, subsets[0], everything[:2])], False)
        deterministic = 0 in answers and answers[0].same_twice()
        first = () if deterministic or 0 in broken else everything[2:]
    if not interrupted:
        rest = everything[:1] if deterministic else everything
        tasks = [(0, subsets[0], first)] if first else []
        tasks += [(number, rows, rest) for number, rows in enumerate(subsets) if number]
        interrupted = go(tasks, progress)
    if not answers and interrupted:
        raise KeyboardInterrupt
    if hopeless() or all(len(answer.errors) == len(answer.seconds) for answer in answers.values()):
        errors = [error for _, answer in sorted(answers.items()) for error in answer.errors.values()]
        why = (errors or list(broken.values()))[0]
        tried = f" of the first {HOPELESS} subsets" if len(subsets) > HOPELESS and hopeless() else ""
        raise expect.InputError(f"{label} failed in every refit{tried}: {why}{examine.advice(bench.X, why)}")
    return answers, deterministic, broken, interrupted


def _gather(
    bench: Bench,
    drawn: list[tuple[Ints, bool]],
    train: Ints,
    answers: dict[int, Answer],
    broken: dict[int, str],
    refits: int,
) -> Labelings:
    """Put the answers of all subsets into one record."""
    shape, codes = (len(drawn), refits), code_type(bench.classes.size)
    labels = np.full((*shape, bench.test.size), MISSING, dtype=codes)
    probe_labels = None
    if bench.probes is not None:
        probe_labels = np.full((*shape, bench.probes.shape[0]), MISSING, dtype=codes)
    train_accuracy, seconds = np.full((2, *shape), np.nan)
    failures = []
    for subset, answer in sorted(answers.items()):
        here = min(refits, len(answer.seconds))
        labels[subset, :here] = answer.labels[:here]
        train_accuracy[subset, :here] = answer.train_accuracy[:here]
        seconds[subset, :here] = answer.seconds[:here]
        if probe_labels is not None and answer.probe_labels is not None:
            probe_labels[subset, :here] = answer.probe_labels[:here]
        failures += [Failure(subset, repeat, error) for repeat, error in sorted(answer.errors.items())]
    for subset, why in sorted(broken.items()):
        done = len(answers[subset].seconds) if subset in answers else 0
        failures += [Failure(subset, repeat, why) for repeat in range(done, refits)]
    return Labelings(
        labels=labels,
        truth=np.searchsorted(bench.classes, bench.y[bench.test]).astype(codes),
        classes=bench.classes,
        train_accuracy=train_accuracy,
        seconds=seconds,
        train_rows=tuple(train[rows] for rows, _ in drawn),
        test_rows=bench.test,
        probe_labels=probe_labels,
        failures=tuple(failures),
    )
