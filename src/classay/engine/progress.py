"""Progress on stderr: a bar on a terminal, a line that is rewritten in a notebook, an occasional line elsewhere."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any

from ..printable import printable

APPEARS_AFTER = 2.0  # seconds; a shorter job needs no bar
LINE_EVERY = 10.0
REWRITTEN_EVERY = 0.5
"""Seconds between two states of a notebook's line: each one is sent to the browser."""
WIDTH = 30


class Progress:
    """Counts finished tasks. It writes nothing if not wanted, nor for jobs of less than two seconds."""

    def __init__(self, total: int, label: str = "", wanted: bool = True) -> None:
        self.total, self.done, self.label, self.wanted = total, 0, printable(label or "working"), wanted
        self.begin = self.last_line = time.monotonic()
        self.bar: Any = None
        self.written = 0  # characters of the notebook's line

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
        if self.written:
            self._rewrite("")

    def advance(self) -> None:
        """One more task is finished."""
        self.done += 1
        self.tick()

    def tick(self) -> None:
        """Show the elapsed time; call it a few times per second."""
        now = time.monotonic()
        if not self.wanted or now - self.begin < APPEARS_AFTER:
            return
        if in_notebook():
            if now - self.last_line >= REWRITTEN_EVERY or self.done == self.total:
                self.last_line = now
                done = round(WIDTH * self.done / max(self.total, 1))
                bar = "━" * done + "─" * (WIDTH - done)
                self._rewrite(f"{one_line(self.label)} {bar} {self.done}/{self.total}, {self._times(now)}")
        elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
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

    def _rewrite(self, text: str) -> None:
        """Replace the line. Notebooks know the carriage return, but no codes to clear a line, so spaces do it."""
        sys.stderr.write(f"\r{text.ljust(self.written)}" + ("" if text else "\r"))
        sys.stderr.flush()
        self.written = len(text)

    def _times(self, now: float) -> str:
        passed = now - self.begin
        if not self.done:
            return duration(passed)
        left = passed / self.done * (self.total - self.done)
        return f"{duration(passed)}, about {duration(left)} left"


def in_notebook() -> bool:
    """Whether stderr is shown under a notebook's cell. Widgets, as rich and tqdm use them, need another package."""
    return type(sys.stderr).__module__.partition(".")[0] in ("ipykernel", "xpython")


def one_line(label: str, longest: int = 40) -> str:
    """A label without line breaks, shortened."""
    text = " ".join(label.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


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
