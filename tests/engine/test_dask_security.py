"""A web server in the place of a scheduler, and a scheduler that asks for certificates."""

import http.server
import threading

import pytest

from classay.engine import dask
from classay.expect import InputError

pytestmark = pytest.mark.slow  # a cluster takes seconds to start

distributed = pytest.importorskip("distributed", reason="a cluster needs the extra dask")


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


def test_a_web_server_is_no_scheduler(web_server):
    with (
        pytest.raises(InputError, match=r"not a Dask scheduler.*dashboard|No scheduler answers"),
        dask.connect(f"tcp://127.0.0.1:{web_server}", 3),
    ):
        pass


def test_a_reply_that_is_taken_for_a_huge_length(monkeypatch):
    async def too_large(*_):
        raise MemoryError("Unable to allocate 3.07 EiB")

    monkeypatch.setattr(dask, "_try_connection", too_large)
    with (
        pytest.raises(InputError, match=r"not a Dask scheduler.*dashboard \(usually 8787\)"),
        dask.connect("tcp://127.0.0.1:1", 1),
    ):
        pass


@pytest.mark.filterwarnings("ignore")
def test_certificates_are_asked_for_and_used(tmp_path):
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
