"""What other packages say of a table, in the codes of our findings: used by `planted_worlds.py --rivals`.

skore: the checks of an `EstimatorReport` of a forest, of which SKD011 (golden feature) is about a leak. cleanlab:
`Datalab` with standardised columns, of which non_iid and near_duplicate are about rows that belong together.
evidently: its preset of data drift, which is about the test part. Each in its default settings; "any" counts these
codes only. None of them is given more than the table, the labels and, where there is one, the test part.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Check = Callable[[dict[str, Any], int], set[str]]


def as_numbers(X: pd.DataFrame) -> pd.DataFrame:
    table = pd.get_dummies(X).astype(float)
    return table.fillna(table.median())


def skore(world: dict[str, Any], seed: int) -> set[str]:
    from skore import EstimatorReport

    X, y = as_numbers(world["X"]), world["y"]
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=seed)
    forest = RandomForestClassifier(30, random_state=seed)
    report = EstimatorReport(forest, X_train=train, y_train=y_train, X_test=test, y_test=y_test)
    summary = report.checks.summarize()
    codes = {code for section in ("issue", "tip") for code in summary.frame(section=section)["code"]}
    return {"D205"} if "SKD011" in codes else set()


def cleanlab(world: dict[str, Any], seed: int) -> set[str]:
    from cleanlab import Datalab

    lab = Datalab({"y": np.asarray(world["y"]).astype(str).tolist()}, label_name="y", verbosity=0)
    points = StandardScaler().fit_transform(as_numbers(world["X"]))
    lab.find_issues(features=points, issue_types={"non_iid": {"seed": seed}, "near_duplicate": {}})
    counts = dict(lab.get_issue_summary()[["issue_type", "num_issues"]].to_numpy().tolist())
    return {"D206"} if any(counts.values()) else set()


def evidently(world: dict[str, Any], seed: int) -> set[str]:
    if "X_test" not in world:
        return set()
    from evidently import Report
    from evidently.presets import DataDriftPreset

    made = Report([DataDriftPreset()]).run(world["X_test"], world["X"]).dict()
    drifted = next(each["value"] for each in made["metrics"] if "DriftedColumnsCount" in str(each))
    return {"D208"} if drifted["count"] else set()


def _installed() -> dict[str, Check]:
    able: dict[str, Check] = {}
    for name, check in {"skore": skore, "cleanlab": cleanlab, "evidently": evidently}.items():
        try:
            importlib.import_module(name)
            able[name] = check
        except Exception as error:  # not installed, or not with these versions of others
            print(f"{name} is left out: {type(error).__name__}: {error}")
    return able


RIVALS = _installed()
