"""One source as read, before its rows are checked: tables too small to learn from."""

from __future__ import annotations

import pytest

from classay.expect import InputError
from classay.tables.read import Roles, Source, read_source, read_table


def read(source, target=None, text=None, groups=None, time=None, weight=None, drop=(), numbers=False) -> Source:
    return read_source(source, Roles(target, text, groups, time, weight, tuple(drop), numbers))


def refused(source, message, **options):
    """Whether a source is refused with such a message."""
    with pytest.raises(InputError, match=message):
        (read_table if "test" in options else read)(source, **options)
