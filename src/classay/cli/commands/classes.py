"""`classay classes`: accuracy for any number of classes, measured or extrapolated, and information in the scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ... import expect
from ...tables.read import read_table
from .. import console, options, score_files

if TYPE_CHECKING:
    from ...classes.curve.curve import Curve
    from ...classes.extrapolate.extrapolate import Extrapolation
    from ...classes.information.decoders import Decoders
    from ...classes.information.information import Information
    from ...tables.read import Table

EXAMPLES = """
**Examples**

    classay classes scores.npz --k 1000 10000

    classay classes resnet.npz vit.npz --k 10000 --charts charts/

    classay classes letter.csv --learner "LinearDiscriminantAnalysis()" --k 100

    classay classes digits --learner GaussianNB --learner LogisticRegression --retrain

    classay classes scores.npy --truth labels.txt --marginal --json

An .npz file has `scores` (rows, classes), higher for likelier classes, and `y`, the true class of each row: a column
number, or a name if `classes` has the column names. Write it with np.savez(path, scores=scores, y=y). Several sources
are compared.
"""


def command(
    sources: list[str] = typer.Argument(
        ...,
        metavar="SOURCE",
        help="Files of scores (.npz, .npy with --truth, saved ranks), or a table to fit learners on: a "
        "built-in name (iris, wine, breast_cancer, digits), a file (CSV, TSV, gz, Parquet, ARFF) or openml:NAME.",
    ),
    k: list[str] = typer.Option(
        None, "--k", "-k", help="Numbers of classes to extrapolate to: --k 1000 10000, or with commas, or repeat --k."
    ),
    truth: str = typer.Option(
        None, help="True classes, for scores without `y`: an .npy file, or a text file with one per line."
    ),
    marginal: bool = typer.Option(
        None,
        "--marginal/--not-marginal",
        help="Whether the score of a class is independent of which other classes there are. Known for most learners.",
    ),
    learner: options.Learners = None,
    target: options.Target = None,
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    test_size: float = typer.Option(0.5, help="Share of the rows of each class used for scoring, not for fitting."),
    retrain: bool = typer.Option(False, "--retrain", help="Also refit learners on fewer classes, and compare."),
    ties: str = typer.Option("random", help="How a tie with the true class counts: random, wrong or right."),
    method: str = typer.Option("auto", help="Extrapolation method. auto: the method that did best in our benchmarks."),
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Estimate accuracy for any number of classes, also more than the data have, and the information in the scores."""
    from ...classes.extrapolate.extrapolate import METHODS, extrapolation
    from ...classes.information.decoders import decoders
    from ...classes.ranks.evidence import TIES

    given, sizes = sorted_out(sources, k or [])
    expect.one_of(ties, "ties", TIES)
    expect.one_of(method, "method", METHODS)
    expect.fraction(level, "level")
    expect.fraction(test_size, "test_size")
    if charts is not None:
        console.writable_folder(charts, "--charts")
    made = Curves(ties=ties, level=level, marginal=marginal, kernel=method == "kernel", seed=seed, quiet=quiet)
    files, tables = made.sort(given)
    made.refuse_strays(files, tables, truth, learner=learner, target=target, text=text, retrain=retrain)
    made.from_files(files, truth)
    made.from_tables(
        tables, learner, target, (text, model, cache), test_size, retrain=retrain, workers=workers, trust=allow_import
    )
    curves = made.curves
    ahead = {}
    if sizes:
        for name, curve in curves.items():
            ahead[name] = extrapolation(curve, sizes, method=method, level=level, random_state=seed)
    compared = decoders(curves, alpha=1 - level) if len(curves) > 1 else None
    information = {name: information(curve, level) for name, curve in curves.items()}
    if as_json:
        console.write_json(json_document(curves, ahead, information, compared, made.failed, made.interrupted))
    else:
        show(curves, ahead, information, compared)
    for name, why in made.failed.items():
        console.error(f"{name}: no results. {why}")
    if charts is not None:
        for path in save_charts(charts, curves, ahead, information, compared):
            console.say(f"Saved {path}", quiet)
    if made.interrupted:
        console.error("Interrupted: the results above cover only what had finished.")
    if made.failed or made.interrupted:
        raise typer.Exit(console.PARTIAL)


