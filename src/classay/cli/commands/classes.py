"""`classay classes`: accuracy for any number of classes, measured or extrapolated, and information in the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ... import charts as drawing
from ... import expect
from ...classes.curve.curve import Curve, accuracy_curve
from ...classes.extrapolate.extrapolate import Extrapolation, extrapolate
from ...classes.extrapolate.methods import METHODS
from ...classes.extrapolate.u_distribution import UDistribution, count_text
from ...classes.information.information import Decoders, information
from ...classes.ranks.evidence import PRIORS
from ...data.text import embed
from ...estimators.spec import learners_from_texts
from ...estimators.trial import Ready, ready
from ...tables.data import Data
from ...tables.read import read_table
from .. import options
from ..inputs import holds_scores, ranks_of
from ..runner import Outcome, cell, measure_each, rows_table, worded_table

SHOWN = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
DEFAULT_LEARNERS = ["LinearDiscriminantAnalysis"]
MOST_DIGITS = 18
"""Of a number of classes."""
Reply = dict[str, Any]
"""What is known of one source: its curve, its information, and what was asked of it."""


def command(
    columns: options.Columns,
    learners: options.Learners,
    output: options.Charts,
    sources: list[str],
    k: list[str] | None = None,
    truth: str | None = None,
    top: int | None = None,
    at_least: list[float] | None = None,
    keep: bool = False,
    retrain: bool = False,
    method: str = "auto",
    prior: str | None = None,
    ties: str = "random",
    marginal: bool | None = None,
    test_size: float = 0.5,
    model: str = "wordllama",
    cache: Path | None = None,
    level: float = 0.95,
    seed: int = 0,
    workers: int | None = None,
) -> Outcome:
    """Estimate accuracy for more classes than the data have, and the information in the scores."""
    sizes = sizes_of(k)
    files = [source for source in sources if holds_scores(source)]
    tables = [source for source in sources if source not in files]
    strays = {"learner": learners.learner, "retrain": retrain, **vars(columns)}
    _refuse_stray_options(files, tables, truth, [f"--{name}" for name, value in strays.items() if value])
    _refuse_early(method, prior, top, at_least or [], keep, sizes)
    settings = {"ties": ties, "level": level, "prior": prior}
    makers: dict[str, Callable[[], Curve]] = {}
    for source in files:
        makers[_free(Path(source).stem, makers)] = partial(_of_scores, source, truth, marginal, settings, output)
    named = learners_from_texts(learners.learner or DEFAULT_LEARNERS, learners.allow_import) if tables else {}
    settings |= {"test_size": test_size, "retrain": retrain, "marginal": marginal, "random_state": seed}
    settings |= {"executor": workers, "progress": not output.quiet}
    # All tables are read before anything is fitted.
    for table in [read_table(source, columns.target, columns.text, drop=columns.drop or ()) for source in tables]:
        options.describe(table, output.quiet)
        for learner_name, learner in named.items():
            name = _free(learner_name if len(tables) == 1 else f"{table.name}: {learner_name}", makers)
            makers[name] = partial(_of_learner, learner, table, model, cache, {**settings, "name": name})
    done = measure_each(makers, lambda _, make: make())
    curves: dict[str, Curve] = done.results
    distributions: dict[str, UDistribution] = {}
    if top is not None or at_least or keep:
        distributions = {name: curve.u_distribution(method, seed) for name, curve in curves.items()}
    replies: dict[str, Reply] = {}
    for name, curve in curves.items():
        u = distributions.get(name)
        replies[name] = {
            "curve": curve,
            "information": information(curve, 1 - level),
            "extrapolation": extrapolate(curve, sizes, method, seed) if sizes else None,
            "top": {size: u.top(top, size) for size in sizes} if u and top is not None else {},
            "largest": {least: u.largest(least) for least in at_least} if u and at_least else {},
            "nested": [u.nested(size) for size in sizes if size > curve.n_classes] if u and keep else [],
        }
    # Bounds hold for classes of equal weight, so with a prior there is no table of decoders.
    comparison = information(curves, 1 - level) if len(curves) > 1 and prior is None else None
    return Outcome(
        {"sources": replies, "decoders": comparison},
        data={"sources": sources},
        settings={"k": sizes},
        text=_text(replies, comparison, top),
        charts=lambda: _draw(replies, comparison, distributions),
        failed=done.failed,
        interrupted=done.interrupted,
    )


def sizes_of(texts: list[str] | None) -> list[int]:
    """Numbers of classes in order, as --k has them, such as 1_000,50."""
    sizes = set()
    for text in (part for value in texts or () for part in value.split(",") if part.strip()):
        digits = text.strip().replace("_", "")
        if not digits.isdecimal() or len(digits) > MOST_DIGITS or int(digits) < 2:
            raise expect.InputError(
                f"--k is {text[:80]!r}; expected numbers of classes of at least 2 and at most {MOST_DIGITS} digits, "
                "such as --k 1000 10000."
            )
        sizes.add(int(digits))
    return sorted(sizes)


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


def _refuse_early(
    method: str, prior: str | None, top: int | None, at_least: list[float], keep: bool, sizes: list[int]
) -> None:
    """Refuse questions that cannot be decided, before anything is fitted."""
    expect.one_of(method, "method", ("auto", *METHODS))
    if prior is not None:
        expect.one_of(prior, "prior", PRIORS)
    if top is not None:
        expect.whole(top, "--top", at_least=1)
    for least in at_least:
        expect.fraction(least, "--at-least")
    if (keep or top is not None) and not sizes:
        name = "--keep" if keep else "--top"
        raise expect.InputError(f"{name} needs numbers of classes: add --k 1000, for example.")


def _free(name: str, taken: dict[str, Any]) -> str:
    """The name, with a number if it is taken."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name} ({count})"
    return unique


