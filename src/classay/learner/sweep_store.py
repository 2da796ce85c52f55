"""What of a sweep is in a store already, where the rest goes, and what takes its place when all is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..engine.chunks import UNFINISHED, Chunks, read_headers
from ..engine.store import Store
from ..learners import short_name
from ..result import plain
from . import describe
from .answer_chunks import FORMAT, open_chunks
from .labelings import Labelings
from .saved import restored
from .sweep_grid import Grid
from .sweep_strands import Strand

KIND = "sweep"


@dataclass
class Shelf:
    """The places of a sweep in a store, by content; without a store, nothing is kept.

    A value that was fitted alone, or along an exact path, has the address that `record` gives it: each finds what the
    other made. One from a path that is exact in distribution only depends on the other values, and says so.
    """

    store: Store | None
    grid: Grid
    about: dict[str, Any]
    time_limit: float | None
    name: str | None
    strands: list[Strand]
    opened: list[Chunks] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._abouts = {point: self._about(strand, point) for strand in self.strands for point in strand.points}
        self.keys = {} if self.store is None else {point: self._key(about) for point, about in self._abouts.items()}

    def about_of(self, point: Any) -> dict[str, Any]:
        """The provenance of the record at a point."""
        return self._abouts[point]

    def records(self) -> dict[Any, Labelings]:
        """The records that are there. Of a path that is not exact, all or none: they belong together."""
        found: dict[Any, Labelings] = {}
        if self.store is None:
            return found
        refused = self.failed()
        for strand in self.strands:
            here = {point: self.store.get(self.keys[point]) for point in strand.points}
            if strand.exact or all(stored is not None or point in refused for point, stored in here.items()):
                for point, stored in here.items():
                    record = None if stored is None else restored(*stored)
                    if isinstance(record, Labelings):
                        found[point] = replace(record, about=self._abouts[point])
        return found

    def failed(self) -> dict[Any, str]:
        """Values that could not be fitted when the same sweep was done before, and why."""
        points = self.grid.points
        return {points[place]: why for place, why in self._listing.get("failed", ())}

    def said(self) -> list[str]:
        """What fits that values share warned when the same sweep was done before."""
        return list(self._listing.get("said", ()))

    @cached_property
    def _listing(self) -> dict[str, Any]:
        """What the store knew of the sweep at the beginning; nothing if it is not there, or damaged."""
        stored = None if self.store is None else self.store.get(self._sweep_key(), KIND)
        return {} if stored is None else stored[0]

    def left(self, there: set[Any]) -> list[Strand]:
        """What of the strands is to be fitted. Where a path is not exact, its values belong together.

        So do those of which parts are kept, though some have records by now: an earlier run may have ended while it
        put records in the place of its parts.
        """
        begun = [] if self.store is None else [header.get("about", {}) for _, header in read_headers(self.store)]
        left = []
        for strand in self.strands:
            places = [place for place, point in enumerate(strand.points) if point not in there]
            if strand.exact and 0 < len(places) < len(strand.points):
                records = [about.get("records", []) for about in begun if about.get("path") == strand.kind]
                left.append(strand.only(self._with_others(strand, places, records)))
            elif places:
                left.append(strand)
        if left and self.store is not None:
            self.store.expect_writable()
        return left

    def _with_others(self, strand: Strand, places: list[int], begun: list[list[str]]) -> list[int]:
        """Places in a strand with those that were begun together with them, the most that were."""
        keys = [self.keys[point] for point in strand.points]
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
        """Whether the store, if there is one, knows the sweep as done."""
        return self.store is None or bool(self._listing)

    def chunks(self, strand: Strand) -> tuple[Chunks | None, dict[str, Any]]:
        """Where the parts of a strand go, and what they say of it."""
        if self.store is None:
            return None, {}
        chunks, told = open_chunks(
            self.store,
            [self.keys[point] for point in strand.points],
            strand.kind,
            self.about,
            sweep=self._sweep_key(),
            parameters=list(self.grid.names),
            values=plain(list(strand.points)),
        )
        self.opened.append(chunks)
        return chunks, told

    def finish(self, records: dict[Any, Labelings], failed: dict[Any, str], said: list[str]) -> None:
        """Put whole records, and what the sweep is made of, in the place of its parts."""
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
            "said": said,
        }
        if not self._listing:
            self.store.put(self._sweep_key(), KIND, header, {})
        for strand in self.strands:
            self.chunks(strand)  # an earlier run may have ended between its last record and this line
        self.discard()

    def discard(self) -> None:
        """Remove the parts."""
        for chunks in self.opened:
            chunks.remove()

    def strangers(self) -> Iterator[str]:
        """What to say of unfinished sweeps of the same learner and parameter from which this one cannot go on."""
        own, mine = {chunks.folder.name for chunks in self.opened}, set(self.keys.values())
        for folder, header in read_headers(self.store) if self.store is not None else ():
            about = header.get("about", {})
            alike = about.get("parameters") == list(self.grid.names) and (
                about.get("learner", {}).get("class") == self.about["learner"]["class"]
            )
            if alike and folder.name not in own and not mine.issuperset(about.get("records", ())):
                yield (
                    f"The store has an unfinished sweep of the same learner and parameter, {self._unlike(about)}; it "
                    f"is left as it is ({UNFINISHED}/{folder.name[:12]}…)."
                )

    def _unlike(self, other: dict[str, Any]) -> str:
        if (other.get("drawing"), other.get("chunks")) != (describe.DRAWING, FORMAT):
            return "made by another version of classay"
        if other.get("data") != self.about["data"]:
            return "on other data"
        return "with other settings"

    def _about(self, strand: Strand, point: Any) -> dict[str, Any]:
        learner = self.grid.learner_at(point)
        told = ", ".join(f"{name}={value}" for name, value in zip(self.grid.names, self.grid.settings(point).values()))
        name = short_name(learner) if self.name is None else f"{self.name}, {told}"
        about = {**self.about, "learner": {"name": name, **describe.parameters(learner)}}
        if strand.path is not None:
            about["path"] = {"kind": strand.kind, "exact": strand.exact}
            if not strand.exact:
                about["path"]["values"] = plain(list(strand.values))
        return about

    def _key(self, about: dict[str, Any]) -> str:
        exact = about.get("path", {"exact": True})["exact"]
        deciding = {name: part for name, part in about.items() if name != "path" or not exact}
        return Store.key(describe.address(deciding, self.time_limit))

    def _sweep_key(self) -> str:
        return Store.key({"sweep": list(self.keys.values()), "parameters": list(self.grid.names)})
