"""Metrics over refits: scikit-learn's values for every refit, hand-made tables, what is withheld and refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from classay import Folds, InputError, Labelings, Subsets, metrics, record
from classay.learner.scores.curves import bin_edges, bin_of, calibration_figures
from classay.learner.scores.scorers import count_figures, count_slope, scorer_names


def planted(classes=2, subsets=6, refits=2, n=300, seed=0, noise=1.0, kind=None, **options):
    """A record with scores that are informative and differ between refits."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    raw = 1.5 * np.eye(classes)[truth] + noise * rng.normal(size=(subsets, refits, n, classes))
    if kind == "decision":
        scores = raw if classes > 2 else np.stack([-raw[..., 1], raw[..., 1]], axis=-1)
    else:
        scores = np.exp(raw) / np.exp(raw).sum(axis=-1, keepdims=True)
    names = np.array(["a", "b", "c", "d"][:classes])
    labels = names[scores.argmax(axis=-1)]
    return Labelings.from_arrays(labels, names[truth], scores=scores, score_kind=kind, **options)


@pytest.mark.parametrize("classes", [2, 3])
def test_every_refit_has_the_value_of_scikit_learn(classes):
    labelings = planted(classes)
    m = metrics(labelings)
    truth = labelings.truth
    average = {} if classes == 2 else {"average": "macro"}
    for subset, refit in np.ndindex(labelings.labels.shape[:2]):
        labels, scores = labelings.labels[subset, refit], labelings.scores.values[subset, refit]
        ranked = scores[:, 1] if classes == 2 else scores
        binary = truth if classes == 2 else truth[:, None] == np.arange(classes)
        squares = ((scores - (truth[:, None] == np.arange(classes))) ** 2).sum(axis=1).mean()
        expected = {
            "accuracy": sk.accuracy_score(truth, labels),
            "balanced_accuracy": sk.balanced_accuracy_score(truth, labels),
            "f1": sk.f1_score(truth, labels, **average),
            "matthews": sk.matthews_corrcoef(truth, labels),
            "roc_auc": sk.roc_auc_score(truth, ranked, multi_class="ovr") if classes == 2
            else sk.roc_auc_score(truth, ranked.astype(float) / ranked.sum(axis=1, dtype=float)[:, None],
                                  multi_class="ovr"),
            "average_precision": sk.average_precision_score(binary, ranked),
            "log_loss": sk.log_loss(truth, scores),
            "brier": squares / 2 if classes == 2 else squares,
            "recall[b]": sk.recall_score(truth, labels, average=None)[1],
            "precision[a]": sk.precision_score(truth, labels, average=None)[0],
        }  # fmt: skip
        for name, value in expected.items():
            np.testing.assert_allclose(m.per_refit[name][subset, refit], value, rtol=1e-6, err_msg=name)
    for name, estimate in m.estimates.items():
        corrected = 2e-3 if name == "average_precision" else 1e-9  # for its bias
        np.testing.assert_allclose(estimate.value, m.per_refit[name].mean(), rtol=corrected, err_msg=name)
        assert estimate.low <= estimate.value <= estimate.high, name


@pytest.mark.slow
def test_scorers_by_name_match_their_functions():
    labelings = planted(3)
    m = metrics(labelings, ["f1_macro", "roc_auc_ovo", "neg_log_loss", "top_k_accuracy", "recall_weighted"])
    labels, scores = labelings.labels[2, 1], labelings.scores.values[2, 1].astype(float)
    scores /= scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(m.per_refit["f1_macro"][2, 1], sk.f1_score(labelings.truth, labels, average="macro"))
    auc = sk.roc_auc_score(labelings.truth, scores, multi_class="ovo")
    np.testing.assert_allclose(m.per_refit["roc_auc_ovo"][2, 1], auc, rtol=1e-6)
    np.testing.assert_allclose(m.per_refit["neg_log_loss"][2, 1], -sk.log_loss(labelings.truth, scores), rtol=1e-6)
    assert list(m.estimates) == ["f1_macro", "roc_auc_ovo", "neg_log_loss", "top_k_accuracy", "recall_weighted"]


