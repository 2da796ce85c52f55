"""How much of the house one question leads through: files, lines, and files opened to follow six questions.

A file counts as opened by a question when at least one Python function written in it is entered during the call, in
the main process or one of its threads. What runs because a module is imported does not count: module and class bodies,
decorators, and functions that the import statement itself enters. Only `.py` files below src/classay count, `__init__`
and the ground floor (`expect`, `seeds`, ...) among them; the templates of the page do not. Each question is asked once,
in a fresh process, with nothing cached and every fit in the main process (`executor=1`, `--workers 1`):

- record: a tree on iris, 20 subsets, five refits each, no store, no probes;
- orientation: of that record, with the usual settings;
- sweep: a tree along `max_depth` with three values, with an empty store;
- complexity: of iris, with the usual settings;
- extrapolate: a curve of 30 made-up classes to 100 classes, by the usual method;
- report: `classay report iris --splits 10 --repeats 3 --workers 1`, from the command line to the saved page.

At the commit that issue 14 starts from (9826cf1), this rule gives the numbers of the issue: 23, 13, 51, 14 and 13. For
the report it gives 125, one more than the issue's 124: `cli/__init__.py`, in which the command begins.
The modules that `Complexity.plot()` loads are the names in `sys.modules` that begin with `classay`, after a complexity
of iris was computed and drawn in a fresh process; at that commit 211, as in the issue.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

# What issue 14 says of commit 9826cf1, and its goals.
BEFORE = {"record": 23, "orientation": 13, "sweep": 51, "complexity": 14, "extrapolate": 13, "report": 124}
GOAL = {"record": 15, "orientation": 7, "sweep": 28, "complexity": 8, "extrapolate": 8, "report": 70}
PLOT_BEFORE, PLOT_GOAL = 211, 60


def main() -> None:
    here = Path(__file__).resolve().parent.parent / "src"
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example:\n  python benchmarks/house.py --src ../old/src --list",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--src", type=Path, default=here, help="folder that holds classay/. Default: this checkout's")
    parser.add_argument("--list", action="store_true", help="print the files behind each number")
    parser.add_argument("--question", choices=[*BEFORE, "plot"], help=argparse.SUPPRESS)  # the fresh process
    options = parser.parse_args()
    src = options.src.resolve()
    if not (src / "classay" / "__init__.py").is_file():
        parser.error(f"{src} holds no classay/__init__.py; --src expects the folder above the package.")
    if options.question:
        ask(options.question, src)
        return
    lengths = {path: len(path.read_bytes().splitlines()) for path in sorted((src / "classay").rglob("*.py"))}
    largest = max(lengths, key=lambda path: lengths[path])
    print(f"{src}")
    print(
        f"{len(lengths)} files, {sum(lengths.values()):,} lines, median {statistics.median(lengths.values()):.0f}, ",
        end="",
    )
    print(f"largest {lengths[largest]} ({largest.relative_to(src / 'classay')})\n")
    print(f"{'files opened to follow':<34}{'here':>6}{'9826cf1':>9}{'goal':>6}")
    for question in BEFORE:
        opened = in_fresh_process(question, src)
        print(f"{question:<34}{len(opened):>6}{BEFORE[question]:>9}{'≤ ' + str(GOAL[question]):>6}", flush=True)
        show(opened, options.list)
    loaded = in_fresh_process("plot", src)
    print(f"{'modules loaded by Complexity.plot()':<35}{len(loaded):>5}{PLOT_BEFORE:>9}{'≤ ' + str(PLOT_GOAL):>6}")
    show(loaded, options.list)


def show(names: list[str], wanted: bool) -> None:
    for name in names if wanted else ():
        print(f"    {name}")


def in_fresh_process(question: str, src: Path) -> list[str]:
    """What a question opened, or loaded."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [sys.executable, __file__, "--src", src, "--question", question],
            env={**os.environ, "PYTHONPATH": str(src)}, cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if run.returncode:
        sys.exit(f"{question} failed:\n{run.stderr}")
    names: list[str] = json.loads(run.stdout.splitlines()[-1])
    return names


def ask(question: str, src: Path) -> None:
    """In the fresh process: ask, and print as JSON what was opened or loaded."""
    warnings.simplefilter("ignore")
    import numpy as np
    from sklearn.datasets import load_iris
    from sklearn.tree import DecisionTreeClassifier

    import classay

    if not Path(classay.__file__).is_relative_to(src):
        sys.exit(f"classay was imported from {classay.__file__}, not from {src}.")
    X, y = load_iris(return_X_y=True)
    tree, scheme = DecisionTreeClassifier(), classay.Subsets(20, size=0.3)
    opened: list[str] = []
    if question == "record":
        opened = files_opened(lambda: classay.record(tree, X, y, scheme, executor=1), src)
    elif question == "orientation":
        labelings = classay.record(tree, X, y, scheme, executor=1)
        opened = files_opened(lambda: classay.orientation(labelings), src)
    elif question == "sweep":
        opened = files_opened(
            lambda: classay.sweep(tree, X, y, "max_depth", [1, 2, 3], scheme, executor=1, store="runs"), src
        )
    elif question == "complexity":
        opened = files_opened(lambda: classay.complexity(X, y), src)
    elif question == "extrapolate":
        rng = np.random.default_rng(0)
        truth = np.arange(300) % 30
        scores = rng.normal(size=(300, 30))
        scores[np.arange(300), truth] += 1.5
        curve = classay.accuracy_curve(scores, truth)
        opened = files_opened(lambda: classay.extrapolate(curve, 100), src)
    elif question == "report":
        opened = files_opened(report, src)
    else:
        classay.complexity(X, y).plot()
        opened = sorted(name for name in sys.modules if name.partition(".")[0] == "classay")
    print(json.dumps(opened))


def report() -> None:
    """`classay report iris`, as the shell runs it."""
    sys.argv = ["classay", "report", "iris", "--splits", "10", "--repeats", "3", "--workers", "1", "--quiet"]
    try:
        runpy.run_module("classay", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise


def files_opened(call: Callable[[], Any], src: Path) -> list[str]:
    """Files of the package in which a function was entered during the call, imports left out."""
    root = str(src / "classay") + os.sep
    opened: set[str] = set()

    def entered(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_filename in opened or not code.co_filename.startswith(root):
            return
        # Only functions have fast locals: bodies of modules and classes do not.
        if code.co_filename.endswith(".py") and code.co_flags & inspect.CO_OPTIMIZED and not imported(frame):
            opened.add(code.co_filename)

    threading.setprofile(entered)
    sys.setprofile(entered)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(name.removeprefix(root) for name in opened)


def imported(frame: Any) -> bool:
    """Whether an import statement led to this frame."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    main()
