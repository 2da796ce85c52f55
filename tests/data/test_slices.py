"""Slices: planted ones are found with their edges, chance is not, and mistakes get a sentence."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from classay.data.model.error_slices import slices
from classay.expect import InputError

N = 6000


def noise(n=N, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({f"x{place}": rng.normal(size=n) for place in range(5)})
    table["age"] = rng.integers(18, 80, n)
    table["job"] = rng.choice(["student", "clerk", "nurse", "retired"], n)
    table["vip"] = rng.random(n) < 0.3
    return table


def errors(table, *planted, base=0.08, seed=1):
    """Errors at a base rate, and at a higher one in each planted (rows, rate)."""
    rate = np.full(len(table), base)
    for rows, higher in planted:
        rate[np.asarray(rows)] = higher
    return np.random.default_rng(seed).random(len(table)) < rate


def overlap(a, b):
    return np.sum(a & b) / np.sum(a | b)


@pytest.fixture(scope="module")
def planted():
    table = noise(12000)
    places = {
        "one": table.x0.between(0.5, 1.2).to_numpy(),
        "pair": (table.x1.between(0, 1.5) & (table.x2 < -0.5)).to_numpy(),
        "category": (table.age.between(30, 45) & (table.job == "student")).to_numpy(),
    }
    wrong = errors(table, (places["one"], 0.3), (places["pair"], 0.4), (places["category"], 0.6))
    return table, wrong, places, slices(table, wrong)


def test_planted_slices_are_found_on_top(planted):
    _, _, places, result = planted
    assert {each.features for each in result.slices[:3]} == {("x0",), ("x1", "x2"), ("age", "job")}
    for features, name in ((("x0",), "one"), (("x1", "x2"), "pair"), (("age", "job"), "category")):
        (place,) = [i for i, each in enumerate(result.slices[:3]) if each.features == features]
        assert overlap(result.rows(place), places[name]) > 0.85
    # The planted range of x0 makes a box with any other column; none of those is reported beside it.
    repeated = [i for i, each in enumerate(result.slices) if overlap(result.rows(i), places["one"]) > 0.3]
    assert [result.slices[i].features for i in repeated] == [("x0",)]


def test_edges_are_near_the_planted_ones_and_are_values_of_the_data(planted):
    table, _, _, result = planted
    by_features = {each.features: each for each in result.slices}
    (x0,) = by_features[("x0",)].conditions
    assert (x0.low, x0.high) == pytest.approx((0.5, 1.2), abs=0.05)
    assert {x0.low, x0.high} <= set(table.x0)
    x1, x2 = by_features[("x1", "x2")].conditions
    assert (x1.low, x1.high) == pytest.approx((0, 1.5), abs=0.15)
    assert x2.low is None
    assert x2.high == pytest.approx(-0.5, abs=0.05)
    assert by_features[("age", "job")].condition == "age 30–45 and job = student"


def test_figures_agree_with_the_rows(planted):
    table, wrong, _, result = planted
    for place, each in enumerate(result.slices):
        rows = result.rows(place)
        assert (each.size, each.total) == (rows.sum(), (rows & wrong).sum())
        assert each.table_rate == each.total / each.size
        assert each.share == each.size / len(table)
        assert each.rank == place + 1
        assert each.q_value <= result.q
        assert each.p_value <= each.q_value
        assert each.rate.low < each.rate.value < each.rate.high
        tested = result.error_rate.value  # rows to search and to test have the same rate, up to one row
        assert each.excess == pytest.approx(each.size * (each.rate.low - tested), rel=5e-3)
        assert each.lift > 1
    scores = [each.excess * (1 - each.share) for each in result.slices]
    assert scores == sorted(scores, reverse=True)


def test_a_slice_finds_its_rows_in_any_table(planted):
    table, _, _, result = planted
    for place, each in enumerate(result.slices):
        np.testing.assert_array_equal(each.rows(table), result.rows(place))
        np.testing.assert_array_equal(each.rows(table[::-1]), result.rows(place)[::-1])
    with pytest.raises(InputError, match=result.slices[0].features[-1]):
        result.slices[0].rows(table[["age"]])


def test_the_result_can_be_read_tabulated_and_kept(planted):
    _, _, _, result = planted
    frame = result.to_frame()
    assert len(frame) == len(result.slices) >= 3
    assert {"rank", "feature", "low", "high", "size", "error_rate", "q_value", "value"} <= set(frame.columns)
    assert frame["rank"].tolist() == list(range(1, len(frame) + 1))
    assert (frame["value"] == frame["error_rate"]).all()
    pair = frame[frame.other_feature == "job"].iloc[0]
    assert (pair.feature, pair.low, pair.high, pair.other_values) == ("age", 30, 45, "= student")
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["slices"][0]["rank"] == 1
    assert str(result).startswith("Errors concentrate where ")
    assert "\n" not in str(result)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.rows(0), result.rows(0))
    with pytest.raises(InputError, match="counted from 0"):
        result.rows(99)


def test_a_hot_core_is_nested_under_the_slice_around_it():
    table = noise(12000)
    around = table.x0 > 0.5
    core = around & (table.job == "nurse")
    result = slices(table, errors(table, (around, 0.25), (core, 0.8)))
    by_features = {each.features: each for each in result.slices}
    assert by_features[("x0",)].nested_under is None
    assert by_features[("job", "x0")].nested_under == by_features[("x0",)].rank


@pytest.mark.parametrize(
    ("name", "rows", "condition"),
    [
        ("income", lambda t: t.income.isna(), "income is missing"),
        ("vip", lambda t: t.vip, "vip = True"),
        ("job", lambda t: t.job != "clerk", "job ≠ clerk"),
        ("job", lambda t: t.job.isin(["nurse", "retired"]), "job in {nurse, retired}"),
        ("size", lambda t: t["size"].isin(["M", "L"]), "size M–L"),
        ("day", lambda t: t.day.between("2024-03-01", "2024-03-31"), "day 2024-03-01 to 2024-03-31"),
        ("told", lambda t: t.told.between("2024-03-01", "2024-03-31"), "told 2024-03-0"),
        ("visits", lambda t: t.visits == 3, "visits = 3"),
        ("empty", lambda t: t["empty"].notna(), "empty = filled"),
        ("city", lambda t: ~t.city.isin([f"c{i}" for i in range(5)]), "city is none of the 5 most common"),
    ],
)
def test_every_kind_of_column(name, rows, condition):
    rng = np.random.default_rng(3)
    table = noise()
    table["income"] = np.where(rng.random(N) < 0.1, np.nan, rng.lognormal(10, 1, N))
    table["size"] = pd.Categorical(rng.choice(["S", "M", "L", "XL"], N), ["S", "M", "L", "XL"], ordered=True)
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 180, N), unit="D")
    table["told"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 180, N), unit="D")).astype(str)
    table["visits"] = pd.array(rng.integers(0, 6, N), dtype="Int64")
    table["empty"] = np.where(rng.random(N) < 0.6, None, "filled")
    rare = np.array([f"rare{i}" for i in range(N)])
    table["city"] = np.where(rng.random(N) < 0.15, rare, rng.choice([f"c{i}" for i in range(5)], N))
    planted = rows(table).to_numpy(dtype=bool)
    result = slices(table, errors(table, (planted, 0.45)))
    assert result.slices[0].features == (name,)
    assert result.slices[0].condition.startswith(condition)
    np.testing.assert_array_equal(result.slices[0].rows(table), result.rows(0))
    assert overlap(result.rows(0), planted) > 0.9


def test_a_slice_comes_before_the_wider_one_that_owes_its_errors_to_it():
    """The wide one has more excess errors, most of them inside the other."""
    table = noise(20_000, seed=7)
    core = (table.x0.between(-0.5, 0) & table.x1.between(0.5, 1.3)).to_numpy()
    wrong = errors(table, (table.x1.between(0.5, 1.7).to_numpy(), 0.14), (core, 0.3), seed=8)
    first, *others = slices(table, wrong).slices
    assert first.features == ("x0", "x1")
    # That of x0 alone is the shadow of the first, and only repeats it.
    (wider,) = others
    assert wider.excess > first.excess
    assert (wider.features, wider.rank) == (("x1",), first.nested_under)


def test_nearly_everything_is_no_place_to_look():
    """Excess over the rest prefers 80 % of the rows with a lift of 1.16 to a small slice with 61 % errors."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.random(6000), "b": rng.random(6000), "job": rng.choice(list("xyz"), 6000)})
    small = table.b.between(0.4, 0.46).to_numpy() & (table.a >= 0.2).to_numpy()
    chance = np.where(table.a < 0.2, 0.03, 0.16)
    result = slices(table, rng.random(6000) < np.where(small, 0.61, chance))
    first = result.slices[0]
    assert (first.features[-1], first.share < 0.1, first.complement) == ("b", True, None)
    (large,) = [each for each in result.slices if each.features == ("a",)]
    assert large.share > 0.75
    assert (large.complement[:6], large.rank) == ("a < 0.", len(result.slices))
    assert "Errors are rarer where a < 0." in str(result)
    assert result.to_frame()["complement"].iloc[-1] == large.complement


