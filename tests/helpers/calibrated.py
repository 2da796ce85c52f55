"""Calibrations of dataless figures as they are, and as they would be if figures were informative."""

from dataclasses import replace


def usual(calibration, family="MLP"):
    """Figures in the middle of the calibration."""
    figures = {term.figure: term.centre for fit in (calibration.by_order, calibration.by_level) for term in fit.terms}
    return figures | dict(zip(calibration.figures, calibration.centres[family]))


def informative(calibration, **changes):
    """The same calibration, if it had shown more."""
    orders = tuple(replace(each, low=0.85, right=0.9, worst=0.8) for each in calibration.orders)
    known = {"across": (0.7, 0.6, 0.8), "error": 0.1, "constant_error": 0.2, "worth": 8.0, "orders": orders}
    return replace(calibration, **known, factors={"share": 0.9, "steps": 0.8}, **changes)
