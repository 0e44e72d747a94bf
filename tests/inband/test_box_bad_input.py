"""What can go wrong for a person: each is one clear line, the right exit code, and no traceback."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.inband.conftest import Box, stop
from tests.patience import PATIENCE_S, until

DM = '[DM {"to": "falke", "text": "x"}]'


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """A port that is taken, so that nobody else listens on it, and that refuses who connects."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the reply is empty"),
        (b" \n\t\n", "the reply is empty"),
        (b"a\xffb", "not UTF-8 text (byte 1)"),
        (b"\x7fELF\x02\x01\x01\x00\x90\x00", "not UTF-8 text"),
    ],
)
def test_a_reply_file_that_holds_no_reply_is_refused(
    running: Box, tmp_path: Path, content: bytes, words: str
) -> None:
    file = tmp_path / "reply.md"
    file.write_bytes(content)
    done = running.run("harvest", str(file), "--thread", "ops")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


def test_a_reply_file_that_is_not_there_or_a_directory_is_named(box: Box, tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none.md", "No such file"), (tmp_path, "Is a directory")):
        done = box.run("harvest", str(path), "--dry-run")
        assert (done.returncode, str(path) in done.stderr, words in done.stderr) == (2, True, True)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root: sudo ./box test")
def test_a_reply_file_that_may_not_be_read_is_named(box: Box, tmp_path: Path) -> None:
    file = tmp_path / "reply.md"
    file.write_text(DM)
    file.chmod(0o600)
    # Everything is loaded as root first, since another user may not read the interpreter's own library here.
    program = (
        "import os, sys; from inband.cli import run; run(['harvest', '/dev/null', '--dry-run']);"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534);"
        "sys.exit(run(['harvest', sys.argv[1], '--dry-run']))"
    )
    argv = [sys.executable, "-c", program, str(file)]
    environment = box.environment() | {"HOME": "/"}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "Permission denied" in done.stderr) == (2, True), done.stderr


def test_ten_megabytes_are_read_to_the_limit_and_said(box: Box, tmp_path: Path) -> None:
    file = tmp_path / "long.md"
    file.write_text(f"{DM}\n\n" + "words and words\n" * 655_360 + f"\n{DM}\n")
    found = box.json("harvest", str(file), "--dry-run")
    assert len(found["calls"]) == 1
    assert found["notice"]["code"] == "REPLY_TOO_LARGE"
    file.write_bytes(b"x" * (17 << 20))
    done = box.run("harvest", str(file), "--dry-run")
    assert (done.returncode, "larger than" in done.stderr) == (2, True)


def test_an_unknown_thread_is_named(running: Box) -> None:
    done = running.run("harvest", "--thread", "nowhere", "--agent", "heron", stdin=DM)
    assert (done.returncode, "NOT_FOUND" in done.stderr) == (1, True), done.stderr


def test_a_reply_needs_its_thread_and_its_author(running: Box) -> None:
    done = running.run("harvest", stdin=DM)
    assert (done.returncode, "--thread" in done.stderr) == (2, True)
    running.json("thread", "create", "unbound")
    done = running.run("harvest", "--thread", "unbound", stdin=DM)
    assert (done.returncode, "--agent" in done.stderr) == (2, True)


def test_without_a_daemon_it_says_how_to_start_one(tmp_path: Path, deaf_port: int) -> None:
    # The port that is asked when no daemon has written down its own.
    box = Box(tmp_path / "state", {"BOX_DAEMON_PORT": str(deaf_port)})
    done = box.run("ops")
    assert (done.returncode, "box up" in done.stderr) == (4, True)
    process = box.start()
    stop(process)
    done = box.run("ops")
    assert (done.returncode, "box up" in done.stderr) == (4, True), done.stderr


