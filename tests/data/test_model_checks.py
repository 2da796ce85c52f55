"""A model held against the geometry: paired comparison, ranking of errors, unknown rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import classay
from classay.data.model.baseline import paired_accuracy, tango
from classay.expect import InputError


def clouds(n=400, apart=2.0, seed=0, classes=3, d=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, d)) + apart * np.eye(d)[y], np.array(list("abcdef"))[y]


def test_versus_baseline_has_scikit_learns_figures_and_is_paired():
    X, y = clouds()
    c = classay.complexity(X[:200], y[:200], "euclidean", X[200:], y[200:])
    model = LogisticRegression().fit(X[:200], y[:200]).predict(X[200:])
    versus = c.versus(model)
    for who, predicted in (("model", model), ("baseline", c.predicted)):
        figures = getattr(versus, who)
        assert figures["accuracy"].value == pytest.approx(np.mean(predicted == y[200:]))
        assert figures["balanced_accuracy"].value == pytest.approx(balanced_accuracy_score(y[200:], predicted))
    gain = versus.difference["accuracy"]
    assert gain.value == pytest.approx((versus.only_model - versus.only_baseline) / 200)
    # Paired: far narrower than the difference of two independent accuracies.
    assert gain.high - gain.low < 0.7 * (versus.model["accuracy"].high - versus.model["accuracy"].low) * 2**0.5
    assert c.versus(y[200:]).verdict == "yes"
    assert c.versus(c.predicted).verdict == "not shown"
    assert c.versus(np.full(200, "zzz")).verdict == "no"
    assert versus.to_dict() == c.versus(model).to_dict()


def test_a_class_is_not_taken_for_another_whose_name_begins_with_its_name():
    X, y = clouds(classes=2)
    y = np.where(y == "a", "no", "none")
    versus = classay.complexity(X, y, "euclidean").versus(["no"] * y.size)
    assert versus.model["accuracy"].value == pytest.approx((y == "no").mean())


def test_groups_widen_it():
    X, y = clouds(200)
    groups = np.repeat(np.arange(20), 10)
    model = np.where(groups < 4, "zzz", y)
    alone = classay.complexity(X, y, "euclidean").versus(model)
    grouped = classay.complexity(X, y, "euclidean", groups=groups).versus(model)
    for name in ("accuracy", "balanced_accuracy"):
        width = [each.difference[name].high - each.difference[name].low for each in (alone, grouped)]
        assert width[1] > 1.5 * width[0], name


def test_a_model_that_hardly_differs_claims_no_certainty():
    X, y = clouds(60, apart=6.0)
    c = classay.complexity(X, y, "euclidean")
    same = c.versus(c.predicted)
    for name in ("accuracy", "balanced_accuracy"):
        assert same.difference[name].low < -0.02 < 0.02 < same.difference[name].high
        assert c.versus(y).model[name].low < 0.97


def test_the_verdict_is_that_of_the_p_value():
    X, y = clouds(100, apart=8.0, classes=2)
    for groups in (None, np.arange(100) // 5):
        c = classay.complexity(X, y, "euclidean", groups=groups)
        assert (c.predicted == y).all()
        for wrong in range(12):
            model = np.where(np.arange(100) < wrong, "zzz", y)
            for level in (0.8, 0.95, 0.99):
                versus = c.versus(model, level=level)
                gain = versus.difference["accuracy"]
                assert (versus.verdict == "no") == (versus.p_value <= 1 - level) == (gain.high < 0)


@pytest.mark.parametrize("level", [0.95, 0.99])
def test_a_difference_that_is_not_shown_has_zero_inside_its_interval(level):
    """Not at its end: a gate such as `baseline_gain >= 0` must not pass a model that is not shown to be better."""
    rows = np.arange(200)
    for first in range(16):
        for second in range(16):
            one, other = (rows >= second), (rows < second) | (rows >= first + second)
            for sign, paired in ((1, (one, other)), (-1, (other, one))):
                found = paired_accuracy(*paired, level=level)
                assert sign * (found.only_one - found.only_other) == first - second
                low, high = found.difference.low, found.difference.high
                assert (low < 0 < high) == (found.sign == 0)


def test_the_interval_of_tango_inverts_mcnemars_score():
    # At both ends the score, with the likeliest share of rare rows at that difference by search, is the quantile.
    rare = np.linspace(0, 1, 400_001)
    for first, second, rows in ((0, 1, 44), (3, 9, 50)):
        estimate = tango(first, second, rows, 1.96, 0.95, "")
        for end in (estimate.low, estimate.high):
            shares = rare + end, rare, 1 - 2 * rare - end
            with np.errstate(divide="ignore", invalid="ignore"):
                likelihood = sum(
                    special.xlogy(count, share) for count, share in zip((first, second, rows - first - second), shares)
                )
            likelihood[(shares[0] < 0) | (shares[2] < 0)] = -np.inf
            best = rare[np.nanargmax(likelihood)]
            score = (first - second - rows * end) / np.sqrt(rows * (2 * best + end * (1 - end)))
            assert abs(score) == pytest.approx(1.96, abs=2e-3)
    for first, second, rows in ((3, 9, 50), (12, 2, 40)):
        score = (first - second) / (first + second) ** 0.5
        end = tango(first, second, rows, abs(score), 0.95, "")
        assert min(abs(end.low), abs(end.high)) == pytest.approx(0, abs=1e-6)


def test_the_auc_of_few_errors_is_unknown_and_that_of_some_is_held():
    c = classay.complexity(*clouds(200), "euclidean")
    two = c.against(np.arange(200) < 2, np.arange(200.0))
    assert not any(each.known for each in (two.auc, two.auc_confidence, two.difference))
    assert "unknown" in str(two)
    best = c.against(c.values >= np.sort(c.values)[-5])
    assert best.auc.low < 0.6 < best.auc.value == best.auc.high == 1
    grouped = classay.complexity(*clouds(200), "euclidean", groups=np.arange(200) // 20)
    assert not grouped.against(np.arange(200) < 40).auc.known


def test_auc_is_scikit_learns_and_its_interval_delongs():
    X, y = clouds(300)
    c = classay.complexity(X, y, "euclidean")
    rng = np.random.default_rng(0)
    wrong = rng.random(300) < np.where(c.values > np.median(c.values), 0.5, 0.1)
    sure = rng.random(300).round(1)
    against = c.against(wrong, sure)
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
    assert not c.against(wrong).auc_confidence.known


def test_unlike_known_keeps_its_rate_and_finds_others():
    X, y = clouds(1500, seed=3)
    c = classay.complexity(X[:800], y[:800])
    alike = c.unlike_known(X[800:], 0.05)
    assert alike.flagged.size <= 0.05 * 700 + 3 * (0.05 * 0.95 * 700) ** 0.5
    assert alike.verdict == "no"
    other = c.unlike_known(np.concatenate([X[800:900], X[900:1000] + 8]), 0.05)
    assert (other.flagged >= 100).sum() >= 95
    assert (other.verdict, other.largest("flagged"), other.advice[:4]) == ("found", other.share, "Look")
    assert (np.diff(other.unusual[other.flagged]) >= 0).all()
    with pytest.raises(InputError, match="cross_fit=False"):
        classay.complexity(X[:800], y[:800], "euclidean", cross_fit=False).unlike_known(X)
    with pytest.raises(InputError, match="X_eval"):
        classay.complexity(X[:800], y[:800], "euclidean", X[800:], y[800:]).unlike_known(X)


def test_folds_shrink_as_the_whole_does():
    """Between 10 and 12.5 rows per column, folds alone would be shrunk: new rows then looked farther away."""
    rates = []
    for seed in range(12):
        X, y = clouds(220 + 500, seed=seed, classes=2, d=10)
        first = np.concatenate([np.flatnonzero(y == name)[:110] for name in "ab"])
        c = classay.complexity(X[first], y[first], "mahalanobis", temperature=1)
        assert not any("shrunk" in note for note in c.notes)
        rates.append(c.unlike_known(np.delete(X, first, axis=0), 0.05).flagged.size / 500)
    assert np.mean(rates) <= 0.055


def test_too_few_known_rows_can_flag_nothing_and_it_says_so():
    X, y = clouds(18)
    none = classay.complexity(X, y, "euclidean").unlike_known(X + 100, 0.05)
    assert none.flagged.size == 0
    assert "18 known rows are too few, at least 19" in str(none)
    X, y = clouds(19)
    assert classay.complexity(X, y, "euclidean").unlike_known(X + 100, 0.05).flagged.size == 19


def test_rows_of_a_group_count_as_one_known_row():
    X, y = clouds(600, classes=2)
    for groups, verdict in ((300, "found"), (30, "undecided"), (10, "undecided")):
        grouped = classay.complexity(X, y, groups=np.arange(600) % groups).unlike_known(X + 100, 0.05)
        assert grouped.unusual == pytest.approx(1 / (groups + 1))
        assert (grouped.verdict, "10 known groups are too few" in str(grouped)) == (verdict, groups == 10)
    alike = classay.complexity(X, y, groups=np.arange(600) % 100).unlike_known(X)
    assert (alike.verdict, alike.share.high <= 0.1) == ("no", True)  # hardly more than false alarms are possible


@pytest.mark.parametrize("distance", ["euclidean", "whitened_cosine"])
def test_rows_between_the_known_ones_are_unlike_them(distance):
    """In the middle of classes that are rings: near to their means, and to no row."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), np.arange(600) % 2
    X = X * ((3 + 2 * y) / np.linalg.norm(X, axis=1))[:, None] + 0.2 * rng.normal(size=(600, 2))
    c = classay.complexity(X[:400], y[:400], distance)
    assert c.unlike_known(X[400:]).verdict == "no"
    assert c.unlike_known(0.3 * rng.normal(size=(100, 2))).flagged.size >= 90


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.against(np.zeros(9, bool)), "each of the 60 rows"),
        (lambda c: c.against(np.zeros(60, bool)), "nothing to rank"),
        (lambda c: c.against(np.arange(60) < 5, np.ones(3)), "confidence"),
        (lambda c: c.versus(["a"] * 3), "predictions"),
        (lambda c: c.unlike_known(np.ones((2, 4)), 3), "false_alarms"),
    ],
)
def test_mistakes_get_a_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call(classay.complexity(*clouds(60), "euclidean"))


def test_a_few_rows_far_away_are_found_and_tables_of_either_kind_agree():
    rng = np.random.default_rng(2)
    X, y, new = rng.normal(size=(600, 4)), rng.integers(2, size=600), rng.normal(size=(200, 4))
    new[:5] = 1e6
    c = classay.complexity(X, y)
    assert c.unlike_known(new).verdict == "found"
    np.testing.assert_allclose(c.unlike_known(sparse.csr_array(new)).unusual, c.unlike_known(new).unusual)
    known = classay.complexity(sparse.csr_array(X), y, "euclidean")
    both = known.unlike_known(new), known.unlike_known(sparse.csr_array(new))
    np.testing.assert_allclose(both[0].unusual, both[1].unusual)
