"""How figures look on the terminal."""

from __future__ import annotations

from classay.cli import console
from classay.intervals import Estimate


def test_what_rounds_to_0_has_no_sign():
    assert console.figure(Estimate(-0.0001, -0.0002, 0.5), 3) == "0.000\n[0.000, 0.500]"
