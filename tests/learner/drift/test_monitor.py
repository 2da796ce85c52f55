"""`DriftMonitor`, of a classifier and of a regressor: agreement within a tolerance, and errors."""

from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from classay import DriftMonitor, InputError, encoded
from classay.engine import archive, store
from classay.intervals import Estimate
from classay.learner.drift.calibration import Calibration, Target, draws_needed, fewest_draws, p_value
from classay.learner.drift.verdict import Update, judge

CLASSES, NUMBERS = Target(np.array([0, 1])), Target(None, 0.1)


def draw(n, seed, column=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, (X[:, column] > 0.5) ^ (rng.random(n) < noise)


def draw_numbers(n, seed, column=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, 3 * X[:, column] + 0.3 * rng.normal(size=n)


def mixed(n, seed, hues=("red", "blue")):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.uniform(size=n), "hue": rng.choice(hues, n), "runs": rng.integers(5, size=n)})
    return X, np.where((X["size"] > 0.5) == (X["hue"] == hues[0]), "ok", "low")


def monitor(learner=None, n=600, size=60, **options):
    settings = {"executor": 1, "n_probes": 300, "draws": 80} | options
    return DriftMonitor(learner or GaussianNB(), **settings).fit(*draw(n, 0), batch_size=size)


def monitor_of_numbers(learner=None, n=500, size=60, **options):
    settings = {"executor": 1, "n_probes": 200, "draws": 80} | options
    return DriftMonitor(learner or Ridge(), **settings).fit(*draw_numbers(n, 0), batch_size=size)


def of_mixed(**options):
    X, y = mixed(300, 0)
    return DriftMonitor(encoded(GaussianNB(), X), executor=1, draws=20, n_probes=50, **options).fit(X, y)


@pytest.fixture(scope="module")
def watching():
    return monitor()


# How far concepts differ by chance


def test_p_values_by_hand():
    values = np.arange(1, 100) / 100
    # Nine values are not above .09, so q = 10/100; with endless blocks that is the p-value.
    assert p_value(values, 0.09, math.inf) == pytest.approx(0.1)
    assert p_value(values, 0.09, 4) == pytest.approx(stats.norm.cdf(stats.norm.ppf(0.1) / math.sqrt(1.25)))
    assert p_value(values, 0.995, 4) == 1.0
    assert p_value(values, 0.0, math.inf) == pytest.approx(0.01)


@pytest.mark.parametrize("blocks", [3, 10, 1000])
@pytest.mark.parametrize("rate", [0.02, 0.05, 0.3])
def test_the_alarm_line_is_where_the_p_value_is_at_the_rate(blocks, rate):
    values = np.sort(np.random.default_rng(0).random(200))
    found = Calibration(10, blocks, values, values, values, 0.5)
    line = found.low_below(rate, "reference")
    assert found.p_value(line - 1e-9, "reference") <= rate < found.p_value(line, "reference")
    values = np.full(fewest_draws(rate, blocks), 0.9)
    assert p_value(values, 0.5, blocks) <= rate < p_value(values[1:], 0.5, blocks)


def test_too_few_blocks_give_no_alarm():
    found = Calibration(10, 5, np.array([0.8, 0.9]), np.array([0.8]), np.array([0.9]), 0.5)
    assert found.low_below(0.05, "reference") == -math.inf
    assert draws_needed(0.025, 5) > draws_needed(0.025, 20) >= 100
    X, y = draw(300, 0)
    (note,) = DriftMonitor(GaussianNB(), executor=1, draws=20).fit(X, y).update(*draw(50, 1)).notes
    fewest = fewest_draws(0.05, 6)
    assert f"estimated from 20 blocks of the reference; a false-alarm rate of 0.05 needs {fewest}" in note
    assert "unstable" not in note
    enough = DriftMonitor(GaussianNB(), executor=1, draws=fewest).fit(X, y).update(*draw(50, 1))
    assert (enough.verdict, enough.notes) == ("nothing shown", ())


