"""The declared floors of dependencies are versions without known holes in what reads users' files."""

from declared_floors import floors

from classay.network.files.weights import SAFE_TORCH


def test_every_dependency_has_a_floor():
    assert all(floor.count("==") == 1 for floor in floors())


def test_the_floor_of_torch_is_the_one_checked_at_run_time():
    assert f"torch=={'.'.join(map(str, SAFE_TORCH))}" in floors()
