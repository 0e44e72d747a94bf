"""The composition root: settings in, working parts out. The only place that knows both sides."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Event
from urllib.parse import urlsplit

from exec_daemon.access.grants import ROLE_RATES, Rates
from exec_daemon.access.identity import Role
from exec_daemon.mcp_servers.spec import specs as mcp_specs
from exec_daemon.settings import DaemonLimits, DaemonSettings, UnixSocket
from exec_daemon.store import Retention
from exec_daemon.workers.rules import WorkerRules
from harvester import DaemonClient, Harvested, ScanPolicy, Watcher, harvest_reply
from harvester.client.tls import ClientCertificate
from harvester.client.wire import is_unix
from harvester.errors import Unavailable
from inband import agents, gates, permissions, programs, unix_users, workers
from inband.errors import InputError, NotStartedError
from inband.explain import page_marks
from inband.settings import Settings
from messaging import Message

# The identity that the unix socket gives to who runs as the daemon's own user.
OPERATOR = "operator"


def daemon_url(settings: Settings) -> str:
    """Where the daemon is: the setting, else what the running daemon wrote down, else the default port."""
    if settings["client.url"]:
        return _address_of_a_daemon(settings["client.url"])
    written = _address(settings).get("url")
    return written if isinstance(written, str) else f"https://127.0.0.1:{settings['daemon.port']}"


def _address_of_a_daemon(url: str) -> str:
    """Checked, since the token is sent there: never in the clear, and to nothing but a host or a socket."""
    if is_unix(url):
        return url
    if not _is_address(url):
        raise InputError(
            f"client.url: {url!r} is no address of a daemon; write https://HOST:PORT or unix:PATH"
        )
    return url


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        there = parts.hostname and parts.port != 0
    except ValueError:
        return False
    more = "@" in parts.netloc or parts.path.strip("/") or parts.query or parts.fragment
    return parts.scheme == "https" and bool(there) and not more


def daemon_pid(settings: Settings) -> int | None:
    """The process of the daemon that listens, by what it wrote down."""
    written = _address(settings).get("pid")
    return written if isinstance(written, int) else None


def _address(settings: Settings) -> dict[str, object]:
    """What a daemon writes when it listens; empty when none has."""
    try:
        written = json.loads((settings.home / "daemon.json").read_text())
    except (OSError, ValueError):
        return {}
    return written if isinstance(written, dict) else {}


def token_for(settings: Settings, name: str) -> str:
    """The bearer token: the setting, else its file, else the one that the daemon made for `name`."""
    if settings["client.token"]:
        return str(settings["client.token"])
    named = settings["client.token_file"]
    file = Path(named or settings.home / "tokens" / name).expanduser()
    try:
        return file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        if named:
            raise InputError(f"{file}: no such token file") from None
        raise NotStartedError(
            f"no daemon has run with the state directory {settings.home}; start one: box up (or name another "
            "directory with --home, a token with $BOX_TOKEN_FILE)"
        ) from None
    except (OSError, UnicodeDecodeError) as broken:
        raise InputError(f"{file}: cannot be read as a token: {broken}") from None


def ca_file(settings: Settings) -> Path:
    """The only CA that is believed: the setting, else the daemon's own."""
    return Path(settings["client.ca"] or settings.home / "ca.pem").expanduser()


def client_for(settings: Settings, token: str) -> DaemonClient:
    """A client with the identity of the token named `token` (`operator`, `harvester`)."""
    shown = _path(settings, "client.certificate")
    certificate = ClientCertificate(shown, _path(settings, "client.key")) if shown else None
    url = daemon_url(settings)
    named = settings["client.token"] or settings["client.token_file"]
    proved = certificate is not None or (is_unix(url) and token == OPERATOR)
    return DaemonClient(
        url,
        None if proved and not named else token_for(settings, token),
        ca_file=ca_file(settings),
        timeout_s=settings["client.timeout_s"],
        certificate=certificate,
    )


def scan_policy(settings: Settings) -> ScanPolicy:
    """How replies are read, by the settings of `[harvest]`."""
    return ScanPolicy(
        daemon_hosts=tuple(settings["harvest.hosts"]),
        allow_http=settings["harvest.allow_http"],
        max_calls=settings["harvest.max_calls"],
        max_reply_bytes=settings["harvest.max_reply_bytes"],
        dialect=settings["harvest.dialect"] or None,
    )


