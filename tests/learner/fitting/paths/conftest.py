"""Exact paths are compared bit for bit: on one thread, as workers run."""

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield
