"""The small networks that `network_suite.py` trains, and the data they are trained on.

An MLP, a plain convolutional network, a small ResNet with batch normalisation, a small vision transformer, and a
ResNet18 of width 16, which is slow. All end in one linear layer and take inputs scaled to mean 0 and spread 1 by
channel (by column for letters). `width` multiplies the units of every hidden layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
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
OTHER = ("digits", "letter")
"""Digits of scikit-learn, 8x8 pixels; letters described by 16 numbers, for an MLP only."""
SETS = (*FILES, *MORE, *OTHER)
ARCHITECTURES = ("mlp", "cnn", "resnet8", "vit", "resnet")
FAMILIES = {"mlp": "MLP", "cnn": "CNN", "resnet8": "ResNet", "resnet": "ResNet", "vit": "ViT"}


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


def images(folder: Path, name: str, most: int = 10_000, halved: bool = False) -> Images:
    """The images of one file of `folder`/images, at most so many training rows, drawn by a fixed seed.

    `halved`: images of 28 pixels or more at half their size, which convolutions do in a quarter of the time.
    """
    generator = np.random.default_rng(0)
    if name == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        return _standardised(x.reshape(-1, 1, 8, 8), y, generator, most, (0, 2, 3))
    if name == "letter":
        table = pd.read_csv(folder / "tabular" / "letter_recognition.csv.gz")
        label = next(column for column in table if not pd.api.types.is_numeric_dtype(table[column]))
        codes = pd.factorize(table[label], sort=True)[0]
        return _standardised(table.drop(columns=label).to_numpy(float), codes, generator, most, (0,))
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
    if halved and x.shape[2] >= 28:
        x, x_test = (nn.functional.avg_pool2d(torch.from_numpy(part), 2).numpy() for part in (x, x_test))
    mean, std = x.mean(axis=(0, 2, 3)), x.std(axis=(0, 2, 3))
    scaled = [torch.from_numpy((part - mean[:, None, None]) / std[:, None, None]).float() for part in (x, x_test)]
    labels = [torch.from_numpy(part.astype(np.int64)) for part in (y, y_test)]
    return Images(scaled[0], labels[0], scaled[1], labels[1], tuple(map(float, mean)), tuple(map(float, std)))


def _standardised(
    x: np.ndarray, y: np.ndarray, generator: np.random.Generator, most: int, axes: tuple[int, ...]
) -> Images:
    """Rows without a split of their own: 30 % are for testing."""
    order = generator.permutation(len(x))
    test, train = order[: int(0.3 * len(x))][:2_000], order[int(0.3 * len(x)) :][:most]
    mean, std = x[train].mean(axis=axes, keepdims=True), x[train].std(axis=axes, keepdims=True)
    scaled = [torch.from_numpy((x[rows] - mean) / std).float() for rows in (train, test)]
    labels = [torch.from_numpy(y[rows].astype(np.int64)) for rows in (train, test)]
    return Images(scaled[0], labels[0], scaled[1], labels[1], tuple(mean.ravel().tolist()), tuple(std.ravel().tolist()))


def build(architecture: str, shape: tuple[int, ...], classes: int = 10, width: float = 1.0) -> nn.Module:
    """A fresh network of this architecture for inputs of this shape, images as (channels, height, width)."""

    def wide(units: int) -> int:
        return max(int(units * width), 4)

    if architecture == "mlp":
        return nn.Sequential(
            nn.Flatten(), nn.Linear(int(np.prod(shape)), wide(256)), nn.ReLU(), nn.Linear(wide(256), wide(128)),
            nn.ReLU(), nn.Linear(wide(128), classes),
        )  # fmt: skip
    if architecture == "cnn":
        return nn.Sequential(
            nn.Conv2d(shape[0], wide(16), 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(wide(16), wide(32), 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(wide(32), wide(64), 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
            nn.Linear(4 * wide(64), wide(64)), nn.ReLU(), nn.Linear(wide(64), classes),
        )  # fmt: skip
    if architecture == "vit":
        return ViT(shape, classes, wide(64))
    if architecture == "resnet8":
        return ResNet8(shape[0], wide(16), classes)
    return ResNet18(shape[0], 16, classes)


class Attention(nn.Module):
    """Four heads of attention and a layer of twice the width, each after a normalisation and with a short cut."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.mix(self.norm1(x)).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2)
        x = x + self.out(mixed)
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm2(x))))


class ViT(nn.Module):
    """A vision transformer of two layers on 16 patches, averaged over patches before the head."""

    def __init__(self, shape: tuple[int, ...], classes: int, width: int) -> None:
        super().__init__()
        width -= width % 4
        side = shape[1] // 4
        self.patches = nn.Conv2d(shape[0], width, side, side)
        self.places = nn.Parameter(0.02 * torch.randn(1, 16, width))
        self.layers = nn.Sequential(Attention(width), Attention(width))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tokens = self.patches(x).flatten(2).transpose(1, 2) + self.places
        return self.head(self.norm(self.layers(tokens)).mean(1))


class ResNet8(nn.Module):
    """Three stages of one block after a stem of stride 2, batch normalisation, global average, one linear layer."""

    def __init__(self, channels: int, width: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(channels, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.stages = nn.Sequential(Block(width, width, 1), Block(width, 2 * width, 2), Block(2 * width, 4 * width, 2))
        self.head = nn.Linear(4 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.stages(self.stem(x)).mean(dim=(2, 3)))


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
