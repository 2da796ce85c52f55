"""How fast walks to prototypes are, and that their memory does not grow with the number of classes.

- against bare forward and backward passes to the input at the same batch, of the same folded and frozen network: the
  least that a walk can cost;
- against the paper's loop: one input at a time through the network as it is, with nothing frozen;
- what folding batch normalisation into the convolutions, with channels last, is worth;
- peak memory by number of classes, each in a process of its own;
- `prototypes` as a whole for 10, 100 and 1,000 classes, at most 1,000 walks as on the command line, against bare passes
  of as many rows: a convolutional network for images of 1x16x16, its weights three times as large as fresh ones so that
  walks arrive (`--classes` shows this table alone).

ResNet18 of width 16 with fresh weights, images of 3x32x32, ten classes, one thread, processor seconds.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import network_zoo as zoo
import numpy as np
import timing
import torch
from torch.nn.functional import cross_entropy

from classay.network.prototypes.prototypes import prototypes
from classay.network.prototypes.runner import fold_normalisation
from classay.network.prototypes.split import Split, split
from classay.network.prototypes.walks import Walker

SHAPE, CLASSES = (3, 32, 32), 10
STEPS = 6
"""Every walk takes so many steps: delta is out of reach, so that both ways do the same work."""


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/network_speed.py --repeats 3")
    parser.add_argument("--batch", type=int, default=90, help="rows walked at once")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--classes", type=int, nargs="+", help="only the table of `prototypes` by number of classes")
    parser.add_argument("--memory", type=int, help=argparse_hidden())
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.memory:
        print(json.dumps(peak(options.memory)))
        return
    if options.classes:
        timing.show([by_classes(classes) for classes in options.classes], f"{timing.machine()}, processor seconds")
        return
    if options.quick:
        options.batch, options.repeats = 10, 1
    torch.manual_seed(0)
    network = zoo.build("resnet", SHAPE, CLASSES).eval()
    found = split(network, SHAPE)
    walks = 2 * options.batch
    starts = found.inputs(CLASSES)
    origin, targets = np.arange(walks) % CLASSES, (np.arange(walks) + 1) % CLASSES

    fast = fold_normalisation(found)
    assert fast is not found
    for parameter in fast.network.parameters():
        parameter.requires_grad_(False)

    def walked(of: Split = fast) -> None:
        Walker(of, 0.5, delta=1e-12, max_steps=STEPS, batch=options.batch).walk(starts, targets, origin)

    def bare() -> None:
        x = starts[origin[: options.batch]].clone()
        goal = torch.as_tensor(targets[: options.batch])
        for _ in range(walks // options.batch * (STEPS + 1)):  # a walk looks once more at where it ended
            x = x.detach().requires_grad_()
            torch.autograd.grad(cross_entropy(fast.network(x), goal), x)

    alone = max(options.batch // 15, 1)

    def one_at_a_time() -> None:
        for row in range(alone):
            x = starts[origin[row], None].clone()
            for _ in range(STEPS + 1):
                x = x.detach().requires_grad_()
                cross_entropy(network(x), torch.as_tensor(targets[[row]])).backward()
                assert x.grad is not None
                x = x - 0.5 * x.grad / x.grad.norm()

    ways = {"walks": walked, "bare": bare, "one at a time": one_at_a_time, "unfolded": lambda: walked(found)}
    walked()
    turns = timing.Turns(ways, options.repeats, clock=time.process_time)
    scale = walks / alone
    rows = [
        {"figure": "walks' throughput over bare passes", "goal": 0.8, "measured": turns.ratio("bare", "walks")},
        {
            "figure": "times faster than one at a time",
            "goal": 5,
            "measured": turns.ratio("one at a time", "walks") * scale,
        },
        {"figure": "times faster than without folding", "measured": turns.ratio("unfolded", "walks")},
    ]
    timing.show(rows, f"{timing.machine()}, torch {torch.__version__}")
    memory = []
    for classes in (10, 100) if options.quick else (10, 100, 400):
        done = subprocess.run(
            [sys.executable, __file__, "--memory", str(classes)], capture_output=True, text=True, check=True
        )
        memory.append({"classes": classes, **json.loads(done.stdout)})
    timing.show(memory, "Peak memory, MB, of 1500 core walks between so many classes, 500 at once")


def by_classes(classes: int) -> dict[str, float]:
    """Seconds of `prototypes`, of its parts, and of bare passes of as many rows in full batches."""
    torch.manual_seed(0)
    shape = (1, 16, 16)
    network = zoo.build("cnn", shape, classes).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3).requires_grad_(False)
    began = time.process_time()
    record = prototypes(network, shape, walks=1000, max_steps=60, sensitivity=False)
    whole = time.process_time() - began
    began = time.process_time()
    prototypes(network, shape, walks=1000, max_steps=60, sensitivity=False, step=record.settings["step"])
    walked = time.process_time() - began
    rows = int((record.steps + 1).sum())
    x, goal = torch.randn(128, *shape), torch.arange(128) % classes
    began = time.process_time()
    for _ in range(max(rows // 128, 1)):
        x = x.detach().requires_grad_()
        torch.autograd.grad(cross_entropy(network(x), goal), x)
    bare = (time.process_time() - began) * rows / (max(rows // 128, 1) * 128)
    share = float(record.converged.mean())
    counts = {"classes": classes, "walks": len(record), "arrived": share, "passes of a row": rows}
    return counts | {"seconds": whole, "with a given step": walked, "bare": bare, "ratio": walked / bare}


def argparse_hidden() -> str:
    import argparse

    return argparse.SUPPRESS


def peak(classes: int) -> dict[str, float]:
    """Peak memory of core walks: the pool of seeds is held, as many inputs as classes, and one batch."""
    network = zoo.build("cnn", SHAPE, classes).eval()
    found = split(network, SHAPE)
    starts = found.inputs(classes)
    rng = np.random.default_rng(0)
    target, origin = rng.integers(classes, size=(2, 1500))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    Walker(found, 0.5, max_steps=2, batch=500).walk(starts, target, origin)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"peak": after, "for walks": after - before}


if __name__ == "__main__":
    main()
