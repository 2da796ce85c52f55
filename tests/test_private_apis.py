"""Undocumented parts of other packages: the installed release has each, and without it the fallback works."""

import ast
from pathlib import Path
from types import SimpleNamespace

import loky
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import classay
from classay import private_apis as private
from classay.engine.pool import local_workers

SOURCE = Path(classay.__file__).parent
NAMES = {"_flags", "_USE_PSUTIL", "_client", "_parameter_constraints", "_validate_params", "_get_metadata_request"}


def test_they_are_used_in_one_file_only():
    for path in SOURCE.rglob("*.py"):
        if path.name == "private_apis.py":
            continue
        used = {node.attr for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if hasattr(node, "attr")}
        assert not used & NAMES, path
        assert "resource_tracker" not in used or path.name == "pool.py", path


class TestLoky:
    def test_a_pool_says_whether_it_is_broken(self):
        with local_workers(1) as pool:
            assert not private.is_broken(pool)
        assert private.is_broken(SimpleNamespace())
        assert private.is_broken(SimpleNamespace(_flags=SimpleNamespace()))
        assert private.is_broken(SimpleNamespace(_flags=SimpleNamespace(broken=OSError())))

    def test_workers_may_grow(self, monkeypatch):
        monkeypatch.setattr(loky.process_executor, "_USE_PSUTIL", True)  # raises if it is no longer there
        private.ignore_growth_of_worker()
        assert loky.process_executor._USE_PSUTIL is False
        monkeypatch.delattr(loky.process_executor, "_USE_PSUTIL")
        private.ignore_growth_of_worker()

    def test_folders_are_watched(self, tmp_path, monkeypatch):
        from loky.backend import resource_tracker

        assert all(hasattr(resource_tracker, name) for name in ("ensure_running", "register", "unregister"))
        private.start_resource_tracker()
        private.watch_folder(tmp_path, begin=True)
        private.watch_folder(tmp_path, begin=False)
        monkeypatch.setattr(private, "_tracker", lambda: None)
        private.start_resource_tracker()
        private.watch_folder(tmp_path, begin=True)


class TestDask:
    def test_the_client_of_an_executor(self):
        cfexecutor = pytest.importorskip("distributed.cfexecutor", reason="a cluster needs the extra dask")
        assert "self._client" in Path(cfexecutor.__file__).read_text(encoding="utf-8")
        assert private.client_of(object()) is None

    def test_threads_by_worker(self, two_workers):
        from distributed import Client

        with Client(two_workers.address, timeout=120, set_as_default=False) as client:
            assert hasattr(client.scheduler, "ncores")
            client.wait_for_workers(2)
            assert private.threads_by_worker(client, 30) == client.ncores()
            assert client.submit(private.is_expendable_worker).result() in (True, False)
        without = SimpleNamespace(scheduler=object(), ncores=lambda: {"a": 1})
        assert private.threads_by_worker(without, 1) == {"a": 1}


class TestScikitLearn:
    def test_constraints(self):
        assert any("rbf" in getattr(rule, "options", ()) for rule in private.constraints_of(SVC)["kernel"])
        assert private.constraints_of(object) == {}

    def test_parameters_are_checked_early(self):
        with pytest.raises(ValueError, match="'kernel' parameter"):
            private.check_parameters(SVC(kernel="none"))
        private.check_parameters(object())

    def test_requests(self):
        assert "sample_weight" in private.own_requests(GaussianNB(), "fit")
        assert private.own_requests(object(), "fit") == {}
