"""How often checks of the data warn where nothing is wrong, and find what was planted. Run with `make long`."""

from __future__ import annotations

import pytest
from suspect_worlds import CLEAN, PLANTED, SORTED

from classay import dependence, leaks, shift

CLEAN_RUNS, RUNS, FIRST = 25, 20, 2000
"""Seeds of each clean and each planted world, and the first: thresholds were chosen on seeds below 1000."""


def warned(world, seed):
    X, y, groups = world["X"], world["y"], world.get("groups")
    found = {"D205": leaks(X, y, groups=groups, random_state=seed).found}
    found["D206"] = dependence(X, y, groups=groups, random_state=seed).found
    if "X_test" in world:
        parts = shift(X, world["X_test"], random_state=seed)
        found |= {"D207": parts.contaminated, "D208": parts.unlike}
    return {code for code, which in found.items() if which}


def test_seldom_warns_where_nothing_is_wrong():
    """At most 1 % of clean tables: the other findings of a page may take the rest of the 5 %."""
    pages = {
        name: sum(bool(warned(make(seed), seed)) for seed in range(FIRST, FIRST + CLEAN_RUNS))
        for name, make in (CLEAN | SORTED).items()
    }
    print(pages)
    assert sum(pages.values()) <= 0.02 * CLEAN_RUNS * len(pages)  # 1 %, with three standard errors


@pytest.mark.parametrize("name", PLANTED)
def test_finds_what_was_planted(name):
    code, make = PLANTED[name]
    hits = sum(code in warned(make(seed), seed) for seed in range(FIRST, FIRST + RUNS))
    print(f"{name}: {hits} of {RUNS}")
    assert hits >= 0.9 * RUNS
