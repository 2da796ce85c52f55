"""Which shape of input a network takes, where nobody says."""

from __future__ import annotations

import types

import pytest

torch = pytest.importorskip("torch")
from torch import nn

from classay.expect import InputError
from classay.network.prototypes.split import (
    split_by_likely_shape,
)


def images(side=None):
    """A network for images of one size, or of any."""
    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)]
    fixed = [nn.Flatten(), nn.Linear(4 * (side or 1) ** 2, 3)]
    return nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), *(pool if side is None else fixed))


def test_the_first_layer_tells():
    found, why = split_by_likely_shape(nn.Sequential(nn.Flatten(), nn.Linear(12, 6), nn.ReLU(), nn.Linear(6, 3)))
    assert found.input_shape == (12,)
    assert "12 was used, since its first layer takes this many numbers" in why
    for side in (28, 64):
        assert split_by_likely_shape(images(side))[0].input_shape == (1, side, side)
    found, why = split_by_likely_shape(images())
    assert found.input_shape == (1, 32, 32)
    assert "the side is a guess" in why


def test_what_it_says_of_itself_comes_first():
    network = images()
    network.input_size = [1, 9, 7]
    assert split_by_likely_shape(network)[0].input_shape == (1, 9, 7)
    timm = images()
    timm.pretrained_cfg = {"input_size": (1, 40, 40)}
    assert split_by_likely_shape(timm)[0].input_shape == (1, 40, 40)
    hugging = images()
    hugging.config = types.SimpleNamespace(num_channels=1, image_size=48)
    assert split_by_likely_shape(hugging)[0].input_shape == (1, 48, 48)
    for strange in ("3x32x32", 5, (1, -2), (1, None), []):
        network.input_size = strange
        assert split_by_likely_shape(network)[0].input_shape == (1, 32, 32)


def test_what_cannot_be_told():
    texts = nn.Sequential(nn.Embedding(20, 6), nn.Flatten(), nn.Linear(6, 3))
    sound = nn.Sequential(nn.Conv1d(1, 4, 3), nn.Flatten(), nn.Linear(4, 3))
    for network in (texts, sound, images(33)):
        with pytest.raises(InputError, match="--input is missing"):
            split_by_likely_shape(network)
    with pytest.raises(
        InputError, match=r"The first that was tried: The network cannot take inputs of shape \(1, 32, 32\)"
    ):
        split_by_likely_shape(images(33))
