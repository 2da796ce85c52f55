"""Print the lowest declared version of every dependency, as pinned requirements. `make audit` checks them.

They are what a user may have installed; the newest versions are those of the environment.
"""

import tomllib
from pathlib import Path


def floors() -> list[str]:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    declared = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    return sorted({each.split(",")[0].replace(">=", "==") for each in declared})


if __name__ == "__main__":
    print(*floors(), sep="\n")