def test_the_joint_p_value_by_hand():
    """Standard scores by rank, quality twice, and below all blocks by how far below it is, over their deviation."""
    agreement, quality = np.array([0.7, 0.8, 0.9]), np.array([-0.1, -0.4, -0.1])  # of numbers: minus errors
    found = Calibration(10, 3, agreement, agreement, quality, 0.5)
    z, sigma = stats.norm.ppf, math.sqrt((1 + 2**2 + 2 * 2 * 0) * (1 + 1 / 3))  # the two are not correlated
    # Above two of three agreements, above one of three qualities.
    assert found.joint_p_value(0.85, -0.3) == pytest.approx(stats.norm.cdf((z(3 / 5) + 2 * z(2 / 5)) / sigma))
    far = (-0.9 - quality.mean()) / quality.std()
    assert found.joint_p_value(0.95, -0.9) == pytest.approx(stats.norm.cdf((z(4 / 5) + 2 * far) / sigma))
    alike = Calibration(10, 3, agreement, agreement, -1 + agreement, 0.5)
    assert alike.joint_p_value(0.0, -0.05) == pytest.approx(
        stats.norm.cdf((z(1 / 5) + 2 * z(4 / 5)) / 3 / sigma * 5**0.5)
    )


@pytest.mark.parametrize(("wrong", "expected"), [(0, 1), (1, 80 / 560), (2, 80 * 79 / (560 * 559))])
def test_a_reference_without_errors_does_not_make_one_error_unusual(wrong, expected):
    """One wrong row of 80 was an alarm at 5 %, after 480 right ones: 11 % of batches were without a change."""
    perfect, agreement = np.ones(200), np.linspace(0.8, 1, 200)
    found = Calibration(80, 6, agreement, agreement, perfect, 0.5)
    assert found.p_value(1 - wrong / 80, "quality") == pytest.approx(expected)  # Fisher's exact test, by hand
    assert found.low_below(0.05, "quality") == pytest.approx(1 - 1 / 80)
    assert found.low_below(0.2, "quality") == 1
    assert (found.joint_p_value(0.9, 1 - wrong / 80) <= 0.05) == (wrong == 2)


def test_few_blocks_are_worth_less():
    """Blocks of a reference that is three batches long vary less around its mean than batches do."""
    assert [CLASSES.worth(blocks) for blocks in (3, 4, 5, 8.5)] == pytest.approx([1, 3, 5, 8.5])
    assert NUMBERS.worth(5.0) == pytest.approx(2)
    # The worth fell from 5 to 1.98 between batches of 100 and of 101 rows, and p rose from .035 to .053.
    values = np.arange(1, 300) / 300
    ps = [p_value(values, 0.02, CLASSES.worth(500 / size)) for size in (100, 101)]
    assert ps[1] == pytest.approx(ps[0], abs=0.001)


def test_chance_and_cap_of_numbers_by_hand():
    one, other = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0.4, 9.0], [2.5, 1.0]])
    pairs = [abs(a - b) <= 0.5 for a in one.ravel() for b in other.ravel()]
    assert Target(None, 0.5).chance(one, other) == pytest.approx(np.mean(pairs))
    assert NUMBERS.cap([np.zeros(3)], [np.zeros(3)]) == math.inf
    assert NUMBERS.cap([np.zeros(3)], [np.array([0.0, 0.0, 6.0])]) == pytest.approx(6)
    # More than half of the errors were 1e-16, and with them the cap: an error far above any was as usual.
    exact, rough = np.full(60, 1e-16), np.full(40, 2.0)
    assert NUMBERS.cap([exact, rough], [np.zeros(60), np.zeros(40)]) == pytest.approx(3 * 0.8)
    assert NUMBERS.cap([exact], [np.zeros(60)]) == math.inf
    assert Target(None, 1e-13, 1e-12).cap([1e-13 * rough], [np.zeros(40)]) == pytest.approx(6e-13)


