"""Kill -9 of the broker, three times during 2,000 events of 50 jobs: `python -m tests.soak.broker [ROUNDS]`.

After each round nothing may be lost, doubled after dedupe, or out of order within a job.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.integration._nats_chaos import chaos
from tests.integration._nats_server import nats_server

JOBS, EVENTS, KILLS = 50, 2000, 3


def one_round(number: int) -> bool:
    with tempfile.TemporaryDirectory() as folder, nats_server(Path(folder)) as server:
        outcome = asyncio.run(chaos(server, jobs=JOBS, events=EVENTS, kills=KILLS))
    done = f"{outcome.events} events of {JOBS} jobs, {outcome.kills} kills, {outcome.took_s:.1f} s"
    print(f"round {number}: {done}, {len(outcome.problems)} problems", flush=True)
    for problem in outcome.problems:
        print(f"  {problem}")
    return not outcome.problems


def main(rounds: int) -> int:
    good = [one_round(number) for number in range(1, rounds + 1)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
