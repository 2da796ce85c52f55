"""`characterize`: everything that classay measures of learners and data, in one call and on one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import InitVar, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..expect import InputError, counted, nearest
from ..result import Result, plain
from ..tables.audit import Audit, audit_frame
from .budget import CHECK_SPLITS, BudgetSettings, seconds_of
from .default_learners import CONTRAST, default_learners
from .document import Finding, Report, Section
from .document.classes_section import classes_section, networks_section
from .document.figures import figures_of
from .document.geometry_section import errors_section, geometry_section, unlike_section
from .document.learners_section import disagreement_section, learners_section, variation_section
from .document.methods_section import methods_section
from .document.reading_section import reading_section
from .document.rows_section import data_section
from .document.shown_rows import ShownRows
from .document.slices_section import slices_section
from .document.verdict import verdict_of
from .findings import findings_of
from .groundwork import FitSettings
from .measure import Wanted, measure
from .metric import check_metric
from .results import LearnerResults, Results
from .subjects import copies_together, data_from, learners_from

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

    def _notebook_table(self) -> tuple[pd.DataFrame, str]:
        return self.report._notebook_table()

    def __str__(self) -> str:
        return str(self.report)


def characterize(
    learners: Any,
    X: Any,
    y: ArrayLike,
    *,
    metric: str | Sequence[str] | None = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    networks: Mapping[str, NetworkQuality] | None = None,
    budget: float | str | None = 120.0,
    splits: int | Mapping[str, int] | None = None,
    repeats: int | None = None,
    size: int | str | None = None,
    n_probes: int | None = None,
    fold_rows: int | str | Mapping[str, int | str] | None = None,
    test_points: int | None = None,
    retrains: int | None = None,
    test_size: float = 0.3,
    more_classes: bool | None = None,
    random_state: int | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    on_round: Callable[[Assay], None] | None = None,
    spent: float = 0.0,
    name: str = "data",
    target: str = "label",
    notes: Sequence[str] = (),
    audit: Audit | None = None,
    command: str | None = None,
) -> Assay:
    """Measure what accuracy hides about learners on data: findings in words, then figures, all on one page.

    First, each learner is fitted once per cross-validation fold on all other rows. Then it is refitted in rounds on
    halves of a training part, and predicts the test part and the probes. From these predictions come accuracy,
    stability, bias, expressivity, capacity, stochasticity, kinship, slices with many errors, and where refits disagree.
    From the rows alone come complexity, baseline and suspected labels. With 20 classes or more, the report also
    forecasts the accuracy for more classes. On top is a verdict: which learner, how sure that is, what to do next.

    A finding is a warning only if the intervals support it, at a level at which all warnings of a page together are
    wrong in at most 5 % of pages. When a figure misleads is described in its own docstring.

    The budget is a deadline: a round of refits starts only if it should end in time. So what is fitted depends on the
    machine, in large steps, and the seed alone does not repeat a report. `report.settings` has the numbers that were
    chosen: with these and the same seed, the figures are the same to the last bit on the same machine and versions, and
    elsewhere up to last digits. A finding from fits on fewer rows than there are says so, and is at most a
    note.

    Parameters
    ----------
    learners : an unfitted scikit-learn classifier or Pipeline, a list of them, or a dict of names and learners; None
        for gradient boosting, a forest and logistic regression, with a tree and nearest neighbours for contrast. A
        learner gets the table as it is if it accepts it in a trial fit; otherwise columns are encoded for it
    metric : what to compare learners by: a scorer of scikit-learn, such as roc_auc or neg_log_loss; of several, the
        first. Default: accuracy, or roc_auc where nearly all predictions are of one of two classes
    X, y : rows (a DataFrame or an array) and labels
    X_test, y_test : rows and labels to test on, used as such; default: a share of `X`
    groups : a value per row, such as a patient; rows of a group are never on both sides of a split
    time : a date or number per row; fits use earlier rows than those that they are tested on
    sample_weight : a weight per row, for fits
    networks : name -> result of `network_quality`, for a section on networks
    budget : time in seconds, or as in "2m"; it sets the next five parameters unless you do. None: no limit of time, all
        rows, 20 splits
    splits, repeats : number of splits of the training part into halves, and refits on each half; `splits` can be a
        dict of names and numbers, and 0 leaves a learner out
    size : number of rows to use from each half, or "all"
    n_probes : number of points spread over the columns' ranges, on which refits are compared besides the test part
    fold_rows : number of rows for each of the five cross-validated fits, or "all"; or a dict of names and numbers
    test_points : most test points, and most rows with cross-validated predictions, drawn by class; default 20,000
    retrains : number of training samples of nearly full size that share 90 % of their rows, to see what a retraining
        changes; default: 10, or fewer if time is short; 0: none
    test_size : share of the rows held out from every refit
    more_classes : whether to forecast the accuracy for more classes; default: from 20 classes on, True: from 5
    random_state : the seed of all random numbers
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one per core
    store : a folder of records; fits found there are reused
    progress : show stages and progress bars on stderr
    time_limit : time limit for one refit, in seconds
    on_round : called with a preliminary result after each round of refits that is not the last
    spent : seconds of the budget that passed before this call, such as for reading
    name, target : names of the data and of the labels, for display
    notes : remarks on the data, for display
    audit : how the data were read, for display; default: a description of `X` and `y`
    command : the command that made the report, for display; default: this call

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> a = characterize(GaussianNB(), X, y, splits=10, repeats=1, n_probes=200, executor=1, name="iris")
    >>> a.report.figure("GaussianNB", "accuracy").value > 0.9
    True

    """
    seed = seeds.settle(random_state)
    checked = learners_from(default_learners() if learners is None else learners)
    metrics = tuple([metric] if isinstance(metric, str) else metric or ())
    for each in metrics:
        check_metric(each)
    budget_settings = _budget_settings(
        budget, splits, repeats, size, n_probes, fold_rows, test_points, retrains, list(checked)
    )
    fit_settings = FitSettings(
        test_size=expect.fraction(test_size, "test_size"),
        seed=seed,
        executor=executor,
        store=store,
        progress=progress,
        time_limit=time_limit,
        spent=spent,
    )
    data = data_from(
        X,
        y,
        name,
        target,
        notes,
        groups=groups,
        time=time,
        sample_weight=sample_weight,
        X_test=X_test,
        y_test=y_test,
    )
    data = copies_together(replace(data, audit=audit_frame(X, y, name) if audit is None else audit))
    wanted = Wanted(
        metrics=tuple(check_metric(each, data.classes.size) for each in metrics),
        more_classes=more_classes,
        contrast=frozenset(CONTRAST if learners is None else ()),
    )
    last: Results | None = None
    try:
        for results in measure(
            data, checked, networks or {}, budget_settings, fit_settings, command, on_round is not None, wanted
        ):
            last = results
            if on_round is not None and results.settings["preliminary"]:
                on_round(Assay(report_of(results), results))
    except KeyboardInterrupt:
        if last is None:
            raise
        # The last complete round stands.
        last = replace(last, settings={**last.settings, "interrupted": True, "preliminary": ""})
    assert last is not None  # `measure` gives results or raises
    return Assay(report_of(last), last)


def _budget_settings(
    budget: float | str | None,
    splits: Any,
    repeats: int | None,
    size: int | str | None,
    n_probes: int | None,
    fold_rows: Any,
    test_points: int | None,
    retrains: int | None,
    names: list[str],
) -> BudgetSettings:
    """Numbers that the budget decides or the user gives, checked."""
    fixed = budget is None
    splits_of = {
        name: expect.whole(number, "splits", at_least=4) if number != 0 else 0
        for name, number in _by_learner(splits, "splits", names).items()
    }
    rows_of = {
        name: (_rows(rows, "fold_rows") or "all") if rows != 0 else 0
        for name, rows in _by_learner(fold_rows, "fold_rows", names).items()
    }
    # Of those in a dict, the largest is the usual one: others are exceptions.
    usual = max(splits_of.values()) if splits_of else splits
    some_rows: Any = fold_rows
    if rows_of:
        some_rows = "all" if "all" in rows_of.values() or len(rows_of) < len(names) else max(rows_of.values())
    if usual is None and fixed:
        usual = CHECK_SPLITS
    return BudgetSettings(
        seconds=None if budget is None else seconds_of(budget),
        splits=None if usual is None else expect.whole(usual, "splits", at_least=4),
        repeats=None if repeats is None else expect.whole(repeats, "repeats", at_least=1),
        size="all" if size is None and fixed else _rows(size, "size"),
        n_probes=None if n_probes is None else expect.whole(n_probes, "n_probes", at_least=1),
        fold_rows="all" if some_rows is None and fixed else _rows(some_rows, "fold_rows"),
        test_points=None if test_points is None else expect.whole(test_points, "test_points", at_least=10),
        retrains=retrains if retrains is None or retrains == 0 else expect.whole(retrains, "retrains", at_least=2),
        splits_of=splits_of,
        fold_rows_of=rows_of,
    )


def _by_learner(numbers: Any, argument: str, names: list[str]) -> dict[str, Any]:
    """Numbers by learner, if they are given so."""
    if not isinstance(numbers, Mapping):
        return {}
    for name in numbers:
        if name not in names:
            raise InputError(f"`{argument}` names {name!r}, which is not a learner.{nearest(str(name), names)}")
    return dict(numbers)


def _rows(rows: int | str | None, name: str) -> int | str | None:
    if rows is None or rows == "all":
        return rows
    return expect.whole(rows, name, at_least=4, why='Or "all".')


# From the results to the document: title, findings, figures, sections, settings.


def report_of(results: Results) -> Report:
    """The document of all results."""
    data = results.data
    findings, unasked = findings_of(results)
    sections = (
        learners_section(results),
        variation_section(results),
        disagreement_section(results),
        _once(data_section, results),
        _once(_geometry, results),
        _once(_errors, results),
        _once(slices_section, results),
        _once(_unlike, results),
        classes_section(results),
        networks_section(results),
        reading_section(results),
        methods_section(results),
    )
    return Report(
        title=f"{data.name}: {counted(len(results.learners), 'learner')} assayed",
        about={
            "name": data.name,
            "rows": int(data.codes.size),
            "columns": int(data.X.shape[1]),
            "target": data.target,
            "classes": plain(data.classes),
            "notes": _notes(results),
            **({} if data.audit is None else {"audit": data.audit.to_dict()}),
        },
        findings=findings,
        unasked=unasked,
        figures=figures_of(results),
        sections=sections,
        failed=dict(results.failed),
        settings=plain(results.settings),
        verdict=verdict_of(results, findings),
    )


def _once(section: Callable[[Results], Section], results: Results) -> Section:
    """A section that does not depend on refits: it is the same after every round."""
    key = (section.__name__, *results.learners)
    if key not in results.kept:
        results.kept[key] = section(results)
    return results.kept[key]  # type: ignore[no-any-return]


NO_PREDICTIONS = "there are no cross-validated predictions, or no complexity of the rows"


def _geometry(results: Results) -> Section:
    return geometry_section(results.checks, folded=True, absent=NO_PREDICTIONS)


def _errors(results: Results) -> Section:
    return errors_section(results.checks, folded=True, absent=NO_PREDICTIONS)


def _unlike(results: Results) -> Section:
    test = results.data.test
    if results.unlike is None or test is None:
        why = results.why.get("unlike", "no test part was given (--test)")
        return unlike_section(None, None, folded=True, absent=why)
    rows = np.arange(len(test.y))
    shown = ShownRows(test.table(results.data.X.columns), rows, rows)
    return unlike_section(results.unlike, shown, folded=True)


def _notes(results: Results) -> list[str]:
    """What readers must know before anything else: that it is preliminary, what was lost, what was changed."""
    settings, data = results.settings, results.data
    first = []
    if settings.get("preliminary"):
        first.append(
            f"Preliminary: the figures are those of {settings['preliminary']}. This page is rewritten as rounds are "
            "done, until the budget ends."
        )
    losses = () if data.audit is None else data.audit.losses
    copies = []
    if data.copies_together:
        copies.append(
            f"{data.duplicates:,} of {data.codes.size:,} rows are copies of others. Copies are kept on one side of "
            "every split: see D204."
        )
    wrapped = [
        f"{name} does not take this table as it is. Changed inside each fit: {one.wrapped}."
        for name, one in results.learners.items()
        if one.wrapped
    ]
    return list(dict.fromkeys([*first, *losses, *data.notes, *copies, *wrapped]))
