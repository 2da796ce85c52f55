"""The open questions of the two papers, as docs/questions.md answers them: figures and pictures.

    python benchmarks/questions.py --data DIR                  # all of them; DIR holds tabular_iov/ and published/
    python benchmarks/questions.py --data DIR size memory      # some
    python benchmarks/questions.py --data DIR --pictures docs/pictures

Tables are those of the orientation paper's authors, at most 2,000 random rows of each (all of EEG for the question of
time, whose rows are in order).
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay
from classay import Subsets
from classay.charts.style import theme
from classay.charts.style.panel import Panel, numbers
from classay.charts.style.parts import lines_chart
from classay.intervals import Estimate, of_mean, within_limits
from classay.learner.sweep.result import correlated

TARGETS = {
    "Abalone": "Rings", "Bank_Marketing": "deposit_bool", "Car_Evaluation": "labels", "EEG_Eye_State": None,
    "Letter_Recognition": "letter", "Obesity": "NObeyesdad", "Shopper_Intention": "Revenue", "Spam": "57",
    "Wine_Quality": "Label",
}  # fmt: skip
PRINTED = {
    "EEG_Eye_State": (41.045, 0.449), "Shopper_Intention": (3.5670, 0.155), "Bank_Marketing": (2.4254, 0.474),
    "Abalone": (0.0118, 0.312), "Car_Evaluation": (0.0758, 0.922), "Letter_Recognition": (0.1497, 0.495),
    "Obesity": (0.1186, 0.460), "Spam": (0.6473, 0.394), "Wine_Quality": (0.2457, 0.754),
}  # fmt: skip
"""Table 3 of the paper: bootstrap standard error, and the share of class 1."""
MOST_ROWS = 2000
SCALED = make_pipeline(StandardScaler(), LogisticRegression())
LEARNERS = {
    "tree": DecisionTreeClassifier(),
    "forest of 10": RandomForestClassifier(10),
    "5 neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "logistic regression": SCALED,
}


class Tables:
    """The authors' tables in a folder, and where pictures go."""

    def __init__(self, folder: Path, pictures: Path | None) -> None:
        self.folder, self.pictures = folder, pictures

    def whole(self, name: str) -> tuple[pd.DataFrame, pd.Series]:
        # EEG has no header, and the authors' reader took its first row for one.
        frame = pd.read_csv(self.folder / "tabular_iov" / f"{name}.csv.gz")
        target = TARGETS[name] or frame.columns[-1]
        return frame.drop(columns=target).astype(float), frame[target].astype(int)

    def some(self, name: str) -> tuple[Any, Any]:
        X, y = self.whole(name)
        rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
        return X.iloc[rows].to_numpy(), y.iloc[rows].to_numpy()

    def draw(self, name: str, panels: dict[str, dict[str, dict[float, Estimate]]], axes: tuple[str, str]) -> None:
        """Lines of several learners, a panel for each table."""
        if self.pictures is not None:
            charts = []
            for table, lines in panels.items():
                panel = Panel(numbers(axes[0], field="x"), numbers(axes[1], field="value"), 300, 220)
                known = {label: (line, (0.0, 5.0)) for label, line in lines.items()}
                charts.append(lines_chart(known, axes[0], panel, (table.replace("_", " "), "")))
            theme.beside(*charts).save(self.pictures / f"{name}.svg")


