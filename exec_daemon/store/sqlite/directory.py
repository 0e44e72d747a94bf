"""Agents, cursors and tokens in SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from operator import attrgetter

from exec_daemon.store.errors import Exists
from exec_daemon.store.json_text import dump, load
from exec_daemon.store.sqlite import threads
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.values import Agent, NewThread, TokenRecord

_AGENT_COLUMNS = ("name", "thread", "role")
_TOKEN_COLUMNS = (
    "id",
    "sha256",
    "identity",
    "created_at",
    "expires_at",
    "last_used_at",
    "revoked_at",
)
_INSERT_AGENT = insert("agents", _AGENT_COLUMNS)
_INSERT_TOKEN = insert("tokens", (*_TOKEN_COLUMNS, "scopes"))
_AGENT = select("agents", _AGENT_COLUMNS)
# No agent can be given the name of a worker, which would be its identity too.
_ANYBODY = f"""
    SELECT id AS name, thread, 'worker' AS role FROM workers WHERE id = :name
    UNION ALL {_AGENT} WHERE name = :name LIMIT 1
"""  # noqa: S608 - literals only
_TOKEN = select("tokens", (*_TOKEN_COLUMNS, "scopes"))

_agent_values = attrgetter(*_AGENT_COLUMNS)
_token_values = attrgetter(*_TOKEN_COLUMNS)


def add_agent(db: sqlite3.Connection, new: Agent, at: str) -> Written[Agent]:
    """Raises `Exists`. A thread that is bound to the agent already becomes its home."""
    if agent(db, new.name) is not None:
        raise Exists(f"there is an agent {new.name!r} already", new.name)
    home = threads.thread(db, new.thread)
    if home is None or home.agent != new.name:
        threads.create(db, NewThread(id=new.thread, title=new.name, agent=new.name), at)
    db.execute(_INSERT_AGENT, _agent_values(new))
    return Written(new)


def agent(db: sqlite3.Connection, name: str) -> Agent | None:
    """As the port's `agent`."""
    row = db.execute(_ANYBODY, {"name": name}).fetchone()
    return None if row is None else Agent(**row)


def agents(db: sqlite3.Connection) -> list[Agent]:
    """As the port's `agents`."""
    return [Agent(**row) for row in db.execute(_AGENT + "ORDER BY name")]


def cursor(db: sqlite3.Connection, name: str) -> int:
    """As the port's `cursor`."""
    row = db.execute("SELECT position FROM cursors WHERE name = ?", (name,)).fetchone()
    return 0 if row is None else int(row["position"])


def set_cursor(db: sqlite3.Connection, name: str, position: int) -> Written[None]:
    """As the port's `set_cursor`."""
    db.execute("INSERT OR REPLACE INTO cursors (name, position) VALUES (?, ?)", (name, position))
    return Written(None)


def add_token(db: sqlite3.Connection, token: TokenRecord) -> Written[None]:
    """Raises `Exists`."""
    try:
        db.execute(_INSERT_TOKEN, (*_token_values(token), dump(token.scopes)))
    except sqlite3.IntegrityError:
        raise Exists(f"there is a token {token.id!r} already", token.id) from None
    return Written(None)


def token_by_sha256(db: sqlite3.Connection, sha256: str) -> TokenRecord | None:
    """As the port's `token_by_sha256`."""
    row = db.execute(_TOKEN + "WHERE sha256 = ?", (sha256,)).fetchone()
    return None if row is None else _token(row)


def tokens(db: sqlite3.Connection) -> list[TokenRecord]:
    """As the port's `tokens`."""
    return [_token(row) for row in db.execute(_TOKEN + "ORDER BY number")]


def revoke_token(db: sqlite3.Connection, token_id: str, at: str) -> Written[bool]:
    """As the port's `revoke_token`."""
    done = db.execute("UPDATE tokens SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?", (at, token_id))
    return Written(done.rowcount == 1)


def touch_tokens(db: sqlite3.Connection, used: Mapping[str, str]) -> Written[None]:
    """As the port's `touch_tokens`."""
    db.executemany(
        "UPDATE tokens SET last_used_at = ? WHERE id = ?", [(at, token_id) for token_id, at in used.items()]
    )
    return Written(None)


def _token(row: sqlite3.Row) -> TokenRecord:
    return TokenRecord(**dict(row) | {"scopes": tuple(load(row["scopes"]))})
