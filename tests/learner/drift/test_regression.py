"""Drift monitor and memory of regressors."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from classay import DriftMonitor, InputError, MemorizingRegressor
from classay.engine import store
from classay.learner.drift.batches import RowShift
from classay.learner.drift.calibration import Calibration, NumberTarget
from classay.learner.drift.memory import paired_p_value
from classay.learner.drift.verdict import judge


def draw(n, seed, column=0, noise=0.3, heavy=False):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    errors = rng.standard_t(1.5, size=n) if heavy else rng.normal(size=n)
    return X, 3 * X[:, column] + noise * errors


def monitor(learner=None, n=500, size=60, **options):
    settings = {"executor": 1, "n_probes": 200, "draws": 80} | options
    return DriftMonitor(learner or Ridge(), **settings).fit(*draw(n, 0), batch_size=size)


# Monitor


def test_a_quiet_process_and_a_change():
    watching = monitor()
    quiet = watching.update(*draw(60, 1), name="monday")
    assert (quiet.verdict, quiet.alarm) == ("nothing shown", False)
    changed = watching.update(*draw(60, 2, column=1))
    assert (changed.verdict, changed.alarm) == ("concept moved", True)
    assert changed.error_reference > changed.high_above_error > quiet.error_reference
    assert changed.agreement_reference < changed.low_below_reference
    again = watching.update(*draw(60, 3, column=1))
    assert again.alarm
    assert again.error_last < again.error_reference - 0.2
    assert "mean absolute error" in str(changed)
    assert "within" in str(changed)
    table = watching.history.to_frame()
    assert table.loc[table["figure"] == "error_reference", "high_above"].notna().all()
    assert "The concept moved in 2, 3." in str(watching.history)


def test_figures_are_those_of_the_concepts():
    (X, y), batches = draw(500, 0), [draw(100, seed) for seed in (1, 2)]
    watching = DriftMonitor(Ridge(), probes="data", executor=1, draws=60).fit(X, y)
    watching.update(*batches[0])
    found = watching.update(*batches[1])
    reference, last, new = (Ridge().fit(*rows) for rows in ((X, y), *batches))
    assert found.tolerance == pytest.approx(0.1 * y.std())
    near = np.abs(new.predict(X) - reference.predict(X)) <= found.tolerance
    assert found.agreement_reference == pytest.approx(near.mean())
    errors = np.abs(batches[1][1] - reference.predict(batches[1][0]))
    assert found.mean_absolute_error == pytest.approx(errors.mean())
    assert found.error_reference == pytest.approx(np.minimum(errors, found.cap).mean())
    errors = np.abs(batches[1][1] - last.predict(batches[1][0]))
    assert found.error_last == pytest.approx(np.minimum(errors, found.cap).mean())
    assert found.cap == pytest.approx(3 * 0.3 * stats.norm.ppf(0.75), rel=0.1)
    assert found.usual_error.low < found.error_reference < found.usual_error.high


def test_units_of_the_target_do_not_matter():
    """Prices in cents: the same verdicts, and a hundred times the errors."""
    (X, y), (A, b) = draw(500, 0), draw(60, 1)
    dear, cheap = (
        DriftMonitor(LinearRegression(), executor=1, n_probes=100, draws=60).fit(X, scale * y).update(A, scale * b)
        for scale in (100, 1)
    )
    assert dear.error_reference == pytest.approx(100 * cheap.error_reference)
    assert dear.tolerance == pytest.approx(100 * cheap.tolerance)
    assert (dear.p_value, dear.p_error, dear.verdict) == pytest.approx((cheap.p_value, cheap.p_error, cheap.verdict))


def test_rows_that_move_are_no_change_of_the_concept():
    watching = monitor(LinearRegression(), n_probes=400)
    X, _ = draw(60, 1)
    X = X * [0.2, 1, 1]
    found = watching.update(X, 3 * X[:, 0] + 0.3 * np.random.default_rng(5).normal(size=60))
    assert found.moved_column == "column 0"
    assert found.verdict != "concept moved"


def test_one_huge_error_is_no_alarm():
    """With the plain mean of errors, one outlier would be: blocks of the reference have none as large."""
    watching = monitor()
    X, y = draw(60, 1)
    y[0] += 1e6
    found = watching.update(X, y)
    assert found.p_error > 0.05
    assert found.error_reference < 1


def test_a_learner_that_cannot_monitor_says_so():
    found = monitor(DummyRegressor()).update(*draw(60, 1, column=1))
    assert found.verdict == "learner unsteady"
    assert "Only the error of the reference's concept" in found.notes[0]


def test_the_tolerance_is_the_users(tmp_path):
    watching = monitor(tolerance=10.0)
    found = watching.update(*draw(60, 1))
    assert (found.tolerance, found.agreement_reference) == (10.0, 1.0)
    again = DriftMonitor.load(watching.save(tmp_path / "state.classay"), Ridge(), executor=1)
    assert again.tolerance == 10.0
    assert again.history == watching.history


@pytest.mark.parametrize("draws", [20, 80])
def test_a_saved_monitor_goes_on_as_it_was(tmp_path, draws):
    """With 20 blocks there is no error that is too high: infinity survives the file."""
    watching = monitor(DecisionTreeRegressor(max_depth=3), draws=draws)
    first = watching.update(*draw(60, 1))
    assert math.isfinite(first.high_above_error) == (draws == 80)
    path = watching.save(tmp_path / "state.classay")
    again = DriftMonitor.load(path, DecisionTreeRegressor(max_depth=3), executor=1)
    assert again.tolerance is None
    assert again.update(*draw(60, 2)) == watching.update(*draw(60, 2))
    assert again.history.updates[0].to_dict() == first.to_dict()
    assert again.has_seen(*draw(60, 1))
    header, _ = store.read(path, "drift")
    assert header["tolerance"] == pytest.approx(first.tolerance)


def test_charts_say_error():
    watching = monitor()
    chart = watching.update(*draw(60, 1)).plot().to_json()
    assert "error of the old concept" in chart
    assert "alike, within" in chart
    assert "accuracy" not in chart


def test_chance_by_hand():
    target = NumberTarget(0.5, 1.0)
    one, other = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0.4, 9.0], [2.5, 1.0]])
    pairs = [abs(a - b) <= 0.5 for a in one.ravel() for b in other.ravel()]
    assert target.chance(one, other) == pytest.approx(np.mean(pairs))
    assert NumberTarget(0.1, 1.0).cap([np.zeros(3)], [np.zeros(3)]) == math.inf
    assert NumberTarget(0.1, 1.0).cap([np.zeros(3)], [np.array([0.0, 0.0, 6.0])]) == pytest.approx(6)


def test_rounding_errors_are_no_usual_error():
    """More than half of the errors were 1e-16, and with them the cap: an error far above any was as usual."""
    exact, rough = np.full(60, 1e-16), np.full(40, 2.0)
    cap = NumberTarget(0.1, 1.0).cap([exact, rough], [np.zeros(60), np.zeros(40)])
    assert cap == pytest.approx(3 * 0.8)
    assert NumberTarget(0.1, 1.0).cap([exact], [np.zeros(60)]) == math.inf
    assert NumberTarget(1e-13, 1e-12).cap([1e-13 * rough], [np.zeros(40)]) == pytest.approx(6e-13)


@pytest.mark.parametrize(("uncapped", "small"), [(-0.4, True), (-5.0, False)])
def test_a_change_is_called_small_only_if_errors_in_full_are_small_too(uncapped, small):
    rng = np.random.default_rng(0)
    agreements, qualities = rng.normal(0.9, 0.02, 200), rng.normal(-0.3, 0.03, 200)
    calibration = Calibration(100, 10, agreements, agreements, qualities, 0.5, cap=1.0)
    for agreement, quality in ((0.8, -0.34), (0.868, -0.34)):
        update = judge(
            name="batch",
            number=1,
            n_rows=100,
            target=NumberTarget(0.1, 1.0),
            agreements={"reference": agreement},
            qualities=[quality],
            uncapped=uncapped,
            calibrations={"reference": calibration, "last": calibration},
            shift=RowShift(0.5, "x"),
            rate=0.05,
            min_stability=None,
            learner="ridge",
            n_reference=1000,
            fingerprint="",
        )
        assert update.alarm
        assert update.p_error > 0.05
        (note,) = update.notes
        assert "as near to the truth as usual (large errors capped)" in note
        assert ("the change is small" in note) == small
        assert ("in full, the mean absolute error is 5" in note) != small


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"] * 30, "regressor learns numbers"),
        ([np.inf] + [1.0] * 59, "infinite"),
        ([1.0] * 59, "they must match"),
    ],
)
def test_bad_targets_are_explained(y, message):
    watching = monitor(draws=20)
    with pytest.raises(InputError, match=message):
        watching.update(draw(60, 1)[0], y)
    assert watching.history.updates == ()
    with pytest.raises(InputError, match=message):
        DriftMonitor(Ridge(), executor=1).fit(draw(60, 1)[0], y)


def test_a_batch_of_one_row_is_refused_as_such():
    """It was refused because every column of it is constant."""
    watching = monitor(draws=20)
    X, y = draw(1, 1)
    for rows in (X, X.tolist()):
        with pytest.raises(InputError, match=r"The batch has 1 row; at least 2 are needed\. Merge it"):
            watching.update(rows, y)
    with pytest.raises(InputError, match="they must match"):
        watching.update(X, [1.0, 2.0])


def test_a_constant_target_has_no_concept():
    with pytest.raises(InputError, match="nothing to learn"):
        DriftMonitor(Ridge(), executor=1).fit(draw(60, 1)[0], np.ones(60))


# Memory


@parametrize_with_checks(
    [
        MemorizingRegressor(LinearRegression()),
        MemorizingRegressor(DecisionTreeRegressor(random_state=0), alpha=0.5),
        MemorizingRegressor(Ridge(), folds=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_a_concept_is_kept_until_another_is_shown_to_be_better():
    memory = MemorizingRegressor(Ridge()).fit(*draw(100, 0))
    first = memory.concept_
    for seed in (1, 2):
        memory.partial_fit(*draw(100, seed))
    assert memory.concept_ is first
    memory.partial_fit(*draw(100, 3, column=1))
    assert memory.history_["kept"].tolist() == ["new", "old", "old", "new"]
    assert memory.score(*draw(100, 4, column=1)) > 0.8
    last = memory.history_.iloc[-1]
    assert last["new_error"] < last["old_error"] / 2
    assert "shows that the new one is better" in last["why"]
    assert memory.fit(*draw(100, 5)).history_["kept"].tolist() == ["new"]


def test_the_test_is_what_it_says():
    memory = MemorizingRegressor(LinearRegression()).fit(*draw(100, 0))
    old, (X, y) = memory.concept_, draw(100, 1, column=1)
    last = memory.partial_fit(X, y).history_.iloc[-1]
    assert last["old_error"] == pytest.approx(np.abs(old.predict(X) - y).mean())
    assert last["level"] == pytest.approx(0.05 / 4)
    assert last["new_nearer"] + last["old_nearer"] == 100
    assert last["difference"] >= last["old_error"] - last["new_error"]
    d = np.random.default_rng(0).normal(0.3, 1, size=40)
    assert paired_p_value(d) == pytest.approx(stats.ttest_1samp(d, 0, alternative="greater").pvalue)
    assert paired_p_value(-d) == pytest.approx(1 - paired_p_value(d))
    assert paired_p_value(np.zeros(4)) == 1.0
    # Three signs show no more than 1/8; Student's t would say .029.
    assert paired_p_value(np.array([1.0, 1.0, 0.0, 1.0])) == 1 / 8
    assert paired_p_value(np.full(4, 2.0)) == 1 / 16
    assert paired_p_value(np.full(4, -2.0)) == 1.0


def test_outliers_in_the_target_decide_nothing():
    """Squared errors would be those of one row."""
    memory = MemorizingRegressor(QuantileRegressor(alpha=0.01)).fit(*draw(100, 0))
    X, y = draw(100, 1, column=1)
    y[:3] = [1e9, -1e9, 1e9]
    assert memory.partial_fit(X, y).history_["kept"].iloc[-1] == "new"


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rounding_errors_decide_nothing(offset):
    """Errors of 1e-16 changed the concept, with a p-value of 4e-8."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    memory = MemorizingRegressor(Ridge(alpha=0)).fit(X, X[:, 0] + offset)
    last = memory.partial_fit(X, X[:, 0] + offset).history_.iloc[-1]
    assert (last["kept"], last["p_value"], last["new_nearer"], last["old_nearer"]) == ("old", 1.0, 0, 0)


