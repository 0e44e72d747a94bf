"""`box backup` and `box restore` on a running system."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.backup.archive import MANIFEST, BackupError
from exec_daemon.backup.exchange import exchange
from exec_daemon.backup.put_back import put_back
from exec_daemon.backup.take import take
from exec_daemon.certificates.requests import new_request
from exec_daemon.home import Home
from tests.soak._parts import Parts, wait_until


def bodies(client: Any, thread: str = "heron") -> list[str]:
    return [message.body for message in client.messages(thread)]


def box(parts: Parts, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "inband", *words]
    return subprocess.run(
        argv, check=False, env=parts.environment, capture_output=True, text=True, timeout=60
    )


def test_what_was_there_at_the_backup_is_there_after_the_restore_and_the_daemon_serves_it(
    tmp_path: Path,
) -> None:
    file = tmp_path / "state.tar.gz"
    with Parts(tmp_path, watching=False) as parts:
        with parts.client() as client:
            client.add_agent("heron")
            client.post_message("heron", "before")
            lost = client.create_token("viewer/eve")
            cards = [client.issue_certificate("viewer/eve", new_request()[1]) for _ in range(2)]
        made = box(parts, "backup", str(file))
        assert made.returncode == 0, made.stderr
        with parts.client() as client:
            client.post_message("heron", "after")
            client.revoke_token(lost["id"])
            client.revoke_certificate(cards[0]["serial"])
            late = client.issue_certificate("viewer/late", new_request()[1])["serial"]
            client.revoke_certificate(late)
            kept = client.issue_certificate("viewer/kept", new_request()[1])["serial"]
        back = box(parts, "restore", str(file), "--yes", "--json")
        assert back.returncode == 0, back.stderr
        parts.kill("daemon")  # it has ended; what supervises it starts it again
        parts.start("daemon")
        wait_until(parts.ready, 30.0, "the daemon to be ready again")
        with parts.client() as client:
            assert bodies(client) == ["before"]
            tokens = {one["id"]: one["revoked_at"] for one in client.tokens()}
            revoked = {one["serial"]: bool(one["revoked_at"]) for one in client.certificates()}
        said = json.loads(back.stdout)
        assert (Path(said["before"]) / "store.db").exists()
        # What was taken back since stays so, and what was issued since can be taken back.
        assert tokens[lost["id"]]
        assert revoked == {cards[0]["serial"]: True, cards[1]["serial"]: False, late: True, kept: False}
        assert said["revoked"] == 3
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A state with a store, a key and an artifact."""
    from exec_daemon.home import prepare
    from exec_daemon.store.sqlite.files import open_database

    made = prepare(tmp_path / "home")
    open_database(made.database).close()
    made.ca_key.write_bytes(b"key")
    (made.artifacts / "ab").write_bytes(b"x" * 100_000)
    (made.root / "daemon.log").write_text("past")
    return made


def test_all_but_logs_and_what_each_start_makes_anew_is_in_a_backup(home: Home, tmp_path: Path) -> None:
    manifest = take(home, tmp_path / "b.tar.gz")
    assert [member.name for member in manifest.members] == ["artifacts/ab", "ca.key", "store.db"]


def rewritten(source: Path, target: Path, change: Any) -> None:
    """The archive with `change(name, content)` applied to each member; None leaves it out."""
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for info in old:
            content = old.extractfile(info)
            assert content is not None
            changed = change(info.name, content.read())
            if changed is not None:
                entry = tarfile.TarInfo(info.name)
                entry.size = len(changed)
                new.addfile(entry, io.BytesIO(changed))


def listed(old: bytes, new: bytes) -> Any:
    """The list of files with `new` in the place of `old`."""
    return lambda at, content: content.replace(old, new) if at == MANIFEST else content


def with_name(name: object) -> Any:
    return listed(b'"ca.key"', json.dumps(name).encode())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda at, content: content + b"x" if at == "ca.key" else content, "damaged"),
        (lambda at, content: None if at == "ca.key" else content, "missing"),
        (lambda at, content: b"x" * len(content) if at == "store.db" else content, "damaged"),
        (lambda at, content: None if at == MANIFEST else content, "no backup of ours"),
        (with_name("../../etc/passwd"), "not trusted"),
        (with_name("/etc/passwd"), "not trusted"),
        (with_name("store.db"), "not trusted"),
        (with_name("store.db.lock"), "not trusted"),
        # Further names of one file, and names that no backup has.
        (with_name("./store.db.lock"), "not trusted"),
        (with_name("store.db.lock/"), "not trusted"),
        (with_name("artifacts//x"), "not trusted"),
        (with_name("store.db-wal"), "not trusted"),
        (with_name("daemon.sock"), "not trusted"),
        (with_name("before-restore-x/y"), "not trusted"),
        (with_name(".restore-x/y"), "not trusted"),
        (with_name("\ud800"), "cannot be read"),
        (with_name(5), "cannot be read"),
        (listed(b'"bytes": 3', b'"bytes": "3"'), "cannot be read"),
        (listed(b'"bytes": 3', b'"bytes": -3'), "cannot be read"),
        (listed(b'"bytes": 3', b'"bytes": 1%s' % (b"0" * 18)), "make room first"),
        (listed(b'"format": 1', b'"format": 2'), "format 2"),
        (lambda at, content: b"[" * 100_000 if at == MANIFEST else content, "cannot be read"),
    ],
)
def test_a_backup_that_is_not_as_its_list_says_changes_nothing(
    home: Home, tmp_path: Path, change: Any, words: str
) -> None:
    whole, broken = tmp_path / "whole.tar.gz", tmp_path / "broken.tar.gz"
    take(home, whole)
    rewritten(whole, broken, change)
    before = sorted(path.name for path in home.root.iterdir())
    with pytest.raises(BackupError, match=words):
        put_back(home, broken)
    assert sorted(path.name for path in home.root.iterdir()) == before


