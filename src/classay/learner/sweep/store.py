"""`SweepFits`: the fits of a sweep, and what a store lists of it: values that failed, and warnings of shared fits."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...engine.store import UNFINISHED, Store, unfinished_work
from ...estimators.adapters import short_name
from ...expect import InputError, counted
from ...notes import Note, notes_from_json, notes_to_json
from ...result import plain
from ..fitting import provenance
from ..fitting.checkpoints import FORMAT
from ..fitting.checks import Setup
from ..fitting.groups import FitGroup, Grid
from ..fitting.runner import Recorder, most_common
from ..records.labelings import Labelings

KIND = "sweep"


@dataclass
class SweepFits:
    """The fits of all values of a grid. `run` gives `records` and `failed`, by value; `finish` stores them.

    A value that was fitted alone, or along an exact path, has the key that `record` gives it: each finds the other's
    results. One from a path that is exact only in distribution depends on the other values, and its key includes them.
    """

    setup: Setup
    grid: Grid
    groups: list[FitGroup]
    name: str | None
    store: Store | None
    executor: Executor | int | None
    progress: bool
    records: dict[Any, Labelings] = field(default_factory=dict)
    failed: dict[Any, str] = field(default_factory=dict)
    warnings: list[Note] = field(default_factory=list)
    _made: dict[Any, Labelings] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.name or short_name(self.setup.learner)

    @cached_property
    def about(self) -> dict[str, Any]:
        """The provenance of the learner with its own settings."""
        return provenance.about(self.setup, self.setup.learner, self.name)

    @cached_property
    def recorder(self) -> Recorder:
        """What fits, with the provenance of the record at each point."""
        abouts = {point: self._about(group, point) for group in self.groups for point in group.points}
        return Recorder(
            self.setup, abouts, self.store, self.executor, self.progress, self.label, described=self._described
        )

    def run(self) -> bool:
        """Fit what the store does not have; False if that is nothing.

        If some values of a group are missing, all are fitted: their fits are shared. After an interruption, records are
        of the subsets that were done.
        """
        recorder = self.recorder
        points = self.grid.points
        self.failed |= {points[place]: why for place, why in self._listing.get("failed", ())}
        for group in self.groups:
            stored = recorder.stored(group, self.failed)
            self.records |= {point: record for point, record in stored.items() if isinstance(record, Labelings)}
        there = {*self.records, *self.failed}
        left = [group for group in self.groups if not there.issuperset(group.points)]
        states = recorder.run(left)
        if recorder.lost:
            tasks = counted(sum(len(state.lost) for state in states), "task")
            raise InputError(
                f"{tasks} not done: {recorder.lost} With a store, what is done is saved: run the same call again to "
                "continue from there."
            )
        shared = [
            refit
            for state in states
            if not state.hopeless()
            for answers in state.done.values()
            for refit in answers[0].shared
        ]
        known = notes_from_json(self._listing.get("shared", ()))
        self.warnings = list(known) or most_common((text for refit in shared for text in refit), len(shared))
        for state in states:
            for value, point in enumerate(state.group.points):
                made = None if point in there else recorder.record(state, value, whole=True)
                if isinstance(made, str) and made:
                    self.failed[point] = made
                elif isinstance(made, Labelings) and len(made.train_rows) > 1:
                    self._made[point] = made
        self.records |= self._made
        return bool(states)

    def finish(self) -> None:
        """Replace the parts by complete records, and list what the sweep has."""
        if self.store is None or (self._listing and not self._made):
            return
        self.recorder.keep(self._made)
        points = self.grid.points
        header = {
            "about": self.about,
            "parameters": list(self.grid.names),
            "values": plain(points),
            "records": [self.recorder.key(point) for point in points],
            "failed": [[points.index(point), why] for point, why in self.failed.items()],
            "shared": notes_to_json(self.warnings),
        }
        if not self._listing:
            self.store.put(self._key, KIND, header, {})
        self.recorder.discard(self.groups)  # an earlier run may have ended between its last record and this line

    def strangers(self) -> Iterator[str]:
        """Notes on unfinished sweeps of the same learner and parameter that this one cannot continue."""
        mine = {self.recorder.key(point) for point in self.grid.points} if self.store is not None else set()
        for entry in unfinished_work(self.store.folder).unfinished if self.store is not None else ():
            folder, about = entry.path, entry.about
            alike = about.get("parameters") == list(self.grid.names) and (
                about.get("learner", {}).get("class") == self.about["learner"]["class"]
            )
            if alike and folder.name not in self.recorder.parts and not mine.issuperset(about.get("records", ())):
                yield (
                    f"The store has an unfinished sweep of the same learner and parameter, {self._unlike(about)}; it "
                    f"is left as it is ({UNFINISHED}/{folder.name[:12]}…)."
                )

    def _unlike(self, other: dict[str, Any]) -> str:
        if (other.get("drawing"), other.get("chunks")) != (provenance.DRAWING, FORMAT):
            return "made by another version of classay"
        return "on other data" if other.get("data") != self.about["data"] else "with other settings"

    @property
    def _key(self) -> str:
        keys = [self.recorder.key(point) for group in self.groups for point in group.points]
        return Store.key({"sweep": keys, "parameters": list(self.grid.names)})

    @cached_property
    def _listing(self) -> dict[str, Any]:
        """What the store knew of the sweep at the start; nothing if it is not there, or damaged."""
        listing = None if self.store is None else self.store.restore(self._key, KIND, self._checked_listing)
        return listing or {}

    def _checked_listing(self, header: dict[str, Any], _: Any) -> dict[str, Any]:
        points = self.grid.points
        if header["records"] != [self.recorder.key(point) for point in points]:
            raise ValueError("it is the listing of another sweep")
        if not all(0 <= place < len(points) and isinstance(why, str) for place, why in header["failed"]):
            raise ValueError("it lists values that the sweep does not have")
        notes_from_json(header["shared"])
        return header

    def _described(self, group: FitGroup) -> dict[str, Any]:
        """What parts in the store say of the sweep."""
        values = plain(list(group.points))
        return {**self.about, "sweep": self._key, "parameters": list(self.grid.names), "values": values}

    def _about(self, group: FitGroup, point: Any) -> dict[str, Any]:
        learner = self.grid.learner_at(point)
        settings = ", ".join(
            f"{name}={value}" for name, value in zip(self.grid.names, self.grid.settings(point).values())
        )
        name = short_name(learner) if self.name is None else f"{self.name}, {settings}"
        about = {**self.about, "learner": {"name": name, **provenance.parameters(learner)}}
        if group.path is not None:
            about["path"] = {"kind": group.kind, "exact": group.exact}
            if not group.exact:
                about["path"]["values"] = plain(list(group.values))
        return about
