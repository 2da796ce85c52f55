"""What this room needs beside the core, and how to get it."""

from __future__ import annotations

import importlib.util

from ..expect import InputError

EXTRAS = {"torch": "network", "safetensors": "network", "onnx": "onnx"}
"""Library -> the extra of classay that brings it."""


def need(library: str, purpose: str) -> None:
    """Refuse if a library is not installed, and say which extra to install."""
    if importlib.util.find_spec(library) is None:
        raise InputError(
            f'{purpose} needs {library}, which is not installed: pip install "classay[{EXTRAS[library]}]".'
        )
