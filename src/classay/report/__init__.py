"""The report: what every room says of learners, data, label set and networks, in words first, on one page."""
