"""`characterize`: everything that classay measures of learners and data, in one call and on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..estimators.adapters import kind_of
from ..expect import InputError, counted, shown
from ..inputs import is_sparse
from ..learner.fitting import checks
from ..result import Result, plain
from .budget import BudgetSettings, seconds_of, time_text
from .document import Cell, Finding, Report, Section, Sheet
from .figures import figures_of
from .findings import findings_of
from .measure import FitSettings, measure
from .results import DataResults, LearnerResults, Results
from .sections.classes_and_networks import classes_section, networks_section
from .sections.data import data_section, slices_section
from .sections.learners import disagreement_section, learners_section

if TYPE_CHECKING:
    import altair as alt

    from ..network.quality.quality import NetworkQuality


@dataclass(frozen=True)
class Assay(Result):
    """Result of `characterize`: `report` is the document, `parts` has the result objects behind it.

    Use `parts.learners["tree"].stability` and the like for further analysis; they are not saved with the report.
    """

    report: Report
    results: InitVar[Results]

    def __post_init__(self, results: Results) -> None:
        object.__setattr__(self, "_parts", results)

    @property
    def parts(self) -> Results:
        """The result objects: `learners`, `complexity`, `kinship`, `classes`, `networks`."""
        parts: Results = self._parts  # type: ignore[attr-defined]
        return parts

    @property
    def learners(self) -> dict[str, LearnerResults]:
        """The results of each learner."""
        return self.parts.learners

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, most important first."""
        return self.report.findings

    def to_frame(self) -> pd.DataFrame:
        """One row per figure: subject, of, figure, value, low, high, level, kind."""
        return self.report.to_frame()

    def plot(self, **options: Any) -> alt.TopLevelMixin:
        """The first chart of the page; `key` names another."""
        return self.report.plot(**options)

    def save(self, path: str | Path, *, force: bool = True) -> Path:
        """Write the report in the format of the suffix: .html (page), .json, or .md (section for a model card)."""
        return self.report.save(path, force=force)

    def __str__(self) -> str:
        return str(self.report)


