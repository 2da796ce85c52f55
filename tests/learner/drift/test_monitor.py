from __future__ import annotations

import math
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from classay import DriftMonitor, InputError, encoded
from classay.engine import archive, store
from classay.learner.drift.batches import RowShift
from classay.learner.drift.calibration import Calibration, LabelTarget, _pairs, draws_needed, fewest_draws, p_value
from classay.learner.drift.verdict import judge


def draw(n, seed, column=0, noise=0.1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, (X[:, column] > 0.5) ^ (rng.random(n) < noise)


def mixed(n, seed, hues=("red", "blue")):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.uniform(size=n), "hue": rng.choice(hues, n), "runs": rng.integers(5, size=n)})
    return X, np.where((X["size"] > 0.5) == (X["hue"] == hues[0]), "ok", "low")


def monitor(learner=None, n=600, size=60, **options):
    settings = {"executor": 1, "n_probes": 300, "draws": 80} | options
    return DriftMonitor(learner or GaussianNB(), **settings).fit(*draw(n, 0), batch_size=size)


@pytest.fixture(scope="module")
def watching():
    return monitor()


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


def test_too_few_blocks_give_no_alarm():
    found = Calibration(10, 5, np.array([0.8, 0.9]), np.array([0.8]), np.array([0.9]), 0.5)
    assert found.low_below(0.05, "reference") == -math.inf
    assert draws_needed(0.025, 5) > draws_needed(0.025, 20) >= 100


@pytest.mark.parametrize("number", [2, 5, 6])
def test_pairs_are_each_pair_once(number):
    answers = np.random.default_rng(0).integers(2, size=(number, 40))
    expected = [(answers[i] == answers[j]).mean() for i in range(number) for j in range(i)]
    np.testing.assert_allclose(np.sort(_pairs(answers)), np.sort(expected))


def test_a_quiet_process_and_a_change(watching):
    quiet = watching.update(*draw(60, 1), name="monday")
    assert (quiet.verdict, quiet.alarm, quiet.name) == ("nothing shown", False, "monday")
    assert math.isnan(quiet.agreement_last)
    assert quiet.agreement_reference > 0.8
    watching.update(*draw(60, 2))
    changed = watching.update(*draw(60, 3, column=1))
    assert (changed.verdict, changed.alarm) == ("concept moved", True)
    assert changed.agreement_reference < changed.low_below_reference
    assert changed.accuracy_reference < changed.low_below_accuracy
    assert changed.accuracy_reference < changed.usual_accuracy.low
    assert not changed.notes
    again = watching.update(*draw(60, 4, column=1))
    assert again.alarm  # it is not as the reference, though it is as the last batch
    assert again.p_last > 0.05
    assert again.accuracy_last > again.accuracy_reference + 0.2
    history = watching.history
    assert history.alarms == (changed.name, again.name)
    assert len(history.to_frame()) == 28
    assert "The concept moved in 3, 4." in str(history)


def test_agreements_are_those_of_the_concepts():
    X, y = draw(600, 0)
    watching = DriftMonitor(GaussianNB(), probes="data", executor=1, draws=60).fit(X, y)
    batches = [draw(100, seed) for seed in (1, 2)]
    watching.update(*batches[0])
    found = watching.update(*batches[1])
    reference, last, new = (GaussianNB().fit(*rows) for rows in ((X, y), *batches))
    assert found.agreement_reference == (new.predict(X) == reference.predict(X)).mean()
    assert found.agreement_last == (new.predict(X) == last.predict(X)).mean()
    assert found.accuracy_reference == reference.score(*batches[1])
    assert found.accuracy_last == last.score(*batches[1])


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


@pytest.mark.parametrize("learner", [DummyClassifier(strategy="stratified", random_state=None), DummyClassifier()])
def test_a_learner_that_cannot_monitor_says_so(learner):
    watching = monitor(learner)
    found = watching.update(*draw(60, 1, column=1))
    assert (found.verdict, found.alarm) == ("learner unsteady", False)
    assert "Use larger batches" in found.notes[0]
    assert "too unsteady to show a change in 1 of them" in str(watching.history)


