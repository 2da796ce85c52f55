"""What is printed: no control characters, no forged lines, no reversed text, wherever it comes from."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classay.printable import printable, printable_json

ANY_TEXT = st.text(st.characters(codec=None))


def is_safe(text, lines=False):
    return all(
        (character == "\n" and lines)
        or (unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") and not is_directional(character))
        for character in text
    )


def is_directional(character):
    return unicodedata.bidirectional(character) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI") or (
        character in "\u200e\u200f\u061c"
    )


@given(ANY_TEXT)
def test_nothing_harmful_is_left_and_the_length_stays(text):
    assert is_safe(printable(text))
    assert is_safe(printable(text, keep_lines=True), lines=True)
    assert len(printable(text)) == len(text)


def test_every_character_there_is():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert is_safe(printable(every))
    assert printable("naïve 日本 עברית ✓ e\u0301 👩\u200d🔬") == "naïve 日本 עברית ✓ e\u0301 👩\u200d🔬"


@given(ANY_TEXT)
def test_json_has_the_same_content(text):
    plain = json.dumps({"label": text}, ensure_ascii=False)
    assert json.loads(printable_json(plain)) == {"label": text}
    assert "\x9b" not in printable_json(plain)
    assert "\u202e" not in printable_json(plain)


@pytest.mark.parametrize("harm", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\x08", "\u202e", "\u2066"])
def test_known_harm(harm):
    assert harm[0] not in printable(f"label {harm} end")
