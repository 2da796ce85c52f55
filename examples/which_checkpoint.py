"""Which of several checkpoints is best? What weights alone show, and what a hundred labelled rows do.

Run: python examples/which_checkpoint.py        (needs classay[network])
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import classay


def trained(x: torch.Tensor, y: torch.Tensor, steps: int) -> nn.Module:
    """A small network after the given number of training steps."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10))
    optimiser = torch.optim.AdamW(network.parameters(), lr=3e-3)
    for _ in range(steps):
        batch = torch.randint(len(x), (64,))
        loss = nn.functional.cross_entropy(network(x[batch]), y[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network


if __name__ == "__main__":
    torch.set_num_threads(1)
    digits, labels = load_digits(return_X_y=True)
    x = torch.from_numpy(((digits - 5) / 6).astype(np.float32)).reshape(-1, 1, 8, 8)
    y = torch.from_numpy(labels.astype(np.int64))

    networks = {f"{steps} steps": trained(x[:1000], y[:1000], steps) for steps in (10, 40, 150, 600)}
    qualities = {
        name: classay.network_quality(net, (1, 8, 8), starts=2, compare_fresh=False, name=name)
        for name, net in networks.items()
    }
    print(qualities["600 steps"])
    print()

    # Without data, nothing separates them: no figure was shown to order networks.
    print(classay.rank_networks(qualities))
    print()

    # A hundred labelled rows that no network saw do.
    few = {"X": x[1000:1100], "y": y[1000:1100]}
    with_rows = {
        name: classay.network_quality(net, (1, 8, 8), starts=1, compare_fresh=False, name=name, **few)
        for name, net in networks.items()
    }
    accuracy = {}
    for name, net in networks.items():
        with torch.no_grad():
            accuracy[name] = float((net(x[1100:]).argmax(1) == y[1100:]).float().mean())
    ranking = classay.rank_networks(with_rows, accuracy)
    print(ranking)
    columns = ["group", "network", "accuracy", "labelled", "structure", "converged", "within", "between"]
    print(ranking.table[columns].round(3).to_string(index=False))
