"""From the answers of refits to a record: arrays, failures, and what has to be said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine import frames
from ..learners import has_seed
from .answers import Codes
from .labelings import Labelings
from .predictions import Predictions
from .refit import Answer, Bench
from .refits import Failure

Ints = NDArray[np.int64]


def gathered(
    bench: Bench,
    subsets: list[Ints],
    answers: dict[int, Answer],
    refits: int,
    deterministic: bool,
    interrupted: bool,
    notes: Iterable[str],
    about: dict[str, Any],
) -> Labelings | Predictions:
    """One record of the answers of subsets, by their numbers."""
    found = _arrays(bench, subsets, answers, refits)
    notes = list(notes)
    if deterministic and has_seed(bench.learner):
        notes.append("Its random_state is frozen, so refits cannot differ: stochasticity is 0 by your choice.")
    failed, missing = len(found.failures), int((~found.present).sum())
    if interrupted:
        notes.append(f"Interrupted: {missing - failed} of {found.present.size} refits were not run.")
    if failed:
        notes.append(f"{failed} of {found.present.size} refits failed; see `failures`.")
    if bench.probes is not None and found.probes is None:
        notes.append("The probes themselves are not kept (sparse, too large or of odd types); the answers on them are.")
    # The refit that showed a learner to be deterministic is not among the refits of the record.
    kept_refits = [said for answer in answers.values() for said in answer.warnings[: found.present.shape[1]]]
    notes += most_common((text for said in kept_refits for text in said), found.present.size)
    return replace(found, deterministic=deterministic, interrupted=interrupted, notes=tuple(notes), about=about)


def most_common(warnings: Iterable[str], refits: int, most: int = 3) -> list[str]:
    """The most frequent warnings, each with how many of the refits gave it."""
    counts = sorted(Counter(warnings).items(), key=lambda item: (-item[1], item[0]))
    return [f"{times} of {refits} refits warned: {text}" for text, times in counts[:most]]


def _arrays(bench: Bench, subsets: list[Ints], answers: dict[int, Answer], refits: int) -> Labelings | Predictions:
    shape, kind = (len(subsets), refits), bench.answers
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
    can_keep = bench.probes is not None and frames.pack(bench.probes, "probes") is not None
    common: dict[str, Any] = {
        "truth": kind.truth(bench.y[bench.test]),
        "seconds": seconds,
        "train_rows": tuple(subsets),
        "test_rows": bench.test,
        "probes": bench.probes if can_keep else None,
        "failures": tuple(failures),
    }
    if isinstance(kind, Codes):
        return Labelings(on_test, classes=kind.classes, train_accuracy=quality, probe_labels=on_probes, **common)
    return Predictions(on_test, train_rmse=quality, probe_values=on_probes, **common)
