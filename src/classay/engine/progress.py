"""Progress on stderr: a bar on a terminal, an occasional plain line elsewhere."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any

APPEARS_AFTER = 2.0  # seconds; a shorter job needs no bar
LINE_EVERY = 10.0


class Progress:
    """Counts finished tasks. It writes nothing if not wanted, nor for jobs of less than two seconds."""

    def __init__(self, total: int, label: str = "", wanted: bool = True) -> None:
        self.total, self.done, self.label, self.wanted = total, 0, label or "working", wanted
        self.begin = self.last_line = time.monotonic()
        self.bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self) -> None:
        """One more task is finished."""
        self.done += 1
        self.tick()

    def tick(self) -> None:
        """Show the elapsed time; call it a few times per second."""
        now = time.monotonic()
        if not self.wanted or now - self.begin < APPEARS_AFTER:
            return
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._draw(now)
        elif now - self.last_line >= LINE_EVERY:
            self.last_line = now
            print(f"{self.label}: {self.done} of {self.total}, {self._times(now)}", file=sys.stderr, flush=True)

    def _draw(self, now: float) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
            from rich.progress import Progress as RichProgress

            self.bar = RichProgress(
                TextColumn("{task.description}", markup=False),  # a learner may have brackets in its name
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[times]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self.row = self.bar.add_task(self.label, total=self.total, times="")
            self.bar.start()
        self.bar.update(self.row, total=self.total, completed=self.done, times=self._times(now))

    def _times(self, now: float) -> str:
        passed = now - self.begin
        if not self.done:
            return duration(passed)
        left = passed / self.done * (self.total - self.done)
        return f"{duration(passed)}, about {duration(left)} left"


def duration(seconds: float) -> str:
    """Seconds for reading: 7 s, 3 min 5 s, 2 h 10 min.

    >>> duration(7), duration(185), duration(7800)
    ('7 s', '3 min 5 s', '2 h 10 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
