"""`record`: fit a learner on many subsets, several times each, and store what every refit predicts.

Every measure of a learner is computed from the record, without further fits.
"""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..engine.store import Store
from ..frames import pandas_of
from ..inputs import as_array
from .fitting import checks, provenance
from .fitting.checks import Setup, prepare
from .fitting.folds import Folds
from .fitting.groups import FitGroup
from .fitting.runner import HOPELESS, Recorder
from .fitting.schemes import HalfSplits, Sample, Scheme, Subsets
from .records.labelings import Labelings
from .records.predictions import Predictions


def record(
    learner: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    scheme: Scheme | Folds | None = None,
    repeats: int | None = None,
    test_size: float | None = None,
    probes: Any = None,
    random_state: int | np.random.Generator | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    name: str | None = None,
    n_probes: int = 10_000,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    source: Any = None,
    scores: bool | str = "auto",
) -> Labelings | Predictions:
    """Refit a learner on random subsets of the data and record what each refit predicts on the same test points.

    The rows are split once into a training and a test part. The scheme draws subsets of the training part; the
    learner is fitted `repeats` times on each, every time with another `random_state` unless you fixed it, and predicts
    the whole test part, and the probes if you ask for them. A classifier gives `Labelings`, a regressor `Predictions`.
    The same seed gives the same bits for any number of workers, executor or order, on one machine and versions; another
    processor, BLAS or release can change last digits.

    A learner without a free `random_state` whose first two refits agree on everything is treated as deterministic and
    fitted once per subset; with `repeats=1`, one that is all of scikit-learn. Refits that raise are listed in
    `failures`; the others go on. Ctrl-C returns what is done.

    With `groups`, whole groups are split and drawn, so no group is in a subset and in the test part, nor in both halves
    of a split, and intervals of measures are over groups. With `time`, the test part is the latest share of the rows.
    With both, earlier rows of groups in the test part are left out. `sample_weight` goes to every fit, by the rules of
    scikit-learn: to `fit` if it takes it, and through Pipelines and searches by metadata routing (`set_fit_request`);
    without a request, to each classifier or regressor inside. Only fits are weighted: in accuracy, agreement and all
    other figures every test row counts once.

    Parameters
    ----------
    learner : a scikit-learn classifier, regressor or Pipeline; if it is fitted, only its settings are used
    X, y : rows and labels, as scikit-learn takes them: arrays, DataFrames, sparse matrices, or a list of texts. Tables
        of polars, PyArrow and others are converted to pandas first, which is what the learner gets
    scheme : `Subsets` (default: 100 subsets of 15 % of the training part, with replacement), `HalfSplits`, `Retrain`,
        or `Folds` for cross-validation, where each fit predicts the rows of its own fold
    repeats : refits on each subset (default 5; 1 with `Folds`); use 2 or more to separate training randomness from
        data, 10 for good precision
    test_size : share of the rows that no refit sees (default 0.2); 0 with HalfSplits: every half is tested on the other
        half of all rows (two-fold cross-validation), and refits are compared on `probes` only
    probes : points on which refits are compared, besides the test part: 'uniform' over the domain of each column,
        'marginal' (each column drawn independently), 'data' (the test part), a function of a numpy Generator and a
        number of rows, or rows with the columns of `X`
    random_state : seed of everything random
    executor : any `concurrent.futures.Executor` (threads of one process take turns, so they gain nothing); a number
        of local workers; None: one worker per core
    store : a folder of records; the same call then reads its result from it, and an interrupted one continues
    progress : show a bar on stderr if it takes more than two seconds
    time_limit : seconds that one fit may take; a refit that takes longer is listed in `failures`
    name : display name of the learner; default: its class and the parameters that are not default
    n_probes : number of probes; the agreement of two classifiers on them has a standard error of at most 0.5/√n_probes
    groups : a value for each row; rows with the same one (a patient, a document) are never divided. At least 4 groups
    time : a date or number for each row; rows of the same time stay together
    sample_weight : a number for each row, 0 or more
    X_test, y_test : a test part to use as it is; all rows of `X` are then the training part. Its rows are counted after
        those of `X`; `groups` has values for the rows of `X`, or for those of both
    source : in place of `X` and `y`, a function of a numpy Generator and a number of rows that returns rows and labels:
        every refit gets a fresh sample, so figures are of the process and not of one table. The scheme has the number
        and size of samples, as in Subsets(100, 200); `test_size` is then a number of rows (default 1000)
    scores : whether to keep what refits score, probabilities or else decision values: 'auto' keeps them if the learner
        has them and they take at most 1 GiB, True is an error if it has none, False keeps labels only. A record with
        scores has another address in a store than one without

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
    rows = {"groups": groups, "time": time, "sample_weight": sample_weight, "X_test": X_test, "y_test": y_test}
    samples, share = None, 0.2 if test_size is None else test_size
    if source is not None:
        both = [name for name, given in {"X": X, "y": y, **rows}.items() if given is not None]
        if both:
            raise expect.InputError(
                f"`source` and `{both[0]}` are both given; a source draws rows and labels itself. Pass one."
            )
        X, y, rows["X_test"], rows["y_test"], samples = fresh_samples(source, scheme, test_size, random_state)
        share = 0.5  # the test part is given
    elif X is None or y is None:
        raise expect.InputError("`X` or `y` is missing: pass rows and labels, or a `source` that draws them.")
    options: dict[str, Any] = {**rows, "two_fold": True, "scores": scores, "samples": samples}
    setup = prepare(learner, X, y, scheme, repeats, share, probes, random_state, time_limit, n_probes, **options)
    made = recorded(setup, name, executor, store, progress)
    if scores is True and isinstance(made, Labelings) and made.scores is None and made.full_scores is None:
        raise expect.InputError(
            f"`scores` is True, but no refit of {made.name} gave scores. "
            + " ".join(note for note in made.notes if "No scores" in note)
        )
    return made


def recorded(
    setup: Setup,
    name: str | None,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
) -> Labelings | Predictions:
    """The record of the learner of a setup: from the store, or fitted."""
    about = provenance.about(setup, setup.learner, name)
    label = about["learner"]["name"]
    kept = None if store is None else Store(store)
    recorder = Recorder(setup, {None: about}, kept, executor, progress, label)
    group = FitGroup.alone(None, setup.learner)
    if stored := recorder.stored(group):
        return stored[None]
    (state,) = recorder.run([group])
    made = recorder.record(state)
    # What a broken cluster left undone is not the learner's failure: the next call fits it.
    complete = not recorder.interrupted and not recorder.lost
    if isinstance(made, str):
        if not made:
            raise KeyboardInterrupt
        if complete:
            recorder.discard()
        tried = f" of the first {HOPELESS} subsets" if len(setup.samples) > HOPELESS and state.hopeless() else ""
        raise expect.InputError(f"{label} failed in every refit{tried}: {made}{checks.advice(setup.X, made)}")
    if complete:
        recorder.keep({None: made})
        recorder.discard()
    return made


# A source instead of a table. Subsets of one table share rows and resemble each other more than samples do; fresh
# samples are independent, so figures are those of the process (the paper's own definitions), and their intervals cover
# it. Samples are used as they are drawn, with or without every class. They are put one after the other into one table.

TEST_ROWS = 1000
"""Rows of the test part that a source draws if none are asked for."""


def fresh_samples(
    source: Any, scheme: Any, test_size: Any, random_state: int | np.random.Generator | None
) -> tuple[Any, Any, Any, Any, list[Sample]]:
    """Rows and labels of the samples that a scheme asks for, those of the test part, and how samples lie in the rows.

    `source(generator, n)` returns n rows and their labels. Sample k is the same whatever the number of samples.
    """
    if not callable(source):
        raise expect.InputError(
            f"`source` is {source!r}; expected a function of a numpy Generator and a number of rows that returns rows "
            "and labels."
        )
    if scheme is None:
        raise expect.InputError(
            "`scheme` is missing: with `source`, it says how many samples of how many rows to draw, such as "
            "Subsets(100, 200) or HalfSplits(25, 200)."
        )
    if not isinstance(scheme, (Subsets, HalfSplits)) or not isinstance(scheme.size, (int, np.integer)):
        raise expect.InputError(
            f"`scheme` is {scheme!r}; with `source`, expected Subsets(n, size) or HalfSplits(m, size) with a whole "
            "number of rows: there is no table of which a share could be taken."
        )
    if isinstance(scheme, HalfSplits) and scheme.stratify:
        raise expect.InputError(
            "`scheme` is HalfSplits with stratify=True; samples of a source are used as they come, and cannot be dealt "
            "by class. Leave it out."
        )
    why = f"With `source` it is a number of rows (default {TEST_ROWS}): there is no table of which to take a share."
    tested = TEST_ROWS if test_size is None else expect.whole(test_size, "test_size", at_least=2, why=why)
    seed, size = seeds.settle(random_state), int(scheme.size)
    drawn = [_drawn(source, size, seeds.generator(seed, "sample", place)) for place in range(scheme.n)]
    X = [rows for rows, _ in drawn]
    return (
        pd.concat(X, ignore_index=True) if isinstance(X[0], pd.DataFrame) else np.concatenate(X),
        np.concatenate([labels for _, labels in drawn]),
        *_drawn(source, tested, seeds.generator(seed, "sample to test")),
        [Sample(place, np.arange(place * size, (place + 1) * size)) for place in range(scheme.n)],
    )


def _drawn(source: Any, rows: int, generator: np.random.Generator) -> tuple[Any, Any]:
    try:
        drawn = source(generator, rows)
    except expect.InputError:
        raise
    except Exception as error:  # the source is the user's and may fail in any way
        raise expect.InputError(
            f"`source` failed when asked for {rows} rows: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(drawn, (tuple, list)) or len(drawn) != 2:
        raise expect.InputError(f"`source` returned {type(drawn).__name__}; expected a pair: rows and their labels.")
    X, y = pandas_of(drawn[0], "rows of `source`"), np.asarray(drawn[1])
    X = X if isinstance(X, pd.DataFrame) else as_array(X, "rows of `source`")
    if len(X) != rows or y.shape != (rows,):
        raise expect.InputError(
            f"`source` returned {len(X)} rows and labels of shape {y.shape}; expected {rows} of each."
        )
    return X, y
