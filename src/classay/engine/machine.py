"""What the last digits of figures depend on besides the seed: the processor, its instructions, BLAS and versions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

PACKAGES = ("classay", "numpy", "scipy", "scikit-learn", "pandas")
COMPARED = {"machine": ("instructions", "blas"), "versions": ("numpy", "scipy")}
"""Part of a record's header -> what makes last digits differ. The learner's version is part of a record's address."""


def versions() -> dict[str, str]:
    """The versions of the packages that make a record."""

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "unknown"

    return {"python": platform.python_version(), **{name: installed(name) for name in PACKAGES}}


@cache
def _machine() -> dict[str, str]:
    from threadpoolctl import threadpool_info

    # SciPy may bring a second BLAS; NumPy's is always there.
    libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
    libraries.sort(key=lambda each: "numpy" not in str(each["filepath"]))
    blas = (
        [str(libraries[0].get(part) or "") for part in ("internal_api", "version", "architecture")] if libraries else []
    )
    found = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": _processor(),
        "instructions": str(found[-1]) if found else "baseline",
        "blas": " ".join(filter(None, blas)) or "unknown",
    }


def machine() -> dict[str, str]:
    """The system, the processor, the widest instructions that NumPy uses, and BLAS with its kernel.

    >>> list(machine())
    ['system', 'cpu', 'instructions', 'blas']
    """
    return dict(_machine())


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            names = (line.partition(":")[2].strip() for line in file if line.startswith("model name"))
            return next(names, "") or platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def differences(header: Mapping[str, Any]) -> Iterator[str]:
    """What differs between here and where a record was made, if it can change last digits: "numpy 2.1 (here 2.3)"."""
    for part, here in (("machine", machine()), ("versions", versions())):
        there = header.get(part, {})
        for name in COMPARED[part]:
            if name in there and there[name] != here[name]:
                yield f"{name} {there[name]!s:.80} (here {here[name]})"
