"""`Prototypes`: where walks to every class ended. The record that all measures of a network use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...engine import store
from ...expect import InputError, counted
from ...notes import Note, notes_from_json, notes_to_json

KIND = "prototypes"
SEED = -1
"""The origin of a seed prototype, which began at a random input."""
ARRAYS = ("features", "target", "origin", "start", "steps", "length", "distance", "loss", "converged", "weight")


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Features of inputs that the network recognises as members of a class, and how far the walks to them were.

    Row i is the end of one walk: `features[i]` (d,), its target class `target[i]`, the class `origin[i]` whose seed it
    began at (−1: it is a seed itself and began at a random input), the number `start[i]` of the set of random inputs,
    `steps[i]`, `length[i]` of the path and straight `distance[i]`, the `loss[i]` at the end and whether it had
    `converged[i]`. `weight` (k, d) and `bias` are the head. `inputs` (m, ...) are the prototypes themselves, if stored.
    `probes` are figures that needed a run of the network or its weights. `sensitivity` is the figure between classes by
    the factor of the step, on a sample of walks; `layers` how far the weight of each layer is from random numbers, as
    the log of its largest singular value over that of the same numbers shuffled. `settings` and `about` say how it was
    made. Make one with `classay.prototypes`.
    """

    features: NDArray[np.float32]
    target: NDArray[np.int64]
    origin: NDArray[np.int64]
    start: NDArray[np.int64]
    steps: NDArray[np.int64]
    length: NDArray[np.float64]
    distance: NDArray[np.float64]
    loss: NDArray[np.float64]
    converged: NDArray[np.bool_]
    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None = None
    inputs: NDArray[np.float32] | None = None
    probes: dict[str, float] = field(default_factory=dict)
    sensitivity: dict[str, float] = field(default_factory=dict)
    layers: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.target)

    @property
    def classes(self) -> int:
        """k, the classes of the head."""
        return len(self.weight)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The numbers of the draws of random inputs."""
        return np.unique(self.start)

    @property
    def name(self) -> str:
        """The network's name."""
        return str(self.about.get("network", "network"))

    def to_frame(self) -> pd.DataFrame:
        """One row per prototype: target, origin, start, steps, length, distance, loss, converged."""
        names = ("target", "origin", "start", "steps", "length", "distance", "loss", "converged")
        return pd.DataFrame({name: getattr(self, name) for name in names})

    def __str__(self) -> str:
        seeds = int((self.origin == SEED).sum())
        text = (
            f"{self.name}: {counted(len(self), 'prototype')} of {_classes(len(np.unique(self.target)))}"
            f" ({counted(seeds, 'seed')}, {counted(len(self) - seeds, 'core')}) from "
            f"{counted(len(self.starts), 'start')}; {self.converged.mean():.0%} converged, in "
            f"{np.median(self.steps):.0f} steps of {self.settings.get('step', np.nan):.3g} at the median."
        )
        return " ".join([text, *self.notes])

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Write the record to one file that `Prototypes.load` reads: arrays and a JSON header, no pickle."""
        return store.write(Path(path), KIND, *self.to_file())

    def to_file(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Header and arrays, as files and stores contain them."""
        arrays = {name: getattr(self, name) for name in ARRAYS}
        for name in ("bias", "inputs"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        header = {
            "probes": self.probes,
            "sensitivity": self.sensitivity,
            "layers": self.layers,
            "settings": self.settings,
            "about": self.about,
            "notes": notes_to_json(self.notes),
            "interrupted": self.interrupted,
        }
        return header, arrays

    @classmethod
    def load(cls, path: str | Path) -> Prototypes:
        """Read a record that `save` wrote."""
        header, arrays = store.read(Path(path), KIND)
        try:
            return cls(
                **{name: arrays[name] for name in ARRAYS},
                bias=arrays.get("bias"),
                inputs=arrays.get("inputs"),
                probes=header["probes"],
                sensitivity=header["sensitivity"],
                layers=header.get("layers", {}),  # records of earlier versions have none
                settings=header["settings"],
                about=header["about"],
                notes=notes_from_json(header["notes"]),
                interrupted=header["interrupted"],
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"{path} is not a complete record of prototypes ({error}). Make it again.") from error


def _classes(number: int) -> str:
    return "1 class" if number == 1 else f"{number} classes"
