from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from voters import Contrary, Deaf, Frail, Interrupted, Stubborn, Voter, crossing_of_votes, first, second

from classay import InputError, preference
from classay.learner.preference import trials
from classay.learner.preference.concepts import attributes, concept


def ask(learner, f1=first, f2=second, **options):
    return preference(learner, f1, f2, **({"attributes": 2, "n_samples": 100, "executor": 1} | options))


@pytest.mark.parametrize("theta", [0.3, 0.65])
def test_a_known_crossing_is_found(theta):
    found = ask(Voter(theta))
    truth = crossing_of_votes(theta, 100)
    assert found.verdict == "crosses"
    assert found.favoured == ("first" if theta < 0.5 else "second")
    assert found.crossing.low <= truth <= found.crossing.high
    assert found.crossing.high - found.crossing.low < 0.1
    assert found.strength.value > 0.5
    assert found.disagreement == pytest.approx(0.5, abs=0.02)


def test_symmetrical_concepts_and_learner_have_no_bias():
    # At 99.9 %, so that it is not one seed in twenty that decides; tests/long has the rate.
    found = ask(GaussianNB(), "x0 > 0.5", "x1 > 0.5", budget=300, level=0.999)
    assert found.favoured is None
    assert found.crossing.low <= 0.5 <= found.crossing.high
    assert "no clear preference" in str(found)


def test_sentence_difference_and_crossing_agree():
    for seed in range(6):
        found = ask(Voter(0.45), budget=40 + 10 * seed, n_samples=50, random_state=seed)
        unclear = found.favoured is None
        assert unclear == (found.difference.low <= 0 <= found.difference.high) == ("no clear preference" in str(found))
        assert unclear == (found.crossing.low <= 0.5 <= found.crossing.high)
        assert unclear or (found.favoured == "first") == (found.difference.value > 0) == (found.crossing.value < 0.5)


def test_the_ends_are_those_of_the_concepts_and_raw_stands_beside_the_summary():
    found = ask(Voter(0.5), budget=100)
    ends = found.evaluations.set_index("p")["difference"]
    assert (ends[1.0], ends[0.0]) == pytest.approx((found.disagreement, -found.disagreement))
    assert len(found.per_fit) == found.n_fits == found.evaluations["fits"].sum()
    means = found.per_fit.groupby("p")["difference"].mean()
    np.testing.assert_allclose(means.to_numpy(), found.evaluations["difference"])
    assert found.evaluations["fitted"].is_monotonic_increasing


def test_exclusive_bias_is_recognised():
    for concepts in ((first, second), (second, first)):
        found = ask(Stubborn(), *concepts)
        assert (found.verdict, found.favoured) == ("exclusive", "second")
        assert (found.strength.value, found.strength.kind) == (1.0, "exclusive")
        assert not found.crossing.known
        assert all(figure.low < figure.high for figure in found.summary().values())
        assert "exclusive" in str(found)


@pytest.mark.parametrize(
    ("learner", "verdict", "words"),
    [
        (Deaf(), "undetermined", "do not determine where the preference switches"),
        (Contrary(), "against the evidence", "makes it prefer the other one"),
    ],
)
def test_learners_without_a_crossing(learner, verdict, words):
    found = ask(learner, budget=200)
    assert found.verdict == verdict
    assert words in str(found)
    assert not any("crossing" in note for note in found.notes)


def test_strength_is_over_a_half_for_either_side():
    toward_first, toward_second = (ask(Voter(theta), budget=300) for theta in (0.3, 0.7))
    assert toward_first.strength.value == pytest.approx(1 - toward_first.crossing.value)
    assert toward_second.strength.value == toward_second.crossing.value
    assert toward_first.strength.low <= toward_first.strength.value <= toward_first.strength.high
    assert toward_first.to_frame()["figure"].tolist() == ["difference", "crossing", "strength"]


