"""Which of two concepts does the learner favour when the evidence for both is equal, and how strongly?

Read `preference` (the verb, for one learner and several), `concepts` (concepts, their attributes, and how often two of
them predict the same), `trials` (training sets that mix two concepts), then `curve` (how preference rises with p, and
where it changes).
"""
