"""Is a network trained on more rows ever put the wrong way round with confidence? Ten seeds of a digits MLP.

Each seed trains three networks for the same number of steps on 100, 25 and 5 % of the rows. Counted are pairs that
`rank_networks` separates, rightly and wrongly: without data, and with 20, 50 and 100 labelled rows. Beside it, the rank
correlation of single figures with accuracy, and how often the paper's bounds and the intervals hold the truth.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import network_suite as suite
import network_zoo as zoo
import numpy as np
import pandas as pd
import timing
import torch
from scipy.stats import spearmanr

from classay.network.prototypes.split import split
from classay.network.quality.labelled_rows import labelled_rows
from classay.network.quality.quality import NetworkQuality, by_labelled_rows, network_quality
from classay.network.quality.rank_networks import rank_networks

SHARES, ROWS = (1.0, 0.25, 0.05), (20, 50, 100)


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/network_seeds.py")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = zoo.images(Path(), "digits")
    rng = np.random.default_rng(0)
    orders, table = [], []
    for seed in range(2 if options.quick else options.seeds):
        networks: dict[str, NetworkQuality] = {}
        truth: dict[str, float] = {}
        parts = {}
        for share in SHARES:
            network, accuracy = suite.train(data, "mlp", suite.Training(share=share), seed)
            name = f"{share:.0%}"
            parts[name] = split(network, tuple(data.x.shape[1:]))
            networks[name] = network_quality(parts[name], starts=2, compare_fresh=False, sensitivity=False, name=name)
            truth[name] = accuracy["test"]
            low, high = networks[name].accuracy_bounds
            figures = networks[name].figures
            table.append(
                {"seed": seed, "share": share, "test": truth[name], "paper": low <= truth[name] <= high}
                | {figure: figures[figure] for figure in ("structure", "row_spread", "between", "within")}
            )
        orders += [{"rows": 0, **counted(networks, truth)}]
        for rows in ROWS:
            some = rng.choice(len(data.x_test), rows, replace=False)
            given = labelled_rows(data.x_test[some], data.y_test[some])
            known = {}
            for name, quality in networks.items():
                known[name] = replace(quality, **by_labelled_rows(parts[name], given, None))
            held = [known[name].labelled.low <= truth[name] <= known[name].labelled.high for name in known]
            orders.append({"rows": rows, **counted(known, truth), "held": float(np.mean(held))})
    frame = pd.DataFrame(table)
    timing.show(frame.groupby("share")[["test", "structure", "row_spread", "between", "within"]].mean().reset_index())
    shown = [
        {"figure": name, "Spearman": np.mean([spearmanr(each[name], each["test"]).statistic
                                             for _, each in frame.groupby("seed")])}
        for name in ("structure", "row_spread", "between", "within")
    ]  # fmt: skip
    timing.show(shown, "Mean rank correlation with accuracy within a seed, three networks each")
    print(f"the paper's bounds hold {frame['paper'].mean():.0%}")
    sums = pd.DataFrame(orders).groupby("rows").agg({"pairs": "sum", "right": "sum", "wrong": "sum", "held": "mean"})
    timing.show(sums.reset_index(), "Pairs that were separated, by number of labelled rows; 90 % intervals that held")


def counted(networks: dict[str, NetworkQuality], truth: dict[str, float]) -> dict[str, int]:
    """Pairs, and those put into different groups rightly and wrongly."""
    ranking = rank_networks(networks)
    apart = ranking.pairs[ranking.pairs["separated"].astype(bool)]
    signs = [
        (truth[one] - truth[other]) * way
        for one, other, way in zip(apart["first"], apart["second"], apart["difference"])
    ]
    right = sum(sign > 0 for sign in signs)
    return {"pairs": len(list(itertools.combinations(truth, 2))), "right": right, "wrong": len(signs) - right}


if __name__ == "__main__":
    main()
