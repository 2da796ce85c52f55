"""What last digits depend on is in every record, and compared when a record is used elsewhere."""

import re
import warnings

import pytest
from sklearn.naive_bayes import GaussianNB

from classay import Subsets, record
from classay.engine import archive, dask, machine
from classay.engine.store import Chunks, OtherMachineWarning, Store

OTHER = {"system": "Plan 9", "cpu": "a Z80", "instructions": "AVX9", "blas": "openblas 0.1 Z80"}


def test_every_record_says_where_it_was_made(tmp_path):
    header = archive.read_header(archive.write(tmp_path / "a.classay", "kind", {}, {"x": [1]}))
    assert header["machine"] == machine.machine()
    assert set(header["versions"]) == {"python", "classay", "numpy", "scipy", "scikit-learn", "pandas"}
    assert list(machine.differences(header)) == []
    assert re.search(r"\d", header["machine"]["blas"])


def test_differences_that_change_last_digits():
    found = list(machine.differences({"machine": OTHER, "versions": {"numpy": "1.0", "pandas": "0.1"}}))
    assert [each.split(" ")[0] for each in found] == ["instructions", "blas", "numpy"]
    assert found[2].startswith("numpy 1.0 (here ")


@pytest.fixture
def elsewhere(monkeypatch):
    """Write records as on another machine."""

    def begin():
        monkeypatch.setattr(archive, "machine", lambda: OTHER)
        return monkeypatch

    return begin


def test_records_of_another_machine_are_reused_with_one_warning(tmp_path, elsewhere):
    X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [0, 0, 1, 1] * 10
    few = {"scheme": Subsets(4), "repeats": 1, "random_state": 0, "executor": 1, "store": tmp_path}
    elsewhere()
    made = record(GaussianNB(), X, y, **few)
    with pytest.warns(OtherMachineWarning, match=r"computed with instructions AVX9 \(here .*last digits may differ"):
        again = record(GaussianNB(), X, y, **few)
    assert (made.labels == again.labels).all()


def test_parts_and_records_of_one_store_warn_once(tmp_path, elsewhere):
    store = Store(tmp_path)
    chunks = Chunks(store, "a" * 64)
    patch = elsewhere()
    for name in ("00000", "00001"):
        chunks.put(name, {}, {"x": [1]})
    patch.undo()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert all(chunks.get(name) for name in ("00000", "00001"))
    assert [each.category for each in caught] == [OtherMachineWarning]


def test_workers_of_other_machines():
    dask._compare_machines("tcp://a:1", {"tcp://b:2": machine.machine()})
    with pytest.warns(dask.ClusterWarning, match=r"blas openblas 0.1 Z80 \(here .*\) on tcp://b:2"):
        dask._compare_machines("tcp://a:1", {"tcp://b:2": OTHER, "tcp://c:3": machine.machine()})
