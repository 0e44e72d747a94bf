"""The approved tools of all servers as ops, and their links, when the daemon starts; nothing is connected."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from exec_daemon.calls.op import Op
from exec_daemon.errors import RuleUnusable
from exec_daemon.home import Home
from exec_daemon.mcp_servers.op import mcp_op
from exec_daemon.mcp_servers.pins import Pin, pins
from exec_daemon.mcp_servers.spec import McpSpec, problem, specs
from exec_daemon.settings_file import section

if TYPE_CHECKING:
    from exec_daemon.mcp_servers.link import Link

log = logging.getLogger(__name__)


def mcp_ops(
    servers: tuple[McpSpec, ...], home: Home, taken: Collection[str] = ()
) -> tuple[tuple[Op, ...], tuple[Link, ...]]:
    """Raises `DaemonError` where the extra is missing, a file of pins is damaged, or a name is `taken`."""
    if not servers:
        return (), ()
    if importlib.util.find_spec("mcp") is None:
        text = "box.toml has [mcp], and what speaks it is not installed. Mend it: pip install 'inband[mcp]'"
        raise RuleUnusable(text, "mcp")
    from exec_daemon.mcp_servers.link import Link

    links = {spec: Link(spec) for spec in servers}
    ops = tuple(mcp_op(spec, pin, links[spec]) for spec in servers for pin in _approved(spec, home))
    clash = next((op.name for op in ops if op.name in taken), None)
    if clash is not None:
        raise RuleUnusable(f"box.toml: [ops] and [mcp] both have an op {clash}. Rename one of them.", "mcp")
    return ops, tuple(links.values())


def listed(environment: Mapping[str, str], home: Home) -> tuple[Op, ...]:
    """The same ops, to be looked at and not to be called; by the settings file, without a daemon (O-51)."""
    servers = specs(section(environment, "mcp", problem))
    return tuple(mcp_op(spec, pin, None) for spec in servers for pin in _approved(spec, home))


def _unusable(kept: Mapping[str, Pin]) -> list[tuple[str, str]]:
    """Those that calls cannot be held to. Where nothing can be called, they are only looked at."""
    if importlib.util.find_spec("jsonschema") is None:
        return []
    from exec_daemon.mcp_servers.schema import problem_of

    found = ((tool, problem_of(pin.schema)) for tool, pin in kept.items())
    return [(tool, why) for tool, why in found if why is not None]


def _approved(spec: McpSpec, home: Home) -> list[Pin]:
    """In the order of `box.toml`. One that calls cannot be held to is left out, and the daemon starts."""
    kept = pins(home, spec.name)
    for tool, why in _unusable(kept):
        log.warning("MCP server %s: the schema of %s cannot be used: %s", spec.name, tool, why)
        del kept[tool]
    missing = [tool for tool in spec.tools if tool not in kept]
    if missing:
        log.warning("MCP server %s: not approved: %s (box mcp approve)", spec.name, ", ".join(missing))
    return [kept[tool] for tool in spec.tools if tool in kept]
