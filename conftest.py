"""What is not collected for doctests: conftest files, which are all called alike, and what needs an extra not there."""

import importlib.util

collect_ignore_glob = ["conftest.py", "*/conftest.py"]
if importlib.util.find_spec("torch") is None:
    # The tests of the room skip themselves; its modules and helpers cannot.
    collect_ignore_glob += ["src/classay/network/*.py", "tests/network/small_networks.py"]
