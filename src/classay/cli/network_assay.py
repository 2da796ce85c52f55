"""The steps of `classay network` for each file: read, split, walk, measure."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import expect
from . import console

if TYPE_CHECKING:
    from torch import nn

    from ..engine.store import Store
    from ..intervals import Estimate
    from ..network.prototypes.record import Prototypes
    from ..network.quality.quality import NetworkQuality
    from ..network.quality.rank_networks import LabelledRows
    from ..network.split.split import Split


@dataclass(frozen=True, eq=False)
class Assayed:
    """One network: its file, how it was split, its record and quality, and its true accuracy."""

    path: Path
    split: Split
    record: Prototypes
    quality: NetworkQuality
    accuracy: Estimate | None
    notes: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Wishes:
    """The options of the user, checked."""

    arch: str | None
    allow_import: bool
    trust_pickle: bool
    input_shape: tuple[int, ...] | None
    normalize: tuple[tuple[float, ...], tuple[float, ...]] | None
    head: str | None
    class_names: tuple[str, ...] | None
    walks: dict[str, Any]
    fresh: bool
    test_set: LabelledRows | None
    store: Store | None
    quiet: bool


def heads_of(paths: dict[str, Path], head: str | None, trust_pickle: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The heads of all files, with their quality; a file that cannot be read does not stop the others."""
    from ..network.files.head_search import read_head
    from ..network.quality.head import head_quality

    found: dict[str, Any] = {}
    failed: dict[str, str] = {}
    for name, path in paths.items():
        try:
            read = read_head(path, head, trust_pickle)
            found[name] = read, head_quality(read.weight, read.bias)
        except expect.InputError as mistake:
            failed[name] = str(mistake)
    if not found:
        raise expect.InputError(next(iter(failed.values())))
    return found, failed


def assay_all(paths: dict[str, Path], wishes: Wishes) -> tuple[dict[str, Assayed], dict[str, str], bool]:
    """Measure every network. One that fails does not stop the others; if all fail, that is an error."""
    found: dict[str, Assayed] = {}
    failed: dict[str, str] = {}
    interrupted = False
    for place, (name, path) in enumerate(paths.items()):
        if len(paths) > 1:
            console.say(f"{place + 1} of {len(paths)}: {name}", wishes.quiet)
        try:
            found[name] = _assay(name, path, wishes)
            interrupted = found[name].record.interrupted
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
    if not found:
        if interrupted:
            raise console.NothingDone
        raise expect.InputError(next(iter(failed.values())))
    return found, failed, interrupted


def _assay(name: str, path: Path, wishes: Wishes) -> Assayed:
    """Load one network, walk, and measure it."""
    from ..network.files.checkpoint import load_network
    from ..network.quality.figures import figures
    from ..network.quality.fresh_record import record_with_fresh
    from ..network.quality.head import rows_of
    from ..network.quality.quality import network_quality
    from ..network.quality.rank_networks import true_accuracy

    began = time.monotonic()
    loaded = load_network(
        path,
        wishes.arch,
        input_shape=wishes.input_shape,
        allow_import=wishes.allow_import,
        trust_pickle=wishes.trust_pickle,
    )
    for note in loaded.notes:
        console.say(f"{name}: {note}", wishes.quiet)
    found = _split(name, loaded.network, wishes)
    console.say(f"{name}: {found}", wishes.quiet)
    given = wishes.class_names
    if given is not None and len(given) != found.classes:
        raise expect.InputError(
            f"--class-names has {len(given)} names but the network has {found.classes} classes; they must match."
        )
    # Before the walks, so that a head without direction or a test set that does not fit is reported at once.
    rows_of(found.weight)
    accuracy = None if wishes.test_set is None else true_accuracy(found, wishes.test_set, wishes.normalize)
    record, fresh, remarks = record_with_fresh(
        found, {**wishes.walks, "name": name}, partial(_record, wishes=wishes), wishes.fresh
    )
    quality = network_quality(record, class_names=wishes.class_names)
    if wishes.fresh:
        told = {} if fresh is None else figures(fresh)
        quality = replace(quality, fresh=told, notes=(*quality.notes, *remarks))
    return Assayed(path, found, record, quality, accuracy, loaded.notes, time.monotonic() - began)


def _split(name: str, network: nn.Module, wishes: Wishes) -> Split:
    from ..network.split.split import split, split_by_likely_shape

    if wishes.input_shape is not None:
        return split(network, wishes.input_shape, wishes.head)
    found, remark = split_by_likely_shape(network, wishes.head)
    console.say(f"{name}: {remark}", wishes.quiet)
    return found


def _record(found: Split, *, wishes: Wishes, name: str, **walks: Any) -> Prototypes:
    """The prototypes of a network, from the store if they are there."""
    from ..network.prototypes.prototypes import prototypes
    from ..network.prototypes.record import KIND, Prototypes
    from ..network.prototypes.runner import identity

    options = {**walks, "normalize": wishes.normalize}
    if wishes.store is None:
        return prototypes(found, **options, progress=not wishes.quiet, name=name)
    key = wishes.store.key({"record": identity(found), **options})
    if wishes.store.get(key, KIND) is not None:  # a damaged one counts as missing
        console.say(f"{name}: reused from the store.", wishes.quiet)
        kept = Prototypes.load(wishes.store.path(key))
        return replace(kept, about={**kept.about, "network": name})
    record = prototypes(found, **options, store=wishes.store, progress=not wishes.quiet, name=name)
    if not record.interrupted:
        record.save(wishes.store.path(key))
    return record
