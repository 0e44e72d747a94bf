"""Who is signed in at the web page: sessions in memory, and links that work once.

A session is as strong as what it was opened with: a token or certificate that is revoked or expires takes it
along, and no session opens another. A restart of the daemon ends all of them. The random values are kept
by their hash, as tokens are.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from exec_daemon.access.tokens import Asker, sha256

# A working day; who works longer signs in again.
_SESSION_S: Final = 12 * 3600
# From the terminal into the browser.
_LINK_S: Final = 120
# A person has a few browsers; beyond it the oldest of the same identity go, and never another's.
_MOST_OF_ONE: Final = 20


# What a session stands on, asked at each request: the token, the certificate or the user that opened it.
Ground: TypeAlias = Callable[[], Awaitable[Asker | None]]


@dataclass(frozen=True, slots=True)
class _Session:
    who: str
    ground: Ground
    until_s: float


class Sessions:
    """Lives on the event loop. `monotonic_s` is a clock that only goes forward."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        self._now_s = monotonic_s
        self._key = secrets.token_bytes(32)
        self._sessions: dict[str, _Session] = {}
        self._links: dict[str, _Session] = {}

    def link(self, who: str, ground: Ground) -> str:
        """A code that opens one session of this identity on this ground, within two minutes."""
        return self._keep(self._links, _Session(who, ground, self._now_s() + _LINK_S))

    def follow(self, code: str) -> str | None:
        """The session that a link's code opens, the first time; None afterwards and for any other."""
        found = self._links.pop(sha256(code), None)
        if found is None or found.until_s <= self._now_s():
            return None
        return self.open(found.who, found.ground)

    def open(self, who: str, ground: Ground) -> str:
        """A new session's secret, for the cookie."""
        return self._keep(self._sessions, _Session(who, ground, self._now_s() + _SESSION_S))

    async def asker(self, secret: str) -> Asker | None:
        """Whose session it is; None for one that has ended, with what it stands on or by time."""
        session = self._sessions.get(sha256(secret))
        if session is None or session.until_s <= self._now_s():
            self.close(secret)
            return None
        return await session.ground()

    def close(self, secret: str) -> None:
        """The session is over."""
        self._sessions.pop(sha256(secret), None)

    def proof(self, secret: str) -> str:
        """What the page of this session sends with each change, and a page of another site cannot know."""
        return hmac.new(self._key, secret.encode(), hashlib.sha256).hexdigest()

    def proven(self, secret: str, proof: str) -> bool:
        """Does the request come from a page of this session?"""
        return hmac.compare_digest(self.proof(secret).encode(), proof.encode())

    def _keep(self, kept: dict[str, _Session], session: _Session) -> str:
        secret = secrets.token_urlsafe(32)
        now_s = self._now_s()
        for key in [key for key, each in kept.items() if each.until_s <= now_s]:
            del kept[key]
        own = [key for key, each in kept.items() if each.who == session.who]
        for key in own[: max(0, len(own) + 1 - _MOST_OF_ONE)]:
            del kept[key]
        kept[sha256(secret)] = session
        return secret
