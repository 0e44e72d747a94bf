"""A call of the daemon beside a bare server and its peers: `bench/daemon.py [--rounds N] [--calls N]`.

All run on this machine and are asked in turns, round by round; what is printed are medians over the rounds.
Each call goes over TLS and one kept connection, one after the other (p50, p99), then from 16 at once.

    a call that spawns nothing   ours: `tools.list` for one op, through identity, grants, journal and audit
    a call that runs `true`      ours: an op of an operator's; the floor is `posix_spawn` in C, of `true` and
                                 of a program that ends before a C library could begin
    what is around `true`        the same op, and one with `confined = false`
    a call that is kept          ours: `dm.send`, durable with its effect; then the same call id again

Peers that are not installed are left out: the packages `mcp` and `fastmcp`, `nagios-nrpe-server`,
`openssh-server`, `wrk`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from bench import _programs, _wire  # noqa: E402 - the path comes first

CLIENTS: Final = 16
MCP_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
}
Rows = dict[str, list[float]]


def exec_body(op: str, args: dict[str, object], **more: object) -> bytes:
    """What the daemon is asked."""
    return json.dumps({"op": op, "args": args, **more}).encode()


def tool_body(tool: str, args: dict[str, object]) -> bytes:
    """What an MCP server is asked."""
    call = {"name": tool, "arguments": args}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()


LOOK: Final = exec_body("tools.list", {"filter": "job.get", "verbose": False})
SEND: Final = {
    "to": "ada",
    "text": "A message of the usual length, some eighty characters in a line.",
}


@contextmanager
def server(name: str, folder: Path) -> Iterator[int]:
    """The port that it listens on."""
    port = _programs.free_port()
    words = [sys.executable, "-m", "bench._servers", name, str(folder), str(port)]
    with (
        (folder.parent / f"{name}.log").open("wb") as log,
        subprocess.Popen(words, cwd=ROOT, stdout=log, stderr=log) as process,
    ):
        try:
            _programs.wait_for(port)
            yield port
        finally:
            process.terminate()


class Bench:
    """All servers, and what they are asked."""

    def __init__(self, stack: ExitStack, folder: Path, calls: int, seconds: float) -> None:
        self.folder = folder
        self.calls = calls
        self.seconds = seconds
        home = folder / "home"
        ours = stack.enter_context(server("daemon", home))
        _programs.wait_until((home / "daemon.json").exists, "the daemon to be ready")
        token = {"authorization": f"Bearer {(home / 'tokens' / 'operator').read_text().strip()}"}
        self._post(_wire.Request(ours, "/agents", b'{"name": "ada"}', token))
        self._port, self._token = ours, token
        bare = stack.enter_context(server("bare", home))
        self.looks = {"bare starlette": _wire.Request(bare, "/exec", LOOK, token), "inband": self.ours(LOOK)}
        self.runs = {"inband": self.ours(exec_body("bench.true", {}))}
        for name in ("mcp", "fastmcp"):
            if find_spec(name):
                port = stack.enter_context(server(name, home))
                self.looks[name] = _wire.Request(port, "/mcp", tool_body("echo", {"text": "x"}), MCP_HEADERS)
                self.runs[name] = _wire.Request(port, "/mcp", tool_body("run_true", {}), MCP_HEADERS)
        run, loose = self.runs["inband"], self.ours(exec_body("bench.loose", {}))
        self.layers = {"inband": run, "inband without layers": loose}
        self.alone = {
            "inband, new connections": partial(_wire.on_a_new_connection, run),
            "NRPE": stack.enter_context(_programs.nrpe(folder)),
            "NRPE with TLS": stack.enter_context(_programs.nrpe(home, _wire.tls())),
            "ssh ControlMaster": stack.enter_context(_programs.ssh(folder)),
        }

    def ours(self, body: bytes) -> _wire.Request:
        """A call of our daemon."""
        return _wire.Request(self._port, "/exec", body, self._token)

    @staticmethod
    def _post(request: _wire.Request) -> None:
        with _wire.Connection(request.port) as connection, contextlib.suppress(AssertionError):
            connection.ask(request.encode())  # 201

    def looking(self) -> Iterator[tuple[str, list[float]]]:
        """One round: p50 and p99 in ms, calls a second."""
        for name, request in self.looks.items():
            took = _wire.times_ms(request, self.calls)
            load = _wire.under_load(request, CLIENTS, self.seconds)
            yield name, [_at(took, 0.5), _at(took, 0.99), load.per_s, load.p99_ms]

    def running(self) -> Iterator[tuple[str, list[float]]]:
        """One round of the calls that run a program."""
        yield "posix_spawn in C", self._floor(_programs.TRUE)
        if bare := _programs.bare_program(self.folder):
            yield "posix_spawn in C, no C library in what is run", self._floor(bare)
        for name, request in self.runs.items():
            took = _wire.times_ms(request, self.calls // 5)
            load = _wire.under_load(request, CLIENTS, self.seconds)
            yield name, [_at(took, 0.5), _at(took, 0.99), load.per_s, load.p99_ms]
        for name, run in self.alone.items():
            if run is not None:
                took = _programs.times_ms(run, max(10, self.calls // 20))
                yield name, [_at(took, 0.5), _at(took, 0.99)]

    def _floor(self, program: str) -> list[float]:
        alone = _programs.floor_ms(self.folder, 1, self.seconds / 4, program)
        many = _programs.floor_ms(self.folder, CLIENTS, self.seconds, program)
        loaded = [len(many) / self.seconds, _at(many, 0.99)] if many else []
        return [_at(alone, 0.5), _at(alone, 0.99), *loaded]

    def layered(self) -> Iterator[tuple[str, list[float]]]:
        """One round with what is around a program and without, call by call in turns."""
        took = _wire.in_turns_ms(list(self.layers.values()), self.calls // 5)
        for name, times in zip(self.layers, took, strict=True):
            yield name, [_at(times, 0.5), _at(times, 0.99)]

    def keeping(self) -> Iterator[tuple[str, list[float]]]:
        """One round of calls that change something."""
        once = exec_body("dm.send", dict(SEND), call_id="bench-once")
        for name, body in (("dm.send", exec_body("dm.send", dict(SEND))), ("the same again", once)):
            took = _wire.times_ms(self.ours(body), self.calls // 5)
            yield name, [_at(took, 0.5), _at(took, 0.99)]


def _at(took: list[float], share: float) -> float:
    return took[int(len(took) * share)]


def table(title: str, rounds: list[Rows], base: str) -> None:
    """Medians; beside each p50 how many times that of `base` it is."""
    head = (title, "p50 ms", f"times {base}", "p99 ms", f"{CLIENTS} at once, per s", "p99 ms")
    print(f"\n| {' | '.join(head)} |\n|---|{'---:|' * 5}")
    for name in rounds[0]:
        middle = [statistics.median(column) for column in zip(*[one[name] for one in rounds], strict=True)]
        times = statistics.median(one[name][0] / one[base][0] for one in rounds)
        cells = [f"{middle[0]:.3f}", f"{times:.2f}", f"{middle[1]:.2f}"]
        cells += [f"{middle[2]:,.0f}", f"{middle[3]:.1f}"] if len(middle) > 2 else ["–", "–"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Starts all, asks all, prints the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--calls", type=int, default=1000, help="a round, one after the other")
    options.add_argument("--seconds", type=float, default=2.0, help="a round, from 16 at once")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, ExitStack() as stack:
        bench = Bench(stack, Path(folder), chosen.calls, chosen.seconds)
        parts: dict[str, tuple[Callable[[], Iterator[tuple[str, list[float]]]], str]] = {
            "a call that spawns nothing": (bench.looking, "inband"),
            "a call that runs `true`": (bench.running, "inband"),
            "what is around `true`": (bench.layered, "inband without layers"),
            "a call that is kept": (bench.keeping, "dm.send"),
        }
        found: dict[str, list[Rows]] = defaultdict(list)
        for number in count(1):
            for title, (measure, _) in parts.items():
                found[title].append(dict(measure()))
            print(f"round {number} of {chosen.rounds}", file=sys.stderr, flush=True)
            if number == chosen.rounds:
                break
            time.sleep(0.5)
        for title, (_, base) in parts.items():
            table(title, found[title], base)


if __name__ == "__main__":
    main()
