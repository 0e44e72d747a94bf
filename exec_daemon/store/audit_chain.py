"""The chain of the audit, pure: what a line's hash covers, and where a chain is broken (docs/security.md).

A hash covers the line and the hash of the line before it. So whoever changes, drops, inserts or moves a line
has to write every later one anew, and whoever noted an earlier hash elsewhere finds out even then.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from exec_daemon.store.values import AuditBreak, AuditCheck, AuditLine, NewAuditLine
from messaging.json_out import compact

# The order in which a hash covers the fields of a line: for ever, since old lines must still verify.
COVERED = ("at", "identity", "asked_by", "op", "args_digest", "call_id", "job_id", "outcome", "duration_ms")

# The op of the line by which retention says what it removed.
PRUNE = "audit.prune"

# A chain that has lost nothing begins behind this line, which never was.
NO_HASH = ""

_write = compact(ascii_only=True, allow_nan=True)


_NOTED = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


def noted_ends(text: str) -> dict[int, str]:
    """`NUMBER:HASH`, several with commas between. Raises ValueError that says what it should be."""
    found = [_NOTED.fullmatch(part.strip()) for part in text.split(",")]
    ends = {int(match[1]): match[2] for match in found if match}
    if None in found:
        raise ValueError("an end of the audit is NUMBER:HASH, as a check prints it")
    return ends


def line_hash(before: str, seq: int, *covered: object) -> str:
    """SHA-256 over the JSON array of the hash before, the number and the fields; lower-case hexadecimal."""
    return hashlib.sha256(_write((before, seq, *covered)).encode()).hexdigest()


def covered(line: NewAuditLine | AuditLine) -> tuple[object, ...]:
    """The fields that a hash covers. A whole number of milliseconds is written as the store gives it back."""
    took_ms = line.duration_ms
    return (
        line.at,
        line.identity,
        line.asked_by,
        line.op,
        line.args_digest,
        line.call_id,
        line.job_id,
        line.outcome,
        None if took_ms is None else float(took_ms),
    )


@dataclass(slots=True)
class Link:
    """The end of a chain: the number and the hash of its last line."""

    seq: int = 0
    hash: str = NO_HASH

    def next(self, seq: int, *covered: object) -> str:
        """The hash of the line that follows; it is the end from now on."""
        self.seq, self.hash = seq, line_hash(self.hash, seq, *covered)
        return self.hash


@dataclass
class Checker:
    """Goes along a chain from its start, line by line; stops at the first break.

    `noted` are ends of the chain that somebody wrote down elsewhere, by number.
    """

    end: Link
    noted: dict[int, str] = field(default_factory=dict)
    lines: int = 0
    broken: AuditBreak | None = None
    # Retention leaves a line that says where the chain starts (`once.pruned_line`).
    start_told: bool = False

    def __post_init__(self) -> None:
        self._start = (PRUNE, str(self.end.seq), self.end.hash)
        self.start_told = self.end.seq == 0

    def feed(self, line: AuditLine) -> None:
        """The next line in the order of its number."""
        if self.broken is not None:
            return
        self.broken = self._wrong(line)
        if self.broken is None:
            self.end.seq, self.end.hash = line.seq, line.hash
            self.lines += 1
            self.start_told = self.start_told or (line.op, line.call_id, line.args_digest) == self._start

    def _wrong(self, line: AuditLine) -> AuditBreak | None:
        expected = self.end.seq + 1
        if line.seq != expected:
            return AuditBreak(expected, f"line {expected} is missing; line {line.seq} follows")
        if line.hash != line_hash(self.end.hash, line.seq, *covered(line)):
            return AuditBreak(line.seq, f"line {line.seq} is not what was written, or not in its place")
        if self.noted.get(line.seq, line.hash) != line.hash:
            return AuditBreak(line.seq, f"line {line.seq} has another hash than the one that was noted")
        return None

    def close(self, last: int) -> AuditCheck:
        """The finding. `last` is the highest number that was ever given out."""
        missing = [seq for seq in (last, *self.noted) if seq > self.end.seq]
        if self.broken is None and not self.start_told:
            begin = int(self._start[1])
            self.broken = AuditBreak(begin, f"the lines up to {begin} are missing, and no line says why")
        if self.broken is None and missing:
            gone = self.end.seq + 1
            self.broken = AuditBreak(gone, f"line {gone} and what follows it are missing")
        return AuditCheck(self.lines, self.end.seq, self.end.hash, self.broken)
