"""`record`: fit a learner on many subsets, several times each, and keep what every refit answered.

The only function of the package that fits a learner. Everything else asks the record.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import expect
from ..engine.chunks import Chunks
from ..engine.store import Store
from . import describe, examine
from .answer_chunks import ALONE, open_chunks
from .fitting import Fitting, alone
from .gathering import gathered
from .line import HOPELESS, Line
from .preparing import prepare
from .refit import Answer, Bench
from .saved import restored
from .schemes import Scheme

Parts = tuple[Chunks, dict[str, Any]]  # where they go, and what they say of the whole


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
    fits = Fitting(given, subsets, executor, progress, about["learner"]["name"], lambda strand: parts or (None, {}))
    (line,) = fits.run([alone(given)])
    answers = {subset: line.answer(bench, 0, subset) for subset in range(len(subsets)) if line.begun(subset)}
    if line.hopeless() or all(np.isnan(answer.quality).all() for answer in answers.values()):
        if not any(answer.errors for answer in answers.values()):
            raise KeyboardInterrupt
        if not fits.lost and not fits.interrupted:
            _discard(parts)
        raise expect.InputError(_all_failed(about["learner"]["name"], bench, answers, line))
    notes = (*given.notes, *more)
    found = gathered(bench, subsets, answers, line.refits, line.deterministic, fits.interrupted, notes, about)
    # What a cluster that broke has left undone is not the learner's failure: asked again, it is fitted.
    if kept is not None and not fits.interrupted and not fits.lost:
        kept.put(key, found.KIND, *found.to_file())
        _discard(parts)
    return found


def _all_failed(name: str, bench: Bench, answers: dict[int, Answer], line: Line) -> str:
    why = next(error for _, answer in sorted(answers.items()) for error in answer.errors.values())
    tried = f" of the first {HOPELESS} subsets" if line.n_subsets > HOPELESS and line.hopeless() else ""
    return f"{name} failed in every refit{tried}: {why}{examine.advice(bench.X, why)}"


def _discard(parts: Parts | None) -> None:
    if parts is not None:
        parts[0].remove()
