"""Rows that belong together: planted ties are found by name, sorted files and given groups are left alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from suspect_worlds import (
    given_groups,
    jittered_copies,
    mixed_categories,
    patients_with_id,
    patients_without_id,
    plain,
    recording,
    sorted_by_class,
    sorted_by_date,
)

import classay
from classay.data.checks.near_rows import by_columns, by_nearest
from classay.data.checks.quick_models import labelled_rows, of_groups, stretches
from classay.data.checks.row_dependence import _Candidate, _compared


@pytest.mark.slow
def test_eighty_patients_with_their_id():
    made = patients_with_id(0)
    with pytest.raises(classay.InputError, match="Did you mean"):
        classay.dependence(made["X"], made["y"], columns=["patiend"])
    result = classay.dependence(made["X"], made["y"])
    ties = {tie.name: tie for tie in result.found}
    assert ties["patient"].groups == 80
    assert ties["patient"].shuffled.value > 0.9 > 0.65 > ties["patient"].apart.value
    assert str(result).startswith("Rows belong together: ")


@pytest.mark.slow
@pytest.mark.parametrize("world", [patients_without_id, jittered_copies])
def test_rows_that_are_nearly_the_same(world):
    made = world(0)
    results = [classay.dependence(made["X"], made["y"], random_state=4) for _ in range(2)]
    (tie,) = results[0].found
    assert tie.kind == "near rows"
    assert tie.apart.value < 0.65
    pd.testing.assert_frame_equal(results[0].to_frame(), results[1].to_frame())
    frame = results[0].to_frame()
    assert set(frame["figure"]) - {"kinship"} == {"shuffled", "apart", "fall"}
    assert set(frame["name"][frame["verdict"] == "found"]) == {"near rows"}


@pytest.mark.slow
def test_a_recording():
    made = recording(0)
    (tie,) = classay.dependence(made["X"], made["y"], near=False).found
    assert (tie.kind, tie.groups) == ("file order", 50)
    assert tie.shuffled.value > 0.8
    assert tie.apart.value < 0.65


@pytest.mark.slow
@pytest.mark.parametrize("world", [plain, sorted_by_class, sorted_by_date, mixed_categories, given_groups])
def test_silent_where_nothing_ties(world):
    made = world(0)
    result = classay.dependence(made["X"], made["y"], groups=made.get("groups"))
    assert result.found == ()
    assert len(result.looked_at()) >= 2


def sites(seed, number):
    """Each site has its own measurements, and its own usual label."""
    rng = np.random.default_rng([30, seed])
    site = rng.integers(number, size=600)
    X = rng.normal(size=(600, 5)) + 2.5 * rng.normal(size=(number, 5))[site]
    y = rng.random(600) < np.where(np.arange(number) % 2, 0.9, 0.1)[site]
    return pd.DataFrame(X).rename(columns="m{}".format).assign(site=site), y


@pytest.mark.parametrize("number", [8, 2])
def test_few_sites(number):
    result = classay.dependence(*sites(1, number), order=False, near=False)
    (tie,) = result.found
    assert (tie.name, tie.groups, tie.fall.kind) == ("site", number, "over rows of these groups")
    assert f"balanced accuracy falls by {tie.fall}" in str(result)


def test_columns_that_tie_nothing_are_excluded_or_named():
    """A random category, a flag that is hardly ever set, and a measurement in whole numbers; 25 rows are too few."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 4))).rename(columns="m{}".format)
    X = X.assign(job=rng.choice(list("abc"), 600), rare=rng.random(600) < 0.1, rooms=(2 * X["m1"]).round().astype(int))
    y = (X["m0"] + rng.normal(size=600) > 0).to_numpy()
    result = classay.dependence(X, y, order=False, near=False)
    assert (result.tried, result.verdict, list(result.skipped)) == (("job",), "no", ["rare"])
    assert str(result).startswith("No sign that rows belong together. 1 candidate")
    assert str(result).endswith("more often. Not tried: rare (one value has most rows).")
    assert (result.largest("kinship").high < 0.03, result.largest("fall")) == (True, None)
    assert "near rows" in classay.dependence(X[["job", "rooms"]], y, order=False).skipped
    few = classay.dependence(*(part[:25] for part in sites(1, 3)), order=False, near=False)
    assert few.verdict == "undecided"
    assert "cannot be decided for site (3 groups): a fall of up to " in str(few)


