"""Is a learner *marginal*: does it score each class without regard to which others there are?

The theory of label sets needs that: some of the columns must be what the learner, fitted on those classes, would give.
"""

from __future__ import annotations

from typing import Any

ALONE = {
    "BernoulliNB": "by a model of its own",
    "CategoricalNB": "by a model of its own",
    "GaussianNB": "by a model of its own",
    "MultinomialNB": "by a model of its own",
    "NearestCentroid": "by its own centre",
    "QuadraticDiscriminantAnalysis": "by a model of its own",
}
NEARLY = {
    "LinearDiscriminantAnalysis": "the covariance is shared",
    "LinearSVC": "each class is set against all others together",
    "OneVsRestClassifier": "each class is set against all others together",
    "PassiveAggressiveClassifier": "each class is set against all others together",
    "Perceptron": "each class is set against all others together",
    "RidgeClassifier": "each class is set against all others together",
    "RidgeClassifierCV": "each class is set against all others together",
    "SGDClassifier": "each class is set against all others together",
}
TOGETHER = {
    "AdaBoostClassifier",
    "BaggingClassifier",
    "CalibratedClassifierCV",
    "CatBoostClassifier",
    "ComplementNB",
    "DecisionTreeClassifier",
    "ExtraTreeClassifier",
    "ExtraTreesClassifier",
    "GaussianProcessClassifier",
    "GradientBoostingClassifier",
    "HistGradientBoostingClassifier",
    "KNeighborsClassifier",
    "LGBMClassifier",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MLPClassifier",
    "NuSVC",
    "OneVsOneClassifier",
    "RadiusNeighborsClassifier",
    "RandomForestClassifier",
    "SVC",
    "StackingClassifier",
    "VotingClassifier",
    "XGBClassifier",
}


def is_marginal(learner: Any) -> tuple[bool | None, str]:
    """True, False, or None where the kind of learner is not known; and what has to be said of it.

    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> is_marginal(LinearDiscriminantAnalysis())
    (True, 'LinearDiscriminantAnalysis is taken as marginal, which it is nearly: the covariance is shared.')
    """
    inner = learner
    while True:  # a pipeline is what its last step is, and a search what it searches
        if getattr(inner, "steps", None):
            inner = inner.steps[-1][1]
        elif hasattr(inner, "estimator") and type(inner).__name__.endswith("SearchCV"):
            inner = inner.estimator
        else:
            break
    name = type(inner).__name__
    if name in ALONE:
        return True, f"{name} is marginal: each class is scored {ALONE[name]}."
    if name in NEARLY:
        return True, f"{name} is taken as marginal, which it is nearly: {NEARLY[name]}."
    if name in TOGETHER:
        return False, f"{name} is not marginal: classes are told apart together."
    return None, ""