def test_an_unsteady_learner_does_not_swallow_an_alarm():
    """Its concepts agree no more than unrelated ones, but the old one is wrong on nearly all rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(600, 8)).astype(float)
    y = X.sum(axis=1) % 2  # parity: a tree from 60 rows is little better than chance on new rows
    watching = DriftMonitor(DecisionTreeClassifier(), executor=1, n_probes=300, draws=80).fit(X, y, batch_size=60)
    quiet = watching.update(X[:60], y[:60])
    assert quiet.verdict == "learner unsteady"
    moved = watching.update(X[60:120], 1 - y[60:120])
    assert moved.usual_accuracy.value > 0.6 > 0.2 > moved.accuracy_reference
    assert (moved.verdict, moved.alarm) == ("concept moved", True)


def test_the_joint_p_value_by_hand():
    """Standard scores by rank, accuracy twice, and below all blocks by how far below it is."""
    agreement, accuracy = np.array([0.7, 0.8, 0.9]), np.array([0.9, 0.6, 0.8])
    found = Calibration(10, math.inf, agreement, agreement, accuracy, 0.5)
    z = stats.norm.ppf
    blocks = [z(1 / 4) + 2 * z(3 / 4), z(2 / 4) + 2 * z(1 / 4), z(3 / 4) + 2 * z(2 / 4)]
    batch = z(3 / 5) + 2 * z(2 / 5)  # above two of three agreements, above one of three accuracies
    assert found.evidence(0.85, 0.7) == pytest.approx(batch)
    assert found.joint_p_value(0.85, 0.7) == pytest.approx((1 + sum(each <= batch for each in blocks)) / 4)
    far = (0.1 - accuracy.mean()) / accuracy.std()
    assert found.evidence(0.95, 0.1) == pytest.approx(z(4 / 5) + 2 * far)
    assert found.evidence(0.0, 0.85) == pytest.approx(z(1 / 5) + 2 * z(3 / 5))  # agreement counts by rank
    assert found.joint_p_value(0.95, 0.1) == pytest.approx(1 / 4)


def test_rows_that_moved_are_named():
    watching = monitor(DecisionTreeClassifier(max_depth=3), n=1200, draws=100, name="tree")
    X, y = draw(900, 1)
    apart = (X[:, 0] > 0.55) | (X[:, 0] < 0.1)  # few rows near the boundary
    found = watching.update(X[apart][:60] * [1, 0.02, 0.02], y[apart][:60])
    assert found.p_rows < 1e-6
    assert found.moved_column in ("column 1", "column 2")
    assert found.verdict == "rows moved"
    assert found.accuracy_reference >= found.low_below_accuracy


def test_stability_may_be_asked_for():
    watching = monitor(min_stability=0.99)
    found = watching.update(*draw(60, 1))
    assert found.verdict == "learner unsteady"
    assert "min_stability" in found.notes[0]


def test_rows_that_moved_are_told_from_a_concept_that_changed():
    watching = monitor(LogisticRegression(), n=1200, draws=100)
    X, y = draw(600, 1, noise=0)
    corner = (X[:, 1] > 0.8) & (X[:, 0] > 0.3)
    found = watching.update(X[corner][:60], y[corner][:60])
    assert found.accuracy_reference > 0.85
    assert found.verdict != "concept moved"
    if found.alarm:
        assert found.verdict == "rows moved"
        assert "unlike the reference" in found.notes[0]


@pytest.mark.slow
def test_the_same_bits_for_any_executor():
    found = []
    with ThreadPoolExecutor(2) as pool:
        for executor in (1, 2, pool):
            watching = monitor(DecisionTreeClassifier(), n=200, size=40, draws=20, executor=executor)
            found.append(watching.update(*draw(40, 1)))
    assert found[0] == found[1] == found[2] or _same(found)
    other = monitor(DecisionTreeClassifier(), n=200, size=40, draws=20, random_state=5).update(*draw(40, 1))
    assert other.to_dict() != found[0].to_dict()


def _same(updates):
    """Equal but for NaN, which is not equal to itself."""
    return len({str(update.to_dict()) for update in updates}) == 1


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


def test_a_state_of_another_learner_is_refused(tmp_path):
    path = monitor(draws=40).save(tmp_path / "state.classay")
    with pytest.raises(InputError, match="another"):
        DriftMonitor.load(path, GaussianNB(var_smoothing=0.1))
    with pytest.raises(InputError, match="no file"):
        DriftMonitor.load(tmp_path / "nothing.classay", GaussianNB())
    store.write(path, "drift", {"learner": {}}, {})
    with pytest.raises(InputError, match=r"another|not a complete"):
        DriftMonitor.load(path, GaussianNB())


def test_a_state_under_another_version_says_which_differs(tmp_path):
    path = monitor(draws=40).save(tmp_path / "state.classay")
    header, arrays = store.read(path)
    saved = {name: value for name, value in header.items() if name not in (*archive.RESERVED, archive.ADDRESS)}
    del saved["learner"]["parameters"]["priors"]
    saved["learner"]["parameters"]["store_covariance"] = True
    saved["learner"]["version"] = "1.2.3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "versions", lambda: {**header["versions"], "scikit-learn": "1.2.3"})
        store.write(path, "drift", saved, arrays)
    now = header["versions"]["scikit-learn"]
    with pytest.raises(InputError) as caught:
        DriftMonitor.load(path, GaussianNB())
    message = str(caught.value)
    assert f"under scikit-learn 1.2.3 (now {now})" in message
    assert "priors (new)" in message
    assert "store_covariance (no longer there)" in message
    assert "another one" not in message
    store.write(path, "drift", saved, arrays)
    with pytest.raises(InputError, match=rf"under version 1\.2\.3 of sklearn \(now {re.escape(now)}\)"):
        DriftMonitor.load(path, GaussianNB())
    with pytest.raises(InputError, match=r"another one, or has other parameters: var_smoothing 1e-09 \(now 0\.1\)"):
        DriftMonitor.load(monitor(draws=40).save(tmp_path / "two.classay"), GaussianNB(var_smoothing=0.1))


def test_probes_of_the_users_own(tmp_path):
    rows = np.random.default_rng(0).uniform(size=(50, 3))
    watching = DriftMonitor(GaussianNB(), probes=rows, executor=1, draws=40).fit(*draw(300, 0))
    again = DriftMonitor.load(watching.save(tmp_path / "state.classay"), GaussianNB(), executor=1)
    np.testing.assert_array_equal(again.probes, rows)
    found = watching.update(*draw(50, 1))
    assert found.agreement_reference * 50 == pytest.approx(round(found.agreement_reference * 50))


def test_columns_are_matched_by_name():
    X, y = mixed(300, 0)
    learner = encoded(GaussianNB(), X)
    watching = DriftMonitor(learner, executor=1, draws=20, n_probes=50).fit(X, y)
    batch, labels = mixed(50, 1)
    first = watching.update(batch, labels)
    watching.fit(X, y)
    second = watching.update(batch[["hue", "runs", "size"]], labels)
    assert first.to_dict() == second.to_dict()


def frame_with(**columns):
    X, y = mixed(50, 1)
    return X.assign(**columns), y


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (frame_with(new=1), "'new', which the reference does not have"),
        ((mixed(50, 1)[0].drop(columns="hue"), mixed(50, 1)[1]), "lacks hue"),
        (frame_with(hue="green"), "categories in the batch.*'green'"),
        (frame_with(size="big"), "contains texts in the batch but numbers"),
        (frame_with(hue=range(50)), "contains numbers in the batch but texts"),
        ((mixed(50, 1)[0], ["ok"] * 50), "1 class.*merge it with the next"),
        ((mixed(50, 1)[0], ["ok", "lost"] * 25), "'lost'"),
        ((mixed(50, 1)[0], [0, 1] * 25), "same labels"),
        ((mixed(50, 1)[0], ["ok"] * 49), "they must match"),
        ((mixed(50, 1)[0].to_numpy(), mixed(50, 1)[1]), "another form"),
        (mixed(200, 1), "at least 600"),
        ((mixed(50, 1)[0].iloc[:0], []), "no rows"),
    ],
)
def test_bad_batches_are_explained_and_change_nothing(batch, message):
    X, y = mixed(300, 0)
    watching = DriftMonitor(encoded(GaussianNB(), X), executor=1, draws=20, n_probes=50).fit(X, y)
    with pytest.raises(InputError, match=message):
        watching.update(*batch)
    assert watching.history.updates == ()


def test_bad_settings_are_explained():
    X, y = draw(100, 0)
    for options, message in (
        ({"false_alarm_rate": 5}, "false_alarm_rate"),
        ({"min_stability": 1.5}, "min_stability"),
        ({"draws": 2}, "draws"),
        ({"probes": "unifrom"}, "uniform"),
    ):
        with pytest.raises(InputError, match=message):
            DriftMonitor(GaussianNB(), **options)
    with pytest.raises(InputError, match="`tolerance` is for regressors"):
        DriftMonitor(GaussianNB(), tolerance=0.1)
    with pytest.raises(InputError, match="number from 0 up"):
        DriftMonitor(LinearRegression(), tolerance=-1)
    with pytest.raises(InputError, match="no reference yet"):
        DriftMonitor(GaussianNB()).update(X, y)
    with pytest.raises(InputError, match="1 class"):
        DriftMonitor(GaussianNB()).fit(X, np.zeros(100))
    with pytest.raises(InputError, match="different numbers"):
        DriftMonitor(GaussianNB()).fit(X, X[:, 0])
    with pytest.raises(InputError, match="columns"):
        DriftMonitor(GaussianNB(), executor=1, draws=20).fit(X, y).update(X[:20, :2], y[:20])
    with pytest.raises(InputError, match="encoded"):
        DriftMonitor(GaussianNB(), executor=1).fit(*mixed(100, 0))


def test_rare_classes_are_lived_with():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = (X[:, 0] > 0.9).astype(int)
    watching = DriftMonitor(GaussianNB(), executor=1, draws=40, n_probes=100).fit(X, y, batch_size=30)
    assert watching._state.calibrations[30].reference.size > 20
    with pytest.raises(InputError, match="only one class"):
        DriftMonitor(GaussianNB(), executor=1, draws=40).fit(X, (X[:, 0] > 0.99).astype(int), batch_size=10)


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


def test_too_few_draws_are_not_laid_on_the_learner():
    X, y = draw(300, 0)
    (told,) = DriftMonitor(GaussianNB(), executor=1, draws=20).fit(X, y).update(*draw(50, 1)).notes
    fewest = fewest_draws(0.05, 6)
    assert f"estimated from 20 blocks of the reference; a false-alarm rate of 0.05 needs {fewest}" in told
    assert "unstable" not in told
    enough = DriftMonitor(GaussianNB(), executor=1, draws=fewest).fit(X, y).update(*draw(50, 1))
    assert (enough.verdict, enough.notes) == ("nothing shown", ())


@pytest.mark.parametrize("blocks", [3, 6.5, 1000])
@pytest.mark.parametrize("rate", [0.001, 0.025, 0.2])
def test_the_fewest_draws_are_those_that_can_raise_an_alarm(blocks, rate):
    fewest = fewest_draws(rate, blocks)
    values = np.full(fewest, 0.9)
    assert p_value(values, 0.5, blocks) <= rate < p_value(values[1:], 0.5, blocks)


def test_an_alarm_while_the_old_concept_is_right_says_so_by_itself(watching):
    # Judged by another rule the same rows are right: only the region differs in which they lie.
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(60, 3)) * [1, 0.02, 0.02]
    found = watching.update(X, X[:, 0] > 0.5)
    assert (found.verdict, found.alarm) == ("rows moved", True)
    assert "the reference's is as accurate as usual" in found.notes[0]


def test_categories_that_stand_for_numbers_may_come_as_numbers():
    X, y = mixed(300, 0)
    X = X.assign(runs=X["runs"].astype("category"))
    watching = DriftMonitor(encoded(GaussianNB(), X), executor=1, draws=20, n_probes=50).fit(X, y)
    batch, labels = mixed(50, 1)
    as_numbers = watching.update(batch, labels)
    assert watching.has_seen(batch.assign(runs=batch["runs"].astype("category")), labels)
    assert as_numbers.number == 1
    with pytest.raises(InputError, match=r"'runs' has categories.* 9"):
        watching.update(batch.assign(runs=9), labels)


def test_few_blocks_are_worth_less():
    """Blocks of a reference that is three batches long vary less around its mean than batches do."""
    target = LabelTarget(np.array([0, 1]))
    assert target.worth(3) == pytest.approx(1)
    assert target.worth(4) == pytest.approx(3)
    assert target.worth(5) == pytest.approx(5)
    assert target.worth(8.5) == pytest.approx(8.5)


def test_one_row_more_in_a_batch_hardly_changes_what_a_reference_is_worth():
    """The worth fell from 5 to 1.98 between batches of 100 and of 101 rows, and p rose from .035 to .053."""
    target, values = LabelTarget(np.array([0, 1])), np.arange(1, 300) / 300
    ps = [p_value(values, 0.02, target.worth(500 / size)) for size in (100, 101)]
    assert ps[1] == pytest.approx(ps[0], abs=0.001)


@pytest.mark.parametrize("size", [240, 200, 500, 600])
def test_a_reference_of_fewer_than_three_batches_is_refused(size):
    """The worth of such a reference is 0 or negative, and no number of blocks would be enough."""
    for learner in (GaussianNB(), LinearRegression()):
        with pytest.raises(InputError, match="need at least"):
            DriftMonitor(learner, executor=1, n_probes=50).fit(*draw(500, 0), batch_size=size)


def test_a_note_says_which_figure_is_low():
    """Agreement alone was unusual, and the note said that neither figure was."""
    rng = np.random.default_rng(0)
    agreements, accuracies = rng.normal(0.9, 0.02, 200), rng.normal(0.85, 0.03, 200)
    calibration = Calibration(100, 10, agreements, agreements, accuracies, 0.5)
    update = judge(
        name="batch",
        number=1,
        n_rows=100,
        target=LabelTarget(np.array([0, 1])),
        agreements={"reference": 0.8},
        qualities=[0.81],
        uncapped=0.81,
        calibrations={"reference": calibration, "last": calibration},
        shift=RowShift(0.5, "x"),
        rate=0.05,
        min_stability=None,
        learner="tree",
        n_reference=1000,
        fingerprint="",
    )
    assert update.alarm
    assert update.p_reference < 0.05 < update.p_accuracy
    assert update.notes[0].startswith("The concept of the batch differs, while the reference's is as accurate as usual")
