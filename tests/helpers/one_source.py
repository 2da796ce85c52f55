"""One source as read, before its rows are checked: tables too small to learn from."""

from __future__ import annotations

from classay.tables.read import Roles, Source, read_source


def read(source, target=None, text=None, groups=None, time=None, weight=None, drop=(), numbers=False) -> Source:
    return read_source(source, Roles(target, text, groups, time, weight, tuple(drop), numbers))
