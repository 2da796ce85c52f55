"""Train the networks on which dataless figures are tried, with every factor of training varied apart.

For every data set and architecture: share of the data, number of steps, wrong labels, width, augmentation (shifts and
noise) and weight decay, each alone from one base, and a few of them crossed. A network is a safetensors file, and a
JSON beside it says how it was trained and its accuracy on test rows. What is there already is not trained again.
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
    """How one network is trained. The defaults are the base."""

    share: float = 1.0
    steps: int = 200
    wrong: float = 0.0
    width: float = 1.0
    augment: bool = False
    decay: float = 0.01

    @property
    def name(self) -> str:
        base = f"share{self.share:g}_steps{self.steps}_wrong{self.wrong:g}"
        return base + (f"_width{self.width:g}_augment{self.augment:d}_decay{self.decay:g}" if self.more else "")

    @property
    def more(self) -> bool:
        return self.width != 1 or self.augment or self.decay != 0.01


PLAN = (
    Training(),
    *(Training(share=share) for share in (0.02, 0.1, 0.25, 0.5)),
    *(Training(steps=steps) for steps in (20, 60, 600)),
    *(Training(wrong=wrong) for wrong in (0.2, 0.4)),
    *(Training(width=width) for width in (0.25, 2.0)),
    Training(augment=True),
    *(Training(decay=decay) for decay in (0.0, 0.3)),
    Training(share=0.1, steps=600),
    Training(share=0.1, wrong=0.2),
    Training(share=0.1, augment=True),
    Training(steps=600, wrong=0.2),
    Training(share=0.05, steps=60, width=0.5),
)


def augmented(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Images shifted by up to two pixels, with a little noise; rows of numbers with noise only."""
    if x.dim() == 4:
        moves = torch.randint(-2, 3, (2,), generator=generator).tolist()
        x = torch.roll(x, moves, (2, 3))
    return x + 0.2 * torch.randn(x.shape, generator=generator)


def train(data: zoo.Images, architecture: str, plan: Training, seed: int) -> tuple[torch.nn.Module, dict[str, float]]:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = zoo.build(architecture, tuple(data.x.shape[1:]), data.classes, plan.width)
    rows = torch.randperm(len(data.x), generator=generator)[: max(int(plan.share * len(data.x)), BATCH)]
    x, y = data.x[rows], data.y[rows].clone()
    wrong = torch.rand(len(y), generator=generator) < plan.wrong
    y[wrong] = (y[wrong] + torch.randint(1, data.classes, (int(wrong.sum()),), generator=generator)) % data.classes
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=plan.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=plan.steps)
    network.train()
    done = 0
    while done < plan.steps:
        for batch in torch.randperm(len(x), generator=generator).split(BATCH):
            if len(batch) < BATCH or done == plan.steps:
                continue
            inputs = augmented(x[batch], generator) if plan.augment else x[batch]
            loss = functional.cross_entropy(network(inputs), y[batch])
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
    parser.add_argument("--data", type=Path, required=True, help="folder with images/ and tabular/")
    parser.add_argument("--out", type=Path, required=True, help="folder for the networks")
    parser.add_argument("--sets", nargs="+", default=list(zoo.SETS), choices=zoo.SETS)
    parser.add_argument("--architectures", nargs="+", default=list(zoo.ARCHITECTURES[:4]), choices=zoo.ARCHITECTURES)
    parser.add_argument("--full", action="store_true", help="images at their full size, which takes four times as long")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    sets = {name: zoo.images(options.data, name, halved=not options.full) for name in options.sets}
    # Every set and architecture by one plan before the next, so that a run that is cut short is balanced.
    for plan in PLAN:
        for architecture in options.architectures:
            for name, data in sets.items():
                base = options.out / f"{name}_{architecture}_{plan.name}"
                if Path(f"{base}.json").exists() or (data.x.dim() == 2 and architecture != "mlp"):
                    continue
                began = time.process_time()
                network, accuracy = train(data, architecture, plan, seed=hash_of(base.name))
                save_file(
                    {key: value.contiguous() for key, value in network.state_dict().items()}, f"{base}.safetensors"
                )
                about = {
                    "data": name, "architecture": architecture, **asdict(plan), **accuracy,
                    "shape": list(data.x.shape[1:]), "classes": data.classes, "mean": data.mean, "std": data.std,
                    "seconds": time.process_time() - began,
                }  # fmt: skip
                Path(f"{base}.json").write_text(json.dumps(about))
                print(f"{base.name}: test {accuracy['test']:.3f}, {about['seconds']:.0f} s", flush=True)


def hash_of(name: str) -> int:
    """A seed of a name that is the same in every run."""
    return sum((number + 1) * byte for number, byte in enumerate(name.encode())) % 2**31


if __name__ == "__main__":
    main()
