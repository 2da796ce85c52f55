"""`record`: fit a learner on many subsets, several times each, and keep what every refit answered.

The only function of the package that fits a learner. Everything else asks the record.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..engine import work
from ..engine.chunks import Chunks
from ..engine.store import Store
from . import describe, examine
from .answer_chunks import ALONE, chunk_name, open_chunks, packed, taken_up
from .gathering import gathered
from .preparing import prepare
from .refit import Answer, Bench, Task, joined, refit
from .saved import restored
from .schemes import Scheme

Ints = NDArray[np.int64]
Parts = tuple[Chunks, dict[str, Any]]  # where they go, and what they say of the whole
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
    store : a folder of records; the same question asked again is answered from it, and one that was stopped goes on
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; a refit that takes longer is listed in `failures`
    name : what to call the learner; default: its class and the parameters that are not default
    n_probes : how many probes to draw; the agreement of two classifiers on them is off by at most 0.5/√n_probes

    Examples
    --------
    >>> import classay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> labelings = record(GaussianNB(), X, y, classay.Subsets(20), executor=1)
    >>> labelings.labels.shape, labelings.deterministic
    ((20, 1, 30), True)

    """
    given = prepare(learner, X, y, scheme, repeats, test_size, probes, random_state, time_limit, n_probes)
    about = given.about(name)
    kept, key, parts = None, "", None
    if store is not None:
        kept = Store(store)
        key = kept.key(describe.address(about, given.time_limit))
        stored = kept.get(key)
        if stored is not None:
            # The store knows nothing of names, so the one that was stored may be another.
            return replace(restored(*stored), about=about)
        kept.expect_writable()
        parts = open_chunks(kept, [key], ALONE, about)

    subsets, more = given.draw()
    bench = given.bench(given.learner)
    answers, deterministic, broken, interrupted = _refit_all(
        bench, subsets, given.repeats, executor, progress, about["learner"]["name"], parts
    )
    refits = 1 if deterministic else given.repeats
    notes = (*given.notes, *more)
    found = gathered(bench, subsets, answers, broken, refits, deterministic, interrupted, notes, about)
    # What a cluster that broke has left undone is not the learner's failure: asked again, it is fitted.
    whole = not interrupted and not any(why.startswith("BrokenExecutor") for why in broken.values())
    if kept is not None and whole:
        kept.put(key, found.KIND, *found.to_file())
        _discard(parts)
    return found


def _refit_all(
    bench: Bench,
    subsets: list[Ints],
    repeats: int,
    executor: Executor | int | None,
    progress: bool,
    label: str,
    parts: Parts | None,
) -> tuple[dict[int, Answer], bool, dict[int, str], bool]:
    """Refit every subset. Returns answers by subset, whether the learner is deterministic, subsets that could not
    be run and why, and whether Ctrl-C came. With a store, each task is kept there in `parts`, and not done again.
    """
    answers: dict[int, Answer] = {}
    broken: dict[int, str] = {}
    there = {} if parts is None else taken_up(parts[0])

    def take(task: Task, answer: Answer) -> bool:
        before = answers.get(task[0])
        answers[task[0]] = answer if before is None else joined(before, answer)
        return hopeless()

    def hopeless() -> bool:
        # Always the same subsets, so that it cannot depend on what is done first.
        early = [answers.get(subset) for subset in range(min(HOPELESS, len(subsets)))]
        return all(answer is not None and len(answer.errors) == repeats for answer in early)

    def go(tasks: list[Task], progress: bool) -> bool:
        left: list[Task] = []
        for task in tasks:
            if (task[0], task[2]) in there:
                take(task, there[task[0], task[2]][0][0])
            else:
                left.append(task)

        def keep(index: int, answer: Answer) -> bool:
            subset, _, refits = left[index]
            if parts is not None:
                said: list[set[str]] = [set() for _ in refits]
                parts[0].put(chunk_name(subset, refits), *packed([answer], said, parts[1], len(subsets)))
            return take(left[index], answer)

        outcome = work.run(
            refit,
            left,
            shared=bench,
            executor=executor,
            on_result=keep,
            progress=progress,
            label=label,
            isolate=bench.time_limit is not None and executor is None,
        )
        broken.update({left[index][0]: str(failure) for index, failure in outcome.failures.items()})
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
        _discard(parts)
        raise expect.InputError(f"{label} failed in every refit{tried}: {why}{examine.advice(bench.X, why)}")
    return answers, deterministic, broken, interrupted


def _discard(parts: Parts | None) -> None:
    if parts is not None:
        parts[0].remove()
