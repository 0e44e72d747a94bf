"""What every test may rely on: one asyncio backend, repeatable Hypothesis, programs that may be missing."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile

import hypothesis
import pytest
from xdist.remote import Producer

from tests import shares

# Derandomized: a run today and a run tomorrow try the same examples. No deadline: a slow machine is no bug.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


PACKAGES = {"bwrap": "bubblewrap", "systemd-analyze": "systemd"}


def package(program: str) -> str:
    return PACKAGES.get(program, program)


def missing_programs(item: pytest.Item) -> list[str]:
    wanted = [program for mark in item.iter_markers("needs") for program in mark.args]
    return [program for program in wanted if shutil.which(program) is None]


# The address of a unix socket has 107 bytes (unix(7)); below this folder pytest and the tests need seventy,
# and a worker of pytest-xdist ten more.
LONGEST_FOLDER_CHARS = 26


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    shares.share_out(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> shares.Shares | None:
    return shares.Shares(config, log) if shares.whole(config) else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Mends at once, or says, what would otherwise be a hundred strange failures."""
    # What a shell starts behind itself is deaf to Ctrl-C, and so would be what the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = tempfile.gettempdir()
    if len(folder) > LONGEST_FOLDER_CHARS or " " in folder:
        pytest.exit(f"TMPDIR is {folder}: too long for unix sockets, or with spaces; TMPDIR=/tmp will do", 4)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test marked `needs("tmux")` is skipped where tmux is missing, and says how to have it run.

    Most of Debian's packages have their program's name; `PACKAGES` has the others.
    """
    missing = missing_programs(item)
    if not missing:
        return
    reason = f"{', '.join(missing)} not installed: sudo apt install {' '.join(map(package, missing))}"
    if os.environ.get("BOX_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} (BOX_REQUIRE_ALL=1 allows no skip)", pytrace=False)
    pytest.skip(reason)
