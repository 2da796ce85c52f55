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
from classay.data.checks.near_rows import distances, near_groups, nearest_ranks, scaled
from classay.data.checks.quick_models import labelled_rows
from classay.data.checks.row_dependence import _compared, _of_groups, _stretches


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
    assert set(frame["figure"]) == {"shuffled", "apart", "fall"}
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


@pytest.mark.slow
def test_few_sites_are_found_or_said_to_be_open():
    (tie,) = classay.dependence(*sites(1, 8), order=False, near=False).found
    assert (tie.name, tie.groups) == ("site", 8)
    result = classay.dependence(*sites(0, 3), order=False, near=False)
    assert (result.found, result.verdict) == ((), "undecided")
    assert "cannot be decided for site (3 groups): a fall of up to " in str(result)


def test_days_of_a_date():
    X, y = sites(1, 30)
    X["site"] = [f"2024-01-{day + 1:02d} 09:{row // 60:02d}:{row % 60:02d}" for row, day in enumerate(X["site"])]
    (tie,) = classay.dependence(X, y, order=False, near=False).found
    assert (tie.name, tie.groups) == ("site", 30)


def test_a_fall_by_hand():
    """Four groups with falls .2, .4, .2, .4 in equal classes: mean .3, standard error .0577, 3 degrees of freedom."""
    table, groups = labelled_rows(np.arange(40)[:, None], np.tile([0, 1], 20)), np.repeat(np.arange(4), 10)
    apart = np.where(np.arange(40) % 10 < np.repeat([2, 4, 2, 4], 10), 0.0, 1.0)
    tie = _compared("column", "site", table, groups, np.ones(40), apart, "by hand")
    assert (tie.groups, tie.fall.value) == (4, pytest.approx(0.3))
    assert tie.p_value == pytest.approx(stats.t.sf(0.3 / (0.1 / 3**0.5), 3))
    assert tie.relevant == pytest.approx(0.125)


def test_samples_keep_what_belongs_together():
    rows = _stretches(100_000, 5_000)
    assert rows.size == 5_000
    assert (np.diff(rows) > 1).sum() == 49
    groups = np.repeat(np.arange(500), 4)
    kept = _of_groups(groups, 0, 1_000)
    assert kept.size == 1_000
    assert (np.bincount(groups[kept])[np.unique(groups[kept])] == 4).all()
    assert np.bincount(_of_groups(np.repeat([0, 1, 2], 900), 0, 1_000) // 900).tolist() == [333, 333, 333]


def test_smooth_data_have_no_gaps():
    rng = np.random.default_rng(0)
    for columns in (1, 2, 5):
        points = scaled(rng.normal(size=(1500, columns)), 0)
        codes = (points[:, 0] > 0).astype(int)
        assert near_groups(points, codes, None, 0) is None


def test_nearest_rows_against_sorting():
    rng = np.random.default_rng(1)
    points = scaled(rng.normal(size=(50, 3)), 0)
    groups = np.arange(50) // 2
    for here, table in distances(points, np.arange(50), groups):
        nearest, away = nearest_ranks(table, 5)
        for query, found, far in zip(here, nearest, away):
            all_far = np.linalg.norm(points - points[query], axis=1)
            all_far[groups == groups[query]] = np.inf
            assert found.tolist() == np.argsort(all_far)[:5].tolist()
            assert far == pytest.approx(np.sort(all_far)[:5], abs=1e-3)


@pytest.mark.parametrize("verb", [classay.dependence, classay.leaks])
def test_nearly_as_many_classes_as_rows_give_no_warning(verb):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=list("ab"))
    labels = np.append(np.arange(110), np.arange(10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verb(rows, labels).found == ()