def harvested(
    settings: Settings, client: DaemonClient, reply: Message, policy: ScanPolicy | None = None
) -> Harvested:
    """Harvest one recorded reply by the settings; `policy` stands in for how they read it."""
    return harvest_reply(
        client,
        reply,
        policy or scan_policy(settings),
        max_rounds=settings["harvest.max_rounds"],
        pins=settings["pins"],
    )


def _path(settings: Settings, name: str) -> Path | None:
    return Path(settings[name]).expanduser() if settings[name] else None


def _unix(settings: Settings) -> UnixSocket:
    return UnixSocket(
        users=unix_users.known(settings["unix.users"]),
        path=_path(settings, "unix.path"),
        group=settings["unix.group"],
    )


def _worker_rules(settings: Settings) -> WorkerRules:
    return WorkerRules(
        templates=workers.templates(settings["workers"]),
        most_alive=settings["swarm.most_alive"],
        most_per_hour=settings["swarm.most_per_hour"],
        most_depth=settings["swarm.most_depth"],
    )


def _retention(settings: Settings) -> Retention:
    return Retention(
        keep_days=settings["store.keep_days"],
        keep_jobs=settings["store.keep_jobs"],
        audit_days=settings["store.audit_days"],
        audit_lines=settings["store.audit_lines"],
    )


def _limits(settings: Settings) -> DaemonLimits:
    reads, writes = settings["rates.reads_per_minute"], settings["rates.writes_per_minute"]
    limited = (Role.AGENT, Role.WORKER, Role.VIEWER)
    return DaemonLimits(
        artifacts_room_bytes=settings["artifacts.room_bytes"],
        dm_pair_per_min=settings["rates.dms_per_minute"],
        rates={**ROLE_RATES, **dict.fromkeys(limited, Rates(reads_per_min=reads, writes_per_min=writes))},
    )


def daemon_settings(settings: Settings) -> DaemonSettings:
    """The daemon's own settings."""
    return DaemonSettings(
        home=settings.home,
        host=settings["daemon.host"],
        port=settings["daemon.port"],
        allow_remote=settings["daemon.allow_remote"],
        allow_own_certificates=settings["daemon.allow_own_certificates"],
        certificate=_path(settings, "tls.certificate"),
        certificate_key=_path(settings, "tls.key"),
        unix=_unix(settings),
        names=tuple(settings["daemon.names"]),
        origins=tuple(settings["daemon.origins"]),
        box_ctl=_path(settings, "daemon.box_ctl"),
        repos={name: Path(path).expanduser() for name, path in settings["repos"].items()},
        agents=agents.templates(settings["agents"]),
        workers=_worker_rules(settings),
        gates=gates.specs(settings["gates"]),
        policy=permissions.policy(settings),
        ops=programs.ops(settings["ops"]),
        mcp=mcp_specs(settings["mcp"]),
        sandbox=programs.sandbox(settings),
        log_format=settings["logs.format"],
        marker=page_marks(scan_policy(settings)),
        artifact_folders=tuple(Path(folder).expanduser() for folder in settings["artifacts.folders"]),
        retention=_retention(settings),
        limits=_limits(settings),
    )


def watch(settings: Settings, stop: Event) -> None:
    """Harvest replies as they arrive, until `stop` is set; a daemon that is away is waited for."""
    watcher = Watcher(
        lambda: once_there_is_a_daemon(settings),
        policy=scan_policy(settings),
        max_rounds=settings["harvest.max_rounds"],
        pins=settings["pins"],
    )
    watcher.run(stop)


def keep_workers(settings: Settings, stop: Event) -> None:
    """Start, watch and end workers, until `stop` is set; a daemon that is away is waited for."""
    from harvester.worker_host import WorkerHost

    templates = workers.host_templates(settings["workers"])
    WorkerHost(lambda: once_there_is_a_daemon(settings), templates, settings.home).run(stop)


def once_there_is_a_daemon(settings: Settings) -> DaemonClient:
    """A client for the watcher. At the very first start the daemon has not made CA and tokens yet."""
    ca = ca_file(settings)
    try:
        if ca.exists():
            return client_for(settings, "harvester")
    except NotStartedError as missing:
        raise Unavailable(str(missing), url=daemon_url(settings)) from None
    raise Unavailable(f"{ca} is not there yet", url=daemon_url(settings))
