"""cpu, memory, disk, info, network and ports: real data of this machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from exec_daemon.box import BoxContext, read
from exec_daemon.box.kernel_files import assignments, counters, first_lines, number, pressure, read_text


def test_cpu_tells_load_and_the_use_of_each_core(context: BoxContext) -> None:
    data = read("cpu", None, context)["data"]
    assert set(data["load"]) == {"1m", "5m", "15m"}
    assert len(data["percent_per_core"]) >= 1
    assert all(0 <= percent <= 100 for percent in [data["percent"], *data["percent_per_core"]])


def test_a_busy_core_is_seen(context: BoxContext) -> None:
    with subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=-1) as busy:
        assert busy.stdout
        busy.stdout.readline()
        data = read("cpu", None, replace(context, sample_s=0.3))["data"]
        busy.kill()
    assert max(data["percent_per_core"]) > 20


def test_memory_adds_up(context: BoxContext) -> None:
    data = read("memory", None, context)["data"]
    assert 0 < data["available_bytes"] <= data["total_bytes"]
    assert 0 < data["available_percent"] <= 100
    assert data["swap"]["used_bytes"] <= data["swap"]["total_bytes"]


def test_disk_shows_the_root_as_df_does(context: BoxContext) -> None:
    mounts = {row["mount"]: row for row in read("disk", None, context)["data"]["mounts"]}
    root = os.statvfs("/")
    assert mounts["/"]["size_bytes"] == root.f_blocks * root.f_frsize
    assert 0 <= mounts["/"]["used_percent"] <= 100
    assert mounts["/"]["read_only"] == bool(root.f_flag & os.ST_RDONLY)


def test_info_names_the_machine(context: BoxContext) -> None:
    data = read("info", None, context)["data"]
    assert data["hostname"] == os.uname().nodename
    assert data["kernel"] == os.uname().release
    assert data["time"] == "2026-09-21T14:13:20.000Z"
    assert set(data["versions"]) == {"inband", "python"}


def test_network_has_the_loopback(context: BoxContext) -> None:
    rows = {row["name"]: row for row in read("network", None, context)["data"]["interfaces"]}
    assert "127.0.0.1/8" in rows["lo"]["ipv4"]


@pytest.mark.parametrize(("kind", "name"), [(socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")])
def test_ports_show_what_we_listen_on(kind: int, name: str, context: BoxContext) -> None:
    with socket.socket(socket.AF_INET, kind) as ours:
        ours.bind(("127.0.0.1", 0))
        if kind == socket.SOCK_STREAM:
            ours.listen()
        listed = read("ports", None, context)["data"]["ports"]
        mine = [row for row in listed if row["port"] == ours.getsockname()[1] and row["protocol"] == name]
    assert [(row["pid"], row["address"]) for row in mine] == [(os.getpid(), "127.0.0.1")]


def test_a_connection_is_no_listener(context: BoxContext) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
    ):
        listed = read("ports", None, context)["data"]["ports"]
        assert ours.getsockname()[1] not in {row["port"] for row in listed}


def test_missing_kernel_files_are_none(tmp_path) -> None:  # O-45
    missing = str(tmp_path / "none")
    assert read_text(missing) is None
    assert counters(missing) == {}
    assert number(missing) is None
    assert first_lines(missing) == []
    assert pressure("no-such-resource") is None


def test_kernel_files_are_read_as_they_are_written(tmp_path) -> None:
    file = tmp_path / "file"
    file.write_text("max\n")
    assert number(file) is None
    file.write_text("oom_kill 3\nnr_dirty x\n")
    assert counters(str(file)) == {"oom_kill": 3}
    assert assignments('NAME="Debian"\nID=debian\n# x\n') == {"NAME": "Debian", "ID": "debian"}
