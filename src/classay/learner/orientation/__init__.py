"""How do predictions vary over refits, with the data and by training randomness? Expressivity and its two parts.

Read `orientation` (the verb and its results), `bias` (the distributions of labelings, the bias to any target, bounds),
`entropy_parts` (what data and training randomness add, what cannot be counted, the paper's plain estimates), `entropy`
(the estimators), then `kinship` (how far learners are apart).
"""
