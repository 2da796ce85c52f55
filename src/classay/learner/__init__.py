"""The learner: an algorithm with its settings, on a source of data. `record` fits it; everything else uses the record.

Read `record`, then `fitting/` (how refits are drawn, run and stored) and `records/` (what they predicted); `rounds` is
the same for several learners and growing numbers of splits. Each other folder is about one question: `orientation/` how
predictions vary, `stability/` whether they repeat, `scores/` how good scores are and how they move, `versions/` what
differs between two records or raters, `preference/` what it favours at equal evidence, `drift/` whether the process
changed, `sweep/` how all that depends on a setting. `importance` has the columns that refits rely on.
"""
