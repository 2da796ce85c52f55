"""How a record comes about: what is drawn, checked, fitted and stored. Runs once; nothing here measures anything.

In reading order: `schemes` and `folds` (training subsets), `probes` (comparison points), `checks` (inputs,
laid out before any fit), `groups` (settings that share fits) and `paths/` (how they share them), `task`
(what a worker does), `runner` (all tasks on any executor), `checkpoints` (their results on disk), `provenance` (the
description of a record, and its address in a store).
"""
