"""`record`: fit a learner on many subsets, several times each, and store what every refit predicts.

Every measure of a learner is computed from the record, without further fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import expect
from ..arrays import Floats, Ints
from ..engine import archive
from ..engine.store import Chunks, Store
from ..estimators.adapters import has_seed
from ..estimators.scores import may_score
from ..notes import Note
from .fitting import checks
from .fitting.checkpoints import open_chunks, record_key, stored_record
from .fitting.checks import prepare
from .fitting.folds import Folds
from .fitting.fresh_samples import expect_alone, fresh_data
from .fitting.groups import ALONE
from .fitting.retrain_scheme import Scheme
from .fitting.runner import HOPELESS, FitRunner, GroupProgress, alone
from .fitting.task import Bench, SubsetAnswers
from .records.base import Failure
from .records.codecs import LabelCodec
from .records.labelings import Labelings
from .records.predictions import Predictions
from .records.scores import KINDS, Scores, names_of

OpenChunks = tuple[Chunks, dict[str, Any]]  # where they are stored, and the description of the whole


def record(
    learner: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    scheme: Scheme | Folds | None = None,
    repeats: int | None = None,
    test_size: float = 0.2,
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
    fitted once per subset. Refits that raise are listed in `failures`; the others go on. Ctrl-C returns what is done.

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
    test_size : share of the rows that no refit sees; 0 with HalfSplits: every half is tested on the other half of all
        rows (two-fold cross-validation), and refits are compared on `probes` only
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
    wanted: Any = scheme
    if source is not None:
        others = {"X": X, "y": y, "groups": groups, "time": time, "sample_weight": sample_weight}
        expect_alone("source", others | {"X_test": X_test, "y_test": y_test})
        drawn = fresh_data(source, scheme, test_size, random_state)
        X, y, X_test, y_test, wanted, test_size = drawn.X, drawn.y, drawn.X_test, drawn.y_test, drawn.scheme, 0.5
    elif X is None or y is None:
        raise expect.InputError("`X` or `y` is missing: pass rows and labels, or a `source` that draws them.")
    setup = prepare(
        learner,
        X,
        y,
        wanted,
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
        two_fold=True,
        scores=scores,
    )
    if not may_score(setup.learner):  # its address in a store is then that of a record without scores
        setup = replace(setup, scores=None)
    about = setup.about(name)
    kept_store, key, parts = None, "", None
    if store is not None:
        kept_store = Store(store)
        key = record_key(about, setup.time_limit)
        stored = stored_record(kept_store, key, setup)
        if stored is not None:
            # The store does not depend on names, so the stored one may be another.
            return replace(stored, about=about)
        kept_store.expect_writable()
        parts = open_chunks(kept_store, [key], ALONE, about)

    subsets, more = setup.draw()
    bench = setup.bench(setup.learner)
    fits = FitRunner(setup, subsets, executor, progress, about["learner"]["name"], lambda group: parts or (None, {}))
    (state,) = fits.run([alone(setup)])
    answers = {subset: state.answer(bench, 0, subset) for subset in range(len(subsets)) if state.begun(subset)}
    if state.hopeless() or not any(setup.codec.known(answer.test).any() for answer in answers.values()):
        if not any(answer.errors for answer in answers.values()):
            raise KeyboardInterrupt
        if not fits.lost and not fits.interrupted:
            _discard(parts)
        raise expect.InputError(_all_failed(about["learner"]["name"], bench, answers, state))
    notes = (*setup.notes, *more)
    labelings = gathered(bench, subsets, answers, state.refits, state.deterministic, fits.interrupted, notes, about)
    scoreless = isinstance(labelings, Labelings) and labelings.scores is None and labelings.full_scores is None
    if scores is True and scoreless:
        raise expect.InputError(
            f"`scores` is True, but no refit of {labelings.name} gave scores. "
            + " ".join(note for note in labelings.notes if "No scores" in note)
        )
    # What a broken cluster left undone is not the learner's failure: the next call fits it.
    if kept_store is not None and not fits.interrupted and not fits.lost:
        kept_store.put(key, labelings.KIND, *labelings.to_file())
        _discard(parts)
    return labelings


def _all_failed(name: str, bench: Bench, answers: dict[int, SubsetAnswers], state: GroupProgress) -> str:
    why = next(error for _, answer in sorted(answers.items()) for error in answer.errors.values())
    tried = f" of the first {HOPELESS} subsets" if state.n_subsets > HOPELESS and state.hopeless() else ""
    return f"{name} failed in every refit{tried}: {why}{checks.advice(bench.X, why)}"


def _discard(parts: OpenChunks | None) -> None:
    if parts is not None:
        parts[0].remove()


# From the predictions of refits to a record: arrays, failures, and notes.


def gathered(
    bench: Bench,
    subsets: list[Ints],
    answers: dict[int, SubsetAnswers],
    refits: int,
    deterministic: bool,
    interrupted: bool,
    notes: Iterable[Note],
    about: dict[str, Any],
) -> Labelings | Predictions:
    """One record from the predictions of subsets, by their numbers."""
    refits_record = _arrays(bench, subsets, answers, refits)
    notes = list(notes)
    if deterministic and has_seed(bench.learner):
        notes.append(Note("seed-fixed"))
    failed, missing = len(refits_record.failures), int((~refits_record.present).sum())
    if interrupted:
        notes.append(Note("refits-not-run", count=missing - failed, refits=refits_record.present.size))
    if failed:
        notes.append(Note("refits-failed", count=failed, refits=refits_record.present.size))
    if bench.probes is not None and refits_record.probes is None:
        notes.append(Note("probes-not-stored"))
    if isinstance(refits_record, Labelings) and refits_record.scores is not None:
        without = int((refits_record.present & ~refits_record.scores.present).sum())
        notes += [Note("scores-missing", count=without, refits=refits_record.present.size)] if without else []
    # The refit that showed a learner to be deterministic is not among the refits of the record.
    kept_refits = [
        of_refit for answer in answers.values() for of_refit in answer.warnings[: refits_record.present.shape[1]]
    ]
    notes += most_common((text for of_refit in kept_refits for text in of_refit), refits_record.present.size)
    return replace(refits_record, deterministic=deterministic, interrupted=interrupted, notes=tuple(notes), about=about)


def most_common(warnings: Iterable[str], refits: int, most: int = 3) -> list[Note]:
    """The most frequent warnings, each with how many of the refits gave it."""
    counts = sorted(Counter(warnings).items(), key=lambda item: (-item[1], item[0]))
    return [Note("refits-warned", text, count=times, refits=refits) for text, times in counts[:most]]


def _arrays(
    bench: Bench, subsets: list[Ints], answers: dict[int, SubsetAnswers], refits: int
) -> Labelings | Predictions:
    shape, kind = (len(subsets), refits), bench.codec
    on_test = kind.empty((*shape, bench.test.size))
    on_probes = None if bench.probes is None else kind.empty((*shape, bench.probes.shape[0]))
    quality, seconds = np.full((2, *shape), np.nan)
    failures = []
    predicted = None
    if bench.asked is not None:
        predicted = np.stack([np.isin(bench.test, rows) for rows in bench.asked])
    for subset, answer in sorted(answers.items()):
        here = min(refits, len(answer.seconds))
        points = slice(None) if predicted is None else predicted[subset]
        on_test[subset][:here, points] = answer.test[:here]
        quality[subset, :here] = answer.quality[:here]
        seconds[subset, :here] = answer.seconds[:here]
        if on_probes is not None and answer.probes is not None:
            on_probes[subset, :here] = answer.probes[:here]
        failures += [Failure(subset, repeat, error) for repeat, error in sorted(answer.errors.items())]
    can_keep = bench.probes is not None and archive.pack_table(bench.probes, "probes") is not None
    probes = bench.probes if can_keep else None
    if isinstance(kind, LabelCodec):
        masked = predicted is not None
        scores, probe_scores = (None, None) if masked else _scores(bench, answers, shape)
        return Labelings(
            on_test,
            kind.truth(bench.y[bench.test]),
            kind.classes,
            train_accuracy=quality,
            seconds=seconds,
            train_rows=tuple(subsets),
            test_rows=bench.test,
            probes=probes,
            probe_labels=on_probes,
            failures=tuple(failures),
            groups=bench.groups,
            probe_groups=bench.probe_groups,
            scores=scores,
            probe_scores=probe_scores,
            predicted=predicted,
            full_scores=_full_scores(bench, answers, shape) if masked else None,
        )
    return Predictions(
        on_test,
        kind.truth(bench.y[bench.test]),
        train_rmse=quality,
        seconds=seconds,
        train_rows=tuple(subsets),
        test_rows=bench.test,
        probes=probes,
        probe_values=on_probes,
        failures=tuple(failures),
        groups=bench.groups,
        probe_groups=bench.probe_groups,
        predicted=predicted,
    )


def _full_scores(bench: Bench, answers: dict[int, SubsetAnswers], shape: tuple[int, int]) -> Floats | None:
    """Scores and probabilities of all predictions, in the order of fits and points; None if no fit gave any."""
    if bench.scores is None or bench.asked is None or all(each.scores is None for each in answers.values()):
        return None
    ends = np.cumsum([rows.size for rows in bench.asked])
    joined = bench.scores.empty((shape[1], int(ends[-1])))
    for subset, answer in answers.items():
        if answer.scores is not None:
            start = ends[subset] - bench.asked[subset].size
            joined[: len(answer.seconds), start : ends[subset]] = answer.scores.test[: shape[1]]
    return joined


def _scores(
    bench: Bench, answers: dict[int, SubsetAnswers], shape: tuple[int, int]
) -> tuple[Scores | None, Scores | None]:
    """Scores on test points and probes. If refits gave different kinds, those of the more frequent one are kept."""
    given = {subset: answer.scores for subset, answer in answers.items() if answer.scores is not None}
    form = bench.scores
    if form is None or not given:
        return None, None
    counts = np.bincount(np.concatenate([each.kinds[: shape[1]] for each in given.values()]), minlength=len(KINDS))
    kind = 1 + int(np.argmax(counts[1:]))
    columns = names_of(form.classes, form.compact)
    on_test = form.empty((*shape, bench.test.size))
    on_probes = None if bench.probes is None else form.empty((*shape, bench.n_probes))
    for subset, each in given.items():
        refits = np.flatnonzero(each.kinds[: shape[1]] == kind)
        on_test[subset, refits] = each.test[refits]
        if on_probes is not None and each.probes is not None:
            on_probes[subset, refits] = each.probes[refits]
    return Scores(on_test, KINDS[kind], columns), None if on_probes is None else Scores(on_probes, KINDS[kind], columns)