@pytest.mark.slow
def test_every_scorer_of_scikit_learn_can_be_asked_for():
    labelings = planted(2)
    for name in scorer_names():
        m = metrics(labelings, name)
        assert name in m.estimates, name
        assert math.isfinite(m[name].value), name


def test_spread_over_refits_is_that_of_the_raw_values():
    m = metrics(planted(subsets=20))
    raw = m.per_refit["roc_auc"]
    spread = m.refit_spread["roc_auc"]
    np.testing.assert_allclose(spread.sd, raw.std(ddof=1))
    np.testing.assert_allclose([spread.low, spread.high], np.quantile(raw, [0.05, 0.95]))


def test_the_confusion_matrix_by_hand():
    labels = [[["a", "a", "b", "b", "b", "b"]], [["a", "b", "b", "b", "b", "a"]]]
    m = metrics(Labelings.from_arrays(labels, list("aaabbb")))
    table = m.confusion.set_index(["true", "predicted"])
    np.testing.assert_allclose(table.loc[("a", "a"), "value"], (2 / 3 + 1 / 3) / 2)
    np.testing.assert_allclose(table.loc[("a", "b"), "rows"], 1.5)
    np.testing.assert_allclose(table.loc[("b", "a"), "value"], 1 / 6)
    assert table.groupby("true")["value"].sum().tolist() == pytest.approx([1, 1])


def test_without_scores_only_labels_are_measured():
    m = metrics(Labelings.from_arrays(planted().labels, planted().truth))
    assert {"accuracy", "balanced_accuracy", "f1", "matthews"} <= set(m.estimates)
    assert m.skipped["roc_auc"] == "the record has no scores."
    assert m.calibration is None
    with pytest.raises(InputError, match="There is no 'roc_auc' here: the record has no scores"):
        m["roc_auc"]


@pytest.mark.slow
def test_decision_values_have_ranks_but_no_probabilities():
    m = metrics(planted(kind="decision"))
    assert "roc_auc" in m.estimates
    assert "decision values" in m.skipped["log_loss"]
    assert "decision values" in m.skipped["brier"]
    X, y = load_iris(return_X_y=True)
    many = metrics(record(RidgeClassifier(), X, y, Subsets(5), executor=1))
    assert many["roc_auc"].value > 0.8


def test_a_threshold_changes_decisions_and_no_scores():
    labelings = planted()
    usual, strict = metrics(labelings), metrics(labelings, threshold=0.9)
    assert strict["roc_auc"] == usual["roc_auc"]
    np.testing.assert_allclose(
        strict.per_refit["recall[b]"], (labelings.scores.positive >= 0.9)[..., labelings.truth == 1].mean(axis=2)
    )
    assert strict["recall[b]"].value < usual["recall[b]"].value


def test_the_cheapest_threshold_of_calibrated_scores_is_the_ratio_of_costs():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 20_000)
    truth = (rng.random(p.size) < p).astype(int)
    labelings = Labelings.from_arrays((p > 0.5).astype(int)[None].repeat(3, 0), truth, scores=p[None].repeat(3, 0))
    m = metrics(labelings, cost=(1, 4))
    assert abs(m.threshold - 0.2) < 0.06
    expected = np.where(p >= 0.2, 1 - p, 4 * p).mean()
    assert m["cost"].low < expected < m["cost"].high
    assert m["cost"].value == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"names": "accurcy"}, "The metric 'accurcy' is not known.*Did you mean accuracy"),
        ({"names": "r2"}, "The metric 'r2' is not known"),
        ({"names": []}, "`names` is empty"),
        ({"threshold": 1.5}, "expected a number between 0 and 1"),
        ({"threshold": 0.5, "cost": (1, 2)}, "both given"),
        ({"cost": 3}, "`cost` is 3; expected a pair"),
        ({"cost": (-1, 3)}, "numbers from 0 up"),
        ({"level": 2}, "`level` is 2"),
    ],
)
def test_what_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        metrics(planted(), **options)


def test_threshold_and_cost_are_for_two_classes_with_scores():
    with pytest.raises(InputError, match="`threshold` is for two classes, and the record has 3"):
        metrics(planted(3), threshold=0.5)
    with pytest.raises(InputError, match="has no scores"):
        metrics(Labelings.from_arrays(planted().labels, planted().truth), cost=(1, 1))


