"""Accuracy on labelled rows, many or few."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from small_networks import mlp
from torch import nn

import classay
from classay.expect import InputError
from classay.network.prototypes.split import split
from classay.network.quality.labelled_rows import LabelledRows, read_labelled_rows, rows_right


@pytest.fixture
def brightest():
    """A network that answers which of three channels is brightest, after a shift that mean and spread undo."""
    network = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 3, bias=False))
    with torch.no_grad():
        network[2].weight.copy_(torch.diag(torch.tensor([1.0, 2.0, 3.0])))
    return split(network, (3, 4, 4))


def images(n=300):
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (n, 3, 4, 4), dtype=np.uint8)


def by_hand(x, mean=0.0, std=1.0):
    scaled = ((x / 255).mean((2, 3)) - mean) / std
    return (scaled * [1, 2, 3]).argmax(1)


def test_bytes_are_scaled(brightest):
    x = images()
    assert rows_right(brightest, LabelledRows(x, by_hand(x))).sum() == 300
    floats = (x / 255).astype(np.float32)
    assert rows_right(brightest, LabelledRows(floats, by_hand(x))).sum() == 300
    labels = by_hand(x)
    labels[:30] = (labels[:30] + 1) % 3
    assert rows_right(brightest, LabelledRows(x, labels)).sum() == 270
    mean, std = np.array([0.48, 0.5, 0.52]), np.array([0.1, 0.2, 0.3])
    labels = by_hand(x, mean, std)
    assert len(set(labels.tolist())) > 1
    assert rows_right(brightest, LabelledRows(x, labels), (mean, std)).sum() == 300
    assert rows_right(brightest, LabelledRows(x, labels)).sum() < 300


def test_channels_last_and_grey(brightest):
    x = images()
    assert rows_right(brightest, LabelledRows(np.moveaxis(x, 1, 3), by_hand(x))).sum() == 300
    network = nn.Sequential(nn.Flatten(), nn.Linear(16, 2))
    found = split(network, (1, 4, 4))
    with torch.no_grad():
        answers = network(torch.from_numpy(x[:, 0] / np.float32(255))[:, None]).argmax(1).numpy()
    assert rows_right(found, LabelledRows(x[:, 0], answers)).sum() == 300


def test_files(tmp_path):
    x, y = images(5), np.arange(5) % 3
    for names in (("x", "y"), ("x_test", "y_test"), ("images", "labels")):
        np.savez(tmp_path / "t.npz", **dict(zip(names, (x, y))))
        read = read_labelled_rows(tmp_path / "t.npz")
        assert len(read) == 5
        np.testing.assert_array_equal(read.inputs, x)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.ones(3)}, "has arrays a; expected x"),
        ({"x": np.ones((3, 2)), "y": np.zeros(4, int)}, r"`y` of .*t.npz has shape \(4,\); expected \(3,\)"),
        ({"x": np.ones(3), "y": np.zeros(3, int)}, r"`X` of .*t.npz has shape \(3,\)"),
        ({"x": np.ones((0, 2)), "y": np.zeros(0, int)}, r"has shape \(0, 2\)"),
        ({"x": np.ones((3, 2)), "y": np.zeros(3)}, "is of type float64"),
        ({"x": np.array([["a"]]), "y": np.zeros(1, int)}, "type <U1"),
        ({"x": np.full((1, 2), np.nan), "y": np.zeros(1, int)}, "NaN or infinite"),
    ],
)
def test_bad_files(tmp_path, arrays, message):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_labelled_rows(tmp_path / "t.npz")


def test_what_does_not_fit(brightest):
    with pytest.raises(InputError, match=r"shape \(3, 5, 5\), but those of the network \(3, 4, 4\)"):
        rows_right(brightest, LabelledRows(np.ones((2, 3, 5, 5)), np.zeros(2, int)))
    for labels in ([0, 3], [-1, 0]):
        with pytest.raises(InputError, match="the network has 3 classes"):
            rows_right(brightest, LabelledRows(images(2), np.array(labels)))


def test_labelled_rows_by_hand():
    """The posterior of Jeffreys' prior."""
    from scipy.stats import beta

    network = mlp()
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)).astype(np.float32)
    with torch.no_grad():
        answers = network(torch.from_numpy(X)).argmax(1).numpy()
    y = np.where(np.arange(40) < 30, answers, (answers + 1) % 4)
    options = {"starts": 1, "compare_fresh": False, "sensitivity": False}
    q = classay.network_quality(network, (6,), X=X, y=y, **options)
    assert q.labelled.value == pytest.approx(30.5 / 41)
    assert (q.labelled.low, q.labelled.high) == pytest.approx(beta(30.5, 10.5).ppf([0.05, 0.95]))
    assert "of 40 labelled rows" in str(q)
    assert "labelled" in q.to_frame()["figure"].to_numpy()
    tensors = classay.network_quality(network, (6,), X=torch.from_numpy(X), y=torch.from_numpy(y), **options)
    assert tensors.labelled == q.labelled


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.zeros((3, 6)), None, "`y` is missing"),
        (None, np.zeros(3, int), "`X` is missing"),
        (np.zeros((3, 6)), np.zeros(2, int), r"`y` has shape \(2,\); expected \(3,\)"),
        (np.zeros((3, 6)), ["a", "b", "c"], "class numbers of the head"),
        (np.full((3, 6), np.nan), np.zeros(3, int), "NaN"),
        (np.zeros((0, 6)), np.zeros(0, int), "expected numbers"),
        (np.zeros((3, 5)), np.zeros(3, int), "have shape"),
        (np.zeros((3, 6)), np.full(3, 4), "from 4 to 4"),
    ],
)
def test_bad_rows_are_refused_before_any_walk(X, y, words, monkeypatch):
    from classay.network.quality import quality as module

    monkeypatch.setattr(module, "prototypes", lambda *given, **options: pytest.fail("it walked"))
    with pytest.raises(InputError, match=words):
        classay.network_quality(mlp(), (6,), X=X, y=y)


def test_rows_to_label_are_drawn_from_networks():
    networks = {name: mlp() for name in "ab"}
    with torch.no_grad():
        networks["b"][-1].weight.add_(0.1)
        networks["b"][-1].weight[0] *= -1
    X = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    drawn = classay.network.rows_to_label(networks, X, 15)
    assert len(drawn.rows) == 15
    y = np.zeros(15, int)
    found = classay.rank_networks(
        networks, weights=drawn.weights, X=X[drawn.rows], y=y, input_shape=(6,), starts=1, compare_fresh=False
    )
    assert found.by == "difference"
    with pytest.raises(InputError, match="at least two networks"):
        classay.network.rows_to_label({"a": mlp()}, X, 5)


def test_rows_need_the_network():
    record = classay.prototypes(mlp(), (6,), starts=1, sensitivity=False)
    with pytest.raises(InputError, match="expected the network"):
        classay.network_quality(record, X=np.zeros((3, 6)), y=np.zeros(3, int))
