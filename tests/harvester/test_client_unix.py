"""A daemon that is reached by the path of its unix socket."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer

import pytest

from harvester.client import DaemonClient
from messaging.ipc.socket_address import MOST_PATH_BYTES
from tests.serving import Silent


class _Healthy(Silent, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"status":"ok"}')


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """Its folder comes and goes with it, as a service's `RuntimeDirectory` does."""
    folder.mkdir()
    with ThreadingUnixStreamServer(str(folder / "s"), _Healthy) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
    (folder / "s").unlink()
    folder.rmdir()


def test_a_client_outlives_the_folder_in_which_it_has_found_the_socket(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with serving(tmp_path / "run"):
            client = stack.enter_context(DaemonClient(f"unix:{tmp_path}/run/s", None, "unused.pem"))
            assert client.health() == {"status": "ok"}
        with serving(tmp_path / "run"):
            assert client.health() == {"status": "ok"}


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_path_of_any_length_is_reached(tmp_path: Path, beyond: int) -> None:
    (tmp_path / "run").mkdir()
    folder = tmp_path / ("a" * (MOST_PATH_BYTES + beyond - len(f"{tmp_path}//s")))
    folder.symlink_to("run/short")
    with serving(tmp_path / "run/short"), DaemonClient(f"unix:{folder}/s", None, "unused.pem") as client:
        assert client.health() == {"status": "ok"}
