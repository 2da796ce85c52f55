"""Has the process changed, or only the learner? And should a new batch replace what was learned before?

Read `monitor` (`DriftMonitor`), `verdict` (what it reports of a batch), `calibration` (how concepts are compared, and
how far refits of an unchanged process disagree), `batches` (what a batch must have, and whether its rows have moved),
`state` (its concepts, and the monitor in a file), then `memory` (`MemorizingClassifier` and `MemorizingRegressor`,
which keep a concept until a new one is shown to be better).
"""
