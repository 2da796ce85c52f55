"""Accuracy with more classes than were observed, with an interval, or the statement that it is not identified.

Read `extrapolate` first: the results, the two verbs, the intervals and the back-test. `methods` has the ways to
continue a curve, each a function of evidence and sizes, and the family of curves that most of them fit.
"""

from .extrapolate import extrapolate, extrapolation

__all__ = ["extrapolate", "extrapolation"]