def characterize(
    learners: Mapping[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    networks: Mapping[str, NetworkQuality] | None = None,
    budget: float | str = 120.0,
    splits: int | None = None,
    repeats: int | None = None,
    size: int | str | None = None,
    n_probes: int | None = None,
    fold_rows: int | str | None = None,
    test_size: float = 0.3,
    random_state: int | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    name: str = "data",
    target: str = "label",
    notes: Sequence[str] = (),
    command: str | None = None,
) -> Assay:
    """Measure what accuracy hides about learners on data: findings in words, then figures, all on one page.

    Each learner is refitted several times on halves of a training part, and predicts the test part and the probes. It
    is also fitted once per cross-validation fold on all other rows. From these predictions come accuracy, stability,
    bias, expressivity, capacity, stochasticity, kinship, slices with many errors, and where refits disagree. From the
    rows alone come complexity, baseline and suspected labels. With 5 classes or more, the report also forecasts the
    accuracy for more classes.

    A finding is a warning only if the intervals support it, at a level at which all warnings of a page together are
    wrong in at most 5 % of pages. When a figure misleads is described in its own docstring.

    The number of refits depends on the budget, and so on the machine. `report.settings` has the numbers that were
    chosen: with these and the same seed, the figures are the same to the last bit.

    Parameters
    ----------
    learners : name -> an unfitted scikit-learn classifier or Pipeline; text and missing values are encoded for it
    X, y : rows (a DataFrame or an array) and labels
    networks : name -> result of `network_quality`, for a section on networks
    budget : target time in seconds, or as in "2m"; it sets the next five parameters unless you do
    splits, repeats : number of splits of the training part into halves, and refits on each half
    size : number of rows to use from each half, or "all"
    n_probes : number of points spread over the columns' ranges, on which refits are compared besides the test part
    fold_rows : number of rows for each of the five cross-validated fits, or "all"
    test_size : share of the rows held out from every refit
    random_state : the seed of all random numbers
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one per core
    store : a folder of records; fits found there are reused
    progress : show stages and progress bars on stderr
    time_limit : time limit for one refit, in seconds
    name, target : names of the data and of the labels, for display
    notes : remarks on the data, for display
    command : the command that made the report, for display; default: this call

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> a = characterize({"bayes": GaussianNB()}, X, y, splits=10, repeats=1, n_probes=200, executor=1, name="iris")
    >>> a.report.figure("bayes", "accuracy").value > 0.9
    True

    """
    seed = seeds.settle(random_state)
    budget_settings = BudgetSettings(
        seconds=seconds_of(budget),
        splits=None if splits is None else expect.whole(splits, "splits", at_least=4),
        repeats=None if repeats is None else expect.whole(repeats, "repeats", at_least=1),
        size=_rows(size, "size"),
        n_probes=None if n_probes is None else expect.whole(n_probes, "n_probes", at_least=1),
        fold_rows=_rows(fold_rows, "fold_rows"),
    )
    fit_settings = FitSettings(
        test_size=expect.fraction(test_size, "test_size"),
        seed=seed,
        executor=executor,
        store=store,
        progress=progress,
        time_limit=time_limit,
    )
    checked = learners_from(learners)
    data = data_from(X, y, name, target, notes)
    results = measure(data, checked, networks or {}, budget_settings, fit_settings, command)
    return Assay(report_of(results), results)


def _rows(rows: int | str | None, name: str) -> int | str | None:
    if rows is None or rows == "all":
        return rows
    return expect.whole(rows, name, at_least=4, why='Or "all".')


# Checks of the arguments of `characterize`, before any fit.


LEAST_ROWS = 40
LEAST_OF_A_CLASS = 4
"""Number of rows that a class needs to be in both halves of the training part and in the test part."""


def data_from(X: Any, y: ArrayLike, name: str, target: str, notes: Sequence[str]) -> DataResults:
    """The rows as a table with class codes, without classes that are too rare."""
    if is_sparse(X):
        raise InputError(
            "`X` is a sparse matrix; expected a DataFrame or array, as a report shows rows and columns. Use "
            "X.toarray() if it fits into memory, or `classay.record`, which accepts sparse matrices."
        )
    rows, labels, more = checks.rows_and_labels(X, y)
    frame = rows if isinstance(rows, pd.DataFrame) else _framed(rows)
    frame = frame.rename(columns=str).reset_index(drop=True)
    if not frame.columns.is_unique:
        twins = frame.columns[frame.columns.duplicated()].unique()
        raise InputError(f"`X` has several columns with the same name ({shown(twins)}). Give each column its own name.")
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    checks.refuse_classes(classes, codes)
    remarks = [*notes, *more]
    rare = counts < LEAST_OF_A_CLASS
    if rare.any():
        kept = ~rare[codes]
        remarks.append(
            f"Dropped: {int(rare.sum())} of {counted(classes.size, 'class', 'classes')} with fewer "
            f"than {LEAST_OF_A_CLASS} rows ({shown(classes[rare], 4)}), {int((~kept).sum())} of {codes.size} rows."
        )
        if (~rare).sum() < 2:
            raise InputError(
                f"`y` has {classes.size} classes, of which {int((~rare).sum())} have {LEAST_OF_A_CLASS} rows or more; "
                "expected at least 2 such classes. Is the target column right? Bin numeric targets first."
            )
        frame, labels = frame[kept].reset_index(drop=True), labels[kept]
        classes, codes = np.unique(labels, return_inverse=True)
    if len(frame) < LEAST_ROWS:
        raise InputError(
            f"There are {counted(len(frame), 'row')}; a report needs at least {LEAST_ROWS}, of which two fifths are "
            "held out. Add rows."
        )
    return DataResults(name, frame, codes.astype(np.int64), classes, target, tuple(remarks))


def learners_from(learners: Any) -> dict[str, Any]:
    """Learners by name, each checked."""
    if not isinstance(learners, Mapping):
        raise InputError(
            f"`learners` is {type(learners).__name__}; expected a dict of names and learners, as in "
            '{"tree": DecisionTreeClassifier()}.'
        )
    if not learners:
        raise InputError("`learners` is empty; expected at least one, as in {'tree': DecisionTreeClassifier()}.")
    checked = {}
    for name, one in learners.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"`learners` has the name {name!r}; expected a string that is not empty.")
        try:
            checked[name], _ = checks.unfitted_learner(one)
        except InputError as mistake:
            raise InputError(f"{name!r}: {mistake}") from None
        if kind_of(checked[name]) == "regressor":
            raise InputError(f"{name!r} is a regressor; expected a classifier. Use `classay.stability` for regressors.")
    if "data" in checked or "classes" in checked:
        raise InputError(
            "A learner is named 'data' or 'classes', but these names are reserved for other figures. Rename it."
        )
    return checked


