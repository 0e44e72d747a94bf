"""The demo shows the main job for real, and leaves nothing behind."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path

from tests.inband.conftest import Box


def test_the_demo_shows_results_in_the_thread_and_leaves_nothing(tmp_path: Path) -> None:
    checkout = tmp_path / "a checkout"
    (checkout / ".box").mkdir(parents=True)
    box = Box(tmp_path / "untouched", {"BOX_CHECKOUT": str(checkout)})
    for _ in range(2):
        shown = box.json("demo")
        assert [one["kind"] for one in shown["thread"]] == ["text", "text", "directive_result"]
        assert [one["body"] for one in shown["delivered"]] == ["The disk check ran. Nothing to do for you."]
        answer = shown["thread"][-1]["body"]
        assert "box.exec disk · ok" in answer
        assert "Did you mean disk?" in answer
    assert list((checkout / ".box").iterdir()) == []
    assert not box.home.exists()


def test_what_a_killed_demo_left_is_removed_and_a_running_one_left_alone(tmp_path: Path) -> None:
    killed, running = (tmp_path / ".box" / name for name in ("demo-killed", "demo-running"))
    for folder in (killed, running):
        (folder / "tokens").mkdir(parents=True)
        (folder / "up.log").touch()
    lock = os.open(running, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        Box(tmp_path / "untouched", {"BOX_CHECKOUT": str(tmp_path)}).json("demo")
    finally:
        os.close(lock)
    assert list((tmp_path / ".box").iterdir()) == [running]


def test_the_demo_is_a_page_for_a_person(tmp_path: Path) -> None:
    shown = Box(tmp_path / "untouched").run("demo").stdout
    assert shown.index("Thread disk-check") < shown.index("Thread falke")
    assert "The reply was answered" in shown


def skeleton(text: str) -> list[str]:
    """The result without what differs from run to run: ids, times, widths, the machine's disks."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    begin = next(number for number, line in enumerate(lines) if line.startswith("#1 box.exec disk"))
    kept = (
        line for line in lines[begin:] if line.startswith(("#", "mounts:", "mount ", "delivered", "UNKNOWN"))
    )
    return [re.sub(r"\d+ ms|job-\w+|msg-\w+", "…", line)[:60].strip() for line in kept]


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    printed = Box(tmp_path / "untouched").run("demo").stdout
    block = next(text for text in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if "#1" in text)
    assert skeleton(block) == skeleton(printed.partition("Thread falke")[0])