def sorted_out(given: list[str], k: list[str]) -> tuple[list[str], list[int]]:
    """Sources, and sizes: the values of --k, and integers among the sources that are not files.

    An option takes only one value, so in `--k 1000 10000` the second number arrives as a source.
    """
    from pathlib import Path

    sources: list[str] = []
    words = [part for one in k for part in one.split(",") if part.strip()]
    for each in given:
        parts = [part for part in each.split(",") if part.strip()]
        if parts and all(_is_whole(part) for part in parts) and not Path(each).exists():
            words += parts
        else:
            sources.append(each)
    if not sources:
        raise expect.InputError(
            f"{expect.shown(given)} is a number of classes, but there is nothing to extrapolate from. Name a file of "
            "scores, or a table, first."
        )
    sizes = []
    for word in words:
        if not _is_whole(word) or int(word.replace("_", "")) < 2:
            raise expect.InputError(
                f"--k is {word!r}; expected numbers of classes of at least 2, such as --k 1000 10000."
            )
        sizes.append(int(word.replace("_", "")))
    return sources, sorted(set(sizes))


def _is_whole(word: str) -> bool:
    return word.strip().replace("_", "").isdecimal()


# The output of `classay classes`: text first, then tables; JSON; charts.


CurvesByName = dict[str, "Curve"]
Ahead = dict[str, "Extrapolation"]
Informations = dict[str, "Information"]
SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def information(curve: Curve, level: float) -> Informations:
    """Information estimates of a curve: implied, a lower bound, and a lower bound for these classes."""
    from ...classes.information.information import fano_information, implied_information, information_bound

    # Counting ties as right does not describe a classifier, so there are no bounds.
    bounds = curve.ties != "right"
    return {"implied": implied_information(curve, level=level)} | (
        {"bound": information_bound(curve, alpha=1 - level), "fano": fano_information(curve, level=level)}
        if bounds
        else {}
    )


def show(curves: CurvesByName, ahead: Ahead, informations: dict[str, Informations], compared: Decoders | None) -> None:
    """Print it all."""
    out = console.out()
    if compared is not None:
        out.print(str(compared), markup=False)
        out.print()
        out.print(_decoders(compared, ahead))
        out.print()
    for name, curve in curves.items():
        out.print(str(curve), markup=False)
        out.print()
        if name in ahead:
            # The curve has printed its own notes already.
            fresh = tuple(note for note in ahead[name].notes if note not in curve.ranks.notes)
            out.print(str(replace(ahead[name], notes=fresh)), markup=False)
            out.print()
        if compared is None:
            out.print(" ".join(str(each) for each in informations[name].values()), markup=False)
            out.print()
            out.print(_sizes(curve, ahead.get(name)))


def _sizes(curve: Curve, ahead: Extrapolation | None) -> Any:
    """Accuracy by number of classes, observed and extrapolated, and the estimate of each method."""
    here = curve.n_classes
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < here), here}}
    columns, caption = ["classes", "accuracy", "interval", "chance"], ""
    beside: dict[int, list[str]] = {}
    if ahead is not None:
        figures |= dict(zip(ahead.k, ahead.estimates))
        caption = f"Up to {here:,}: observed, the exact average over all label sets."
        if max(ahead.k) > here:
            ways = [way for way in ahead.by_method if way != ahead.method]
            columns += [f"by {way.replace('_', ' ')}" for way in ways]
            caption += f" Above: extrapolated by the method {ahead.method}, with other methods beside it."
            for place, k in enumerate(ahead.k):
                beside[k] = [f"{ahead.by_method[way][place]:.3f}" if k > here else "" for way in ways]
    empty = [""] * (len(columns) - 4)
    rows = [
        [f"{k:,}", *console.figure(each, 3).split("\n"), f"{1 / k:.2g}", *beside.get(k, empty)]
        for k, each in sorted(figures.items())
    ]
    return console.table(f"{curve.ranks.name}: accuracy by number of classes", columns, rows, caption)