def test_another_ca_is_not_believed(running: Box, box: Box) -> None:
    process = box.start()
    try:
        done = Box(running.home, {"BOX_CA": str(box.home / "ca.pem")}).run("ops")
    finally:
        stop(process)
    assert (done.returncode, str(box.home / "ca.pem") in done.stderr) == (4, True), done.stderr


def test_an_expired_token_is_told_from_a_missing_right(running: Box) -> None:
    made = running.json("token", "create", "viewer/short", "--ttl", "1s")
    time.sleep(1.1)
    done = Box(running.home, {"BOX_TOKEN": made["token"]}).run("ops")
    assert (done.returncode, "token" in done.stderr) == (3, True), done.stderr


def test_a_token_file_that_is_not_there_is_named(running: Box, tmp_path: Path) -> None:
    done = Box(running.home, {"BOX_TOKEN_FILE": str(tmp_path / "none")}).run("ops")
    assert (done.returncode, str(tmp_path / "none") in done.stderr) == (2, True)


def test_a_port_in_use_is_named(box: Box) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = box.run("up", "--port", str(port))
    assert (done.returncode, str(port) in done.stderr) == (1, True), done.stderr


def test_a_second_daemon_on_the_same_state_is_refused(running: Box) -> None:
    done = running.run("up", "--port", "0")
    assert (done.returncode, str(running.home) in done.stderr) == (1, True), done.stderr
    assert running.run("ops").returncode == 0


def test_a_host_beyond_this_machine_is_refused(box: Box) -> None:
    done = box.run("up", "--port", "0", "--host", "0.0.0.0")
    assert (done.returncode, "allow_remote" in done.stderr) == (1, True), done.stderr


def test_a_state_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = Box(tmp_path / "file" / "state").run("up", "--port", "0")
    assert (done.returncode, str(tmp_path / "file" / "state") in done.stderr) == (1, True), done.stderr


def test_a_corrupt_store_is_refused_and_left_alone(box: Box) -> None:
    stop(box.start())
    store = box.home / "store.db"
    store.write_bytes(b"not a database" * 1000)
    before = store.read_bytes()
    done = box.run("up", "--port", "0")
    assert (done.returncode, str(store) in done.stderr) == (1, True), done.stderr
    assert store.read_bytes() == before


def test_a_typo_in_the_settings_names_file_line_key_and_the_nearest(box: Box, tmp_path: Path) -> None:
    file = tmp_path / "box.toml"
    file.write_text("[daemon]\nhots = '127.0.0.1'\n")
    done = Box(box.home, {"BOX_CONFIG": str(file)}).run("config", "check")
    assert done.returncode == 2
    assert f"{file}:2: unknown setting `daemon.hots`; did you mean `daemon.host`?" in done.stderr


def test_a_strange_variable_is_named(box: Box) -> None:
    done = Box(box.home, {"BOX_PROT": "1"}).run("config", "check")
    assert (done.returncode, "$BOX_PROT" in done.stderr) == (1, True)


def test_secrets_are_not_shown_among_the_settings(box: Box) -> None:
    done = Box(box.home, {"BOX_TOKEN": "inband_secret"}).run("config", "show")
    assert "inband_secret" not in done.stdout


