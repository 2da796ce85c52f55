"""Planted problems of a data set: how often each is found, and how often a clean table gives a warning.

Worlds are in tests/helpers/suspect_worlds.py: eight kinds of clean tables (each with a test part or groups, so that
every check is made), three that look suspicious and are not, and nine with one planted problem. Each cell is the
share of seeds with a warning of that code. Seeds begin at `--first`: thresholds were chosen on seeds below 1000.

`--rivals` runs the same worlds through other packages that are installed: see `rival_checks.py`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))

import numpy as np
from suspect_worlds import CLEAN, PLANTED, SORTED

CODES = ("D205", "D206", "D207", "D208")


def warned(world: dict[str, Any], seed: int) -> set[str]:
    """Codes of the checks of the data that warn, by the rules of the findings."""
    import classay

    X, y, groups = world["X"], world["y"], world.get("groups")
    codes = set()
    if classay.leaks(X, y, groups=groups, random_state=seed).found:
        codes.add("D205")
    if classay.dependence(X, y, groups=groups, random_state=seed).found:
        codes.add("D206")
    if "X_test" in world:
        parts = classay.shift(X, world["X_test"], random_state=seed)
        codes |= {code for code, found in (("D207", parts.contaminated), ("D208", parts.unlike)) if found}
    return codes


def rivals() -> dict[str, Callable[[dict[str, Any], int], set[str]]]:
    """What other packages say of the same tables, in our codes, where they are installed."""
    from rival_checks import RIVALS

    return RIVALS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="seeds for each planted world")
    parser.add_argument("--clean", type=int, default=60, help="seeds for each clean world")
    parser.add_argument("--first", type=int, default=1000, help="first seed")
    parser.add_argument("--only", choices=("clean", "planted"), help="one kind of worlds")
    parser.add_argument("--quick", action="store_true", help="one seed each")
    parser.add_argument("--rivals", nargs="*", metavar="NAME", help="other packages instead: all, or these")
    arguments = parser.parse_args()
    seeds, clean = (1, 1) if arguments.quick else (arguments.seeds, arguments.clean)
    checks = {"classay": warned}
    if arguments.rivals is not None:
        checks = {name: check for name, check in rivals().items() if name in arguments.rivals or not arguments.rivals}
    for name, check in checks.items():
        pages = runs = 0
        begin = time.perf_counter()
        print(f"## {name}\n\n| world | seeds | {' | '.join(CODES)} | any |\n| --- | --- | {'--- | ' * 5}")
        for title, make in (CLEAN | SORTED if arguments.only != "planted" else {}).items():
            counts = tally(check, make, arguments.first, clean)
            if title in CLEAN:
                pages, runs = pages + counts["any"], runs + clean
            print(row(title, clean, counts), flush=True)
        for title, (code, make) in (PLANTED if arguments.only != "clean" else {}).items():
            print(row(f"{title} ({code})", seeds, tally(check, make, arguments.first, seeds)), flush=True)
        seconds = time.perf_counter() - begin
        print(f"\nClean tables with any warning: {pages} of {runs}; {seconds:.0f} s.\n", flush=True)


def tally(check: Callable[[dict[str, Any], int], set[str]], make: Any, first: int, seeds: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for seed in range(first, first + seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = check(make(seed), seed)
        counts.update(found | ({"any"} if found else set()))
    return counts


def row(title: str, seeds: int, counts: Counter[str]) -> str:
    cells = [f"{100 * counts[code] / seeds:.0f} %" if counts[code] else "·" for code in (*CODES, "any")]
    return f"| {title} | {seeds} | {' | '.join(cells)} |"


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
