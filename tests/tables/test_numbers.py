"""Numbers written for people: every format is read back, and one bad cell changes nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay.tables.cells import NumberFormat, cells, number_format, numbers_of
from classay.tables.kinds import read_column


def read(texts, **options):
    """What a column of texts is; its values are `values`."""
    return read_column(pd.Series(texts, dtype=object, name="a"), **options)[1]


def values(texts, **options):
    return read_column(pd.Series(texts, dtype=object, name="a"), **options)[0].tolist()


@pytest.mark.parametrize(
    ("texts", "numbers", "said"),
    [
        (["12%", "3.5 %", "-1%"], [12, 3.5, -1], "in percent"),
        (["$3", "-$4.50", "$1,234.5"], [3, -4.5, 1234.5], r"in \$; commas are thousands"),
        (["3 €", "1.234,50 €", "-2 €"], [3, 1234.5, -2], "in €; points are thousands"),
        (["USD 3", "USD 4.5"], [3, 4.5], "in USD"),
        (["3 EUR", "4e2 EUR"], [3, 400], "in EUR"),
        (["$3", "4"], [3, 4], r"in \$"),
        (["1,234", "12", "1,234,567.5"], [1234, 12, 1234567.5], "commas are thousands"),
        (["1 234", "1\u202f234,5"], [1234, 1234.5], "spaces are thousands"),
        (["1'234.5", "1’234"], [1234.5, 1234], "apostrophes are thousands"),
        (["1,5", "2", "-0,25"], [1.5, 2, -0.25], "commas are decimal"),
        (["1,5", "1,234"], [1.5, 1.234], "commas are decimal$"),
        (["1.234.567", "1.234"], [1234567, 1234], "points are thousands"),
        (["(3)", "(1,234.5)", "4"], [-3, -1234.5, 4], "commas are thousands"),
        (["(4e2)", "1E-3"], [-400, 0.001], "all values are numbers"),
        (["1e5", "-.5", "+5.", "−3"], [1e5, -0.5, 5, -3], "all values are numbers"),
        ([10**22, 1], [1e22, 1], "all values are numbers"),
    ],
)
def test_every_format(texts, numbers, said):
    column = read(texts)
    assert values(texts) == numbers
    assert pd.Series([column.why]).str.contains(said).all(), column.why
    assert column.unparsed == column.missing == 0


@pytest.mark.parametrize("texts", [["1,234", "5,678"], ["$1,234", "$999"]])
def test_three_digits_after_every_comma_are_thousands_and_said_to_be_a_guess(texts):
    assert values(texts)[0] == 1234
    assert "so this is a guess" in read(texts).why
    assert values(texts, decimal_comma=True)[0] == 1.234
    assert "commas are decimal; three digits" in read(texts, decimal_comma=True).why


def test_a_zero_before_the_comma_shows_that_it_is_decimal():
    assert values(["1,234", "0,567"]) == [1.234, 0.567]
    assert "guess" not in read(["1,234", "0,567"]).why


@pytest.mark.parametrize(
    "texts",
    [
        ["0.5", "50%"],
        ["$3", "€4"],
        ["1.5", "1,5"],
        ["2020-01-02x", "7"],
        ["1-2", "3-4"],
        ["12:30", "13:30"],
        ["1,2,3", "4,5,6"],
        ["a", "b"],
        ["--3", "+-4"],
        ["(3", "4)"],
        ["%", "$"],
    ],
)
def test_what_is_not_consistent_stays_text(texts):
    assert values(texts) == texts
    assert read(texts).kind == "category"


def test_the_limit_is_95_percent_of_what_is_not_missing():
    numbers = [str(i) for i in range(95)]
    found = read([*numbers, *("abcde"), *["?"] * 50, *[None] * 50])
    assert (found.kind, found.unparsed, found.missing) == ("number", 5, 105)
    assert found.examples == tuple((96 + place, letter) for place, letter in enumerate("abcde"))
    assert found.why == "95.0 % of the values are numbers; missing is written '?' (50)"
    assert read([*numbers[:94], *("abcdef")]).kind == "category"


@pytest.mark.parametrize("word", ["?", "-", "n/a", "NA", "null", ".", "NULL", "#DIV/0!", "  "])
def test_words_for_missing(word):
    assert np.isnan(values(["1", word, "3"])[1])
    assert read(["1", word, "3"]).unparsed == 0


def test_infinite_numbers_become_missing_and_are_shown():
    for column in (pd.Series(["1"] * 40 + ["2", "inf"], name="a"), pd.Series([1.0] * 40 + [2, np.inf], name="a")):
        numbers, audit = read_column(column)
        assert np.isnan(numbers.iloc[-1])
        assert (audit.unparsed, audit.examples) == (1, ((42, "inf"),))


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["01", "02", "10"], "category"),
        (["00501", "90210", "?"], "category"),
        (["007", *map(str, range(1, 15))], "category"),
        ([*(str(i) for i in range(100)), "012"], "number"),  # one slip of the pen
        (["0", "10", "200"], "number"),
        (["0.5", "00.25"], "number"),
    ],
)
def test_leading_zeros_are_codes(texts, kind):
    assert read(texts).kind == kind


def test_few_letters_in_a_column_of_grades_are_lost_aloud():
    found = read([*"1234" * 24, *"AAAA"])
    assert (found.kind, found.unparsed) == ("number", 4)


def test_long_numbers_that_would_become_one_stay_text():
    assert read([str(10**22 + i) for i in range(9)]).why == "whole numbers too long to differ as numbers are codes"


def written(number, places, style):
    text = f"{number:,.{places}f}"
    marks = {"plain": ("", "."), "thousands": (",", "."), "german": (".", ","), "swiss": ("'", "."), "comma": ("", ",")}
    thousands, decimal = marks[style]
    return text.replace(".", "d").replace(",", thousands).replace("d", decimal)


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=30),
    st.sampled_from(["plain", "thousands", "german", "swiss", "comma"]),
    st.sampled_from(["{}", "{}%", "{} %", "${}", "{} €", "USD {}"]),
    st.randoms(use_true_random=False),
)
def test_numbers_are_read_back(wholes, style, unit, random):
    numbers = [whole / 100 for whole in wholes]  # two places, which show what is decimal
    texts = [unit.format(written(number, 2, style)) for number in numbers]
    found = values(texts)
    assert found == pytest.approx(numbers, rel=1e-15)
    order = list(range(len(texts)))
    random.shuffle(order)
    again = [texts[place] for place in order]
    assert read(again).format == read(texts).format
    assert values(again) == [found[place] for place in order]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=20, max_size=40),
    st.integers(0, 19),
    st.text(st.characters(exclude_characters="\0"), max_size=8)
    | st.sampled_from(["?", "12%", "$3", "1,5", "01", "2020-01-01"]),
)
def test_one_bad_cell_changes_no_other(numbers, place, bad):
    texts = [f"{number:.3f}" for number in numbers]
    clean = values(texts)
    texts[place] = bad
    found = read(texts)
    assert found.kind in ("number", "constant")
    others = [i for i in range(len(texts)) if i != place]
    assert [values(texts)[i] for i in others] == [clean[i] for i in others]
    assert found.unparsed + found.missing <= 2


@given(st.lists(st.text(max_size=12), max_size=30))
def test_any_text_is_read_or_kept(texts):
    found = cells(pd.Series(texts, dtype=object))
    written = number_format(found)
    if written is not None:
        assert numbers_of(found.texts, written).shape == (len(found.texts),)
    assert len(values([text.replace("\0", "") for text in texts])) == len(texts)


def test_plain_numbers_need_no_words():
    assert str(NumberFormat()) == ""


def test_a_minus_sign_in_an_exponent_is_read():
    assert numbers_of(["1e−3", "−2,5E−1"], NumberFormat(decimal=",")).tolist() == [0.001, -0.25]
    assert numbers_of(["1e−3"], NumberFormat()).tolist() == [0.001]