@pytest.mark.parametrize(
    ("column", "wrong", "complement"),
    [
        ("job", lambda table: table.job != "x", "job = x"),
        ("a", lambda table: table.a <= 0.7, "a > 0."),
        ("gaps", lambda table: table.gaps >= 0.3, "gaps < 0.3"),
    ],
)
def test_the_complement_of_most_rows(column, wrong, complement):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.random(3000), "gaps": rng.random(3000), "job": rng.choice(list("xyzu"), 3000)})
    table["gaps"] = table["gaps"].where(rng.random(3000) > 0.1)
    result = slices(table[[column]], (rng.random(3000) < 0.3) & wrong(table).to_numpy(), max_features=1)
    assert result.slices[0].complement.startswith(complement)
    assert result.slices[0].complement.endswith("or missing") == (column == "gaps")


def test_increasing_transforms_and_the_order_of_columns_change_nothing(planted):
    table, wrong, _, result = planted
    other = table.assign(x0=np.exp(table.x0), x1=table.x1**3, x2=table.x2 * 1e9 - 5, age=table.age / 7)
    moved = slices(other, wrong)
    shuffled = slices(table[list(table.columns[::-1])], wrong)
    pd.testing.assert_frame_equal(shuffled.tested, result.tested)
    assert not slices(table, wrong, random_state=1).tested.equals(result.tested)
    assert len(moved.slices) == len(shuffled.slices) == len(result.slices)
    for place in range(len(result.slices)):
        np.testing.assert_array_equal(moved.rows(place), result.rows(place))
        np.testing.assert_array_equal(shuffled.rows(place), result.rows(place))
    assert str(shuffled) == str(result)


