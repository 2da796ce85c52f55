"""The stages of an assay: the current one, printed on stderr, and how long each took."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..printable import printable


class Stages:
    """Measures seconds by stage, and prints each stage as it begins if wanted."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, remark: str = "") -> Iterator[None]:
        """One stage. Its time is recorded, also if it ends early."""
        self.say(f"{name}{': ' if remark else ''}{remark}")
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - begin

    def say(self, text: str) -> None:
        """Print a line on stderr, if wanted."""
        if self.wanted:
            print(printable(text), file=sys.stderr, flush=True)
