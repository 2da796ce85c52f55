"""What every figure of a report means, in one sentence, with its range and which way is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A figure: what to call it, what it tells, its range and direction, how to print it, and where more is said.

    `form` is share (0 to 1), bits, seconds, count or number.
    """

    label: str
    tells: str
    range: str
    form: str
    page: str


TERMS: dict[str, Term] = {
    "accuracy": Term(
        "accuracy",
        "Share of test points that a refit on half of the training part labels rightly, mean over refits.",
        "0 to 1, higher is better; read it against the share of the largest class",
        "share",
        "stability",
    ),
    "cv_accuracy": Term(
        "accuracy, cross-validated",
        "Share of all rows labelled rightly by a fit on the other folds.",
        "0 to 1, higher is better; read it against the baseline",
        "share",
        "data",
    ),
    "train_accuracy": Term(
        "accuracy on its own rows",
        "Share of its own training rows that a refit labels rightly.",
        "0 to 1; far above accuracy: it remembers rather than generalises",
        "share",
        "orientation",
    ),
    "gap": Term(
        "train–test gap",
        "Accuracy on its own training rows less accuracy on test points.",
        "−1 to 1, near 0 is better",
        "share",
        "orientation",
    ),
    "stability": Term(
        "stability",
        "Chance that two refits on disjoint halves of the data answer the same at a point.",
        "0 to 1, higher is steadier; it is no accuracy: who always answers the same has 1",
        "share",
        "stability",
    ),
    "kappa": Term(
        "kappa",
        "Stability beyond the agreement of answers drawn by their own shares.",
        "−1 to 1; 0: chance, 1: always the same",
        "number",
        "stability",
    ),
    "stability_probes": Term(
        "stability, anywhere",
        "The same on points spread evenly over the range of every column, where columns do not go together.",
        "0 to 1, higher is steadier; much lower than stability: refits agree only where there are data",
        "share",
        "stability",
    ),
    "dice": Term(
        "disagreement by dice",
        "Share of points on which two refits on the very same rows answer differently.",
        "0 to 1; 0: the rows alone decide",
        "share",
        "stability",
    ),
    "bias": Term(
        "bias",
        "How much more often than by guessing at least so many of h test labels are right (see methods).",
        "−p to 1 − p with p the chance of guessing; 0: guessing, higher is better",
        "number",
        "orientation",
    ),
    "expressivity": Term(
        "expressivity",
        "How far the answers on h test points spread over refits, by data and by dice together.",
        "0 to h·log2(classes) bits; 0: always the same answers",
        "bits",
        "orientation",
    ),
    "capacity": Term(
        "capacity",
        "How much of that spread depends on which rows were drawn.",
        "0 to expressivity; more rows, or a stronger bias, lower it",
        "bits",
        "orientation",
    ),
    "stochasticity": Term(
        "stochasticity",
        "How much of that spread is the learner's own dice: the rows held still, another random_state.",
        "0 to expressivity; averaging more members lowers it",
        "bits",
        "orientation",
    ),
    "seconds_per_fit": Term(
        "seconds a fit",
        "Seconds of one refit and its predictions, median over refits, on one core.",
        "0 or more; measured once, on this machine",
        "seconds",
        "orientation",
    ),
    "slices": Term(
        "slices",
        "Ranges and categories in which errors gather, found in one half of the rows and confirmed in the other.",
        "0 or more, fewer is better",
        "count",
        "data",
    ),
    "rows": Term("rows", "Labelled rows.", "0 or more", "count", "data"),
    "columns": Term("columns", "Columns to learn from.", "0 or more", "count", "data"),
    "classes": Term("classes", "Distinct labels.", "2 or more", "count", "data"),
    "majority_share": Term(
        "share of the largest class",
        "Accuracy of always answering the most frequent class.",
        "1/classes to 1; what any accuracy must beat",
        "share",
        "data",
    ),
    "baseline_accuracy": Term(
        "baseline accuracy",
        "Share of rows nearest to the centre of their own class, measured without the row's fold.",
        "0 to 1; what geometry alone reaches, and a learner should beat",
        "share",
        "data",
    ),
    "suspects": Term(
        "suspected labels",
        "Rows that look like another class, as surely as rows of that class do.",
        "0 or more; hard but rightly labelled rows are among them",
        "count",
        "data",
    ),
    "contradictions": Term(
        "contradictory rows",
        "Rows equal in every column to a row with another label, beyond those a classifier could get right.",
        "0 or more; no classifier can label all of them rightly",
        "count",
        "data",
    ),
    "duplicates": Term(
        "repeated rows",
        "Rows that occur before with the same label: they may stand in training and test part at once.",
        "0 or more; they flatter accuracy",
        "count",
        "data",
    ),
    "complexity": Term(
        "complexity",
        "How hard a row is to tell from other classes: −log of the probability of its own class, by geometry.",
        "0 or more; 0: typical of its class, above 0.69: another class is nearer",
        "number",
        "data",
    ),
    "evenness": Term(
        "evenness of classes",
        "Entropy of the class shares over the most possible.",
        "0 to 1; 1: all classes as large",
        "number",
        "data",
    ),
    "accuracy_now": Term(
        "accuracy with these classes",
        "Share of held-out rows whose true class has the highest score, classes weighing alike.",
        "0 to 1, higher is better; chance is 1/classes",
        "share",
        "classes",
    ),
    "accuracy_double": Term(
        "accuracy with twice the classes",
        "Foreseen from how often the true class is beaten by the others, for classes of the same kind.",
        "0 to 1, higher is better",
        "share",
        "classes",
    ),
    "accuracy_tenfold": Term(
        "accuracy with ten times the classes",
        "Foreseen from how often the true class is beaten by the others, for classes of the same kind.",
        "0 to 1, higher is better",
        "share",
        "classes",
    ),
    "information": Term(
        "information",
        "Bits that the scores carry about the class, implied by the accuracy curve.",
        "0 or more, higher is better",
        "bits",
        "classes",
    ),
    "classifier_quality": Term(
        "H_w",
        "One less the mean cosine between rows of the last layer.",
        "0 to 2; near 1 also without training, a little above after it",
        "number",
        "network",
    ),
    "within": Term(
        "M_in",
        "Mean cosine between features of prototypes of one class.",
        "−1 to 1; 1: one direction a class",
        "number",
        "network",
    ),
    "between": Term(
        "M_bt",
        "One less the mean cosine between features of a class and means of others.",
        "0 to 2; 1: classes at right angles",
        "number",
        "network",
    ),
    "lower_bound": Term(
        "lower bound of accuracy (the paper's)",
        "M_bt less two standard deviations.",
        "it encloses too seldom: see the page on networks",
        "number",
        "network",
    ),
    "upper_bound": Term(
        "upper bound of accuracy (the paper's)",
        "M_in less two standard deviations.",
        "it encloses too seldom: see the page on networks",
        "number",
        "network",
    ),
    "estimate": Term(
        "estimated accuracy",
        "A combination of the dataless figures, calibrated on other networks; it ranks checkpoints of one task.",
        "0 to 1; its level says little",
        "share",
        "network",
    ),
    "converged": Term(
        "walks that arrived",
        "Share of walks that reached their class.",
        "0 to 1; below .9 the figures are doubtful",
        "share",
        "network",
    ),
    "size": Term("rows", "Rows of the table in it.", "1 or more", "count", "data"),
    "error_rate": Term(
        "error rate", "Share of wrong labels in it, of rows that were not searched.", "0 to 1", "share", "data"
    ),
    "rest_rate": Term(
        "elsewhere", "Share of wrong labels among all other rows not searched.", "0 to 1", "share", "data"
    ),
    "disagreement": Term(
        "disagreement",
        "Chance that two refits answer differently there, on refits and points that were not searched.",
        "0 to 1",
        "share",
        "stability",
    ),
    "rest_disagreement": Term("elsewhere", "The same everywhere else.", "0 to 1", "share", "stability"),
    "lift": Term("times all", "The rate here over the rate of all.", "above 1: more than usual", "number", "data"),
    "q_value": Term(
        "q",
        "Share of regions at least as clear as this one that would be chance.",
        "0 to 1; at most the stated rate",
        "number",
        "data",
    ),
}
