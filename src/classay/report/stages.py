"""The stages of an assay: which one is on, said on stderr, and how long each took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stages:
    """Counts seconds by stage, and says each as it begins if wanted."""

    def __init__(self, total: int, wanted: bool) -> None:
        self.total, self.number, self.wanted = total, 0, wanted
        self.seconds: dict[str, float] = {}
        self.begin = time.monotonic()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """One stage. What it took is kept, also if it ends early."""
        self.number += 1
        self.say(f"[{self.number}/{self.total}] {name}")
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begin

    def say(self, text: str) -> None:
        """A line on stderr, if wanted."""
        if self.wanted:
            print(text, file=sys.stderr, flush=True)

    @property
    def passed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.begin
