"""Run a command again and again, each time killed at a random moment, then once to its end. `test_kills` starts it.

Arguments: the number of kills, the seed, the folder to work in, and the command. It prints what it saw as JSON. It is a
process of its own, in which classay is imported once: each run is a fork of it.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from classay.cli.app import load, run
from classay.engine import archive

STORE = Path("store")
PATIENCE = 300


def started(words, output):
    """The id of a process that runs the command."""
    child = os.fork()
    if child:
        return child
    try:
        os.dup2(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        code = run(words)
        sys.stdout.flush()
        os._exit(code)
    finally:
        os._exit(99)


def ended(child, seconds):
    """The exit code of a process, or None if it still runs after so many seconds and was killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def unreadable():
    """Files that have their final name and are not complete."""
    found = []
    for path in sorted(STORE.rglob("*.classay")):
        if not path.name.startswith("."):
            try:
                archive.read(path)
            except archive.RecordError as error:
                found.append(f"{path}: {error}")
    for path in sorted(Path().glob("page.*")):
        content = path.read_text(encoding="utf-8")
        if not content.rstrip().endswith(("</html>", "}")):
            found.append(f"{path}: cut after {len(content)} characters")
    return found


def main():
    kills, seed, folder, *words = sys.argv[1:]
    os.chdir(folder)
    load(words[0])
    moments = random.Random(int(seed))
    begin = time.monotonic()
    seen = {"whole": ended(started(words, "whole.json"), PATIENCE), "killed": 0, "finished": 0, "unreadable": []}
    seconds = time.monotonic() - begin
    shutil.rmtree(STORE, ignore_errors=True)
    for _ in range(int(kills)):
        code = ended(started(words, "cut.json"), moments.random() * seconds)
        seen["unreadable"] += unreadable()
        seen["killed" if code is None else "finished"] += 1
        if code is not None:
            shutil.rmtree(STORE, ignore_errors=True)  # the next one is killed earlier
    seen["last"] = ended(started(words, "last.json"), PATIENCE)
    seen["unreadable"] += unreadable()
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
