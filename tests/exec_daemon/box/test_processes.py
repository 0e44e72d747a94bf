"""processes and process: real ones, without their secrets."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from exec_daemon.box import ACTIONS, BoxContext, BoxError, read
from exec_daemon.box.processes import command_line
from messaging import ErrorCode


@pytest.fixture
def secretive() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a secret in its command line and one in its environment, using memory for real."""
    code = "import sys, time; x = b'x' * 64_000_000; print('up', flush=True); time.sleep(600)"
    argv = [sys.executable, "-c", code, "--token=CANARY-ARG", "--auth-token", "CANARY-NEXT", "--plain"]
    environment = os.environ | {"API_KEY": "CANARY-ENV"}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout
        process.stdout.readline()
        yield process
        process.kill()


def test_no_read_shows_the_secrets_of_a_process(secretive, context: BoxContext) -> None:  # D017
    for action in ACTIONS:
        if action.argument is None:
            assert "CANARY" not in str(read(action.name, None, context))
    document = read("process", secretive.pid, context)
    assert "CANARY" not in str(document)
    assert "--token=[REDACTED]" in document["data"]["command"]
    assert "--auth-token [REDACTED] --plain" in document["data"]["command"]


def test_a_sleep_with_a_token_does_not_show_it(context: BoxContext) -> None:  # D017
    with subprocess.Popen(["sleep", "60", "--token=CANARY"], executable=sys.executable, env={}) as failing:
        read("processes", None, context)
        failing.kill()
    with subprocess.Popen(["bash", "-c", "exec -a 'sleep 60 --token=CANARY' sleep 60"]) as titled:
        try:
            assert "CANARY" not in str(read("process", titled.pid, context))
            assert "CANARY" not in str(read("processes", None, context))
        finally:
            titled.kill()


def test_the_largest_are_shown_by_processor_and_by_memory(secretive, context: BoxContext) -> None:
    data = read("processes", None, context)["data"]
    assert data["count"] >= len(data["by_cpu"]) > 0
    assert len(data["by_cpu"]) <= 20
    sizes = [row["rss_bytes"] for row in data["by_memory"]]
    assert sizes == sorted(sizes, reverse=True)
    own = psutil.Process(secretive.pid).memory_info().rss
    assert secretive.pid in {row["pid"] for row in data["by_memory"]} or sizes[-1] >= own  # larger ones run


def test_one_process_is_shown_with_its_place_and_its_children(secretive, context: BoxContext) -> None:
    data = read("process", str(os.getpid()), context)["data"]
    assert data["cwd"] == str(Path.cwd())
    assert data["parent"] == os.getppid()
    assert data["threads"] >= 1
    assert secretive.pid in {child["pid"] for child in data["children"]}
    assert data["rss_bytes"] > 1_000_000
    assert data["started_at"].endswith("Z")


def test_a_process_that_is_gone_is_not_found(context: BoxContext) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    with pytest.raises(BoxError) as missing:
        read("process", gone.pid, context)
    assert missing.value.error.code is ErrorCode.NOT_FOUND


def test_fields_that_are_closed_to_us_are_null_and_named(context: BoxContext) -> None:
    document = read("process", 1, context)
    closed = [name for name, value in document["data"].items() if value is None]
    assert closed == [] or all(name in document["notes"][0] for name in closed)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["a", "--password", "x", "b"], "a --password [REDACTED] b"),
        (["a", "--db-password", "x"], "a --db-password [REDACTED]"),
        (["a", "--client_secret", "x"], "a --client_secret [REDACTED]"),
        (["a", "--token"], "a --token"),
        (["a", "--author", "x"], "a --author x"),
        (["curl", "https://u:pw@host/"], "curl https://[REDACTED]@host/"),
        ([], ""),
    ],
)
def test_the_value_of_a_secret_option_is_covered(words: list[str], shown: str) -> None:
    assert command_line(words) == shown
