"""`box cert`: certificates are made, shown, renewed and taken back, with a daemon and without one."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from inband.cli import run
from tests.inband.conftest import Box, Quick


def bearing(box: Box, certificate: Path, key: Path | None = None) -> Box:
    """The same daemon, asked with the certificate and nothing else."""
    shown = {"BOX_CERT": str(certificate), "BOX_CERT_KEY": str(key or certificate.with_suffix(".key"))}
    return replace(box, variables=shown)


def deeds(box: Box | Quick, count: int) -> list[tuple[str, str, str]]:
    """What the newest lines of the audit say that was done, the oldest first."""
    lines = box.json("audit", "list", "--limit", str(count))["lines"]
    return [(line["op"], line["identity"], line["call_id"]) for line in reversed(lines)]


def test_who_shows_the_certificate_needs_no_token(quick: Quick, tmp_path: Path) -> None:
    made = quick.json("cert", "issue", "viewer/eve", "--out", str(tmp_path))
    certificate, key = (Path(file) for file in made["files"])
    assert (certificate.name, key.name) == ("viewer-eve.pem", "viewer-eve.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    eve = bearing(quick, certificate)
    assert eve.run("call", "tools.list").returncode == 0
    refused = eve.run("token", "list")
    assert (refused.returncode, "viewer/eve may not" in refused.stderr) == (3, True)
    shown = quick.run("cert", "list").stdout
    assert made["serial"] in shown
    assert made["expires_at"] in shown
    assert "PRIVATE" not in quick.run("cert", "list", "--json").stdout


def test_a_revoked_certificate_is_out_at_once(running: Box, tmp_path: Path) -> None:
    serial, _ = (
        running.json("cert", "issue", "viewer/brief", "--out", str(tmp_path / str(number)))["serial"]
        for number in range(2)
    )
    first, second = (bearing(running, tmp_path / str(number) / "viewer-brief.pem") for number in range(2))
    assert running.run("cert", "revoke", serial).returncode == 0
    assert (first.run("ops").returncode, second.run("ops").returncode) == (4, 0)
    assert len(running.json("cert", "revoke", "viewer/brief")["revoked"]) == 1
    assert second.run("ops").returncode == 4
    again = running.run("cert", "revoke", "viewer/brief")
    assert (again.returncode, "box cert list" in again.stderr) == (2, True)
    assert running.run("cert", "revoke", serial).returncode == 0  # twice is once


def test_a_renewed_certificate_is_of_the_same_identity_with_another_key(quick: Quick, tmp_path: Path) -> None:
    quick.json("cert", "issue", "viewer/long", "--out", str(tmp_path), "--ttl", "1d")
    certificate, key = tmp_path / "viewer-long.pem", tmp_path / "viewer-long.key"
    before = certificate.read_bytes(), key.read_bytes()
    renewed = quick.json("cert", "renew", str(certificate), "--ttl", "30d")
    assert deeds(quick, 1) == [("certificate.renew", "operator/local", renewed["serial"])]  # D108
    assert renewed["identity"] == "viewer/long"
    assert not {certificate.read_bytes(), key.read_bytes()} & set(before)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert bearing(quick, certificate).run("ops").returncode == 0


def test_a_request_is_signed_and_its_key_stays_where_it_is(quick: Quick, tmp_path: Path) -> None:
    from exec_daemon.certificates.requests import new_request

    key, request = new_request()
    (tmp_path / "wall.csr").write_text(request)
    (tmp_path / "wall.key").write_bytes(key)
    made = quick.json(
        "cert", "issue", "viewer/wall", "--csr", str(tmp_path / "wall.csr"), "--out", str(tmp_path)
    )
    (certificate,) = made["files"]
    assert bearing(quick, Path(certificate), tmp_path / "wall.key").run("ops").returncode == 0


def test_without_a_daemon_the_authority_of_the_state_directory_signs(box: Box, tmp_path: Path) -> None:
    made = box.json("cert", "issue", "operator/ada", "--out", str(tmp_path))
    (ours,) = box.json("cert", "list")["certificates"]
    assert ours["serial"] == made["serial"]
    assert box.run("cert", "revoke", "operator/ada").returncode == 0
    assert box.json("cert", "list")["certificates"][0]["revoked_at"]
    assert deeds(box, 2) == [  # D108
        ("certificate.issue", "operator/local", made["serial"]),
        ("certificate.revoke", "operator/local", made["serial"]),
    ]


def test_where_the_audit_cannot_be_written_nothing_is_issued_and_all_the_same_revoked(
    box: Box, tmp_path: Path
) -> None:  # D108
    made = box.json("cert", "issue", "operator/ada", "--out", str(tmp_path))
    (box.home / "store.db").write_bytes(b"no database, and long enough to be looked at " * 40)
    refused = box.run("cert", "issue", "operator/bob", "--out", str(tmp_path))
    assert (refused.returncode, "the audit cannot be written" in refused.stderr) == (2, True)
    gone = box.run("cert", "revoke", made["serial"])
    assert (gone.returncode, "the audit cannot be written" in gone.stderr) == (0, True)
    (ours,) = box.json("cert", "list")["certificates"]
    assert (ours["identity"], bool(ours["revoked_at"])) == ("operator/ada", True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("issue", "root/x"), 2, "KIND/NAME"),
        (("issue", "heron"), 2, "KIND/NAME"),
        (("issue", "agent/heron", "--ttl", "for ever"), 2, "30d"),
        (("issue", "agent/heron", "--csr", "/nowhere/x.csr"), 2, "No such file"),
        (("issue", "agent/heron", "--out", "/proc/no"), 2, "cannot be written"),
        (("revoke", "beef"), 2, "box cert list"),
        (("revoke", "agent/nobody"), 2, "box cert list"),
        (("renew", "/nowhere/x.pem"), 2, "No such file"),
        (("renew", "/etc/hostname"), 2, "no certificate"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_way_out(
    box: Box, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], code: int, said: str
) -> None:
    assert run(["--home", str(box.home), "cert", *words]) == code
    assert said in capsys.readouterr().err


def test_a_key_that_is_there_is_not_written_over(box: Box, tmp_path: Path) -> None:
    box.json("cert", "issue", "agent/heron", "--out", str(tmp_path))
    before = (tmp_path / "agent-heron.key").read_bytes()
    done = box.run("cert", "issue", "agent/heron", "--out", str(tmp_path))
    assert (done.returncode, "box cert renew" in done.stderr) == (2, True)
    assert (tmp_path / "agent-heron.key").read_bytes() == before


@pytest.mark.parametrize("broken", ["missing", "no PEM"])
def test_a_certificate_that_cannot_be_shown_is_named(quick: Quick, tmp_path: Path, broken: str) -> None:
    file = tmp_path / "eve.pem"
    if broken != "missing":
        file.write_text("x")
    done = replace(quick, variables={"BOX_CERT": str(file)}).run("ops")
    assert (done.returncode, str(file) in done.stderr, "box cert issue" in done.stderr) == (4, True, True)


def test_the_unix_socket_needs_neither_token_nor_certificate(running: Box, tmp_path: Path) -> None:
    socket = running.home / "daemon.sock"
    elsewhere = Box(tmp_path / "empty", {"BOX_URL": f"unix:{socket}"})
    assert elsewhere.run("call", "tools.list").returncode == 0
    assert elsewhere.run("token", "list").returncode == 0
    gone = Box(tmp_path / "empty", {"BOX_URL": f"unix:{tmp_path / 'none.sock'}"}).run("ops")
    assert (gone.returncode, "box up" in gone.stderr) == (4, True)


def test_the_unix_socket_may_have_a_path_that_is_longer_than_an_address(running: Box, tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 120)
    folder.symlink_to(running.home)
    elsewhere = Box(tmp_path / "empty", {"BOX_URL": f"unix:{folder / 'daemon.sock'}"})
    assert elsewhere.run("call", "tools.list").returncode == 0


def test_a_certificate_of_a_stranger_is_turned_away_with_words(quick: Quick, tmp_path: Path) -> None:
    stranger = Quick(tmp_path / "other")
    stranger.json("cert", "issue", "operator/local", "--out", str(tmp_path))
    done = bearing(quick, tmp_path / "operator-local.pem").run("ops")
    assert (done.returncode, "operator-local.pem" in done.stderr) == (4, True), done.stderr


def findings(box: Box) -> list[dict[str, str]]:
    found = json.loads(box.run("doctor", "--json").stdout)["findings"]
    return [one for one in found if one["subject"] == "certificate"]


def test_the_doctor_says_what_ends_soon_and_who_can_read_keys(box: Box, tmp_path: Path) -> None:
    box.json("cert", "issue", "viewer/brief", "--out", str(tmp_path), "--ttl", "3d")
    box.json("cert", "issue", "viewer/long", "--out", str(tmp_path))
    said = [one["found"] for one in findings(box) if one["grade"] == "warn"]
    assert (len(said), "viewer/brief" in said[0]) == (1, True)
    (box.home / "ca.key").chmod(0o640)
    (box.home / "crl.pem").unlink()
    failed = {one["found"].split(" ")[0]: one["mend"] for one in findings(box) if one["grade"] == "fail"}
    assert failed[str(box.home / "ca.key")] == f"chmod 600 '{box.home / 'ca.key'}'"
    assert "backup" in failed[str(box.home / "crl.pem")]
