"""What an operator can set about the daemon. The front door fills it from flags, environment, `box.toml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from exec_daemon.access.grants import ROLE_RATES, Rates
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.policy import Policy
from exec_daemon.agent_template import AgentTemplate
from exec_daemon.gate_spec import GateSpec
from exec_daemon.mcp_servers.spec import McpSpec
from exec_daemon.operator_ops.spec import OpSpec
from exec_daemon.programs.sandbox import Sandbox
from exec_daemon.store.retention import Retention
from exec_daemon.web.marking import Marker, no_marks
from exec_daemon.workers.rules import WorkerRules


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLimits:
    """Limits of one request on its way in, before anybody knows who sends it. Times are in seconds."""

    # Our clients send under a kibibyte; a proxy in front adds some more.
    most_head_bytes: int = 64 * 1024
    # Of a body that was answered before its end; a whole message, since some clients send all and then read.
    most_unread_bytes: int = 4 * 1024 * 1024
    # Who connects has a request to send; its body is at most a few mebibytes.
    handshake_s: float = 5.0
    head_s: float = 10.0
    body_s: float = 60.0
    # Between requests, longer than clients keep an idle connection, so that it is they who close it: a
    # request that crosses our closing would be lost.
    idle_s: float = 75.0
    # A client that reads nothing of what it asked for holds memory for it.
    stalled_s: float = 30.0
    # Connections in all, each with some 100 KiB, and those that are not yet through their handshake, which
    # takes milliseconds.
    most_connections: int = 1000
    most_handshakes: int = 200
    # A TLS close waits for the peer's close_notify (RFC 8446 6.1), which an idle pooled one never sends.
    goodbye_s: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonLimits:
    """Limits, each with its reason. Rates are calls a minute; 0 means no limit."""

    # GRAMMAR 4: a directive has at most 64 KiB; a thread's message may be a whole reply of 1 MiB, which
    # a client that escapes all but ASCII makes three times as long (`é`: two bytes, `\u00e9`: six).
    max_call_bytes: int = 256 * 1024
    max_body_bytes: int = 3 * 1024 * 1024 + 64 * 1024
    # O 7.1: a read is worth waiting for so long.
    box_time_limit_s: float = 5.0
    # A screen recording of a minute or a day's log; what is larger belongs into a bucket.
    max_artifact_bytes: int = 64 * 1024 * 1024
    # An agent that looks at long logs all day keeps some GiB of them.
    artifacts_room_bytes: int = 2 * 1024 * 1024 * 1024
    # O-85: two agents that answer each other in a loop get slow enough for a person to see.
    dm_pair_per_min: int = 30
    rates: Mapping[Role, Rates] = field(default_factory=lambda: ROLE_RATES)
    # A proxy between us and the client drops a silent connection after 30 s or more.
    keep_alive_s: float = 15.0
    # One poll of `GET /replies` and one `Prefer: wait` hold a connection no longer.
    max_wait_s: float = 60.0
    # Requests of one identity under way at once, and beside them streams, long polls and RPC connections:
    # more than a busy harvester or a page with many threads open needs.
    most_open: int = 64
    most_streams: int = 16
    # What runs gets so long to end after TERM.
    drain_s: float = 10.0
    wire: WireLimits = WireLimits()


def own_user() -> Mapping[int, Identity]:
    """Whoever runs as the daemon's own user could read the operator's token too."""
    return MappingProxyType({os.getuid(): Identity(Role.OPERATOR, "local")})


@dataclass(frozen=True, slots=True, kw_only=True)
class UnixSocket:
    """Identities by uid. Without `path` it is in the state directory; members of `group` may connect."""

    users: Mapping[int, Identity] = field(default_factory=own_user)
    path: Path | None = None
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSettings:
    """`home` is BOX_HOME. `port` 0 picks a free one. `repos` are checkouts by key, for the repo reads.

    `box_ctl` is a program that answers the reads in place of ours. `allow_remote` lets the daemon listen
    beyond this machine, `names` are what clients call it beside localhost, `origins` the web pages that may
    ask beside our own (`https://HOST:PORT`). `artifact_folders` are folders whose files `artifact.put` may
    keep. `allow_own_certificates` lets it listen there with the certificate that it made itself, in place of
    `certificate` and `certificate_key`, which others can verify. `unix` is the socket for users of this
    machine. `marker` finds the directives of a reply, for the web page.
    """

    home: Path
    host: str = "127.0.0.1"
    port: int = 8443
    allow_remote: bool = False
    allow_own_certificates: bool = False
    certificate: Path | None = None
    certificate_key: Path | None = None
    unix: UnixSocket = field(default_factory=UnixSocket)
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    box_ctl: Path | None = None
    repos: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    artifact_folders: tuple[Path, ...] = ()
    agents: Mapping[str, AgentTemplate] = field(default_factory=lambda: MappingProxyType({}))
    workers: WorkerRules = field(default_factory=WorkerRules)
    gates: Mapping[str, GateSpec] = field(default_factory=lambda: MappingProxyType({}))
    policy: Policy = field(default_factory=Policy)
    ops: tuple[OpSpec, ...] = ()
    mcp: tuple[McpSpec, ...] = ()
    sandbox: Sandbox = field(default_factory=Sandbox)
    limits: DaemonLimits = field(default_factory=DaemonLimits)
    retention: Retention = field(default_factory=Retention)
    log_to_stderr: bool = True
    log_format: str = "text"
    marker: Marker = no_marks
