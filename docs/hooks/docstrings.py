"""Docstrings as Markdown: prose as it is, parameters as a list, examples and formulas kept in their lines."""

from __future__ import annotations

import inspect
import re
from typing import Any

SECTIONS = ("Parameters", "Attributes", "Examples", "References", "Returns", "Notes")
WIDE = 96
"""Characters of a signature that still stand in one line."""


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring by their title; what comes before any title is under ""."""
    pattern = rf"^({'|'.join(SECTIONS)})\n-+$"
    first, *rest = re.split(pattern, text, flags=re.MULTILINE)
    return {"": first.strip(), **{title: part.strip("\n") for title, part in zip(rest[::2], rest[1::2])}}


def safe(text: str) -> str:
    """Prose in which nothing but code and emphasis is read as markup: < and | are written out, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    for place in range(0, len(parts), 2):
        part = parts[place].replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
        part = re.sub(r"(?<=\s)\*(?=\s)|(?<=\w)\*(?=\w)", r"\\*", part)
        parts[place] = re.sub(r"[\[\]_]", lambda found: "\\" + found[0], part)
    return "".join(parts)


def prose(text: str) -> str:
    """Paragraphs, with doctests among them as code."""
    blocks = []
    for block in re.split(r"\n\s*\n", text.strip()):
        doctest = block.lstrip().startswith(">>>")
        blocks.append(f"```pycon\n{inspect.cleandoc(block)}\n```" if doctest else safe(block))
    return "\n\n".join(blocks)


def named(text: str) -> str:
    """Lines `name : what it is`, with their continuations, as a list."""
    entries: list[str] = []
    for line in inspect.cleandoc(text).splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += " " + line.strip()
        elif line.strip():
            entries.append(line.strip())
    lines = []
    for entry in entries:
        name, _, what = entry.partition(" : ")
        names = ", ".join(f"`{each.strip()}`" for each in name.split(","))
        lines.append(f"- {names}: {safe(what)}" if what else f"- {safe(entry)}")
    return "\n".join(lines)


def markdown(text: str) -> str:
    """A whole docstring."""
    parts = sections(inspect.cleandoc(text))
    done = [prose(parts.pop(""))]
    for title, part in parts.items():
        if title in ("Parameters", "Attributes"):
            body = named(part)
        elif title == "Examples":
            body = f"```pycon\n{inspect.cleandoc(part)}\n```"
        else:
            body = prose(part)
        done.append(f"**{title}**\n\n{body}")
    return "\n\n".join(each for each in done if each)


def signature(name: str, thing: Any) -> str:
    """How it is called, one parameter a line where one line would be too long."""
    found = inspect.signature(thing)
    parameters = [each for each in found.parameters.values() if each.name not in ("self", "cls")]
    # Without annotations: the text says what each one is, and does it in words.
    bare = inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
    gives = found.return_annotation
    after = f" -> {gives}" if isinstance(gives, str) and gives != "None" else ""
    line = f"{name}{bare}{after}"
    if len(line) <= WIDE:
        return line
    inside = re.sub(r"^\(|\)$", "", str(bare))
    return f"{name}(\n" + "".join(f"    {each},\n" for each in _apart(inside)) + f"){after}"


def _apart(inside: str) -> list[str]:
    """Parameters of a signature, cut at commas that are not within brackets or quotes."""
    parts, depth, quoted = [""], 0, ""
    for letter in inside:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        depth += (letter in "([{") - (letter in ")]}") if not quoted else 0
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [each.strip() for each in parts if each.strip()]
