"""`classay classes`: accuracy for any number of classes, measured or extrapolated, and information in the scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import typer

from ... import charts as drawing
from ... import expect
from ...classes.curve.curve import Curve, accuracy_curve
from ...classes.extrapolate.extrapolate import Extrapolation, extrapolate
from ...classes.extrapolate.methods import METHODS
from ...classes.extrapolate.overtake import Crossing
from ...classes.extrapolate.u_distribution import UDistribution, count_text
from ...classes.information.information import Decoders, Information, information
from ...classes.ranks.evidence import PRIORS, TIES
from ...data.text import embed
from ...estimators.spec import learners_from_texts
from ...estimators.trial import Ready, ready
from ...tables.data import Data
from ...tables.read import read_table
from .. import options
from ..inputs import holds_scores, ranks_of
from ..runner import Outcome, cell, each, figures_table, rows_table

EXAMPLES = """
**Examples**

    classay classes scores.npz --k 1000 10000

    classay classes resnet.npz vit.npz --k 10000 --charts charts/

    classay classes letter.csv --learner "LinearDiscriminantAnalysis()" --k 100

    classay classes digits --learner GaussianNB --learner LogisticRegression --retrain

    classay classes scores.npy --truth labels.txt --marginal --json

    classay classes scores.npz --k 1000 --top 5 --keep --at-least 0.9

    classay classes resnet.npz vit.npz --crossing --prior zipf

