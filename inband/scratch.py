"""A state directory of its own for a demo, and the parts of the product that run on it until a block ends.

No setting of the person applies in there, and nothing of it is left: neither the directory nor a process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harvester import DaemonClient
from harvester.errors import HarvesterError
from inband.compose import client_for
from inband.errors import FrontDoorError
from inband.settings import Settings, load
from inband.supervise import command

# A first start makes keys and a store: a second here, more on a small machine.
_START_S: Final = 30.0
# `box up` gives its parts twelve seconds each before it kills them.
_END_S: Final = 40.0
_POLL_S: Final = 0.05
# Store, its write-ahead log and the other logs come to two.
_ROOM_BYTES: Final = 8 << 20
_PREFIX: Final = "demo-"
# Its log shows that a folder is one of ours.
_LOG: Final = "up.log"
_SHOWN_LINES: Final = 5


class DemoError(FrontDoorError):
    """A step did not come to what it must come to; the message says which one."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """The state directory at `home`, and what runs on it."""

    home: Path
    parts: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """The person's settings do not apply here: no BOX_ variable and no settings file of theirs."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
        return kept | {"BOX_HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home)}

    @property
    def settings(self) -> Settings:
        """As the parts read them."""
        return load(self.environment)

    def client(self, identity: str = "operator") -> DaemonClient:
        """A client of the daemon that runs here."""
        return client_for(self.settings, identity)

    @contextmanager
    def up(self) -> Iterator[None]:
        """`box up` on a free port, until the block ends."""
        with self.part("up", "up", "--port", "0"):
            self.wait_until((self.home / "daemon.json").exists, _START_S, "the daemon to start")
            yield

    @contextmanager
    def part(self, name: str, *words: str, program: Sequence[str] = ()) -> Iterator[None]:
        """`box WORDS PROGRAM` until the block ends; it ends with us whatever becomes of us."""
        argv = [*command("--home", str(self.home), *words, "--parent", str(os.getpid())), *program]
        with self._log(name).open("wb") as log:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment
            )
        self.parts[name] = process
        try:
            yield
        finally:
            _end(process)

    def wait_until(self, holds: Callable[[], bool], limit_s: float, what: str) -> None:
        """Raises `DemoError` when it does not come about in time, or when a part has ended."""
        deadline = time.monotonic() + limit_s
        while not _holds(holds):
            for name, process in self.parts.items():
                if process.poll() is not None:
                    raise DemoError(f"box {name} ended too early{self._said(name)}")
            if time.monotonic() > deadline:
                said = "".join(map(self._said, self.parts))
                raise DemoError(f"waited {limit_s:.0f} s for {what}{said}")
            time.sleep(_POLL_S)

    def _log(self, name: str) -> Path:
        return self.home / f"{name}.log"

    def _said(self, name: str) -> str:
        """The end of a part's log: when the block ends it is gone."""
        with suppress(OSError):
            lines = self._log(name).read_text(errors="replace").strip().splitlines()
            return "".join(f"\n  {line}" for line in lines[-_SHOWN_LINES:])
        return ""


@contextmanager
def scratch() -> Iterator[Scratch]:
    """In the checkout under the launcher (it promises to touch nothing else), else among temporary files.

    Raises `DemoError` where there is no room.
    """
    checkout = os.environ.get("BOX_CHECKOUT")
    try:
        with _folder(Path(checkout) / ".box" if checkout else None) as home:
            yield Scratch(home)
    except OSError as cannot:
        elsewhere = "" if checkout else ", or name another place with TMPDIR"
        raise DemoError(f"no state directory for the demo: {cannot}. Make room there{elsewhere}.") from None


@contextmanager
def _folder(parent: Path | None) -> Iterator[Path]:
    if parent is not None:
        parent.mkdir(mode=0o700, exist_ok=True)
    for left in parent.glob(f"{_PREFIX}*/{_LOG}") if parent else ():
        with _held(left.parent) as ours:
            if ours:  # its demo was killed: keys and tokens lie there
                shutil.rmtree(left.parent, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as home,
        _held(Path(home)),
    ):
        _need_room(Path(home))
        yield Path(home)


def _need_room(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _ROOM_BYTES:
        raise OSError(f"{folder.parent} has {free >> 20} MiB left, and it takes {_ROOM_BYTES >> 20} MiB")


@contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """A lock on the folder, which the kernel drops when its holder dies; False when another has it."""
    with ExitStack() as stack:
        held = True
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # another has it, or has just removed it
            held = False
        yield held


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it, and wait; a second Ctrl-C does not leave it behind, since its own parts end with it."""
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _holds(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except HarvesterError:
        return False
