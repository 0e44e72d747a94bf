"""Kill the daemon at random instants while many clients call it, then count.

    python -m tests.soak.daemon_kill --kills 1000 --seed 1

Each client makes one call after the other and sends each again, with its call id, until it has an answer. Two
kinds of calls change something: `dm.send`, whose effect is in our store, and an operator's op that appends a
line to a file, which is outside. Afterwards:

- every `dm.send` that was acknowledged is there once, and none is there twice (D088, D127);
- every line that was acknowledged is in the file once; none is there twice; a call that ended INTERRUPTED may
  have its line or not, and was never repeated;
- nothing runs any more, and the chain of the audit is whole (D111).
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harvester.client import DaemonClient
from harvester.errors import ClientError
from inband.errors import FrontDoorError
from messaging import Call, CallRequest, ErrorCode, MessageKind, Result
from tests.soak._parts import DAEMON, START_S, Parts, wait_until

RECIPIENT: Final = "ada"
CLIENTS: Final = 6
# Every second life is counted from the moment that the daemon answers, however busy the machine is,
# the others from the start of its process: some end before it is ready.
LONGEST_LIFE_S: Final = 3.0
SETTLE_S: Final = 120.0
BOX_TOML: Final = """
[ops."bench.note"]
argv = ["tee", "-a", "{lines}"]
stdin = "{{text}}\\n"
summary = "Appends a line."
confined = false

[ops."bench.note".arguments]
text = {{ pattern = "[a-z0-9-]+", example = "x" }}
"""


@dataclass(slots=True)
class Seen:
    """What clients were told, by text."""

    sent: set[str] = field(default_factory=set)
    noted: set[str] = field(default_factory=set)
    interrupted: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    def take(self, op: str, text: str, result: Result) -> None:
        """One answer."""
        if result.error is None and result.data.get("exit", 0) != 0:
            self.wrong.append(f"{op} {text}: {result.data}")
        elif result.error is None:
            (self.sent if op == "dm.send" else self.noted).add(text)
        elif result.error.code is ErrorCode.INTERRUPTED and op != "dm.send":
            self.interrupted.add(text)
        else:
            self.wrong.append(f"{op} {text}: {result.error.code} {result.error.message}")


class Caller(threading.Thread):
    """Calls and calls until it is told to stop; sends each call again until it is answered."""

    def __init__(self, number: int, parts: Parts, seen: Seen, stop: threading.Event) -> None:
        super().__init__(name=f"caller-{number}")
        self._number = number
        self._parts = parts
        self._seen = seen
        self._stop_asked = stop

    def run(self) -> None:
        """Every fourth call has its effect outside."""
        made = 0
        while not self._stop_asked.is_set():
            made += 1
            text = f"c{self._number}-{made}"
            op = "bench.note" if made % 4 == 0 else "dm.send"
            args = {"text": text} if op == "bench.note" else {"to": RECIPIENT, "text": text}
            result = self._answered(CallRequest(call=Call(op, args, f"soak:{text}")))
            if result is not None:
                self._seen.take(op, text, result)

    def _answered(self, request: CallRequest) -> Result | None:
        """None where no answer came in time after the last kill."""
        until_s = time.monotonic() + SETTLE_S
        while time.monotonic() < until_s:
            try:
                with self._parts.client() as client:
                    result = client.call(request)
                    if result.error is None or not result.error.retryable:
                        return result
            except (ClientError, FrontDoorError):
                time.sleep(0.05)
        self._seen.wrong.append(f"{request.call.call_id}: no answer within {SETTLE_S:.0f} s")
        return None


@dataclass(slots=True)
class Outcome:
    """What was found; `faults` is empty when all is well."""

    seen: Seen = field(default_factory=Seen)
    took_s: float = 0.0
    faults: list[str] = field(default_factory=list)


def run(kills: int, seed: int, home: Path, say: Callable[[str], None] = lambda _line: None) -> Outcome:
    """In the empty directory `home`."""
    lines, outcome, began_s = home / "lines", Outcome(), time.monotonic()
    _open_to_anybody(home, lines)
    (home / "inband").mkdir()
    (home / "inband" / "box.toml").write_text(BOX_TOML.format(lines=lines))
    with Parts(home, watching=False) as parts:
        with parts.client() as client:
            client.add_agent(RECIPIENT)
        stop = threading.Event()
        callers = [Caller(number, parts, outcome.seen, stop) for number in range(CLIENTS)]
        for caller in callers:
            caller.start()
        chance = random.Random(seed)
        for number in range(1, kills + 1):
            if number % 2:
                wait_until(parts.ready, START_S, "the daemon to be ready")
            time.sleep(chance.uniform(0.0, LONGEST_LIFE_S))
            parts.kill(DAEMON)
            parts.start(DAEMON)
            if number % 20 == 0:
                say(f"{number} of {kills} kills, {len(outcome.seen.sent)} messages acknowledged")
        stop.set()
        for caller in callers:
            caller.join()
        wait_until(parts.ready, START_S, "the daemon to be ready again")
        with parts.client() as client:
            outcome.faults = [*outcome.seen.wrong, *_found(client, outcome.seen, lines)]
    outcome.took_s = time.monotonic() - began_s
    return outcome


def _open_to_anybody(home: Path, lines: Path) -> None:
    """A daemon of root runs programs as nobody."""
    home.chmod(0o711)
    lines.touch()
    lines.chmod(0o666)


def _found(client: DaemonClient, seen: Seen, lines: Path) -> list[str]:
    delivered = Counter(_delivered(client))
    written = Counter(lines.read_text().split())
    faults = [f"message {text} is there {times} times" for text, times in delivered.items() if times > 1]
    faults += [f"message {text} was acknowledged and is lost" for text in seen.sent if not delivered[text]]
    faults += [f"line {text} is there {times} times" for text, times in written.items() if times > 1]
    faults += [f"line {text} was acknowledged and is lost" for text in seen.noted if not written[text]]
    faults += [f"job {job.id} of {job.op} still runs" for job in client.jobs("running")]
    audit = client.check_audit()
    return faults + ([] if audit["ok"] else [f"the audit is broken: {audit['broken']['problem']}"])


def _delivered(client: DaemonClient) -> list[str]:
    found, after = list[str](), 0
    while page := client.messages(RECIPIENT, after=after):
        found += [one.body for one in page if one.kind is MessageKind.DM]
        after = page[-1].seq
    return found


def main() -> int:
    """Exit code 0 when nothing is lost or there twice."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    wanted.add_argument("--kills", type=int, default=200)
    wanted.add_argument("--seed", type=int, default=1)
    chosen = wanted.parse_args()
    with tempfile.TemporaryDirectory(prefix="daemon-kill-") as home:
        outcome = run(chosen.kills, chosen.seed, Path(home), say=lambda line: print(line, flush=True))
        seen = outcome.seen
        told = f"{len(seen.sent)} messages and {len(seen.noted)} lines acknowledged"
        print(f"{chosen.kills} kills in {outcome.took_s:.0f} s; {told}, {len(seen.interrupted)} interrupted")
        print("\n".join(outcome.faults) or "nothing lost, nothing twice")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