def test_regressors_prefer_the_concept_that_they_are_nearer_to():
    """A line through a mix of a line and a step is nearer to the line; a mean of both is nearer to neither."""

    def straight(X):
        return 2 * np.asarray(X)[:, 0]

    def step(X):
        return 2.0 * (np.asarray(X)[:, 0] > 0.5)

    linear = ask(LinearRegression(), straight, step, attributes=1, budget=200)
    assert linear.favoured == "straight"
    assert linear.crossing.high <= 0.5
    shifted = ask(LinearRegression(), straight, lambda X: straight(X) + 1, attributes=1, budget=200, level=0.999)
    assert shifted.favoured is None
    assert shifted.crossing.low <= 0.5 <= shifted.crossing.high


def test_any_number_of_classes():
    three = np.array(["low", "mid", "high"])

    def by_first(X):
        return three[np.digitize(X[:, 0], [1 / 3, 2 / 3])]

    def by_second(X):
        return three[np.digitize(X[:, 1], [1 / 3, 2 / 3])]

    found = ask(GaussianNB(), by_first, by_second, n_samples=150, budget=300)
    assert found.verdict == "crosses"
    assert found.crossing.low <= 0.5 <= found.crossing.high
    assert found.disagreement == pytest.approx(2 / 3, abs=0.02)


def test_the_same_bits_for_any_executor():
    learner = DecisionTreeClassifier(max_depth=2)
    one, two, other = (
        ask(learner, "x0 > 0.5", "x1 > 0.4", budget=80, n_samples=30, executor=executor, random_state=seed)
        for executor, seed in ((1, 3), (2, 3), (1, 4))
    )
    with ThreadPoolExecutor(2) as pool:
        threads = ask(learner, "x0 > 0.5", "x1 > 0.4", budget=80, n_samples=30, executor=pool, random_state=3)
    pd.testing.assert_frame_equal(one.per_fit, two.per_fit)
    pd.testing.assert_frame_equal(one.per_fit, threads.per_fit)
    assert one.crossing == two.crossing
    assert not one.per_fit.equals(other.per_fit)


def test_fits_that_fail_are_left_out_and_reported():
    found = ask(Frail(0.5), budget=150)
    assert 0 < found.n_failed < 0.2 * found.n_fits
    assert any("too high" in note for note in found.notes)
    assert len(found.per_fit) == found.n_fits - found.n_failed


@pytest.mark.slow
def test_categories_are_encoded_inside_the_fits():
    columns = {"heat": (0, 100), "alloy": ["A", "B", "C"], "wet": "bool"}
    for learner in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        found = ask(learner, "heat > 50", "alloy == 'A' or wet", attributes=columns, budget=60)
        assert found.verdict == "crosses"
        assert any("one-hot encoding of 1 column (alloy)" in note for note in found.notes)
    table = pd.DataFrame({"a": ["x", "y", "y"] * 100, "b": np.random.default_rng(0).random(300)})
    found = ask(GaussianNB(), "b > 0.5", "a == 'x'", attributes=table, budget=60)
    assert any("one-hot encoding of 1 column (a)" in note for note in found.notes)
    prepare = ColumnTransformer([("words", OneHotEncoder(), ["alloy"])], remainder="passthrough")
    found = ask(make_pipeline(prepare, GaussianNB()), "heat > 50", "alloy == 'A'", attributes=columns, budget=60)
    assert not any("changed inside each fit" in note for note in found.notes)


def test_rows_of_data_and_fitted_classifiers():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    trees = [DecisionTreeClassifier(max_depth=1).fit(table[[name]].assign(**{other: 0.0})[["a", "b"]], table[name] > 0)
             for name, other in (("a", "b"), ("b", "a"))]  # fmt: skip
    found = ask(GaussianNB(), *trees, attributes=table, budget=100)
    assert found.verdict == "crosses"
    assert found.f1 != found.f2


def test_probes_of_the_users_own_and_correlation():
    # With columns that are nearly the same, the concepts agree on rows like those of training, and not on uniform ones.
    near = ask(GaussianNB(), "x0 > 0.5", "x1 > 0.5", correlation=0.95, probes="data", budget=60)
    far = ask(GaussianNB(), "x0 > 0.5", "x1 > 0.5", correlation=0.95, budget=60)
    assert near.disagreement < 0.2 < far.disagreement
    assert (near.probes, far.probes) == ("data", "uniform")


def test_a_constant_concept_may_be_asked_about():
    found = ask(LogisticRegression(), "x0 > 0.5", lambda X: np.zeros(len(X), dtype=bool), budget=100)
    assert any("had one class" in note for note in found.notes)


