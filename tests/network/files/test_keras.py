"""Heads of Keras files. The files are written by h5py as Keras writes them."""

import io
import json
import sys
import zipfile

import numpy as np
import pytest

from classay import InputError
from classay.network.files.head_search import read_head
from classay.network.files.keras import _snake


def layers():
    rng = np.random.default_rng(0)
    return {
        "conv2d": rng.normal(size=(3, 3, 1, 4)),
        "dense": rng.normal(size=(36, 8)),
        "dense_1": rng.normal(size=(8, 3)),
    }


def write(target, arrays, nested):
    h5py = pytest.importorskip("h5py")
    with h5py.File(target, "w") as file:
        for name, kernel in arrays.items():
            bias = np.arange(kernel.shape[-1], dtype=np.float32)
            if nested:  # Keras 2: model_weights/dense/dense/kernel:0
                group = file.create_group(f"model_weights/{name}/{name}")
                group["kernel:0"], group["bias:0"] = kernel.astype(np.float32), bias
            else:  # Keras 3: layers/dense/vars/0
                group = file.create_group(f"layers/{name}/vars")
                group["0"], group["1"] = kernel.astype(np.float32), bias
        if not nested:
            file.create_group("optimizer/vars")["0"] = np.zeros((8, 50), dtype=np.float32)


@pytest.mark.parametrize(("name", "nested"), [("m.h5", True), ("m.weights.h5", False)])
def test_the_head_of_an_hdf5_file(tmp_path, name, nested):
    path, arrays = tmp_path / name, layers()
    write(path, arrays, nested)
    head = read_head(path)
    np.testing.assert_allclose(head.weight, arrays["dense_1"].T, rtol=1e-6)
    np.testing.assert_array_equal(head.bias, [0, 1, 2])
    other = read_head(path, "dense")
    assert other.weight.shape == (8, 36)


def test_the_head_of_an_archive_is_the_last_of_its_layers(tmp_path):
    """By the order in its settings: the numbers of names count layers of a kind."""
    path, arrays = tmp_path / "m.keras", layers()
    content = io.BytesIO()
    write(content, arrays, nested=False)
    kinds = ["InputLayer", "Conv2D", "Flatten", "Dense", "BatchNormalization", "Dense"]
    config = {"config": {"layers": [{"class_name": kind, "config": {}} for kind in kinds]}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(config))
        archive.writestr("model.weights.h5", content.getvalue())
    head = read_head(path)
    assert head.name == "dense_1/kernel"
    np.testing.assert_allclose(head.weight, arrays["dense_1"].T, rtol=1e-6)


def test_names_as_keras_writes_them():
    assert [_snake(name) for name in ("Dense", "Conv2D", "BatchNormalization")] == [
        "dense", "conv2d", "batch_normalization",
    ]  # fmt: skip


def test_damaged_files_get_a_sentence(tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "m.h5").write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read as a Keras file"):
        read_head(tmp_path / "m.h5")
    with zipfile.ZipFile(tmp_path / "m.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(InputError, match="cannot be read as a Keras file"):
        read_head(tmp_path / "m.keras")


def test_without_h5py_it_says_what_is_needed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "m.h5").write_bytes(b"nothing")
    with pytest.raises(InputError, match="h5py"):
        read_head(tmp_path / "m.h5")
