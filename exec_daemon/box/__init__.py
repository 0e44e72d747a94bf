"""box.exec: the 27 reads of the machine and of our own store. Nothing here changes anything (D2).

Public names are looked up on first use: psutil and the reads load only where something is read.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from exec_daemon.box.actions import ACTIONS, BY_NAME, Action
    from exec_daemon.box.answer import read
    from exec_daemon.box.arguments import ArgumentType
    from exec_daemon.box.errors import BoxError, FactsUnavailable
    from exec_daemon.box.ports import EVERYTHING, BoxContext, Scope, StoreFacts

_LAZY = {
    "ACTIONS": "actions",
    "BY_NAME": "actions",
    "EVERYTHING": "ports",
    "Action": "actions",
    "ArgumentType": "arguments",
    "BoxContext": "ports",
    "BoxError": "errors",
    "FactsUnavailable": "errors",
    "Scope": "ports",
    "StoreFacts": "ports",
    "read": "answer",
}

__all__ = [
    "ACTIONS",
    "BY_NAME",
    "EVERYTHING",
    "Action",
    "ArgumentType",
    "BoxContext",
    "BoxError",
    "FactsUnavailable",
    "Scope",
    "StoreFacts",
    "read",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
