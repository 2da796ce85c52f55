"""Do dataless figures tell accuracy? Tables on the networks that `network_suite.py` trained.

Tables like the paper's 2 and 3: its bounds, the true accuracy and the share enclosed. Spearman's correlation of each
figure with accuracy, within data set and architecture, with the factors of training apart: amount of data only, length
of training only, label noise only (share of pairs in which the clean network has the larger figure, scaled to −1..1).
`alpha` is a power law as WeightWatcher's, fitted by classay's own short function; `weightwatcher` the package's own
mean alpha, where given; `weight_norm` the norm of all weights.
Then what each figure is good for.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path

import network_measure as measuring
import numpy as np
import pandas as pd
import timing
import torch
from network_probes import PROBES
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from classay.network.quality.figures import FIGURES

BASE = measuring.FACTORS["steps"]
BESIDE = ("lower", "upper", "core_steps", "weight_norm", "weightwatcher")


def main() -> None:
    parser = timing.parser(
        __doc__, "python benchmarks/network_claims.py --networks runs/nets --cache runs/nets-figures"
    )
    parser.add_argument("--networks", type=Path, required=True, help="folder that network_suite.py wrote")
    parser.add_argument("--cache", type=Path, required=True, help="folder for what is measured")
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--origins", type=int, default=9)
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
    good_for(table)
    untrained(table)
    if options.data is not None:
        alike(options.networks, options.data)


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
    shares = frame[(frame["steps"] == BASE) & (frame["wrong"] == 0)]
    timing.show(
        shares.groupby("share")[columns].mean(numeric_only=False).astype(float).reset_index(),
        f"By share of the data, {BASE} steps, right labels, means over data sets and architectures",
    )
    too_low = float((frame["test"] > frame["upper"]).mean())
    print(
        f"enclosed {enclosed.mean():.0%}, mean width {frame['width'].mean():.2f}; above the upper bound {too_low:.0%}"
    )


def correlations(table: pd.DataFrame) -> None:
    rows = []
    for name in (*FIGURES, *PROBES, *BESIDE):
        if name in table:
            values = table[name].to_numpy()
            own = by_group(table, values, ["data", "architecture"])
            rows.append(
                {
                    "figure": name, "data+architecture": np.nanmean(own), "least": np.nanmin(own),
                    "most": np.nanmax(own),
                    **factors(table, values), "data, across": np.nanmean(by_group(table, values, ["data"])),
                    "pooled": by_group(table.assign(all=0), values, ["all"])[0],
                }
            )  # fmt: skip
    timing.show(rows, "Spearman's correlation with accuracy, mean over groups; the factors of training apart")


def by_group(table: pd.DataFrame, values: np.ndarray, keys: list[str], least: int = 4) -> np.ndarray:
    """Rank correlation of values with accuracy in every group of at least so many networks."""
    known = table.assign(values=values)[np.isfinite(values)]
    return np.array(
        [
            spearmanr(group["values"], group["test"]).statistic
            for _, group in known.groupby(keys)
            if len(group) >= least and np.ptp(group["test"]) > 0
        ]
    )


def factors(table: pd.DataFrame, values: np.ndarray) -> dict[str, float]:
    """Correlation within data set and architecture where one thing alone was varied."""
    more = (table["steps"] == BASE) & (table["wrong"] == 0)
    longer = (table["share"] == 1) & (table["wrong"] == 0)
    keys = ["data", "architecture"]
    signs = []
    for _, each in table.assign(value=values).groupby([*keys, "share", "steps"]):
        clean, wrong = each[each["wrong"] == 0], each[each["wrong"] > 0]
        if len(clean) == 1 and len(wrong) == 1:
            signs.append(np.sign(clean["value"].iloc[0] - wrong["value"].iloc[0]))
    return {
        "data only": float(np.nanmean(by_group(table[more], values[more], keys))),
        "steps only": float(np.nanmean(by_group(table[longer], values[longer], keys, 3))),
        "noise only": float(np.nanmean(signs)) if signs else float("nan"),
    }


def good_for(table: pd.DataFrame) -> None:
    """How well a figure tells two kinds of networks apart, within data set and architecture."""
    clean = table["wrong"] == 0
    trained = clean & (table["steps"] >= BASE)
    tasks = {
        "stopped early from trained": (clean & (table["steps"] <= BASE // 3), trained & (table["share"] == 1)),
        "few rows from many": (clean & (table["share"] <= 0.1), trained & (table["share"] >= 0.6)),
        "wrong labels from right": (table["wrong"] > 0, trained & table["share"].isin((0.1, 1.0))),
    }
    values = {name: table[name] for name in (*FIGURES, *PROBES, *BESIDE) if name in table}
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


def untrained(table: pd.DataFrame) -> None:
    """Structure of fresh networks, by several initialisations, and of trained ones; how many are called like fresh."""
    import network_zoo as zoo

    from classay.network.prototypes.prototypes import layer_structure

    starts = {
        "torch": lambda weight: None,
        "normal .02": lambda weight: torch.nn.init.normal_(weight, std=0.02),
        "Xavier": torch.nn.init.xavier_uniform_,
        "orthogonal": torch.nn.init.orthogonal_,
    }
    rows = []
    for name, start in starts.items():
        for architecture in zoo.ARCHITECTURES[:4]:
            values, like_fresh = [], []
            for seed in range(20):
                torch.manual_seed(seed)
                network = zoo.build(architecture, (1, 14, 14), 10)
                for parameter in network.parameters():
                    if parameter.ndim > 1:
                        start(parameter)
                structure, within = layer_structure(network, seed)
                values.append(float(np.mean(list(structure.values()))))
                like_fresh.append(len(structure) == len(within))
            rows.append({"networks": f"fresh, {name}", "architecture": architecture, "least": min(values),
                         "most": max(values), "like fresh": np.mean(like_fresh)})  # fmt: skip
    for (architecture, steps), each in table.groupby(["architecture", "steps"]):
        values = each["structure"]
        rows.append({"networks": f"{steps} steps", "architecture": architecture, "least": values.min(),
                     "most": values.max()})  # fmt: skip
    timing.show(rows, "Structure of weights; share of fresh networks of which all layers lie within the range (95 %)")


def alike(folder: Path, data: Path) -> None:
    """Whether the classes that prototypes take for alike are those the network confuses on test images."""
    import network_zoo as zoo

    from classay.network.prototypes.prototypes import prototypes
    from classay.network.quality.quality import network_quality

    rows = []
    for name in measuring.names(folder):
        if "share1_steps200_wrong0" not in name or name.endswith("0.2") or not name.startswith(tuple(zoo.FILES)):
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
                "prototypes": spearmanr(quality.cosines[pairs], mistaken).statistic,
                "rows of the head": spearmanr((units @ units.T)[pairs], mistaken).statistic,
            }
        )  # fmt: skip
    timing.show(
        rows, "Rank correlation over pairs of classes: cosine with the probability of mistaking one for the other"
    )


def network_rows(network: torch.nn.Module) -> np.ndarray:
    last = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)][-1].weight.detach().numpy()
    return last / np.linalg.norm(last, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