def test_an_outlier_hides_no_difference_as_rounding():
    memory = MemorizingRegressor(QuantileRegressor(alpha=0.01)).fit(*draw(100, 0))
    X, y = draw(100, 1, column=1)
    y[0] = 1e15
    assert memory.partial_fit(X, y).history_["kept"].iloc[-1] == "new"


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_without_change_the_concept_is_rarely_replaced(noise):
    changed = 0
    for stream in range(20):
        memory = MemorizingRegressor(Ridge(), alpha=0.1, folds=2).fit(*draw(60, 1000 * stream, noise=noise))
        for number in range(1, 4):
            memory.partial_fit(*draw(60, 1000 * stream + number, noise=noise))
        changed += (memory.history_["kept"][1:] == "new").any()
    assert changed <= 20 * 0.1 + 3 * (20 * 0.1 * 0.9) ** 0.5


def test_whole_numbers_and_frames_are_numbers():
    X, y = draw(100, 0)
    frame = pd.DataFrame(X, columns=list("abc"))
    memory = MemorizingRegressor(make_pipeline(StandardScaler(), Ridge())).fit(frame, (10 * y).astype(int))
    memory.partial_fit(frame, (10 * y).astype(int))
    assert memory.history_["new_error"].iloc[-1] % 1 != 0
    assert memory.predict(frame).dtype == float
    assert "one row" in memory.partial_fit(frame[:1], [3]).history_["why"].iloc[-1]


