"""Programs that run for real, in spawners of this test's own."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from exec_daemon.programs import Profile, Program, Programs, Ran
from exec_daemon.programs.sandbox import Sandbox

Run = Callable[..., Awaitable[Ran]]

# Prints `made` where a socket of the family in its argument can be made.
SOCKET = "import socket, sys\nsocket.socket(getattr(socket, sys.argv[1]))\nprint('made')"

# As little around it as there can be: what is shown is not the sandbox's doing.
BARE = Profile(confined=False)


def me() -> str:
    """The user that runs the tests."""
    return getpass.getuser()


def python(code: str, *words: str) -> tuple[str, ...]:
    return ("/usr/bin/env", "python3", "-S", "-c", code, *words)


@pytest.fixture
async def programs() -> AsyncIterator[Programs]:
    running = Programs(places=4)
    yield running
    await running.close()


@pytest.fixture
def run(programs: Programs) -> Run:
    """Runs an argument list; a text is for the shell, which then is the program."""

    async def go(
        argv: str | tuple[str, ...], *, stdin: bytes = b"", profile: Profile = BARE, **more: object
    ) -> Ran:
        words = ("/bin/sh", "-c", argv) if isinstance(argv, str) else argv
        return await programs.run(Program(argv=words, profile=profile, **more), stdin)  # type: ignore[arg-type]

    return go


@pytest.fixture
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    """What an op gets by default, as the user that runs the tests."""
    return Sandbox(user=me()).profile(tmp_path_factory.mktemp("home"))
