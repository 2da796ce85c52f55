"""A record of prototypes as walks would make it, without torch."""

import numpy as np

from classay.network.prototypes.prototypes import Prototypes
from classay.network.prototypes.schedule import SEED


def walks(noise=0.1, classes=3, width=5, seed=0, **changes):
    """Two starts, and of each class a seed and a core from every other; its features differ by so much noise."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid([0, 1], np.arange(classes), np.arange(SEED, classes), indexing="ij")
    start, target, origin = (each.ravel() for each in grid)
    kept = target != origin
    m = int(kept.sum())
    parts = {
        "features": (np.eye(classes, width)[target[kept]] + noise * rng.random((m, width))).astype(np.float32),
        "weight": np.eye(classes, width, dtype=np.float32),
        "converged": np.ones(m, bool),
        "settings": {"step": 0.3, "delta": 0.01, "input_shape": [4]},
        "about": {"network": "net", "output": "softmax"},
    }
    parts |= {"target": target[kept], "origin": origin[kept], "start": start[kept], "steps": np.full(m, 7)}
    parts |= {"length": np.full(m, 2.0), "distance": np.ones(m), "loss": np.full(m, 0.01)}
    return Prototypes(**(parts | changes))
