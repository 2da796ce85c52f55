"""Values as text: ranges include their end, decades are decades, and nothing is run."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay import InputError
from classay.cli.commands.sweep import values_from_text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:200:5", list(range(1, 197, 5))),
        ("1:70:5", list(range(1, 67, 5))),
        ("1:4", [1, 2, 3, 4]),
        ("1:11:5", [1, 6, 11]),
        ("5:1:-2", [5, 3, 1]),
        ("0.1:0.7:0.1", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
        ("0:1:0.5", [0.0, 0.5, 1.0]),
        ("1e-3:1e3:log7", [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]),
        ("1:100:log3", [1, 10, 100]),
        ("1:3:log5", [1, 2, 3]),
        ("0.1,1,10", [0.1, 1, 10]),
        (" 5 , None,true", [5, None, True]),
        ("linear,'rbf'", ["linear", "rbf"]),
        ("7", [7]),
    ],
)
def test_what_texts_stand_for(text, values):
    found = values_from_text(text)
    assert found == values
    assert list(map(type, found)) == list(map(type, values))


@pytest.mark.parametrize(
    "text",
    [
        "", " , ", "1,,2", "a:b:c", "1:2:3:4", "1:10:0", "10:1:1", "1:10:-1", "0:10:log3", "1:10:log", "1:10:log1",
        "1:10:log99999999", "1:1e400:1", "1:nan:1", "inf:2:1", "1:1000000:1", "1:1e-400:log3", "nan,1",
        "1:__import__('os'):1", "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_none(text):
    with pytest.raises(InputError, match="--values"):
        values_from_text(text)


@given(st.integers(-50, 50), st.integers(1, 30), st.integers(0, 40))
def test_whole_ranges_are_pythons_with_the_end(start, step, count):
    stop = start + step * count
    assert values_from_text(f"{start}:{stop}:{step}") == list(range(start, stop + 1, step))


@pytest.mark.slow
@given(st.text(max_size=30))
def test_any_text_gives_values_or_says_why_not(text):
    with contextlib.suppress(InputError):
        assert values_from_text(text)
