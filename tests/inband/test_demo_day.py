"""A day in the life: a timer, an agent, a colleague, a worker and a verdict, by the ordinary parts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from inband.scratch import DemoError, Scratch
from tests.inband.conftest import Box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """In a checkout, so that whatever a demo starts bears its path."""
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    return Box(tmp_path / "untouched", {"BOX_CHECKOUT": str(checkout), "BOX_DAEMON_PORT": "1"})


def left(box: Box) -> Iterator[str]:
    """Folders and processes of a demo, zombies too."""
    state = Path(box.variables["BOX_CHECKOUT"]) / ".box"
    yield from (str(folder) for folder in state.glob("*"))
    mark = os.fsencode(state) + b"/demo-"
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes():
                yield f"process {folder.name}"


def in_order(page: str, *words: str) -> bool:
    """Each somewhere behind the one before."""
    return re.search(".*?".join(map(re.escape, words)), page, re.DOTALL) is not None


def test_a_timer_wakes_an_agent_whose_verdict_ends_the_job_and_nothing_is_left(box: Box) -> None:
    # T-12, T-68, O 7.5, O 7.6, O-60
    shown = box.run("demo", "--day")
    assert shown.returncode == 0, shown.stderr
    page = shown.stdout
    assert in_order(
        page,
        "Thread heron",
        "timer: evening",
        "Is all well here this evening?",
        '[TOOL box.exec {"action": "health"}]',
        "#1 box.exec health · ok",
        "#1 dm.send falke · ok",
        "#2 swarm.spawn · ok",
        "I have seen to the disk",
        "[RESULT] PASS: the machine is well",
        "of the worker",
        "#1 box.exec disk · ok",
        "[RESULT] PASS: there is room on the disk",
        "Thread falke",
        "a checker looks at the disk.",
        "box timer history evening",
        "ended  PASS",
    )
    assert "heron's verdict ends the timer's job" in shown.stderr
    assert list(left(box)) == []
    assert not box.home.exists()


def test_ctrl_c_in_the_middle_of_the_day_leaves_nothing(box: Box) -> None:
    with subprocess.Popen(
        box.argv("demo", "--day"),
        env=box.environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as demo:
        assert demo.stderr is not None
        next(line for line in demo.stderr if "timer evening is made" in line)
        os.killpg(demo.pid, signal.SIGINT)  # as a terminal does it: everybody hears it
        said = demo.stderr.read()
    assert (demo.returncode, said.strip()) == (130, "box: interrupted")
    assert list(left(box)) == []


def test_a_place_that_cannot_be_written_is_said_in_a_sentence(box: Box) -> None:
    (Path(box.variables["BOX_CHECKOUT"]) / ".box").write_text("in the way")
    refused = box.run("demo", "--day")
    assert refused.returncode == 1
    assert "no state directory for the demo" in refused.stderr
    assert "Make room there." in refused.stderr


def test_a_part_that_ends_too_early_ends_the_demo_with_its_last_words(tmp_path: Path) -> None:
    stage = Scratch(tmp_path)
    with (
        pytest.raises(DemoError, match=r"(?s)box up ended too early\n.*no-such-option") as raised,
        stage.part("up", "up", "--no-such-option"),
    ):
        stage.wait_until(lambda: False, 30, "nothing")
    assert "waited" not in str(raised.value)
