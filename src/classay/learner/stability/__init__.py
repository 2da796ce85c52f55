"""Does the learner predict the same when it is retrained, and where does it not?

Read `stability` (the verb, for a classifier, a regressor or several learners), `agreement` (pairs of refits, and their
intervals), `closeness` (numbers instead of labels), `new_data` (intervals for other data), then `disagreement` (regions
of the data where refits differ).
"""
