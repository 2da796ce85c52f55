"""Charts of scores: every kind draws what the result says, and refuses what it does not have."""

from __future__ import annotations

import numpy as np
import pytest
from drawings import drawn, rows_with
from sklearn.metrics import precision_recall_curve, roc_curve

import classay
from classay import InputError, Labelings
from classay.learner.scores.curves import refit_curves


def planted(classes=2, seed=0, **options):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=120)
    raw = np.exp(2 * np.eye(classes)[truth] + rng.normal(size=(5, 2, 120, classes)))
    scores = raw / raw.sum(axis=-1, keepdims=True)
    names = np.array(["<b>no</b>", "yes", "perhaps"][:classes])
    return Labelings.from_arrays(names[scores.argmax(-1)], names[truth], classes=names, scores=scores, **options)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["figures", "spread", "calibration", "roc", "precision_recall", "confusion"])
def test_every_kind_is_drawn(kind, classes):
    drawn(classay.metrics(planted(classes)).plot(kind=kind))


def test_metrics_show_intervals_and_refits():
    m = classay.metrics(planted())
    rows = {row["label"]: row for row in rows_with(m.plot(), "from")}
    assert rows["roc auc"]["value"] == pytest.approx(m["roc_auc"].value)
    assert rows["roc auc"]["low"] == pytest.approx(m["roc_auc"].low)
    assert rows["roc auc"]["to"] == pytest.approx(m.refit_spread["roc_auc"].high)


def test_curves_match_those_of_scikit_learn():
    labelings = planted()
    one = Labelings.from_arrays(
        labelings.classes[labelings.labels[:1, :1]],
        labelings.classes[labelings.truth],
        classes=labelings.classes[::-1],
        scores=labelings.scores.values[:1, :1, :, ::-1],
    )
    truth, scores = one.truth, one.scores.positive[0, 0]
    curve = refit_curves(one, one.scores, "roc")
    false, true, _ = roc_curve(truth, scores)
    np.testing.assert_allclose(np.interp(curve["x"], false, true), curve["value"], atol=1e-9)
    precision, recall, _ = precision_recall_curve(truth, scores)
    by_recall = refit_curves(one, one.scores, "precision_recall")
    for x, value in zip(by_recall["x"], by_recall["value"]):
        assert value == pytest.approx(precision[:-1][recall[:-1] >= x].max())


def test_what_is_not_there_is_refused():
    labels_only = classay.metrics(Labelings.from_arrays(planted().labels, planted().truth))
    with pytest.raises(InputError, match="There is no calibration here"):
        labels_only.plot(kind="calibration")
    with pytest.raises(InputError, match="has no scores"):
        labels_only.plot(kind="roc")
    with pytest.raises(InputError, match="`kind` is 'pie'"):
        labels_only.plot(kind="pie")


def test_sources_of_variance_and_retrainings():
    v = classay.metrics(planted()).score_variance()
    for kind in ("both", "figures", "histogram"):
        drawn(v.plot(kind=kind))
    r = classay.retraining(planted(retrained=0.1))
    rows = {row["name"]: row for row in rows_with(r.plot(), "name", "value")}
    assert rows["all"]["value"] == pytest.approx(r.change.value)
