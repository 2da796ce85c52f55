"""The weights of Keras files: `.keras` archives and HDF5. Nothing in them is run; h5py reads the arrays."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...expect import InputError, need
from .weights import StoredArray, WeightFile, identity

SUFFIXES = (".keras", ".h5", ".hdf5")
WEIGHTS, CONFIG = "model.weights.h5", "config.json"
MOST_BYTES = 1 << 33
"""A larger member of an archive is refused before it is unpacked."""


def read_keras_weights(path: Path) -> WeightFile:
    """The arrays of a Keras file, by layer: LAYER/kernel and LAYER/bias, in the order of the layers."""
    need("h5py", f"Reading {path}")
    import h5py

    order: list[str] = []
    try:
        if zipfile.is_zipfile(path):
            weights, order = _from_archive(path)
        else:
            weights = io.BytesIO(path.read_bytes())
        with h5py.File(weights, "r") as file:
            arrays = dict(_arrays(file))
    except MemoryError:
        raise
    except Exception as error:  # a damaged file can make h5py raise anything
        raise InputError(f"{path} cannot be read as a Keras file ({type(error).__name__}: {error}).") from None
    layers = _in_order(arrays, order)
    entries = [StoredArray(name, tuple(arrays[name].shape), partial(identity, arrays[name])) for name in layers]
    if not entries:
        raise InputError(f"{path} has no weights of layers.")
    return WeightFile(path, tuple(entries), True, ())


def _from_archive(path: Path) -> tuple[io.BytesIO, list[str]]:
    """The weights of an archive, and its layers in order, by the names that they have among the weights."""
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(WEIGHTS).file_size > MOST_BYTES:
            raise ValueError(f"{WEIGHTS} has {archive.getinfo(WEIGHTS).file_size} bytes")
        weights = io.BytesIO(archive.read(WEIGHTS))
        config = json.loads(archive.read(CONFIG)) if CONFIG in archive.namelist() else {}
    order, used = [], dict[str, int]()
    for layer in _layers_of(config):
        # Keras names weights by the class of the layer, numbered from the second on.
        kind = _snake(str(layer.get("class_name", "")))
        order.append(f"{kind}_{used[kind]}" if kind in used else kind)
        used[kind] = used.get(kind, 0) + 1
    return weights, order


def _layers_of(config: Any) -> list[dict[str, Any]]:
    inner = config.get("config") if isinstance(config, dict) else None
    layers = inner.get("layers") if isinstance(inner, dict) else None
    return [layer for layer in layers if isinstance(layer, dict)] if isinstance(layers, list) else []


def _snake(name: str) -> str:
    """A class name as Keras writes it among weights: BatchNormalization is batch_normalization."""
    name = re.sub(r"\W+", "", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def _arrays(file: Any) -> Iterator[tuple[str, Any]]:
    """Every array with a name that ends in kernel or bias. Links to other files are not followed."""
    import h5py

    found: dict[str, Any] = {}
    file.visititems(lambda name, item: found.update({name: item}) if isinstance(item, h5py.Dataset) else None)
    for name, item in found.items():
        if item.dtype.kind != "f" or "optimizer" in name.split("/")[0]:
            continue
        parts = [
            part
            for part in name.split("/")
            if part not in ("layers", "model_weights", "vars", "_layer_checkpoint_dependencies")
        ]
        last = re.sub(r":\d+$", "", parts[-1])
        if last.isdigit():  # Keras 3 numbers the arrays of a layer: the kernel, then the bias
            last = {0: "kernel" if item.ndim > 1 else "gamma", 1: "bias"}.get(int(last), f"variable{last}")
        yield "/".join([*dict.fromkeys(parts[:-1]), last]), item[()]


def _in_order(arrays: dict[str, Any], order: list[str]) -> list[str]:
    """Names in the order of the layers: as the archive says, else by the numbers in them."""
    places = {layer: place for place, layer in enumerate(order)}

    def key(name: str) -> tuple[Any, ...]:
        layer = name.split("/")[0]
        numbers = tuple(int(digits) for digits in re.findall(r"\d{1,18}", layer))
        return (places.get(layer, -1), numbers)

    return sorted(arrays, key=key)
