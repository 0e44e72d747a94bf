"""The audit in memory: a list whose lines are chained as those on disk are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from exec_daemon.store.audit_chain import Checker, Link, covered, line_hash
from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.port import PAGE
from exec_daemon.store.values import AuditCheck, AuditLine, NewAuditLine


class MemoryAudit(MemoryPart):
    """The `Audit` part of the port."""

    async def note(self, line: NewAuditLine) -> AuditLine:
        return self._note(line)

    async def audit(self, limit: int = PAGE, before: int | None = None) -> list[AuditLine]:
        newest_first = reversed(self._tables.audit)
        return [line for line in newest_first if before is None or line.seq < before][:limit]

    async def check_audit(self, noted: Mapping[int, str] | None = None) -> AuditCheck:
        checker = Checker(Link(*self._tables.audit_start), dict(noted or {}))
        for line in self._tables.audit:
            checker.feed(line)
        return checker.close(self._last_line())

    def _last_line(self) -> int:
        return self._tables.audit[-1].seq if self._tables.audit else self._tables.audit_start[0]

    def _note(self, new: NewAuditLine) -> AuditLine:
        lines = self._tables.audit
        seq, before = self._last_line() + 1, lines[-1].hash if lines else self._tables.audit_start[1]
        line = AuditLine(**asdict(new), seq=seq, hash=line_hash(before, seq, *covered(new)))
        lines.append(line)
        return line
