"""How the data of each op reads in a thread (O-19). An op that is not in the table is shown generically."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from harvester.formatters.artifacts import kept
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
        "artifact.put": kept,
    }
)


def formatted(op: str, data: Any) -> str:
    """The data of a result as text. Data of an unexpected shape is shown generically, never an error."""
    return kept(data) if _only_kept(data) else FORMATTERS.get(op, plain)(data)


def _only_kept(data: Any) -> bool:
    """Was the whole result too large to come with it (M-81)?"""
    return isinstance(data, dict) and data.keys() == {"artifact"}


__all__ = ["FORMATTERS", "Formatter", "failure", "formatted", "plain"]
