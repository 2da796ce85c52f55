"""Label sets: what a classifier would reach with fewer classes, with more, and how much its predictions say.

`ranks` is the record: where the true class ranked among the others in every test row. Then one folder per question:
`curve` (accuracy, or cost, with 2, 3, …, K classes), `extrapolate` (with more than K: accuracy, top-m, the largest
label set, two classifiers, classes that are added), `information` (how many bits the predictions carry) and `identify`
(which of k stimuli caused a response). `information` and `extrapolate` start from a curve; `identify` makes its own
ranks.
"""
