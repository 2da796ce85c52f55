"""The pytest plugin: `@pytest.mark.classay("accuracy >= 0.9")` and the fixture `classay_report`.

pytest loads this module wherever classay is installed, so it imports nothing of classay, NumPy or pandas until a test
asks for it. Failed gates are failed tests, so `--junitxml` has them without more.
"""

from __future__ import annotations

import inspect
import unittest
from typing import Any

import pytest

MARK = "classay(*gates, report=None): check a report against gates; the report is a file, or what the test returns."


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, so that --strict-markers accepts it."""
    config.addinivalue_line("markers", MARK)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail tests with the mark whose gates would not be checked, as pytest does not call them as functions."""
    function = getattr(item, "obj", None)
    of_unittest = isinstance(getattr(item, "cls", None), type) and issubclass(item.cls, unittest.TestCase)  # type: ignore[attr-defined]
    if item.get_closest_marker("classay") and (of_unittest or inspect.iscoroutinefunction(function)):
        kind = "a method of unittest.TestCase" if of_unittest else "async"
        pytest.fail(f"The test has the mark classay but is {kind}; expected a function of pytest.", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """For tests with marks: check all gates against the report of the mark, or what the test function returns."""
    marks = list(pyfuncitem.iter_markers("classay"))
    if not marks:
        return (yield)
    returned: list[Any] = []
    function = pyfuncitem.obj

    def keep(*args: Any, **keywords: Any) -> None:
        returned.append(function(*args, **keywords))

    pyfuncitem.obj = keep
    try:
        outcome = yield
    finally:
        pyfuncitem.obj = function
    for mark in marks:
        _check(mark, returned[0] if returned else None)
    return outcome


def _check(mark: pytest.Mark, returned: Any) -> None:
    unknown = sorted(set(mark.kwargs) - {"report", "against", "min_effect"})
    if unknown:
        pytest.fail(
            f"pytest.mark.classay has no option {unknown[0]!r}; expected report, against or min_effect.", pytrace=False
        )
    report = mark.kwargs.get("report", returned)
    if report is None:
        pytest.fail(
            "The test has the mark classay but returns no report; expected a report, a characterization or a file.",
            pytrace=False,
        )
    from .report.gates.gates import assert_gates

    more = {name: value for name, value in mark.kwargs.items() if name != "report"}
    try:
        assert_gates(report, *mark.args, **more)
    except AssertionError as failed:
        pytest.fail(str(failed), pytrace=False)


@pytest.fixture
def assert_gates() -> Any:
    """`classay.assert_gates`, as a fixture."""
    from .report.gates.gates import assert_gates as check

    return check
