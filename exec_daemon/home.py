"""The state directory: what is where, written so that no one else can read it and no half file is left."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from exec_daemon.errors import HomeUnusable


@dataclass(frozen=True, slots=True)
class Home:
    """Paths under BOX_HOME."""

    root: Path

    @property
    def database(self) -> Path:
        return self.root / "store.db"

    @property
    def ca_cert(self) -> Path:
        return self.root / "ca.pem"

    @property
    def ca_key(self) -> Path:
        return self.root / "ca.key"

    @property
    def crl(self) -> Path:
        """Which client certificates are revoked."""
        return self.root / "crl.pem"

    @property
    def certificates(self) -> Path:
        """The client certificates that were issued, one file each."""
        return self.root / "certificates"

    @property
    def server_cert(self) -> Path:
        return self.root / "server.pem"

    @property
    def server_key(self) -> Path:
        return self.root / "server.key"

    @property
    def callback_key(self) -> Path:
        """What the secrets of callbacks are made from."""
        return self.root / "callback.key"

    @property
    def address(self) -> Path:
        return self.root / "daemon.json"

    @property
    def socket(self) -> Path:
        """The HTTP API for users of this machine, known by their uid."""
        return self.root / "daemon.sock"

    @property
    def rpc_socket(self) -> Path:
        return self.root / "rpc.sock"

    @property
    def log(self) -> Path:
        return self.root / "daemon.log"

    @property
    def ops(self) -> Path:
        """The digests of the ops at the last start."""
        return self.root / "ops.json"

    @property
    def artifacts(self) -> Path:
        return self.root / "artifacts"

    @property
    def outbox(self) -> Path:
        """Where whoever runs on this machine puts files that `artifact.put` may keep."""
        return self.root / "outbox"

    def token(self, name: str) -> Path:
        """The file with the bootstrap token of that name."""
        return self.root / "tokens" / name


def xdg(environment: Mapping[str, str], variable: str, fallback: str) -> Path:
    """Our folder under an XDG base directory (XDG specification 0.8: a relative one is void)."""
    base = environment.get(variable, "")
    return (Path(base) if base.startswith("/") else Path.home() / fallback) / "inband"


def settings_file(environment: Mapping[str, str]) -> Path:
    """`$BOX_CONFIG`, else `$XDG_CONFIG_HOME/inband/box.toml`."""
    named = environment.get("BOX_CONFIG")
    return Path(named) if named else xdg(environment, "XDG_CONFIG_HOME", ".config") / "box.toml"


def default_root(environment: Mapping[str, str]) -> Path:
    """The state directory where no setting names another."""
    return xdg(environment, "XDG_STATE_HOME", ".local/state")


def _unusable(root: Path, failure: OSError) -> HomeUnusable:
    reason = failure.strerror or str(failure)
    text = f"cannot use the state directory {root}: {reason}. Make it writable, or set BOX_HOME to another."
    return HomeUnusable(text, str(root))


def _private(directory: Path) -> None:
    """Makes the directory, 0700. One that holds things is not closed to others behind their back."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if found.st_uid != os.geteuid():  # whoever owns a folder can exchange what is in it, whoever wrote that
        way_out = "chown it, or set BOX_HOME to another."
        text = f"the state directory {directory} belongs to user {found.st_uid}: {way_out}"
        raise HomeUnusable(text, str(directory))
    if not found.st_mode & 0o077:
        return
    if any(directory.iterdir()):
        way_out = f"chmod 700 '{directory}', or set BOX_HOME to another."
        raise HomeUnusable(f"the state directory {directory} is open to others: {way_out}", str(directory))
    directory.chmod(0o700)


def _files_only(directory: Path) -> None:
    """A pipe or device in a file's place would be waited for without end, or never be empty."""
    for entry in directory.iterdir():
        mode = entry.stat().st_mode if entry.exists() else 0
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise HomeUnusable(f"{entry} is a pipe or a device and no file: move it away.", str(entry))


def prepare(root: Path) -> Home:
    """Makes the directories; raises `HomeUnusable`."""
    try:
        for directory in (root, *(root / name for name in ("tokens", "certificates", "artifacts", "outbox"))):
            _private(directory)
        for directory in (root, root / "tokens", root / "certificates"):
            _files_only(directory)
    except OSError as failure:
        raise _unusable(root, failure) from None
    return Home(root)


def write_private(path: Path, content: bytes) -> None:
    """Replaces the file at once, 0600 from the first byte on; raises `HomeUnusable`."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as failure:
        raise _unusable(path.parent, failure) from None
