"""How many labels are wrong, and which: planted ones are found, overlap and noise are not mistaken for them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from classay.data import rows as rows_module
from classay.data.labels import label_model
from classay.data.labels import wrong_labels as module
from classay.data.rows import complexity
from classay.expect import InputError


def flipped(y, share, seed=0):
    """Labels of which a share is another class, and which."""
    rng = np.random.default_rng(seed)
    classes = int(y.max()) + 1
    rows = rng.choice(y.size, round(share * y.size), replace=False)
    y = y.copy()
    y[rows] = (y[rows] + rng.integers(1, classes, rows.size)) % classes
    return y, rows


def clouds(n, apart, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    return rng.normal(size=(n, 4)) + apart * np.eye(4)[y], y


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_planted_wrong_labels_are_found_and_counted(share):
    X, truth = load_digits(return_X_y=True)
    y, rows = flipped(truth, share)
    c = complexity(X, y)
    labels = c.wrong_labels()
    assert labels.number.low <= rows.size <= labels.number.high
    assert np.isin(labels.listed, rows).mean() >= 0.9
    assert np.isin(rows, labels.listed).mean() >= 0.85
    suspects = c.suspects()
    assert suspects["row"].tolist() == labels.listed.tolist()
    found = suspects[np.isin(suspects["row"], rows)]
    assert (found["likely"] == truth[found["row"]]).mean() > 0.95  # the class they had
    assert len(c.suspects(5)) == 5
    # Two lists, not one twice: hard rows without suspected labels.
    assert not np.isin(c.hardest(20, suspects=False)["row"], labels.listed).any()
    assert np.isin(c.hardest(rows.size)["row"], rows).mean() >= 0.85


@pytest.mark.parametrize("classes", [2, 10])
def test_random_labels_flag_nothing(classes):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        c = complexity(rng.normal(size=(1000, 5)), rng.integers(0, classes, 1000))
        labels = c.wrong_labels()
        assert len(c.suspects()) <= 10
        if not labels.share.known:
            assert "is unknown" in labels.answer
            assert "labels are wrong is unknown" in str(c)


def test_the_only_test_row_of_a_class_is_not_suspected_for_that():
    """No other test row has its label, so there is no neighbour; its distance to the class of the training rows is."""
    truth, known = np.append(np.repeat([0, 1, 2], 60), 3), np.repeat([0, 1, 2, 3], [100, 100, 100, 60])
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        means = 4 * rng.normal(size=(4, 5))
        X, X_eval = (rng.normal(size=(y.size, 5)) + means[y] for y in (known, truth))
        rows = rng.choice(180, 12, replace=False)
        y = truth.copy()
        y[rows] = (y[rows] + rng.integers(1, 3, 12)) % 3
        labels = complexity(X, known, X_eval=X_eval, y_eval=y).wrong_labels()
        assert 180 not in labels.listed
        assert labels.probability[180] < 0.1
        found += int(np.isin(rows, labels.listed).sum())
    assert found >= 45


@pytest.mark.parametrize(("rows", "classes"), [(3, 2), (1003, 1000)])
def test_too_few_rows_are_not_called_overlap(rows, classes):
    y = np.arange(rows) % classes
    c = complexity(np.random.default_rng(0).normal(size=(rows, 2)), y, "euclidean")
    labels, ranked = c.wrong_labels(), c.suspects(3)
    assert ranked["row"].tolist() == c.hardest(3)["row"].tolist()  # for want of a probability
    assert labels.verdict == "undecided"
    assert not labels.share.known
    assert "too few" in labels.answer
    assert f"at least {2 * classes:,}" in labels.answer
    assert "overlap" not in str(labels)
    assert "too few" in str(labels)


def test_copies_confirm_no_labels():
    """Overlapping classes, copied five times, were once said to have at most 0.3 % wrong labels."""
    X, y = clouds(300, 1.2)
    rows = np.repeat(np.arange(300), 5)
    labels = complexity(X[rows], y[rows]).wrong_labels()
    assert labels.verdict == "undecided"
    assert "1,200 rows repeat others with their label" in str(labels)
    grouped = complexity(X[rows], y[rows], groups=rows).wrong_labels()
    assert "repeat" not in str(grouped)
    assert grouped.verdict == complexity(X, y).wrong_labels().verdict == "undecided"
    # Equal rows that are as frequent if columns are shuffled are no copies.
    rolls = np.random.default_rng(0).integers(3, size=(600, 3))
    assert "repeat" not in str(complexity(rolls, rolls[:, 0]).wrong_labels())


def test_rows_that_cannot_be_judged_have_no_probability():
    """Their class is new, or has no other row: neither right nor wrong; they look like the nearest class."""
    X, y = clouds(600, 4.0)
    y = flipped(y, 0.05)[0]
    y = y.astype(object)
    y[0] = y[5] = "new"
    new = complexity(X[300:], y[300:].astype(str), X_eval=X[:300], y_eval=y[:300].astype(str))
    lone = complexity(X, np.where(np.arange(600) == 5, "lone", y.astype(str)))
    for result, strange in ((new, [0, 5]), (lone, [5])):
        labels = result.wrong_labels()
        assert labels.share.known
        assert np.flatnonzero(np.isnan(labels.probability)).tolist()[-1] == 5
        assert np.isnan(labels.probability[strange]).all()
        assert not np.isin(strange, labels.listed).any()
        assert labels.likely[strange].tolist() == result.nearest[strange].tolist()
        assert (labels.likely != labels.labels).all()
        assert labels.to_frame()["value"].isna().to_numpy()[-len(strange) :].all()  # after all others
        assert json.loads(json.dumps(labels.to_dict(), allow_nan=False))["probability"][5] is None
        assert np.isfinite(result.suspects()["wrong"]).all()
        assert "cannot be judged" in str(labels)
        labels.plot()


@pytest.mark.parametrize("apart", [1.0, 2.0, 4.0])
def test_overlap_is_not_taken_for_wrong_labels(apart):
    """Grades given by different people look like classes that overlap: no answer is better than a wrong one."""
    for seed in range(2):
        labels = complexity(*clouds(1000, apart, seed)).wrong_labels()
        assert labels.number.low <= 8
        assert labels.listed.size <= 8
        assert (labels.verdict == "no") == (apart == 4)  # few rows look like another class
        assert ("At most" in str(labels)) == (apart == 4)
    if apart == 1:
        assert labels.share.high > 0.2
        assert not labels.share.known
        assert str(labels).startswith("Whether wrong labels limit the accuracy is unknown")


@pytest.mark.parametrize(("apart", "exchanged"), [(2.0, False), (4.0, True)])
def test_wrong_labels_that_look_like_overlap_are_no_confident_zero(apart, exchanged):
    """A tenth of class 0 is labelled 1, or of both as the other: these were said to be 0 [0, 10] and 0 [0, 4]."""
    X, truth = clouds(1000, apart)
    wrong = (truth <= int(exchanged)) & (np.random.default_rng(0).random(1000) < 0.1)
    c = complexity(X, np.where(wrong, 1 - truth, truth))
    labels = c.wrong_labels()
    assert labels.number.low <= wrong.sum() <= labels.number.high
    assert (labels.verdict, labels.share.known) == ("undecided", False)
    assert "labelled twice" in labels.advice
    assert labels.largest("share").high == pytest.approx(labels.share.high)
    assert f"between {labels.number.low:.0f} and {labels.number.high:.0f} labels may be wrong" in str(labels)
    assert "suspected" not in str(labels)
    ranked = c.suspects(int(wrong.sum()))
    assert len(ranked) == wrong.sum()
    assert (np.diff(ranked["wrong"]) <= 0).all()
    assert wrong[ranked["row"]].mean() > 0.5
    assert not ranked["listed"].any()


def test_probabilities_are_bayes_rule():
    """With known class probabilities the posterior of a wrong label is by hand; the model then fits ε."""
    shares, label = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.4], [0.5, 0.3, 0.2]]), np.zeros(3, dtype=int)
    true, chance = label_model.true_class(shares, label, 0.1, label_model.anywhere(3))
    assert 1 - true[:, 0] == pytest.approx([0.0, 1.0, 0.1 * 0.5 / 2 / (0.9 * 0.5 + 0.1 * 0.5 / 2)])
    assert true[2, 1:] == pytest.approx(0.05 * np.array([0.3, 0.2]) / chance[2])
    # Only rows of class 1 get the label 0, a fifth of them; the labels of the others are right.
    true, _ = label_model.true_class(shares, label, 0.1, np.array([[0, 0, 0], [2.0, 0, 0], [0, 0, 0]]))
    assert true[2] == pytest.approx(np.array([0.5, 0.2 * 0.3, 0]) / (0.5 + 0.2 * 0.3))
    assert module._listed(np.array([0.2, 1.0, 0.9, 0.7]), 0.15).tolist() == [1, 2, 3]
    assert module._listed(np.array([0.2, 1.0, 0.9, 0.7]), 0.05).tolist() == [1, 2]
    assert module._listed(np.array([0.2, 0.3]), 0.05).tolist() == []
    # A label that is likelier right is not listed, even where the list could bear it.
    assert module._listed(np.array([0.4, 1.0, 1.0, 1.0, 1.0]), 0.2).tolist() == [1, 2, 3, 4]


def test_the_gradient_is_that_of_the_loss():
    from scipy.optimize import check_grad

    rng = np.random.default_rng(0)
    evidence, codes = rng.random((3, 40, 5)) * 4, rng.integers(0, 5, 40)
    pattern = label_model.anywhere(5) + np.where(np.arange(25).reshape(5, 5) == 7, 0.5, 0.0)
    for wrong, point in ((None, [0.5, 1.0, 2.0, 0.1]), (0.2, [0.5, 1.0, 2.0])):
        error = check_grad(
            lambda p, w=wrong: label_model.negative_log_likelihood(p, evidence, codes, pattern, w)[0],
            lambda p, w=wrong: label_model.negative_log_likelihood(p, evidence, codes, pattern, w)[1],
            np.array(point),
        )
        assert error < 1e-4


def by_loop(points, codes, groups, rank):
    """Distances to the rank-th nearest row of each class, or to the farthest of a class with fewer rows."""
    found = np.full((len(points), codes.max() + 1), np.inf)
    for row, point in enumerate(points):
        for code in range(found.shape[1]):
            others = [other for other in np.flatnonzero(codes == code) if groups[other] != groups[row]]
            distances = sorted(float(np.linalg.norm(points[other] - point)) for other in others)
            if distances:
                found[row, code] = distances[min(rank, len(distances)) - 1]
    return found


@pytest.mark.parametrize("grouped", [False, True])
def test_nearest_rows_are_those_of_a_loop(grouped):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    X[:2], codes[:2] = 5.0, 3  # a class of two rows
    groups = np.repeat(np.arange(20), 2) if grouped else np.arange(40)
    c = complexity(X, codes, "euclidean", groups=groups if grouped else None)
    rows = np.arange(40)
    nearest = label_model.NearestRows(c.evidence, "euclidean", rows)
    measured = nearest.measure(rows)
    for rank, distances in zip(label_model.RANKS, measured):
        np.testing.assert_allclose(distances, by_loop(X, codes, groups, rank), atol=1e-6)
    some = np.array([3, 30])
    np.testing.assert_allclose(nearest.measure(some), measured[:, some], atol=1e-6)


@pytest.mark.parametrize("distance", ["cosine", "whitened_cosine", "mahalanobis", "gaussian"])
def test_nearest_rows_are_measured_as_the_distance_is(distance):
    """Directions do not change with length; whitened ones do not change with units."""
    X, y = clouds(120, 2.0)
    c = complexity(X, y, distance)
    nearest = label_model.NearestRows(c.evidence, distance, np.arange(120))
    changed = X * np.linspace(1, 9, 120)[:, None] if distance == "cosine" else X * np.array([1, 10, 0.1, 5])
    again = label_model.NearestRows(complexity(changed, y, distance).evidence, distance, np.arange(120))
    np.testing.assert_allclose(nearest.measure(np.arange(120)), again.measure(np.arange(120)), atol=1e-6)


def test_classes_of_several_clusters_keep_the_stated_rate():
    """A row in the wrong place by its class mean, among rows of its class: its neighbours show that it is right."""
    rng = np.random.default_rng(1)
    centres = np.random.default_rng(5).normal(size=(16, 6)) * 2.2
    cluster = rng.integers(0, 16, 1500)
    X, truth = centres[cluster] + rng.normal(size=(1500, 6)), cluster % 4
    y, rows = flipped(truth, 0.05)
    c = complexity(X, y)
    labels = c.wrong_labels()
    assert np.isin(labels.listed, rows).mean() >= 0.9
    assert np.isin(rows, labels.listed).mean() >= 0.5
    assert labels.number.low <= rows.size <= labels.number.high


def test_rows_far_from_everything_are_not_taken_for_wrong_labels():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 1500)
    X = rng.standard_t(2, size=(1500, 4)) + 4 * np.eye(4)[truth]
    assert complexity(X, truth).wrong_labels().listed.size <= 5
    y, rows = flipped(truth, 0.1)
    c = complexity(X, y)
    assert c.wrong_labels().number.low <= rows.size <= c.wrong_labels().number.high
    assert np.isin(c.suspects(rows.size)["row"], rows).mean() >= 0.75


@pytest.mark.parametrize(("one", "other"), [(1, 8), (4, 7)])
def test_labels_that_are_wrong_in_one_direction_are_counted_and_found(one, other):
    """They look like overlap to each row's neighbours, and were said to be none: 0 [0, 4]."""
    X, truth = load_digits(return_X_y=True)
    rows = np.random.default_rng(one).choice(np.flatnonzero(truth == one), 40, replace=False)
    y = truth.copy()
    y[rows] = other
    c = complexity(X, y)
    labels = c.wrong_labels()
    assert labels.number.low <= 40 <= labels.number.high
    assert labels.number.low > 0
    assert np.isin(labels.listed, rows).mean() >= 0.9
    assert f"{one} labelled as {other}" in str(labels)
    ranked = c.suspects(60)
    assert len(ranked) == 60
    assert np.isin(rows, ranked["row"]).mean() >= 0.9
    assert ranked["listed"].sum() == labels.listed.size
    assert (ranked["likely"][np.isin(ranked["row"], rows)] == one).mean() > 0.9