An .npz file has `scores` (rows, classes), higher for likelier classes, and `y`, the true class of each row: a column
number, or a name if `classes` has the column names. Write it with np.savez(path, scores=scores, y=y). Several sources
are compared.
"""
SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
DEFAULT_LEARNERS = ["LinearDiscriminantAnalysis"]
MOST_DIGITS = 18
"""Of a number of classes."""
MOST_PAIRS = 10
FAR = 10**6


def command(
    columns: options.Columns,
    learners: options.Learners,
    output: options.Charts,
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
    top: int = typer.Option(None, help="Also estimate how often the true class is among the first M, for each --k."),
    at_least: list[float] = typer.Option(
        None, help="Find the largest number of classes with at least this accuracy, such as 0.9. Repeatable."
    ),
    keep: bool = typer.Option(
        False, "--keep", help="Also estimate the accuracy if these classes are kept and others added."
    ),
    crossing: bool = typer.Option(
        False, "--crossing", help="Find the numbers of classes at which sources have the same accuracy."
    ),
    retrain: bool = typer.Option(False, "--retrain", help="Also refit learners on fewer classes, and compare."),
    method: str = typer.Option("auto", help="Extrapolation method. auto: the method that did best in our benchmarks."),
    prior: str = typer.Option(None, help="How often each class is the true one: rows or zipf. Default: equally often."),
    ties: str = typer.Option("random", help="How a tie with the true class counts: random, wrong or right."),
    marginal: bool = typer.Option(
        None,
        "--marginal/--not-marginal",
        help="Whether the score of a class is independent of the other classes. Known for most learners.",
    ),
    test_size: float = typer.Option(0.5, help="Share of the rows of each class used for scoring, not for fitting."),
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    workers: options.Workers = None,
) -> Outcome:
    """Estimate accuracy for any number of classes, also more than the data have, and the information in the scores."""
    sources, sizes = split_sizes(sources, k or [])
    questions = Questions(top, at_least or [], keep, crossing, sizes, method, level, seed)
    expect.one_of(ties, "ties", TIES)
    expect.fraction(test_size, "test_size")
    if prior is not None:
        expect.one_of(prior, "prior", PRIORS)
    files = [source for source in sources if holds_scores(source)]
    tables = [source for source in sources if source not in files]
    strays = {"learner": learners.learner, "retrain": retrain, **vars(columns)}
    _refuse_stray_options(files, tables, truth, [f"--{name}" for name, value in strays.items() if value])
    makers: dict[str, Callable[[], Curve]] = {}
    for source in files:
        name = _free(Path(source).stem, makers)
        makers[name] = partial(_of_scores, source, truth, marginal, ties, level, output)
    named = learners_from_texts(learners.learner or DEFAULT_LEARNERS, learners.allow_import) if tables else {}
    settings = {
        "test_size": test_size, "ties": ties, "retrain": retrain, "marginal": marginal,
        "level": level, "random_state": seed, "executor": workers, "progress": not output.quiet,
    }  # fmt: skip
    # All tables are read before anything is fitted.
    for table in [read_table(source, columns.target, columns.text, drop=columns.drop or ()) for source in tables]:
        options.describe(table, output.quiet)
        for learner_name, learner in named.items():
            name = _free(learner_name if len(tables) == 1 else f"{table.name}: {learner_name}", makers)
            makers[name] = partial(_of_learner, learner, table, model, cache, {**settings, "name": name})
    if crossing and len(makers) < 2:
        raise expect.InputError("--crossing compares sources, and there is one. Name at least two.")
    done = each(makers, lambda _, make: make())
    curves: dict[str, Curve] = done.results
    if prior is not None:
        curves = {
            name: accuracy_curve(curve.ranks.with_prior(prior), ties=curve.ties, level=curve.level)
            for name, curve in curves.items()
        }
    replies = {name: questions.reply(curve) for name, curve in curves.items()}
    crossings = questions.crossings(replies)
    # Bounds hold for classes of equal weight, so with a prior there is no table of decoders.
    comparison = information(curves, 1 - level) if len(curves) > 1 and prior is None else None
    return Outcome(
        {
            "sources": {name: one.as_json() for name, one in replies.items()},
            "decoders": comparison,
            "crossings": crossings,
        },
        data={"sources": sources},
        settings={"k": sizes},
        text=_text(replies, comparison, crossings, top),
        charts=lambda: _draw(replies, comparison, crossings),
        failed=done.failed,
        interrupted=done.interrupted,
    )


def split_sizes(words: list[str], k: list[str]) -> tuple[list[str], list[int]]:
    """Sources, and sizes: the values of --k, and integers among the sources that are not files.

    An option takes only one value, so in `--k 1000 10000` the second number arrives as a source.
    """
    sources: list[str] = []
    numbers = [part for value in k for part in value.split(",") if part.strip()]
    for word in words:
        parts = [part for part in word.split(",") if part.strip()]
        if parts and all(_is_whole(part) for part in parts) and not os.path.exists(word):
            numbers += parts
        else:
            sources.append(word)
    if not sources:
        raise expect.InputError(
            f"{expect.shown(words)} is a number of classes, but there is nothing to extrapolate from. Name a file of "
            "scores, or a table, first."
        )
    sizes = []
    for number in numbers:
        if not _is_whole(number) or int(number.replace("_", "")) < 2:
            raise expect.InputError(
                f"--k is {number[:80]!r}; expected numbers of classes of at least 2 and at most {MOST_DIGITS} digits, "
                "such as --k 1000 10000."
            )
        sizes.append(int(number.replace("_", "")))
    return sources, sorted(set(sizes))


def _is_whole(word: str) -> bool:
    digits = word.strip().replace("_", "")
    return digits.isdecimal() and len(digits) <= MOST_DIGITS


def _refuse_stray_options(files: list[str], tables: list[str], truth: str | None, strays: list[str]) -> None:
    """Refuse options that none of the sources can use: they are likely a mistake."""
    if truth is not None and not files:
        raise expect.InputError(f"--truth is for files of scores, but {expect.shown(tables)} is a table.")
    if truth is not None and len(files) > 1:
        raise expect.InputError(f"--truth is for one file of scores; got {len(files)}. Put `y` into each .npz file.")
    if strays and not tables:
        raise expect.InputError(
            f"{expect.shown(strays)} is for tables, but {expect.shown(files)} has scores already. Drop the option."
        )


def _free(name: str, taken: dict[str, Any]) -> str:
    """The name, with a number if it is taken."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name} ({count})"
    return unique


def _of_scores(
    source: str, truth: str | None, marginal: bool | None, ties: str, level: float, output: options.Output
) -> Curve:
    ranks = ranks_of(source, truth, marginal)
    output.say(f"{Path(source).stem}: {ranks.truth.size:,} rows, {ranks.n_classes:,} classes.")
    return accuracy_curve(ranks, ties=ties, level=level)