def test_what_is_not_learned_says_nothing():
    rng = np.random.default_rng(0)
    result = classay.dependence(rng.normal(size=(120, 3)), rng.integers(2, size=120), order=False, columns=())
    assert (result.verdict, "near rows (20 groups): predictions are hardly better" in str(result)) == (
        "undecided",
        True,
    )


def test_days_of_a_date():
    X, y = sites(1, 30)
    X["site"] = [f"2024-01-{day + 1:02d} 09:{row // 60:02d}:{row % 60:02d}" for row, day in enumerate(X["site"])]
    (tie,) = classay.dependence(X, y, order=False, near=False).found
    assert (tie.name, tie.groups) == ("site", 30)


def test_a_fall_by_hand():
    """Ten groups with falls .2 and .4 in equal classes: mean .3, standard error .1/3 times √2, 9 degrees of freedom."""
    table, groups = labelled_rows(np.arange(100)[:, None], np.tile([0, 1], 50)), np.repeat(np.arange(10), 10)
    apart = np.where(np.arange(100) % 10 < np.repeat([2, 4] * 5, 10), 0.0, 1.0)
    candidate = _Candidate("column", "site", table, groups, np.arange)
    tie = _compared(candidate, table, groups, np.ones(100), apart, "by hand")
    assert (tie.groups, tie.fall.value) == (10, pytest.approx(0.3))
    assert tie.p_value == pytest.approx(stats.t.sf(0.3 / (0.1 / 3 * 2**0.5), 9))
    assert tie.relevant == pytest.approx(0.1)


def test_samples_keep_what_belongs_together():
    rows = stretches(100_000, 5_000)
    assert rows.size == 5_000
    assert (np.diff(rows) > 1).sum() == 49
    groups = np.repeat(np.arange(500), 4)
    kept = of_groups(groups, 0, 1_000)
    assert kept.size == 1_000
    assert (np.bincount(groups[kept])[np.unique(groups[kept])] == 4).all()
    assert np.bincount(of_groups(np.repeat([0, 1, 2], 900), 0, 1_000) // 900).tolist() == [333, 333, 333]


def test_nearest_rows_and_kin_by_hand():
    """On a line: pairs at 0, 10, 20, 30 of labels 0, 0, 1, 1, and each pair a group."""
    points = np.array([0, 1, 10, 11, 20, 21, 30, 31], dtype=np.float32)[:, None]
    rows, codes = np.arange(8), np.repeat([0, 1], 4)
    alone, together, kin = by_nearest(points, rows, codes, None, rows // 2, [rows, rows // 2])
    assert alone.tolist() == [1] * 8
    assert together.tolist() == [1, 1, 1, 0, 0, 1, 1, 1]
    assert kin == pytest.approx([2 / 3] * 8)  # the nearest of three is kin, one of three by chance
    noise = np.random.default_rng(0).normal(size=(600, 1)).astype(np.float32)
    place = np.arange(600) // 60
    assert by_columns(noise, place % 2, place)[0] is False
    assert by_columns(noise + 0.5 * place[:, None], np.arange(600) % 2, place) == (True, True)
    assert by_columns(noise + (7 * place % 10)[:, None], np.arange(600) % 2, place) == (True, False)


@pytest.mark.parametrize("verb", [classay.dependence, classay.leaks])
def test_nearly_as_many_classes_as_rows_give_no_warning(verb):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=list("ab"))
    labels = np.append(np.arange(50), np.arange(10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verb(rows, labels).found == ()


@pytest.mark.slow
def test_rare_classes_count_and_nothing_tried_decides_nothing():
    rng = np.random.default_rng(4)
    y = np.repeat([1, 0], [24, 1974])
    patient = np.arange(1998) // 6
    centre = np.where(np.arange(333) < 4, 3.0, 0.0)[:, None] * rng.normal(size=(333, 4))
    X = pd.DataFrame(centre[patient] + np.where(y == 1, 0.05, 1.0)[:, None] * rng.normal(size=(1998, 4)))
    X = X.rename(columns="m{}".format).assign(pid=patient)
    assert classay.dependence(X, y, order=False, near=False, columns=["pid"]).verdict != "no"
    nothing = classay.dependence(X, y, order=False, near=False, columns=())
    assert (nothing.verdict, str(nothing)) == ("undecided", "Undecided: nothing was tried.")
    grouped = classay.dependence(X[["m0", "m1"]], rng.integers(2, size=1998), groups=patient)
    assert not grouped.missing  # blocks keep groups whole
