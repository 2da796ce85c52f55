"""The work behind `characterize`, in reading order.

`rows` and `learners` (what users bring, checked), `settings` (how much is fitted, and until when), `measures` and
`suspicions` (figures from records and rows), `rounds` (the order of work with learners), `records` (predictions that
are given instead).
"""
