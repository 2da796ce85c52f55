"""Does the paper's separation, added to the training loss, raise accuracy? Three data sets, five seeds, paired.

Each seed trains the same initial network on the same batches with the cross-entropy alone, with
WEIGHT · separation_loss, and with WEIGHT · separation_loss of the paper's bounds (two deviations). The weight was fixed
before looking. Differences are within seeds; the interval is Student's over seeds.
"""

from __future__ import annotations

from pathlib import Path

import network_zoo as zoo
import numpy as np
import pandas as pd
import timing
import torch
from scipy import stats
from torch.nn import functional

from classay.network import separation_loss

WEIGHT, BATCH, STEPS, ROWS = 0.1, 64, 300, 2000
ARMS = {"alone": None, "separation": 0.0, "bounds": 2.0}


def trained(data: zoo.Images, architecture: str, seed: int, deviations: float | None) -> float:
    """Test accuracy of one network."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = zoo.build(architecture, tuple(data.x.shape[1:]), data.classes)
    extract, head = network[:-1], network[-1]
    rows = torch.randperm(len(data.x), generator=generator)[:ROWS]
    x, y = data.x[rows], data.y[rows]
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=1e-2)
    for _ in range(STEPS):
        batch = torch.randint(len(x), (BATCH,), generator=generator)
        features = extract(x[batch])
        loss = functional.cross_entropy(head(features), y[batch])
        if deviations is not None:
            loss = loss + WEIGHT * separation_loss(features, labels=y[batch], deviations=deviations)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        answers = torch.cat([network(part).argmax(1) for part in data.x_test.split(500)])
    return float((answers == data.y_test).float().mean())


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/network_separation.py --data ../shared/data")
    parser.add_argument("--data", type=Path, required=True, help="folder with images/")
    parser.add_argument("--sets", nargs="+", default=["mnist", "fashion", "cifar10"], choices=zoo.SETS)
    parser.add_argument("--architectures", nargs="+", default=["mlp", "cnn"], choices=["mlp", "cnn"])
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in options.sets[: 1 if options.quick else None]:
        data = zoo.images(options.data, name, halved=True)
        for architecture in options.architectures:
            for seed in range(1 if options.quick else options.seeds):
                found = {arm: trained(data, architecture, seed, spread) for arm, spread in ARMS.items()}
                rows.append({"data": name, "architecture": architecture, "seed": seed, **found})
                print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    shown = []
    for keys, each in [*table.groupby(["data", "architecture"]), (("all", "all"), table)]:
        row = {"data": keys[0], "architecture": keys[1], "alone": each["alone"].mean()}
        for arm in ("separation", "bounds"):
            gain = (each[arm] - each["alone"]).to_numpy()
            reach = (
                stats.t.ppf(0.975, max(len(gain) - 1, 1)) * gain.std(ddof=1) / np.sqrt(len(gain))
                if len(gain) > 1
                else 0
            )
            row[arm] = f"{gain.mean():+.4f} [{gain.mean() - reach:+.4f}, {gain.mean() + reach:+.4f}]"
        shown.append(row)
    timing.show(
        shown, f"Accuracy of the cross-entropy alone, and gain by {WEIGHT} times the loss, 95 % intervals over seeds"
    )


if __name__ == "__main__":
    main()
