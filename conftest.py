"""For all tests: no deadlines, and what is not collected for doctests."""

import importlib.util

from hypothesis import settings

# A busy machine makes any example slow now and then; that is no failure.
settings.register_profile("classay", deadline=None)
settings.load_profile("classay")

# Conftest files are all called alike; and the room of networks cannot be imported without torch, though its tests can.
collect_ignore_glob = ["conftest.py", "*/conftest.py"]
if importlib.util.find_spec("torch") is None:
    collect_ignore_glob += ["src/classay/network/*.py", "tests/helpers/small_networks.py"]
