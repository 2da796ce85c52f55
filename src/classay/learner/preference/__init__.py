"""Which of two concepts does the learner favour when the evidence for both is equal, and how strongly?

Read `preference` (the verb, for one learner and several), `concepts` (concepts and the attributes they are defined on),
`trials` (training sets that mix two concepts), then `crossover` (the search for the p at which preference changes).
"""

from .preference import Preference, Preferences, preference, preferences

__all__ = ["Preference", "Preferences", "preference", "preferences"]