def _of_learner(learner: Any, table: Data, model: str, cache: Path | None, settings: dict[str, Any]) -> Curve:
    """The curve of a learner on a table: of texts, on the texts if it takes them, else on embedded ones."""
    seed = settings["random_state"]
    rows: Any = table.X if table.text is None else table.X[[table.text]]
    try:
        tried = ready(learner, rows, table.y, seed)
    except expect.InputError:
        if table.text is None:
            raise
        tried = Ready(learner)
    if table.text is not None and not tried.takes_texts:
        tried, rows = Ready(learner), embed(rows[table.text].fillna("").tolist(), model, cache)
    curve = accuracy_curve(rows, table.y, learner=tried.learner, **settings)
    return replace(curve, ranks=replace(curve.ranks, notes=(*curve.ranks.notes, *tried.notes)))


@dataclass(frozen=True)
class Reply:
    """What is known of one source: its curve, and what was asked of it."""

    curve: Curve
    information: Information
    extrapolation: Extrapolation | None = None
    distribution: UDistribution | None = None
    top: dict[int, Any] = field(default_factory=dict)
    largest: dict[float, Any] = field(default_factory=dict)
    nested: list[Any] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """All but the distribution of u."""
        return {name: part for name, part in vars(self).items() if name != "distribution"}


@dataclass(frozen=True)
class Questions:
    """What was asked: m of top-m, least accuracies, whether the observed classes are kept, whether to compare pairs."""

    top: int | None
    at_least: list[float]
    keep: bool
    compare: bool
    sizes: list[int]
    method: str
    level: float
    seed: int

    def __post_init__(self) -> None:
        """Refuse questions that cannot be decided, before anything is read."""
        expect.one_of(self.method, "method", ("auto", *METHODS))
        expect.fraction(self.level, "level")
        if self.top is not None:
            expect.whole(self.top, "--top", at_least=1)
        for least in self.at_least:
            expect.fraction(least, "--at-least")
        if (self.keep or self.top is not None) and not self.sizes:
            name = "--keep" if self.keep else "--top"
            raise expect.InputError(f"{name} needs numbers of classes: add --k 1000, for example.")

    @property
    def of_distribution(self) -> bool:
        """Whether anything was asked that needs the distribution of u."""
        return self.top is not None or bool(self.at_least) or self.keep or self.compare

    def reply(self, curve: Curve) -> Reply:
        """Estimate what was asked of a curve."""
        beyond = extrapolate(curve, self.sizes, self.method, self.seed) if self.sizes else None
        reply = Reply(curve, information(curve, 1 - self.level), beyond)
        if not self.of_distribution:
            return reply
        u = curve.u_distribution(self.method, self.seed)
        return replace(
            reply,
            distribution=u,
            top={} if self.top is None else {k: u.top(self.top, k) for k in self.sizes},
            largest={least: u.largest(least) for least in self.at_least},
            nested=[u.nested(k) for k in self.sizes if k > curve.n_classes] if self.keep else [],
        )

    def crossings(self, replies: dict[str, Reply]) -> list[Crossing]:
        """The numbers of classes at which each pair of sources has the same accuracy."""
        if not self.compare:
            return []
        distributions = [reply.distribution for reply in replies.values() if reply.distribution is not None]
        most = max([FAR, *self.sizes])
        pairs = list(combinations(distributions, 2))[:MOST_PAIRS]
        return [first.crossing(second, most) for first, second in pairs]


def _text(
    replies: dict[str, Reply], comparison: Decoders | None, crossings: list[Crossing], top: int | None
) -> Iterator[Any]:
    for name, reply in replies.items():
        if reply.top:
            shares = "; ".join(f"{_share(share)} with {k:,}" for k, share in reply.top.items())
            yield f"{name}: the true class is among the first {top}: {shares}."
        if reply.largest:
            sizes = (f"up to {count_text(size)} classes with accuracy {x:g}" for x, size in reply.largest.items())
            yield f"{name}: {'; '.join(sizes)} or more."
        yield from map(str, reply.nested)
    yield from map(str, crossings)
    if comparison is not None:
        yield str(comparison)
        yield _decoder_table(comparison, replies)
    for reply in replies.values():
        yield str(reply.curve)
        if reply.extrapolation is not None:
            # The curve has printed its own notes already.
            notes = tuple(note for note in reply.extrapolation.notes if note not in reply.curve.ranks.notes)
            yield str(replace(reply.extrapolation, notes=notes))
        if comparison is None:
            yield str(reply.information)
            yield size_table(
                f"{reply.curve.ranks.name}: accuracy by number of classes", reply.curve, reply.extrapolation
            )


