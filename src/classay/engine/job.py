"""One run of tasks: what is asked, what is wanted still, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .progress import Progress
from .shared import Answer, Failure, Function


@dataclass
class Outcome:
    """What came of the tasks, by their index. One in neither dict was not wanted, or not finished before the end."""

    results: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, Failure] = field(default_factory=dict)
    interrupted: bool = False  # by Ctrl-C
    stopped: bool = False  # by `on_result`
    broken: str = ""  # why an executor of yours gave up, if it did


class Enough(Exception):
    """`on_result` has seen enough."""


@dataclass
class Job:
    """The tasks of a run, and where their answers go."""

    function: Function
    tasks: list[Any]
    shared: Any
    on_result: Callable[[int, Any], object] | None
    wanted: Callable[[int], bool] | None
    bar: Progress
    outcome: Outcome

    def any_of(self, waiting: deque[int]) -> bool:
        """Whether anything is waiting, once tasks at its head that are no longer wanted are let go."""
        while waiting and self.wanted is not None and not self.wanted(waiting[0]):
            waiting.popleft()
            self.bar.total -= 1
        return bool(waiting)

    def take(self, index: int, answer: Answer) -> None:
        """Keep what a task gave."""
        done, content = answer
        (self.outcome.results if done else self.outcome.failures)[index] = content
        self.bar.advance()
        if done and self.on_result is not None and self.on_result(index, content):
            raise Enough

    def fail(self, indices: Iterable[int], failure: Failure) -> None:
        """Keep that tasks failed."""
        for index in indices:
            self.take(index, (False, failure))
