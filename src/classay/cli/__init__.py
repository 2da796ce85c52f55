"""The `classay` command, one module per command in `commands/`.

Read `app` first: the commands, and how errors become messages and exit codes. `runner` shows, saves and draws what a
command returns; `options` has groups of options that commands share, `inputs` what they read, and `console` is where
output goes. All that people read of commands and options is in `help.toml`.

To add a command: write `commands/NAME.py` as `commands/__init__.py` describes, add its words to `help.toml`, and test
it in `tests/cli/commands/test_NAME_command.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code: 0 done, 1 a gate failed, 2 wrong input, 3 partly done.

    Others: 70 a bug of ours, 74 no memory or disk space, 130 Ctrl-C, 143 terminated.
    """
    from .app import run

    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
