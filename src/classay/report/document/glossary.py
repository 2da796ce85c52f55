"""The meaning of every figure of a report, in one sentence, with its range and direction: the table `glossary.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Term:
    """A figure: its label, its meaning, its range and direction, its number format, and the page that explains it.

    `form` is share (0 to 1), bits, seconds, count or number; `subject` is whose figure it is, or "" for a column of a
    table and for metrics; `better` is high, low, or "" where neither is better.
    """

    label: str
    meaning: str
    range: str
    form: str
    page: str
    subject: str = ""
    better: str = ""


TERMS: dict[str, Term] = {
    name: Term(**entry)
    for name, entry in tomllib.loads(files(__package__).joinpath("glossary.toml").read_text(encoding="utf-8")).items()
}
SUBJECTS = ("learner", "data", "classes", "network")
"""What a figure of a report can be of."""


def term_of(figure: str) -> Term:
    """The meaning of a figure: of the glossary, or of a scorer of scikit-learn.

    >>> term_of("f1_macro").label
    'f1 macro'
    """
    if figure in TERMS:
        return TERMS[figure]
    meaning = f"The scorer {figure} of scikit-learn, cross-validated."
    return Term(figure.replace("_", " "), meaning, "higher is better", "number", "report")


def figures_by_subject() -> dict[str, tuple[str, ...]]:
    """The figures that a gate can name, by subject."""
    return {subject: tuple(name for name, term in TERMS.items() if term.subject == subject) for subject in SUBJECTS}
