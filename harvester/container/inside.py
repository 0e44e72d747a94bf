"""What of ours a container sees: the agent's three packages, and the Python that runs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from harvester.container.mounts import Mount

# Where `inband_agent` and what it needs lie inside.
RUNTIME: Final = "/opt/inband"
_CODE: Final = ("patterns", "messaging", "inband_agent")


def runtime() -> list[Mount]:
    """Our own agent: three packages and nothing that they do not need."""
    root = Path(__file__).resolve().parent.parent.parent
    return [Mount(root / name, f"{RUNTIME}/{name}") for name in _CODE]


def interpreter() -> list[Path]:
    """Python's own folder where it is not the system's."""
    base = Path(sys.base_prefix).resolve()
    return [] if base == Path("/usr") else [base]
