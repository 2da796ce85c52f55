"""Will the next retraining change my customers' predictions? Two versions, and what a mere refit changes.

Run: python examples/churn.py [FILE TARGET]     for example: python examples/churn.py data/bank.csv y
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import classay


def data(arguments):
    """The table and labels to use: a file, or the built-in one."""
    if not arguments:
        return load_breast_cancer(return_X_y=True, as_frame=True)
    from classay.tables.read import read_table

    table = read_table(arguments[0], arguments[1])
    return table.X, table.y


def refits(learner, X, y, test, seeds):
    """Predictions of the same learner, refitted with other seeds."""
    fits = [learner(seed).fit(X, y).predict(test) for seed in seeds]
    return np.stack(fits)


if __name__ == "__main__":
    X, y = data(sys.argv[1:])
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)

    def old_learner(seed):
        return classay.encoded(DecisionTreeClassifier(max_depth=8, max_features="sqrt", random_state=seed), X)

    def new_learner(seed):
        return classay.encoded(DecisionTreeClassifier(max_depth=2, max_features="sqrt", random_state=seed), X)

    old = classay.Labelings.from_arrays(
        refits(old_learner, X_train, y_train, X_test, range(10))[None], y_test, name="old"
    )
    again = classay.Labelings.from_arrays(
        refits(old_learner, X_train, y_train, X_test, range(10, 20))[None], y_test, name="old, other seeds"
    )
    new = classay.Labelings.from_arrays(
        refits(new_learner, X_train, y_train, X_test, range(10))[None], y_test, name="new"
    )

    table = X_test.iloc[:, :6].reset_index(drop=True)
    print("Only the seeds changed:", classay.compare(old, again, table).answer())
    print("Another learner:", classay.compare(old, new, table))
