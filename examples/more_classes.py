"""A pilot with 40 classes: what happens with 1,000, and how much information do the scores carry?

Run: python examples/more_classes.py
"""

import numpy as np

import classay

if __name__ == "__main__":
    # Any decoder's scores work: here, minus squared distances to 40 class centres in 20 dimensions.
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 20))
    y = np.repeat(np.arange(40), 5)
    rows = centres[y] + 1.5 * rng.normal(size=(200, 20))
    scores = -((rows[:, None] - centres) ** 2).sum(axis=2)

    curve = classay.accuracy_curve(scores, y, marginal=True)
    print(curve, end="\n\n")
    print("With 1,000 classes:", classay.extrapolate(curve, k=1000), end="\n\n")
    print(classay.information(curve), end="\n\n")

    # The same for a brain, a sensor, an embedding: which of k stimuli gave this response?
    stimuli = rng.normal(size=(150, 8))
    responses = stimuli @ rng.normal(size=(8, 60)) + 4 * rng.normal(size=(150, 60))
    print(classay.identify(stimuli, responses))
