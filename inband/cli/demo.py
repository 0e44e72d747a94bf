"""`box demo`: see a reply become results in a thread, or a timer become a day's work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

import click

from inband import day as day_scene
from inband import demo as scene
from inband.cli.progress import waiting
from inband.cli.shared import json_option, show
from inband.cli.thread import lines_of
from inband.cli.timer_shown import history_lines
from messaging import Message

Step = Callable[[str], None]


@click.command(short_help="Show the whole way of a reply once, for real.")
@click.option("--day", is_flag=True, help="A day in the life: timer, agent, worker, verdict.")
@json_option
def demo(*, day: bool, as_json: bool) -> None:
    """Show the whole way once, for real: daemon, TLS, a reply harvested, results in the thread.

    With --day, what comes before and after it too, in about ten seconds: a timer wakes an agent, which asks
    for the machine's health, writes to a colleague, has a worker look at the disk, and answers for its job
    with a verdict.

    Uses a state directory of its own and removes it afterwards.

    \b
    Examples:
      box demo
      box demo --day
    """
    play = _day if day else _reply
    play(_timed(), as_json=as_json)


def _timed() -> Step:
    started = time.monotonic()

    def step(what: str) -> None:
        click.secho(f"[{time.monotonic() - started:5.2f} s] {what}", err=True, dim=True)

    return step


def _reply(step: Step, *, as_json: bool) -> None:
    with waiting("the demo runs"):
        shown = scene.run(step)
    document = {
        "thread": [message.to_json() for message in shown.thread],
        "delivered": [message.to_json() for message in shown.delivered],
        "answered_s": round(shown.answered_s, 3),
    }
    show(document, lambda: _lines(shown), as_json=as_json)


def _lines(shown: scene.Shown) -> Iterator[str]:
    yield from _thread(scene.THREAD, shown.thread)
    yield from _thread(
        f"{scene.COLLEAGUE}, where messages to {scene.COLLEAGUE} arrive", shown.delivered, first=False
    )
    yield f"The reply was answered {shown.answered_s:.2f} s after it was written. The quoted message did not"
    yield "run, and the mistyped call came back with a typed error."
    yield "Next: box up, then box --help. A reply of your own: box harvest reply.md --explain"
    yield "What comes before and after it, from a timer to a verdict: box demo --day"


def _thread(title: str, messages: Iterable[Message], *, first: bool = True) -> Iterator[str]:
    yield from ("",) if first else ()
    yield click.style(f"Thread {title}", bold=True, underline=True)
    for message in messages:
        yield from lines_of(message)


def _day(step: Step, *, as_json: bool) -> None:
    with waiting("the day goes by"):
        shown = day_scene.run(step)
    show(shown.to_json(), lambda: day_lines(shown), as_json=as_json)


def day_lines(shown: day_scene.Day) -> Iterator[str]:
    """The three threads whole, and what came of the timer."""
    yield from _thread(f"{day_scene.AGENT}, whom the timer wakes", shown.thread)
    yield from _thread(f"{shown.workers[0]['id']}, of the worker", shown.worker_thread, first=False)
    yield from _thread(
        f"{day_scene.COLLEAGUE}, where messages to {day_scene.COLLEAGUE} arrive", shown.colleague, first=False
    )
    yield click.style(f"box timer history {day_scene.TIMER}", bold=True, underline=True)
    yield from history_lines(shown.runs, "UTC")
    yield ""
    yield "All parts are the ordinary ones; the words of the two agents stand in a script."
    yield "Your own: box timer --help, box worker --help, box container --help"
