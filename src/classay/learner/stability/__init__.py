"""Does the learner predict the same when it is retrained, and where does it not?

Read `stability` (the verb, for a classifier, a regressor or several learners), `agreement` (pairs of refits, of labels
or numbers), `new_data` (intervals for other data), then `disagreement` (regions of the data where refits differ).
"""