def swept(learner: Any, X: Any, y: Any, parameter: str, values: Any, samples: int = 30, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return classay.sweep(learner, X, y, parameter, values, Subsets(samples), 5, executor=1, **more)


def table3(tables: Tables) -> None:
    """Bootstrap standard errors of the authors' encoded tables: sd/√m, m = 12 % of the rows, mean over all columns."""
    for name, (printed, balance) in PRINTED.items():
        X, y = tables.whole(name)
        error = float((X.std(ddof=0) / np.sqrt(round(0.12 * len(X)))).mean())
        print(f"{name}: {X.shape[1]} columns, {error:.4f} (printed {printed}, {error / printed - 1:+.1%}), ", end="")
        print(f"balance {y.mean():.3f} (printed {balance})")


def size(tables: Tables) -> None:
    """What more data buys."""
    for table in ("Spam", "Letter_Recognition"):
        X, y = tables.some(table)
        along = swept(
            LEARNERS["forest of 10"], X, y, "size", [25, 50, 100, 200, 400, 800], name=f"forest of 10, {table}"
        )
        print(along)
        if tables.pictures is not None and table == "Spam":
            along.plot(kind="shares").save(tables.pictures / "questions_size.svg")


def entropy(tables: Tables) -> None:
    """Does capacity follow the entropy of the data?"""
    changes = {"random_labels": [0, 0.25, 0.5, 0.75, 1], "repeated_rows": [0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99]}
    for change, values in changes.items():
        panels: dict[str, Any] = {"Spam": {}, "Wine_Quality": {}}
        for table, lines in panels.items():
            X, y = tables.some(table)
            for label, learner in LEARNERS.items():
                along = swept(learner, X, y, change, values, holdout_size=3).orientations
                lines[label] = {value: one.capacity for value, one in along.items()}
                print(table, change, label, "capacity", [f"{one:.3g}" for one in lines[label].values()], end=" ")
                print("stochasticity", [f"{one.stochasticity.value:.2f}" for one in along.values()])
        tables.draw(f"questions_{change}", panels, (f"share of {change.replace('_', ' ')}", "capacity, of 3 bits"))


def time(tables: Tables) -> None:
    """A stream: windows in time of EEG in file order, and the same rows in random order."""
    X, y = tables.whole("EEG_Eye_State")
    for order in ("in order", "shuffled"):
        when = np.arange(len(y)) if order == "in order" else np.random.default_rng(0).permutation(len(y))
        for label in ("tree", "forest of 10"):
            along = swept(LEARNERS[label], X, y, "time", [0.25, 0.5, 0.75, 1], time=when, holdout_size=3, name=label)
            print(order, along, "\n")
            if tables.pictures is not None and (order, label) == ("in order", "forest of 10"):
                along.plot(kind="entropy").save(tables.pictures / "questions_time.svg")


def memory(tables: Tables) -> None:
    """How many random labels a learner can store."""
    panels: dict[str, Any] = {"Spam": {}, "Wine_Quality": {}}
    for table, lines in panels.items():
        X, y = tables.some(table)
        for label, learner in {**LEARNERS, "tree of depth 4": DecisionTreeClassifier(max_depth=4)}.items():
            along = swept(learner, X, y, "labels_to_store", [25, 50, 100, 200, 400, 800], 20, name=label)
            print(table, along)
            lines[label] = along.metric_estimates
    tables.draw("questions_memory", panels, ("random labels to store", "share stored"))


def generalisation(tables: Tables) -> None:
    """Does stochasticity show overfitting? Spearman with the train-test gap, by sweep and table."""
    published = pd.read_csv(tables.folder / "published" / "orientation_published.csv.gz")
    families = {
        "tree, max_depth": (DecisionTreeClassifier(), "max_depth", range(1, 67, 5)),
        "tree, max_depth 1 to 12": (DecisionTreeClassifier(), "max_depth", range(1, 13)),
        "tree, min_samples_leaf": (DecisionTreeClassifier(), "min_samples_leaf", [1, 2, 3, 5, 8, 13, 21, 34]),
        "forest of 10, max_depth": (RandomForestClassifier(10), "max_depth", [1, 2, 3, 4, 6, 8, 11, 16, 31]),
        "forest, n_estimators": (RandomForestClassifier(), "n_estimators", [1, 2, 3, 5, 8, 13, 21, 34, 55]),
        "neighbours, k": (LEARNERS["5 neighbours"], "kneighborsclassifier__n_neighbors", [1, 3, 5, 9, 17, 33]),
        "logistic regression, C": (SCALED, "logisticregression__C", [0.001, 0.01, 0.1, 1, 10, 100]),
    }  # fmt: skip
    rows = []
    for table in TARGETS:
        X, y = tables.some(table)
        for family, (learner, name, values) in families.items():
            along = swept(learner, X, y, name, values, holdout_size=5)
            for value, one in along.orientations.items():
                figures = {part: getattr(one, part).value for part in ("stochasticity", "capacity", "expressivity")}
                row = {"table": table, "family": family, "value": value, "plain": one.plugin.stochasticity.value}
                rows.append(row | figures | {"gap": along.gap(value).value, "limit": bool(one.stochasticity.prefix)})
        print(table, flush=True)
    frame = pd.DataFrame(rows)
    tree = published[published.learner == "DecisionTreeClassifier"]
    wide = tree.pivot_table(index=["dataset", "value"], columns="metric", values="published")
    frame["published"] = [
        float(wide.expressivity.get((row.table, row.value), np.nan) - wide.capacity.get((row.table, row.value), np.nan))
        if row.family == "tree, max_depth" else np.nan
        for row in frame.itertuples()
    ]  # fmt: skip
    summary(frame)


def summary(frame: pd.DataFrame) -> None:
    """Correlations with the gap: plain, and with plateaus merged (differences below .05 bits and .005 are none)."""
    for figure in ("stochasticity", "plain", "published", "capacity", "expressivity"):
        for family, part in [*frame.groupby("family", sort=False), ("all settings", frame)]:
            by_table: dict[str, list[float]] = {"every value": [], "plateaus merged": []}
            differ = []
            for _, own in part.groupby("table"):
                bits, gap = own[figure].to_numpy(), own.gap.to_numpy()
                by_table["every value"].append(correlated(list(bits), list(gap)).spearman)
                merged = correlated(list((bits / 0.05).round() * 0.05), list((gap / 0.005).round() * 0.005))
                by_table["plateaus merged"].append(merged.spearman)
                differ.append(merged.distinct)
            for how, values in by_table.items():
                known = [value for value in values if np.isfinite(value)]
                if len(known) > 2:
                    mean = within_limits(of_mean(known), -1.0, 1.0)
                    positive = sum(value > 0 for value in known)
                    print(
                        f"{figure}, {family}, {how}: {mean:.2f}, positive on {positive} of {len(known)} tables;",
                        end=" ",
                    )
                    print(np.round(values, 2).tolist(), f"{min(differ)} to {max(differ)} values differ")


def complexity(tables: Tables) -> None:
    """Turney's fourth criterion in the utility."""
    X, y = tables.some("Spam")
    along = swept(DecisionTreeClassifier(), X, y, "max_depth", [1, 2, 3, 4, 6, 8, 12, 20], share_paths=False)
    print({value: round(float(np.nanmean(one.complexity)), 1) for value, one in along.records.items()})
    for utility in (
        {"accuracy": 1},
        {"accuracy": 1, "complexity": -0.001},
        {"accuracy": 1, "stability": 0.5, "complexity": -0.001},
    ):
        print(along.compare(utility))


QUESTIONS = [table3, size, entropy, time, memory, complexity, generalisation]

if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("questions", nargs="*", help="; ".join(each.__name__ for each in QUESTIONS))
    arguments.add_argument("--data", type=Path, required=True)
    arguments.add_argument("--pictures", type=Path)
    given = arguments.parse_args()
    for question in QUESTIONS:
        if question.__name__ in given.questions or not given.questions:
            print(f"--- {question.__name__}", flush=True)
            question(Tables(given.data, given.pictures))
