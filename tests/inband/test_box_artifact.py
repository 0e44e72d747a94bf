"""`box artifact get`: content comes as it was kept, into a file or a pipe (M-84)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from messaging.artifacts import sha256_of
from tests.inband.conftest import Box

CONTENT = bytes(range(256)) * 10
HASH = sha256_of(CONTENT)


@pytest.fixture
def kept(running: Box) -> Box:
    (running.home / "outbox" / "blob").write_bytes(CONTENT)
    answer = running.json("call", "artifact.put", '{"path": "blob"}')
    assert answer["result"]["artifact"]["sha256"] == HASH
    return running


def test_an_artifact_goes_into_a_file_that_was_not_there(kept: Box, tmp_path: Path) -> None:  # M-84
    file = tmp_path / "copy"
    assert kept.run("artifact", "get", HASH, "-o", str(file)).returncode == 0
    assert file.read_bytes() == CONTENT
    again = kept.run("artifact", "get", HASH, "-o", str(file))
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "File exists" in again.stderr


def test_an_artifact_goes_into_a_pipe_byte_for_byte(kept: Box) -> None:
    argv = kept.argv("artifact", "get", HASH)
    done = subprocess.run(argv, env=kept.environment(), capture_output=True, check=True)
    assert done.stdout == CONTENT


def test_an_artifact_that_is_not_there_says_so(kept: Box) -> None:
    done = kept.run("artifact", "get", "0" * 64)
    assert done.returncode == 1
    assert "There is no artifact" in done.stderr