def test_rows_that_come_in_groups_agree_less_by_chance():
    """Groups that share their rows: a block of 60 rows in whole groups has 6 different rows, and not 60."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 10)
    X = rng.normal(size=(60, 2))[group]
    y = (X[:, 0] + rng.normal(size=60)[group] > 0).astype(int)
    options = {"draws": 30, "n_probes": 100, "executor": 1}
    plain, grouped = (
        DriftMonitor(LogisticRegression(), **options).fit(X, y, 60, groups=each) for each in (None, group)
    )
    chance = [each._fitted().calibrations[60].usual("reference").value for each in (plain, grouped)]
    assert chance[1] < chance[0] - 0.02
    with pytest.raises(InputError, match="a group of 60 rows, more than a batch of 50"):
        DriftMonitor(LogisticRegression(), **options).fit(X, y, 50, groups=np.arange(600) // 60)


@pytest.mark.parametrize("size", [200, 240, 500, 600])
def test_a_reference_of_fewer_than_three_batches_is_refused(size):
    """The worth of such a reference is 0 or negative, and no number of blocks would be enough."""
    for learner in (GaussianNB(), LinearRegression()):
        with pytest.raises(InputError, match="need at least"):
            DriftMonitor(learner, executor=1, n_probes=50).fit(*draw(500, 0), batch_size=size)


def test_rare_classes_are_lived_with():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    y = (X[:, 0] > 0.9).astype(int)
    watching = DriftMonitor(GaussianNB(), executor=1, draws=40, n_probes=100).fit(X, y, batch_size=30)
    assert watching._state.calibrations[30].reference.size > 20
    with pytest.raises(InputError, match="only one class"):
        DriftMonitor(GaussianNB(), executor=1, draws=40).fit(X, (X[:, 0] > 0.99).astype(int), batch_size=10)


# Figures and verdicts


def test_a_quiet_process_and_a_change(watching):
    quiet = watching.update(*draw(60, 1), name="monday")
    assert (quiet.verdict, quiet.alarm, quiet.name) == ("nothing shown", False, "monday")
    assert math.isnan(quiet.agreement_last)
    assert quiet.agreement_reference > 0.8
    watching.update(*draw(60, 2))
    changed = watching.update(*draw(60, 3, column=1))
    assert (changed.verdict, changed.alarm) == ("concept moved", True)
    assert changed.agreement_reference < changed.low_below_reference
    assert changed.metric_reference < changed.metric_limit
    assert changed.metric_reference < changed.usual_metric.low
    assert not changed.notes
    again = watching.update(*draw(60, 4, column=1))
    assert again.alarm  # it is not as the reference, though it is as the last batch
    assert again.p_last > 0.05
    assert again.metric_last > again.metric_reference + 0.2
    history = watching.history
    assert history.alarms == (changed.name, again.name)
    assert len(history.to_frame()) == 28
    assert "The concept moved in 3, 4." in str(history)
    assert "at a false-alarm rate of 0.05 per batch (0.185 for at least one in 4 batches)" in str(history)
    assert history.any_false_alarm == pytest.approx(1 - 0.95**4)


def test_the_rate_may_be_that_of_the_stream(tmp_path):
    watching = monitor(control="stream", draws=60)
    for number in (1, 2, 3):
        assert watching.update(*draw(60, number)).level == pytest.approx(0.05 / (number * (number + 1)))
    path = watching.save(tmp_path / "state.classay")
    watching = DriftMonitor.load(path, GaussianNB(), executor=1)
    assert watching.control == "stream"
    moved = watching.update(*draw(60, 4, column=1))
    assert (moved.verdict, moved.level) == ("concept moved", pytest.approx(0.05 / 20))
    assert watching.history.any_false_alarm == pytest.approx(0.05 * 4 / 5, rel=0.02)
    assert "0.05 over any number of batches (0.0025 for the last one; 0.0396 for at least one" in str(watching.history)


def test_a_new_class_is_an_alarm_and_the_monitor_goes_on(tmp_path):
    """It was an error. Its rows are left out of all figures; the reference stays as it is."""
    first = monitor(n=300, size=48, draws=20)
    first.update(*draw(48, 1))
    (X, y), path = draw(60, 2), first.save(tmp_path / "state.classay")
    watching = DriftMonitor.load(path, GaussianNB(), executor=1)
    plain, strange = first.update(X[12:], y[12:]), np.where(np.arange(60) < 12, 7, y)
    update = watching.update(X, strange)
    assert (update.verdict, update.alarm, update.new_classes, update.n_rows) == ("new class", True, {"7": 12}, 60)
    for figure in ("p_value", "agreement_reference", "metric_reference", "agreement_last", "p_rows", "stability"):
        assert getattr(update, figure) == getattr(plain, figure)
    chance = math.comb(60, 12) / math.comb(360, 12)
    assert "does not have 7 (12 of 60 rows). " in update.notes[0]
    assert f"{chance:.2g} without a change. The other rows say: {plain.verdict}." in update.notes[0]
    watching.update(X, np.where(np.arange(60) < 57, 7, y))  # most blocks of 3 rows have one class
    only = watching.update(X, np.full(60, 9))
    assert (only.verdict, only.measured) == ("new class", False)
    assert "could not be compared: they have fewer than 2 classes" in str(only)
    again = DriftMonitor.load(watching.save(path), GaussianNB(), executor=1)
    assert again.has_seen(X, strange)
    for rows, labels in ((X, strange), (X[12:], y[12:])):
        assert str(again.update(rows, labels)) == str(watching.update(rows, labels))
    assert again.history.alarms[:4] == ("2", "3", "4", "5")
    assert "New classes are in 2, 3, 4, 5." in str(again.history)
    assert "new class in 4 of 6 batches" in again.history.plot().to_json()
    assert "new class" in only.plot().to_json()


def test_a_quiet_process_and_a_change_of_numbers():
    watching = monitor_of_numbers()
    quiet = watching.update(*draw_numbers(60, 1), name="monday")
    assert (quiet.verdict, quiet.alarm) == ("nothing shown", False)
    changed = watching.update(*draw_numbers(60, 2, column=1))
    assert (changed.verdict, changed.alarm) == ("concept moved", True)
    assert changed.metric_reference > changed.metric_limit > quiet.metric_reference
    assert changed.agreement_reference < changed.low_below_reference
    again = watching.update(*draw_numbers(60, 3, column=1))
    assert again.alarm
    assert again.metric_last < again.metric_reference - 0.2
    assert "mean absolute error" in str(changed)
    assert "within" in str(changed)
    table = watching.history.to_frame()
    assert table.loc[table["figure"] == "error_reference", "high_above"].notna().all()
    assert "The concept moved in 2, 3." in str(watching.history)
    chart = changed.plot().to_json()
    assert "error of the old concept" in chart
    assert "alike, within" in chart
    assert "accuracy" not in chart


def test_figures_are_those_of_the_concepts():
    X, y = draw(600, 0)
    watching = DriftMonitor(GaussianNB(), probes="data", executor=1, draws=60).fit(X, y)
    batches = [draw(100, seed) for seed in (1, 2)]
    watching.update(*batches[0])
    found = watching.update(*batches[1])
    reference, last, new = (GaussianNB().fit(*rows) for rows in ((X, y), *batches))
    assert found.agreement_reference == (new.predict(X) == reference.predict(X)).mean()
    assert found.agreement_last == (new.predict(X) == last.predict(X)).mean()
    assert found.metric_reference == reference.score(*batches[1])
    assert found.metric_last == last.score(*batches[1])


def test_figures_of_numbers_are_those_of_the_concepts():
    (X, y), batches = draw_numbers(500, 0), [draw_numbers(100, seed) for seed in (1, 2)]
    watching = DriftMonitor(Ridge(), probes="data", executor=1, draws=60).fit(X, y)
    watching.update(*batches[0])
    found = watching.update(*batches[1])
    reference, last, new = (Ridge().fit(*rows) for rows in ((X, y), *batches))
    assert found.tolerance == pytest.approx(0.1 * y.std())
    near = np.abs(new.predict(X) - reference.predict(X)) <= found.tolerance
    assert found.agreement_reference == pytest.approx(near.mean())
    errors = np.abs(batches[1][1] - reference.predict(batches[1][0]))
    assert found.metric_uncapped == pytest.approx(errors.mean())
    assert found.metric_reference == pytest.approx(np.minimum(errors, found.cap).mean())
    errors = np.abs(batches[1][1] - last.predict(batches[1][0]))
    assert found.metric_last == pytest.approx(np.minimum(errors, found.cap).mean())
    assert found.cap == pytest.approx(3 * 0.3 * stats.norm.ppf(0.75), rel=0.1)
    assert found.usual_metric.low < found.metric_reference < found.usual_metric.high


def test_units_of_the_target_do_not_matter():
    """Prices in cents: the same verdicts, and a hundred times the errors."""
    (X, y), (A, b) = draw_numbers(500, 0), draw_numbers(60, 1)
    dear, cheap = (
        DriftMonitor(LinearRegression(), executor=1, n_probes=100, draws=60).fit(X, scale * y).update(A, scale * b)
        for scale in (100, 1)
    )
    assert dear.metric_reference == pytest.approx(100 * cheap.metric_reference)
    assert dear.tolerance == pytest.approx(100 * cheap.tolerance)
    assert (dear.p_value, dear.p_metric, dear.verdict) == pytest.approx((cheap.p_value, cheap.p_metric, cheap.verdict))


def test_stability_is_that_of_the_batch_size():
    small, large = (
        monitor(DecisionTreeClassifier(), size=size, n=900, draws=30).update(*draw(size, 1)) for size in (30, 300)
    )
    assert small.stability.value < large.stability.value
    assert small.stability.low < small.stability.value < small.stability.high
    assert small.stability.kind == "95% of pairs"


def test_other_sizes_are_learnt_once_and_the_smaller_one_counts():
    watching = monitor(draws=60)
    watching.update(*draw(60, 1))
    watching.update(*draw(90, 2))
    assert sorted(watching._state.calibrations) == [60, 90]
    kept = watching._state.calibrations[60]
    found = watching.update(*draw(60, 3))
    assert watching._state.calibrations[60] is kept
    assert found.p_last == kept.p_value(found.agreement_last, "last")


@pytest.mark.parametrize(
    "learner", [DummyClassifier(strategy="stratified", random_state=None), DummyClassifier(), DummyRegressor()]
)
def test_a_learner_that_cannot_monitor_says_so(learner):
    numbers = isinstance(learner, DummyRegressor)
    watching = (monitor_of_numbers if numbers else monitor)(learner)
    found = watching.update(*(draw_numbers if numbers else draw)(60, 1, column=1))
    assert (found.verdict, found.alarm) == ("learner unsteady", False)
    assert f"Only the {'error' if numbers else 'accuracy'} of the reference's concept" in found.notes[0]
    assert "too unsteady to show a change in 1 of them" in str(watching.history)


def test_an_unsteady_learner_does_not_swallow_an_alarm():
    """Its concepts agree no more than unrelated ones, but the old one is wrong on nearly all rows."""
    X = np.random.default_rng(0).integers(2, size=(600, 8)).astype(float)
    y = X.sum(axis=1) % 2  # parity: a tree from 60 rows is little better than chance on new rows
    watching = DriftMonitor(DecisionTreeClassifier(), executor=1, n_probes=300, draws=80).fit(X, y, batch_size=60)
    assert watching.update(X[:60], y[:60]).verdict == "learner unsteady"
    moved = watching.update(X[60:120], 1 - y[60:120])
    assert moved.usual_metric.value > 0.6 > 0.2 > moved.metric_reference
    assert (moved.verdict, moved.alarm) == ("concept moved", True)


def test_rows_that_moved_are_named():
    watching = monitor(DecisionTreeClassifier(max_depth=3), n=1200, draws=100, name="tree")
    X, y = draw(900, 1)
    apart = (X[:, 0] > 0.55) | (X[:, 0] < 0.1)  # few rows near the boundary
    found = watching.update(X[apart][:60] * [1, 0.02, 0.02], y[apart][:60])
    assert found.p_rows < 1e-6
    assert found.moved_column in ("column 1", "column 2")
    assert (found.verdict, found.alarm) == ("rows moved", True)
    assert found.metric_reference >= found.metric_limit
    assert "the reference's is as accurate as usual" in found.notes[0]


def test_rows_that_moved_are_told_from_a_concept_that_changed():
    X, y = draw(600, 1, noise=0)
    corner = (X[:, 1] > 0.8) & (X[:, 0] > 0.3)
    found = monitor(LogisticRegression(), n=1200, draws=100).update(X[corner][:60], y[corner][:60])
    assert found.metric_reference > 0.85
    assert found.verdict != "concept moved"
    X, _ = draw_numbers(60, 1)
    X = X * [0.2, 1, 1]
    y = 3 * X[:, 0] + 0.3 * np.random.default_rng(5).normal(size=60)
    found = monitor_of_numbers(LinearRegression(), n_probes=400).update(X, y)
    assert found.moved_column == "column 0"
    assert found.verdict != "concept moved"


def test_one_huge_error_is_no_alarm():
    """With the plain mean of errors, one outlier would be: blocks of the reference have none as large."""
    X, y = draw_numbers(60, 1)
    y[0] += 1e6
    found = monitor_of_numbers().update(X, y)
    assert found.p_metric > 0.05
    assert found.metric_reference < 1


def test_stability_may_be_asked_for():
    found = monitor(min_stability=0.99).update(*draw(60, 1))
    assert found.verdict == "learner unsteady"
    assert "min_stability" in found.notes[0]


def judged(agreement, quality, qualities, **fields):
    """The update of a batch of 100 rows, by hand."""
    agreements = np.random.default_rng(0).normal(0.9, 0.02, 200)
    calibration = Calibration(100, 10, agreements, agreements, qualities, 0.5)
    update = Update(
        learner="tree", n_reference=1000, name="batch", number=1, n_rows=100, false_alarm_rate=0.05, level=0.05,
        p_value=calibration.joint_p_value(agreement, quality), agreement_reference=agreement, agreement_last=math.nan,
        p_reference=calibration.p_value(agreement, "reference"), p_last=math.nan, low_below_reference=0.86,
        p_metric=calibration.p_value(quality, "quality"), metric_last=math.nan, metric_limit=0.0,
        usual_metric=Estimate(0.3, 0.2, 0.4), p_rows=0.5, moved_column="", stability=Estimate(0.9, 0.86, 0.94),
        chance=0.5, fingerprint="", **fields,
    )  # fmt: skip
    return judge(update, calibration)


@pytest.mark.parametrize(("uncapped", "small"), [(0.4, True), (5.0, False)])
def test_a_change_is_called_small_only_if_errors_in_full_are_small_too(uncapped, small):
    qualities = np.random.default_rng(1).normal(-0.3, 0.03, 200)
    fields = {"metric": "error", "metric_reference": 0.34, "metric_uncapped": uncapped, "cap": 1.0}
    for agreement in (0.8, 0.868):
        update = judged(agreement, -0.34, qualities, **fields)
        assert update.alarm
        assert update.p_metric > 0.05
        (note,) = update.notes
        assert "as near to the truth as usual (large errors capped)" in note
        assert ("the change is small" in note) == small
        assert ("in full, the mean absolute error is 5" in note) != small


# The same on any executor, and from a file


@pytest.mark.slow
def test_the_same_bits_for_any_executor():
    found = []
    with ThreadPoolExecutor(2) as pool:
        for executor in (1, 2, pool):
            watching = monitor(DecisionTreeClassifier(), n=200, size=40, draws=20, executor=executor)
            found.append(watching.update(*draw(40, 1)).to_dict())
    assert found[0] == found[1] == found[2]
    other = monitor(DecisionTreeClassifier(), n=200, size=40, draws=20, random_state=5).update(*draw(40, 1))
    assert other.to_dict() != found[0]


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_saved_monitor_goes_on_bit_for_bit(tmp_path, kind):
    rows = draw if kind == "array" else mixed
    X, y = rows(200, 0)
    learner = encoded(DecisionTreeClassifier(max_depth=3), X)
    watching = DriftMonitor(learner, executor=1, draws=20, n_probes=50, min_stability=0.2, name="my tree").fit(X, y)
    watching.update(*rows(50, 1), name="one")
    path = watching.save(tmp_path / "state.classay")
    again = DriftMonitor.load(path, learner, executor=1)
    assert (again.name, again.min_stability, again.probes) == ("my tree", 0.2, "uniform")
    for seed, size in ((2, 50), (3, 60)) if kind == "array" else ((2, 50),):
        first, second = (each.update(*rows(size, seed)) for each in (watching, again))
        assert first.to_dict() == second.to_dict()
    assert watching.history.to_dict() == again.history.to_dict()
    assert again.save(tmp_path / "again.classay").read_bytes() == watching.save(path).read_bytes()


@pytest.mark.parametrize("draws", [20, 80])
def test_a_saved_monitor_of_numbers_goes_on_as_it_was(tmp_path, draws):
    """With 20 blocks there is no error that is too high: infinity survives the file."""
    watching = monitor_of_numbers(DecisionTreeRegressor(max_depth=3), draws=draws)
    first = watching.update(*draw_numbers(60, 1))
    assert math.isfinite(first.metric_limit) == (draws == 80)
    path = watching.save(tmp_path / "state.classay")
    again = DriftMonitor.load(path, DecisionTreeRegressor(max_depth=3), executor=1)
    assert again.tolerance is None
    assert again.update(*draw_numbers(60, 2)) == watching.update(*draw_numbers(60, 2))
    assert again.history.updates[0].to_dict() == first.to_dict()
    assert again.has_seen(*draw_numbers(60, 1))


def test_a_saved_monitor_knows_groups_time_weights_probes_and_tolerance(tmp_path):
    X, y = draw(400, 0)
    weights = np.linspace(0.1, 1, 400)
    rows = {"groups": np.arange(300) // 5, "time": np.arange(300), "sample_weight": weights[:300]}
    probes = np.random.default_rng(0).uniform(size=(50, 3))
    watch = DriftMonitor(GaussianNB(), probes=probes, draws=30, executor=1).fit(X[:300], y[:300], 50, **rows)
    first = watch.update(X[300:350], y[300:350], time=np.arange(300, 350), sample_weight=weights[300:350])
    assert first.agreement_reference * 50 == pytest.approx(round(first.agreement_reference * 50))
    again = DriftMonitor.load(watch.save(tmp_path / "watch.classay"), GaussianNB(), executor=1)
    np.testing.assert_array_equal(again.probes, probes)
    last = {"time": np.arange(350, 400), "sample_weight": weights[350:]}
    assert again.update(X[350:], y[350:], **last) == watch.update(X[350:], y[350:], **last)
    with pytest.raises(InputError, match="before the end"):
        again.update(X[300:350], y[300:350], time=np.arange(300, 350), sample_weight=weights[300:350])
    watch = monitor_of_numbers(tolerance=10.0)
    found = watch.update(*draw_numbers(60, 1))
    assert (found.tolerance, found.agreement_reference) == (10.0, 1.0)
    again = DriftMonitor.load(watch.save(tmp_path / "watch.classay"), Ridge(), executor=1)
    assert (again.tolerance, again.history.to_dict()) == (10.0, watch.history.to_dict())


def test_a_state_of_another_learner_is_refused(tmp_path):
    path = monitor(draws=40).save(tmp_path / "state.classay")
    with pytest.raises(InputError, match=r"another one, or has other parameters: var_smoothing 1e-09 \(now 0\.1\)"):
        DriftMonitor.load(path, GaussianNB(var_smoothing=0.1))
    with pytest.raises(InputError, match="no file"):
        DriftMonitor.load(tmp_path / "nothing.classay", GaussianNB())
    header, arrays = store.read(path)
    saved = {name: value for name, value in header.items() if name not in (*archive.RESERVED, archive.ADDRESS)}
    del saved["learner"]["parameters"]["priors"]
    saved["learner"]["parameters"]["store_covariance"] = True
    saved["learner"]["version"] = "1.2.3"
    store.write(path, "drift", saved, arrays)
    now = re.escape(header["versions"]["scikit-learn"])
    with pytest.raises(InputError, match=rf"under version of \S*GaussianNB 1\.2\.3 \(now {now}\)") as caught:
        DriftMonitor.load(path, GaussianNB())
    assert "priors (new)" in str(caught.value)
    assert "store_covariance (no longer there)" in str(caught.value)
    store.write(path, "drift", {"learner": {}}, {})
    with pytest.raises(InputError, match=r"another|not a complete"):
        DriftMonitor.load(path, GaussianNB())


# What a batch must have


def test_columns_are_matched_by_name():
    batch, labels = mixed(50, 1)
    first = of_mixed().update(batch, labels)
    assert of_mixed().update(batch[["hue", "runs", "size"]], labels).to_dict() == first.to_dict()


def test_categories_that_stand_for_numbers_may_come_as_numbers():
    X, y = mixed(300, 0)
    X = X.assign(runs=X["runs"].astype("category"))
    watching = DriftMonitor(encoded(GaussianNB(), X), executor=1, draws=20, n_probes=50).fit(X, y)
    batch, labels = mixed(50, 1)
    assert watching.update(batch, labels).number == 1
    assert watching.has_seen(batch.assign(runs=batch["runs"].astype("category")), labels)
    with pytest.raises(InputError, match=r"'runs' has categories.* 9"):
        watching.update(batch.assign(runs=9), labels)


def frame_with(**columns):
    X, y = mixed(50, 1)
    return X.assign(**columns), y


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (frame_with(new=1), "additional new"),
        ((mixed(50, 1)[0].drop(columns="hue"), mixed(50, 1)[1]), "missing hue"),
        (frame_with(hue="green"), "categories in the batch.*'green'"),
        (frame_with(size="big"), "contains texts in the batch but numbers"),
        (frame_with(hue=range(50)), "contains numbers in the batch but texts"),
        ((mixed(50, 1)[0], ["ok"] * 50), "1 class.*merge it with the next"),
        ((mixed(50, 1)[0], [0, 1] * 25), "same labels"),
        ((mixed(50, 1)[0], ["ok"] * 49), "they must match"),
        ((mixed(50, 1)[0].to_numpy(), mixed(50, 1)[1]), "another form"),
        (mixed(200, 1), "at least 600"),
        ((mixed(50, 1)[0].iloc[:0], []), "no rows"),
        (mixed(1, 1), r"The batch has 1 row; at least 2 are needed\. Merge it"),
    ],
)
def test_bad_batches_are_explained_and_change_nothing(batch, message):
    watching = of_mixed()
    with pytest.raises(InputError, match=message):
        watching.update(*batch)
    assert watching.history.updates == ()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b"] * 30, "regressor learns numbers"),
        ([np.inf] + [1.0] * 59, "infinite"),
        ([1.0] * 59, "they must match"),
    ],
)
def test_bad_targets_of_numbers_are_explained(y, message):
    watching = monitor_of_numbers(draws=20)
    X, _ = draw_numbers(60, 1)
    for asked in (watching.update, DriftMonitor(Ridge(), executor=1).fit):
        with pytest.raises(InputError, match=message):
            asked(X, y)
    assert watching.history.updates == ()
    for rows in (X[:1], X[:1].tolist()):
        with pytest.raises(InputError, match="The batch has 1 row"):
            watching.update(rows, [1.0])


def test_bad_settings_and_references_are_explained():
    for options, message in (
        ({"false_alarm_rate": 5}, "false_alarm_rate"),
        ({"min_stability": 1.5}, "min_stability"),
        ({"control": "all"}, "control"),
        ({"draws": 2}, "draws"),
        ({"probes": "unifrom"}, "uniform"),
        ({"tolerance": 0.1}, "`tolerance` is for regressors"),
        ({"learner": LinearRegression(), "tolerance": -1}, "number of at least 0"),
    ):
        with pytest.raises(InputError, match=message):
            DriftMonitor(**{"learner": GaussianNB()} | options)
    X, y = draw(100, 0)
    with pytest.raises(InputError, match="no reference yet"):
        DriftMonitor(GaussianNB()).update(X, y)
    for learner, rows, labels, message in (
        (GaussianNB(), X, np.zeros(100), "1 class"),
        (GaussianNB(), X, X[:, 0], "different numbers"),
        (GaussianNB(), *mixed(100, 0), "encoded"),
        (Ridge(), X, np.ones(100), "nothing to learn"),
    ):
        with pytest.raises(InputError, match=message):
            DriftMonitor(learner, executor=1).fit(rows, labels)
    with pytest.raises(InputError, match="columns"):
        DriftMonitor(GaussianNB(), executor=1, draws=20).fit(X, y).update(X[:20, :2], y[:20])
    with pytest.raises(InputError, match="cannot use weights of rows"):
        DriftMonitor(KNeighborsClassifier(), executor=1).fit(X, y, sample_weight=np.ones(100))


def test_ctrl_c_leaves_the_monitor_as_it_was(monkeypatch):
    watching = monitor(draws=20)
    watching.update(*draw(60, 1))
    fits = iter(range(5))

    def interrupted(*_):
        if next(fits) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(GaussianNB, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        watching.update(*draw(90, 2))
    monkeypatch.undo()
    assert len(watching.history.updates) == 1
    assert watching.update(*draw(90, 2)).number == 2


def test_batches_come_in_the_order_of_time():
    X, y = draw(400, 0)
    days = pd.Series(pd.date_range("2020-01-01", periods=400))
    watch = DriftMonitor(LogisticRegression(), draws=30, n_probes=100, executor=1).fit(
        X[:300], y[:300], time=days[:300]
    )
    watch.update(X[300:350], y[300:350], time=days[300:350])
    for time, message in (
        (days[300:350], r"begins at 2020-10-27.*before the end of what came before it"),
        (np.arange(50), "expected dates in both or numbers in both"),
        (days[350:].dt.tz_localize("UTC"), "with and without a time zone"),
        (None, "`time` is given for the reference but not for the batch"),
    ):
        with pytest.raises(InputError, match=message):
            watch.update(X[350:], y[350:], time=time)
    with pytest.raises(InputError, match="`sample_weight` is given for the batch but not for the reference"):
        watch.update(X[350:], y[350:], time=days[350:], sample_weight=np.ones(50))
    assert len(watch.history.updates) == 1
    watch.update(X[350:], y[350:], time=days[350:])


def test_equal_weights_change_nothing():
    X, y = draw(300, 0)
    plain, heavy = (
        DriftMonitor(LogisticRegression(), n_probes=100, executor=1).fit(X, y, sample_weight=weights)._fitted()
        for weights in (None, np.ones(300))
    )
    assert np.array_equal(plain.reference.answers, heavy.reference.answers)
