"""`characterize`: everything that classay can tell of learners and data, in one call and one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import InitVar, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import ArrayLike

from .. import expect, seeds
from ..result import Result
from . import given
from .document import Report
from .finding import Finding
from .measuring import measure
from .parts import Learner, Parts
from .plan import seconds_of
from .writing import report_of

if TYPE_CHECKING:
    import altair as alt

    from ..network.quality import NetworkQuality


@dataclass(frozen=True)
class Assay(Result):
    """What `characterize` finds: `report` is the document, `parts` the live results of every room behind it.

    `parts.learners["tree"].stability` and the like can be asked further; they are not saved with the report.
    """

    report: Report
    found: InitVar[Parts]

    def __post_init__(self, found: Parts) -> None:
        object.__setattr__(self, "_parts", found)

    @property
    def parts(self) -> Parts:
        """The live results: `learners`, `complexity`, `kinship`, `classes`, `networks`."""
        parts: Parts = self._parts  # type: ignore[attr-defined]
        return parts

    @property
    def learners(self) -> dict[str, Learner]:
        """What was found of each learner."""
        return self.parts.learners

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the figures say, in order of weight."""
        return self.report.findings

    def to_frame(self) -> pd.DataFrame:
        """One row a figure: subject, of, figure, value, low, high, level, kind."""
        return self.report.to_frame()

    def plot(self, **options: Any) -> alt.TopLevelMixin:
        """The first chart of the page; `key` names another."""
        return self.report.plot(**options)

    def save(self, path: str | Path, *, force: bool = True) -> Path:
        """Write the report as the suffix says: .html (the page), .json, or .md (a section for a model card)."""
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
    """Tell of learners on data what accuracy does not: findings in words, then figures, all on one page.

    Each learner is refitted on halves of a training part, several times, and asked on the rest and on probes; and once
    a fold on all other rows. From that come accuracy, stability, bias, expressivity, capacity, stochasticity, kinship,
    slices with many errors, and where refits disagree; from the rows alone complexity, baseline and suspected labels;
    with 5 classes or more, what more of them would do.

    A finding is a warning only if the intervals say so at a level at which all warnings of a page together are wrong
    in at most 5 % of pages. What misleads about each figure stands in its own docstring.

    How many refits there are depends on the budget and so on the machine. `report.settings` has the numbers that were
    chosen: given them, and the same seed, the figures are the same to the last bit.

    Parameters
    ----------
    learners : name -> an unfitted scikit-learn classifier or Pipeline; text and missing values are encoded for it
    X, y : rows (a DataFrame or an array) and labels
    networks : name -> what `network_quality` returned, for a section on networks
    budget : seconds, or as in "2m"; it sets what follows unless you do
    splits, repeats : splits of the training part into halves, and refits on each half
    size : rows of each half that are used, or "all"
    n_probes : points spread over the columns' ranges, on which refits are compared besides the test part
    fold_rows : rows of each of the five cross-validated fits, or "all"
    test_size : share of the rows that no refit sees
    random_state : the seed of everything
    executor : as in `classay.record`: an Executor, a number of local workers, or None for one a core
    store : a folder of records; what is there is not fitted again
    progress : tell stages and bars on stderr
    time_limit : seconds that one refit may take
    name, target : what to call the data and the labels
    notes : remarks on the data to be shown
    command : the command that made it, to be shown; default: this call

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
    wanted = {
        "budget": seconds_of(budget),
        "splits": None if splits is None else expect.whole(splits, "splits", at_least=4),
        "repeats": None if repeats is None else expect.whole(repeats, "repeats", at_least=1),
        "size": _rows(size, "size"),
        "n_probes": None if n_probes is None else expect.whole(n_probes, "n_probes", at_least=1),
        "fold_rows": _rows(fold_rows, "fold_rows"),
        "test_size": expect.fraction(test_size, "test_size"),
    }
    chosen = given.learners(learners)
    data = given.data(X, y, name, target, notes)
    parts = measure(data, chosen, networks or {}, wanted, seed, executor, store, progress, time_limit, command)
    return Assay(report_of(parts), parts)


def _rows(rows: Any, name: str) -> Any:
    if rows is None or rows == "all":
        return rows
    return expect.whole(rows, name, at_least=4, why='Or "all".')
