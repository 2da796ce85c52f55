"""`classay classes`: accuracy for every number of classes, seen or foreseen, and the information in the scores."""

from __future__ import annotations

import typer

from .. import expect
from . import console, options

EXAMPLES = """
**Examples**

    classay classes scores.npz --k 1000 10000

    classay classes resnet.npz vit.npz --k 10000 --charts charts/

    classay classes letter.csv --learner "LinearDiscriminantAnalysis()" --k 100

    classay classes digits --learner GaussianNB --learner LogisticRegression --retrain

    classay classes scores.npy --truth labels.txt --marginal --json

An .npz has `scores` (rows, classes), the higher the likelier, and `y`, the true class of each row as column number, or
as name if `classes` has the names of the columns: np.savez(path, scores=scores, y=y). Several sources are compared.
"""


def command(
    sources: list[str] = typer.Argument(
        ...,
        metavar="SOURCE",
        help="Files of scores (.npz, .npy with --truth, saved ranks), or a table on which learners are fitted: a "
        "built-in name (iris, wine, breast_cancer, digits), a file (CSV, TSV, gz, Parquet, ARFF) or openml:NAME.",
    ),
    k: list[str] = typer.Option(
        None, "--k", "-k", help="Numbers of classes to foresee: --k 1000 10000, or with commas, or --k again."
    ),
    truth: str = typer.Option(None, help="True classes of scores without `y`: an .npy, or a text with one a line."),
    marginal: bool = typer.Option(
        None,
        "--marginal/--not-marginal",
        help="Whether each class was scored without regard to which others there are. Of most learners it is known.",
    ),
    learner: options.Learners = None,
    target: options.Target = None,
    text: options.Text = None,
    model: options.TextModel = "wordllama",
    cache: options.TextCache = None,
    test_size: float = typer.Option(0.5, help="Share of the rows of each class that are scored, not fitted."),
    retrain: bool = typer.Option(False, "--retrain", help="Fit learners anew on fewer classes, and compare."),
    ties: str = typer.Option("random", help="A tie with the true class counts as random, wrong or right."),
    method: str = typer.Option("auto", help="How to extrapolate. auto: what measured best."),
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    charts: options.Charts = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    allow_import: options.AllowImport = False,
    debug: options.Debug = False,
) -> None:
    """Tell the accuracy with every number of classes, with more of them than there are, and the information in it."""
    from ..classes.decoders import decoders
    from ..classes.evidence import TIES
    from ..classes.extrapolate import METHODS, extrapolation
    from . import classes_view as view
    from .curves import Curves

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
    information = {name: view.information(curve, level) for name, curve in curves.items()}
    if as_json:
        console.write_json(view.as_json(curves, ahead, information, compared, made.failed, made.interrupted))
    else:
        view.show(curves, ahead, information, compared)
    for name, why in made.failed.items():
        console.error(f"{name} gave no figures. {why}")
    if charts is not None:
        for path in view.save_charts(charts, curves, ahead, information, compared):
            console.say(f"Saved {path}", quiet)
    if made.interrupted:
        console.error("Interrupted: the figures above are of what was done by then.")
    if made.failed or made.interrupted:
        raise typer.Exit(console.PARTIAL)


def sorted_out(given: list[str], k: list[str]) -> tuple[list[str], list[int]]:
    """Sources, and sizes: what stands after --k, and whole numbers among the sources that are no file.

    An option takes one value only, so that in `--k 1000 10000` the second number arrives as a source.
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
            f"{expect.shown(given)} is a number of classes, and there is nothing to foresee it from. Name a file of "
            "scores, or a table, first."
        )
    sizes = []
    for word in words:
        if not _is_whole(word) or int(word.replace("_", "")) < 2:
            raise expect.InputError(
                f"--k is {word!r}; numbers of classes of at least 2 are expected, such as --k 1000 10000."
            )
        sizes.append(int(word.replace("_", "")))
    return sources, sorted(set(sizes))


def _is_whole(word: str) -> bool:
    return word.strip().replace("_", "").isdecimal()
