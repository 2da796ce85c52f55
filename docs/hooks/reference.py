"""Pages of the reference: every public name of classay, by room, from its docstring."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from docstrings import markdown, signature

import classay
from classay import results
from classay.result import Result

ROOMS = {
    "report": ("The report", "Everything at once, on one page."),
    "learner": ("Learners", "What refits predicted, and what that shows about the learner."),
    "data": ("Data", "How hard rows are, what a classifier must beat, and where errors concentrate."),
    "classes": ("Label sets", "Accuracy with other numbers of classes, and information."),
    "network": ("Networks", "What architecture and weights show. Running a network needs the extra `network`."),
    "": ("Shared", "What all parts use."),
}
"""Room -> title and what it is about. The room of a name is where it is defined."""


def public() -> dict[str, Any]:
    """Every public name: verbs and what users construct, then the classes of results."""
    top = {name: getattr(classay, name) for name in classay.__all__ if name not in {"__version__", "results"}}
    return top | {name: getattr(results, name) for name in results.__all__}


def names() -> dict[str, list[str]]:
    """Room -> public names, verbs first, then what they return."""
    found: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name, thing in public().items():
        room = thing.__module__.split(".")[1]
        found[room if room in ROOMS else ""].append(name)
    return {room: sorted(each, key=lambda name: (name[0].isupper(), name.lower())) for room, each in found.items()}


def page(room: str) -> str:
    """One page: each name with how it is called and what its docstring says."""
    title, about = ROOMS[room]
    parts = [f"# {title}", about] + [entry(name, public()[name]) for name in names()[room]]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The first page of the reference: all names with the first sentence of each."""
    lines = [
        "# Reference",
        "Results share four methods: `str()` is one paragraph, `to_frame()` a tidy table, `to_dict()` plain JSON "
        "values, `plot()` an Altair chart. Figures are `Estimate`s: a value with an interval.",
    ]
    for room, found in names().items():
        if found:
            rows = [f"| [`{name}`]({file(room)}#{name}) | {first(public()[name])} |" for name in found]
            lines.append(f"## {ROOMS[room][0]}\n\n| name | what it is |\n| --- | --- |\n" + "\n".join(rows))
    return "\n\n".join(lines) + "\n"


def file(room: str) -> str:
    """The file of a room's page, within the folder of the reference."""
    return f"{room or 'shared'}.md"


def first(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return markdown(inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")


def entry(name: str, thing: Any) -> str:
    """One public name."""
    head = f"## {name} {{ #{name} }}"
    text = markdown(inspect.getdoc(thing) or "")
    if not inspect.isclass(thing):
        return f"{head}\n\n{_code(signature(f'classay.{name}', thing))}\n\n{text}"
    parts = [head]
    if issubclass(thing, Result) or issubclass(thing, Exception):
        # Users read these, and never make one.
        fields = [each.name for each in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
        parts += [text] + ([f"**Fields**: {', '.join(f'`{each}`' for each in fields)}"] if fields else [])
    else:
        parts += [_code(signature(f"classay.{name}", thing)), text]
    return "\n\n".join(parts + [_member(name, key) for key in _members(thing)])


def _members(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties that classay wrote for this class, without those that all results have."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("classay.") and base is not Result:
            found |= {key: value for key, value in vars(base).items() if not key.startswith("_")}
    wanted = (property, classmethod, staticmethod)
    return [
        (key, value)
        for key, value in found.items()
        if (isinstance(value, wanted) or inspect.isfunction(value)) and inspect.getdoc(getattr(kind, key, value))
    ]


def _member(owner: str, member: tuple[str, Any]) -> str:
    key, value = member
    text = markdown(inspect.getdoc(value) or inspect.getdoc(getattr(public()[owner], key)) or "")
    inner = getattr(value, "__func__", value)
    kind = "" if inspect.isfunction(inner) else "property "
    called = f"{kind}{key}" if kind else signature(key, inner)
    return f"### {key} {{ #{owner}.{key} }}\n\n{_code(called)}\n\n{text}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"