def test_wrong_may_be_a_column_numbers_or_a_series():
    table = noise(2000)
    wrong = errors(table, (table.vip, 0.5))
    expected = str(slices(table, wrong))
    assert str(slices(table.assign(bad=wrong), "bad")) == expected
    assert str(slices(table, wrong.astype(int))) == expected
    assert str(slices(table, wrong.tolist())) == expected
    shifted = table.set_axis(range(5, 2005))
    assert str(slices(shifted, pd.Series(wrong, index=shifted.index, dtype="boolean"))) == expected
    with pytest.raises(InputError, match="another index"):
        slices(shifted, pd.Series(wrong))


@pytest.mark.parametrize("third", ["x3", "job"])
def test_a_box_of_three_columns_is_found_as_one(third):
    table = noise(6000)
    inside = ((table.x1 > 0.3) & (table.x2 < 0) & (table.x3 > 0 if third == "x3" else table.job == "nurse")).to_numpy()
    result = slices(table, errors(table, (inside, 0.5)))
    assert [each.features for each in result.slices] == [tuple(sorted(("x1", "x2", third)))]
    assert overlap(result.rows(0), inside) > 0.7
    assert sorted(result.to_frame().loc[0, ["feature", "other_feature", "third_feature"]]) == sorted(
        ("x1", "x2", third)
    )


