"""git, asked so that it writes nothing and runs nothing (the warning in O 7.1).

A repository's own configuration can name programs. What is closed here, and how:

    index refresh                    GIT_OPTIONAL_LOCKS=0
    system and user configuration    GIT_CONFIG_NOSYSTEM, GIT_CONFIG_GLOBAL
    core.fsmonitor, hooks, gpg       -c on each command
    pager, external diff, textconv   --no-pager, --no-ext-diff, --no-textconv
    filter.*.clean, .process         each one that the repository names is set to nothing
    submodules (own configuration)   --ignore-submodules=all
    fetching missing objects         GIT_ALLOW_PROTOCOL: no transport may be used
    core.worktree, parent folders    --git-dir and --work-tree say where it is

Naming the repository also answers safe.directory: the operator configured exactly this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from exec_daemon.box.programs import Deadline, Ending, Output, run

_ENVIRONMENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }
)
_OPTIONS: Final = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "log.showSignature=false"),
    *("-c", "gpg.program=/bin/false"),
    *("-c", "color.ui=false"),
)
NO_DRIVERS: Final = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
# The settings of a content filter (gitattributes(5)) that name a program or insist on one.
_FILTER_SETTINGS: Final = MappingProxyType({"clean": "", "smudge": "", "process": "", "required": "false"})
# Real repositories have one filter (git-lfs). More are a trick to fill the environment.
_MOST_FILTERS: Final = 32


@dataclass(frozen=True, slots=True)
class Checkout:
    """A work tree that may be asked. `overrides` switch off the filters that it names."""

    root: Path
    filters: tuple[str, ...] = ()
    overrides: Mapping[str, str] = field(default_factory=dict)

    def ask(self, deadline: Deadline, *words: str) -> Output | None:
        """Run one git command here; None when git is missing."""
        where = (f"--git-dir={self.root / '.git'}", f"--work-tree={self.root}")
        return run(("git", *_OPTIONS, *where, *words), deadline, {**_ENVIRONMENT, **self.overrides})

    def text(self, deadline: Deadline, *words: str) -> str | None:
        """The output of one git command, or None when it failed."""
        output = self.ask(deadline, *words)
        return output.text if output is not None and output.ok else None


def open_checkout(root: Path, deadline: Deadline) -> Checkout | None:
    """The checkout at `root`, its filters switched off; None when it is none that git can read."""
    if not (root / ".git").exists():
        return None
    keys = Checkout(root).ask(deadline, "config", "--null", "--name-only", "--list")
    # A list that was cut off may hide a filter behind the cut.
    if keys is None or not keys.ok or keys.ending is Ending.CUT:
        return None
    names = sorted({_filter_name(key) for key in keys.text.split("\0")} - {""})
    return Checkout(root, tuple(names), _switched_off(names)) if len(names) <= _MOST_FILTERS else None


def _filter_name(key: str) -> str:
    """`filter.lfs.clean` -> `lfs`; a name may hold dots, the setting behind it cannot."""
    section, _, rest = key.partition(".")
    return rest.rpartition(".")[0] if section == "filter" else ""


def _switched_off(names: list[str]) -> dict[str, str]:
    """The settings as git takes them from the environment, where a name may hold `=` too (git(1))."""
    pairs = [
        (f"filter.{name}.{setting}", value) for name in names for setting, value in _FILTER_SETTINGS.items()
    ]
    overrides = {"GIT_CONFIG_COUNT": str(len(pairs))}
    for index, (key, value) in enumerate(pairs):
        overrides |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
    return overrides
