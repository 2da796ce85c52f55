"""Records of several learners on the same splits, in rounds: each round adds splits to those that are done.

After any round, the record of a learner is bit for bit the one that `record` makes with that many splits: a split is
drawn from the seed and its own number, so the splits of a small record are the first ones of a large record.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Ints
from ..engine.store import Chunks, Store
from ..estimators.adapters import free_seeds
from ..estimators.scores import may_score
from ..inputs import take
from ..notes import Note
from .fitting import checks, provenance
from .fitting.checkpoints import open_chunks, stored_record
from .fitting.checks import Setup
from .fitting.folds import FoldFits
from .fitting.groups import ALONE, FitGroup
from .fitting.runner import FitRunner, GroupProgress
from .fitting.schemes import HalfSplits
from .record import gathered
from .records.labelings import Labelings

MOST_SHARE = 0.5
"""If fits need at most this share of the rows, only these are sent to workers."""


@dataclass
class RecordRounds:
    """The fits of several learners on the half splits, or the folds, of a `setup`.

    `learners` are unfitted, by name. `grow` fits; `record` gives the record of one learner, with the splits that it
    has so far (`splits`). `failed` has those that failed in every refit, and why. Of half splits, the number in the
    setup does not matter; folds are one round: a learner has all of them or none.
    """

    setup: Setup
    learners: Mapping[str, Any]
    executor: Executor | int | None = None
    store: str | Path | None = None
    progress: bool = False
    isolate: bool = False
    splits: dict[str, int] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    _subsets: list[Ints] = field(default_factory=list)
    _notes: dict[int, list[Note]] = field(default_factory=dict)
    _states: dict[str, GroupProgress] = field(default_factory=dict)
    _stored: dict[tuple[str, int], Labelings] = field(default_factory=dict)
    _about: dict[str, Any] = field(default_factory=dict)

    def grow(self, names: list[str], splits: int | None = None, label: str = "", in_turn: bool = False) -> bool:
        """Fit the learners of these names on the first `splits` splits, as far as this is not done.

        By split, so that all get equally far, or `in_turn`. Return whether all of it is done. If Ctrl-C or a
        deadline ends it, a learner keeps the splits of the last round; in its first round, those that are complete.
        """
        splits = self.setup.scheme.n if splits is None else splits
        names = [name for name in names if name not in self.failed and self.splits.get(name, 0) < splits]
        self._draw(splits)
        missing = [name for name in names if not self._in_store(name, splits)]
        for name in names:
            if name not in missing:
                self.splits[name] = splits
        if not missing:
            return True
        setup = replace(self.setup, scheme=self._scheme(splits), learner=self.learners[missing[0]])
        runner = FitRunner(
            *_with_rows_used(setup, self._subsets[: self._fits(splits)]),
            self.executor,
            self.progress,
            label,
            lambda group: self._chunks(group, splits),
            isolate=self.isolate,
            in_turn=in_turn,
        )
        groups = [_group(name, self.learners[name]) for name in missing]
        states = runner.run(groups, [self._states.get(name, _nothing(group)) for name, group in zip(missing, groups)])
        for name, state in zip(missing, states):
            self._states[name] = state
            if state.hopeless():
                self.failed[name] = self._why(name)
            elif not runner.interrupted:
                self._finish(name, splits, lost=bool(runner.lost))
            elif name not in self.splits:
                self.splits[name] = self._complete(state)
        self.interrupted |= runner.interrupted
        return not runner.interrupted

    def record(self, name: str) -> Labelings:
        """The record of a learner, as `classay.record` gives it."""
        splits = self.splits[name]
        if (name, splits) in self._stored:
            return self._stored[name, splits]
        self._draw(splits)
        setup = replace(self.setup, scheme=self._scheme(splits), learner=self.learners[name])
        bench = setup.bench(setup.learner)
        fits = self._fits(splits)
        state = replace(self._states[name], n_subsets=fits)
        answers = {subset: state.answer(bench, 0, subset) for subset in range(fits)}
        labelings = gathered(
            bench,
            self._subsets[:fits],
            answers,
            state.refits,
            state.deterministic,
            False,
            (*setup.notes, *self._notes[splits]),
            self.about(name, splits),
        )
        assert isinstance(labelings, Labelings)  # regressors were refused
        return labelings

    def about(self, name: str, splits: int) -> dict[str, Any]:
        """The provenance of a record. Only one learner's is made in full: data are the same for all."""
        if not self._about:
            self._about = self.setup.about(None)
        scheme = self._scheme(splits)
        own = {"own_points": self.setup.own_points} if self.setup.own_points else {}
        silent = () if may_score(self.learners[name]) else ("scores",)
        return {
            **{key: part for key, part in self._about.items() if key not in silent},
            "learner": {"name": name, **provenance.parameters(self.learners[name])},
            "scheme": provenance.described(scheme),
            **own,
            **provenance.weighted(self.setup.per_row, self.learners[name]),
        }

    def _scheme(self, splits: int) -> HalfSplits | FoldFits:
        scheme = self.setup.scheme
        assert isinstance(scheme, (HalfSplits, FoldFits))
        return scheme if isinstance(scheme, FoldFits) else replace(scheme, m=max(splits, 1))

    def _fits(self, splits: int) -> int:
        """The number of training sets of so many splits: two halves of each, or all folds."""
        return splits if isinstance(self.setup.scheme, FoldFits) else 2 * splits

    def _complete(self, state: GroupProgress) -> int:
        """The number of first splits of which both halves are done; of folds, all or none."""
        whole = [state.whole(subset) for subset in range(state.n_subsets)]
        if isinstance(self.setup.scheme, FoldFits):
            return len(whole) if all(whole) else 0
        return [*whole, False].index(False) // 2

    def _draw(self, splits: int) -> None:
        if splits not in self._notes:
            drawn, self._notes[splits] = replace(self.setup, scheme=self._scheme(splits)).draw()
            if len(drawn) > len(self._subsets):
                # Those drawn before stay the same objects: records of earlier rounds hold them.
                self._subsets += drawn[len(self._subsets) :]

    def _finish(self, name: str, splits: int, lost: bool) -> None:
        """Keep what is done, also in the store, unless a broken cluster left something undone."""
        self.splits[name] = splits
        answers = [part.by_value[0] for part in self._states[name].done.values()]
        if all(len(part.errors) == len(part.seconds) for part in answers):
            self.failed[name] = self._why(name)
        elif self.store is not None and not lost:
            kept, key = self._place(name, splits)
            labelings = self.record(name)
            kept.put(key, labelings.KIND, *labelings.to_file())
            open_chunks(kept, [key], ALONE, self.about(name, splits))[0].remove()

    def _place(self, name: str, splits: int) -> tuple[Store, str]:
        assert self.store is not None
        kept = Store(self.store)
        return kept, kept.key(provenance.address(self.about(name, splits), self.setup.time_limit))

    def _in_store(self, name: str, splits: int) -> bool:
        """Whether the store has the record; it is read then."""
        if self.store is None:
            return False
        kept, key = self._place(name, splits)
        found = stored_record(kept, key, replace(self.setup, scheme=self._scheme(splits)))
        if found is None:
            kept.expect_writable()
            return False
        # The store does not depend on names, so the stored one may be another.
        labelings = replace(found, about=self.about(name, splits))
        assert isinstance(labelings, Labelings)
        self._stored[name, splits] = labelings
        return True

    def _chunks(self, group: FitGroup, splits: int) -> tuple[Chunks | None, dict[str, Any]]:
        if self.store is None:
            return None, {}
        name = group.points[0]
        kept, key = self._place(name, splits)
        return open_chunks(kept, [key], ALONE, self.about(name, splits))

    def _why(self, name: str) -> str:
        """The first error of a learner that failed in every refit."""
        state = self._states[name]
        errors = [why for _, why in sorted(state.broken.items())]
        for _, answers in sorted(state.done.items()):
            errors += answers.by_value[0].errors.values()
        why = errors[0] if errors else "it gave no predictions"
        return f"{name} failed in every refit: {why}{checks.advice(self.setup.X, why)}"


