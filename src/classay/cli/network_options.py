"""Options on networks, checked: for `classay network`, and for networks in a report."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import expect
from ..input_files import quoted

if TYPE_CHECKING:
    from ..engine.store import Store
    from ..network.quality.labelled_rows import LabelledRows

Normalization = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and standard deviation of each channel."""


@dataclass(frozen=True)
class AssayOptions:
    """How to load networks, walk in them and measure them."""

    arch: str | None
    allow_import: bool
    walks: dict[str, Any] = field(default_factory=dict)
    trust_pickle: bool = False
    input_shape: tuple[int, ...] | None = None
    normalize: Normalization | None = None
    head: str | None = None
    class_names: tuple[str, ...] | None = None
    fresh: bool = False
    test_set: LabelledRows | None = None
    store: Store | None = None
    quiet: bool = False


def one_architecture(arch: str | None, builder: str | None) -> str | None:
    """The architecture by --arch or --builder; both at once are a mistake."""
    if arch and builder:
        raise expect.InputError("--arch and --builder are both given; expected one of them.")
    return arch or builder


def named_paths(files: list[str]) -> dict[str, Path]:
    """Paths by a short name: that of the file, or the whole path where two files have the same name."""
    paths = list(dict.fromkeys(Path(file) for file in files))
    stems = [path.stem for path in paths]
    if len(set(stems)) == len(stems):
        names = short_names(stems)
    else:
        names = [path.stem if stems.count(path.stem) == 1 else str(path) for path in paths]
    missing = [quoted(path) for path in paths if not os.path.exists(path)]
    if missing:
        raise expect.InputError(f"File not found: {expect.shown(missing)}. Is the path right?")
    return dict(zip(names, paths))


def short_names(stems: list[str]) -> list[str]:
    """Names of checkpoints without the beginning that they share: what differs is at the end.

    >>> short_names(["net_lr1_epoch9", "net_lr1_epoch10"]), short_names(["a", "b"])
    (['epoch9', 'epoch10'], ['a', 'b'])
    """
    if len(stems) < 2:
        return stems
    first = stems[0]
    same = next((place for place, letters in enumerate(zip(*stems)) if len(set(letters)) > 1), min(map(len, stems)))
    begin = max(first[:same].rfind(sign) for sign in "_-. ") + 1
    return [stem[begin:] for stem in stems] if all(stem[begin:] for stem in stems) else stems


def read_shape(text: str) -> tuple[int, ...]:
    """The shape of one input, as written on the command line.

    >>> read_shape("3x32x32"), read_shape("128")
    ((3, 32, 32), (128,))
    """
    if not re.fullmatch(r"\s*\d{1,9}(\s*[x×X,]\s*\d{1,9})*\s*", text):
        raise expect.InputError(f"--input is {text[:80]!r}; expected the shape of one input, such as 3x32x32.")
    shape = tuple(int(side) for side in re.findall(r"\d+", text))
    if 0 in shape:
        raise expect.InputError(f"--input is {text[:80]!r}; expected sides of at least 1.")
    expect.within(4 * math.prod(shape), "array_bytes", "The size of one input (--input) in bytes")
    return shape


def read_normalization(mean: str | None, std: str | None) -> Normalization | None:
    """Mean and standard deviation of each channel, as written on the command line."""
    if mean is None and std is None:
        return None
    if mean is None or std is None:
        raise expect.InputError("Only one of --mean and --std is given; expected both or neither.")
    try:
        means, deviations = (tuple(float(part) for part in text.split(",")) for text in (mean, std))
    except ValueError:
        raise expect.InputError(
            f"--mean is {mean!r} and --std is {std!r}; expected comma-separated numbers, such as .49,.48,.45."
        ) from None
    return means, deviations
