"""Measure networks: load, split, walk and measure each file, for `classay network` and for networks in a report."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import expect
from ..intervals import Estimate, of_proportion
from ..network.files.checkpoint import load_network
from ..network.prototypes.prototypes import prototypes
from ..network.prototypes.record import KIND, Prototypes
from ..network.prototypes.runner import identity
from ..network.quality.figures import figures
from ..network.quality.fresh_record import record_with_fresh
from ..network.quality.head import rows_of
from ..network.quality.labelled_rows import accuracy_by_rows, count_right
from ..network.quality.quality import NetworkQuality, network_quality
from ..network.split.split import Split, split, split_by_likely_shape
from . import console
from .network_options import AssayOptions

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True, eq=False)
class NetworkAssay:
    """One network: its file, how it was split, its record and quality, and its true accuracy."""

    path: Path
    split: Split
    record: Prototypes
    quality: NetworkQuality
    accuracy: Estimate | None
    notes: tuple[str, ...]
    seconds: float


def assay_all(paths: dict[str, Path], options: AssayOptions) -> tuple[dict[str, NetworkAssay], dict[str, str], bool]:
    """Measure every network. One that fails does not stop the others; if all fail, that is an error.

    Return assays, why others failed, and whether Ctrl-C was pressed.
    """
    assays: dict[str, NetworkAssay] = {}
    failed: dict[str, str] = {}
    interrupted = False
    for place, (name, path) in enumerate(paths.items()):
        if len(paths) > 1:
            console.say(f"{place + 1} of {len(paths)}: {name}", options.quiet)
        try:
            assays[name] = _assay(name, path, options)
            interrupted = assays[name].record.interrupted
        except expect.InputError as mistake:
            failed[name] = str(mistake)
        except (MemoryError, RuntimeError) as error:
            # Not every device has its own exception class in torch.
            if not isinstance(error, MemoryError) and "memory" not in str(error).lower():
                raise
            failed[name] = f"Not enough memory for {path}, even with one input at a time."
        except KeyboardInterrupt:
            interrupted = True
        if interrupted:
            break
    if not assays:
        if interrupted:
            raise console.NothingDone
        raise expect.InputError(next(iter(failed.values())))
    return assays, failed, interrupted


def _assay(name: str, path: Path, options: AssayOptions) -> NetworkAssay:
    """Load one network, walk, and measure it."""
    began = time.monotonic()
    loaded = load_network(
        path,
        options.arch,
        input_shape=options.input_shape,
        allow_import=options.allow_import,
        trust_pickle=options.trust_pickle,
    )
    for note in loaded.notes:
        console.say(f"{name}: {note}", options.quiet)
    parts = _split(name, loaded.network, options)
    console.say(f"{name}: {parts}", options.quiet)
    names = options.class_names
    if names is None and len(loaded.labels) == parts.classes and len(set(loaded.labels)) == parts.classes:
        names = loaded.labels
        console.say(f"{name}: names of classes are those of its config.json.", options.quiet)
    if options.class_names is not None and len(options.class_names) != parts.classes:
        raise expect.InputError(
            f"--class-names has {len(options.class_names)} names but the network has {parts.classes} classes; they "
            "must match."
        )
    # Before the walks, so that a head without direction or a test set that does not fit is reported at once.
    rows_of(parts.weight)
    accuracy, right = None, 0
    if options.test_set is not None:
        right = count_right(parts, options.test_set, options.normalize)
        accuracy = of_proportion(right, len(options.test_set))
    record, fresh, remarks = record_with_fresh(
        parts, {**options.walks, "name": name}, partial(_record, options=options), options.fresh
    )
    quality = network_quality(record, class_names=names)
    if options.test_set is not None:
        quality = replace(quality, labelled=accuracy_by_rows(right, len(options.test_set)))
    if options.fresh:
        fresh_figures = {} if fresh is None else figures(fresh)
        quality = replace(quality, fresh=fresh_figures, notes=(*quality.notes, *remarks))
    return NetworkAssay(path, parts, record, quality, accuracy, loaded.notes, time.monotonic() - began)


def _split(name: str, network: nn.Module, options: AssayOptions) -> Split:
    if options.input_shape is not None:
        return split(network, options.input_shape, options.head)
    parts, remark = split_by_likely_shape(network, options.head)
    console.say(f"{name}: {remark}", options.quiet)
    return parts


def _record(parts: Split, *, options: AssayOptions, name: str, **walks: Any) -> Prototypes:
    """The prototypes of a network, from the store if they are there."""
    settings = {**walks, "normalize": options.normalize}
    if options.store is None:
        return prototypes(parts, **settings, progress=not options.quiet, name=name)
    key = options.store.key({"record": identity(parts), **settings})
    if options.store.get(key, KIND) is not None:  # a damaged one counts as missing
        console.say(f"{name}: reused from the store.", options.quiet)
        saved = Prototypes.load(options.store.path(key))
        return replace(saved, about={**saved.about, "network": name})
    record = prototypes(parts, **settings, store=options.store, progress=not options.quiet, name=name)
    if not record.interrupted:
        options.store.put(key, KIND, *record.to_file())
    return record
