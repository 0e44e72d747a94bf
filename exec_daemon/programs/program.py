"""What is run, what is around it, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

# All of it: nothing of the daemon's own environment reaches a program (D013, D015).
ENVIRONMENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
    }
)


class Network(StrEnum):
    """What a program may connect to."""

    NONE = "none"
    LOCAL = "local"  # services of this machine that have a Unix socket: systemd, tmux
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a program may do. `readable` and `writable` are paths; what is beneath them is meant too.

    `user` is who it runs as when the daemon is root; empty for the daemon's own user. `confined` False
    leaves out Landlock, seccomp and the loss of capabilities. Limits are for each process; 0 for none.
    """

    readable: tuple[str, ...] = ("/",)
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: Network = Network.NONE
    user: str = ""
    confined: bool = True
    require: tuple[str, ...] = ()
    memory_bytes: int = 0
    file_bytes: int = 0
    processes: int = 0
    cpu_s: int = 0
    open_files: int = 0

    def to_json(self) -> dict[str, Any]:
        """All fields, as the nursery reads them."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """`argv[0]` is a name on the fixed PATH or an absolute path. Nothing in `argv` is ever interpreted.

    Of each stream at most `most_whole_bytes` are kept where it is too long to be shown. `third` is what it
    reads on descriptor 3, which is closed where that is empty.
    """

    argv: tuple[str, ...]
    profile: Profile = field(default_factory=Profile)
    environment: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)
    folder: str = "/"
    time_limit_s: float = 20.0  # O-32
    most_whole_bytes: int = 16 * 1024 * 1024
    third: bytes = b""


@dataclass(frozen=True, slots=True)
class Capped:
    """What a program printed on one stream: `head`, and `tail` where `omitted_bytes` are between them.

    `whole` is all of it, up to the program's limit; None where `head` is all.
    """

    head: bytes = b""
    tail: bytes = b""
    omitted_bytes: int = 0
    whole: bytes | None = None

    @property
    def printed_bytes(self) -> int:
        """How much the program has printed."""
        return len(self.head) + self.omitted_bytes + len(self.tail)

    @property
    def text(self) -> str:
        """As UTF-8; what is none is replaced. A character is never cut in two (D034)."""
        if not self.omitted_bytes:
            return self.head.decode("utf-8", "replace")
        head, tail = _whole_characters(self.head), self.tail.lstrip(_CONTINUATION)
        note = f"\n… {self.omitted_bytes:,} bytes left out …\n"
        return f"{head.decode('utf-8', 'replace')}{note}{tail.decode('utf-8', 'replace')}"


_CONTINUATION: Final = bytes(range(0x80, 0xC0))


def _whole_characters(content: bytes) -> bytes:
    """`content` without the beginning of a character at its end (RFC 3629: at most three bytes of it)."""
    kept = content.rstrip(_CONTINUATION)
    if len(content) - len(kept) > 3 or not kept or kept[-1] < 0xC0:
        return content
    needed = 2 if kept[-1] < 0xE0 else 3 if kept[-1] < 0xF0 else 4
    return kept[:-1] if len(content) - len(kept) + 1 < needed else content


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a program ended: with an exit code, by a signal, or because it was stopped at its time limit.

    `left_over` says that it left processes behind, which have been killed.
    """

    exit: int | None
    signal: int | None
    timed_out: bool
    stdout: Capped
    stderr: Capped
    duration_ms: float
    left_over: bool = False

    @property
    def ok(self) -> bool:
        """It ended by itself and says that it succeeded."""
        return self.exit == 0
