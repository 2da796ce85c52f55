"""Dataless figures of the networks in a folder, each written to a small JSON file, so that tables can be made again.

A network is what `network_suite.py` wrote: NAME.safetensors with its weights, NAME.json with how it was trained and how
accurate it is. What is measured already is not measured again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import network_zoo as zoo
import numpy as np
import pandas as pd
import torch
from network_probes import probe_record
from safetensors.torch import load_file

from classay.network.cosines import cosines
from classay.network.prototypes.prototypes import prototypes
from classay.network.prototypes.split import split
from classay.network.quality.figures import figures

FORMAT = 3
FACTORS = {"share": 1.0, "steps": 200, "wrong": 0.0, "width": 1.0, "augment": False, "decay": 0.01}
"""What is varied, and its value in the base of `network_suite.py`."""


def load(base: Path) -> tuple[dict[str, Any], torch.nn.Module]:
    """How a network was trained, and the network."""
    about = json.loads(base.with_name(base.name + ".json").read_text())
    network = zoo.build(about["architecture"], tuple(about["shape"]), about.get("classes", 10), about.get("width", 1.0))
    network.load_state_dict(load_file(base.with_name(base.name + ".safetensors")))
    return about, network.eval()


def names(folder: Path) -> list[str]:
    """The networks of a folder that are whole."""
    return sorted(path.stem for path in folder.glob("*.json") if path.with_suffix(".safetensors").exists())


def measure(folder: Path, name: str, starts: int, origins: int) -> dict[str, Any]:
    """Everything that the tables need of one network."""
    about, network = load(folder / name)
    began = time.process_time()
    record = prototypes(
        network, tuple(about["shape"]), starts=starts, origins=min(origins, about.get("classes", 10) - 1),
        sensitivity=False, keep_inputs=True, name=name,
    )  # fmt: skip
    bounds = []
    for start in record.starts:
        rows = record.start == start
        classes, codes = np.unique(record.target[rows], return_inverse=True)
        found = cosines(record.features[rows], codes, len(classes))
        bounds.append([*found.bounds, found.m_in, found.within_std, found.cs_bt, found.between_std])
    lower, upper, m_in, in_std, cs_bt, bt_std = np.mean(bounds, axis=0).tolist()
    weights = [parameter.detach().numpy().ravel() for parameter in network.parameters() if parameter.ndim > 1]
    return {
        "format": FORMAT, "name": name,
        "data": about["data"], "architecture": about["architecture"],
        **{key: about.get(key, base) for key, base in FACTORS.items()}, "fingerprint": record.about["fingerprint"],
        "test": about["test"], "train": about["train"], "classes": about.get("classes", 10),
        "lower": lower, "upper": upper, "m_in": m_in, "in_std": in_std, "cs_bt": cs_bt, "bt_std": bt_std,
        "core_steps": float(record.steps[record.origin >= 0].mean()), "converged": float(record.converged.mean()),
        "weight_norm": float(np.linalg.norm(np.concatenate(weights))), "processor_seconds": time.process_time() - began,
        "figures": {**figures(record), **probe_record(split(network, tuple(about["shape"])), record)},
    }  # fmt: skip


def table(
    folder: Path, cache: Path, starts: int, origins: int, most: int | None = None, measured: bool = False
) -> pd.DataFrame:
    """One row a network; figures in columns. `measured`: only those that were measured already."""
    cache.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in names(folder)[:most]:
        kept = cache / f"{name}.json"
        known = json.loads(kept.read_text()) if kept.exists() else {}
        if known.get("format") != FORMAT:
            if measured:
                continue
            known = measure(folder, name, starts, origins)
            kept.write_text(json.dumps(known))
            print(f"{name}: {known['processor_seconds']:.1f} s", flush=True)
        rows.append({**{key: value for key, value in known.items() if key != "figures"}, **known["figures"]})
    return pd.DataFrame(rows)


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=Path, required=True, help="folder of networks")
    parser.add_argument("--cache", type=Path, required=True, help="folder for what was measured")
    parser.add_argument("--starts", type=int, default=2)
    parser.add_argument("--origins", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(len(table(options.networks, options.cache, options.starts, options.origins)), "networks")
