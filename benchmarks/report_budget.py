"""Does `classay report` keep its budget, its learners and its memory? Time, memory and share of fits, by rows and file.

Makes tables of mixed columns (16 numbers with a few gaps, 2 counts, 3 categories, a label), runs the command on them in
a process of its own, and watches the memory of all its processes: as private and shared pages (PSS), so that pages that
workers share count once. Goals: at most 1.2 x the budget; every default learner on the page, also with busy loops
beside it; at most 3 x the table, beyond what the same command needs for a table of 1,000 rows; the same findings again.

    python benchmarks/report_budget.py --rows 10000 100000 --budget 1m
    python benchmarks/report_budget.py --rows 1000000 --budget 2m --formats csv parquet
    python benchmarks/report_budget.py --rows 2000 --budget 30s --busy 8 --times 2
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from classay.report.run.learners import default_learners
from classay.report.run.settings import seconds_of

FITS = ("Trial fits", "Cross-validated predictions", "Refits")
GOAL_TIME, GOAL_MEMORY = 1.2, 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--formats", nargs="+", default=["parquet"], choices=["csv", "parquet"])
    parser.add_argument("--budget", default="1m")
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside it")
    parser.add_argument("--times", type=int, default=1, help="runs of each; findings are compared")
    given = parser.parse_args()
    loops = [subprocess.Popen([sys.executable, "-c", "while 1: pass"]) for _ in range(given.busy)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            _, small = run(written(1000, "parquet", Path(folder)), "20s", Path(folder))
            print(f"memory of the processes themselves: {small / 1e6:.0f} MB (1,000 rows)")
            for rows in given.rows:
                for form in given.formats:
                    path = written(rows, form, Path(folder))
                    found = [show(path, rows, form, given.budget, small, Path(folder)) for _ in range(given.times)]
                    if given.times > 1:
                        print("  the same findings:", "yes" if all(each == found[0] for each in found) else "NO")
    finally:
        for loop in loops:
            loop.kill()


def table(rows: int) -> pd.DataFrame:
    """Mixed columns; the label depends on some of them."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(rows, 16)), columns=[f"number {place}" for place in range(16)])
    X["count"], X["few"] = random.integers(0, 100, rows), random.integers(0, 5, rows)
    X["colour"] = random.choice(["red", "green", "blue", "yellow"], rows)
    X["city"] = random.choice([f"city {place}" for place in range(30)], rows)
    X["size"] = random.choice(["small", "medium", "large"], rows)
    score = X["number 0"] + X["number 1"] * X["number 2"] + (X["colour"] == "red") + X["count"] / 50
    X.loc[random.random(rows) < 0.05, "number 3"] = np.nan
    X["label"] = np.where(score + 0.5 * random.normal(size=rows) > 1.5, "yes", "no")
    return X


def written(rows: int, form: str, folder: Path) -> Path:
    path = folder / f"table{rows}.{form}"
    if form == "csv":
        table(rows).to_csv(path, index=False, float_format="%.6g")
    else:
        table(rows).to_parquet(path)
    return path


def show(path: Path, rows: int, form: str, budget: str, small: int, folder: Path) -> list[tuple[str, str, str]]:
    begin = time.monotonic()
    report, peak = run(path, budget, folder)
    seconds = time.monotonic() - begin
    memory = int(table(rows).memory_usage(deep=True).sum())
    settings = report["settings"]
    fits = sum(settings["stages"].get(stage, 0.0) for stage in FITS)
    ratio, times = seconds / seconds_of(budget), max(peak - small, 0) / memory
    print(
        f"{rows:>9,} rows {form:7s} budget {budget}: {seconds:6.1f} s, {ratio:.2f} x the budget"
        f"{' MISSED' if ratio > GOAL_TIME else ''}; fits {fits / seconds:.0%}; peak {peak / 1e6:.0f} MB, "
        f"{times:.1f} x the table of {memory / 1e6:.0f} MB{' MISSED' if times > GOAL_MEMORY else ''}"
    )
    there = {each["of"] for each in report["figures"] if each["name"] == "accuracy"}
    missing = [name for name in default_learners() if name not in there]
    print(f"          load {os.getloadavg()[0]:.1f}; learners without accuracy: {', '.join(missing) or 'none'}")
    print(f"          {settings['folds']} folds of {settings['tested_rows']:,} rows. {settings['fitted']}")
    print("          " + ", ".join(f"{name} {value:.1f}" for name, value in settings["stages"].items()), flush=True)
    return [(each["code"], each["level"], each["of"]) for each in report["findings"]]


def run(path: Path, budget: str, folder: Path) -> tuple[dict, int]:
    """The report as JSON, and the peak memory in bytes."""
    out = folder / "report.json"
    command = [sys.executable, "-m", "classay", "report", str(path), "--target", "label", "--budget", budget]
    command += ["-o", str(out), "-o", str(folder / "report.html"), "--force", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(_pss(each) for each in _family(process.pid)))
        time.sleep(0.5)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {process.returncode}; expected 0.")
    return json.loads(out.read_text()), peak


def _family(root: int) -> list[int]:
    """The process and all that it started."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(stat.rsplit(")", 1)[1].split()[1])
    family = [root]
    for each in family:
        family += [child for child, parent in parents.items() if parent == each]
    return family


def _pss(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return 1024 * next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


if __name__ == "__main__":
    main()