def _share(estimate: Any) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"


def size_table(title: str, curve: Curve, beyond: Extrapolation | None) -> Any:
    """Accuracy by number of classes, observed and extrapolated, and the estimate of each method."""
    observed = curve.n_classes
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < observed), observed}}
    headings, caption = {"k": "classes", "accuracy": "accuracy", "chance": "chance"}, ""
    by_others: dict[int, dict[str, float]] = {}
    if beyond is not None:
        figures |= dict(zip(beyond.k, beyond.estimates))
        caption = f"Up to {observed:,}: observed, the exact average over all label sets."
        if max(beyond.k) > observed:
            others = [method for method in beyond.by_method if method != beyond.method]
            headings |= {method: f"by {method.replace('_', ' ')}" for method in others}
            caption += f" Above: extrapolated by the method {beyond.method}, with other methods beside it."
            for place, k in enumerate(beyond.k):
                by_others[k] = {method: beyond.by_method[method][place] for method in others} if k > observed else {}
    rows = [
        {"k": f"{k:,}", "accuracy": cell(estimate).replace("\n", " "), "chance": f"{1 / k:.2g}", **by_others.get(k, {})}
        for k, estimate in sorted(figures.items())
    ]
    return rows_table(title, rows, headings, caption, most=len(rows))


def _decoder_table(comparison: Decoders, replies: dict[str, Reply]) -> Any:
    headings: dict[Any, str] = {
        "implied": "implied bits", "bound": "at least\nbits", "fano": "Fano\nbits", "classes": "classes",
        "accuracy": "accuracy", "common": f"with\n{comparison.k:,}",
    }  # fmt: skip
    rows: dict[str, dict[Any, Any]] = {}
    for one in comparison.decoders:
        beyond = replies[one.name].extrapolation
        forecasts = {} if beyond is None else dict(zip(beyond.k, beyond.estimates))
        headings |= {k: f"forecast\nfor {k:,}" for k in forecasts}
        rows[one.name + (" >" if one.told_apart else "")] = {
            "implied": one.information.implied, "bound": one.information.bound.low, "fano": one.information.fano.low,
            "classes": f"{one.n_classes:,}", "accuracy": one.accuracy,
            "common": one.accuracy_in_common if one.n_classes != comparison.k else None, **forecasts,
        }  # fmt: skip
    return figures_table(
        "Decoders, most information first",
        rows,
        headings,
        "A > after a name: clearly ahead of the next. At least: guaranteed, for any classes. Fano: for these classes.",
        "decoder",
    )


def _draw(replies: dict[str, Reply], comparison: Decoders | None, crossings: list[Crossing]) -> dict[str, Any]:
    """One source: its curve and its information. Several: all curves in one chart, and the decoders in order."""
    if len(replies) > 1:
        beyond = {name: reply.extrapolation for name, reply in replies.items() if reply.extrapolation is not None}
        paths = {name: list(zip(one.path_k, one.path)) for name, one in beyond.items()}
        charts: dict[str, Any] = {
            "curves": drawing.curves_chart({name: reply.curve for name, reply in replies.items()}, paths)
        }
        charts |= {} if comparison is None else {"decoders": comparison.plot()}
    else:
        (reply,) = replies.values()
        drawn = reply.curve if reply.extrapolation is None else reply.extrapolation
        charts = {"curve": drawn.plot(), "information": reply.information.plot()}
    distributions = [reply.distribution for reply in replies.values() if reply.distribution is not None]
    charts |= {f"distribution {number}": u.plot() for number, u in enumerate(distributions, start=1)}
    return charts | {f"crossing {number}": pair.plot() for number, pair in enumerate(crossings, start=1)}
