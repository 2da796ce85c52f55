"""Do dataless figures tell accuracy? Tables on the networks that `network_suite.py` trained.

Tables like the paper's 2 and 3: its bounds, the true accuracy and the share enclosed. Spearman's correlation of each
figure with accuracy, within data set and architecture, with the factors of training apart: amount of data only, length
of training only, label noise only (share of pairs in which the clean network has the larger figure, scaled to −1..1).
`alpha` is a power law as WeightWatcher's, fitted by classay's own short function; `weightwatcher` the package's own
mean alpha, where given; `weight_norm` the norm of all weights.
Then the estimate of accuracy on data sets and on architectures left out, and what each figure is good for. `--fit`
prints the constants of src/classay/network/estimate.py; `--nested` chooses the figures anew without each data set.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path

import network_fit as fitting
import network_measure as measuring
import numpy as np
import pandas as pd
import timing
import torch
from sklearn.metrics import roc_auc_score

from classay.network.quality.figures import FIGURES

BESIDE = ("lower", "upper", "core_steps", "weight_norm", "weightwatcher")
GOALS = {"within": 0.7, "across": 0.6, "enclosed": 0.9}
SETS = {
    "images": ("row_spread", "between", "within", "norm_growth", "shift_robustness"),
    "any": ("row_spread", "between", "within", "norm_growth"),
}
"""The figures that the estimate stands on: for images, and for other inputs."""
LEVEL, QUANTILE = 0.9, 0.97
"""So that 90 % are enclosed on data sets left out, 97 % of the errors on the others are taken."""


def main() -> None:
    parser = timing.parser(
        __doc__, "python benchmarks/network_claims.py --networks runs/nets --cache runs/nets-figures"
    )
    parser.add_argument("--networks", type=Path, required=True, help="folder that network_suite.py wrote")
    parser.add_argument("--cache", type=Path, required=True, help="folder for what is measured")
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--origins", type=int, default=9)
    parser.add_argument("--fit", action="store_true", help="print the constants of the estimate")
    parser.add_argument("--nested", action="store_true", help="choose figures without each data set (minutes)")
    parser.add_argument("--data", type=Path, help="folder with images/: compare alike classes with true confusions")
    parser.add_argument("--weightwatcher", type=Path, help="folder that the package weightwatcher was installed into")
    parser.add_argument("--measured", action="store_true", help="only what is in the cache already")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", RuntimeWarning)  # means of groups that lack a factor
    table = measuring.table(
        options.networks, options.cache, options.starts, options.origins, 6 if options.quick else None, options.measured
    )
    print(f"{len(table)} networks: {table.groupby(['data', 'architecture']).size().unstack().fillna(0).astype(int)}")
    bounds(table)
    if options.quick:
        return
    if options.weightwatcher is not None:
        table["weightwatcher"] = weightwatcher(options.weightwatcher, options.networks, options.cache, table["name"])
    correlations(table)
    estimates(table, options.nested)
    good_for(table)
    if options.data is not None:
        alike(options.networks, options.data)
    if options.fit:
        constants(table)


def weightwatcher(package: Path, folder: Path, cache: Path, names: pd.Series) -> list[float]:
    """The mean alpha that the package finds (pip install --no-deps --target DIR weightwatcher powerlaw)."""
    sys.path.append(str(package))
    import weightwatcher as watching

    logging.disable(logging.CRITICAL)
    kept = cache / "weightwatcher.txt"  # not .json: those are networks
    known: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}
    for name in names:
        if name not in known:
            details = watching.WeightWatcher(model=measuring.load(folder / name)[1]).analyze(min_evals=8)
            known[name] = float(details["alpha"].mean())
            kept.write_text(json.dumps(known))
    return [known[name] for name in names]


def bounds(table: pd.DataFrame) -> None:
    """The paper's interval beside the truth."""
    enclosed = (table["lower"] <= table["test"]) & (table["test"] <= table["upper"])
    frame = table.assign(enclosed=enclosed, width=table["upper"] - table["lower"])
    columns = ["m_in", "in_std", "upper", "cs_bt", "bt_std", "lower", "test", "width", "enclosed"]
    by_group = frame.groupby(["data", "architecture"])[columns].mean(numeric_only=False).astype(float).reset_index()
    timing.show(by_group, "The paper's bounds, means by data set and architecture")
    shares = frame[(frame["steps"] == 300) & (frame["wrong"] == 0)]
    timing.show(
        shares.groupby("share")[columns].mean(numeric_only=False).astype(float).reset_index(),
        "By share of the data, 300 steps, right labels, means over data sets and architectures",
    )
    too_low = float((frame["test"] > frame["upper"]).mean())
    print(
        f"enclosed {enclosed.mean():.0%}, mean width {frame['width'].mean():.2f}; above the upper bound {too_low:.0%}"
    )


