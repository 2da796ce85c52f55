"""A program in a process of its own that hears Ctrl-C."""

import signal
import subprocess
import sys


def started(*arguments, **options):
    """Start Python with its output in pipes, as the first of a group of processes."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that starts jobs in the background lets them ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )
