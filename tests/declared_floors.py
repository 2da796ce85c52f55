"""Print the lowest declared version of every dependency, as pinned requirements: `make audit` checks them.

With `core`, only those that are always installed: `make lowest` tests on them. They are what a user may have installed;
the newest versions are those of the environment.
"""

import sys
import tomllib
from pathlib import Path


def floors(extras: bool = True) -> list[str]:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    declared = list(project["dependencies"])
    if extras:
        declared += [each for extra in project["optional-dependencies"].values() for each in extra]
    return sorted({each.split(",")[0].replace(">=", "==") for each in declared})


if __name__ == "__main__":
    print(*floors(extras="core" not in sys.argv[1:]), sep="\n")
