"""For fuzz tests: how many examples, what may be raised, and how a file is altered.

`CLASSAY_FUZZ` multiplies the number of examples; `make long` sets it. Examples are the same in every run with the same
version of hypothesis, so that a failure can be repeated.
"""

import os
import signal
import warnings
from contextlib import contextmanager

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from classay.expect import InputError

EFFORT = int(os.environ.get("CLASSAY_FUZZ", "1"))
HANG = 120
"""Seconds after which something that takes milliseconds counts as hanging, however busy the machine is."""


class Hangs(BaseException):
    """It did not end. Not an `Exception`, so that nothing swallows it."""


def examples(count):
    """Settings of hypothesis: so many examples, times the effort, always the same ones."""
    return settings(
        max_examples=count * EFFORT,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def ends():
    """Raise if the block does not end."""

    def ring(number, frame):
        raise Hangs(f"it did not end within {HANG} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def accepts_or_refuses(call, *arguments):
    """Call it: a result, or None if it is refused as wrong input. Anything else is raised: a fault of ours."""
    with warnings.catch_warnings(), ends():
        warnings.simplefilter("ignore")
        try:
            return call(*arguments)
        except InputError:
            return None


# Altered files: a few changes at random places


PLACES = st.floats(0, 1, exclude_max=True)
SPANS = st.integers(1, 64)
ODD_BYTES = st.sampled_from(
    [b"\0", b"\xff" * 8, b"\x7f\xff\xff\xff", b"\n", b"-1", b"9" * 30, b"nan", b"{", b'"', b"\xed\xa0\x80"]
)
CHANGES = st.lists(
    st.tuples(st.sampled_from(["flip", "cut", "drop", "twice", "insert", "overwrite"]), PLACES, SPANS, ODD_BYTES),
    min_size=1,
    max_size=4,
)
"""What is done to a file: the kind of change, where, how much, and with which bytes."""


def altered(content, changes):
    """The bytes after these changes.

    >>> altered(b"abcdef", [("drop", 0.5, 2, b""), ("insert", 0, 1, b"-")])
    b'-abcf'
    """
    for kind, share, span, odd in changes:
        place = int(share * (len(content) + 1))
        before, part, after = content[:place], content[place : place + span], content[place + span :]
        if kind == "flip" and part:
            part = bytes([part[0] ^ (1 << span % 8)]) + part[1:]
        content = {
            "flip": before + part + after,
            "cut": before,
            "drop": before + after,
            "twice": before + part + part + after,
            "insert": before + odd + part + after,
            "overwrite": before + odd + content[place + len(odd) :],
        }[kind]
    return content
