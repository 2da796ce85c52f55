"""Sweeps, records and reports that are killed at random moments: nothing is left half written, and all resume."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzzing import EFFORT

KILLS = 2 if EFFORT == 1 else 20
TREE = ["--learner", "tree=DecisionTreeClassifier(max_features=2)", "--workers", "1"]
KEPT = ["--store", "store", "--json", "--quiet"]
RUNS = {
    "sweep": ["sweep", "iris", *TREE, "--param", "min_samples_leaf", "--values", "1,2,4", "--samples", "12", *KEPT],
    "record": ["learner", "iris", *TREE, "--samples", "40", "--repeats", "3", *KEPT],
    "report": [
        *["report", "iris", *TREE, "--splits", "8", "--repeats", "2", "--n-probes", "200", *KEPT],
        *["-o", "page.html", "-o", "page.json", "--force"],
    ],
}


def timeless(content):
    """The content without times, which are never the same."""
    if isinstance(content, dict):
        return {name: timeless(part) for name, part in content.items() if "second" not in name and name != "stages"}
    return [timeless(part) for part in content] if isinstance(content, list) else content


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize("name", RUNS)
def test_killed_at_random_moments(name, tmp_path):
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("killed_runs.py"), str(KILLS), "17", tmp_path, *RUNS[name]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert (seen["whole"], seen["last"], seen["unreadable"]) == (0, 0, [])
    assert seen["killed"] + seen["finished"] == KILLS
    whole, last = (json.loads((tmp_path / file).read_text()) for file in ("whole.json", "last.json"))
    assert figures(whole) == figures(last)


def figures(content):
    """What must be the same: of a report its figures and findings, of others everything but times."""
    if "figures" in content:
        return [each for each in content["figures"] if "second" not in str(each)], content.get("findings")
    return timeless(content)
