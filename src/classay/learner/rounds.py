"""Records of several learners on the same samples, in rounds: each round adds samples to those that are done.

After any round, the record of a learner is bit for bit the one that `record` makes with that many splits: a split is
drawn from the seed and its own number, so the splits of a small record are the first ones of a large record.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..engine.store import Store
from ..expect import InputError
from .fitting import checks, provenance
from .fitting.checks import Setup
from .fitting.groups import FitGroup
from .fitting.runner import Progress, Recorder
from .fitting.schemes import HalfSplits
from .records.labelings import Labelings


@dataclass
class RecordRounds:
    """The fits of several classifiers by the scheme of a `setup`.

    `learners` are unfitted, by name. `grow` fits; `record` gives the record of one learner, with the splits that it
    has so far (`splits`). `failed` has those that failed in every refit, and why. With HalfSplits, the number in the
    setup does not matter: rounds have as many splits as they are asked for. With Folds, a split is a fold, and a record
    has all folds: those that are not done yet are missing in it.
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
    _states: dict[str, Progress] = field(default_factory=dict)
    _stored: dict[tuple[str, int], Labelings] = field(default_factory=dict)
    _setups: dict[int, Setup] = field(default_factory=dict)
    _about: dict[str, Any] = field(default_factory=dict)

    def grow(self, names: list[str], splits: int | None = None, label: str = "", in_turn: bool = False) -> bool:
        """Fit the learners of these names on the first `splits` splits, as far as this is not done.

        One sample of every learner after the other, so that all get equally far, or `in_turn`. Return whether all of
        it is done. If Ctrl-C or a deadline ends it, a learner keeps the splits of the last round; in its first round,
        and of folds, those that are complete.
        """
        splits, halves = splits or len(self.setup.samples), isinstance(self.setup.scheme, HalfSplits)
        names = [name for name in names if name not in self.failed and self.splits.get(name, 0) < splits]
        recorder = self._recorder(splits, names)
        recorder.label, recorder.in_turn = label, in_turn
        recorder.first = None if halves or splits == len(self.setup.samples) else splits
        groups = []
        for name in names:
            group = FitGroup.alone(name, self.learners[name])
            stored = recorder.stored(group).get(name)
            if isinstance(stored, Labelings):
                self.splits[name] = len(stored.labels) // (2 if halves else 1)
                self._stored[name, self.splits[name]] = stored
            else:
                groups.append(group)
        if not groups:
            return True
        missing = [name for group in groups for name in group.points]
        nothing = [Progress(group, recorder.setup, 0) for group in groups]
        earlier = [self._states.get(name, none) for name, none in zip(missing, nothing)]
        for name, state in zip(missing, recorder.run(groups, earlier)):
            self._states[name] = state
            if not recorder.interrupted:
                self.splits[name] = splits
            elif not halves or name not in self.splits:
                complete = [*map(state.whole, range(len(state.setup.samples))), False].index(False)
                self.splits[name] = complete // (2 if halves else 1)
            if state.hopeless() or not (recorder.interrupted or recorder.first):
                self._finish(name, recorder)
        self.interrupted |= recorder.interrupted
        return not recorder.interrupted

    def record(self, name: str) -> Labelings:
        """The record of a learner, as `classay.record` gives it. Raises InputError if it has no predictions at all."""
        splits = self.splits[name]
        if (name, splits) in self._stored:
            return self._stored[name, splits]
        recorder, state = self._recorder(splits, [name]), self._states[name]
        made = recorder.record(replace(state, setup=recorder.setup.of(state.group.learner, state.group.free)))
        if isinstance(made, str):
            raise InputError(f"{name} failed in every refit: {made}")
        assert isinstance(made, Labelings)  # regressors were refused
        return made

    def _finish(self, name: str, recorder: Recorder) -> None:
        """Keep what is done, also in the store, unless a broken cluster left something undone."""
        made = recorder.record(self._states[name])
        if isinstance(made, str):
            why = made or "it gave no predictions"
            self.failed[name] = f"{name} failed in every refit: {why}{checks.advice(self.setup.X, why)}"
        elif recorder.store is not None and not recorder.lost:
            recorder.keep({name: made})
            Recorder(recorder.setup, recorder.abouts, recorder.store).discard([self._states[name].group])

    def _recorder(self, splits: int, names: list[str]) -> Recorder:
        setup = self._setup(splits)
        self._about = self._about or provenance.of_rows(setup)  # fingerprints of the data, the same for all
        abouts = {name: {**self._about, **provenance.of_learner(setup, self.learners[name], name)} for name in names}
        store = None if self.store is None else Store(self.store)
        return Recorder(setup, abouts, store, self.executor, self.progress, isolate=self.isolate)

    def _setup(self, splits: int) -> Setup:
        """The setup with so many splits. Samples that were drawn before stay the same objects, which records hold."""
        scheme = self.setup.scheme
        if not isinstance(scheme, HalfSplits):
            return self.setup
        if splits not in self._setups:
            setup = self.setup.drawn(replace(scheme, m=max(splits, 1)))
            known = max((other.samples for other in self._setups.values()), key=len, default=())
            samples = (*known, *setup.samples[len(known) :])[: len(setup.samples)]
            self._setups[splits] = replace(setup, samples=samples)
        return self._setups[splits]
