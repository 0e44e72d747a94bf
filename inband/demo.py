"""The main job, for real and from nothing: a daemon, certificates, a reply harvested, the thread shown.

Everything happens in a fresh state directory that is removed afterwards; the ordinary one is not touched.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from harvester import DaemonClient
from harvester.errors import HarvesterError
from inband.compose import client_for
from inband.errors import FrontDoorError
from inband.settings import load
from inband.supervise import command
from messaging import Message, MessageKind

QUESTION: Final = "How full is the disk? Tell Falke when you have looked."
THREAD: Final = "disk-check"
AGENT: Final = "heron"
COLLEAGUE: Final = "falke"
# A first start makes keys and a store: a second here, more on a small machine.
_START_S: Final = 30.0
_ANSWER_S: Final = 20.0
_POLL_S: Final = 0.05
_PREFIX: Final = "demo-"


class DemoError(FrontDoorError):
    """A step did not come to what it must come to; the message says which one."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the demo came to: the thread of the reply, and the thread of the agent that was written to."""

    thread: list[Message]
    delivered: list[Message]
    answered_s: float


def run(step: Callable[[str], None]) -> Shown:
    """Play the demo; `step` is told what happens. Raises `DemoError`."""
    with _state_directory() as home, _running(home, step), _client(home) as client:
        return _conversation(client, step)


@contextmanager
def _state_directory() -> Iterator[Path]:
    """In the checkout under the launcher (it promises to touch nothing else), else among temporary files."""
    checkout = os.environ.get("BOX_CHECKOUT")
    parent = Path(checkout) / ".box" if checkout else None
    if parent is not None:
        parent.mkdir(mode=0o700, exist_ok=True)
    for left in parent.glob(f"{_PREFIX}*/up.log") if parent else ():
        with _held(left.parent) as ours:
            if ours:  # its demo was killed: keys and tokens lie there
                shutil.rmtree(left.parent, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as home,
        _held(Path(home)),
    ):
        yield Path(home)


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


@contextmanager
def _running(home: Path, step: Callable[[str], None]) -> Iterator[None]:
    """`box up` on a free port, until the block ends."""
    step("starting a daemon with its own certificates, and a watcher")
    argv = command("--home", str(home), "up", "--port", "0", "--parent", str(os.getpid()))
    log = home / "up.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, env=_environment(home)
        )
    try:
        _wait_until(
            lambda: (home / "daemon.json").exists() or _ended(process, log), _START_S, "the daemon to start"
        )
        yield
    finally:
        process.terminate()
        process.wait()


def _environment(home: Path) -> dict[str, str]:
    """The person's settings do not apply here: no BOX_ variable and no settings file of theirs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
    return kept | {"BOX_HOME": str(home), "XDG_CONFIG_HOME": str(home)}


def _ended(process: subprocess.Popen[bytes], log: Path) -> bool:
    if process.poll() is not None:
        raise DemoError(f"the daemon ended at once: {log.read_text(errors='replace').strip()}")
    return False


@contextmanager
def _client(home: Path) -> Iterator[DaemonClient]:
    with client_for(load(_environment(home)), "operator") as client:
        yield client


def _conversation(client: DaemonClient, step: Callable[[str], None]) -> Shown:
    step(f"registering the agents {AGENT} and {COLLEAGUE}, opening the thread {THREAD}")
    for name in (AGENT, COLLEAGUE):
        client.add_agent(name)
    client.create_thread(id=THREAD, title="Disk check", agent=AGENT)
    client.post_message(THREAD, QUESTION)
    step(f"{AGENT} replies in text; the watcher finds the directives and has the daemon run them")
    started = time.monotonic()
    reply = client.post_message(THREAD, reply_text(), as_agent=AGENT).message
    _wait_until(lambda: _answer(client, reply) is not None, _ANSWER_S, "the results to arrive in the thread")
    shown = Shown(client.messages(THREAD), client.messages(COLLEAGUE), time.monotonic() - started)
    _check(shown)
    return shown


def reply_text() -> str:
    """What the agent writes in the demo."""
    return files("inband").joinpath("demo_reply.md").read_text(encoding="utf-8")


def _answer(client: DaemonClient, reply: Message) -> Message | None:
    found = (
        one
        for one in client.messages(THREAD)
        if one.kind is MessageKind.RESULT and one.in_reply_to == reply.id
    )
    return next(found, None)


def _check(shown: Shown) -> None:
    """The demo must not claim what did not happen."""
    answer = shown.thread[-1].body
    wanted = {
        "the look at the disk was answered": "disk" in answer and "UNKNOWN_ACTION" in answer,
        "one message was delivered, the quoted one was not": len(shown.delivered) == 1,
        "results were posted once": len(shown.thread) == 3,
    }
    wrong = [what for what, holds in wanted.items() if not holds]
    if wrong:
        raise DemoError(f"this did not hold: {'; '.join(wrong)}")


def _wait_until(holds: Callable[[], bool], limit_s: float, what: str) -> None:
    deadline = time.monotonic() + limit_s
    while not _holds(holds):
        if time.monotonic() > deadline:
            raise DemoError(f"waited {limit_s:.0f} s for {what}")
        time.sleep(_POLL_S)


def _holds(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except HarvesterError:
        return False
