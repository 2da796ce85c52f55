"""What was fitted, in words and as settings, and the command that reproduces a report."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..engine.machine import machine, versions
from ..expect import counted
from .budget import BudgetSettings
from .cross_validated import FOLDS


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The numbers of what was fitted: the same for all learners, except `fewer_splits` and `fewer_fold_rows`.

    `half` is the number of rows of a half, `test` that of the test points; None stands for all rows.
    """

    splits: int
    repeats: int
    size: int | None
    n_probes: int
    fold_rows: int | None
    test_points: int
    half: int
    test: int
    retrains: int = 0
    fewer_splits: Mapping[str, int] = field(default_factory=dict)
    fewer_fold_rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, Any]:
        """The parameters of `characterize` that give the same fits."""
        return {
            "splits": self.splits,
            "repeats": self.repeats,
            "size": "all" if self.size is None else self.size,
            "n_probes": self.n_probes,
            "fold_rows": "all" if self.fold_rows is None else self.fold_rows,
            "test_points": self.test_points,
            "retrains": self.retrains,
        }

    def in_words(self) -> str:
        """What was fitted, as a text."""
        again = f"; {counted(self.retrains, 'retraining')} on samples of nearly full size" if self.retrains else ""
        rows = "all" if self.size is None else f"{self.size:,} of"
        folds = "" if self.fold_rows is None else f" on {self.fold_rows:,} rows each"
        fewer = _listed(f"{name}: {splits}" for name, splits in self.fewer_splits.items() if splits)
        fewer_rows = _listed(f"{name}: {rows:,} rows" for name, rows in self.fewer_fold_rows.items() if rows)
        return (
            f"{counted(self.splits, 'split')} of the training part into halves{fewer}, "
            f"{counted(self.repeats, 'refit')} on {rows} {self.half:,} rows of each half, compared on {self.test:,} "
            f"test points and {self.n_probes:,} probes; {FOLDS} fits{folds}{fewer_rows} for cross-validated predictions"
            f"{again}"
        )

    def call(
        self, seed: int, learners: list[str], given: Sequence[str], test_size: float, asked: Mapping[str, Any]
    ) -> str:
        """The call of `characterize` that reproduces it; `asked` are other keywords."""
        numbers: dict[str, Any] = dict(self.numbers) | ({} if test_size == 0.3 else {"test_size": test_size})
        if self.fewer_splits:
            numbers["splits"] = dict.fromkeys(learners, self.splits) | dict(self.fewer_splits)
        if self.fewer_fold_rows:
            numbers["fold_rows"] = dict.fromkeys(learners, numbers["fold_rows"]) | dict(self.fewer_fold_rows)
        keywords = ", ".join(f"{name}={value!r}" for name, value in (numbers | dict(asked)).items())
        named = "".join(f"{each}={each}, " for each in given)
        return f"classay.characterize(learners, X, y, {named}{keywords}, random_state={seed})"

    def options(self) -> str:
        """The options of `classay report` that reproduce it."""
        parts = [f"--{name.replace('_', '-')} {value}" for name, value in self.numbers.items()]
        parts += [f"--splits {shlex.quote(f'{name}={splits}')}" for name, splits in self.fewer_splits.items()]
        parts += [f"--fold-rows {shlex.quote(f'{name}={rows}')}" for name, rows in self.fewer_fold_rows.items()]
        return " ".join(parts)


def _listed(parts: Iterable[str]) -> str:
    text = ", ".join(parts)
    return f" ({text})" if text else ""


def settings_of(
    fitted: Fitted,
    budget: BudgetSettings,
    *,
    test_size: float,
    seed: int,
    workers: int,
    learners: Mapping[str, Any],
    wrapped: Mapping[str, str],
    given: Sequence[str],
    command: str | None,
    asked: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """The settings that the report shows, with the command that reproduces it."""
    made = (
        fitted.call(seed, list(learners), given, test_size, asked)
        if command is None
        else f"{command} {fitted.options()}"
    )
    fewer = {
        name: dict(numbers)
        for name, numbers in (("fewer_splits", fitted.fewer_splits), ("fewer_fold_rows", fitted.fewer_fold_rows))
        if numbers
    }
    return {
        "budget": budget.seconds,
        "bought": fitted.in_words(),
        **fitted.numbers,
        **fewer,
        "test_size": test_size,
        "seed": seed,
        **more,
        "versions": versions(),
        "machine": ", ".join([*machine().values(), f"Python {platform.python_version()}", f"{workers} workers"]),
        "learners": {name: " ".join(repr(one).split()) for name, one in learners.items()},
        **({"wrapped": dict(wrapped)} if wrapped else {}),
        "command": made,
    }
