"""How a record comes about: what is drawn, checked, fitted and stored. Runs once; nothing here measures anything.

In reading order: `schemes` and `folds` (what fits are trained on and predict: a `Sample` each), `probes` (comparison
points), `checks` (inputs, laid out before any fit as a `Setup`), `groups` (settings that share fits) and `paths/` (how
they share them), `task` (what a worker does: from a `Bench` to `Answers`), `checkpoints` (answers and records on disk),
`runner` (all tasks on any executor, and the records of their answers), `provenance` (the description of a record, and
its address in a store).
"""
