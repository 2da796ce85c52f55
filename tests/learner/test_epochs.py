"""Validation predictions per epoch and seed: by hand, with stand-ins of the two trainers, and with the real ones."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import classay
from classay import InputError


def network(epoch: int, seed: int, truth):
    """Predictions that get better with the epoch and differ with the seed."""
    rng = np.random.default_rng([epoch, seed])
    return np.where(rng.random(truth.size) < 0.5 / (1 + epoch), 1 - truth, truth)


def test_epochs_are_variants_and_seeds_are_runs():
    kept = classay.EpochPredictions("net")
    truth = np.arange(60) % 2
    for seed in range(3):
        for epoch in range(4):
            kept.add(network(epoch, seed, truth), truth, epoch, seed)
    record = kept.record()
    assert record.labels.shape == (4, 3, 60)
    assert record.about["variants"] == ["0", "1", "2", "3"]
    by_epoch = record.test_accuracy.mean(axis=1)
    assert by_epoch[-1] > by_epoch[0]
    assert classay.stability(record).same_subset.known
    assert classay.repeats_needed(record).n_variants == 4


def test_scores_and_tensors():
    torch = pytest.importorskip("torch")
    kept = classay.EpochPredictions()
    kept.add(torch.tensor([[0.1, 0.9], [0.8, 0.2]], requires_grad=True), torch.tensor([1, 0]), 0)
    assert kept.record().accuracy().value == 1.0


def test_a_lightning_callback_with_a_stand_in():
    kept = classay.EpochPredictions()
    callback = kept.lightning(seed=4)
    truth = np.array([0, 1, 1, 0])
    for epoch, sanity in ((0, True), (0, False), (1, False)):
        trainer = SimpleNamespace(current_epoch=epoch, sanity_checking=sanity)
        callback.on_validation_epoch_start(trainer, None)
        for start in (0, 2):
            part = truth[start : start + 2]
            callback.on_validation_batch_end(trainer, None, {"preds": part, "target": part}, None, 0)
        callback.on_validation_epoch_end(trainer, None)
    assert sorted(kept.predictions) == [(0, 4), (1, 4)]
    with pytest.raises(InputError, match="must return a dict"):
        callback.on_validation_batch_end(trainer, None, None, None, 0)


def test_a_trainer_callback_with_a_stand_in():
    kept = classay.EpochPredictions()
    callback = kept.trainer_callback()
    with pytest.raises(InputError, match="compute_metrics"):
        callback.on_evaluate(SimpleNamespace(seed=1), SimpleNamespace(epoch=1.0), None)
    scores = np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 3.0]])
    seen = SimpleNamespace(predictions=(scores, None), label_ids=np.array([0, 1, 0]))
    assert kept.compute_metrics(seen) == {"accuracy": pytest.approx(2 / 3)}
    callback.on_evaluate(SimpleNamespace(seed=7), SimpleNamespace(epoch=0.999), None, metrics={})
    assert list(kept.predictions) == [(1, 7)]


def test_mistakes():
    kept = classay.EpochPredictions()
    with pytest.raises(InputError, match="No predictions were kept"):
        kept.record()
    with pytest.raises(InputError, match="3 predictions for 2 rows"):
        kept.add([0, 1, 1], [0, 1], 0)
    kept.add([0, 1], [0, 1], 0)
    with pytest.raises(InputError, match="Do not shuffle"):
        kept.add([0, 1], [1, 0], 1)
    with pytest.raises(InputError, match="`epoch` is -1"):
        kept.add([0, 1], [0, 1], -1)


@pytest.mark.filterwarnings("default")
def test_lightning_itself(tmp_path):
    lightning = pytest.importorskip("lightning.pytorch")
    torch = pytest.importorskip("torch")

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(2, 2)

        def training_step(self, batch, _):
            return torch.nn.functional.cross_entropy(self.head(batch[0]), batch[1])

        def validation_step(self, batch, _):
            return {"logits": self.head(batch[0]), "target": batch[1]}

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.5)

    kept = classay.EpochPredictions()
    X = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, (X[:, 0] > 0).long()), 16)
    for seed in range(2):
        lightning.seed_everything(seed)
        trainer = lightning.Trainer(
            max_epochs=3, callbacks=[kept.lightning(seed)], logger=False, enable_checkpointing=False,
            enable_progress_bar=False, enable_model_summary=False, accelerator="cpu", default_root_dir=tmp_path,
        )  # fmt: skip
        trainer.fit(Net(), loader, loader)
    assert kept.record().labels.shape == (3, 2, 64)


@pytest.mark.filterwarnings("default")
def test_the_trainer_itself(tmp_path):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    pytest.importorskip("accelerate")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(2, 2)

        def forward(self, x, labels=None):
            scores = self.head(x)
            return {"loss": torch.nn.functional.cross_entropy(scores, labels), "logits": scores}

    X = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    rows = [{"x": row, "labels": int(row[0] > 0)} for row in X]
    kept = classay.EpochPredictions()
    arguments = transformers.TrainingArguments(
        str(tmp_path), num_train_epochs=2, eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True,
        remove_unused_columns=False, seed=5,
    )  # fmt: skip
    trainer = transformers.Trainer(
        Net(), arguments, train_dataset=rows, eval_dataset=rows, compute_metrics=kept.compute_metrics,
        callbacks=[kept.trainer_callback()],
    )  # fmt: skip
    trainer.train()
    assert kept.record().labels.shape == (2, 1, 64)
    assert {seed for _, seed in kept.predictions} == {5}
