"""Connecting to a cluster: what does not answer or is none, certificates, and software that differs."""

import http.server
import socket
import sys
import threading
import time
import warnings

import pytest

from classay.cli.app import run as classay_command
from classay.engine import dask
from classay.expect import InputError

pytestmark = pytest.mark.slow  # a cluster takes seconds to start


def test_without_a_scheduler_it_is_the_number_of_workers():
    for workers in (None, 3):
        with dask.executor_of(None, workers) as executor:
            assert executor is workers


def test_a_scheduler_or_local_workers_not_both():
    with (
        pytest.raises(InputError, match=r"tcp://a:1\) and 2 local workers were given; expected only one"),
        dask.executor_of("tcp://a:1", 2),
    ):
        pass


def test_the_extra_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'classay\[dask\]'"), dask.connect("tcp://a:1"):
        pass


@pytest.mark.parametrize(
    "address",
    ["", "localhost", "tcp://", "tcp://host", "tcp://host:", "tcp://:1", "tcp://a:b", "a b:1", "carrier://a:1"],
)
def test_an_address_that_is_none(address):
    pytest.importorskip("distributed", reason="a cluster needs the extra dask")
    with pytest.raises(InputError, match="The scheduler's address is "), dask.connect(address, 1):
        pass


@pytest.mark.parametrize("listens", [False, True], ids=["nobody there", "somebody who says nothing"])
def test_a_scheduler_that_does_not_answer_is_told_within_seconds(listens, capsys, monkeypatch):
    pytest.importorskip("distributed", reason="a cluster needs the extra dask")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if listens:
            taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        begin = time.monotonic()
        with (
            pytest.raises(InputError, match=f"No scheduler answers at {address} within 1 s"),
            dask.connect(address, 1),
        ):
            pass
        assert time.monotonic() - begin < 10
        if not listens:
            monkeypatch.setattr(dask, "CONNECT_TIMEOUT", 1.0)
            assert classay_command(["learner", "iris", "--quiet", "--scheduler", address]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert f"No scheduler answers at {address} within 1 s" in " ".join(err.split())
            assert "Traceback" not in err


# --- A web server in the place of a scheduler, and a scheduler that asks for certificates ---


@pytest.fixture
def web_server():
    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_web_server_is_no_scheduler(web_server, monkeypatch):
    pytest.importorskip("distributed", reason="a cluster needs the extra dask")

    async def too_large(*_):
        raise MemoryError("Unable to allocate 3.07 EiB")

    message = r"not a Dask scheduler.*dashboard \(usually 8787\)"
    with (
        pytest.raises(InputError, match=f"{message}|No scheduler answers"),
        dask.connect(f"tcp://127.0.0.1:{web_server}", 3),
    ):
        pass
    monkeypatch.setattr(dask, "_try_connection", too_large)  # its reply is taken for a huge length
    with pytest.raises(InputError, match=message), dask.connect("tcp://127.0.0.1:1", 1):
        pass


@pytest.mark.filterwarnings("ignore")
def test_certificates_are_asked_for_and_used(tmp_path):
    pytest.importorskip("distributed", reason="a cluster needs the extra dask")
    pytest.importorskip("cryptography", reason="makes certificates")
    import dask.config as configuration
    from distributed import LocalCluster, Security

    security = Security.temporary()
    contents = {"ca": security.tls_ca_file, "cert": security.tls_client_cert, "key": security.tls_client_key}
    files = {}
    for name, content in contents.items():
        files[name] = tmp_path / f"{name}.pem"
        files[name].write_text(content)
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tls://", security=security, dashboard_address=None
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with pytest.raises(InputError), dask.connect(address, 5):
            pass
        with pytest.raises(InputError), dask.connect(address.replace("tls://", "tcp://"), 3):
            pass
        settings = {
            "distributed.comm.tls.ca-file": str(files["ca"]),
            "distributed.comm.tls.client.cert": str(files["cert"]),
            "distributed.comm.tls.client.key": str(files["key"]),
        }
        with configuration.set(settings), dask.connect(address, 20) as executor:
            assert executor.submit(sum, [1, 2, 3]).result() == 6


# --- Software that differs ---

SAME = {
    "classay": "0.1.0",
    "scikit-learn": "1.9.1",
    "numpy": "2.4.6",
    "scipy": "1.17",
    "pandas": "3.0",
    "cloudpickle": "3",
}


def of(python="3.11.7.final.0", **other):
    packages = {**SAME, **{name.replace("_", "-"): version for name, version in other.items()}}
    return {"host": {"python": python}, "packages": packages}


def examined(workers, scheduler=None):
    versions = {"client": of(), "scheduler": scheduler or of(), "workers": workers}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dask._check_versions("tcp://a:1", versions)
    return [str(each.message) for each in caught]


def test_the_same_software_is_passed_without_a_word():
    assert examined({"w1": of(), "w2": of(python="3.11.9.final.0")}) == []
    assert examined({}, of(scikit_learn="1.8.0")) == []  # the scheduler computes nothing


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (of(python="3.12.1.final.0"), r"python 3\.12 \(here 3\.11\) on w2"),
        (of(classay="0.2.0"), r"classay 0\.2\.0 \(here 0\.1\.0\) on w2"),
        (of(classay=None), r"classay is absent \(here 0\.1\.0\) on w2"),
        (of(scikit_learn="1.8.0"), r"scikit-learn 1\.8\.0 \(here 1\.9\.1\) on w2"),
        (of(numpy="1.26.4"), r"numpy 1\.26\.4 \(here 2\.4\.6\) on w2"),
    ],
)
def test_software_that_decides_is_refused(other, message):
    with pytest.raises(InputError, match=f"cluster at tcp://a:1 has other software: {message}. Install the same"):
        examined({"w1": of(), "w2": other})


def test_a_scheduler_that_cannot_read_what_is_sent_is_refused():
    for scheduler in (of(classay=None), of(python="3.12.1.final.0")):
        with pytest.raises(InputError, match="on the scheduler"):
            examined({"w1": of()}, scheduler)


def test_software_that_matters_less_is_warned_of():
    (message,) = examined({"w1": of(numpy="2.4.5"), "w2": of(numpy="2.4.5"), "w3": of()})
    assert "numpy 2.4.5 (here 2.4.6) on w1, w2." in message