def test_options_are_kept(planted):
    table, wrong, _, _ = planted
    assert {len(each.features) for each in slices(table, wrong, max_features=1).slices} == {1}
    few = slices(table, wrong, columns=["x0", "vip"])
    assert few.columns == ("vip", "x0")
    assert [each.features for each in few.slices] == [("x0",)]
    large = slices(table, wrong, min_size=2000)
    assert all(each.size >= 2000 for each in large.slices)
    assert "more stand out" in str(slices(table, wrong, top=1))
    assert slices(table, wrong, level=0.8).slices[0].rate.level == 0.8


@pytest.mark.slow
def test_many_columns_are_screened_and_it_is_said():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(1000, 500))).rename(columns=lambda name: f"c{name}")
    result = slices(table, errors(table, (table.c234 > 1, 0.6)))
    assert result.slices[0].features == ("c234",)
    assert "among 30 of 500 columns" in str(result)


def test_nothing_wrong_is_said():
    result = slices(noise(100), np.zeros(100, dtype=bool))
    assert (result.slices, len(result.to_frame()), "value" in result.to_frame()) == ((), 0, True)
    assert str(result) == "Nothing to find: none of 100 rows is wrong."
    json.dumps(result.to_dict(), allow_nan=False)


def test_a_no_says_what_would_have_been_found():
    """A twentieth of 2,000 rows: k of 100 errors there, 200 in all, is enough, and k − 1 is not."""
    result = slices(noise(2000), np.arange(2000) % 10 == 0)
    k = round(100 * result.visible)
    tables = ([[more, 100 - more], [200 - more, 1700 + more]] for more in (k - 1, k))
    less, enough = (stats.chi2_contingency(each, correction=False, lambda_=0).statistic for each in tables)
    assert less < 60 <= enough
    assert f"error rate of about {result.visible:.2f} would have been found" in str(result)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
@pytest.mark.parametrize("n_wrong", [1, 2])
def test_small_tables_have_an_answer(n, n_wrong):
    wrong = np.arange(n) < min(n_wrong, n - 1)
    result = slices(pd.DataFrame({"a": range(n), "b": list("xy" * n)[:n]}), wrong)
    assert "too few errors" in str(result)
    assert result.n_errors == wrong.sum()


def test_columns_that_cannot_be_searched_are_named():
    table = noise(300).assign(same=1, identifier=[f"row {i}" for i in range(300)], nothing=np.nan)
    result = slices(table, errors(table))
    assert "all rows have the same value: nothing, same" in str(result)
    assert "no value has 20 rows: identifier" in str(result)
    assert not {"same", "identifier", "nothing"} & set(result.columns)


def test_infinite_huge_and_hostile_values():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=2000), "stamp": 2**60 + rng.integers(0, 1000, 2000)})
    table.loc[:299, "x"] = np.inf
    table.loc[300:350, "x"] = -np.inf
    table["a\nb <script>"] = rng.choice(["<b>1</b>\n", "\x00", ""], 2000)
    result = slices(table, errors(table, (table.x == np.inf, 0.7)))
    assert "\n" not in str(result)
    np.testing.assert_array_equal(result.rows(0), table.x == np.inf)
    json.dumps(result.to_dict(), allow_nan=False)


