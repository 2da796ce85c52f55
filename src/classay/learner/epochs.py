"""`EpochPredictions`: validation predictions of a network, kept per epoch and seed, as a record.

Lightning and Hugging Face's Trainer are not needed to import this: their callbacks are made when asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..expect import InputError, whole
from ..inputs import plain_labels
from .records.labelings import Labelings


class EpochPredictions:
    """Keeps what a network predicts for the same validation rows after every epoch, for every seed.

    In the record an epoch is a variant and a seed is a run: `stability` then says how much epochs differ,
    `repeats_needed` how many seeds suffice, and `compare` what the last epoch changed.

    >>> kept = EpochPredictions()
    >>> for seed in range(2):
    ...     for epoch in range(3):
    ...         kept.add([0, 1, seed], [0, 1, 1], epoch, seed)
    >>> kept.record().labels.shape
    (3, 2, 3)
    """

    def __init__(self, name: str = "network") -> None:
        self.name = name
        self.truth: NDArray[Any] | None = None
        self.predictions: dict[tuple[int, int], NDArray[Any]] = {}
        self.last: tuple[NDArray[Any], NDArray[Any]] | None = None

    def add(self, predicted: Any, truth: ArrayLike, epoch: int, seed: int = 0) -> None:
        """Keep the predictions of one epoch: labels (n,), or scores (n, classes) whose largest counts.

        truth : the labels of the validation rows, the same and in the same order every time
        """
        values, labels = _array(predicted), plain_labels(_array(truth).reshape(-1))
        if values.ndim == 2 and values.shape[1] > 1:
            values = values.argmax(axis=1)
        values = plain_labels(values.reshape(-1))
        if values.size != labels.size:
            raise InputError(f"There are {values.size} predictions for {labels.size} rows; they must match.")
        if self.truth is not None and not np.array_equal(self.truth, labels):
            raise InputError(
                f"The labels of epoch {epoch}, seed {seed} differ from those before; expected the same validation rows "
                "in the same order. Do not shuffle them."
            )
        self.truth = labels
        self.predictions[whole(epoch, "epoch", at_least=0), whole(seed, "seed", at_least=0)] = values

    def record(self, name: str | None = None) -> Labelings:
        """The record: epochs as variants, seeds as runs. An epoch that a seed did not reach is a missing run."""
        if self.truth is None:
            raise InputError("No predictions were kept; expected at least one epoch. Was the validation run?")
        rows = [
            pd.DataFrame({"item": np.arange(values.size), "epoch": epoch, "seed": seed, "prediction": values})
            for (epoch, seed), values in sorted(self.predictions.items())
        ]
        frame = pd.concat(rows, ignore_index=True)
        frame["truth"] = np.tile(self.truth, len(rows))
        return Labelings.from_frame(
            frame, truth="truth", prediction="prediction", item="item", run="seed", variant="epoch",
            name=name or self.name,
        )  # fmt: skip

    def lightning(self, seed: int = 0) -> Any:
        """A callback for Lightning's Trainer; `validation_step` must return a dict with preds (or logits) and target.

        >>> EpochPredictions().lightning().on_validation_epoch_start(None, None)
        """
        return _with_base(_OfLightning, ("lightning.pytorch", "pytorch_lightning"), "Callback")(self, seed)

    def trainer_callback(self, seed: int | None = None) -> Any:
        """A callback for Hugging Face's Trainer; pass `compute_metrics` of this object to the same Trainer.

        seed : default: `args.seed` of the Trainer
        """
        return _with_base(_OfTrainer, ("transformers",), "TrainerCallback")(self, seed)

    def compute_metrics(self, predictions: Any) -> dict[str, float]:
        """For Hugging Face's Trainer: keep the predictions of an evaluation, and return accuracy."""
        scores, labels = predictions.predictions, predictions.label_ids
        scores = _array(scores[0] if isinstance(scores, tuple) else scores)
        self.last = (scores, _array(labels))
        predicted = scores.argmax(axis=-1) if scores.ndim > 1 else scores
        return {"accuracy": float(np.mean(predicted == self.last[1]))}


class _OfLightning:
    """Collects the outputs of validation steps, and keeps them when the epoch ends."""

    def __init__(self, kept: EpochPredictions, seed: int) -> None:
        self.kept, self.seed = kept, seed
        self.parts: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def on_validation_epoch_start(self, trainer: Any, module: Any) -> None:
        self.parts = []

    def on_validation_batch_end(
        self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int, dataloader_idx: int = 0
    ) -> None:
        given = outputs if isinstance(outputs, dict) else {}
        predicted = given.get("preds", given.get("logits"))
        if predicted is None or "target" not in given:
            raise InputError("validation_step must return a dict with 'preds' (or 'logits') and 'target'.")
        self.parts.append((_array(predicted), _array(outputs["target"])))

    def on_validation_epoch_end(self, trainer: Any, module: Any) -> None:
        if getattr(trainer, "sanity_checking", False) or not self.parts:
            return
        predicted, truth = (np.concatenate(side) for side in zip(*self.parts))
        self.kept.add(predicted, truth, int(trainer.current_epoch), self.seed)


class _OfTrainer:
    """Keeps what `compute_metrics` saw under the epoch and seed of the Trainer."""

    def __init__(self, kept: EpochPredictions, seed: int | None) -> None:
        self.kept, self.seed = kept, seed

    def on_evaluate(self, args: Any, state: Any, control: Any, **keywords: Any) -> None:
        last = self.kept.last
        if last is None:
            raise InputError("No predictions were seen; pass compute_metrics=kept.compute_metrics to the Trainer.")
        seed = int(args.seed) if self.seed is None else self.seed
        self.kept.add(last[0], last[1], round(state.epoch or 0), seed)


def _with_base(kind: type, modules: tuple[str, ...], name: str) -> type:
    """The callback as a subclass of the library's own, if the library is installed."""
    for module in modules:
        try:
            base = getattr(importlib.import_module(module), name)
        except ImportError:
            continue
        return type(kind.__name__, (kind, base), {})
    return kind


def _array(values: Any) -> NDArray[Any]:
    """An array, also of a tensor on any device."""
    for step in ("detach", "cpu"):
        values = getattr(values, step, lambda values=values: values)()
    return np.asarray(values)
