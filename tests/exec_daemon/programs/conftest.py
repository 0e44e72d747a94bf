"""Programs that run for real, in spawners of this test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from exec_daemon.programs import Profile, Program, Programs, Ran
from exec_daemon.programs.sandbox import Sandbox

Run = Callable[..., Awaitable[Ran]]

# As little around it as there can be: what is shown is not the sandbox's doing.
BARE = Profile(confined=False)


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
    return Sandbox(user=_me()).profile(tmp_path_factory.mktemp("home"))


def _me() -> str:
    import getpass

    return getpass.getuser()
