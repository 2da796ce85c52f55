import math

import pytest

from classay.intervals import Estimate, exact
from classay.report.document.glossary import TERMS
from classay.report.document.phrases import number, printed


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (0.93651, "share", "0.937"),
        (0.0004, "share", "<0.001"),
        (-0.0004, "share", "0.000"),
        (-0.25, "number", "−0.250"),
        (1234.5, "seconds", "1,234"),
        (0.456, "bits", "0.46"),
        (12345, "count", "12,345"),
        (2.5, "count", "2.5"),
        (0.5, "figure", "0.500"),
        (math.inf, "number", "∞"),
        (-math.inf, "number", "−∞"),
    ],
)
def test_a_number_prints_by_its_form(value, form, text):
    assert number(value, form) == text


@pytest.mark.parametrize(
    ("estimate", "text", "interval"),
    [
        (Estimate(0.5, 0.4, 0.6), "0.500", "0.400 to 0.600"),
        (exact(0.5), "0.500", ""),
        (Estimate(math.nan, 0.1, 0.9), "unknown", "0.100 to 0.900"),
        (Estimate(0.5, -math.inf, 0.9), "0.500", "at most 0.900"),
        (Estimate(0.5, 0.1, math.inf), "0.500", "at least 0.100"),
        (Estimate(0.5, -math.inf, math.inf), "0.500", ""),
    ],
)
def test_an_estimate_prints_with_what_is_known_of_its_interval(estimate, text, interval):
    shown = printed(estimate, TERMS["accuracy"])
    assert (shown.text, shown.interval) == (text, interval)
    assert shown.about == ("95% interval" if interval else "")
    assert shown.number


def test_cells_of_users_print_as_they_are():
    assert printed(2026).text == "2026"
    assert printed(0.1234567).text == "0.123457"
    assert printed(122.84, ours=True).text == "123"
    assert printed(0.3845, ours=True).text == "0.385"
    assert printed(1.0, ours=True).text == "1"  # a label that is a number
    assert printed(True).text == "yes"
    assert printed("a <b> c").text == "a <b> c"
    for nothing in (None, math.nan):
        assert printed(nothing).text == "–"
        assert math.isnan(printed(nothing).order)