def test_many_rows_are_compared_with_a_sample(monkeypatch):
    X, truth = clouds(1500, 4.0)
    y, rows = flipped(truth, 0.05)
    monkeypatch.setattr(label_model, "MOST_PAIRS", 1500 * 100)
    monkeypatch.setattr(label_model, "LEAST_COMPARED", 100)
    c = complexity(X, y)
    assert label_model.NearestRows(c.evidence, c.distance, np.arange(1500)).rows.size == 100
    assert np.isin(c.wrong_labels().listed, rows).mean() >= 0.9


@pytest.mark.slow
def test_a_learner_helps():
    """A ring around a disc, and columns of noise: distances and neighbours say little, a forest separates them."""
    rng = np.random.default_rng(0)
    angle, truth = rng.random(1200) * 2 * np.pi, rng.integers(0, 2, 1200)
    radius = np.where(truth == 0, rng.random(1200), 1.6 + rng.random(1200))
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), 2 * rng.normal(size=(1200, 8))])
    y, rows = flipped(truth, 0.05)
    c = complexity(X, y, "euclidean")
    shares = cross_val_predict(RandomForestClassifier(100, random_state=0), X, y, cv=5, method="predict_proba")
    alone, both = c.wrong_labels(), c.wrong_labels(shares)

    def at_top(labels):
        return np.isin(np.argsort(-np.nan_to_num(labels.probability), kind="stable")[: rows.size], rows).mean()

    assert at_top(both) > max(at_top(alone), 0.9)
    assert both.number.low <= rows.size <= both.number.high
    assert both.explained.value > 0.6
    assert "the learner's" in both.answer


