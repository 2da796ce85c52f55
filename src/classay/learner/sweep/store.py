"""What of a sweep is already in a store, where the rest goes, and what replaces it when all is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ...engine.store import UNFINISHED, Chunks, Store, unfinished_work
from ...estimators.adapters import short_name
from ...notes import Note, notes_from_json, notes_to_json
from ...result import plain
from ..fitting import provenance
from ..fitting.checkpoints import FORMAT, open_chunks, record_key, stored_record
from ..fitting.checks import Setup
from ..fitting.groups import FitGroup, Grid
from ..records.labelings import Labelings

KIND = "sweep"


@dataclass
class SweepStore:
    """The places of a sweep in a store, by content; without a store, nothing is saved.

    A value that was fitted alone, or along an exact path, has the address that `record` gives it: each finds the
    other's results. One from a path that is exact only in distribution depends on the other values, and its address
    includes them.
    """

    store: Store | None
    grid: Grid
    about: dict[str, Any]
    name: str | None
    groups: list[FitGroup]
    setup: Setup
    opened: list[Chunks] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._abouts = {point: self._about(group, point) for group in self.groups for point in group.points}
        self.keys = (
            {}
            if self.store is None
            else {point: record_key(about, self.setup.time_limit) for point, about in self._abouts.items()}
        )

    def about_of(self, point: Any) -> dict[str, Any]:
        """The provenance of the record at a point."""
        return self._abouts[point]

    def records(self) -> dict[Any, Labelings]:
        """The records that are there. For a path that is not exact, all or none: they belong together."""
        records: dict[Any, Labelings] = {}
        if self.store is None:
            return records
        refused = self.failed()
        for group in self.groups:
            here = {point: stored_record(self.store, self.keys[point], self.setup) for point in group.points}
            if group.exact or all(stored is not None or point in refused for point, stored in here.items()):
                for point, record in here.items():
                    if isinstance(record, Labelings):
                        records[point] = replace(record, about=self._abouts[point])
        return records

    def failed(self) -> dict[Any, str]:
        """Values that could not be fitted when the same sweep was done before, and why."""
        points = self.grid.points
        return {points[place]: why for place, why in self._listing.get("failed", ())}

    def warnings(self) -> list[Note]:
        """Warnings of fits that values share, from an earlier run of the same sweep."""
        return list(notes_from_json(self._listing.get("said", ())))

    @cached_property
    def _listing(self) -> dict[str, Any]:
        """What the store knew of the sweep at the start; nothing if it is not there, or damaged."""
        listing = None if self.store is None else self.store.restore(self._sweep_key(), KIND, self._checked_listing)
        return listing or {}

    def _checked_listing(self, header: dict[str, Any], _: Any) -> dict[str, Any]:
        """The listing, if it is that of this sweep."""
        points = self.grid.points
        if header["records"] != [self.keys[point] for point in points]:
            raise ValueError("it is the listing of another sweep")
        if not all(0 <= place < len(points) and isinstance(why, str) for place, why in header["failed"]):
            raise ValueError("it lists values that the sweep does not have")
        notes_from_json(header["said"])
        return header

    def left(self, there: set[Any]) -> list[FitGroup]:
        """The groups that remain to be fitted. If a path is not exact, its values belong together.

        So do those of which parts are stored, though some have records by now: an earlier run may have ended while it
        was replacing its parts by records.
        """
        unfinished = [] if self.store is None else unfinished_work(self.store.folder).unfinished
        begun = [entry.about for entry in unfinished]
        left = []
        for group in self.groups:
            places = [place for place, point in enumerate(group.points) if point not in there]
            if group.exact and 0 < len(places) < len(group.points):
                records = [about.get("records", []) for about in begun if about.get("path") == group.kind]
                left.append(group.only(self._with_others(group, places, records)))
            elif places:
                left.append(group)
        if left and self.store is not None:
            self.store.expect_writable()
        return left

    def _with_others(self, group: FitGroup, places: list[int], begun: list[list[str]]) -> list[int]:
        """Places in a group with those that were started together with them: the largest such set."""
        keys = [self.keys[point] for point in group.points]
        wanted = {keys[place] for place in places}
        able = [
            records
            for records in begun
            if wanted.issubset(records) and [key for key in keys if key in records] == records
        ]
        together = max(map(set, able), key=len, default=wanted)
        return [place for place, key in enumerate(keys) if key in together]

    @property
    def listed(self) -> bool:
        """Whether the store, if there is one, lists the sweep as done."""
        return self.store is None or bool(self._listing)

    def chunks(self, group: FitGroup) -> tuple[Chunks | None, dict[str, Any]]:
        """Where the parts of a group are stored, and its description."""
        if self.store is None:
            return None, {}
        chunks, description = open_chunks(
            self.store,
            [self.keys[point] for point in group.points],
            group.kind,
            self.about,
            sweep=self._sweep_key(),
            parameters=list(self.grid.names),
            values=plain(list(group.points)),
        )
        self.opened.append(chunks)
        return chunks, description

    def finish(self, records: dict[Any, Labelings], failed: dict[Any, str], warnings: list[Note]) -> None:
        """Replace the parts by complete records and by the contents of the sweep."""
        if self.store is None:
            return
        for point, record in records.items():
            self.store.put(self.keys[point], record.KIND, *record.to_file())
        points = self.grid.points
        header = {
            "about": self.about,
            "parameters": list(self.grid.names),
            "values": plain(points),
            "records": [self.keys[point] for point in points],
            "failed": [[points.index(point), why] for point, why in failed.items()],
            "said": notes_to_json(warnings),
        }
        if not self._listing:
            self.store.put(self._sweep_key(), KIND, header, {})
        for group in self.groups:
            self.chunks(group)  # an earlier run may have ended between its last record and this line
        self.discard()

    def discard(self) -> None:
        """Remove the parts."""
        for chunks in self.opened:
            chunks.remove()

    def strangers(self) -> Iterator[str]:
        """Notes on unfinished sweeps of the same learner and parameter that this one cannot continue."""
        own, mine = {chunks.folder.name for chunks in self.opened}, set(self.keys.values())
        for entry in unfinished_work(self.store.folder).unfinished if self.store is not None else ():
            folder, about = entry.path, entry.about
            alike = about.get("parameters") == list(self.grid.names) and (
                about.get("learner", {}).get("class") == self.about["learner"]["class"]
            )
            if alike and folder.name not in own and not mine.issuperset(about.get("records", ())):
                yield (
                    f"The store has an unfinished sweep of the same learner and parameter, {self._unlike(about)}; it "
                    f"is left as it is ({UNFINISHED}/{folder.name[:12]}…)."
                )

    def _unlike(self, other: dict[str, Any]) -> str:
        if (other.get("drawing"), other.get("chunks")) != (provenance.DRAWING, FORMAT):
            return "made by another version of classay"
        if other.get("data") != self.about["data"]:
            return "on other data"
        return "with other settings"

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

    def _sweep_key(self) -> str:
        return Store.key({"sweep": list(self.keys.values()), "parameters": list(self.grid.names)})
