"""repos and repo: the checkouts that the operator configured, by key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from exec_daemon.box.errors import not_found
from exec_daemon.box.git import NO_DRIVERS, Checkout, open_checkout
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.programs import Deadline, Ending
from exec_daemon.box.reading import Reading, absent

_STATUS: Final = ("status", "--porcelain=v2", "--branch", "--show-stash", "-z", "--ignore-submodules=all")
_SUMMARY: Final = "%h%x1f%cI%x1f%an%x1f%s"
# O 7.1: the last ten commits. The others are as long as a person still reads.
_COMMITS: Final = 10
_STASHES: Final = 20
_PATHS: Final = 100

_UNREADABLE: Final = "no git, no checkout at this place, or none that git could read in time"
_FILTERS: Final = "content filters are not run, so files under one may show as changed: {}"


def repos(context: BoxContext) -> Reading:
    """Each configured checkout: branch, head, how many files differ, ahead and behind."""
    deadline = Deadline(context.limit_s)
    rows = [{"key": key} | _overview(root, deadline) for key, root in sorted(context.repos.items())]
    return Reading({"repos": rows}, () if rows else ("no checkouts are configured",))


def _overview(root: Path, deadline: Deadline) -> dict[str, Any]:
    checkout = open_checkout(root, deadline)
    status = _status(checkout, deadline) if checkout else None
    return {"available": True, **_summary(status)} if status else {"available": False}


def repo(context: BoxContext, key: str) -> Reading:
    """One checkout: its status, the last commits, how much changed, what is stashed."""
    root = context.repos.get(key)
    if root is None:
        raise not_found("repo", key)
    deadline = Deadline(context.limit_s)
    checkout = open_checkout(root, deadline)
    status = _status(checkout, deadline) if checkout else None
    if checkout is None or status is None:
        return absent(_UNREADABLE, key=key)
    data = {
        "key": key,
        **_summary(status),
        "changes": status.changes[:_PATHS],
        "commits": _log(checkout, deadline, _COMMITS, "HEAD"),
        "diffstat": _diffstat(checkout, deadline),
        "stashes": _log(checkout, deadline, _STASHES, "-g", "refs/stash"),
    }
    notes = (_FILTERS.format(", ".join(checkout.filters)),) if checkout.filters else ()
    return Reading(data, notes, truncated=len(status.changes) > _PATHS)


@dataclass(frozen=True, slots=True)
class _Status:
    """What `git status` said. `whole`: it had no more to say."""

    header: dict[str, str]
    changes: list[dict[str, str]]
    whole: bool


def _status(checkout: Checkout, deadline: Deadline) -> _Status | None:
    output = checkout.ask(deadline, *_STATUS)
    if output is None or not output.ok:
        return None
    entries = output.text.split("\0")
    return _Status(_header(entries), list(_changes(entries)), output.ending is Ending.EXITED)


def _header(entries: list[str]) -> dict[str, str]:
    """The header lines of porcelain v2: `# branch.head main`, `# branch.ab +1 -2`."""
    lines = (entry[2:].partition(" ") for entry in entries if entry.startswith("# "))
    return {name: value for name, _, value in lines}


def _summary(status: _Status) -> dict[str, Any]:
    ahead, _, behind = status.header.get("branch.ab", "").partition(" ")
    return {
        "branch": status.header.get("branch.head"),
        "head": status.header.get("branch.oid"),
        "upstream": status.header.get("branch.upstream"),
        "ahead": int(ahead) if ahead else None,
        "behind": -int(behind) if behind else None,
        "dirty": len(status.changes),
        "counted_all": status.whole,
    }


# How many words stand before the path, by the entry's kind (git-status(1), porcelain format version 2).
_WORDS_BEFORE_PATH: Final = {"1": 8, "2": 9, "u": 10, "?": 1}


def _changes(entries: list[str]) -> Iterator[dict[str, str]]:
    """`{"state": "M.", "path": …}` per changed, renamed, unmerged or untracked file."""
    following = iter(entries)
    for entry in following:
        kind = entry[:1]
        if kind not in _WORDS_BEFORE_PATH:
            continue
        words = entry.split(" ", _WORDS_BEFORE_PATH[kind])
        yield {"state": "??" if kind == "?" else words[1], "path": words[-1]}
        if kind == "2":
            next(following, None)  # the path that it was renamed from


def _log(checkout: Checkout, deadline: Deadline, most: int, *revisions: str) -> list[dict[str, str]]:
    text = checkout.text(
        deadline,
        "log",
        f"--max-count={most}",
        f"--format={_SUMMARY}",
        "--no-show-signature",
        "--no-mailmap",
        *NO_DRIVERS[:2],
        *revisions,
        "--",
    )
    fields = (line.split("\x1f", 3) for line in (text or "").splitlines())
    names = ("commit", "at", "author", "subject")
    return [dict(zip(names, row, strict=True)) for row in fields if len(row) == len(names)]


def _diffstat(checkout: Checkout, deadline: Deadline) -> dict[str, int] | None:
    """Files, added and removed lines between the last commit and the work tree."""
    text = checkout.text(deadline, "diff", "--numstat", "-z", "--no-renames", *NO_DRIVERS, "HEAD", "--")
    if text is None:
        return None
    rows = [entry.split("\t", 2) for entry in text.split("\0") if entry.count("\t") >= 2]
    added, removed = (sum(int(row[i]) for row in rows if row[i].isdecimal()) for i in (0, 1))
    return {"files": len(rows), "added": added, "removed": removed}