def test_a_reader_that_leaves_is_no_error(running: Box) -> None:
    process = subprocess.Popen(
        running.argv("ops", "--json"),
        env=running.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(PATIENCE_S) == 0


def test_one_json_document_is_all_that_stdout_holds(running: Box) -> None:
    done = running.run("call", "no.such.op", "--json")
    assert json.loads(done.stdout)["error"]["code"] == "UNKNOWN_OP"


def test_the_folder_one_is_in_brings_no_code_into_the_daemon_or_the_demo(tmp_path: Path) -> None:
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.mkdir()
    for name in ("click", "uvicorn", "httpx2", "inband"):
        (trap / f"{name}.py").write_text(f"open({str(sprung)!r}, 'a').write(__name__)")
    box = Box(tmp_path / "state")
    safely = [sys.executable, "-P", "-m", "inband"]
    demo = subprocess.run(
        [*safely, "demo"], cwd=trap, env=box.environment(), capture_output=True, check=False
    )
    assert demo.returncode == 0, demo.stderr
    with subprocess.Popen([*safely, "up", "--port", "0"], cwd=trap, env=box.environment()) as up:
        until((box.home / "daemon.json").exists)
        up.terminate()
    assert up.returncode == 0
    assert not sprung.exists()


def test_a_daemon_that_was_killed_is_not_taken_for_the_one_that_starts(box: Box) -> None:
    box.home.mkdir(mode=0o700)
    (box.home / "daemon.json").write_text('{"pid": 1, "url": "https://127.0.0.1:9"}')
    with subprocess.Popen(
        box.argv("up", "--port", "0"), env=box.environment(), stderr=subprocess.PIPE, text=True
    ) as up:
        assert up.stderr is not None
        said = next(line for line in up.stderr if "ready at" in line)
        up.terminate()
    assert ":9," not in said


@pytest.mark.parametrize("what", ["state", "watcher.log"])
def test_what_cannot_be_used_in_the_state_directory_is_said_once(box: Box, what: str) -> None:
    if what == "state":
        box.home.write_text("a file")
    else:
        box.home.mkdir(mode=0o700)
        (box.home / what).mkdir()
    done = box.run("up", "--port", "0")
    assert (done.returncode, done.stderr.count(str(box.home)), "fault" in done.stderr) == (1, 1, False)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "127.0.0.1:1",
        "https://",
        "https://[::1",
        "https://a:99999",
        "https://u:p@a",
        "x",
    ],
)
def test_the_token_is_sent_to_an_address_of_a_daemon_and_never_in_the_clear(box: Box, url: str) -> None:
    there = Box(box.home, {"BOX_URL": url, "BOX_TOKEN": "inband_secret"})
    done = there.run("thread", "list")
    assert (done.returncode, "https://HOST:PORT" in done.stderr) == (2, True), done.stderr


def test_bytes_that_are_no_text_are_refused_by_their_place(box: Box) -> None:
    argv = [*box.argv("thread", "post", "ops"), os.fsdecode(b"\xff\xfe")]
    done = subprocess.run(argv, env=box.environment(), capture_output=True, check=False)
    assert (done.returncode, b"argument 4 is not UTF-8 text" in done.stderr) == (2, True), done.stderr


def test_a_mistyped_command_is_answered_with_the_nearest(box: Box) -> None:
    done = box.run("thred", "list")
    assert (done.returncode, "Did you mean 'thread'?" in done.stderr) == (2, True)


def _sparse() -> bytes:
    """An archive whose first head holds something that is no number."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo("store.db")
        entry.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    return written.getvalue()


@pytest.mark.parametrize("content", [b"", b"no archive", gzip.compress(b"", mtime=0), _sparse()])
def test_what_is_no_backup_is_refused_in_a_line(box: Box, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "backup").write_bytes(content)
    done = box.run("restore", str(tmp_path / "backup"))
    assert (done.returncode, "internal fault" in done.stderr) == (1, False), done.stderr
    assert done.stderr.startswith(f"box: {tmp_path / 'backup'} ")


def test_a_state_that_is_not_there_is_not_backed_up(box: Box, tmp_path: Path) -> None:
    done = box.run("backup", str(tmp_path / "backup"))
    assert (done.returncode, "internal fault" in done.stderr) == (1, False), done.stderr
    assert "nothing to back up" in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("config", "show"), ("config", "show", "--json"), ("--help",)])
def test_output_that_finds_no_room_is_said_and_no_fault_of_ours(
    box: Box, words: tuple[str, ...], unbuffered: str
) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            box.argv(*words),
            env=box.environment() | {"PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    told = done.stderr.decode()
    assert (done.returncode, "No space left on device" in told) == (1, True), told
    assert "internal fault" not in told
    assert "Traceback" not in told
    assert "ignored" not in told
