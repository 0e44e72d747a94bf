"""How the data of each op reads in a thread (O-19). An op that is not in the table is shown generically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from harvester.formatters.box import look
from harvester.formatters.dms import inbox, sent
from harvester.formatters.hints import failure
from harvester.formatters.jobs import job
from harvester.formatters.plain import plain
from harvester.formatters.tools import tools

Formatter = Callable[[Any], str]

FORMATTERS: Final[Mapping[str, Formatter]] = MappingProxyType(
    {
        "box.exec": look,
        "tools.list": tools,
        "dm.send": sent,
        "dm.read": inbox,
        "job.get": job,
    }
)


def formatted(op: str, data: Any) -> str:
    """The data of a result as text. Data of an unexpected shape is shown generically, never an error."""
    return FORMATTERS.get(op, plain)(data)


__all__ = ["FORMATTERS", "Formatter", "failure", "formatted", "plain"]
