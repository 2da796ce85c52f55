"""The curves of `classay classes`: from files of scores, and from learners fitted on tables."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from .. import expect
from ..classes.curve.curve import Curve, accuracy_curve
from ..data.text import embed
from ..estimators.spec import learners_from_texts
from ..estimators.trial import Ready, ready
from ..tables.data import Data
from ..tables.read import read_table
from . import console, score_files
from .records import describe

DEFAULT_LEARNERS = ["LinearDiscriminantAnalysis"]


def files_and_tables(sources: list[str]) -> tuple[list[str], list[str]]:
    """Files of scores, and tables."""
    files = [source for source in sources if score_files.holds_scores(source)]
    return files, [source for source in sources if source not in files]


def refuse_stray_options(files: list[str], tables: list[str], truth: str | None, **for_tables: Any) -> None:
    """Refuse options that none of the sources can use: they are likely a mistake."""
    if truth is not None and not files:
        raise expect.InputError(f"--truth is for files of scores, but {expect.shown(tables)} is a table.")
    if truth is not None and len(files) > 1:
        raise expect.InputError(f"--truth is for one file of scores; got {len(files)}. Put `y` into each .npz file.")
    strays = [f"--{name}" for name, value in for_tables.items() if value]
    if strays and not tables:
        raise expect.InputError(
            f"{expect.shown(strays)} is for tables, but {expect.shown(files)} has scores already. Drop the option."
        )


class TextOptions(NamedTuple):
    """The column of texts to embed, if any, with which model, and where to cache the result."""

    column: str | None
    model: str
    cache: Path | None

    def rows(self, learner: Any, table: Data, seed: int) -> tuple[Ready, Any]:
        """A learner and the rows for it: of a table with texts, the texts if it takes them, else embedded ones."""
        if table.text is None:
            return ready(learner, table.X, table.y, seed), table.X
        texts = table.X[[table.text]]
        try:
            tried = ready(learner, texts, table.y, seed)
        except expect.InputError:
            tried = None
        if tried is not None and tried.takes_texts:
            return tried, texts
        return Ready(learner), embed(texts[table.text].fillna("").tolist(), self.model, self.cache)


@dataclass
class CurveSet:
    """Curves by name, and why others failed. A learner that cannot be fitted does not stop the rest."""

    ties: str
    level: float
    marginal: bool | None
    seed: int
    quiet: bool
    curves: dict[str, Curve] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def add_files(self, files: list[str], truth: str | None) -> None:
        """Add the curve of every file."""
        for source in files:
            file = score_files.read(source, truth)
            ranks = file.ranks(self.marginal)
            self.curves[self._free(file.name)] = accuracy_curve(ranks, ties=self.ties, level=self.level)
            rows, classes = ranks.truth.size, ranks.n_classes
            console.say(f"{file.name}: {rows:,} rows, {classes:,} classes.", self.quiet)

    def add_tables(
        self,
        sources: list[str],
        learner_texts: list[str] | None,
        target: str | None,
        text_options: TextOptions,
        test_size: float,
        *,
        drop: list[str] | None,
        retrain: bool,
        workers: int | None,
        allow_import: bool,
    ) -> None:
        """Add the curve of every learner on every table; all tables are read before anything is fitted."""
        if not sources:
            return
        learners = learners_from_texts(learner_texts or DEFAULT_LEARNERS, allow_import)
        tables = [read_table(source, target, text_options.column, drop=drop or ()) for source in sources]
        for table in tables:
            describe(table, self.quiet)
            for learner_name, learner in learners.items():
                name = self._free(learner_name if len(tables) == 1 else f"{table.name}: {learner_name}")
                try:
                    tried, X = text_options.rows(learner, table, self.seed)
                    curve = accuracy_curve(
                        X,
                        table.y,
                        learner=tried.learner,
                        test_size=test_size,
                        ties=self.ties,
                        retrain=retrain,
                        marginal=self.marginal,
                        level=self.level,
                        random_state=self.seed,
                        executor=workers,
                        progress=not self.quiet,
                        name=name,
                    )
                    ranks = replace(curve.ranks, notes=(*curve.ranks.notes, *tried.notes))
                    self.curves[name] = replace(curve, ranks=ranks)
                except expect.InputError as mistake:
                    self.failed[name] = str(mistake)
                except KeyboardInterrupt:
                    if not self.curves:
                        raise console.NothingDone from None
                    self.interrupted = True
                    return
        if not self.curves:
            raise expect.InputError(next(iter(self.failed.values())))

    def _free(self, name: str) -> str:
        """The name, with a number if it is taken."""
        unique, count = name, 1
        while unique in self.curves or unique in self.failed:
            count += 1
            unique = f"{name} ({count})"
        return unique
