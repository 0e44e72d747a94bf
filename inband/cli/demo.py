"""`box demo`: see a reply become results in a thread."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click

from inband import demo as scene
from inband.cli.progress import waiting
from inband.cli.shared import json_option, show
from inband.cli.thread import lines_of


@click.command(short_help="Show the whole way of a reply once, for real.")
@json_option
def demo(*, as_json: bool) -> None:
    """Show the whole way once, for real: daemon, TLS, a reply harvested, results in the thread.

    Uses a state directory of its own and removes it afterwards. Example: box demo
    """
    started = time.monotonic()

    def step(what: str) -> None:
        click.secho(f"[{time.monotonic() - started:5.2f} s] {what}", err=True, dim=True)

    with waiting("the demo runs"):
        shown = scene.run(step)
    document = {
        "thread": [message.to_json() for message in shown.thread],
        "delivered": [message.to_json() for message in shown.delivered],
        "answered_s": round(shown.answered_s, 3),
    }
    show(document, lambda: _lines(shown), as_json=as_json)


def _lines(shown: scene.Shown) -> Iterator[str]:
    yield ""
    yield click.style(f"Thread {scene.THREAD}", bold=True, underline=True)
    for message in shown.thread:
        yield from lines_of(message)
    yield click.style(
        f"Thread {scene.COLLEAGUE}, where messages to {scene.COLLEAGUE} arrive", bold=True, underline=True
    )
    for message in shown.delivered:
        yield from lines_of(message)
    yield f"The reply was answered {shown.answered_s:.2f} s after it was written. The quoted message did not"
    yield "run, and the mistyped call came back with a typed error."
    yield "Next: box up, then box --help. A reply of your own: box harvest reply.md --explain"