def correlations(table: pd.DataFrame) -> None:
    rows = []
    for name in (*FIGURES, *BESIDE):
        if name in table:
            values = table[name].to_numpy()
            own = fitting.by_group(table, values, ["data", "architecture"])
            rows.append(
                {
                    "figure": name, "data+architecture": np.nanmean(own), "least": np.nanmin(own),
                    "most": np.nanmax(own),
                    **factors(table, values), "data, across": np.nanmean(fitting.by_group(table, values, ["data"])),
                    "pooled": fitting.by_group(table.assign(all=0), values, ["all"])[0],
                }
            )  # fmt: skip
    timing.show(rows, "Spearman's correlation with accuracy, mean over groups; the factors of training apart")


def factors(table: pd.DataFrame, values: np.ndarray) -> dict[str, float]:
    """Correlation within data set and architecture where one thing alone was varied."""
    more = (table["steps"] == 300) & (table["wrong"] == 0)
    longer = (table["share"] == 1) & (table["wrong"] == 0)
    keys = ["data", "architecture"]
    signs = []
    for _, each in table.assign(value=values).groupby([*keys, "share", "steps"]):
        clean, wrong = each[each["wrong"] == 0], each[each["wrong"] > 0]
        if len(clean) == 1 and len(wrong) == 1:
            signs.append(np.sign(clean["value"].iloc[0] - wrong["value"].iloc[0]))
    return {
        "data only": float(np.nanmean(fitting.by_group(table[more], values[more], keys))),
        "steps only": float(np.nanmean(fitting.by_group(table[longer], values[longer], keys, 3))),
        "noise only": float(np.nanmean(signs)) if signs else float("nan"),
    }


def estimates(table: pd.DataFrame, nested: bool) -> None:
    rows = []
    everything = [name for name in FIGURES if name in table and table[name].notna().all()]
    for by in ("data", "architecture"):
        for kind, names in {**SETS, "all figures": everything}.items():
            rows.append(judged(table, fitting.left_out(table, names, by), f"{kind} ({len(names)})", by))
        if nested:
            logits, chosen = fitting.nested(table, everything, by)
            rows.append(judged(table, logits, "chosen anew", by))
            print(chosen)
        middle = [table.loc[table[by] != value, "test"].median() for value in table[by]]
        rows.append(
            {"left out": by, "figures": "a constant", "error": float(np.abs(table["test"] - np.array(middle)).mean())}
        )
    timing.show(rows, "The estimate on what was left out; goals: within .7, across .6, enclosed .9")


def judged(table: pd.DataFrame, logits: np.ndarray, kind: str, by: str) -> dict[str, object]:
    predicted = fitting.accuracy_of(logits)
    inside = np.zeros(len(table), dtype=bool)
    width = np.zeros(len(table))
    for value in table[by].unique():  # the interval, too, is made without what it is tried on
        own = (table[by] == value).to_numpy()
        low, high = fitting.reach(table[~own], predicted[~own], QUANTILE)
        lower, upper = np.clip(predicted[own] + low, 0, 1), np.clip(predicted[own] + high, 0, 1)
        inside[own] = (lower <= table["test"][own]) & (table["test"][own] <= upper)
        width[own] = upper - lower
    own = fitting.by_group(table, logits, ["data", "architecture"])
    return {
        "left out": by, "figures": kind, "within": np.nanmean(own), "least": np.nanmin(own),
        **factors(table, logits), "across": np.nanmean(fitting.by_group(table, logits, ["data"])),
        "error": float(np.abs(predicted - table["test"]).mean()), "enclosed": float(inside.mean()),
        "width": float(width.mean()),
    }  # fmt: skip


