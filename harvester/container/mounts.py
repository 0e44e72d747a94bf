"""What of the host a container sees (T-80 to T-83).

The standard places, and further folders that the operator's allowlist permits. The list lies outside of
everything that an agent can write; without one there are no further folders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from harvester.container.groups import Source
from harvester.container.layout import Layout
from messaging.container import WireError
from messaging.container.fields import Key, Table, flag, mapping, read_fields, some_text, text, texts
from messaging.container.names import PATHS
from messaging.strict_json import StrictJsonError, load_object

# T-83. A list adds to these and takes none away.
BLOCKED: Final = (
    ".ssh .gnupg .gpg .aws .azure .gcloud .kube .docker credentials .env .netrc .npmrc .pypirc id_rsa "
    "id_ed25519 private_key .secret"
).split()
_MOST_LIST_BYTES: Final = 1 << 20
# What hides the project's secrets: an empty file that nobody can write.
_NOTHING: Final = Path("/dev/null")


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file of the host and where the container sees it."""

    source: Path
    target: str
    writable: bool = False


class MountRefused(Exception):
    """The folder is not mounted; the message says why and where that is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A folder whose folders may be mounted."""

    path: str
    writable: bool = False
    description: str = ""


_ROOT: Final[Table] = {
    "path": Key("path", some_text, required=True),
    "writable": Key("allowReadWrite", flag, default=False),
    "description": Key("description", text, default=""),
}


def _roots(value: Any) -> tuple[Root, ...]:
    if not isinstance(value, list):
        raise WireError("must be a list of objects")
    return tuple(Root(**read_fields(_ROOT, mapping(row))) for row in value)


_LIST: Final[Table] = {
    "roots": Key("allowedRoots", _roots, default=()),
    "blocked": Key("blockedPatterns", texts, default=()),
    "others_read_only": Key("nonMainReadOnly", flag, default=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowlist:
    """What the operator permits. The default permits nothing."""

    roots: Sequence[Root] = ()
    blocked: Sequence[str] = ()
    others_read_only: bool = True

    @classmethod
    def at(cls, file: Path) -> Allowlist:
        """The list in a file; none where there is none. Raises `WireError` for one that is not right."""
        try:
            with file.open("rb") as opened:
                content = opened.read(_MOST_LIST_BYTES).decode("utf-8")
        except FileNotFoundError:
            return cls()
        except (OSError, UnicodeDecodeError) as broken:
            raise WireError(f"{file}: cannot be read: {broken}") from None
        try:
            return cls(**read_fields(_LIST, load_object(content)))
        except (StrictJsonError, WireError) as wrong:
            raise WireError(f"{file}: {wrong}") from None


def further(wanted: Mapping[str, Any], source: Source, allowed: Allowlist) -> Mount:
    """One of `additionalMounts`: `{hostPath, containerPath?, readonly?}`; raises `MountRefused`."""
    written = wanted.get("hostPath")
    if not isinstance(written, str) or not written or "\0" in written:
        raise MountRefused("hostPath is missing")
    try:
        real = Path(written).expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise MountRefused(f"{written}: there is no such folder") from None
    if name := _blocked(real, allowed):
        raise MountRefused(f"{written}: {name} is never mounted")
    root = _root_of(real, allowed)
    if root is None:
        raise MountRefused(f"{written}: lies in none of the allowedRoots of the mount allowlist")
    asked = wanted.get("readonly") is False
    may_write = root.writable and (source.is_main or not allowed.others_read_only)
    return Mount(real, f"{PATHS['extra']}/{_inside(wanted, real)}", writable=asked and may_write)


def _blocked(real: Path, allowed: Allowlist) -> str | None:
    names = [name.casefold() for name in (*BLOCKED, *allowed.blocked)]
    return next(
        (part for part in real.parts if any(name and name in part.casefold() for name in names)), None
    )


def _root_of(real: Path, allowed: Allowlist) -> Root | None:
    """The innermost root that holds it: a narrow rule stands above a wide one."""
    found = [(Path(root.path).expanduser().resolve(), root) for root in allowed.roots]
    holding = [(path, root) for path, root in found if real.is_relative_to(path)]
    return max(holding, key=lambda both: len(both[0].parts), default=(None, None))[1]


def _inside(wanted: Mapping[str, Any], real: Path) -> str:
    where = wanted.get("containerPath", real.name)
    if not isinstance(where, str) or not where.strip() or ":" in where or "\0" in where:
        raise MountRefused("containerPath must be a relative path without `:`")
    path = PurePosixPath(where)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise MountRefused("containerPath must be a relative path without `..`")
    return str(path)


def standard(layout: Layout, lane: str, source: Source, project: Path | None = None) -> list[Mount]:
    """The places of T-80 for a lane. The project is main's alone, and its `.env` is empty there (T-81)."""
    mounts = [
        Mount(layout.group(source.folder), PATHS["group"], writable=True),
        Mount(layout.shared, PATHS["global"]),
        Mount(layout.ipc(lane), PATHS["ipc"], writable=True),
        Mount(layout.state(lane), PATHS["state"], writable=True),
    ]
    return [*mounts, *_project(project)] if project and source.is_main else mounts


def _project(project: Path) -> Iterator[Mount]:
    yield Mount(project, PATHS["project"])
    if (project / ".env").exists():
        yield Mount(_NOTHING, f"{PATHS['project']}/.env")
