"""Other programs, run so that nothing of them is left and nothing of us gets in (docs/security.md).

    programs = Programs(); ran = await programs.run(Program(argv=("uptime",)))

Public names are looked up on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exec_daemon.programs.errors import Overloaded, ProgramError, Unconfined, Unusable
    from exec_daemon.programs.pool import Programs
    from exec_daemon.programs.program import ENVIRONMENT, Capped, Network, Profile, Program, Ran

_LAZY = {
    "ENVIRONMENT": "program",
    "Capped": "program",
    "Network": "program",
    "Overloaded": "errors",
    "Profile": "program",
    "Program": "program",
    "ProgramError": "errors",
    "Programs": "pool",
    "Ran": "program",
    "Unconfined": "errors",
    "Unusable": "errors",
}

__all__ = [
    "ENVIRONMENT",
    "Capped",
    "Network",
    "Overloaded",
    "Profile",
    "Program",
    "ProgramError",
    "Programs",
    "Ran",
    "Unconfined",
    "Unusable",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