def _with_rows_used(setup: Setup, subsets: list[Ints]) -> tuple[Setup, list[Ints]]:
    """Setup and subsets with only the rows that are fitted or tested, if these are few: workers need no others.

    Predictions depend on the content of rows, not on their numbers.
    """
    total = int(setup.y.size)
    folds = setup.scheme if isinstance(setup.scheme, FoldFits) else None
    if sum(rows.size for rows in subsets) + setup.test.size > MOST_SHARE * total:
        return setup, subsets
    used = np.unique(np.concatenate([*subsets, setup.test]))
    few = replace(
        setup,
        X=take(setup.X, used),
        y=setup.y[used],
        codes=setup.codes[used],
        test=np.searchsorted(used, setup.test),
        per_row=setup.per_row.take(used),
    )
    if folds is not None:
        few = replace(few, scheme=replace(folds, asked=tuple(np.searchsorted(used, rows) for rows in folds.asked)))
    return few, [np.searchsorted(used, rows) for rows in subsets]


def _group(name: str, learner: Any) -> FitGroup:
    """One learner with its own settings; its name is the point, by which its chunks are found."""
    return FitGroup((name,), learner, "", (None,), None, tuple(free_seeds(learner)))


def _nothing(group: FitGroup) -> GroupProgress:
    return GroupProgress(group, 0, 0)
