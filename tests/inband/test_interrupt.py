"""Ctrl-C at any time: no traceback, exit code 130."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from inband.cli import _explained
from tests.inband.conftest import Box


def test_ctrl_c_ends_a_command_that_waits(running: Box) -> None:
    argv = running.argv("thread", "follow", "ops")
    with subprocess.Popen(argv, env=running.environment(), stderr=subprocess.PIPE, text=True) as follow:
        assert follow.stderr is not None
        assert "following ops" in follow.stderr.readline()
        follow.send_signal(signal.SIGINT)
        said = follow.stderr.read()
    assert (follow.returncode, said.strip()) == (130, "box: interrupted")


def test_until_the_command_is_loaded_ctrl_c_ends_it_as_any_program() -> None:
    loaded = "import signal, inband.__main__; print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_ctrl_c_while_a_command_is_loaded_is_one_in_its_wrapping_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrapped = RuntimeError("Error calling __set_name__")
    wrapped.__cause__ = KeyboardInterrupt()
    assert _explained(wrapped) == 130
    assert capsys.readouterr().err == "box: interrupted\n"