def _framed(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[f"x{place}" for place in range(rows.shape[1])])


# From the results to the document: title, findings, figures, sections, settings.


def report_of(results: Results) -> Report:
    """The document of all results."""
    data = results.data
    findings, unasked = findings_of(results)
    return Report(
        title=f"{data.name}: {counted(len(results.learners), 'learner')} assayed",
        about={
            "name": data.name,
            "rows": int(data.codes.size),
            "columns": int(data.X.shape[1]),
            "target": data.target,
            "classes": plain(data.classes),
            "notes": list(data.notes),
        },
        findings=findings,
        unasked=unasked,
        figures=figures_of(results),
        sections=(
            learners_section(results),
            disagreement_section(results),
            data_section(results),
            slices_section(results),
            classes_section(results),
            networks_section(results),
            _methods_section(results),
        ),
        failed=dict(results.failed),
        settings=plain(results.settings),
    )


def _methods_section(results: Results) -> Section:
    settings = results.settings
    widths = [one.stability.stability for one in results.learners.values()]
    half = max((each.high - each.low) / 2 for each in widths)
    accuracy = max((one.stability.accuracy.high - one.stability.accuracy.low) / 2 for one in results.learners.values())
    lead = (
        f"The budget of {time_text(settings['budget'])} allowed {settings['bought']}. It took "
        f"{time_text(settings['seconds'])}. Stabilities are known to within {100 * half:.1f} points and accuracies to "
        f"within {100 * accuracy:.1f} (half the width of the widest 95 % interval). Warnings use wider intervals than "
        "the 95 % intervals shown: at their level, all warnings of a page together should be wrong in at most 5 % of "
        "pages."
    )
    if settings.get("interrupted"):
        lead = "Interrupted: the results cover only what had finished. " + lead
    rows: list[tuple[Cell, ...]] = [("command", settings["command"])]
    rows += [
        (name, _cell(settings[name]))
        for name in settings
        if name not in ("command", "bought", "foreseen", "stages", "versions")
    ]
    rows += [(f"time: {name}", time_text(seconds)) for name, seconds in settings["stages"].items()]
    rows += [(name, str(version)) for name, version in settings["versions"].items()]
    rows += [("note on the data", note) for note in results.data.notes]
    for name, one in results.learners.items():
        rows += [(f"note on {name}", note) for note in dict.fromkeys((*one.labelings.notes, *one.orientation.notes))]
    sheet = Sheet("settings", "How this page was made", ("setting", "value"), tuple(rows), sort=False)
    return Section("methods", "Methods and settings", lead, (), (sheet,))


def _cell(value: Any) -> Cell:
    if isinstance(value, dict):
        return "; ".join(f"{name}: {part}" for name, part in value.items())
    return value if isinstance(value, (str, int, float, bool)) else str(value)