def test_few_rows_of_a_class_withhold_its_interval():
    truth = np.array([1] * 3 + [0] * 200)
    rng = np.random.default_rng(0)
    scores = rng.random((5, 2, truth.size))
    m = metrics(Labelings.from_arrays((scores > 0.5).astype(int), truth, scores=scores))
    for name in ("recall[1]", "roc_auc", "average_precision"):
        assert (m[name].low, m[name].high) == (0.0, 1.0), name
        assert m[name].kind.startswith("unknown"), name
    assert m["recall[0]"].high < 1
    assert "Fewer than 5 test rows: 1" in " ".join(m.notes)


def test_groups_widen_intervals():
    labelings = planted(n=400)
    alone = metrics(labelings)
    # Each row four times: as groups, they tell no more than one.
    copies = Labelings.from_arrays(
        labelings.classes[labelings.labels.repeat(4, axis=2)], labelings.classes[labelings.truth.repeat(4)],
        scores=labelings.scores.values.repeat(4, axis=2), groups=np.arange(400).repeat(4),
    )  # fmt: skip
    grouped = metrics(copies)
    for name in ("roc_auc", "brier", "recall[b]", "f1"):
        widths = [m[name].high - m[name].low for m in (alone, grouped)]
        assert widths[1] == pytest.approx(widths[0], rel=0.35), name
        assert "groups" in grouped[name].kind


# Calibration


def test_calibration_by_hand():
    p, came, edges = np.array([0.1, 0.1, 0.8, 0.8]), np.array([0, 1, 1, 1]), np.array([0.5])
    error, reliability, resolution = calibration_figures(p, came, edges)
    assert error == pytest.approx((0.4 + 0.2) / 2)
    noise = (0.5 * 0.25 / 1 + 0.0) * 1.0
    assert reliability == pytest.approx((0.4**2 + 0.2**2) / 2 - noise)
    assert resolution == pytest.approx((0.25**2 + 0.25**2) / 2 - noise + 0.75 * 0.25 / 3)


def test_reliability_and_resolution_are_unbiased():
    rng = np.random.default_rng(0)
    levels = np.array([0.1, 0.4, 0.9])
    figures = []
    for _ in range(3000):
        p = levels[rng.integers(3, size=60)]
        figures.append(calibration_figures(p, rng.random(60) < p, np.array([0.2, 0.5])))
    _, reliability, resolution = np.mean(figures, axis=0)
    assert reliability == pytest.approx(0, abs=4e-4)
    assert resolution == pytest.approx(levels.var(), abs=2e-3)


def test_the_floor_of_the_calibration_error():
    rng = np.random.default_rng(1)
    p = rng.random(400)
    calibrated = Labelings.from_arrays(
        (p > 0.5).astype(int)[None].repeat(2, 0), (rng.random(400) < p).astype(int), scores=p[None].repeat(2, 0)
    )
    m = metrics(calibrated)
    assert m.calibration.floor.low < m["ece"].value < m.calibration.floor.high
    assert "no sign of miscalibration" in str(m)
    sure = np.where(p > 0.5, 0.99, 0.01)
    wrong = Labelings.from_arrays(calibrated.labels, calibrated.truth, scores=sure[None, None].repeat(2, 0))
    assert metrics(wrong)["ece"].value > metrics(wrong).calibration.floor.high
    assert "it is miscalibrated" in str(metrics(wrong))


def test_missing_refits_are_left_out():
    X, y = make_classification(300, random_state=0)
    labelings = record(RandomForestClassifier(5), X, y, Subsets(6), repeats=2, executor=1)
    whole = metrics(labelings)
    labelings.labels[5] = -1
    labelings.scores.values[5] = np.nan
    fewer = metrics(labelings)
    assert fewer.n_subsets == 5
    np.testing.assert_allclose(fewer.per_refit["roc_auc"], whole.per_refit["roc_auc"][:5])


