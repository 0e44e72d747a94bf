"""What tmux says of a program that has ended: the code, and nothing made up before it is known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harvester.worker_host.tmux import Pane, Tmux
from tests.patience import until

pytestmark = pytest.mark.needs("tmux")

# It closes its terminal first: tmux calls the pane dead while the code is still to come. A hang-up follows.
LINGERS = """
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for number in (0, 1, 2):
    os.close(number)
time.sleep(1.5)
os._exit(3)
"""
# Killed where it starts: tmux 3.3a, on a busy machine, is not told of every such end.
KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    made = Tmux(tmp_path, tmp_path / "s")
    yield made
    made.kill("inband-w")


def seen(tmux: Tmux, enough: Callable[[Pane], bool]) -> list[Pane]:
    """All that is seen of the pane, up to what is enough."""
    panes: list[Pane] = []

    def look() -> bool:
        panes.extend(tmux.panes().values())
        return bool(panes) and enough(panes[-1])

    until(look, lambda: panes[-1:])
    return panes


def test_a_dead_pane_has_no_code_until_tmux_knows_it(tmux: Tmux, tmp_path: Path) -> None:
    tmux.start("inband-w", [sys.executable, "-c", LINGERS], tmp_path)
    panes = seen(tmux, lambda pane: pane.status is not None)
    assert {pane.status for pane in panes if not pane.dead} <= {None}
    assert any(pane.dead and pane.status is None for pane in panes), "the moment between was not seen"
    assert panes[-1].status == 3


def test_panes_are_read_in_any_locale(tmux: Tmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    tmux.start("inband-w", [sys.executable, "-S", "-c", "import time; time.sleep(600)"], tmp_path)
    assert list(until(tmux.panes)) == ["inband-w"]


def test_no_end_by_a_signal_is_missed(tmux: Tmux, tmp_path: Path) -> None:
    names = [f"inband-{number}" for number in range(12)]
    for name in names:
        tmux.start(name, [sys.executable, "-S", "-E", "-c", KILLED], tmp_path)
    until(lambda: all(pane.status is not None for pane in tmux.panes().values()), tmux.panes)
    assert {pane.status for pane in tmux.panes().values()} == {137}
    for name in names:
        tmux.kill(name)
