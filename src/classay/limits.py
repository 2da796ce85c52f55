"""Limits of what is read and computed, so that a slip of a digit or a hostile file is refused and nothing hangs.

Each has a name, and an environment variable raises it: CLASSAY_LIMITS="subsets=1000000,holdouts=5000000".
"""

from __future__ import annotations

import os
from functools import cache

VARIABLE = "CLASSAY_LIMITS"
LIMITS = {
    # Numbers that are asked for
    "subsets": 100_000,
    "repeats": 10_000,
    "holdouts": 1_000_000,
    "probes": 10_000_000,
    "attributes": 10_000,
    "draws": 1_000_000,
    "fits": 10_000_000,
    "training_rows": 100_000_000,
    "workers": 10_000,
    "walks": 100_000,
    "score_bytes": 2**30,
    # Files
    "file_bytes": 2**36,
    "rows": 100_000_000,
    "columns": 100_000,
    "cell_characters": 1_000_000,
    "label_characters": 1_000,
    "array_bytes": 2**36,
    "graph_nodes": 1_000_000,
}
"""Name -> the largest value that is accepted."""
OF_MEMORY = {"array_bytes"}
"""Limits that are never above the memory of this machine, unless the environment raises them."""
OF_PARAMETERS = {
    "Subsets(n)": "subsets",
    "HalfSplits(m)": "subsets",
    "Retrain(n)": "subsets",
    "splits": "subsets",
    "repeats": "repeats",
    "holdouts": "holdouts",
    "n_probes": "probes",
    "attributes": "attributes",
    "draws": "draws",
    "budget": "fits",
    "n_samples": "training_rows",
    "executor": "workers",
    "starts": "walks",
    "origins": "walks",
    "max_steps": "fits",
}
"""Parameter, as messages name it -> the limit that holds for it."""


def limit_of(name: str) -> int:
    """The limit of this name, as raised or lowered by the environment.

    >>> limit_of("subsets")
    100000
    """
    usual = min(LIMITS[name], _memory()) if name in OF_MEMORY else LIMITS[name]
    return _raised(os.environ.get(VARIABLE, "")).get(name, usual)


def advice(name: str) -> str:
    """How to raise a limit.

    >>> advice("rows")
    'If you need more, set the environment variable CLASSAY_LIMITS=rows=NUMBER.'
    """
    return f"If you need more, set the environment variable {VARIABLE}={name}=NUMBER."


@cache
def _memory() -> int:
    """Bytes of memory of this machine; where that is unknown, more than any."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63


@cache
def _raised(text: str) -> dict[str, int]:
    """The limits in the variable. What is not a known name and a whole number is an error: it would limit nothing."""
    raised = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        if name.strip() not in LIMITS or not number.strip().isdecimal() or len(number) > 18:
            raise ValueError(
                f"{VARIABLE} has {part[:80]!r}; expected NAME=NUMBER, separated by commas, with names from "
                f"{', '.join(LIMITS)}."
            )
        raised[name.strip()] = int(number)
    return raised
