"""The file of the log: in order, rotated, private, and whole when it is closed."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exec_daemon.log_file import LogFile


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    made = LogFile(tmp_path / "log", most_bytes=400, files=2, later=frozenset({"requests"}))
    yield made
    made.close()


def say(log: LogFile, text: str, logger: str = "daemon") -> None:
    log.handle(logging.LogRecord(logger, logging.INFO, "", 0, text, None, None))


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_what_must_not_wait_is_there_at_once_behind_what_came_before(log: LogFile, tmp_path: Path) -> None:
    say(log, "asked", "requests")
    say(log, "important")
    assert lines(tmp_path / "log") == ["asked", "important"]


def test_what_may_wait_is_there_when_the_file_is_closed(log: LogFile, tmp_path: Path) -> None:
    for number in range(5):
        say(log, str(number), "requests")
    log.close()
    assert lines(tmp_path / "log") == list("01234")


def test_a_full_file_makes_place_and_the_oldest_goes(log: LogFile, tmp_path: Path) -> None:
    for number in range(12):
        say(log, f"{number:02d}" + "x" * 97)
    assert [len(lines(tmp_path / name)) for name in ("log", "log.1", "log.2")] == [4, 4, 4]
    say(log, "13")
    assert lines(tmp_path / "log") == ["13"]
    assert not (tmp_path / "log.3").exists()
    assert lines(tmp_path / "log.2")[0].startswith("04")


def test_only_its_owner_can_read_it(log: LogFile, tmp_path: Path) -> None:
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_it_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        LogFile(tmp_path / "log", most_bytes=1, files=1, later=frozenset())
    assert not (tmp_path / "elsewhere").exists()


def test_one_that_cannot_be_opened_is_not_closed_when_the_program_ends(tmp_path: Path) -> None:
    """Else the reason would stand above a traceback of `logging`."""
    program = (
        "import sys, pathlib\nfrom exec_daemon.log_file import LogFile\n"
        "try: LogFile(pathlib.Path(sys.argv[1]), most_bytes=1, files=1, later=frozenset())\n"
        "except OSError as failure: print(failure.strerror)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("Is a directory\n", "")


def test_a_text_that_is_no_utf_8_is_written_all_the_same(log: LogFile, tmp_path: Path) -> None:  # D035
    say(log, "lone \ud800")
    assert lines(tmp_path / "log") == ["lone \\ud800"]
