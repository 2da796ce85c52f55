"""The `classay` command: one file per command."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code: 0 done, 1 a gate failed, 2 wrong input, 3 partly done."""
    from .app import run

    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