def test_a_file_that_is_no_archive_is_said_to_be_none(home: Home, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"hello")
    with pytest.raises(BackupError, match="cannot be read"):
        put_back(home, tmp_path / "x")


def test_a_state_that_is_not_there_is_not_backed_up(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="nothing to back up"):
        take(Home(tmp_path / "none"), tmp_path / "b.tar.gz")
    assert list(tmp_path.iterdir()) == []


def test_a_pid_in_a_file_is_believed_of_nobody_who_does_not_hold_the_lock(home: Home, tmp_path: Path) -> None:
    take(home, tmp_path / "b.tar.gz")
    with subprocess.Popen(["sleep", "30"]) as stranger:
        home.address.write_text(json.dumps({"pid": stranger.pid}))
        (home.root / "store.db.lock").write_text(f"{stranger.pid}\n")
        put_back(home, tmp_path / "b.tar.gz")
        assert stranger.poll() is None
        stranger.kill()


def test_a_backup_that_holds_more_than_its_list_names_is_refused(home: Home, tmp_path: Path) -> None:
    take(home, tmp_path / "b.tar.gz")
    with tarfile.open(tmp_path / "b.tar.gz") as old, tarfile.open(tmp_path / "more.tar.gz", "w:gz") as new:
        for info in (*old, tarfile.TarInfo("more")):
            new.addfile(info, old.extractfile(info) if info.size else None)
    with pytest.raises(BackupError, match="more than its list names"):
        put_back(home, tmp_path / "more.tar.gz")


def means(packed: bytes) -> bytes | None:
    """What is in it; None where it cannot be read."""
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return None


def test_a_backup_with_a_changed_bit_is_refused_by_name(home: Home, tmp_path: Path) -> None:
    take(home, tmp_path / "b.tar.gz")
    whole = (tmp_path / "b.tar.gz").read_bytes()
    anywhere, end = range(400, len(whole), max(1, len(whole) // 40)), range(len(whole) - 40, len(whole))
    for at in (*anywhere, *end):
        changed = whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :]
        if means(changed) == means(whole):
            continue  # a bit that no decompressor looks at
        (tmp_path / "broken.tar.gz").write_bytes(changed)
        with pytest.raises(BackupError):
            put_back(home, tmp_path / "broken.tar.gz")


def test_a_file_in_the_place_of_a_folder_changes_nothing(home: Home, tmp_path: Path) -> None:
    (home.root / "tokens").rmdir()
    (home.root / "tokens").write_bytes(b"x")
    take(home, tmp_path / "b.tar.gz")
    (home.root / "tokens").unlink()
    before = sorted(path.name for path in home.root.iterdir())
    with pytest.raises(BackupError, match="in the place of a folder"):
        put_back(home, tmp_path / "b.tar.gz")
    assert sorted(path.name for path in home.root.iterdir()) == [*before, "tokens"]


def test_a_name_that_is_no_utf8_comes_back_as_it_was(home: Home, tmp_path: Path) -> None:
    odd = home.outbox / os.fsdecode(b"\xff\xfe.txt")
    odd.write_bytes(b"odd")
    take(home, tmp_path / "b.tar.gz")
    put_back(home, tmp_path / "b.tar.gz")
    assert odd.read_bytes() == b"odd"


def test_an_exchange_that_fails_in_the_middle_leaves_everything_as_it_was(tmp_path: Path) -> None:
    root, fresh = tmp_path / "root", tmp_path / "fresh"
    for folder in (root, fresh, fresh / "store.db.lock"):
        folder.mkdir()
    (root / "store.db.lock").write_text("held")  # stays, so nothing can take its place
    for name in ("a", "b"):
        (root / name).write_text("old")
        (fresh / name).write_text("new")
    with pytest.raises(BackupError, match="as it was"):
        exchange(root, fresh)
    assert sorted(path.name for path in root.iterdir()) == ["a", "b", "store.db.lock"]
    assert ((root / "a").read_text(), (fresh / "a").read_text()) == ("old", "new")
