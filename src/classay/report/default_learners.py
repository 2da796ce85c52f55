"""The learners of a report to which the user brings none."""

from __future__ import annotations

from typing import Any

from ..estimators.spec import learners_from_texts

CONTRAST = ("tree", "nearest neighbours")
"""Of these, only for contrast: a page has their figures, but no warnings about them."""
TEXTS = (
    "boosting=HistGradientBoostingClassifier",
    "forest=RandomForestClassifier",
    "logistic regression=make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))",
    "tree=DecisionTreeClassifier",
    "nearest neighbours=make_pipeline(StandardScaler(), KNeighborsClassifier())",
)


def default_learners(contrast: bool = True) -> dict[str, Any]:
    """Gradient boosting, a forest and logistic regression; a tree and nearest neighbours for contrast."""
    learners = learners_from_texts(list(TEXTS))
    return {name: one for name, one in learners.items() if contrast or name not in CONTRAST}