@pytest.mark.parametrize(
    ("learner", "options", "message"),
    [
        (GaussianNB(), {"f2": first}, "never disagree"),
        (GaussianNB(), {"f2": "x5 > 1"}, "x5"),
        (GaussianNB(), {"n_samples": 1}, "n_samples"),
        (GaussianNB(), {"budget": 9}, "budget"),
        (GaussianNB(), {"level": 95}, "level"),
        (GaussianNB(), {"attributes": None}, "`attributes` is missing.*Describe them"),
        (GaussianNB(), {"f2": lambda X: np.where(first(X), "yes", "no")}, "same class names"),
        (GaussianNB, {}, "expected an instance"),
        (LinearRegression(), {"f2": lambda X: np.where(first(X), "yes", "no")}, "numbers in both, for a regressor"),
        (KNeighborsClassifier(n_neighbors=50), {"n_samples": 20}, "n_samples = 20\\. Are 20 rows per training set"),
        (GaussianNB(), {"n_samples": 2, "f2": lambda X: np.asarray(X)[:, 0] > 0.9}, "only one class"),
        (make_pipeline(ColumnTransformer([("a", "passthrough", ["colour"])]), GaussianNB()),
         {"attributes": pd.DataFrame({"a": ["x", "y", "y"] * 50, "b": [0.1, 0.9] * 75}),
          "f1": "b > 0.5", "f2": "a == 'x'"}, "cannot be fitted on this table: .*colour"),
        (GaussianNB(), {"probes": np.zeros((3, 5))}, "columns"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(learner, options, message):
    with pytest.raises(InputError, match=message):
        ask(learner, **options)


def test_several_learners_side_by_side():
    found = preference(
        {"low": Voter(0.3), "high": Voter(0.7), "forest": RandomForestClassifier(5)},
        first, second, attributes=2, n_samples=60, budget=60, executor=1,
    )  # fmt: skip
    assert list(found.learners) == ["low", "high", "forest"]
    assert found.learners["low"].crossing.value < 0.5 < found.learners["high"].crossing.value
    assert len(found.to_frame()) == 9
    assert "`first` is favoured by low" in str(found)
    with pytest.raises(InputError, match="dict"):
        preference({}, first, second, attributes=2)


def test_ctrl_c_returns_what_is_done(monkeypatch):
    monkeypatch.setattr(Interrupted, "fits", 0)
    found = ask(Interrupted(0.6, at=170))
    assert found.interrupted
    assert found.n_fits == 169
    assert any("Interrupted" in note for note in found.notes)
    monkeypatch.setattr(Interrupted, "fits", 0)
    with pytest.raises(KeyboardInterrupt):
        ask(Interrupted(at=10))


def test_very_many_columns_are_probed_by_fewer_rows(monkeypatch):
    monkeypatch.setattr(trials, "MOST_CELLS", 4_000)
    kept = trials.rivals(GaussianNB(), tuple(concept(each, "f", attributes(2)) for each in (first, second)),
                         attributes(2), 50, None, 0, None)[0]  # fmt: skip
    assert len(kept.probes) == round(kept.disagreement * 2_000)


@pytest.mark.parametrize(("at", "kept"), [(170, ["a", "b"]), (10, ["a"])])
def test_ctrl_c_ends_a_comparison_of_learners_with_what_is_done(monkeypatch, at, kept):
    monkeypatch.setattr(Interrupted, "fits", 0)
    learners = {"a": Voter(0.3), "b": Interrupted(0.6, at=at), "c": Voter(0.7), "d": Voter(0.2)}
    found = preference(learners, first, second, attributes=2, n_samples=100, executor=1)
    assert list(found.learners) == kept
    left = ", ".join(name for name in learners if name not in kept)
    assert found.notes == (f"Interrupted: {left} not run.",)
    assert str(found).endswith(found.notes[0])
    monkeypatch.setattr(Interrupted, "fits", 0)
    with pytest.raises(KeyboardInterrupt):
        preference({"b": Interrupted(0.6, at=10), "c": Voter(0.7)}, first, second, attributes=2, executor=1)
