"""The systemd unit of `box service install`, as text. Pure; the reason of each line is beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_UNIT = """\
# Made by `box service install`; run it again to renew this file. docs/operating.md says what it does.
[Unit]
Description=inband: daemon and watcher
Documentation=file://{docs}
After=network-online.target
Wants=network-online.target

[Service]
# Ready when the daemon answers; HUP reads certificates again; TERM lets what runs end first.
Type=notify
NotifyAccess=main
ExecStart={argv}
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
# Programs that the daemon runs get cgroups of their own, by which all they start is ended.
Delegate=yes
TimeoutStopSec=30
Restart=on-failure
RestartSec=2
# 1: it cannot start as it is set up, and would fail the same way again.
RestartPreventExitStatus=1 2
{identity}Environment=BOX_HOME={home}
UMask=0077
LimitNOFILE=65536

# What it does not need. Looks at the machine stay possible: /proc and logs are read.
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths={home}
ProtectHome={protect_home}
PrivateTmp=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectKernelLogs=yes
ProtectClock=yes
ProtectHostname=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
CapabilityBoundingSet=

[Install]
WantedBy={target}
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """`user` is who the service runs as; None for a service of the user that installs it."""

    argv: tuple[str, ...]
    home: Path
    user: str | None = None

    def text(self) -> str:
        """The file's content."""
        return _UNIT.format(
            argv=" ".join(map(_word, self.argv)),
            home=_path(self.home),
            identity=f"User={self.user}\n" if self.user else "",
            protect_home="tmpfs" if self.user and not _below_home(self.home) else "read-only",
            target="multi-user.target" if self.user else "default.target",
            docs=Path(__file__).resolve().parent,
        )


def _below_home(path: Path) -> bool:
    return path.parts[:2] in (("/", "home"), ("/", "root"))


def _word(text: str) -> str:
    """A word of ExecStart (systemd.service(5), COMMAND LINES): quoted, `%` and `$` doubled."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _path(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace("%", "%%").replace(" ", "\\x20")