def test_many_classes_have_what_a_compact_record_has():
    rng = np.random.default_rng(0)
    y = np.arange(24 * 20) % 24
    X = rng.normal(size=(y.size, 8)) + 3 * rng.normal(size=(24, 8))[y]
    m = metrics(record(GaussianNB(), X, y, Subsets(4, 0.8), executor=1))
    assert m["log_loss"].value > 0
    assert "ece" in m.estimates
    assert "more than 20 classes" in m.skipped["roc_auc"]
    assert len(m.confusion) == 24 * 24


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1", "matthews"])
@pytest.mark.parametrize("counts", [[[50, 7], [4, 9]], [[20, 3, 1], [2, 9, 4], [0, 1, 5]]])
def test_slopes_of_figures_are_their_derivatives(name, counts):
    table, step = np.array(counts, dtype=float), 1e-5
    numeric = np.empty(table.shape)
    for cell in np.ndindex(table.shape):
        more = table.copy()
        more[cell] += step
        numeric[cell] = (count_figures(more)[name] - count_figures(table)[name]) / step * table.sum()
    np.testing.assert_allclose(count_slope(name, table), numeric, atol=1e-4)


@pytest.mark.parametrize("varied", ["nothing", "one point", "one refit"])
def test_every_figure_has_a_width(varied):
    truth = np.arange(60) % 3 // 2
    labels = np.tile(truth, (5, 2, 1))
    labels[{"nothing": np.s_[:0], "one point": np.s_[:, :, 0], "one refit": np.s_[0, 0]}[varied]] ^= 1
    m = metrics(Labelings.from_arrays(labels, truth, scores=0.1 + 0.8 * labels), ["usual", "f1_macro"], cost=(1, 5))
    assert {"f1_macro", "brier", "ece", "cost"} <= set(m.estimates)
    figures = [m.to_frame(), m.score_variance().to_frame()]
    for frame in figures:
        assert (frame["low"] < frame["high"]).all(), frame
    if varied == "nothing":
        assert m["balanced_accuracy"].low < m["accuracy"].low < 1  # 20 rows of the rarer class, 60 in all
        assert m["recall[1]"].low == pytest.approx(0.05 ** (1 / 20))


def test_probabilities_near_one_are_ranked_as_with_64_bits():
    X, y = load_breast_cancer(return_X_y=True)
    labelings = record(GaussianNB(), X, y, Folds(5), executor=1)
    positive = labelings.out_of_fold().probabilities[:, 1]
    for name, function in (("roc_auc", sk.roc_auc_score), ("average_precision", sk.average_precision_score)):
        expected = function(y, positive)
        assert metrics(labelings, name).per_refit[name].item() == pytest.approx(expected, abs=1e-6)
        assert abs(function(y, positive.astype(np.float32)) - expected) > 1e-4


def test_equal_scores_are_in_one_bin_the_one_of_scikit_learn():
    rng = np.random.default_rng(0)
    scores = np.concatenate([np.zeros(200), np.round(rng.random(300), 1), np.ones(100)])
    came = rng.random(600) < scores
    edges = bin_edges(scores)
    place = bin_of(scores, edges)
    assert all(np.unique(place[scores == score]).size == 1 for score in np.unique(scores))
    observed, predicted = calibration_curve(came, scores, n_bins=10, strategy="quantile")
    counts = np.bincount(place)
    there = counts > 0
    np.testing.assert_allclose((np.bincount(place, scores)[there] / counts[there]), predicted)
    np.testing.assert_allclose((np.bincount(place, came)[there] / counts[there]), observed)
    assert (place[scores == 0] == 0).all()
    assert (scores[place == 0] == 0).all()  # alone: not mixed with larger ones


@pytest.mark.parametrize("groups", [None, np.arange(569) // 3])
def test_metrics_of_folds_are_those_of_their_predictions_together(groups):
    X, y = load_breast_cancer(return_X_y=True)
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    labelings = record(learner, X, y, Folds(5), executor=1, groups=groups)
    out = labelings.out_of_fold()
    m = metrics(labelings)
    assert m["accuracy"] == labelings.accuracy()
    positive = out.probabilities[:, 1]
    expected = {"roc_auc": sk.roc_auc_score(y, positive), "brier": ((positive - y) ** 2).mean()}
    expected |= {"recall[1]": (out.labels[y == 1] == 1).mean()}
    for name, value in expected.items():
        assert m[name].value == pytest.approx(value, abs=1e-5)
        assert m[name].kind == ("over points" if groups is None else "over groups")
        assert 0 < m[name].high - m[name].low < 0.04
    assert "569 rows, each predicted by a fit that was not trained on it" in str(m)
