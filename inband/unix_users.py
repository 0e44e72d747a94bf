"""`[unix.users]` of `box.toml`: users of this machine by name or uid, and the identity of each."""

from __future__ import annotations

import pwd
from collections.abc import Mapping

from exec_daemon.access.identity import Identity, Role, identity
from exec_daemon.settings import own_user


def problem(users: Mapping[str, str]) -> str | None:
    """What is wrong with one of them, None when nothing is."""
    for user, who in users.items():
        if _uid(user) is None:
            return f"there is no user {user!r} on this machine"
        if identity(who) is None:
            return f"{who!r} is no identity; write ROLE/NAME, with a role of {', '.join(Role)}"
    return None


def known(users: Mapping[str, str]) -> Mapping[int, Identity]:
    """Identities by uid: those of `users`, and the daemon's own user where they do not name it."""
    found = {
        uid: who
        for user, name in users.items()
        if (uid := _uid(user)) is not None and (who := identity(name))
    }
    return {**own_user(), **found}


def _uid(user: str) -> int | None:
    if user.isascii() and user.isdigit():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return None
