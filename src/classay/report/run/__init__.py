"""The work behind `characterize`, in reading order.

`rows` and `learners` (what users bring, checked), `clock` (the deadline), `settings` (how much is fitted), `measures`
and `suspicions` (figures from records and rows), `rounds` (the order of work with learners), `records` (predictions
that are given instead).
"""
