"""Train the networks on which dataless figures are tried: length of training, amount of data and wrong labels apart.

For every data set and architecture: the share of the data at one number of steps; the number of steps at all of the
data; 20 % wrong labels at several of both. A network is a safetensors file, and a JSON beside it says how it was
trained and its accuracy on test rows. What is there already is not trained again.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import network_zoo as zoo
import torch
from safetensors.torch import save_file
from torch.nn import functional

BATCH = 64


@dataclass(frozen=True)
class Training:
    """How one network is trained."""

    share: float
    steps: int
    wrong: float

    @property
    def name(self) -> str:
        return f"share{self.share:g}_steps{self.steps}_wrong{self.wrong:g}"


PLAN = (
    *(Training(share, 300, 0.0) for share in (1.0, 0.02, 0.1, 0.25, 0.4, 0.6, 0.8)),
    *(Training(1.0, steps, 0.0) for steps in (30, 100, 900)),
    *(Training(share, steps, 0.2) for share, steps in ((1.0, 300), (0.1, 300), (1.0, 900))),
    Training(0.1, 900, 0.0),
)


def train(data: zoo.Images, architecture: str, plan: Training, seed: int) -> tuple[torch.nn.Module, dict[str, float]]:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = zoo.build(architecture, tuple(data.x.shape[1:]), data.classes)
    rows = torch.randperm(len(data.x), generator=generator)[: max(int(plan.share * len(data.x)), BATCH)]
    x, y = data.x[rows], data.y[rows].clone()
    wrong = torch.rand(len(y), generator=generator) < plan.wrong
    y[wrong] = (y[wrong] + torch.randint(1, data.classes, (int(wrong.sum()),), generator=generator)) % data.classes
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=plan.steps)
    network.train()
    done = 0
    while done < plan.steps:
        for batch in torch.randperm(len(x), generator=generator).split(BATCH):
            if len(batch) < BATCH or done == plan.steps:
                continue
            loss = functional.cross_entropy(network(x[batch]), y[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            done += 1
    network.eval()

    def accuracy(inputs: torch.Tensor, labels: torch.Tensor) -> float:
        with torch.no_grad():
            answers = torch.cat([network(part).argmax(1) for part in inputs.split(500)])
        return float((answers == labels).float().mean())

    return network, {"test": accuracy(data.x_test, data.y_test), "train": accuracy(x[:2000], y[:2000])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with images/")
    parser.add_argument("--out", type=Path, required=True, help="folder for the networks")
    parser.add_argument("--sets", nargs="+", default=list(zoo.FILES), choices=[*zoo.FILES, *zoo.MORE])
    parser.add_argument("--architectures", nargs="+", default=list(zoo.ARCHITECTURES), choices=zoo.ARCHITECTURES)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    sets = {name: zoo.images(options.data, name) for name in options.sets}
    # The quick architectures of every set first, so that a run that is cut short is balanced.
    for architecture in options.architectures:
        for plan in PLAN:
            for name, data in sets.items():
                base = options.out / f"{name}_{architecture}_{plan.name}"
                if Path(f"{base}.json").exists():
                    continue
                began = time.perf_counter()
                network, accuracy = train(data, architecture, plan, seed=hash_of(base.name))
                save_file(
                    {key: value.contiguous() for key, value in network.state_dict().items()}, f"{base}.safetensors"
                )
                about = {
                    "data": name, "architecture": architecture, **asdict(plan), **accuracy,
                    "shape": list(data.x.shape[1:]), "classes": data.classes, "mean": data.mean, "std": data.std,
                    "seconds": time.perf_counter() - began,
                }  # fmt: skip
                Path(f"{base}.json").write_text(json.dumps(about))
                print(f"{base.name}: test {accuracy['test']:.3f}, {about['seconds']:.0f} s", flush=True)


def hash_of(name: str) -> int:
    """A seed of a name that is the same in every run."""
    return sum((number + 1) * byte for number, byte in enumerate(name.encode())) % 2**31


if __name__ == "__main__":
    main()
