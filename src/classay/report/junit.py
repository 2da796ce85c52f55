"""Gates as JUnit XML, which CI services show: one test case a gate."""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

from .gates import Verdict

# All that XML 1.0 cannot hold, not even as an entity.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(verdicts: list[Verdict], suite: str = "classay", seconds: float = 0.0) -> str:
    """JUnit XML: a test case for each gate, with a failure that says what was measured where it failed.

    >>> junit([]).splitlines()[1]
    '<testsuites><testsuite name="classay" tests="0" failures="0" errors="0" skipped="0" time="0.000" /></testsuites>'
    """
    failed = sum(not each.passed for each in verdicts)
    root = xml.Element("testsuites")
    counts = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0", "skipped": "0"}
    block = xml.SubElement(root, "testsuite", {"name": clean(suite), **counts, "time": f"{seconds:.3f}"})
    for each in verdicts:
        case = xml.SubElement(
            block,
            "testcase",
            {"classname": clean(f"classay.{each.of or 'findings'}"), "name": clean(each.gate), "time": "0"},
        )
        if each.passed:
            continue
        failure = xml.SubElement(case, "failure", {"message": clean(each.why), "type": "gate"})
        measured = (
            "" if each.estimate is None else f"\n{each.figure}: {each.estimate}, {each.estimate.kind or 'interval'}"
        )
        failure.text = clean(f"{each.of}: {each.gate}: {each.why}{measured}")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def clean(text: str) -> str:
    """The text without what XML cannot hold.

    >>> clean("a" + chr(0) + "b")
    'a�b'
    """
    return UNWRITABLE.sub("\ufffd", text)
