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
from ..engine import frames, work
from ..engine.store import Store
from . import describe, examine
from .answers import Codes
from .labelings import Labelings
from .predictions import Predictions
from .probes import probes as drawn_probes
from .refit import Answer, Bench, Task, joined, refit
from .refits import Failure
from .saved import restored
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
    n_probes: int = 10_000,
) -> Any:
    """Refit a learner on random subsets of the data and record what each refit answers on the same test points.

    The rows are split once into a training and a test part. The scheme draws subsets of the training part; the
    learner is fitted `repeats` times on each, every time with another `random_state` unless you froze it, and labels
    the whole test part, and probes if you ask for them. A classifier gives `Labelings`, a regressor `Predictions`. The
    same seed gives the same bits for any number of workers, executor or order.

    A learner without a free `random_state` whose first two refits agree on everything is taken as deterministic and
    fitted once a subset. Refits that raise are listed in `failures` and the others go on. Ctrl-C returns what is done.

    Parameters
    ----------
    learner : a scikit-learn classifier, regressor or Pipeline; if it is fitted, only its settings are used
    X, y : rows and labels, as scikit-learn takes them: arrays, DataFrames, sparse matrices
    scheme : `Subsets` (default: 100 subsets of 15 % of the training part, with replacement) or `HalfSplits`
    repeats : refits on each subset; stochasticity needs at least 2, and is told well by 10
    test_size : share of the rows that no refit sees
    probes : points on which refits are compared, beside the test part: 'uniform' over the domain of each column,
        'marginal' (each column drawn on its own), 'data' (the test part), a function of a numpy Generator and a number
        of rows, or rows with the columns of `X`
    random_state : the seed of everything
    executor : any `concurrent.futures.Executor` (threads of one process take turns, so they gain nothing); a number
        of local workers; None: one worker a core
    store : a folder of records; the same question asked again is answered from it
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; a refit that takes longer is listed in `failures`
    name : what to call the learner; default: its class and the parameters that are not default
    n_probes : how many probes to draw; the agreement of two classifiers on them is off by at most 0.5/√n_probes

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
    kind_of_answers, codes = examine.answers(learner, y_values)
    train, test, more = split(codes, test_size, seed)
    notes += more
    scheme.check(codes[train])
    probing = drawn_probes(probes, n_probes, X, test, seed)
    rows = None if probing is None else probing.rows
    given = (learner, name, X, y_values, rows, scheme, repeats, test_size, seed)
    about = describe.everything(*given, probe_kind="given" if probing is None else probing.kind)
    kept, key = None, ""
    if store is not None:
        kept = Store(store)
        key = kept.key(describe.address(about, time_limit))
        stored = kept.get(key)
        if stored is not None:
            # The store knows nothing of names, so the one that was stored may be another.
            return replace(restored(*stored), about=about)

    drawn = list(scheme.draw(codes[train], seed))
    forced = sum(by_hand for _, by_hand in drawn)
    if forced:
        notes.append(f"{forced} of {scheme.n} subsets missed a class in every draw; one row of it was put in.")
    free = tuple(examine.free_seeds(learner))
    bench = Bench(learner, X, y_values, kind_of_answers, test, rows, free, seed, time_limit)
    answers, deterministic, broken, interrupted = _refit_all(
        bench, [train[rows] for rows, _ in drawn], repeats, executor, progress, about["learner"]["name"]
    )
    found = _gather(bench, drawn, train, answers, broken, 1 if deterministic else repeats)
    if deterministic and examine.has_seed(learner):
        notes.append("Its random_state is frozen, so refits cannot differ: stochasticity is 0 by your choice.")
    failed, missing = len(found.failures), int((~found.present).sum())
    if interrupted:
        notes.append(f"Interrupted: {missing - failed} of {found.present.size} refits were not run.")
    if failed:
        notes.append(f"{failed} of {found.present.size} refits failed; see `failures`.")
    if rows is not None and found.probes is None:
        notes.append("The probes themselves are not kept (sparse, too large or of odd types); the answers on them are.")
    # The refit that showed a learner to be deterministic is not among the refits of the record.
    kept_refits = [said for answer in answers.values() for said in answer.warnings[: found.present.shape[1]]]
    warned = Counter(text for said in kept_refits for text in said)
    for text, times in sorted(warned.items(), key=lambda item: (-item[1], item[0]))[:3]:
        notes.append(f"{times} of {found.present.size} refits warned: {text}")
    found = replace(found, deterministic=deterministic, interrupted=interrupted, notes=tuple(notes), about=about)
    if kept is not None and not interrupted:
        kept.put(key, found.KIND, *found.to_file())
    return found


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
) -> Labelings | Predictions:
    """Put the answers of all subsets into one record."""
    shape, kind = (len(drawn), refits), bench.answers
    on_test = kind.empty((*shape, bench.test.size))
    on_probes = None if bench.probes is None else kind.empty((*shape, bench.probes.shape[0]))
    quality, seconds = np.full((2, *shape), np.nan)
    failures = []
    for subset, answer in sorted(answers.items()):
        here = min(refits, len(answer.seconds))
        on_test[subset, :here] = answer.test[:here]
        quality[subset, :here] = answer.quality[:here]
        seconds[subset, :here] = answer.seconds[:here]
        if on_probes is not None and answer.probes is not None:
            on_probes[subset, :here] = answer.probes[:here]
        failures += [Failure(subset, repeat, error) for repeat, error in sorted(answer.errors.items())]
    for subset, why in sorted(broken.items()):
        done = len(answers[subset].seconds) if subset in answers else 0
        failures += [Failure(subset, repeat, why) for repeat in range(done, refits)]
    can_keep = bench.probes is not None and frames.pack(bench.probes, "probes") is not None
    common: dict[str, Any] = {
        "truth": kind.truth(bench.y[bench.test]),
        "seconds": seconds,
        "train_rows": tuple(train[rows] for rows, _ in drawn),
        "test_rows": bench.test,
        "probes": bench.probes if can_keep else None,
        "failures": tuple(failures),
    }
    if isinstance(kind, Codes):
        return Labelings(on_test, classes=kind.classes, train_accuracy=quality, probe_labels=on_probes, **common)
    return Predictions(on_test, train_rmse=quality, probe_values=on_probes, **common)
