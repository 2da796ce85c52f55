"""Rows that belong together: planted ties are found by name, sorted files and given groups are left alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from suspect_worlds import (
    given_groups,
    jittered_copies,
    mixed_categories,
    patients,
    patients_with_id,
    patients_without_id,
    plain,
    recording,
    sorted_by_class,
    sorted_by_date,
)

import classay
from classay.data.checks.near_rows import continuous_columns, distances, near_groups, nearest_ranks, scaled
from classay.data.checks.quick_models import even_sample, labelled_rows
from classay.data.checks.row_dependence import _excess, _stretches, _whole_groups


@pytest.mark.slow
def test_eighty_patients_with_their_id():
    made = patients_with_id(0)
    result = classay.dependence(made["X"], made["y"])
    ties = {tie.name: tie for tie in result.found}
    assert ties["patient"].groups == 80
    assert ties["patient"].shuffled.value > 0.9
    assert ties["patient"].apart.value < 0.65
    assert ties["patient"].lost > 0.25
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
    assert set(frame["figure"]) == {"shuffled", "apart", "fall", "excess"}
    assert set(frame["name"][frame["verdict"] == "found"]) == {"near rows"}


@pytest.mark.slow
def test_a_recording():
    made = recording(0)
    (tie,) = classay.dependence(made["X"], made["y"], near=False).found
    assert (tie.kind, tie.groups) == ("file order", 50)
    assert tie.shuffled.value > 0.8
    assert tie.apart.value < 0.65


@pytest.mark.parametrize("world", [plain, sorted_by_class, sorted_by_date, mixed_categories, given_groups])
def test_silent_where_nothing_ties(world):
    made = world(0)
    result = classay.dependence(made["X"], made["y"], groups=made.get("groups"))
    assert result.found == ()
    assert len(result.screened) >= 2


def test_the_group_that_is_given_is_the_one_that_was_found():
    X, y, patient = patients(1)
    assert classay.dependence(X, y).found
    assert not classay.dependence(X, y, groups=patient).found


def test_the_screen_by_hand():
    """Pairs at 0, 10, 20, …: the nearest row is the twin, the next one has the other label."""
    x = np.repeat(10.0 * np.arange(40), 2) + np.tile([0, 0.1], 40)
    y = np.repeat(np.arange(40) % 2, 2)
    table = labelled_rows(x[:, None], y)
    excess, _, above = _excess(scaled(x[:, None], 0), table, np.arange(80) // 2, 0, 0)
    assert excess > 0.9  # with the twin always the same label, without it never
    assert above == pytest.approx(0.5, abs=0.05)


def test_samples_keep_what_belongs_together():
    rows = _stretches(100_000, 5_000)
    assert rows.size == 5_000
    assert (np.diff(rows) > 1).sum() == 49
    groups = np.repeat(np.arange(500), 4)
    kept = _whole_groups(groups, 1_000, 0)
    assert kept.size <= 1_000
    assert (np.bincount(groups[kept])[np.unique(groups[kept])] == 4).all()


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


def test_continuous_columns():
    rng = np.random.default_rng(0)
    rows = np.column_stack(
        [rng.normal(size=400), rng.integers(9, size=400), np.where(rng.random(400) < 0.5, 0, rng.random(400))]
    )
    assert continuous_columns(rows) == [0]


def test_even_sample_is_even():
    codes = np.repeat([0, 1], [900, 100])
    assert np.bincount(codes[even_sample(codes, 150, 0)]).tolist() == [75, 75]


def test_columns_by_name():
    made = patients_with_id(3)
    result = classay.dependence(made["X"], made["y"], columns=["patient"], order=False, near=False)
    assert [tie.name for tie in result.ties] == ["patient"]
    with pytest.raises(classay.InputError, match="Did you mean"):
        classay.dependence(made["X"], made["y"], columns=["patiend"])


@pytest.mark.parametrize("verb", [classay.dependence, classay.leaks])
def test_nearly_as_many_classes_as_rows_give_no_warning(verb):
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2)), columns=list("ab"))
    labels = np.append(np.arange(110), np.arange(10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert verb(rows, labels).found == ()
