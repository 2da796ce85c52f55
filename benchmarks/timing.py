"""Timing side by side: ways to do one thing take turns, A B A B, in one run, and their medians are compared."""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pandas as pd


def parser(about: str | None, example: str) -> argparse.ArgumentParser:
    """A parser of arguments that shows an example and knows --quick."""
    made = argparse.ArgumentParser(
        description=about, epilog=f"example:\n  {example}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--quick", action="store_true", help="tiny settings, to see that it runs; the figures mean nothing"
    )
    return made


def machine() -> str:
    """What the figures were measured on."""
    import loky

    def of(name: str) -> str:
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return f"{name} absent"

    packages = ", ".join(of(name) for name in ("classay", "scikit-learn", "numpy", "scipy", "loky"))
    return f"{loky.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, {packages}"


class Turns:
    """Seconds and results of ways that took turns."""

    def __init__(
        self,
        ways: Mapping[str, Callable[[], Any]],
        repeats: int,
        warm: Mapping[str, Callable[[], Any]] = {},
        clock: Callable[[], float] = time.perf_counter,
    ):
        """Run every way `repeats` times, in turn. `warm[way]` is called, untimed, right before each of its runs.

        `clock=time.process_time` counts processor seconds of this process: for one thread on a busy machine.
        """
        self.seconds: dict[str, list[float]] = {name: [] for name in ways}
        self.results: dict[str, list[Any]] = {name: [] for name in ways}
        for _ in range(repeats):
            for name, way in ways.items():
                if name in warm:
                    warm[name]()
                begin = clock()
                result = way()
                self.seconds[name].append(clock() - begin)
                self.results[name].append(result)

    def median(self, name: str) -> float:
        """Median seconds of one way."""
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, other: str) -> float:
        """Median seconds of one way over those of another."""
        return self.median(name) / self.median(other)

    def spread(self, name: str, other: str) -> str:
        """Least and greatest ratio of two runs that followed one another."""
        ratios = [a / b for a, b in zip(self.seconds[name], self.seconds[other])]
        return f"{min(ratios):.2f} to {max(ratios):.2f}"


def show(rows: list[dict[str, Any]] | pd.DataFrame, title: str = "") -> None:
    """Print a plain table."""
    if title:
        print(f"\n{title}")
    print(pd.DataFrame(rows).to_string(index=False, float_format=lambda value: f"{value:.3f}"), flush=True)
