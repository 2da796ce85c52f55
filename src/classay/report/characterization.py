"""`characterize`: everything that classay measures of learners and data, in one call and on one page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..expect import InputError, counted
from ..learner.scores.comparison import check_metric
from ..result import Result, plain
from ..seeds import one_thread
from .document import Finding, Report
from .document.classes_section import classes_section, networks_section
from .document.figures import figures_of
from .document.learners_section import disagreement_section, learners_section, runs_section, variation_section
from .document.methods_section import methods_section, reading_section
from .document.rows_section import data_section, errors_section, geometry_section, unlike_section
from .document.slices_section import slices_section
from .document.verdict import verdict_of
from .findings import findings_of
from .results import LearnerResults, Results
from .run.learners import CONTRAST, default_learners, learners_from
from .run.measures import GeometryOptions
from .run.records import records_of, results_of
from .run.rounds import rounds_of
from .run.rows import data_of, ready_for_fits
from .run.settings import ROWS, Effort, seconds_of

if TYPE_CHECKING:
    import altair as alt

    from ..network.quality.quality import NetworkQuality


@dataclass(frozen=True)
class Characterization(Result):
    """Result of `characterize`: `report` is the document, `parts` has the result objects behind it.

    Use `learners["tree"].stability`, `parts.complexity` and the like for further analysis; they are not saved with the
    report.
    """

    report: Report
    parts: Results = field(repr=False)

    @property
    def learners(self) -> dict[str, LearnerResults]:
        """The results of the refits of each learner; none if nothing was refitted."""
        return self.parts.learners

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings, most important first."""
        return self.report.findings

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON values."""
        return self.report.to_dict()

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
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    metric: str | Sequence[str] | None = None,
    X_test: Any = None,
    y_test: ArrayLike | None = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    networks: Mapping[str, NetworkQuality] | None = None,
    budget: float | str | None = 120.0,
    splits: int | None = None,
    repeats: int = 2,
    rows: int | str = ROWS,
    n_probes: int = 2000,
    retrains: int = 10,
    test_size: float = 0.3,
    more_classes: bool | None = None,
    random_state: int | None = 0,
    executor: Executor | int | None = None,
    store: str | Path | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    on_round: Callable[[Characterization], None] | None = None,
    complexity: Mapping[str, Any] | None = None,
    checks: bool = True,
    name: str = "data",
    target: str = "label",
    command: str | None = None,
) -> Characterization:
    """Measure what accuracy hides about learners on data: findings in words, then figures, all on one page.

    First, each learner is fitted once per cross-validation fold on all other rows. Then it is refitted in rounds on
    halves of a training part, and predicts the test part and comparison points. From these predictions come accuracy,
    stability, bias, expressivity, capacity, stochasticity, kinship, slices with many errors, and where refits disagree.
    From the rows alone come complexity, baseline and suspected labels. With 20 classes or more, the report also
    forecasts the accuracy for more classes. On top is a verdict: which learner, how sure that is, what to do next.

    With a record instead of learners, or a dict of records, nothing is fitted: the report is about the predictions in
    them, of any system; with `X` and `y` also about the rows that they predict. Without learners (`[]`) it is about the
    rows alone. Every section and finding that needs something else says so.

    A finding is a warning only if the intervals support it, at a level at which all warnings of a page together are
    wrong in at most 5 % of pages. When a figure misleads is described in its own docstring.

    The budget is a deadline, like an automatic Ctrl-C. The order of work is fixed: one fold of every learner (which may
    take the budget once more, as there is no report without it), the other folds, figures of the data, then 5 splits
    and retraining, then 10, 20 and 50 splits. At the deadline, fits that run are ended, and the last complete round
    counts, of folds those that all learners have completed; then come figures and the page. A learner that is not
    through its first round is not finished. So the speed of the machine decides how many rounds are done, and nothing
    else: without a budget, or with enough of it, the same seed gives the same report, to the last bit on the same
    machine and versions. Fits on fewer rows than there are (`rows`) give at most notes, which say so.

    Parameters
    ----------
    learners : an unfitted scikit-learn classifier or Pipeline, a list of them, or a dict of names and learners; None
        for gradient boosting, a forest and logistic regression, with a tree and nearest neighbours for contrast. A
        learner gets the table as it is if it accepts it in a trial fit; otherwise columns are encoded for it. Or a
        record (`Labelings`) of predictions, or a dict of them: for the test part, if it is given, else for `X`. [] for
        a report on the rows alone
    metric : what to compare learners by: a scorer of scikit-learn, such as roc_auc or neg_log_loss; of several, the
        first. Default: accuracy, or roc_auc where nearly all predictions are of one of two classes
    X, y : rows (a DataFrame or an array) and labels
    X_test, y_test : rows and labels to test on, used as such; default: a share of `X`
    groups : a value per row, such as a patient; rows of a group are never on both sides of a split
    time : a date or number per row; fits use earlier rows than those that they are tested on
    sample_weight : a weight per row, for fits
    networks : name -> result of `network_quality`, for a section on networks
    budget : the deadline in seconds, or as in "2m"; None: none
    splits : number of splits of the training part into halves; default: 50, or 20 without a budget
    repeats : refits on each half
    rows : most rows of a fit, and most rows with figures of their own, drawn by class; "all": no limit. At most 20,000
        rows are predicted
    n_probes : number of points spread over the columns' ranges, on which refits are compared besides the test part
    retrains : number of training samples of nearly full size that share 90 % of their rows, to see what a retraining
        changes; 0: none
    test_size : share of the rows held out from every refit
    more_classes : whether to forecast the accuracy for more classes; default: from 20 classes on, True: from 5
    random_state : the seed of all random numbers
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one per core
    store : a folder of records; fits found there are reused
    progress : show stages and progress bars on stderr
    time_limit : time limit for one refit, in seconds
    on_round : called with a preliminary result after each round that is not the last
    complexity : where nothing is fitted, how rows are measured: distance, covariance, aim and paper, as in
        `classay.complexity`, and false_alarms, the share of the labels to check that may be right
    checks : where nothing is fitted, whether to check the data for leaks, rows that belong together and an unlike test
        part
    name, target : names of the data and of the labels, for display
    command : the command that made the report, for display; default: this call

    Examples
    --------
    >>> import classay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> a = characterize(GaussianNB(), X, y, splits=10, repeats=1, retrains=0, n_probes=200, executor=1, name="iris")
    >>> a.report.figure("GaussianNB", "accuracy").value > 0.9
    True
    >>> a = characterize(classay.Labelings.from_arrays([["a", "b", "b", "a"]], ["a", "b", "a", "a"]))
    >>> float(a.to_frame()["value"].iloc[0])
    0.75

    """
    seed = seeds.settle(random_state)
    records = records_of(learners)
    metrics = tuple([metric] if isinstance(metric, str) else metric or ())
    for scorer in metrics:
        check_metric(scorer)
    roles = {"groups": groups, "time": time, "sample_weight": sample_weight, "X_test": X_test, "y_test": y_test}
    data = None if X is None and y is None else data_of(X, y, name, target, **roles)
    if records or (isinstance(learners, (Mapping, list, tuple)) and not learners):
        if data is None and not records:
            raise InputError("There are no learners, records or rows to report on; expected at least one of them.")
        results = results_of(
            records,
            data,
            seed,
            metrics=metrics,
            more_classes=more_classes,
            options=GeometryOptions(embed_texts=True, **(complexity or {})),
            checks=expect.flag(checks, "checks"),
            name=name,
            settings={"command": command or _call(records, data, seed)},
            networks=dict(networks or {}),
        )
        return Characterization(report_of(results), results)
    if data is None:
        raise InputError("`X` or `y` is missing: pass rows and labels with learners, or a record of predictions alone.")
    checked = learners_from(default_learners() if learners is None else learners)
    effort = Effort(
        seed=seed,
        seconds=None if budget is None else seconds_of(budget),
        splits=None if splits is None else expect.whole(splits, "splits", at_least=4),
        repeats=expect.whole(repeats, "repeats", at_least=1),
        rows=None if rows == "all" else expect.whole(rows, "rows", at_least=40, why='Or "all".'),
        n_probes=expect.whole(n_probes, "n_probes", at_least=1),
        retrains=0 if retrains == 0 else expect.whole(retrains, "retrains", at_least=2),
        test_size=expect.fraction(test_size, "test_size"),
        executor=executor,
        store=store,
        progress=progress,
        time_limit=time_limit,
        more_classes=more_classes,
        contrast=frozenset(CONTRAST if learners is None else ()),
        command=command,
    )
    data = ready_for_fits(data)
    effort = replace(effort, metrics=tuple(check_metric(scorer, data.classes.size) for scorer in metrics))
    last: Results | None = None
    # Figures that are made in this process use one thread, as fits do.
    with one_thread():
        try:
            for results in rounds_of(data, checked, networks or {}, effort, on_round is not None):
                last = results
                if on_round is not None and results.settings["preliminary"]:
                    on_round(Characterization(report_of(results), results))
        except KeyboardInterrupt:
            if last is None:
                raise
            # The last complete round stands.
            last = replace(last, settings={**last.settings, "interrupted": True, "preliminary": ""})
        assert last is not None  # `rounds_of` gives results or raises
        return Characterization(report_of(last), last)


def _call(records: Mapping[str, Any], data: Any, seed: int) -> str:
    """The call that makes a report without fits again, as far as it is known."""
    rows = "" if data is None else ", X, y" if data.test is None else ", X, y, X_test=X_test, y_test=y_test"
    return f"classay.characterize({'records' if records else '[]'}{rows}, random_state={seed})"


# From the results to the document: title, findings, figures, sections, settings.


def report_of(results: Results) -> Report:
    """The document of all results: every section and finding that they allow."""
    findings, unasked = findings_of(results)
    sections = (
        learners_section(results),
        runs_section(results),
        variation_section(results),
        disagreement_section(results),
        data_section(results),
        geometry_section(results),
        errors_section(results),
        slices_section(results),
        unlike_section(results),
        classes_section(results),
        networks_section(results),
        reading_section(results),
        methods_section(results),
    )
    return Report(
        title=f"{results.data.name}: {_subject(results)}",
        about=_about(results),
        findings=findings,
        unasked=unasked,
        figures=figures_of(results),
        sections=sections,
        failed=dict(results.failed),
        settings=plain(results.settings),
        verdict=verdict_of(results, findings),
    )


def wrapped_in_words(wrapped: Mapping[str, str]) -> list[str]:
    """Which learners do not take the table as it is, by what is changed for them."""
    by_way: dict[str, list[str]] = {}
    for name, how in wrapped.items():
        by_way.setdefault(how, []).append(name)
    return [
        f"{', '.join(names)} {'does' if len(names) == 1 else 'do'} not take this table as it is. Changed inside each "
        f"fit: {how}."
        for how, names in by_way.items()
    ]


def _subject(results: Results) -> str:
    """What the report is about, for its title."""
    count = len(results.names)
    if results.fitted:
        return f"{counted(count, 'learner')} compared" if count else "data measured"
    if not results.rows_known:
        return "predictions compared"
    models = {0: "", 1: " and model"}.get(count, f" and {count} models")
    return f"data{models} measured"


def _about(results: Results) -> dict[str, Any]:
    data = results.data
    about: dict[str, Any] = {"name": data.name, "rows": len(data)}
    if data.test is not None:
        about["test rows"] = len(data.test)
    if results.rows_known:
        about |= {"columns": int(data.table.shape[1]), "target": data.target}
    if results.given:
        shapes = [one.labels.shape for one in results.given.values() if one.of_predictions]
        counts = [f"{counted(k, 'variant')} x {counted(r, 'run')}" for k, r, _ in shapes]
        about["predictions"] = "; ".join(dict.fromkeys(counts)) or ", ".join(results.names)
    about |= {"classes": plain(data.classes), "notes": _notes(results)}
    return about | ({"audit": data.audit.to_dict()} if results.rows_known else {})


def _notes(results: Results) -> list[str]:
    """What readers must know before anything else: that it is preliminary, what was lost, what was changed."""
    settings, data = results.settings, results.data
    first = []
    if settings.get("preliminary"):
        first.append(
            f"Preliminary: the figures are those of {settings['preliminary']}. This page is rewritten as rounds are "
            "done, until the budget ends."
        )
    done, folds = results.folds
    if 0 < done < folds:
        size = next(iter(results.predicted.values())).rows.size
        first.append(
            f"Cross-validated figures are of {size:,} of {len(data):,} rows: every learner shown has completed "
            f"{done} of {folds} folds."
        )
    losses = data.audit.losses if results.rows_known else ()
    copies = []
    if data.copies_together:
        copies.append(
            f"{data.duplicates:,} of {len(data):,} rows are copies of others. Copies are kept on one side of every "
            "split: see D204."
        )
    wrapped = wrapped_in_words({name: one.wrapped for name, one in results.learners.items() if one.wrapped})
    measured = () if results.fitted or results.complexity is None else results.complexity.notes
    return list(dict.fromkeys([*first, *losses, *data.notes, *copies, *wrapped, *measured]))
