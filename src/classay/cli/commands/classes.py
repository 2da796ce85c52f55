"""`classay classes`: accuracy for any number of classes, measured or extrapolated, and information in the scores."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import typer

from ... import __version__, charts, expect
from ...classes.curve.curve import Curve, accuracy_curve
from ...classes.extrapolate.extrapolate import Extrapolation, extrapolate
from ...classes.extrapolate.methods import METHODS
from ...classes.information.information import Decoders, Information
from ...classes.information.information import information as measure_information
from ...classes.ranks.evidence import PRIORS, TIES
from .. import console, options
from ..class_questions import Questions, reply, show
from ..class_questions import as_json as as_json_of
from ..curve_sources import CurveSet, TextOptions, files_and_tables, refuse_stray_options

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

MOST_DIGITS = 18
"""Of a number of classes."""


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
        help="Whether the score of a class is independent of the other classes. Known for most learners.",
    ),
    learner: options.Learners = None,
    target: options.Target = None,
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    drop: options.Drop = None,
    test_size: float = typer.Option(0.5, help="Share of the rows of each class used for scoring, not for fitting."),
    retrain: bool = typer.Option(False, "--retrain", help="Also refit learners on fewer classes, and compare."),
    ties: str = typer.Option("random", help="How a tie with the true class counts: random, wrong or right."),
    method: str = typer.Option("auto", help="Extrapolation method. auto: the method that did best in our benchmarks."),
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
    prior: str = typer.Option(None, help="How often each class is the true one: rows or zipf. Default: equally often."),
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
    sources, sizes = split_sizes(sources, k or [])
    expect.one_of(ties, "ties", TIES)
    expect.one_of(method, "method", ("auto", *METHODS))
    expect.fraction(level, "level")
    expect.fraction(test_size, "test_size")
    if prior is not None:
        expect.one_of(prior, "prior", PRIORS)
    questions = Questions(top, at_least or [], keep, crossing, sizes, method, level, seed)
    console.writable_folder(charts, "--charts")
    files, tables = files_and_tables(sources)
    refuse_stray_options(files, tables, truth, learner=learner, target=target, text=text, drop=drop, retrain=retrain)
    curve_set = CurveSet(ties=ties, level=level, marginal=marginal, seed=seed, quiet=quiet)
    curve_set.add_files(files, truth)
    curve_set.add_tables(
        tables,
        learner,
        target,
        TextOptions(text, model, cache),
        test_size,
        drop=drop,
        retrain=retrain,
        workers=workers,
        allow_import=allow_import,
    )
    curves, failed, interrupted = curve_set.curves, curve_set.failed, curve_set.interrupted
    if prior is not None:
        curves = {name: weighted(curve, prior) for name, curve in curves.items()}
    if crossing and len(curves) < 2:
        raise expect.InputError("--crossing compares sources, and there is one. Name at least two.")
    replies = reply(questions, curves)
    extrapolations: dict[str, Extrapolation] = {}
    if sizes:
        for name, curve in curves.items():
            extrapolations[name] = extrapolate(curve, sizes, method, seed)
    # Bounds hold for classes of equal weight, so with a prior there is no table of decoders.
    comparison = measure_information(curves, 1 - level) if len(curves) > 1 and prior is None else None
    information = {name: measure_information(curve, 1 - level) for name, curve in curves.items()}
    if as_json:
        written = _as_json(curves, extrapolations, information, comparison, failed, interrupted)
        console.write_json(written | ({"questions": as_json_of(replies)} if questions.any else {}))
    else:
        show(replies, questions)
        _show(curves, extrapolations, information, comparison)
    console.report_failures(failed)
    if charts is not None:
        drawn = _draw(curves, extrapolations, information, comparison)
        shown = enumerate(replies.distributions.values(), start=1)
        drawn |= {f"distribution {number}": each.plot() for number, each in shown}
        drawn |= {f"crossing {number}": each.plot() for number, each in enumerate(replies.crossings, start=1)}
        console.save_charts(charts, drawn, quiet)
    console.exit_if_partial(failed, interrupted)


def weighted(curve: Curve, prior: str) -> Curve:
    """The curve with classes weighted by a prior."""
    return accuracy_curve(curve.ranks.with_prior(prior), ties=curve.ties, level=curve.level)


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


def _show(
    curves: dict[str, Curve],
    extrapolations: dict[str, Extrapolation],
    information: dict[str, Information],
    comparison: Decoders | None,
) -> None:
    out = console.out()
    if comparison is not None:
        out.print(str(comparison), markup=False)
        out.print()
        out.print(_decoder_table(comparison, extrapolations))
        out.print()
    for name, curve in curves.items():
        out.print(str(curve), markup=False)
        out.print()
        if name in extrapolations:
            # The curve has printed its own notes already.
            notes = tuple(note for note in extrapolations[name].notes if note not in curve.ranks.notes)
            out.print(str(replace(extrapolations[name], notes=notes)), markup=False)
            out.print()
        if comparison is None:
            out.print(str(information[name]), markup=False)
            out.print()
            out.print(_size_table(curve, extrapolations.get(name)))


def _size_table(curve: Curve, beyond: Extrapolation | None) -> Any:
    """Accuracy by number of classes, observed and extrapolated, and the estimate of each method."""
    observed = curve.n_classes
    figures = {k: curve.at(k) for k in {*(k for k in SHOWN if k < observed), observed}}
    columns, caption = ["classes", "accuracy", "interval", "chance"], ""
    by_others: dict[int, list[str]] = {}
    if beyond is not None:
        figures |= dict(zip(beyond.k, beyond.estimates))
        caption = f"Up to {observed:,}: observed, the exact average over all label sets."
        if max(beyond.k) > observed:
            others = [method for method in beyond.by_method if method != beyond.method]
            columns += [f"by {method.replace('_', ' ')}" for method in others]
            caption += f" Above: extrapolated by the method {beyond.method}, with other methods beside it."
            for place, k in enumerate(beyond.k):
                by_others[k] = [f"{beyond.by_method[method][place]:.3f}" if k > observed else "" for method in others]
    empty = [""] * (len(columns) - 4)
    rows = [
        [f"{k:,}", *console.figure(each, 3).split("\n"), f"{1 / k:.2g}", *by_others.get(k, empty)]
        for k, each in sorted(figures.items())
    ]
    return console.table(f"{curve.ranks.name}: accuracy by number of classes", columns, rows, caption)


def _decoder_table(comparison: Decoders, extrapolations: dict[str, Extrapolation]) -> Any:
    sizes = sorted({k for each in extrapolations.values() for k in each.k})
    columns = ["decoder", "implied bits", "at least\nbits", "Fano\nbits", "classes", "accuracy"]
    in_common = any(each.n_classes != comparison.k for each in comparison.decoders)
    columns += [f"with\n{comparison.k:,}"] if in_common else []
    rows = []
    for each in comparison.decoders:
        row = [
            each.name + (" >" if each.told_apart else ""),
            console.figure(each.information.implied),
            f"{each.information.bound.low:.2f}",
            f"{each.information.fano.low:.2f}",
            f"{each.n_classes:,}",
            console.figure(each.accuracy, 3),
        ]
        row += [console.figure(each.accuracy_in_common, 3)] if in_common else []
        for k in sizes:
            beyond = extrapolations[each.name]
            row.append(console.figure(beyond.estimates[beyond.k.index(k)], 3))
        rows.append(row)
    return console.table(
        "Decoders, most information first",
        [*columns, *(f"forecast\nfor {k:,}" for k in sizes)],
        rows,
        "A > after a name: clearly ahead of the next. At least: guaranteed, for any classes. Fano: for these classes.",
    )


def _as_json(
    curves: dict[str, Curve],
    extrapolations: dict[str, Extrapolation],
    information: dict[str, Information],
    comparison: Decoders | None,
    failed: dict[str, str],
    interrupted: bool,
) -> dict[str, Any]:
    return {
        "classay": __version__,
        "sources": {
            name: {
                "curve": curve.to_dict(),
                "extrapolation": extrapolations[name].to_dict() if name in extrapolations else None,
                "information": information[name].to_dict(),
            }
            for name, curve in curves.items()
        },
        "decoders": None if comparison is None else comparison.to_dict(),
        "failed": failed,
        "interrupted": interrupted,
    }


def _draw(
    curves: dict[str, Curve],
    extrapolations: dict[str, Extrapolation],
    information: dict[str, Information],
    comparison: Decoders | None,
) -> dict[str, Any]:
    """One source: its curve and its information. Several: all curves in one chart, and the decoders in order."""
    if len(curves) > 1:
        paths = {name: list(zip(each.path_k, each.path)) for name, each in extrapolations.items()}
        drawn = {"curves": charts.curves_chart(curves, paths)}
        return drawn if comparison is None else drawn | {"decoders": charts.decoders_chart(comparison)}
    name, curve = next(iter(curves.items()))
    return {
        "curve": extrapolations[name].plot() if name in extrapolations else curve.plot(),
        "information": information[name].plot(),
    }
