"""`Complexity`: the result of `complexity`, and what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .. import expect
from ..arrays import Floats, Ints, Mask
from ..inputs import class_labels, encode, finite, take
from ..intervals import Estimate
from ..result import Result
from .geometry.cross_fit import CrossFit, detail_needed
from .geometry.distances import BY_CLASS, CLASS_OFFSET, DistanceMetric
from .geometry.moments import Geometry
from .labels.wrong_labels import FALSE_ALARMS, WrongLabels, wrong_labels
from .model.baseline import BINS, ComplexityAgainst, VersusBaseline, against, versus
from .model.new_rows import KnownRows, UnlikeKnown, score, unlike_known


@dataclass(frozen=True, repr=False)
class Complexity(Result, chart="complexity:COMPLEXITY"):
    """The result of `complexity`; `values` to `known` have one entry per row.

    `values` are the complexities h: 0 at best, log 2 ≈ .69 if another class is as near as its own. `predicted` is the
    nearest class (the baseline's prediction), `nearest` the nearest class other than the row's own: what it looks like.
    `distances` (rows, classes) are not divided by the temperature; None if there are too many to store. `known` is
    False if a row's class has no geometry without the row. `by_class` has one row per class; `tried` one per distance
    that was tried. `measured` says by which geometry: without the row's fold, with the row, or of other rows.
    `evidence` contains rows and geometry, for the methods below. `notes` says what was done to the data and what the
    figures cannot show.
    """

    values: Floats
    labels: NDArray[Any]
    predicted: NDArray[Any]
    nearest: NDArray[Any]
    own_distance: Floats
    nearest_distance: Floats
    known: Mask
    distances: Floats | None = field(repr=False)
    classes: NDArray[Any]
    by_class: pd.DataFrame
    baseline_accuracy: Estimate
    normalised_entropy: float
    median_class_size: float
    distance: str
    covariance: str
    temperature: float
    measured: str
    tried: pd.DataFrame
    notes: tuple[str, ...]
    evidence: CrossFit = field(compare=False, repr=False)

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def geometry(self) -> Geometry:
        """Where the classes lie: the record behind these figures."""
        return self.evidence.geometry

    def table(self, rows: Ints) -> pd.DataFrame:
        """Some of the rows, one line each."""
        gap = self.own_distance - self.nearest_distance
        # Softmax of −δ/τ at the nearest other class.
        probability = np.exp(np.minimum(gap / self.temperature - self.values, 0.0))
        columns = {
            "row": np.arange(len(self)),
            "label": self.labels,
            "predicted": self.predicted,
            "nearest": self.nearest,
            "complexity": self.values,
            "own_distance": self.own_distance,
            "nearest_distance": self.nearest_distance,
            "gap": gap,
            "nearest_probability": probability,
        }
        return pd.DataFrame({name: values[rows] for name, values in columns.items()})

    def hardest(self, n: int = 20, suspects: bool = True) -> pd.DataFrame:
        """The n rows of highest complexity; with `suspects=False`, of those whose label is not suspected.

        Rows whose class has no other row are left out: their complexity is a convention. `lone_classes` names them.
        """
        rows = np.flatnonzero(self.known)
        if not suspects:
            rows = np.setdiff1d(rows, self.wrong_labels().listed)
        order = rows[np.argsort(-self.values[rows], kind="stable")]
        return self.table(order[: expect.whole(n, "n", at_least=1)])

    def wrong_labels(
        self, probabilities: ArrayLike | None = None, false_alarms: float = FALSE_ALARMS, level: float = 0.95
    ) -> WrongLabels:
        """Estimate how many labels are wrong, list those to check, and say whether labels limit the accuracy.

        P(label = j | x) = Σ_a q_a(x)·T_aj: q are the class probabilities without wrong labels, from distances to
        classes and to their nearest rows, and from a learner's probabilities if given; T_aj is the share of class a
        that is labelled j. Wrong labels are spread over the other classes, but for pairs of classes that have clearly
        more of them in one direction. P(wrong | x, label) follows. Rows are listed as long as about `false_alarms` of
        them have a right label, and none that is likelier right, also without the nearest rows. The interval is by
        profile likelihood; where labels may be wrong in one direction, it includes what class distances alone show.

        0: certainly right, 1: certainly wrong. Where wrong labels cannot be told from overlap, their number is unknown,
        up to all rows that look like another class, and nothing is listed; `suspects(60)` ranks rows all the same.

        It misleads if some labels are wrong anywhere and others are exchanged by two similar classes: only the first
        are counted, and `in_any_direction` is the range of both. Rows that are hard in a way that neither distances nor
        neighbours show count as wrong labels; a learner's probabilities help. Check the rows before you change a label.

        Parameters
        ----------
        probabilities : (rows, classes) of a learner, in the order of `classes`, cross-validated
            (`cross_val_predict(..., method="predict_proba")`)
        false_alarms : expected share of the listed rows whose label is right, at most
        level : confidence level of the intervals

        Examples
        --------
        >>> from classay import complexity
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> rng = np.random.default_rng(0)
        >>> rows = rng.choice(y.size, 90, replace=False)
        >>> y[rows] = (y[rows] + rng.integers(1, 10, 90)) % 10
        >>> w = complexity(X, y).wrong_labels()
        >>> w.number.low < 90 < w.number.high, bool(np.isin(w.listed, rows).mean() > 0.8)
        (True, True)

        """
        if probabilities is None and (false_alarms, level) == (FALSE_ALARMS, 0.95):
            return self._wrong_labels
        return wrong_labels(self, probabilities, false_alarms, level)

    @cached_property
    def _wrong_labels(self) -> WrongLabels:
        return wrong_labels(self)

    def suspects(
        self, n: int | None = None, probabilities: ArrayLike | None = None, false_alarms: float = FALSE_ALARMS
    ) -> pd.DataFrame:
        """Rows to check because their label may be wrong, the likeliest first, with the class they `likely` have.

        Without `n`, the rows that are `listed`: at most a share of `false_alarms` of them should have the right label,
        if the model of `wrong_labels` holds. With `n`, so many rows, `listed` or not, also where the number of wrong
        labels is unknown. `wrong` is the probability; if no row has one, rows are ranked by complexity.
        """
        labels = self.wrong_labels(probabilities, false_alarms)
        ranked = labels.to_frame() if np.isfinite(labels.probability).any() else self.hardest(len(self))
        rows = ranked["row"].to_numpy()[: labels.listed.size if n is None else expect.whole(n, "n", at_least=1)]
        table = self.table(rows)
        table["likely"], table["wrong"] = labels.likely[rows], labels.probability[rows]
        table["listed"] = np.isin(rows, labels.listed)
        return table

    def versus(self, predictions: ArrayLike, level: float = 0.95) -> VersusBaseline:
        """Compare a model with the nearest class, on the same rows: is it worth its training?

        Accuracy and balanced accuracy (mean recall of the classes), each of the model minus that of the baseline on
        the same rows, with an interval over rows, or over groups if there are any. That of accuracy is Tango's score
        interval, which agrees with the test behind `verdict`.

        0: no better than geometry; higher is better. It misleads if the model was trained on these rows: pass
        `predictions` for a test set (with `X_eval`), or cross-validated ones.

        >>> from classay import complexity
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> c = complexity(X, y, distance="euclidean")
        >>> c.versus(y).verdict, c.versus(c.predicted).verdict
        ('yes', 'not shown')
        """
        return versus(self, predictions, level)

    def against(
        self, errors: ArrayLike, confidence: ArrayLike | None = None, bins: int = BINS, level: float = 0.95
    ) -> ComplexityAgainst:
        """Measure how well complexity, known before any training, ranks the errors of a model.

        AUC = P(complexity of a wrong row > that of a right row), ties count half. The intervals use DeLong's variance
        on the logit scale, paired for the difference to the model's own confidence, and are over groups if there are
        any. With fewer than three errors (or groups with errors) they are unknown.

        0.5: says nothing about errors, 1: ranks all of them first. It misleads if labels are wrong: such rows are
        complex and count as errors, whoever is right.

        errors : True for each row that the model predicts wrongly
        confidence : its confidence in its prediction for each row, such as the largest probability
        bins : number of ranges of complexity in the curve of error rates
        level : confidence level of the intervals

        >>> from classay import complexity
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> c = complexity(X, y, distance="euclidean")
        >>> c.against(c.predicted != y).auc.value > 0.9
        True
        """
        return against(self, errors, confidence, bins, level)

    def unlike_known(self, X: Any, false_alarms: float = 0.05) -> UnlikeKnown:
        """Find rows of `X` that are unlike anything in these rows (out of distribution), whatever their class.

        p(x) = (1 + number of known rows that are at least as far away) / (1 + known rows): a conformal p-value, by
        the measure in which a row has the lowest rank: the distance to the nearest class, or to the nearest rows,
        as they are or with the classes' covariance as the unit. Over many data sets, at most a share of `false_alarms`
        of the rows of the same kind is flagged. All rows are compared with the same known ones, so the number of alarms
        is beta-binomial, and so is `p_value`. With groups, each group counts as one known row, and `p_value` holds
        whichever of the new rows belong together, so that it is far larger; without a small one it is undecided.

        1: as near as any row; near 0: farther away than nearly every known row. Fewer than 1 / false_alarms − 1 known
        rows (or groups) can flag nothing. Columns that are constant in the known rows count only as they are.

        >>> from classay import complexity
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> complexity(X, y, distance="euclidean").unlike_known(np.vstack([X[:2], X[:1] + 50])).flagged.tolist()
        [2]
        """
        return unlike_known(self, self._known_rows, X, false_alarms)

    @cached_property
    def _known_rows(self) -> KnownRows:
        return KnownRows(self)

    @property
    def lone_classes(self) -> pd.DataFrame:
        """Classes with a single row in the geometry, which is all that is known about them.

        One line each: the first measured row of the class, -1 if no measured row has it, and the label.
        """
        codes = encode(self.labels, self.classes)
        lone = np.flatnonzero(self.geometry.counts == 1)
        rows = [next(iter(np.flatnonzero(codes == code).tolist()), -1) for code in lone]
        return pd.DataFrame({"row": np.array(rows, dtype=np.int64), "label": self.classes[lone]})

    def explain(self, rows: ArrayLike, top: int | None = 5) -> pd.DataFrame:
        """Which features make rows hard: what each adds to δ(x, own class) − δ(x, nearest other).

        One line per row and feature, largest first; `top` of each row, None for all, whose contributions add up to
        `gap`. Above 0: the feature favours the other class.
        """
        chosen = np.atleast_1d(np.asarray(rows))
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or not ((chosen >= 0) & (chosen < len(self))).all():
            raise expect.InputError(f"`rows` is {chosen!r}; expected row numbers from 0 to {len(self) - 1}.")
        if top is not None:
            expect.whole(top, "top", at_least=1)
        evidence, names = self.evidence, np.array([*self.geometry.feature_names, CLASS_OFFSET])
        codes, rivals = encode(self.labels, self.classes), encode(self.nearest, self.classes)
        unknown = chosen[~self.known[chosen]]
        if unknown.size:
            raise expect.InputError(
                f"Rows {expect.shown(unknown, 3)} cannot be explained: they are the only rows of their class."
            )
        detail, tables = detail_needed((self.distance,), self.covariance), []
        for row in chosen:
            geometry = evidence.geometry_for(0 if evidence.folds is None else int(evidence.folds[row]), detail)
            metric = DistanceMetric(geometry, (self.distance,), self.covariance)
            part = take(evidence.table, slice(row, row + 1))
            values = finite(part.toarray() if hasattr(part, "toarray") else part, evidence.name, int(row))
            contributions = metric.contributions(values[0], int(codes[row]), int(rivals[row]))
            order = np.argsort(-np.abs(contributions), kind="stable")
            order = order[(order < values.shape[1]) | (contributions[order] != 0)][:top]
            table = pd.DataFrame({"feature": names[order], "contribution": contributions[order]})
            table.insert(0, "row", row)
            table["value"] = np.append(values[0], np.nan)[order]
            table["own_mean"] = np.append(geometry.means[codes[row]], np.nan)[order]
            table["nearest_mean"] = np.append(geometry.means[rivals[row]], np.nan)[order]
            table["gap"] = contributions.sum()
            tables.append(table)
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()

    def score(self, X: Any, y: ArrayLike | None = None) -> pd.DataFrame:
        """Compare new rows with the data, one line each: are they like anything in it?

        `predicted`, its `probability`, the `distance` to it and `confidence`, which is −distance (equation 7).
        `unusual` is the share of known rows, including the new one, that are at least as far away (`unlike_known`). One
        in twenty rows of the same kind has at most .05; if more do, the data have drifted or come from another domain.
        With labels `y` also their complexity.
        """
        return score(self, self._known_rows, X, y)

    def confused(self, predictions: ArrayLike | None = None) -> pd.DataFrame:
        """Pairs of classes that are confused, the most frequent first: rows of `label` that are predicted as another.

        By the nearest class, measured without the row, or by a learner's cross-validated `predictions`. `share` is of
        the rows of `label`. How near classes lie is another question: `neighbours`.
        """
        predicted = self.predicted if predictions is None else class_labels(predictions, "predictions", len(self))
        pairs = pd.DataFrame({"label": self.labels, "predicted": predicted}).groupby(["label", "predicted"]).size()
        table = pairs.reset_index(name="rows")
        table["share"] = table["rows"] / table.groupby("label")["rows"].transform("sum")
        table = table[table["label"] != table["predicted"]]
        return table.sort_values("rows", ascending=False, kind="stable", ignore_index=True)

    def neighbours(self) -> pd.DataFrame:
        """For each pair of classes, how many rows of `label` have `nearest` as nearest *other* class, as a long table.

        This is not confusion: nearly all of these rows may be nearer to their own class. `nearer` counts those that are
        not.
        """
        frame = pd.DataFrame({"label": self.labels, "nearest": self.nearest})
        frame["nearer"] = self.own_distance > self.nearest_distance
        pairs = frame.groupby(["label", "nearest"], sort=True)["nearer"].agg(["size", "sum"]).reset_index()
        pairs = pairs.rename(columns={"size": "rows", "sum": "nearer"})
        pairs["share"] = pairs["rows"] / pairs.groupby("label")["rows"].transform("sum")
        return pairs.astype({"nearer": int})

    def to_frame(self) -> pd.DataFrame:
        """One row per data row: row, label, predicted, nearest, value (complexity), distances, gap and probability."""
        return self.table(np.arange(len(self))).rename(columns={"complexity": "value"})

    def __str__(self) -> str:
        nearer = int((self.own_distance > self.nearest_distance).sum())
        labels = self.wrong_labels()
        wrong = labels.number
        estimate = f"about {wrong.value:.0f} [{wrong.low:.0f}, {wrong.high:.0f}] labels are wrong"
        suspects = (
            f"{estimate if wrong.known else 'how many labels are wrong is unknown'}, {labels.listed.size} are suspected"
        )
        # The complexity of a row whose class is otherwise unknown is a convention, and would dominate the others.
        mean = float(self.values[self.known].mean()) if self.known.any() else float("nan")
        text = (
            f"{len(self)} rows in {self.classes.size} classes, measured {self.measured} by {self._distance_text()}: "
            f"baseline accuracy {self.baseline_accuracy:.3g}, mean complexity {mean:.3g}; {nearer} rows "
            f"are nearer to another class than to their own; {suspects}. Class sizes: median "
            f"{self.median_class_size:g}, evenness {self.normalised_entropy:.2f} of 1."
        )
        return " ".join([text, *self.notes])

    __repr__ = __str__

    def _distance_text(self) -> str:
        if self.covariance == "auto" or self.distance not in BY_CLASS:
            return f"{self.distance} distance"
        # Not "own" or "full": a note may say that some classes were shrunk.
        kind = "one covariance per class" if self.covariance == "full" else f"{self.covariance} covariance"
        return f"{self.distance} distance ({kind})"
