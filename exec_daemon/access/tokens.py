"""Bearer tokens: 256 random bits, known to the store by their SHA-256 only (O-33, O 7.5)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from exec_daemon.access.identity import Identity, Role, identity
from exec_daemon.home import Home, write_private
from exec_daemon.store import Clock, NewId, Store, TokenRecord
from messaging.quick import quickly_made

PREFIX: Final = "inband_"
# What the first start makes: the person at this machine, and the watcher of its threads.
BOOTSTRAP: Final = (Identity(Role.OPERATOR, "local"), Identity(Role.HARVESTER, "local"))


@quickly_made
@dataclass(frozen=True, slots=True)
class Asker:
    """Who a request comes from, and the op globs that its token is limited to (none: not limited).

    One of `token_id`, `serial` (of a client certificate) and `uid` says what has proved it.
    """

    identity: Identity
    scopes: tuple[str, ...] = ()
    token_id: str | None = None
    serial: str | None = None
    uid: int | None = None


def new_secret() -> str:
    """A fresh token. The prefix lets scanners of leaked secrets know it."""
    return PREFIX + secrets.token_urlsafe(32)


def sha256(token: str) -> str:
    """What the store keeps; no salt, since a token has as many random bits as the hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def valid(record: TokenRecord, now: str) -> bool:
    """Neither revoked nor expired. Times are compared as text: all have one shape."""
    return record.revoked_at is None and (record.expires_at is None or now < record.expires_at)


async def bearer(store: Store, token: str, now: str) -> Asker | None:
    """Who bears this token; None for one that is unknown, revoked or expired."""
    return await bearer_by_sha256(store, sha256(token), now)


async def bearer_by_sha256(store: Store, hashed: str, now: str) -> Asker | None:
    """The same, of the token with this hash."""
    record = await store.token_by_sha256(hashed)
    if record is None or not hmac.compare_digest(record.sha256, hashed) or not valid(record, now):
        return None
    who = identity(record.identity)
    return Asker(who, record.scopes, record.id) if who else None


async def issue(
    store: Store,
    who: Identity,
    *,
    clock: Clock,
    new_id: NewId,
    expires_at: str | None = None,
    scopes: tuple[str, ...] = (),
) -> tuple[str, TokenRecord]:
    """A new token for `who`, and its record; the token itself is shown here and never again."""
    token = new_secret()
    record = TokenRecord(
        id=new_id("tok"),
        sha256=sha256(token),
        identity=str(who),
        created_at=clock(),
        expires_at=expires_at,
        scopes=scopes,
    )
    await store.add_token(record)
    return token, record


async def ensure_bootstrap(store: Store, home: Home, *, clock: Clock, new_id: NewId) -> None:
    """Leaves a valid token for each bootstrap identity under `tokens/`, a new one where there is none."""
    for who in BOOTSTRAP:
        path = home.token(str(who.role))
        kept = path.read_text().strip() if path.exists() else ""
        found = await bearer(store, kept, clock()) if kept else None
        if found is None or found.identity != who:
            token, _ = await issue(store, who, clock=clock, new_id=new_id)
            write_private(path, token.encode() + b"\n")
