"""The curves that `classay classes` is asked about: from files of scores, and from learners fitted on tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import expect
from . import console, score_files

if TYPE_CHECKING:
    from ..classes.curve import Curve
    from ..tables import Table

USUAL = ["LinearDiscriminantAnalysis"]
"""The learner, where none is named."""


@dataclass
class Curves:
    """Curves by name, and what became of the others. A learner that cannot be fitted does not stop the rest."""

    ties: str
    level: float
    marginal: bool | None
    kernel: bool
    seed: int
    quiet: bool
    curves: dict[str, Curve] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def sort(self, sources: list[str]) -> tuple[list[str], list[str]]:
        """Files of scores, and tables."""
        files = [source for source in sources if score_files.holds_scores(source)]
        return files, [source for source in sources if source not in files]

    def refuse_strays(self, files: list[str], tables: list[str], truth: str | None, **for_tables: Any) -> None:
        """Refuse options that nothing given has use for: something else was meant."""
        if truth is not None and not files:
            raise expect.InputError(f"--truth is for files of scores, and {expect.shown(tables)} is a table.")
        if truth is not None and len(files) > 1:
            raise expect.InputError(
                f"--truth is for one file of scores; {len(files)} were given. Put `y` into each .npz."
            )
        strays = [f"--{name}" for name, value in for_tables.items() if value]
        if strays and not tables:
            raise expect.InputError(
                f"{expect.shown(strays)} is for tables, and {expect.shown(files)} holds scores already. Leave it out."
            )

    def from_files(self, files: list[str], truth: str | None) -> None:
        """Add the curve of every file."""
        from ..classes.curve import accuracy_curve

        for source in files:
            found = score_files.read(source, truth)
            ranks = found.ranks(self.marginal, self.kernel)
            self.curves[self._free(found.name)] = accuracy_curve(ranks, ties=self.ties, level=self.level)
            rows, classes = ranks.truth.size, ranks.n_classes
            console.say(f"{found.name}: {rows:,} rows, {classes:,} classes.", self.quiet)

    def from_tables(
        self,
        sources: list[str],
        texts: list[str] | None,
        target: str | None,
        embedding: tuple[str | None, str, Path | None],
        test_size: float,
        *,
        retrain: bool,
        workers: int | None,
        trust: bool,
    ) -> None:
        """Add the curve of every learner on every table; nothing is fitted before all were read."""
        from .. import tables
        from ..learner.named import learners_from_texts
        from .recording import tell

        if not sources:
            return
        learners = learners_from_texts(texts or USUAL, trust)
        read = [tables.read(source, target, embedding[0]) for source in sources]
        for table in read:
            tell(table, self.quiet)
            X = self._rows(table, embedding)
            for name, learner in learners.items():
                called = self._free(name if len(read) == 1 else f"{table.name}: {name}")
                try:
                    self.curves[called] = self._fitted(called, learner, X, table.y, test_size, retrain, workers)
                except expect.InputError as mistake:
                    self.failed[called] = str(mistake)
                except KeyboardInterrupt:
                    if not self.curves:
                        raise console.NothingDone from None
                    self.interrupted = True
                    return
        if not self.curves:
            raise expect.InputError(next(iter(self.failed.values())))

    def _fitted(
        self, name: str, learner: Any, X: Any, y: Any, test_size: float, retrain: bool, workers: int | None
    ) -> Curve:
        from ..classes.learner_curve import curve_of_learner
        from ..encoding import encoded

        return curve_of_learner(
            encoded(learner, X),
            X,
            y,
            test_size=test_size,
            ties=self.ties,
            retrain=retrain,
            marginal=self.marginal,
            kernel=self.kernel,
            level=self.level,
            random_state=self.seed,
            executor=workers,
            progress=not self.quiet,
            name=name,
        )

    def _rows(self, table: Table, embedding: tuple[str | None, str, Path | None]) -> Any:
        text, model, cache = embedding
        if text is None:
            return table.X
        from ..data.text import embed

        return embed(table.X[text].tolist(), model, cache)

    def _free(self, name: str) -> str:
        """The name, with a number if it is taken."""
        unique, count = name, 1
        while unique in self.curves or unique in self.failed:
            count += 1
            unique = f"{name} ({count})"
        return unique
