"""What all runs of a fuzzer have done, so that many short ones add up: a line each in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `subject` names the source that was tested; blocks `first` to before `end` were read."""

    subject: str
    first: int
    end: int
    inputs: int
    faults: int
    seconds: float

    @property
    def speed(self) -> float:
        """Inputs a second."""
        return self.inputs / self.seconds if self.seconds else 0.0


def digest(files: Iterable[Path]) -> str:
    """A name for the content of the files; the same source, the same name."""
    content = hashlib.sha256()
    for file in sorted(files):
        content.update(file.name.encode() + b"\0" + file.read_bytes())
    return content.hexdigest()[:12]


def runs(file: Path) -> list[Run]:
    """The runs so far; a line that was cut off by a kill is none."""
    found = []
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            found.append(Run(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def add(file: Path, run: Run) -> None:
    """Note one more."""
    file.parent.mkdir(exist_ok=True)
    with file.open("a") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")


def next_block(done: Iterable[Run], subject: str) -> int:
    """The first block that no run has read of this source."""
    return max((run.end for run in done if run.subject == subject), default=0)


def table(run: Run, done: list[Run]) -> str:
    """The run beside all runs of the same source, and of any."""
    same = [one for one in done if one.subject == run.subject]
    rows = [("this run", [run]), (f"scanner {run.subject}", same), ("every scanner", done)]
    lines = ["| | runs | inputs | faults | seconds | inputs/s |", "|---|---|---|---|---|---|"]
    for name, of in rows:
        inputs, seconds = sum(one.inputs for one in of), sum(one.seconds for one in of)
        lines.append(
            f"| {name} | {len(of)} | {inputs:,} | {sum(one.faults for one in of)} | {seconds:,.0f} "
            f"| {inputs / seconds if seconds else 0:,.0f} |"
        )
    return "\n".join(lines)
