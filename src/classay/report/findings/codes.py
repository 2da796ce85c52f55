"""Every finding that a report may have: its stable code, its title, and the rule by which it is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """`title` heads the finding, `warns` says when it is a warning, `notes` when a note; else it is fine."""

    title: str
    warns: str
    notes: str = ""


CODES: dict[str, Code] = {
    "L101": Code(
        "Better than the largest class",
        "Its cross-validated accuracy is not above the share of the largest class.",
        "It is, but the 95 % interval of the difference, paired over rows, reaches 0; or it is not, and its fits had "
        "fewer rows for the sake of the budget.",
    ),
    "L102": Code(
        "As accurate, less stable",
        "Another learner is not told from it by accuracy (95 %), and is more stable, interval and all, by more than "
        "half of the interval of the difference in accuracy: more answers change than the accuracies can tell apart. "
        "Both paired over subsets and points.",
        "All learners that are so much more stable are more accurate, too.",
    ),
    "L103": Code(
        "Dice or data",
        "Stochasticity exceeds capacity, interval and all, and dice alone change more answers than half of the "
        "interval of accuracy.",
        "Stochasticity exceeds capacity and changes fewer answers than that; or capacity exceeds stochasticity.",
    ),
    "L104": Code(
        "Memorising",
        "Another learner is not shown to be less accurate (95 %), and its train–test gap and its expressivity are "
        "smaller, intervals and all.",
        "There is no other learner, its gap is above 0, and its stochasticity is too.",
    ),
    "L105": Code(
        "A class is never answered",
        "No refit ever answers a class, and answers by the class's share would have missed it in all test points with "
        "a chance below 5 %, shared by all classes.",
    ),
    "L106": Code("Refits failed", "A refit raised an error or took too long."),
    "L107": Code("Fits warned", "", "A fit warned, for example that it did not converge."),
    "L108": Code(
        "Learners that answer alike", "", "The distance of two learners' answers is no more than chance gives."
    ),
    "L109": Code(
        "Agreement beyond chance",
        "The 95 % interval of kappa reaches 0 and ends below .5: refits agree hardly more than answers drawn by their "
        "shares.",
        "The interval reaches from 0 to .5 or more: too few refits to tell.",
    ),
    "L110": Code(
        "Where refits disagree",
        "",
        "A region was found by one half of refits and points and confirmed by the other (q ≤ .05).",
    ),
    "D201": Code(
        "Better than the geometric baseline",
        "Cross-validated accuracy is below the baseline's, interval and all, paired over rows.",
        "The 95 % interval of the difference reaches 0, or lies below it; or fits had fewer rows than there are, for "
        "the sake of the budget.",
    ),
    "D202": Code(
        "Suspected labels",
        "Clearly more suspected labels that the best learner contradicts, too, than twice what overlap would give: the "
        "tail of a logistic distribution with the mean and spread of the margins of each class, counted by Poisson.",
        "There are suspected labels, no more than overlap explains.",
    ),
    "D203": Code("Contradictory rows", "", "Rows equal in every column have different labels."),
    "D204": Code("Repeated rows", "", "Rows occur more than once with the same label."),
    "S301": Code(
        "Errors gather in a slice",
        "A slice was found in one half of the rows and confirmed in the other (q ≤ .05), with more errors than the "
        "learner's own scores foretell (p at most .02, shared by all learners and the slices tested), which foretell "
        "less than half of the difference to elsewhere. How errors go with scores is learnt from the first half.",
        "A slice was found and confirmed, and its scores foretell most of it: rows there are hard, and it knows.",
    ),
    "C401": Code(
        "More classes",
        "The upper end of the accuracy foreseen with ten times the classes is below half of the present accuracy.",
        "The upper end is below the present accuracy.",
    ),
    "N501": Code("A trained network", "The interval of the estimated accuracy reaches chance."),
    "N502": Code("Classes the network takes for alike", "", "Always told: the closest pair of rows of the head."),
}
