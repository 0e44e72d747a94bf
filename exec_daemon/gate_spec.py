"""`[gates."mail"]` in `box.toml`: a program of the operator's that says whether a timer wakes its agent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from exec_daemon.program_spec import ProgramSpec

GATE_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec(ProgramSpec):
    """A gate. Nothing of a call or a timer becomes a part of its `argv`.

    `agents` are globs of the names whose own timers may name it; operators' may in any case.
    """

    agents: tuple[str, ...] = ()
    time_limit_s: float = 30.0  # T-76
