"""Equal accuracy, different behaviour: compare learners by what makes their predictions vary.

Run: python examples/compare_learners.py
"""

from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import classay

if __name__ == "__main__":
    X, y = load_wine(return_X_y=True)
    learners = {
        "tree": DecisionTreeClassifier(),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "naive Bayes": GaussianNB(),
    }
    scheme = classay.Subsets(30, size=0.3)
    records = {name: classay.record(learner, X, y, scheme, name=name) for name, learner in learners.items()}
    for labelings in records.values():
        print(classay.orientation(labelings), end="\n\n")
    print(classay.kinship(records))
