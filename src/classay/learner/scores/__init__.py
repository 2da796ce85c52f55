"""What do the scores of refits say: how good they are, how calibrated, and how they move when a learner is refitted?

Read `metrics` (every usual metric with its interval and its spread over refits), with `scorers` (how it is computed),
`row_blocks` (intervals for any metric), `curves` (and calibration) and `threshold`. `comparison` has one
prediction per row, such as cross-validated ones: a metric, and who is ahead on the same rows. Then
`score_variance` (training sample or training randomness?) and `retrain_change` (what does a retraining change?), which
compare pairs of refits (`refit_pairs`).
"""