def _of_scores(
    source: str, truth: str | None, marginal: bool | None, settings: dict[str, Any], output: options.Output
) -> Curve:
    ranks = ranks_of(source, truth, marginal)
    output.say(f"{Path(source).stem}: {ranks.truth.size:,} rows, {ranks.n_classes:,} classes.")
    return accuracy_curve(ranks, ties=settings["ties"], level=settings["level"], prior=settings["prior"])


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


def _text(replies: dict[str, Reply], comparison: Decoders | None, top: int | None) -> Iterator[Any]:
    for name, reply in replies.items():
        if reply["top"]:
            shares = "; ".join(f"{_share(share)} with {size:,}" for size, share in reply["top"].items())
            yield f"{name}: the true class is among the first {top}: {shares}."
        if reply["largest"]:
            sizes = (f"up to {count_text(size)} classes with accuracy {x:g}" for x, size in reply["largest"].items())
            yield f"{name}: {'; '.join(sizes)} or more."
        yield from map(str, reply["nested"])
    if comparison is not None:
        yield str(comparison)
        yield _decoder_table(comparison, replies)
    for reply in replies.values():
        curve, beyond = reply["curve"], reply["extrapolation"]
        yield str(curve)
        if beyond is not None:
            # The curve has printed its own notes already.
            yield str(replace(beyond, notes=tuple(note for note in beyond.notes if note not in curve.ranks.notes)))
        if comparison is None:
            yield str(reply["information"])
            yield size_table(f"{curve.ranks.name}: accuracy by number of classes", curve, beyond)


def _share(estimate: Any) -> str:
    return str(estimate) if estimate.known else f"not identified [{estimate.low:.3g}, {estimate.high:.3g}]"


def size_table(title: str, curve: Curve, beyond: Extrapolation | None) -> Any:
    """Accuracy by number of classes, observed and extrapolated, and the estimate of each method."""
    observed = curve.n_classes
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < observed), observed}}
    headings, caption = {"k": "classes", "accuracy": "accuracy", "chance": "chance"}, ""
    others: dict[str, dict[int, float]] = {}
    if beyond is not None:
        figures |= dict(zip(beyond.k, beyond.estimates))
        caption = f"Up to {observed:,}: observed, the exact average over all label sets."
        if max(beyond.k) > observed:
            others = {name: dict(zip(beyond.k, values)) for name, values in beyond.by_method.items()}
            others.pop(beyond.method, None)
            headings |= {method: f"by {method.replace('_', ' ')}" for method in others}
            caption += f" Above: extrapolated by the method {beyond.method}, with other methods beside it."
    rows = [
        {"k": f"{k:,}", "accuracy": cell(estimate).replace("\n", " "), "chance": f"{1 / k:.2g}"}
        | {method: by_size.get(k) for method, by_size in others.items() if k > observed}
        for k, estimate in sorted(figures.items())
    ]
    return rows_table(title, rows, headings, caption, most=len(rows))


def _decoder_table(comparison: Decoders, replies: dict[str, Reply]) -> Any:
    rows: dict[str, dict[Any, Any]] = {}
    sizes: dict[Any, str] = {}
    for decoder in comparison.decoders:
        bits, beyond = decoder.information, replies[decoder.name]["extrapolation"]
        forecasts = {} if beyond is None else dict(zip(beyond.k, beyond.estimates))
        sizes |= {k: f"forecast for {k:,}" for k in forecasts}
        rows[decoder.name + (" >" if decoder.told_apart else "")] = {
            "implied": bits.implied, "bound": bits.bound.low, "fano": bits.fano.low,
            "classes": f"{decoder.n_classes:,}", "accuracy": decoder.accuracy,
            "common": decoder.accuracy_in_common if decoder.n_classes != comparison.k else None, **forecasts,
        }  # fmt: skip
    return worded_table("decoders", rows, sizes, result=comparison)


def _draw(
    replies: dict[str, Reply], comparison: Decoders | None, distributions: dict[str, UDistribution]
) -> dict[str, Any]:
    """One source: its curve and its information. Several: all curves in one chart, and the decoders in order."""
    charts: dict[str, Any] = {}
    if len(replies) > 1:
        beyond = {name: reply["extrapolation"] for name, reply in replies.items() if reply["extrapolation"]}
        paths = {name: list(zip(ahead.path_k, ahead.path)) for name, ahead in beyond.items()}
        charts["curves"] = drawing.curves_chart({name: reply["curve"] for name, reply in replies.items()}, paths)
        charts |= {} if comparison is None else {"decoders": comparison.plot()}
    else:
        (reply,) = replies.values()
        charts["curve"] = (reply["extrapolation"] or reply["curve"]).plot()
        charts["information"] = reply["information"].plot()
    charts |= {f"distribution {number}": u.plot() for number, u in enumerate(distributions.values(), start=1)}
    return charts