def test_mistakes_are_explained():
    X, y = draw(50, 0)
    with pytest.raises(InputError, match="a classifier; expected a regressor"):
        MemorizingRegressor(LogisticRegression()).fit(X, y)
    with pytest.raises(InputError, match="alpha"):
        MemorizingRegressor(Ridge(), alpha=3).fit(X, y)
    memory = MemorizingRegressor(Ridge()).fit(X, y)
    with pytest.raises(InputError, match="`y` has 49 values; they must match"):
        memory.partial_fit(X, y[:-1])
    with pytest.raises(InputError, match="0 values"):
        memory.partial_fit(X[:0], y[:0])
    with pytest.raises(ValueError, match="features"):
        memory.partial_fit(X[:, :2], y)
    assert len(memory.history_) == 1


@pytest.mark.parametrize(
    ("y", "shown"),
    [
        (["low"] * 50, "'low'"),
        (["1", "2"] * 25, "'1'"),
        (np.array([1.0, "2"] * 25, dtype=object), "'2'"),
        (np.array([1.0, b"2"] * 25, dtype=object), "b'2'"),
        (np.array([1.0, None] * 25, dtype=object), "None"),
        (pd.Series(["a", "b"] * 25, dtype="category"), "'a'"),
        (pd.date_range("2020", periods=50), "2020-01-01T00:00:00"),
        (pd.timedelta_range("1h", periods=50), "3600 seconds"),
    ],
)
def test_text_and_dates_are_no_numbers(y, shown):
    """Dates were learned as nanoseconds, and text such as '1' as a number."""
    with pytest.raises(InputError) as caught:
        MemorizingRegressor(Ridge()).fit(draw(50, 0)[0], y)
    assert str(caught.value) == f"`y` contains {shown}; expected numbers. Did you mean MemorizingClassifier?"
