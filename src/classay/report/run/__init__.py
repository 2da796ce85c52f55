"""The work behind `characterize`, in reading order.

`rows` and `learners` (what users bring, checked), `clock` (the deadline),
`measures` (figures from records and rows), `rounds` (the order of work), `settings` (what was done, and how to repeat
it).
"""
