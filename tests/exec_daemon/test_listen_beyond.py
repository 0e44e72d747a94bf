"""Listening beyond this machine, and with a certificate that the operator brings."""

from __future__ import annotations

import json
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from exec_daemon import DaemonSettings
from exec_daemon.errors import AddressRefused, CertificateUnusable
from exec_daemon.listen import bind
from tests.exec_daemon.certified import SERVER, forged
from tests.exec_daemon.test_server import PROGRAM
from tests.patience import PATIENCE_S, until


def beyond(tmp_path: Path, **more: Any) -> DaemonSettings:
    return DaemonSettings(home=tmp_path / "home", host="0.0.0.0", port=0, log_to_stderr=False, **more)


@pytest.mark.parametrize("asked", [{}, {"allow_own_certificates": True}])
def test_who_listens_beyond_this_machine_says_so(tmp_path: Path, asked: dict[str, Any]) -> None:  # D077
    with pytest.raises(AddressRefused, match="allow_remote"):
        bind(beyond(tmp_path, **asked))


def test_a_certificate_that_nobody_else_knows_is_for_this_machine(tmp_path: Path) -> None:  # D077
    with pytest.raises(AddressRefused, match=r"tls\.certificate.*allow_own_certificates"):
        bind(beyond(tmp_path, allow_remote=True))


@pytest.mark.parametrize("asked", [{"allow_own_certificates": True}, {"certificate": Path("/etc/ssl/x.pem")}])
def test_asked_for_by_name_it_listens(tmp_path: Path, asked: dict[str, Any]) -> None:
    with bind(beyond(tmp_path, allow_remote=True, **asked)) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


def brought(tmp_path: Path, name: str) -> tuple[Path, Path]:
    key, certificate = forged(None, dns=(name,), usages=(SERVER,))
    files = tmp_path / "theirs.pem", tmp_path / "theirs.key"
    files[0].write_text(certificate)
    files[1].write_bytes(key)
    return files


def shown(running: Any) -> bytes:
    host, port = running.url.removeprefix("https://").rsplit(":", 1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE_S) as raw,
        context.wrap_socket(raw) as tls,
    ):
        return tls.getpeercert(binary_form=True) or b""


def test_a_certificate_of_the_operator_is_shown_and_read_again(
    start_daemon: Callable[..., Any], tmp_path: Path
) -> None:
    certificate, key = brought(tmp_path, "box.example")
    running = start_daemon(certificate=certificate, certificate_key=key, names=("box.example",))
    first = shown(running)
    assert b"box.example" in first
    with httpx2.Client(base_url=running.url, verify=False) as open_one:
        assert open_one.get("/healthz").status_code == 200
        brought(tmp_path, "other.example")
        running.reloaded()
        assert b"other.example" in shown(running)
        assert open_one.get("/healthz").status_code == 200  # what is open goes on


def test_a_certificate_that_cannot_be_used_is_named(start_daemon: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(CertificateUnusable, match=r"nothing\.pem"):
        start_daemon(certificate=tmp_path / "nothing.pem", certificate_key=tmp_path / "nothing.key")


def test_hup_reads_certificates_again_and_ends_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(home)], stderr=subprocess.PIPE, text=True
    ) as process:
        until((home / "daemon.json").exists)
        for _ in range(2):
            process.send_signal(signal.SIGHUP)
        until(lambda: "certificates read again" in (home / "daemon.log").read_text())
        url = json.loads((home / "daemon.json").read_text())["url"]
        with httpx2.Client(base_url=url, verify=ssl.create_default_context(cafile=home / "ca.pem")) as client:
            assert client.get("/healthz").status_code == 200
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