def _decoders(compared: Decoders, ahead: Ahead) -> Any:
    sizes = sorted({k for each in ahead.values() for k in each.k})
    columns = ["decoder", "implied bits", "at least\nbits", "Fano\nbits", "classes", "accuracy"]
    columns += [f"with\n{compared.k:,}"] if any(each.n_classes != compared.k for each in compared.decoders) else []
    rows = []
    for each in compared.decoders:
        row = [
            each.name + (" >" if each.told_apart else ""),
            console.figure(each.implied.bits),
            f"{each.bound.bits.low:.2f}",
            f"{each.fano.bits.low:.2f}",
            f"{each.n_classes:,}",
            console.figure(each.accuracy, 3),
        ]
        row += [console.figure(each.accuracy_in_common, 3)] if len(columns) > len(row) else []
        row += [console.figure(ahead[each.name].estimates[ahead[each.name].k.index(k)], 3) for k in sizes]
        rows.append(row)
    return console.table(
        "Decoders, most information first",
        [*columns, *(f"forecast\nfor {k:,}" for k in sizes)],
        rows,
        "A > after a name: clearly ahead of the next. At least: guaranteed, for any classes. Fano: for these classes.",
    )


def json_document(
    curves: CurvesByName,
    ahead: Ahead,
    informations: dict[str, Informations],
    compared: Decoders | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    """Everything as JSON values."""
    from ... import __version__

    return {
        "classay": __version__,
        "sources": {
            name: {
                "curve": curve.to_dict(),
                "extrapolation": ahead[name].to_dict() if name in ahead else None,
                "information": {kind: each.to_dict() for kind, each in informations[name].items()},
            }
            for name, curve in curves.items()
        },
        "decoders": None if compared is None else compared.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def save_charts(
    folder: Path, curves: CurvesByName, ahead: Ahead, informations: dict[str, Informations], compared: Decoders | None
) -> list[Path]:
    """One source: its curve and its information. Several: all curves in one chart, and the decoders in order."""
    from ... import charts

    if compared is not None:
        paths = {name: list(zip(each.path_k, each.path)) for name, each in ahead.items()}
        drawn: dict[str, Any] = {
            "curves": charts.curves_chart(curves, paths),
            "decoders": charts.decoders_chart(compared),
        }
    else:
        name = next(iter(curves))
        drawn = {
            "curve": ahead[name].plot() if name in ahead else curves[name].plot(),
            "information": charts.information_chart(*informations[name].values()),
        }
    return [
        charts.save(chart, folder / f"{name}.{suffix}") for name, chart in drawn.items() for suffix in ("svg", "png")
    ]


# The curves of `classay classes`: from files of scores, and from learners fitted on tables.


USUAL = ["LinearDiscriminantAnalysis"]
"""The default learner."""


@dataclass
class Curves:
    """Curves by name, and why others failed. A learner that cannot be fitted does not stop the rest."""

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
        """Refuse options that none of the sources can use: they are likely a mistake."""
        if truth is not None and not files:
            raise expect.InputError(f"--truth is for files of scores, but {expect.shown(tables)} is a table.")
        if truth is not None and len(files) > 1:
            raise expect.InputError(
                f"--truth is for one file of scores; got {len(files)}. Put `y` into each .npz file."
            )
        strays = [f"--{name}" for name, value in for_tables.items() if value]
        if strays and not tables:
            raise expect.InputError(
                f"{expect.shown(strays)} is for tables, but {expect.shown(files)} has scores already. Drop the option."
            )

    def from_files(self, files: list[str], truth: str | None) -> None:
        """Add the curve of every file."""
        from ...classes.curve.curve import accuracy_curve

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
        """Add the curve of every learner on every table; all tables are read before anything is fitted."""
        from ...estimators.spec import learners_from_texts
        from ..options import tell

        if not sources:
            return
        learners = learners_from_texts(texts or USUAL, trust)
        read = [read_table(source, target, embedding[0]) for source in sources]
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
        from ...classes.curve.learner_curve import curve_of_learner
        from ...estimators.encoder import encoded

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
        from ...data.text import embed

        return embed(table.X[text].tolist(), model, cache)

    def _free(self, name: str) -> str:
        """The name, with a number if it is taken."""
        unique, count = name, 1
        while unique in self.curves or unique in self.failed:
            count += 1
            unique = f"{name} ({count})"
        return unique
