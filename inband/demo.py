"""The main job, for real and from nothing: a daemon, certificates, a reply harvested, the thread shown.

Everything happens in a fresh state directory that is removed afterwards; the ordinary one is not touched.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from harvester import DaemonClient
from inband.scratch import DemoError, Scratch, scratch
from messaging import Message, MessageKind

QUESTION: Final = "How full is the disk? Tell Falke when you have looked."
THREAD: Final = "disk-check"
AGENT: Final = "heron"
COLLEAGUE: Final = "falke"
_ANSWER_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What the demo came to: the thread of the reply, and the thread of the agent that was written to."""

    thread: list[Message]
    delivered: list[Message]
    answered_s: float


def run(step: Callable[[str], None]) -> Shown:
    """Play the demo; `step` is told what happens. Raises `DemoError`."""
    with scratch() as stage:
        step("starting a daemon with its own certificates, and a watcher")
        with stage.up(), stage.client() as client:
            return _conversation(stage, client, step)


def _conversation(stage: Scratch, client: DaemonClient, step: Callable[[str], None]) -> Shown:
    step(f"registering the agents {AGENT} and {COLLEAGUE}, opening the thread {THREAD}")
    for name in (AGENT, COLLEAGUE):
        client.add_agent(name)
    client.create_thread(id=THREAD, title="Disk check", agent=AGENT)
    client.post_message(THREAD, QUESTION)
    step(f"{AGENT} replies in text; the watcher finds the directives and has the daemon run them")
    started = time.monotonic()
    reply = client.post_message(THREAD, reply_text(), as_agent=AGENT).message
    stage.wait_until(
        lambda: _answer(client, reply) is not None, _ANSWER_S, "the results to arrive in the thread"
    )
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
