"""A page beside the same bytes from a bare server: `./box bench page [--rounds N] [--looks N]`.

Threads of 100, 1,000 and 10,000 replies, each with directives, in a real daemon over HTTPS and one kept
connection; the same page as a constant from Starlette on the same uvicorn with the same certificate; and,
where Chromium is installed, how long after its request the page is painted. Medians over the rounds, which
ask all in turns. The server's processor time is that of one look: other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import psutil

ROOT: Final = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from bench import _programs, _wire  # noqa: E402 - the path comes first
from bench.daemon import server  # noqa: E402 - as above
from exec_daemon.home import prepare  # noqa: E402 - as above
from exec_daemon.store import Agent, NewThread, open_store  # noqa: E402 - as above
from messaging import AuthorKind, MessageKind, NewMessage  # noqa: E402 - as above

SIZES: Final = (100, 1_000, 10_000)
REPLY: Final = """The disk of the build machine is fuller than yesterday; I look at it, and tell ada.

[TOOL box.exec {"action": "disk"}]

The log said `[TOOL tools.list]`, which I only quote.

[DM {"to": "ada", "text": "82 % used, 3 % more than yesterday"}]
"""
# Appended together; the store commits them as one.
GROUP: Final = 500
PAINTED: Final = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


class Looks(NamedTuple):
    """How long some looks took, in order of length, and the processor time of the server for one."""

    took_ms: list[float]
    server_ms: float = 0.0


Look = Callable[[], Looks]


def thread(size: int) -> str:
    """The thread of so many replies."""
    return f"replies-{size}"


async def fill(home: Path) -> None:
    """What a daemon has that ran for a while."""
    store = await open_store(prepare(home).database)
    await store.add_agent(Agent(name="heron", thread="heron"))
    for size in SIZES:
        await store.create_thread(NewThread(id=thread(size), title=f"{size:,} replies", agent="heron"))
        reply = NewMessage(
            thread=thread(size),
            author="heron",
            author_kind=AuthorKind.AGENT,
            kind=MessageKind.TEXT,
            body=REPLY,
        )
        for start in range(0, size, GROUP):
            await asyncio.gather(*(store.append(reply) for _ in range(min(GROUP, size - start))))
    await store.close()


@contextmanager
def chromium() -> Iterator[Callable[[str, str], float] | None]:
    """What gives the milliseconds from a request to the first paint, for a URL and a token."""
    program = shutil.which("chromium")
    if program is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    def painted_ms(url: str, token: str) -> float:
        bearing = {"authorization": f"Bearer {token}"}
        context = browser.new_context(ignore_https_errors=True, extra_http_headers=bearing)
        page = context.new_page()
        page.goto(url)
        while (took_ms := page.evaluate(PAINTED)) is None:  # the page's policy lets nobody wait inside it
            page.wait_for_timeout(5)
        context.close()
        return float(took_ms)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield painted_ms
        browser.close()


def server_ms(port: int) -> float:
    """Processor time of the server on this port until now."""
    process = next(one for one in psutil.Process().children() if one.cmdline()[-1] == str(port))
    times = process.cpu_times()
    return float(times.user + times.system) * 1000


def asked(request: _wire.Request, count: int) -> Looks:
    """One after the other, over one connection."""
    before = server_ms(request.port)
    took_ms = _wire.times_ms(request, count)
    return Looks(took_ms, (server_ms(request.port) - before) / (count + _wire.WARMING))


def painted(painted_ms: Callable[[str, str], float], url: str, token: str, count: int) -> Looks:
    """Each in a browser's window of its own, with nothing kept."""
    return Looks(sorted(painted_ms(url, token) for _ in range(max(3, count))))


def looks(stack: ExitStack, folder: Path, count: int) -> dict[str, Look]:
    """What is measured, by its name."""
    home = folder / "home"
    asyncio.run(fill(home))
    port = stack.enter_context(server("daemon", home))
    _programs.wait_until((home / "daemon.json").exists, "the daemon to be ready")
    token = (home / "tokens" / "operator").read_text().strip()
    bearing = {"authorization": f"Bearer {token}"}
    pages = {size: _wire.Request(port, f"/ui/threads/{thread(size)}", b"", bearing, "GET") for size in SIZES}
    with _wire.Connection(port) as connection:
        content = connection.ask(pages[SIZES[-1]].encode()).partition(b"\r\n\r\n")[2]
    (home / "page.html").write_bytes(content)
    bare = _wire.Request(stack.enter_context(server("page", home)), "/", b"", {}, "GET")
    found: dict[str, Look] = {f"the same {len(content) // 1024} KiB, static": partial(asked, bare, count)}
    found |= {f"thread of {size:,}": partial(asked, page, count) for size, page in pages.items()}
    painted_ms = stack.enter_context(chromium())
    if painted_ms is not None:
        url = f"https://127.0.0.1:{port}/ui/threads/"
        for size in SIZES:
            look = partial(painted, painted_ms, url + thread(size), token, count // 10)
            found[f"thread of {size:,}, painted"] = look
    return found


def table(rounds: list[dict[str, Looks]]) -> None:
    """Medians over the rounds; the ratio is of processor time, within a round."""
    base = next(iter(rounds[0]))
    print("\n| a page | p50 ms | p99 ms | server's processor ms | times static |\n|---|---:|---:|---:|---:|")
    for name in rounds[0]:
        p50, p99 = (median(at(one[name].took_ms, share) for one in rounds) for share in (0.5, 0.99))
        spent = [one[name].server_ms for one in rounds]
        times = median(one[name].server_ms / one[base].server_ms for one in rounds)
        own = f"{median(spent):.2f} | {times:.0f}" if all(spent) else "– | –"
        print(f"| {name} | {p50:.2f} | {p99:.2f} | {own} |", flush=True)


def at(took_ms: list[float], share: float) -> float:
    """The time that this share of them was under."""
    return took_ms[int(len(took_ms) * share)]


def main() -> None:
    """Fills a store, starts the servers, asks in turns, prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--looks", type=int, default=100, help="a round; a tenth of it by Chromium")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        measured = looks(stack, Path(folder), chosen.looks)
        rounds = []
        for number in range(chosen.rounds):
            rounds.append({name: look() for name, look in measured.items()})
            print(f"round {number + 1} of {chosen.rounds}", file=sys.stderr, flush=True)
        table(rounds)


if __name__ == "__main__":
    main()
