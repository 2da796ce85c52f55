"""How many labels rank networks? The power and the errors of `rank_networks` and of `rows_to_label`, by simulation.

- two networks, .914 against .846 correct on 200 rows: how often McNemar's exact test separates them, and how often
  their 90 % intervals do not overlap, by the share of the better one's errors that both make;
- twelve networks of equal accuracy: how often any pair is separated (Holm's rule allows 5 %), by rows drawn evenly and
  by `rows_to_label`;
- twelve trained networks for each data set: the share of pairs that are separated, by number of labels, drawn evenly
  and by `rows_to_label`; and how many labels of the latter reach the power of the former.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import network_suite as suite
import network_zoo as zoo
import numpy as np
import timing
import torch

from classay.network.quality.labelled_rows import accuracy_by_rows, draw
from classay.network.quality.rank_networks import compared_pairs

SIZES = (25, 50, 100, 200, 400)
PLANS = (
    suite.Training(steps=600), suite.Training(), suite.Training(steps=60), suite.Training(share=0.25),
    suite.Training(share=0.1), suite.Training(wrong=0.2),
)  # fmt: skip
"""Each with an MLP and a convolutional network: twelve."""


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/network_labels.py --data data --sets usps fashion")
    parser.add_argument("--data", type=Path, default=Path(), help="folder with images/; not needed for digits")
    parser.add_argument("--sets", nargs="+", default=["digits"], choices=zoo.SETS)
    parser.add_argument("--draws", type=int, default=100, help="draws of labels; 20 times as many pairs of networks")
    options = parser.parse_args()
    torch.set_num_threads(1)
    draws = 5 if options.quick else options.draws
    rng = np.random.default_rng(0)
    timing.show(pairs_of_two(rng, 20 * draws), "Two networks, .914 and .846 correct, 200 rows: separated")
    timing.show(equal_networks(rng, 5 * draws), "Twelve networks of equal accuracy: any pair separated")
    for name in options.sets:
        labels_saved(name, options.data, rng, draws)


def pairs_of_two(rng: np.random.Generator, draws: int) -> list[dict[str, float]]:
    rows = []
    for shared in (1.0, 0.75, 0.5):
        exact = overlap = 0
        for _ in range(draws):
            wrong = rng.random(200) < 0.086
            also = (0.154 - shared * 0.086) / 0.914  # so that the other is wrong on .154 of all rows
            other = np.where(wrong, rng.random(200) < shared, rng.random(200) < also)
            right = ~np.stack([wrong, other])
            pairs = compared_pairs(["a", "b"], right)
            exact += int(pairs["separated"][0] and pairs["difference"][0] > 0)
            first, second = (accuracy_by_rows(int(each.sum()), 200) for each in right)
            overlap += int(first.low > second.high)
        rows.append({"errors shared": shared, "exact test": exact / draws, "intervals apart": overlap / draws})
    return rows


def equal_networks(rng: np.random.Generator, draws: int) -> list[dict[str, float]]:
    names = [str(at) for at in range(12)]
    rows = []
    for kind in ("one difficulty", "two kinds of rows"):
        counts = np.zeros(2)
        for _ in range(draws):
            hard = rng.beta(0.3, 1.7, 2000)  # the chance of an error, .15 on average
            chance = np.tile(hard, (12, 1))
            if kind != "one difficulty":  # half of them find all rows equally hard
                chance[:6] = 0.15
            answers = np.where(rng.random((12, 2000)) < chance, rng.integers(1, 10, (12, 2000)), 0)
            even = rng.choice(2000, 200, replace=False)
            counts[0] += compared_pairs(names, answers[:, even] == 0)["separated"].any()
            drawn = draw(answers, 200, rng)
            counts[1] += compared_pairs(names, answers[:, drawn.rows] == 0, drawn.weights)["separated"].any()
        rows.append({"rows": kind, "drawn evenly": counts[0] / draws, "rows_to_label": counts[1] / draws})
    return rows


def labels_saved(name: str, folder: Path, rng: np.random.Generator, draws: int) -> None:
    data = zoo.images(folder, name, halved=True)
    truth = data.y_test.numpy()
    answers = []
    for architecture in ("mlp", "cnn"):
        for plan in PLANS:
            network, _ = suite.train(data, architecture, plan, seed=len(answers))
            with torch.no_grad():
                answers.append(torch.cat([network(part).argmax(1) for part in data.x_test.split(500)]).numpy())
    table = np.stack(answers)
    accuracy = (table == truth).mean(axis=1)
    names = [str(at) for at in range(len(table))]
    better = np.sign([accuracy[one] - accuracy[other] for one, other in combinations(range(len(table)), 2)])
    rows = []
    for size in (each for each in SIZES if each < len(truth)):
        row = {"labels": size}
        for way in ("evenly", "rows_to_label"):
            right = wrong = 0.0
            error = []
            for _ in range(draws):
                even = rng.choice(len(truth), size, replace=False)
                drawn = draw(table, size, rng)
                chosen, weights = (even, None) if way == "evenly" else (drawn.rows, drawn.weights)
                pairs = compared_pairs(names, table[:, chosen] == truth[chosen], weights)
                signs = np.sign(pairs["difference"].to_numpy()) * pairs["separated"].to_numpy()
                right += (signs * better > 0).mean() / draws
                wrong += (signs * better < 0).any() / draws
                error.append(pairs["difference"].to_numpy() - (np.array([accuracy[int(a)] - accuracy[int(b)]
                             for a, b in zip(pairs["first"], pairs["second"])])))  # fmt: skip
            row |= {f"{way}: separated": right, f"{way}: any wrong": wrong}
            row |= {f"{way}: error": float(np.sqrt(np.mean(np.square(error)))), f"{way}: bias": float(np.mean(error))}
        rows.append(row)
    title = f"{name}: 12 networks, accuracies {accuracy.min():.3f} to {accuracy.max():.3f}, {len(truth)} rows, "
    timing.show(rows, f"{title}two or more disagree on {draw(table, 1, rng).disagreement:.0%}")
    sizes, powers = (np.array([row[key] for row in rows]) for key in ("labels", "rows_to_label: separated"))
    equal = [
        {"labels drawn evenly": row["labels"], "as good by rows_to_label": float(np.interp(own, powers, sizes)),
         "saved": 1 - float(np.interp(own, powers, sizes)) / row["labels"]}
        for row in rows if (own := row["evenly: separated"]) > powers[0]
    ]  # fmt: skip
    timing.show(equal, "Labels for the same share of separated pairs (linear between the sizes)")


if __name__ == "__main__":
    main()
