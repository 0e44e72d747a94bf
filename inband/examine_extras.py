"""`box doctor` on what settings ask for and an extra package gives: MCP servers, traces."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from exec_daemon.errors import DaemonError
from exec_daemon.home import Home
from exec_daemon.mcp_servers.pins import pins
from exec_daemon.mcp_servers.spec import McpSpec, specs
from inband.finding import Finding, Grade
from inband.settings import Settings


def examine(settings: Settings) -> Iterator[Finding]:
    """Nothing where nothing is asked for."""
    servers = specs(settings["mcp"])
    if servers:
        yield _extra("mcp", "mcp", "the tools of [mcp]")
        yield from (_approved(spec, Home(settings.home)) for spec in servers)
    if settings["traces.endpoint"]:
        yield _extra("otel", "opentelemetry.sdk", f"traces to {settings['traces.endpoint']}")


def _extra(extra: str, module: str, needed_for: str) -> Finding:
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        found = False
    if found:
        return Finding(Grade.OK, extra, f"installed, for {needed_for}")
    return Finding(Grade.FAIL, extra, f"not installed: {needed_for}", f"pip install 'inband[{extra}]'")


def _approved(spec: McpSpec, home: Home) -> Finding:
    subject = f"mcp {spec.name}"
    try:
        kept = pins(home, spec.name)
    except DaemonError as unreadable:
        return Finding(Grade.FAIL, subject, str(unreadable), f"box mcp approve {spec.name}")
    missing = [tool for tool in spec.tools if tool not in kept]
    if missing:
        said = f"not approved, so no ops: {', '.join(missing)}"
        return Finding(Grade.WARN, subject, said, f"box mcp approve {spec.name}")
    return Finding(Grade.OK, subject, f"{len(spec.tools)} tools approved")
