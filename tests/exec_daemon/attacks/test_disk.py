"""A daemon whose disk takes nothing more: what changes something is refused, the machine is still read."""

from __future__ import annotations

import json
import resource
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.exec_daemon.test_server import PROGRAM
from tests.patience import PATIENCE_S, until

ENDLESS = resource.RLIM_INFINITY


@pytest.fixture
def process(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "home")]
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as running:
        until((tmp_path / "home" / "daemon.json").exists)
        yield running
        running.kill()


@pytest.fixture
def client(process: subprocess.Popen[bytes], tmp_path: Path) -> Iterator[httpx2.Client]:
    home = tmp_path / "home"
    context = ssl.create_default_context(cafile=home / "ca.pem")
    bearing = {"authorization": f"Bearer {(home / 'tokens' / 'operator').read_text().strip()}"}
    url = json.loads((home / "daemon.json").read_text())["url"]
    with httpx2.Client(base_url=url, verify=context, headers=bearing, timeout=PATIENCE_S) as made:
        yield made


@contextmanager
def full_disk(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """No file of the process grows; a limit of the kernel's, which is taken back."""
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, ENDLESS))
    yield
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ENDLESS, ENDLESS))


def asked(client: httpx2.Client, op: str, **args: Any) -> httpx2.Response:
    return client.post("/exec", json={"op": op, "args": args})


def test_what_cannot_be_audited_does_not_happen_and_the_machine_is_read(
    process: subprocess.Popen[bytes], client: httpx2.Client
) -> None:  # D108
    client.post("/agents", json={"name": "heron"})
    assert asked(client, "dm.send", to="heron", text="before").status_code == 200
    with full_disk(process):
        for _ in range(3):
            refused = asked(client, "dm.send", to="heron", text="meanwhile")
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "UNAVAILABLE"), (
                refused.text
            )
        assert asked(client, "box.exec", action="cpu").status_code == 200
        assert client.get("/healthz").status_code == 200
    assert asked(client, "dm.send", to="heron", text="after").status_code == 200
    bodies = [one["body"] for one in client.get("/threads/heron/messages").json()["messages"]]
    assert bodies == ["before", "after"]
    assert client.get("/audit/check").json()["ok"]