TABLE = noise(60)
MISTAKES = {
    "is True in all 60 rows": (TABLE, np.ones(60, dtype=bool), {}),
    "contains 'yes', 'no'; expected True or False": (TABLE, ["yes", "no"] * 30, {}),
    "contains 0.5": (TABLE, np.full(60, 0.5), {}),
    r"missing in 2 of 60 rows \(row 1, 4": (TABLE, [None, True, False, None] + [True] * 56, {}),
    "has 59 entries but `table` has 60 rows": (TABLE, np.ones(59, dtype=bool), {}),
    "they must match": (TABLE, np.ones((60, 2), dtype=bool), {}),
    "Did you mean vip": (TABLE, "vpi", {}),
    "no column 'agee'. Did you mean age": (TABLE, "vip", {"columns": ["agee"]}),
    "a list of names": (TABLE, "vip", {"columns": "age"}),
    "`columns` is empty": (TABLE, "vip", {"columns": []}),
    "marks the errors": (TABLE, "vip", {"columns": ["vip", "age"]}),
    "0 rows": (TABLE.iloc[:0], [], {}),
    "expected a DataFrame": ([[1]], [True], {}),
    "same value in all rows": (pd.DataFrame({"a": [1] * 10}), [True, False] * 5, {}),
    "columns with the same name": (pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), [True, False] * 2, {}),
    "`min_size` is 61 but the table has 60 rows": (TABLE, "vip", {"min_size": 61}),
    "`min_size` is 0": (TABLE, "vip", {"min_size": 0}),
    "`q` is 5": (TABLE, "vip", {"q": 5}),
    "`max_features` is 4": (TABLE, "vip", {"max_features": 4}),
    "`top` is 0": (TABLE, "vip", {"top": 0}),
    "`groups` has 2 values": (TABLE, "vip", {"groups": [1, 2]}),
    "contains list values": (pd.DataFrame({"a": [[1], [2]] * 30}), [True, False] * 30, {}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_get_a_sentence(message):
    table, wrong, options = MISTAKES[message]
    with pytest.raises(InputError, match=message):
        slices(table, wrong, **options)


def of_customers(seed, n_customers=60, rows=10):
    """Customers with their own error rates, which have nothing to do with their region."""
    rng = np.random.default_rng(seed)
    customer = np.repeat(np.arange(n_customers), rows)
    table = pd.DataFrame({"region": rng.integers(6, size=n_customers)[customer], "noise": rng.random(customer.size)})
    return table, rng.random(customer.size) < rng.beta(0.3, 0.7, n_customers)[customer], customer


def test_rows_of_one_customer_are_no_finding():
    found = {False: 0, True: 0}
    for seed in range(25):
        table, wrong, customer = of_customers(seed)
        for grouped in (False, True):
            found[grouped] += bool(slices(table, wrong, groups=customer if grouped else None).slices)
    assert found[True] <= 4  # 5 % of 25, and some
    assert found[False] > 2 * max(found[True], 2)


def test_slices_by_group_find_what_is_there():
    table, _, customer = of_customers(0, 200)
    wrong = np.random.default_rng(1).random(len(table)) < np.where(table["region"] < 2, 0.6, 0.1)
    found = slices(table, wrong, groups=customer)
    assert found.slices[0].features == ("region",)
    assert found.slices[0].rate.kind == "of a proportion, over groups, rows not searched"
    assert found.error_rate.kind == "of a proportion, over groups"


def by_column(table, wrong, **options):
    return slices(table, wrong, by_column=True, **options).by_column


def test_the_table_by_column_counts_all_slices_tested_of_a_column():
    """The best of several is found by chance more often than one."""
    rng = np.random.default_rng(3)
    table, wrong = pd.DataFrame({"x": rng.random(1500)}), rng.random(1500) < 0.4
    tested = slices(table, wrong, max_features=1).tested
    assert len(tested) > 1
    (line,) = by_column(table.assign(one=1), wrong).to_dict("records")
    assert by_column(table, np.zeros(1500, dtype=bool)).empty
    assert line["q_value"] == pytest.approx(tested["q_value"].min())
    assert line["q_value"] > line["p_value"]
    # A column whose slice has no more errors than the rest is left out.
    shown = by_column(pd.DataFrame(rng.random((300, 12)), columns=list("abcdefghijkl")), wrong[:300])
    assert 0 < len(shown) < 12
    assert (shown["error_rate"] > shown["rest_rate"]).all()
