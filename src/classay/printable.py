"""One sanitizer for every line that is printed, so that a label or a name cannot control a terminal or forge a line.

Text of users and of their libraries may contain anything: escape sequences, line breaks, characters that reverse the
direction of what follows. They are replaced one by one, so that the length of a text does not change.
"""

from __future__ import annotations

import re

SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
"""Tabs and everything that begins a line somewhere."""
DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Marks, embeddings, overrides and isolates that change the direction of text."""
UNSEEN = "\ufffd"
PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
"""The visible pictures that Unicode has for control characters."""
_LINE = str.maketrans(
    {
        **{chr(code): picture for code, picture in PICTURES.items()},
        **dict.fromkeys(map(chr, range(0x80, 0xA0)), UNSEEN),
        **dict.fromkeys(DIRECTIONS, UNSEEN),
        **dict.fromkeys(SPACES, " "),
    }
)
_LINES = {code: character for code, character in _LINE.items() if code != ord("\n")}
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSAFE_IN_JSON = re.compile(f"[\x7f-\x9f{DIRECTIONS}\u2028\u2029]")


def printable(text: str, keep_lines: bool = False) -> str:
    r"""The text without control characters and changes of direction; on one line unless `keep_lines`.

    >>> printable("red\x1b[31m\nclassay: done"), printable("one\ntwo\x07", keep_lines=True)
    ('red␛[31m classay: done', 'one\ntwo␇')
    """
    return _SURROGATES.sub(UNSEEN, text.translate(_LINES if keep_lines else _LINE))


def printable_json(text: str) -> str:
    r"""JSON with the same content in which control characters and changes of direction are escapes.

    >>> printable_json('"a\u202eb"')
    '"a\\u202eb"'
    """
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
