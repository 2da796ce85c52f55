"""The published figures of all four families, measured again: the share within three standard errors.

Pang-Naylor, Chen & Montañez published expressivity, capacity (both plain) and bias at thresholds 1 to 5. Here as
there: 100 subsets of 15 % of the training part, with replacement, 5 refits, 100 holdouts of 5 test points. The values
of a table and family are one sweep, so that they share fits: exactly for neighbours, logistic regression and the number
of trees, in distribution for depths. Logistic regression has a fixed random state, as in the authors' runs.

Ours has the crossed standard error over subsets and holdouts, not clipped to the possible range: of the share of
refits at or above a threshold for bias; of the mean -log2 P_D of what a subset answered for expressivity; of that less
the subset's own plain entropy for capacity. The published table has none, so its error is taken as large as ours:
combined = sqrt(2) x ours. Where ours is 0, only the same figure (to the table's five decimals) counts as within.

What these errors leave out: another split into training and test part. The authors split once, without regard to
class; `record` splits by class. With --splits 2 or more everything is measured on other splits, too, and each is
compared with the first in the same way. That share is what the yardstick gives for a faithful repetition. With
--splits 3 or more the published figure is also compared with the mean over splits, by the standard deviation of whole
repetitions (split, subsets, holdouts): sd x sqrt(1 + 1/splits) is then the standard error.

DIR needs tabular_iov/*.csv.gz and published/orientation_published.csv.gz. The EEG table has no header; the authors
lost its first row to one. SemiRandom, their synthetic table, is not there. The published neighbours of
Letter_Recognition stand as they are, though their labels look shifted: 41 and 46 have the same figures, so have 151 and
156, and 196 neighbours are more than the 193 rows of a subset; that one is left out. Goal: 95 %.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import timing
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import classay
from classay.intervals import crossed_standard_error
from classay.learner.orientation import entropy
from classay.learner.orientation.entropy import count, number_labelings

FAMILIES = {
    "tree": (DecisionTreeClassifier(), "max_depth"),
    "neighbours": (KNeighborsClassifier(), "n_neighbors"),
    "logistic": (LogisticRegression(random_state=0), "max_iter"),
    "forest": (RandomForestClassifier(), "n_estimators"),
}
PUBLISHED = "published/orientation_published.csv.gz"
WITHOUT_HEADER = ("EEG_Eye_State",)
GOAL, REACH = 0.95, 3.0
ROUNDING = 5.001e-6  # the published table has five decimals
KEY = ["learner", "dataset", "value", "metric"]


def main() -> None:
    example = "python benchmarks/published.py --data DIR --store runs/published --out published.csv"
    parser = timing.parser(__doc__, example)
    parser.add_argument("--data", type=Path, metavar="DIR", help="the folder described above")
    parser.add_argument("--learner", choices=[*FAMILIES, "all"], default="all")
    parser.add_argument("--values", default="all", help="all, or N: so many of the grid, evenly spread")
    parser.add_argument("--most", type=int, help="only values up to this one, such as 46 trees")
    parser.add_argument("--table", action="append", help="only this table; may be given again")
    parser.add_argument("--splits", type=int, default=1, help="measure on so many splits")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--store", type=Path, help="a folder of records, so that a run can be resumed")
    parser.add_argument("--out", type=Path, help="write every figure to this CSV")
    options = parser.parse_args()
    if options.data is None or not (options.data / PUBLISHED).is_file():
        sys.exit(f"Skipped: --data DIR with {PUBLISHED} and tabular_iov/*.csv.gz is needed.")
    options.subsets, options.refits = 100, 5
    if options.quick:
        options.values, options.subsets, options.refits = "1", 10, 2
        options.table = options.table or ["Letter_Recognition", "Car_Evaluation"]
    print(timing.machine())

    wanted = grid(options)
    figures = pd.concat([measure(wanted, seed, options) for seed in range(options.splits)], ignore_index=True)
    published = wanted.rename(columns={"published": "other"})
    first = figures[figures.split == 0]
    compared = against(first, published)
    if options.out:
        compared.rename(columns={"other": "published"}).to_csv(options.out, index=False)
        print(f"Figures: {options.out}")
    report(compared, len(wanted))
    for seed in range(1, options.splits):
        again = figures[figures.split == seed]
        own = against(again, first[[*KEY, "ours", "error"]].rename(columns={"ours": "other", "error": "other_error"}))
        print(f"Split {seed}: {own.within.mean():.1%} within three errors of split 0, ", end="")
        print(f"{against(again, published).within.mean():.1%} of the published.")
    if options.splits > 2:
        report_repetitions(figures, published, options.splits)


def grid(options) -> pd.DataFrame:
    """The published figures that are wanted."""
    table = pd.read_csv(options.data / PUBLISHED)
    names = [type(one).__name__ for key, (one, _) in FAMILIES.items() if options.learner in (key, "all")]
    there = {path.name.removesuffix(".csv.gz") for path in (options.data / "tabular_iov").glob("*.csv.gz")}
    there &= set(options.table) if options.table else there
    table = table[table.learner.isin(names) & table.dataset.isin(there)]
    if options.most is not None:
        table = table[table["value"] <= options.most]
    if options.values != "all":
        chosen = set()
        for name, values in table.groupby("learner")["value"].unique().items():
            places = np.linspace(0, len(values) - 1, int(options.values) + 2)[1:-1].round().astype(int)
            chosen |= {(name, value) for value in values[places]}
        table = table[[pair in chosen for pair in zip(table.learner, table["value"])]]
    if table.empty:
        sys.exit(f"{options.data} has none of the tables that were asked for.")
    return table[[*KEY, "published"]]


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Columns and labels; the label is the last column in all nine."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", header=None if name in WITHOUT_HEADER else "infer")
    return frame.iloc[:, :-1].to_numpy(float), frame.iloc[:, -1].to_numpy(int)


def measure(wanted: pd.DataFrame, seed: int, options) -> pd.DataFrame:
    """Our figures and their standard errors on one split."""
    families = {type(learner).__name__: (learner, parameter) for learner, parameter in FAMILIES.values()}
    lines = wanted.groupby(["dataset", "learner"])["value"].unique()
    rows, begin = [], time.monotonic()
    for place, ((dataset, name), values) in enumerate(lines.items(), start=1):
        X, y = read(options.data / "tabular_iov", dataset)
        learner, parameter = families[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of solvers that are stopped, which is what is swept
            found = classay.sweep(
                learner,
                X,
                y,
                parameter,
                values.tolist(),
                classay.Subsets(options.subsets, size=0.15, replace=True),
                repeats=options.refits,
                random_state=seed,
                executor=options.workers,
                store=options.store,
            )
        for value, error in found.failed.items():  # more neighbours than rows in a subset
            print(f"Left out: {dataset}, {name}, {value}: {error}", file=sys.stderr)
        for value in found.values:
            for metric, (ours, error) in plain_figures(found.records[value], found.orientations[value]).items():
                rows.append((name, dataset, value, metric, ours, error, seed))
        left = (time.monotonic() - begin) / place * (len(lines) - place)
        line = f"split {seed}: {place} of {len(lines)}, {dataset}, {name}; {left / 60:.0f} min left"
        print(f"\r{line:<100}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return pd.DataFrame(rows, columns=[*KEY, "ours", "error", "split"])


def plain_figures(labelings: classay.Labelings, found: classay.results.Orientation) -> dict[str, tuple[float, float]]:
    """Each figure with its standard error, from its values by holdout and subset: (M, K)."""
    labels = labelings.complete()
    counts = count(number_labelings(labels, found.holdouts, len(labelings.classes)))
    surprise = -counts.count / counts.n_refits * np.log2(counts.total / (counts.n_subsets * counts.n_refits))
    overall = counts.sum_by_subset(surprise)
    figures = {
        "expressivity": (found.plugin.expressivity.value, crossed_standard_error(overall)),
        "capacity": (
            found.plugin.capacity.value,
            crossed_standard_error(overall - entropy.plugin_within(counts)),
        ),
    }
    right = (labels == labelings.truth)[:, :, found.holdouts].sum(axis=3)  # (K, R, M)
    for threshold, estimate in found.bias.items():
        share = (right >= threshold).mean(axis=1).T
        figures[f"bias_{threshold}"] = estimate.value, crossed_standard_error(share)
    return figures


def against(ours: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Put two sets of figures side by side; without `other_error`, the other's error is taken as large as ours."""
    table = ours.merge(other, on=KEY)
    table["combined"] = np.hypot(table.error, table.get("other_error", table.error))
    apart = (table.ours - table.other).abs()
    same = apart <= ROUNDING
    table["errors_apart"] = np.where(same, 0.0, apart / table.combined.where(table.combined > 0))
    table["errors_apart"] = table.errors_apart.fillna(np.inf)
    table["within"] = table.errors_apart <= REACH
    return table


