"""What to type to get the same figures again: with what the budget bought, named."""

from __future__ import annotations

from typing import Any


def chosen(settings: dict[str, Any]) -> dict[str, Any]:
    """The numbers that a budget sets."""
    return {name: settings[name] for name in ("splits", "repeats", "size", "n_probes", "fold_rows")}


def call(settings: dict[str, Any]) -> str:
    """The Python call that gives the same figures."""
    named = ", ".join(f"{name}={value!r}" for name, value in chosen(settings).items())
    return f"classay.characterize(learners, X, y, {named}, random_state={settings['seed']})"


def command_again(command: str, settings: dict[str, Any]) -> str:
    """The command that gives the same figures: what the budget bought is named."""
    named = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in chosen(settings).items())
    return f"{command} {named}"