@pytest.mark.slow
def test_the_result(monkeypatch):
    X, truth = load_digits(return_X_y=True)
    y, _ = flipped(truth, 0.05)
    c = complexity(X, y)
    labels = c.wrong_labels()
    content = json.loads(json.dumps(labels.to_dict(), allow_nan=False))
    assert content["share"]["value"] == pytest.approx(labels.share.value)
    assert labels.ceiling.value == pytest.approx(1 - labels.share.value)
    frame = labels.to_frame()
    assert frame["row"][frame["listed"]].tolist() == labels.listed.tolist()
    assert sorted(frame["row"]) == list(range(1797))
    assert str(labels).startswith("About ")
    assert "Labels that are wrong anywhere would alone limit the accuracy to" in str(labels)
    assert "is unknown" not in labels.answer
    monkeypatch.setattr(rows_module, "MOST_DISTANCES", 10)
    again = complexity(X, y).wrong_labels()  # distances are measured again, in parts
    np.testing.assert_allclose(again.probability, labels.probability, atol=1e-6)


def test_mistakes_are_explained():
    X, y = clouds(60, 2.0)
    c = complexity(X, y)
    with pytest.raises(InputError, match="60 rows x 3 classes"):
        c.wrong_labels(np.ones((60, 2)) / 2)
    with pytest.raises(InputError, match="sum to 1"):
        c.wrong_labels(np.ones((60, 3)))
    with pytest.raises(InputError, match="false_alarms"):
        c.wrong_labels(false_alarms=2)


@pytest.mark.slow
def test_many_correlated_columns_do_not_hide_wrong_labels():
    """With 3 rows for each column, the covariance within classes is made of the labels, wrong ones too."""
    rng = np.random.default_rng(0)
    truth, spread = np.arange(800) % 10, 1 / (1 + np.arange(300))
    turned = np.linalg.qr(rng.normal(size=(300, 300)))[0]
    X = (0.9 * spread.mean() * rng.normal(size=(10, 300))[truth] + spread * rng.normal(size=(800, 300))) @ turned
    rows, y = rng.permutation(800)[:64], truth.copy()
    y[rows] = (y[rows] + rng.integers(1, 10, 64)) % 10
    labels = complexity(X, y, distance="whitened_cosine").wrong_labels()
    assert labels.number.low <= 64 <= labels.number.high
    assert np.isin(rows, labels.listed).mean() > 0.9
