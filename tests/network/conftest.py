"""One thread for torch: small networks are no faster with more, and tests run beside each other."""

import importlib.util

if importlib.util.find_spec("torch") is not None:
    import torch

    torch.set_num_threads(1)
