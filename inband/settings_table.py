"""Every setting, once: its place in `box.toml`, its type, its default and what it is for.

`inband.settings` reads values by this table, `box config show` prints by it, `docs/settings.md` is made
from it. A setting that is not here does not exist. Longer than other files, since it is one table: whoever
looks for a setting, or whether there is one, reads it as a whole.
"""

from __future__ import annotations

from typing import Final

from exec_daemon.mcp_servers import spec as mcp_spec
from inband import addresses, agents, gates, permissions, programs, unix_users, workers
from inband.setting import Setting

_RATE: Final = (0, 1_000_000)
_BYTES: Final = (0, 1 << 50)
_DAYS: Final = (0, 36_500)
_KEPT: Final = (0, 1 << 40)


def _log_format(value: str) -> str | None:
    return None if value in ("text", "json") else "must be text or json"


SETTINGS: Final = (
    Setting(
        "",
        "home",
        str,
        "",
        "state directory (default: $XDG_STATE_HOME/inband): store, certificates, tokens, logs",
        "BOX_HOME",
    ),
    Setting("daemon", "host", str, "127.0.0.1", "address that the daemon listens on"),
    Setting(
        "daemon", "port", int, 8443, "port that the daemon listens on; 0 takes a free one", bounds=(0, 65535)
    ),
    Setting("daemon", "allow_remote", bool, default=False, purpose="permit a host that is not loopback"),
    Setting(
        "daemon",
        "allow_own_certificates",
        bool,
        default=False,
        purpose="listen beyond loopback with the certificate that the daemon made itself",
    ),
    Setting(
        "tls",
        "certificate",
        str,
        "",
        "PEM file of the daemon's certificate and its chain; empty for one by its own authority",
    ),
    Setting("tls", "key", str, "", "PEM file of that certificate's key"),
    Setting(
        "unix",
        "users",
        dict,
        {},
        "user or uid = ROLE/NAME of each user of this machine that the unix socket knows",
        problem=unix_users.problem,
    ),
    Setting("unix", "path", str, "", "unix socket of the API; empty for daemon.sock in the state directory"),
    Setting("unix", "group", str, "", "group that may connect there; empty for the daemon's own user only"),
    Setting(
        "daemon",
        "names",
        list,
        [],
        "what clients call the daemon beside localhost and its host: in its certificate, and taken as Host",
        problem=addresses.names_problem,
    ),
    Setting(
        "daemon",
        "origins",
        list,
        [],
        "web pages that may ask beside the daemon's own, as https://HOST:PORT",
        problem=addresses.origins_problem,
    ),
    Setting("daemon", "box_ctl", str, "", "another box-ctl program to answer box.exec; empty for our own"),
    Setting(
        "client", "url", str, "", "daemon to talk to; empty for the one of this state directory", "BOX_URL"
    ),
    Setting("client", "ca", str, "", "CA certificate that the daemon must chain to", "BOX_CA"),
    Setting(
        "client", "token", str, "", "bearer token; better a file: a variable shows in /proc", "BOX_TOKEN"
    ),
    Setting("client", "token_file", str, "", "file that holds the bearer token", "BOX_TOKEN_FILE"),
    Setting(
        "client", "certificate", str, "", "PEM file of a client certificate, in place of a token", "BOX_CERT"
    ),
    Setting("client", "key", str, "", "PEM file of its key, where that is another file", "BOX_CERT_KEY"),
    Setting(
        "client", "timeout_s", float, 30.0, "longest wait for an answer, in seconds", bounds=(0.1, 86_400)
    ),
    Setting("harvest", "max_calls", int, 16, "calls that one reply may make", bounds=(1, 1000)),
    Setting(
        "harvest", "max_reply_bytes", int, 1 << 20, "bytes of a reply that are read", bounds=(1, 1 << 24)
    ),
    Setting(
        "harvest",
        "max_rounds",
        int,
        8,
        "rounds of a thread without a human or timer message",
        bounds=(1, 1000),
    ),
    Setting(
        "harvest",
        "hosts",
        list,
        ["localhost", "127.0.0.1", "[::1]"],
        "hosts whose /exec counts as ours in a curl",
    ),
    Setting(
        "harvest", "dialect", str, "", "native dialect whose calls are taken too, or auto; empty for none"
    ),
    Setting("harvest", "allow_http", bool, default=False, purpose="take a curl of http:// too"),
    Setting(
        "rates", "reads_per_minute", int, 60, "read-only calls of one agent; 0 for no limit", bounds=_RATE
    ),
    Setting(
        "rates",
        "writes_per_minute",
        int,
        10,
        "side-effecting calls of one agent; 0 for no limit",
        bounds=_RATE,
    ),
    Setting(
        "rates",
        "dms_per_minute",
        int,
        30,
        "messages from one agent to the same other; 0 for no limit",
        bounds=_RATE,
    ),
    Setting(
        "logs",
        "format",
        str,
        "text",
        "how the daemon and the watcher log: text, or json with one object a line",
        problem=_log_format,
    ),
    Setting(
        "traces",
        "endpoint",
        str,
        "",
        "OTLP/HTTP collector that gets spans, such as http://127.0.0.1:4318; empty for none",
    ),
    Setting(
        "store",
        "keep_days",
        int,
        90,
        "days for which ended jobs, workers and silent lanes are remembered; 0 for ever",
        bounds=_DAYS,
    ),
    Setting(
        "store",
        "keep_jobs",
        int,
        100_000,
        "ended jobs of each identity that are remembered; 0 for all",
        bounds=_KEPT,
    ),
    Setting("store", "audit_days", int, 365, "days for which the audit is kept; 0 for ever", bounds=_DAYS),
    Setting(
        "store", "audit_lines", int, 2_000_000, "lines of the audit that are kept; 0 for all", bounds=_KEPT
    ),
    Setting("artifacts", "folders", list, [], "folders whose files artifact.put may keep, beside the outbox"),
    Setting("artifacts", "room_bytes", int, 2 << 30, "bytes of artifacts that are kept; the oldest go first"),
    Setting(
        "agents",
        "",
        dict,
        {},
        "name = {argv, folder, models, budget_usd} of each agent that the RPC may start",
        of=dict,
        problem=agents.problem,
    ),
    Setting(
        "workers",
        "",
        dict,
        {},
        "name = {argv, runtime, adapter, folder …} of workers that swarm.spawn may start (workers.md)",
        of=dict,
        problem=workers.problem,
    ),
    Setting(
        "gates",
        "",
        dict,
        {},
        "name = {argv, agents, time_limit_s …} of each program that timers ask before they wake (timers.md)",
        of=dict,
        problem=gates.problem,
    ),
    Setting(
        "swarm", "most_alive", int, 8, "workers of one agent alive, with those below them", bounds=(0, 1000)
    ),
    Setting(
        "swarm",
        "most_per_hour",
        int,
        30,
        "workers that one agent starts in an hour, with those below them",
        bounds=(0, 100_000),
    ),
    Setting(
        "swarm",
        "most_depth",
        int,
        1,
        "links of a chain of spawns; 1: a worker starts none, whatever its grant says",
        bounds=(1, 8),
    ),
    Setting(
        "grants",
        "",
        dict,
        {},
        "role or identity = {allow, deny, recipients, box, approval, rates …} of what it may do",
        of=dict,
        problem=permissions.grants_problem,
    ),
    Setting(
        "ops",
        "",
        dict,
        {},
        "name = {argv, summary, arguments …} of each op that runs a program of yours (operator-ops.md)",
        of=dict,
        problem=programs.ops_problem,
    ),
    Setting(
        "mcp",
        "",
        dict,
        {},
        "name = {command or url, tools …} of each MCP server whose tools become ops (mcp.md)",
        of=dict,
        problem=mcp_spec.problem,
    ),
    Setting(
        "sandbox",
        "require",
        list,
        [],
        "layers without which the daemon does not start: landlock, seccomp, cgroup, pids",
        problem=programs.require_problem,
    ),
    Setting(
        "sandbox",
        "readable",
        list,
        [],
        "paths that programs may read, beside those of the system",
        problem=programs.paths_problem,
    ),
    Setting(
        "sandbox", "writable", list, [], "paths that programs may write to", problem=programs.paths_problem
    ),
    Setting(
        "sandbox",
        "network",
        str,
        "none",
        "what programs may connect to: none, local (Unix sockets), all",
        problem=programs.network_problem,
    ),
    Setting("sandbox", "user", str, "", "who runs programs where the daemon is root; nobody by default"),
    Setting(
        "sandbox",
        "memory_bytes",
        int,
        2 << 30,
        "memory of one process of a program; 0 for no limit",
        bounds=_BYTES,
    ),
    Setting(
        "sandbox",
        "file_bytes",
        int,
        1 << 30,
        "size of a file that a program writes; 0 for no limit",
        bounds=_BYTES,
    ),
    Setting(
        "sandbox",
        "processes",
        int,
        512,
        "processes that a program's user may have beyond those it has; 0 for no limit",
        bounds=(0, 1 << 20),
    ),
    Setting(
        "sandbox",
        "cpu_s",
        int,
        600,
        "processor seconds of one process; 0 for no limit",
        bounds=(0, 1 << 20),
    ),
    Setting("sandbox", "open_files", int, 1024, "files that one process may have open", bounds=(16, 1 << 20)),
    Setting("sandbox", "places", int, 16, "programs that run at a time; others wait", bounds=(1, 256)),
    Setting(
        "approvals", "ops", list, [], "ops, as globs, that a person approves each time for all but operators"
    ),
    Setting(
        "approvals",
        "expire_s",
        int,
        86_400,
        "seconds that a call waits for a person before it expires",
        bounds=(60, 30 * 86_400),
    ),
    Setting(
        "chain",
        "after",
        list,
        [],
        "reads after which ops may be barred: ops, or box.exec:ACTION",
        problem=permissions.after_problem,
    ),
    Setting("chain", "bar", list, [], "ops that are barred in a thread where one of those was read"),
    Setting(
        "chain",
        "then",
        str,
        "refuse",
        "what becomes of a barred call: refuse, or approval by a person",
        problem=permissions.then_problem,
    ),
    Setting(
        "pins",
        "",
        dict,
        {},
        "op = digest that the op must have where a reply calls it; box ops --format pins prints them",
        problem=permissions.pins_problem,
    ),
    Setting("repos", "", dict, {}, "name = path of each checkout that box.exec repos and repo may look at"),
)

BY_NAME: Final = {row.name if row.key else row.section: row for row in SETTINGS}
