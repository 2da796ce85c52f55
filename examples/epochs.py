"""A network's epochs: what each epoch changes, and how much of it is the seed.

Run: python examples/epochs.py
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import classay

if __name__ == "__main__":
    X, y = load_digits(return_X_y=True)
    X = X / 16
    train, test = np.arange(len(y)) % 3 > 0, np.arange(len(y)) % 3 == 0
    labels = np.empty((6, 4, test.sum()), dtype=int)  # epochs x seeds x rows
    for seed in range(4):
        network = MLPClassifier((20,), random_state=seed, learning_rate_init=0.003)
        for epoch in range(6):
            network.partial_fit(X[train], y[train], classes=np.unique(y))
            labels[epoch, seed] = network.predict(X[test])

    record = classay.Labelings.from_arrays(labels, y[test], name="network")
    print(record)
    print("Accuracy by epoch:", record.test_accuracy.mean(axis=1).round(3).tolist())
    print(classay.stability(record))
    print(classay.judges(record).repeats_needed())

    # What the last epoch changed for seed 0, beside what another seed changes.
    old, new = (
        classay.Labelings.from_arrays(record.labels[epoch, :1], record.truth, name=f"epoch {epoch}") for epoch in (4, 5)
    )
    seeds = classay.Labelings.from_arrays(record.labels[4:5, 1:], record.truth, name="epoch 4, other seeds")
    print(classay.compare(old, new, refits=seeds))