def good_for(table: pd.DataFrame) -> None:
    """How well a figure tells two kinds of networks apart, within data set and architecture."""
    clean = table["wrong"] == 0
    trained = clean & (table["steps"] >= 300)
    tasks = {
        "stopped early from trained": (clean & (table["steps"] <= 100), trained & (table["share"] == 1)),
        "few rows from many": (clean & (table["share"] <= 0.1), trained & (table["share"] >= 0.6)),
        "wrong labels from right": (table["wrong"] > 0, trained & table["share"].isin((0.1, 1.0))),
    }
    values = {name: table[name] for name in (*FIGURES, *BESIDE) if name in table}
    values["estimate"] = pd.Series(fitting.left_out(table, SETS["images"]), table.index)
    rows = []
    for name, column in values.items():
        row: dict[str, object] = {"figure": name}
        for task, (poor, good) in tasks.items():
            areas = []
            for _, each in table.groupby(["data", "architecture"]):
                index = each.index[(poor | good)[each.index] & column[each.index].notna()]
                if 0 < poor[index].sum() < len(index):
                    areas.append(roc_auc_score(~poor[index], column[index]))
            row[task] = float(np.mean(areas)) if areas else float("nan")
        rows.append(row)
    timing.show(
        rows, "Area under the curve by which a figure tells the better kind (.5 chance; below: it is lower there)"
    )


def alike(folder: Path, data: Path) -> None:
    """Whether the classes that prototypes take for alike are those the network confuses on test images."""
    import network_zoo as zoo

    from classay.network.prototypes.prototypes import prototypes
    from classay.network.quality.quality import network_quality

    rows = []
    for name in measuring.names(folder):
        if "share1_steps300_wrong0" not in name or name.endswith("0.2") or not name.startswith(tuple(zoo.FILES)):
            continue
        about, network = measuring.load(folder / name)
        images = zoo.images(data, about["data"])
        with torch.no_grad():
            answers = torch.cat([network(part).softmax(1) for part in images.x_test.split(500)]).numpy()
        truth = images.y_test.numpy()
        confusion = np.stack([answers[truth == one].mean(axis=0) for one in range(about.get("classes", 10))])
        pairs = np.triu_indices(len(confusion), 1)
        mistaken = (confusion + confusion.T)[pairs]
        quality = network_quality(prototypes(network, tuple(about["shape"]), starts=2, sensitivity=False))
        units = network_rows(network)
        rows.append(
            {
                "network": name, "accuracy": about["test"],
                "prototypes": fitting.spearman(quality.cosines[pairs], mistaken),
                "rows of the head": fitting.spearman((units @ units.T)[pairs], mistaken),
            }
        )  # fmt: skip
    timing.show(
        rows, "Rank correlation over pairs of classes: cosine with the probability of mistaking one for the other"
    )


def network_rows(network: torch.nn.Module) -> np.ndarray:
    last = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)][-1].weight.detach().numpy()
    return last / np.linalg.norm(last, axis=1, keepdims=True)


def constants(table: pd.DataFrame) -> None:
    """What src/classay/network/estimate.py holds."""
    for kind, names in SETS.items():
        found = fitting.fit(table, names)
        predicted = fitting.accuracy_of(fitting.left_out(table, names))
        print(f"\n{kind}: intercept {found.intercept:.4f}, error {np.abs(predicted - table['test']).mean():.3f}")
        for level in (0.9, QUANTILE):
            low, high = fitting.reach(table, predicted, level)
            print(f"    {level}: ({low:.3f}, {high:.3f}),")
        for name, centre, scale, coefficient in zip(names, found.centre, found.scale, found.coefficient):
            least, most = table[name].min(), table[name].max()
            print(f'    Term("{name}", {centre:.4f}, {scale:.4f}, {coefficient:.4f}, {least:.4f}, {most:.4f}),')


if __name__ == "__main__":
    main()
