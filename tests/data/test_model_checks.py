"""A model held against the geometry: paired comparison, ranking of errors, unknown rows, embeddings, balance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

import classay
from classay.expect import InputError


def clouds(n=400, apart=2.0, seed=0, classes=3, d=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, d)) + apart * np.eye(d)[y], np.array(list("abcdef"))[y]


def test_versus_baseline_has_scikit_learns_figures_and_is_paired():
    X, y = clouds()
    c = classay.complexity(X[:200], y[:200], "euclidean", X[200:], y[200:])
    model = LogisticRegression().fit(X[:200], y[:200]).predict(X[200:])
    versus = classay.versus_baseline(c, model)
    for who, predicted in (("model", model), ("baseline", c.predicted)):
        figures = getattr(versus, who)
        assert figures["accuracy"].value == pytest.approx(np.mean(predicted == y[200:]))
        assert figures["balanced_accuracy"].value == pytest.approx(balanced_accuracy_score(y[200:], predicted))
        assert figures["macro_f1"].value == pytest.approx(f1_score(y[200:], predicted, average="macro"))
    gain = versus.difference["accuracy"]
    assert gain.value == pytest.approx((versus.only_model - versus.only_baseline) / 200)
    # Paired: far narrower than the difference of two independent accuracies.
    assert gain.high - gain.low < 0.7 * (versus.model["accuracy"].high - versus.model["accuracy"].low) * 2**0.5
    assert classay.versus_baseline(c, y[200:]).verdict == "yes"
    assert classay.versus_baseline(c, c.predicted).verdict == "not shown"
    assert classay.versus_baseline(c, np.full(200, "zzz")).verdict == "no"
    assert versus.to_dict() == classay.versus_baseline(c, model).to_dict()


def test_a_class_is_not_taken_for_another_whose_name_begins_with_its_name():
    X, y = clouds(classes=2)
    y = np.where(y == "a", "no", "none")
    versus = classay.versus_baseline(classay.complexity(X, y, "euclidean"), ["no"] * y.size)
    assert versus.model["accuracy"].value == pytest.approx((y == "no").mean())


def test_the_interval_of_the_difference_holds_its_level():
    rng, held = np.random.default_rng(1), 0
    X, y = clouds(200)
    c = classay.complexity(X, y, "euclidean")
    base = (c.predicted == c.labels).mean()
    for seed in range(60):
        # A model that is right where the baseline is, except that a tenth of the rows are drawn anew.
        anew = rng.random(200) < 0.1
        model = np.where(anew, np.where(rng.random(200) < 0.5, c.labels, "zzz"), c.predicted)
        gain = classay.versus_baseline(c, model, random_state=seed).difference["accuracy"]
        held += gain.low <= 0.1 * (0.5 - base) <= gain.high
    assert held >= 53


def test_groups_widen_it():
    X, y = clouds(200)
    groups = np.repeat(np.arange(20), 10)
    model = np.where(groups < 4, "zzz", y)
    alone = classay.versus_baseline(classay.complexity(X, y, "euclidean"), model)
    grouped = classay.versus_baseline(classay.complexity(X, y, "euclidean", groups=groups), model)
    width = [each.difference["accuracy"].high - each.difference["accuracy"].low for each in (alone, grouped)]
    assert width[1] > 1.5 * width[0]


def test_auc_is_scikit_learns_and_its_interval_delongs():
    X, y = clouds(300)
    c = classay.complexity(X, y, "euclidean")
    rng = np.random.default_rng(0)
    wrong = rng.random(300) < np.where(c.values > np.median(c.values), 0.5, 0.1)
    sure = rng.random(300).round(1)
    against = classay.complexity_against(c, wrong, sure)
    assert against.auc.value == pytest.approx(roc_auc_score(wrong, c.values))
    assert against.auc_confidence.value == pytest.approx(roc_auc_score(wrong, -sure))
    assert against.difference.value == pytest.approx(against.auc.value - against.auc_confidence.value)
    draws = []
    for _ in range(300):
        rows = rng.integers(0, 300, 300)
        draws.append(roc_auc_score(wrong[rows], c.values[rows]))
    assert (against.auc.high - against.auc.low) / 3.92 == pytest.approx(np.std(draws), rel=0.25)
    assert against.curve["rows"].sum() == 300
    assert against.curve["errors"].sum() == wrong.sum()
    assert against.curve["error_rate"].iloc[-1] > against.curve["error_rate"].iloc[0]
    assert not classay.complexity_against(c, wrong).auc_confidence.known


def test_unlike_known_keeps_its_rate_and_finds_others():
    X, y = clouds(1500, seed=3)
    c = classay.complexity(X[:800], y[:800])
    alike = classay.unlike_known(c, X[800:], 0.05)
    assert alike.flagged.size <= 0.05 * 700 + 3 * (0.05 * 0.95 * 700) ** 0.5
    assert alike.p_value > 0.001
    other = classay.unlike_known(c, np.concatenate([X[800:900], X[900:1000] + 8]), 0.05)
    assert (other.flagged >= 100).sum() >= 95
    assert other.p_value < 1e-6
    assert (np.diff(other.unusual[other.flagged]) >= 0).all()
    with pytest.raises(InputError, match="X_eval"):
        classay.unlike_known(classay.complexity(X[:800], y[:800], "euclidean", X[800:], y[800:]), X)


def test_the_better_embedding_is_named_and_equal_ones_are_not():
    X, y = clouds(600, apart=3.0)
    noise = np.random.default_rng(0).normal(size=(600, 4))
    compared = classay.compare_embeddings(noise + X, X, y, names=("noisy", "plain"))
    assert compared.better == "plain"
    assert compared.accuracy_difference.low > 0
    same = classay.compare_embeddings(X, X @ np.linalg.qr(noise[:4])[0], y, distance="euclidean")
    assert same.better == ""
    with pytest.raises(InputError, match="600 labels"):
        classay.compare_embeddings(X[:10], X, y)


def test_balanced_samples_have_equal_classes():
    X, y = clouds(600, apart=1.5, classes=2)
    keep = np.concatenate([np.flatnonzero(y == "a"), np.flatnonzero(y == "b")[:40]])
    balanced = classay.balanced_complexity(X[keep], y[keep], repeats=5, distance="gaussian")
    assert balanced.rows_per_class == 40
    by_class = balanced.by_class.set_index("class")
    # With its prior and few rows, the small class is harder than it is among equals.
    assert by_class.at["b", "balanced"] < by_class.at["b", "plain"]
    assert (by_class["low"] <= by_class["balanced"]).all()
    with pytest.raises(InputError, match="rows_per_class"):
        classay.balanced_complexity(X, y, rows_per_class=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: classay.complexity_against(c, np.zeros(9, bool)), "each of the 60 rows"),
        (lambda c: classay.complexity_against(c, np.zeros(60, bool)), "nothing to rank"),
        (lambda c: classay.complexity_against(c, np.arange(60) < 5, np.ones(3)), "confidence"),
        (lambda c: classay.versus_baseline(c, ["a"] * 3), "predictions"),
        (lambda c: classay.unlike_known(c, np.ones((2, 4)), 3), "false_alarms"),
    ],
)
def test_mistakes_get_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call(classay.complexity(*clouds(60), "euclidean"))
