"""How a forest changes with its size: one fit for all sizes, kept in a store, then measured again.

Run: python examples/sweep.py
"""

import tempfile

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import classay

if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    with tempfile.TemporaryDirectory() as store:
        settings = {"scheme": classay.HalfSplits(10), "repeats": 3, "store": store}
        w = classay.sweep(RandomForestClassifier(), X, y, "n_estimators", [1, 2, 5, 10, 20, 40], **settings)
        print(w, end="\n\n")

        figures = w.to_frame().query("metric in ['test_accuracy', 'capacity', 'stochasticity']")
        print(figures.pivot(index="value", columns="metric", values="estimate").round(3), end="\n\n")

        # The same sizes and one more: only the new one is fitted.
        w = classay.sweep(RandomForestClassifier(), X, y, "n_estimators", [1, 2, 5, 10, 20, 40, 80], **settings)
        agreement = w.ask(classay.stability).query("metric == 'stability'")
        print(agreement[["value", "estimate", "low", "high"]].round(3).to_string(index=False))
