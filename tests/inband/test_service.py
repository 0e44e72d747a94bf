"""`box service`, and what `box up` tells the service manager."""

from __future__ import annotations

import configparser
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from inband.notify import READY, STOPPING, notify
from inband.unit import Unit
from tests.patience import PATIENCE_S
from tests.soak._parts import wait_until

ROOT = Path(__file__).parents[2]


def box(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "BOX_HOME": str(home / "state"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PATH": "/usr/bin",
    }
    argv = [sys.executable, "-m", "inband", "service", *words]
    return subprocess.run(
        argv, check=False, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60
    )


def test_the_unit_is_printed_and_nothing_is_written(tmp_path: Path) -> None:
    printed = box(tmp_path, "install", "--print")
    assert printed.returncode == 0, printed.stderr
    assert "Type=notify" in printed.stdout
    assert f"BOX_HOME={tmp_path}/state" in printed.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_users_service_is_written_and_removed_and_the_next_step_is_named(tmp_path: Path) -> None:
    made = box(tmp_path, "install")
    unit = tmp_path / "config" / "systemd" / "user" / "inband.service"
    assert "systemctl --user enable --now inband" in made.stderr
    assert unit.read_text().count("ExecStart=") == 1
    assert box(tmp_path, "uninstall").returncode == 0
    assert not unit.exists()
    again = box(tmp_path, "uninstall")
    assert again.returncode == 2
    assert "box service install" in again.stderr


def test_a_service_for_a_user_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    made = box(tmp_path, "install", "--system", "--user", "nobody-of-that-name")
    assert made.returncode == 2
    assert "useradd --system" in made.stderr


def test_words_of_the_command_survive_what_systemd_makes_of_them() -> None:
    text = Unit(("/opt/my box/100%/$HOME/box", "up"), Path("/var/lib/in band/%h"), "inband").text()
    assert 'ExecStart="/opt/my box/100%%/$$HOME/box" "up"' in text
    assert "ReadWritePaths=/var/lib/in\\x20band/%%h" in text


def test_the_unit_has_the_three_sections_and_no_line_that_belongs_to_none() -> None:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(Unit(("/usr/bin/box", "up"), Path("/var/lib/inband"), "inband").text())
    assert parser.sections() == ["Unit", "Service", "Install"]
    assert parser["Service"]["User"] == "inband"


@pytest.mark.needs("systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "inband.service"
    unit.write_text(Unit(("/bin/true", "up"), Path("/var/lib/inband"), "root").text())
    said = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], check=False, capture_output=True, text=True
    )
    assert "inband.service" not in said.stderr, said.stderr


def test_without_a_manager_nothing_is_told_and_nothing_fails(tmp_path: Path) -> None:
    notify(READY, {})
    notify(READY, {"NOTIFY_SOCKET": "relative"})
    notify(READY, {"NOTIFY_SOCKET": str(tmp_path / "none")})


def test_box_up_says_when_it_is_ready_passes_hup_on_and_says_when_it_stops(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE_S)
        environment = {
            "BOX_HOME": str(tmp_path / "state"),
            "BOX_DAEMON_PORT": "0",
            "XDG_CONFIG_HOME": str(tmp_path),
            "NOTIFY_SOCKET": str(tmp_path / "notify"),
            "PATH": "/usr/bin:/bin",
        }
        up = subprocess.Popen(
            [sys.executable, "-m", "inband", "up"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
        )
        try:
            assert manager.recv(100).decode() == READY
            up.send_signal(signal.SIGHUP)
            log = tmp_path / "state" / "daemon.log"
            wait_until(lambda: "certificates read again" in log.read_text(), 20.0, "the certificates")
            up.send_signal(signal.SIGTERM)
            assert manager.recv(100).decode() == STOPPING
            assert up.wait(PATIENCE_S) == 0
        finally:
            up.kill()
            up.wait()
