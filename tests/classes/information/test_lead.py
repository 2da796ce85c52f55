"""Accuracy from the lead of the true class, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import classay
from classay.expect import InputError


def test_without_a_lead_it_is_guessing():
    np.testing.assert_allclose(classay.accuracy_from_lead(0.0, [2, 10, 1000]), [0.5, 0.1, 0.001])


@given(st.floats(-2, 8), st.integers(2, 10**6))
def test_the_one_is_the_inverse_of_the_other(lead, k):
    accuracy = classay.accuracy_from_lead(lead, k)
    if 1e-10 < accuracy < 1 - 1e-9:
        assert classay.lead_from_accuracy(accuracy, k) == pytest.approx(lead, abs=1e-4)


def test_bad_input():
    with pytest.raises(InputError, match="from 0 to 1"):
        classay.lead_from_accuracy(1.5, 10)
    with pytest.raises(InputError, match="from 1 up"):
        classay.accuracy_from_lead(1.0, 0)
