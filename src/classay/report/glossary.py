"""The meaning of every figure of a report, in one sentence, with its range and direction."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A figure: its label, its meaning, its range and direction, its number format, and the page that explains it.

    `form` is share (0 to 1), bits, seconds, count or number.
    """

    label: str
    meaning: str
    range: str
    form: str
    page: str


TERMS: dict[str, Term] = {
    "accuracy": Term(
        "accuracy",
        "Share of all rows that a fit on the other folds, four fifths of the rows, predicts correctly; of a file of "
        "predictions, the share that is right.",
        "0 to 1, higher is better; compare it with the share of the largest class",
        "share",
        "report",
    ),
    "balanced_accuracy": Term(
        "balanced accuracy",
        "Mean of the recall of every class, cross-validated.",
        "0 to 1, higher is better; 1/classes by chance",
        "share",
        "report",
    ),
    "roc_auc": Term(
        "AUC",
        "Probability that the score of a class is higher for a row of that class than for another row, "
        "cross-validated; with more than two classes, the mean over classes.",
        "0 to 1, higher is better; 0.5 by chance",
        "share",
        "report",
    ),
    "average_precision": Term(
        "average precision",
        "Area under the curve of precision against recall, cross-validated.",
        "0 to 1, higher is better; the share of the class by chance",
        "share",
        "report",
    ),
    "neg_log_loss": Term(
        "negative log loss",
        "Mean log of the probability of the true class, cross-validated.",
        "0 or less, higher is better",
        "number",
        "report",
    ),
    "neg_brier_score": Term(
        "negative Brier score",
        "Minus the mean squared error of the probabilities, cross-validated.",
        "0 or less, higher is better",
        "number",
        "report",
    ),
    "retrain_change": Term(
        "changes when retrained",
        "Share of predictions that change when a tenth of the training rows is replaced and the learner fitted again.",
        "0 to 1, lower is steadier",
        "share",
        "stability",
    ),
    "retrain_by_seed": Term(
        "of these, by the seed alone",
        "Share of predictions that change when the learner is fitted again on the same rows of nearly full size.",
        "0 to 1; 0: no training randomness",
        "share",
        "stability",
    ),
    "sample_change": Term(
        "changes with another half",
        "Share of predictions that change when the learner is fitted on another half of the training part: 1 minus "
        "stability.",
        "0 to 1, lower is steadier; more than a retraining changes, as halves have no row in common",
        "share",
        "stability",
    ),
    "fit_rows": Term("rows fitted", "Rows of each cross-validated fit.", "0 or more", "count", "report"),
    "refit_spread": Term(
        "spread of accuracy over refits",
        "Standard deviation of the accuracy of refits on the same test points: other halves of the training part, "
        "other seeds.",
        "0 or more; lower: one fit is like another",
        "share",
        "stability",
    ),
    "refit_accuracy": Term(
        "accuracy of refits",
        "Share of test points that a refit on half of the training part predicts correctly, mean over refits.",
        "0 to 1, higher is better; lower than accuracy, as fits have fewer rows",
        "share",
        "stability",
    ),
    "train_accuracy": Term(
        "training accuracy",
        "Share of its own training rows that a refit predicts correctly.",
        "0 to 1; far above accuracy: it memorises rather than generalises",
        "share",
        "orientation",
    ),
    "gap": Term(
        "train–test gap",
        "Accuracy on its own training rows minus accuracy on test points.",
        "−1 to 1, near 0 is better",
        "share",
        "orientation",
    ),
    "stability": Term(
        "stability",
        "Probability that two refits on disjoint halves of the data predict the same class at a point.",
        "0 to 1, higher is more stable; it is not accuracy: a learner that always predicts one class has 1",
        "share",
        "stability",
    ),
    "kappa": Term(
        "kappa",
        "Stability beyond the agreement of random predictions with the same class shares.",
        "−1 to 1; 0: chance, 1: full agreement",
        "number",
        "stability",
    ),
    "stability_probes": Term(
        "stability on probes",
        "Stability on points spread evenly over the range of every column, independently of the other columns.",
        "0 to 1, higher is more stable; much lower than stability: refits agree only where there are data",
        "share",
        "stability",
    ),
    "dice": Term(
        "changed by training randomness",
        "Share of points on which two refits on the same training rows predict different classes.",
        "0 to 1; 0: the training rows alone decide",
        "share",
        "stability",
    ),
    "bias": Term(
        "bias",
        "How much more often than by chance at least z of h test predictions are right (z and h: see the overview).",
        "−p to 1 − p with p the probability by chance; 0: chance, higher is better",
        "number",
        "orientation",
    ),
    "expressivity": Term(
        "expressivity",
        "How much the predictions on h test points vary over refits, by data and training randomness together.",
        "0 to h·log2(classes) bits; 0: always the same predictions",
        "bits",
        "orientation",
    ),
    "capacity": Term(
        "capacity",
        "The part of expressivity that depends on the training sample.",
        "0 (another training sample gives the same predictions) to expressivity",
        "bits",
        "orientation",
    ),
    "stochasticity": Term(
        "stochasticity",
        "The part of expressivity due to training randomness: the same training rows, another random_state.",
        "0 to expressivity; averaging several refits lowers it",
        "bits",
        "orientation",
    ),
    "seconds_per_fit": Term(
        "seconds per fit",
        "Seconds for one refit and its predictions, median over refits, on one core.",
        "0 or more; measured once, on this machine",
        "seconds",
        "orientation",
    ),
    "slices": Term(
        "slices",
        "Ranges and categories in which errors concentrate, found in one part of the rows and confirmed in the others.",
        "0 or more, fewer is better",
        "count",
        "data",
    ),
    "rows": Term("rows", "Labelled rows.", "0 or more", "count", "data"),
    "columns": Term("columns", "Columns to learn from.", "0 or more", "count", "data"),
    "classes": Term("classes", "Distinct labels.", "2 or more", "count", "data"),
    "majority_share": Term(
        "share of the largest class",
        "Accuracy of always predicting the most frequent class.",
        "1/classes to 1; any accuracy should be higher",
        "share",
        "data",
    ),
    "baseline_accuracy": Term(
        "baseline accuracy",
        "Share of rows nearest to the centre of their own class, measured without the row's fold.",
        "0 to 1; reached by geometry alone, so a learner should beat it",
        "share",
        "data",
    ),
    "baseline_gain": Term(
        "gain over the nearest class",
        "Accuracy minus that of predicting the nearest class, on the same rows.",
        "−1 to 1; above 0: better than geometry alone",
        "share",
        "data",
    ),
    "complexity_auc": Term(
        "AUC of complexity for errors",
        "Probability that a wrong row has a higher complexity, known before training, than a right one.",
        "0 to 1; 0.5: complexity says nothing about errors",
        "share",
        "data",
    ),
    "confidence_auc": Term(
        "AUC of confidence for errors",
        "Probability that the model is less confident of a wrong row than of a right one.",
        "0 to 1; 0.5: its confidence says nothing about errors",
        "share",
        "data",
    ),
    "unlike_share": Term(
        "test rows unlike the known ones",
        "Share of the test rows that are farther from every class than nearly all training rows.",
        "0 to 1; about the stated rate of false alarms for rows of the same kind",
        "share",
        "data",
    ),
    "wrong_share": Term(
        "share of wrong labels",
        "Estimated share of wrong labels, by distances and, if there is one, by the most accurate learner.",
        "0 to 1; unknown where wrong labels look like overlap",
        "share",
        "data",
    ),
    "suspects": Term(
        "suspected labels",
        "Rows whose label is probably wrong, listed so that about one in ten of them is right after all.",
        "0 or more; a row to check, not a verdict",
        "count",
        "data",
    ),
    "contradictions": Term(
        "contradictory rows",
        "Rows equal in every column to a row with another label, beyond those a classifier could get right.",
        "0 or more; no classifier can predict all of them correctly",
        "count",
        "data",
    ),
    "duplicates": Term(
        "duplicate rows",
        "Rows that repeat an earlier row with the same label: copies may be in both training and test part.",
        "0 or more; they make accuracy too high",
        "count",
        "data",
    ),
    "complexity": Term(
        "complexity",
        "How hard a row is to separate from other classes: −log of the probability of its own class, by geometry.",
        "0 or more; 0: typical of its class, above 0.69: another class is nearer",
        "number",
        "data",
    ),
    "evenness": Term(
        "evenness of classes",
        "Entropy of the class shares divided by its largest possible value.",
        "0 to 1; 1: all classes have equal size",
        "number",
        "data",
    ),
    "accuracy_now": Term(
        "accuracy with these classes",
        "Share of held-out rows whose true class has the highest score, with equal weight for every class.",
        "0 to 1, higher is better; chance is 1/classes",
        "share",
        "classes",
    ),
    "accuracy_double": Term(
        "accuracy with twice the classes",
        "Forecast from how often other classes beat the true class, for classes of the same kind.",
        "0 to 1, higher is better",
        "share",
        "classes",
    ),
    "accuracy_tenfold": Term(
        "accuracy with ten times the classes",
        "Forecast from how often other classes beat the true class, for classes of the same kind.",
        "0 to 1, higher is better",
        "share",
        "classes",
    ),
    "information": Term(
        "information",
        "Information of the scores about the class, implied by the accuracy curve.",
        "0 or more, higher is better",
        "bits",
        "classes",
    ),
    "classifier_quality": Term(
        "H_w",
        "One minus the mean cosine between rows of the last layer.",
        "0 to 2; near 1 without training, slightly above 1 after it",
        "number",
        "network",
    ),
    "within": Term(
        "M_in",
        "Mean cosine between features of prototypes of one class.",
        "−1 to 1; 1: one direction per class",
        "number",
        "network",
    ),
    "between": Term(
        "M_bt",
        "One minus the mean cosine between features of a class and the means of other classes.",
        "0 to 2; 1: classes at right angles",
        "number",
        "network",
    ),
    "lower_bound": Term(
        "lower bound of accuracy (the paper's)",
        "M_bt minus two standard deviations.",
        "it contains the true accuracy too rarely: see the page on networks",
        "number",
        "network",
    ),
    "upper_bound": Term(
        "upper bound of accuracy (the paper's)",
        "M_in minus two standard deviations.",
        "it contains the true accuracy too rarely: see the page on networks",
        "number",
        "network",
    ),
    "estimate": Term(
        "estimated accuracy",
        "Accuracy by labelled rows and data-free figures, or unknown: without labelled rows it cannot be known.",
        "0 to 1; higher is better",
        "share",
        "network",
    ),
    "structure": Term(
        "structure of the weights",
        "Log of the largest singular value of each layer's weight over that of the same numbers shuffled, on average.",
        "0: random weights; below .05 the network looks untrained; higher is better trained",
        "number",
        "network",
    ),
    "row_spread": Term(
        "spread of the head's rows",
        "Log of the spread of cosines between rows of the last layer, over that of random rows.",
        "0: random rows; higher: some classes are more similar than others",
        "number",
        "network",
    ),
    "converged": Term(
        "walks that arrived",
        "Share of walks that reached their class.",
        "0 to 1; below .9 the figures are unreliable",
        "share",
        "network",
    ),
    "predicted": Term(
        "predicted at all",
        "Share of the items that have a prediction at all.",
        "0 to 1, higher is better; a missing prediction counts as wrong",
        "share",
        "predictions",
    ),
    "self_agreement": Term(
        "same prediction again",
        "Probability that two runs of a variant (or two variants) predict the same for an item.",
        "0 to 1; 1: never changes its mind",
        "share",
        "predictions",
    ),
    "changed_items": Term(
        "items that changed",
        "Share of the items to which the runs of a variant did not all predict the same.",
        "0 to 1; it grows with the number of runs",
        "share",
        "predictions",
    ),
    "overconfidence": Term(
        "overconfidence",
        "Mean score of the predictions made, minus accuracy.",
        "−1 to 1; above 0: scores promise too much",
        "share",
        "predictions",
    ),
    "size": Term("rows", "Number of rows of the table in the slice.", "1 or more", "count", "data"),
    "error_rate": Term(
        "error rate",
        "Share of wrong predictions in the slice, on rows that were not searched.",
        "0 to 1",
        "share",
        "data",
    ),
    "rest_rate": Term(
        "elsewhere",
        "Share of wrong predictions among all other rows that were not searched.",
        "0 to 1",
        "share",
        "data",
    ),
    "disagreement": Term(
        "disagreement",
        "Probability that two refits predict different classes in the region, on refits and points not searched.",
        "0 to 1",
        "share",
        "stability",
    ),
    "rest_disagreement": Term("elsewhere", "Disagreement outside the region.", "0 to 1", "share", "stability"),
    "lift": Term(
        "lift", "The rate here divided by the overall rate.", "above 1: higher than overall", "number", "data"
    ),
    "q_value": Term(
        "q",
        "Expected share of false discoveries among regions at least as clear as this one.",
        "0 to 1; at most the stated rate",
        "number",
        "data",
    ),
}


def term_of(figure: str) -> Term:
    """The meaning of a figure: of the glossary, or of a scorer of scikit-learn.

    >>> term_of("f1_macro").label
    'f1 macro'
    """
    if figure in TERMS:
        return TERMS[figure]
    meaning = f"The scorer {figure} of scikit-learn, cross-validated."
    return Term(figure.replace("_", " "), meaning, "higher is better", "number", "report")