def report_repetitions(figures: pd.DataFrame, published: pd.DataFrame, splits: int) -> None:
    """The published figures among whole repetitions of ours."""
    ours = figures.groupby(KEY)["ours"].agg(["mean", "std"]).reset_index().merge(published, on=KEY)
    apart = (ours["mean"] - ours.other).abs()
    error = ours["std"] * np.sqrt(1 + 1 / splits)
    within = (apart <= ROUNDING) | (apart <= REACH * error)
    shares = within.groupby(ours.learner).agg(["size", "mean"]).set_axis(["figures", "within"], axis=1)
    timing.show(shares.reset_index(), f"Within {REACH:g} standard errors of the mean of {splits} whole repetitions")


def report(table: pd.DataFrame, wanted: int) -> None:
    parts = table.groupby(["learner", "dataset"]).agg(
        figures=("within", "size"), within=("within", "mean"), errors_apart=("errors_apart", "median")
    )
    timing.show(
        parts.reset_index(), f"Share within {REACH:g} combined standard errors, and the median distance in them"
    )
    # Where ours never varied the standard error is 0, though it is not: 100 holdouts just did not show any variation.
    varied = table.within.where(table.error > 0)
    by_family = table.assign(varied=varied).groupby("learner")
    timing.show(
        by_family.agg(
            figures=("within", "size"), within=("within", "mean"), within_if_varied=("varied", "mean")
        ).reset_index()
    )
    timing.show(table.groupby("metric").agg(figures=("within", "size"), within=("within", "mean")).reset_index())
    worst = table.sort_values("errors_apart", ascending=False, kind="stable").head(10)
    columns = [*KEY, "ours", "other", "combined", "errors_apart"]
    timing.show(worst[columns].rename(columns={"other": "published"}), "The ten farthest apart")
    certain = table[table.error == 0]
    print(f"\nOverall: {table.within.mean():.1%} of {len(table)} figures (goal {GOAL:.0%}); ", end="")
    print(f"{wanted - len(table)} published figures were left out, as the learner cannot be fitted.")
    print(f"Standard error 0: {len(certain)} figures, {int((~certain.within).sum())} of them not the same.")


if __name__ == "__main__":
    main()
