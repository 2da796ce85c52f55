"""The small networks that `network_suite.py` trains, and the images they are trained on.

Three architectures that end in one linear layer after a ReLU: an MLP, a plain convolutional network, and a ResNet18 of
width 16. All take images scaled to mean 0 and spread 1 by channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn

FILES = {
    "usps": "usps.npz",
    "mnist": "mnist.npz",
    "fashion": "fashion_mnist_20k_5k.npz",
    "cifar10": "cifar10_jpeg_10k_2k.npz",
}
MORE = {
    "coil20": "coil20_32.npz",
    "orl": "orl_faces_32.npz",
    "yaleb": "yaleb_faces_32.npz",
    "omniglot40": "omniglot_28.npz",
    "tiny20": "tiny_imagenet200_32px_10k_4k.npz",
}
"""Sets of other sizes, difficulty and numbers of classes, so that a figure is not fitted to four sets of ten."""
MOST_CLASSES = {"omniglot40": 40, "tiny20": 20}
ARCHITECTURES = ("mlp", "cnn", "resnet")


@dataclass(frozen=True)
class Images:
    """Training and test images as tensors, standardised by channel; labels; the mean and spread that did it."""

    x: torch.Tensor
    y: torch.Tensor
    x_test: torch.Tensor
    y_test: torch.Tensor
    mean: tuple[float, ...]
    std: tuple[float, ...]

    @property
    def classes(self) -> int:
        return int(self.y.max()) + 1


def images(folder: Path, name: str, most: int = 10_000) -> Images:
    """The images of one file of `folder`/images, at most so many training rows, drawn by a fixed seed."""
    generator = np.random.default_rng(0)
    with np.load(folder / "images" / {**FILES, **MORE}[name]) as file:
        if "x_train" in file:
            parts = [file[key] for key in ("x_train", "y_train", "x_test", "y_test")]
        else:  # no split of its own: 30 % are for testing
            x, y = file["x"], file["y"]
            first = MOST_CLASSES.get(name, int(y.max()) + 1)
            x, y = x[y < first], y[y < first]
            order = generator.permutation(len(x))
            train, test = order[: int(0.7 * len(x))], order[int(0.7 * len(x)) :]
            parts = [x[train], y[train], x[test], y[test]]
    if name in MOST_CLASSES:
        for at in (0, 2):
            few = parts[at + 1] < MOST_CLASSES[name]
            parts[at : at + 2] = [parts[at][few], parts[at + 1][few]]
    keep = generator.permutation(len(parts[0]))[:most]
    test = generator.permutation(len(parts[2]))[:2_000]
    x, y, x_test, y_test = parts[0][keep], parts[1][keep], parts[2][test], parts[3][test]

    def channels(values: np.ndarray) -> np.ndarray:
        values = values.astype(np.float32) / 255
        return values[:, None] if values.ndim == 3 else values.transpose(0, 3, 1, 2)

    x, x_test = channels(x), channels(x_test)
    mean, std = x.mean(axis=(0, 2, 3)), x.std(axis=(0, 2, 3))
    scaled = [torch.from_numpy((part - mean[:, None, None]) / std[:, None, None]).float() for part in (x, x_test)]
    labels = [torch.from_numpy(part.astype(np.int64)) for part in (y, y_test)]
    return Images(scaled[0], labels[0], scaled[1], labels[1], tuple(map(float, mean)), tuple(map(float, std)))


def build(architecture: str, shape: tuple[int, int, int], classes: int = 10) -> nn.Module:
    """A fresh network of this architecture for images of (channels, height, width)."""
    if architecture == "mlp":
        return nn.Sequential(
            nn.Flatten(), nn.Linear(int(np.prod(shape)), 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
            nn.Linear(128, classes),
        )  # fmt: skip
    if architecture == "cnn":
        return nn.Sequential(
            nn.Conv2d(shape[0], 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
            nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, classes),
        )  # fmt: skip
    return ResNet18(shape[0], 16, classes)


class Block(nn.Module):
    """Two 3x3 convolutions with batch normalisation and a short cut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(after)
        self.short: nn.Module = nn.Identity()
        if stride != 1 or before != after:
            self.short = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = self.norm2(self.second(torch.relu(self.norm1(self.first(x)))))
        return torch.relu(inner + self.short(x))


class ResNet18(nn.Module):
    """ResNet18 for small images: a 3x3 stem, four stages of two blocks, global average, one linear layer."""

    def __init__(self, channels: int, width: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(channels, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.stages = nn.Sequential(
            *(
                nn.Sequential(Block(before, after, 1 if number == 0 else 2), Block(after, after, 1))
                for number, (before, after) in enumerate(pairwise(widths))
            )
        )
        self.head = nn.Linear(8 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.stages(self.stem(x)).mean(dim=(2, 3))
        return self.head(features)
