"""Predictions from any system, in any language: an array of predictions is enough.

Run: python examples/any_system.py
"""

import numpy as np

import classay

if __name__ == "__main__":
    # Some system trained on 20 samples, 3 times each with different seeds; its predictions on 200 points.
    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog", "fox"], size=200)
    guesses = rng.choice(["cat", "dog", "fox"], size=(20, 3, 200))
    answers = np.where(rng.random((20, 3, 200)) < 0.8, truth, guesses)

    labelings = classay.Labelings.from_arrays(answers, truth, name="our system")
    print(classay.orientation(labelings))
