"""Trials of a preference: training sets whose labels come from two concepts, a fit on each, and which it follows."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import expect, seeds
from ...arrays import Floats
from ...engine import work
from ...estimators.adapters import free_seeds, kind_of
from ...estimators.trial import ready
from ...inputs import take
from ...notes import Note
from ..fitting import checks
from ..fitting.schemes import Sample
from ..fitting.task import Bench, refit
from ..records.base import LEAST_SHARE
from ..records.codecs import LabelCodec, NumberCodec
from .concepts import Attributes, Concept, on_same_classes
from .curve import HALF, fitted, rounds, spread

N_PROBES, MOST_PROBES = 50_000, 1_000
"""Probes drawn to find where the concepts differ, and the most that one fit predicts. Each fit gets its own, so that
the variation from their choice is part of the variation between fits, and of the intervals."""
MOST_CELLS = 2**24
"""Rows times columns of the probes that are drawn; with very many columns there are fewer probes."""
Task = tuple[int, float]  # number of the trial, and p


@dataclass(frozen=True)
class Rivals:
    """What every trial needs, sent once to each worker.

    `probes` are rows on which the two concepts differ, `on_probes` their classes there. `disagreement` is the share of
    such rows among all probes, `kind` how those were drawn.
    """

    bench: Bench
    attributes: Attributes
    concepts: tuple[Concept, Concept]
    n_samples: int
    probes: Any
    on_probes: tuple[NDArray[Any], NDArray[Any]]
    disagreement: float
    kind: str


@dataclass(frozen=True)
class Trial:
    """Result of one trial: the share of conflicting predictions that follow the first concept, or NaN and the error.

    `one_class`: the training set had only one class, which was taken as the prediction.
    """

    p: float
    share: float
    one_class: bool = False
    error: str = ""


def rivals(
    learner: Any,
    concepts: tuple[Concept, Concept],
    attributes: Attributes,
    n_samples: int,
    probes: Any,
    seed: int,
    time_limit: float | None,
) -> tuple[Rivals, list[Note]]:
    """Two concepts prepared for trials on a learner, and notes about them."""
    fresh, notes = checks.unfitted_learner(learner)
    regressor = kind_of(fresh) == "regressor"
    n_probes = min(N_PROBES, max(MOST_CELLS // len(attributes.names), MOST_PROBES))
    drawn = attributes.probes(probes, n_probes, seed)
    first, second = on_same_classes(concepts, drawn.rows, numbers=regressor)
    differ = np.flatnonzero(first != second)
    if not differ.size:
        raise expect.InputError(
            f"{concepts[0].name!r} and {concepts[1].name!r} never disagree on {first.size} comparison points "
            f"({drawn.kind}), so a preference between them is not defined. Are they meant to differ?"
        )
    # A training set at p = 0.5 has labels of both concepts.
    tried = ready(fresh, drawn.rows, np.where(np.arange(first.size) % 2, first, second), seed)
    fresh, notes = tried.learner, [*notes, *tried.notes]
    bench = Bench(
        learner=fresh,
        X=None,
        y=np.empty(0),
        codec=NumberCodec() if regressor else LabelCodec(np.union1d(first, second)),
        test=np.empty(0, dtype=np.int64),
        probes=None,
        free=tuple(free_seeds(fresh)),
        seed=seed,
        time_limit=time_limit,
    )
    probes, on_probes = take(drawn.rows, differ), (first[differ], second[differ])
    return Rivals(
        bench, attributes, concepts, n_samples, probes, on_probes, differ.size / first.size, drawn.kind
    ), notes


def attempt(rivals: Rivals, task: Task) -> Trial:
    """Draw t_p, fit the learner on it and predict the probes. Runs in a worker."""
    number, p = task
    generator = seeds.generator(rivals.bench.seed, "trial", number)
    rows = rivals.attributes.draw(rivals.n_samples, generator)
    first, second = (concept(rows) for concept in rivals.concepts)
    y = np.where(generator.random(rivals.n_samples) < p, first, second)
    chosen = np.arange(rivals.on_probes[0].size)
    if chosen.size > MOST_PROBES:
        chosen = np.sort(generator.choice(chosen.size, MOST_PROBES, replace=False))
    codec = rivals.bench.codec
    if isinstance(codec, LabelCodec):
        if (y == y[0]).all():
            return Trial(p, _share(np.full(chosen.size, y[0]), rivals, chosen), one_class=True)
        codec = LabelCodec(np.union1d(codec.classes, y))
    else:
        y = y.astype(float)
    bench = replace(rivals.bench, X=rows, y=y, codec=codec, probes=take(rivals.probes, chosen))
    answers = refit(bench, Sample(number, np.arange(rivals.n_samples)), (0,))
    if answers.errors or answers.probes is None:
        return Trial(p, np.nan, error=next(iter(answers.errors.values()), "no predictions"))
    learned = answers.probes[0]
    return Trial(p, _share(codec.classes[learned] if isinstance(codec, LabelCodec) else learned, rivals, chosen))


def conduct(
    rivals: Rivals, budget: int, level: float, executor: Executor | int | None, progress: bool, label: str
) -> tuple[list[Trial], tuple[float, float], bool]:
    """Run trials in rounds, each around the crossing of those before; the flag says whether Ctrl-C ended it.

    Also returns the window around the crossing of all trials, from 0 to 1.
    """
    trials: list[Trial] = []
    window: tuple[float, float] | None = None
    for count in rounds(budget):
        tasks: list[Task] = list(enumerate(spread(count, window).tolist(), len(trials)))
        outcome = work.run(
            attempt,
            tasks,
            shared=rivals,
            executor=executor,
            progress=progress,
            label=f"{label}, {'all p' if window is None else f'p = {window[0]:.3g} to {window[1]:.3g}'}",
            isolate=rivals.bench.time_limit is not None and executor is None,
        )
        if outcome.interrupted and not trials:
            raise KeyboardInterrupt
        lost = {place: Trial(tasks[place][1], np.nan, error=str(why)) for place, why in outcome.failures.items()}
        trials += [trial for _, trial in sorted({**outcome.results, **lost}.items())]
        _refuse(trials, 0.5 if window is None else 1 - LEAST_SHARE, rivals, label)
        window = fitted(*outcomes(trials), level, window or (0.0, 1.0)).window(budget)
        if outcome.interrupted:
            return trials, window, True
    assert window is not None
    return trials, window, False


def outcomes(trials: list[Trial]) -> tuple[Floats, Floats]:
    """The p and the share of each trial that did not fail."""
    good = [trial for trial in trials if not trial.error]
    return np.array([trial.p for trial in good]), np.array([trial.share for trial in good])


def _refuse(trials: list[Trial], most: float, rivals: Rivals, label: str) -> None:
    """Stop if more than a share of the fits fail, or if training sets are too small to contain both classes."""
    failed = [trial for trial in trials if trial.error]
    if len(failed) > most * len(trials):
        why = failed[0].error
        reason = f"{why}{checks.advice(rivals.probes, why)}".removesuffix(".")
        few = f" Are {rivals.n_samples} rows per training set (n_samples) too few?" if rivals.n_samples < 50 else ""
        raise expect.InputError(f"{label} failed in {len(failed)} of {len(trials)} fits: {reason}.{few}")
    single = [trial.one_class for trial in trials if trial.p == HALF]
    if 2 * sum(single) > len(single):
        raise expect.InputError(
            f"{sum(single)} of {len(single)} training sets of {rivals.n_samples} rows at p = 0.5 have only one class, "
            "so there is nothing to learn from them. Use more rows (n_samples), or concepts that differ on more rows."
        )


def _share(learned: NDArray[Any], rivals: Rivals, chosen: NDArray[np.integer]) -> float:
    """½ + ½·(agreement with the first − agreement with the second), on chosen probes where the two differ.

    Numbers agree with the concept that they are nearer to.
    """
    first, second = (answers[chosen] for answers in rivals.on_probes)
    if isinstance(rivals.bench.codec, NumberCodec):
        gaps = np.abs(learned - first.astype(float)), np.abs(learned - second.astype(float))
        return float((1 + (gaps[0] < gaps[1]).mean() - (gaps[1] < gaps[0]).mean()) / 2)
    return float((1 + (learned == first).mean() - (learned == second).mean()) / 2)
