"""Predictions from any system, in any language: an array of answers is enough.

Run: python examples/any_system.py
"""

import numpy as np

import classay

if __name__ == "__main__":
    # 20 training runs of some system, 3 times each with another seed; its answers on 200 points.
    rng = np.random.default_rng(0)
    truth = rng.choice(["cat", "dog", "fox"], size=200)
    guesses = rng.choice(["cat", "dog", "fox"], size=(20, 3, 200))
    answers = np.where(rng.random((20, 3, 200)) < 0.8, truth, guesses)

    labelings = classay.Labelings.from_arrays(answers, truth, name="our system")
    print(classay.orientation(labelings))
