"""`classay network`: was a network trained well, and which of several should be tested? No data needed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ... import charts as drawing
from ... import expect
from ...engine.store import Store
from ...intervals import of_proportion
from ...network.files.checkpoint import load_network
from ...network.files.head_search import HeadWeights, read_head
from ...network.prototypes.prototypes import KIND, Prototypes, prototypes
from ...network.prototypes.runner import identity
from ...network.prototypes.split import Split, split, split_by_likely_shape
from ...network.quality.figures import DECISIVE, figures
from ...network.quality.head import HeadQuality, head_quality, rows_of
from ...network.quality.labelled_rows import LabelledRows, read_labelled_rows
from ...network.quality.quality import CONVERGED, NetworkQuality, by_labelled_rows, network_quality, record_with_fresh
from ...network.quality.rank_networks import Ranking, rank_networks
from .. import console, options
from ..inputs import Normalization, named_paths, read_normalization, read_shape
from ..runner import Done, Outcome, measure_each, rows_table, worded_table

MOST_PAIRS = 8
SHORT = {"within": "M_in", "between": "M_bt", "converged": "walks arrived", "row_spread": "spread of head's rows"}
UNTRAINED = "Untrained: the same architecture, freshly initialised."


@dataclass(frozen=True, kw_only=True)
class Architecture(options.Group):
    """What a network is."""

    arch: str | None = None
    builder: str | None = None
    input: str | None = None

    def expect_network(self, files: list[Path] | None) -> None:
        """Refuse options of a network where there is none."""
        option = next((f"--{name}" for name, value in vars(self).items() if value), None)
        if option and not files:
            raise expect.InputError(
                f"{option} describes a network, but there is no --network. Add it, or drop {option}."
            )

    def load(self, allow_import: bool, trust_pickle: bool = False) -> dict[str, Any]:
        """The keywords of `load_network`."""
        if self.arch and self.builder:
            raise expect.InputError("--arch and --builder are both given; expected one of them.")
        return {
            "arch": self.arch or self.builder,
            "input_shape": read_shape(self.input) if self.input else None,
            "allow_import": allow_import,
            "trust_pickle": trust_pickle,
        }


class Measured(NamedTuple):
    """One network: its figures, as --json prints them, what was measured on the record of its prototypes, and that."""

    figures: dict[str, Any]
    quality: NetworkQuality
    record: Prototypes
    interrupted: bool


def command(
    architecture: Architecture,
    output: options.Charts,
    files: list[str],
    weights_only: bool = False,
    test_set: Path | None = None,
    fresh: bool | None = None,
    all_figures: bool = False,
    mean: str | None = None,
    std: str | None = None,
    head: str | None = None,
    class_names: str | None = None,
    walks: int = 1000,
    starts: int = 5,
    threads: int = 1,
    store: Path | None = None,
    seed: int = 0,
    allow_import: bool = False,
    trust_pickle: bool = False,
) -> Outcome:
    """Describe networks by their weights alone; with a test set, also estimate and rank accuracies."""
    paths = named_paths(files)
    if weights_only:
        return _heads(paths, head, trust_pickle)
    names = None if class_names is None else tuple(name.strip() for name in class_names.split(","))
    done = _measure_all(
        paths,
        load=architecture.load(allow_import, trust_pickle),
        walks={"starts": starts, "walks": walks, "threads": threads, "random_state": seed},
        output=output,
        normalize=read_normalization(mean, std),
        head=head,
        class_names=names,
        fresh=len(paths) == 1 if fresh is None else fresh,
        test_set=None if test_set is None else read_labelled_rows(test_set),
        store=None if store is None else Store(store),
    )
    networks: dict[str, Measured] = done.results
    ranking = None
    if len(networks) > 1:
        known = {name: network.figures["accuracy"] for name, network in networks.items()}
        accuracies = {name: accuracy.value for name, accuracy in known.items() if accuracy is not None}
        ranking = rank_networks({name: network.quality for name, network in networks.items()}, accuracies or None)
    (first, *_) = networks.values()
    return Outcome(
        {"networks": {name: network.figures for name, network in networks.items()}, "ranking": ranking},
        data={"files": files},
        text=_of_one(first.quality, all_figures) if ranking is None else _of_several(ranking),
        charts=lambda: _draw(first, names) if ranking is None else {"accuracy_bounds": ranking.plot()},
        failed=done.failed,
        interrupted=done.interrupted,
    )


def measure_networks(
    files: list[Path], load: dict[str, Any], walks: dict[str, Any], output: options.Output
) -> dict[str, NetworkQuality]:
    """The quality of each network of a report, before anything is fitted, so that errors are reported early."""
    done = _measure_all(named_paths([str(file) for file in files]), load=load, walks=walks, output=output)
    for name, why in done.failed.items():
        console.error(f"{name}: no results. {why}")
    return {name: network.quality for name, network in done.results.items()}


def _measure_all(paths: dict[str, Path], **how: Any) -> Done:
    names = list(paths)

    def measure(name: str, path: Path) -> Measured:
        if len(paths) > 1:
            how["output"].say(f"{names.index(name) + 1} of {len(paths)}: {name}")
        try:
            return _measure(name, path, **how)
        except (MemoryError, RuntimeError) as error:
            # Not every device has its own exception class in torch.
            if not isinstance(error, MemoryError) and "memory" not in str(error).lower():
                raise
            raise expect.InputError(f"Not enough memory for {path}, even with one input at a time.") from None

    return measure_each(paths, measure)


def _measure(
    name: str,
    path: Path,
    *,
    load: dict[str, Any],
    walks: dict[str, Any],
    output: options.Output,
    normalize: Normalization | None = None,
    head: str | None = None,
    class_names: tuple[str, ...] | None = None,
    fresh: bool = False,
    test_set: LabelledRows | None = None,
    store: Store | None = None,
) -> Measured:
    began = time.monotonic()
    loaded = load_network(path, **load)
    for note in loaded.notes:
        output.say(f"{name}: {note}")
    if load["input_shape"] is None:
        parts, remark = split_by_likely_shape(loaded.network, head)
        output.say(f"{name}: {remark}")
    else:
        parts = split(loaded.network, load["input_shape"], head)
    output.say(f"{name}: {parts}")
    if class_names is None and len(loaded.labels) == parts.classes == len(set(loaded.labels)):
        class_names = loaded.labels
        output.say(f"{name}: names of classes are those of its config.json.")
    elif class_names is not None and len(class_names) != parts.classes:
        raise expect.InputError(
            f"--class-names has {len(class_names)} names but the network has {parts.classes} classes; they must match."
        )
    # Before the walks, so that a head without direction or a test set that does not fit is reported at once.
    rows_of(parts.weight)
    known = {} if test_set is None else by_labelled_rows(parts, test_set, normalize)
    make = partial(_record, normalize=normalize, store=store, output=output)
    record, untrained, remarks = record_with_fresh(parts, {**walks, "name": name}, make, fresh)
    quality = replace(network_quality(record, class_names=class_names), **known)
    accuracy = of_proportion(int(known["right"].sum()), len(known["right"])) if known else None
    if fresh:
        fresh_figures = {} if untrained is None else figures(untrained)
        quality = replace(quality, fresh=fresh_figures, notes=(*quality.notes, *remarks))
    described = {
        "file": str(path), "head": parts.name, "features": parts.feature_size, "output": parts.output,
        "notes": [*loaded.notes, *parts.notes], "settings": record.settings, "seconds": time.monotonic() - began,
        "accuracy": accuracy, "quality": quality,
    }  # fmt: skip
    return Measured(described, quality, record, record.interrupted)


def _record(parts: Split, *, store: Store | None, output: options.Output, name: str, **settings: Any) -> Prototypes:
    """The prototypes of a network, from the store if they are there."""
    if store is None:
        return prototypes(parts, **settings, progress=not output.quiet, name=name)
    key = store.key({"record": identity(parts), **settings})
    if store.get(key, KIND) is not None:  # a damaged one counts as missing
        output.say(f"{name}: reused from the store.")
        saved = Prototypes.load(store.path(key))
        return replace(saved, about={**saved.about, "network": name})
    record = prototypes(parts, **settings, store=store, progress=not output.quiet, name=name)
    if not record.interrupted:
        store.put(key, KIND, *record.to_file())
    return record


def _of_one(quality: NetworkQuality, everything: bool) -> Iterator[Any]:
    yield str(quality)
    by = f"by labelled rows ({quality.labelled.kind})" if quality.labelled else "needs labelled rows"
    measured = {**quality.figures, "converged": quality.converged.value}
    rows: dict[str, dict[str, Any]] = {"accuracy": {"value": quality.labelled or "unknown", "direction": by}}
    for name, words in DECISIVE.items():
        figure = {"value": measured.get(name), "untrained": quality.fresh.get(name), "direction": words}
        rows[SHORT.get(name, name)] = figure
    yield worded_table("decisive", rows, untrained=UNTRAINED * bool(quality.fresh))
    closest = quality.per_pair.sort_values("rows", ascending=False, kind="stable").head(MOST_PAIRS)
    yield worded_table("similar", closest)
    if not everything:
        yield f"{len(quality.figures) - 4} more figures, layers and the head: --all-figures, or --json."
        return
    yield str(quality.head)
    frame = quality.to_frame().drop(columns="network").rename(columns={"fresh": "untrained"})
    yield rows_table("All figures", frame, caption=UNTRAINED, most=len(frame))
    yield rows_table("Layers", quality.layers)
    yield rows_table("M_bt by the paper's three ways to count", quality.separations)
    yield rows_table("Definition 1 of the paper: is the head well trained for a class?", quality.per_class)


def _of_several(ranking: Ranking) -> Iterator[Any]:
    yield str(ranking)
    rows = {row["network"]: row for row in ranking.table.to_dict("records")}
    rows = {name: {**row, "labelled": ranking.labelled.get(name, "unknown")} for name, row in rows.items()}
    ranked = f"Networks in groups, best first by {ranking.by}"
    yield worded_table("networks", rows, title=ranked if len(ranking.groups) > 1 else "Networks, not ranked")
    if len(ranking.pairs):
        yield rows_table("Differences in accuracy, with p-values adjusted for the number of pairs", ranking.pairs)


def _draw(network: Measured, names: tuple[str, ...] | None) -> dict[str, Any]:
    quality = network.quality
    by_name: dict[str, Any] = {
        "class_cosines": drawing.class_cosines(quality),
        "within_between": drawing.within_between(quality),
        "head_cosines": drawing.head_cosines(quality.head),
        "head_pairs": drawing.class_cosines(quality, of="rows"),
        "accuracy_bounds": drawing.accuracy_bounds(quality),
    }
    inputs = network.record.inputs
    pictures = inputs is not None and inputs.ndim == 4 and inputs.shape[1] in (1, 3)
    if pictures and quality.converged.value >= CONVERGED:
        by_name["prototypes"] = drawing.prototype_gallery(network.record, names)
    return by_name


# The head alone: what the last layer shows. Nothing is run.


def _heads(paths: dict[str, Path], layer: str | None, trust_pickle: bool) -> Outcome:
    def measure(name: str, path: Path) -> tuple[HeadWeights, HeadQuality]:
        weights = read_head(path, layer, trust_pickle)
        return weights, head_quality(weights.weight, weights.bias)

    done = measure_each(paths, measure)
    heads: dict[str, tuple[HeadWeights, HeadQuality]] = done.results
    described = {
        name: {"file": str(head.path), "layer": head.name, "notes": head.notes, **quality.to_dict()}
        for name, (head, quality) in heads.items()
    }
    numbers = [f"_{number}" for number in range(1, len(heads) + 1)] if len(heads) > 1 else [""]
    return Outcome(
        {"heads": described},
        data={"files": list(map(str, paths.values()))},
        text=_of_heads(heads),
        charts=lambda: {f"head_cosines{end}": own.plot() for end, (_, own) in zip(numbers, heads.values())},
        failed=done.failed,
    )


def _of_heads(heads: dict[str, tuple[HeadWeights, HeadQuality]]) -> Iterator[Any]:
    if len(heads) == 1:
        ((name, (head, quality)),) = heads.items()
        yield " ".join([f"{name}, layer {head.name!r}. {quality}", *head.notes])
        frame = quality.to_frame().rename(columns={"fresh_low": "untrained: from", "fresh_high": "to"})
        caption = "Untrained: the range of 95% of freshly initialised heads of this shape."
        yield rows_table("Figures of the head", frame.drop(columns="fresh"), caption=caption)
        return
    yield f"{expect.counted(len(heads), 'head')}. This shows how the heads are shaped, not how accurate they are."
    _, first = next(iter(heads.values()))
    rows = {name: {"layer": head.name, **vars(quality)} for name, (head, quality) in heads.items()}
    yield worded_table("heads", rows, result=first, simplex=1 - first.references["simplex"])
