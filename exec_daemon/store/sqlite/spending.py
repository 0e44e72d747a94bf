"""What runs of agents cost, in SQL."""

from __future__ import annotations

import sqlite3
from operator import attrgetter

from exec_daemon.store.sqlite.statements import insert
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.values import AgentRun, LastRun, Spending

_COLUMNS = (
    "key",
    "agent",
    "model",
    "adapter",
    "session",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cost_microusd",
)
_INSERT = insert("agent_runs", (*_COLUMNS, "at")) + " ON CONFLICT (key) DO NOTHING"
# A sum over nothing that was reported is NULL; a run with one of its two numbers counts that one.
_SUMS = """
    SELECT agent, model, count(*) AS runs, sum(cost_microusd) AS cost_microusd,
           sum(CASE WHEN coalesce(input_tokens, output_tokens) IS NOT NULL
                    THEN coalesce(input_tokens, 0) + coalesce(output_tokens, 0) END) AS tokens
    FROM agent_runs WHERE at >= :since AND (:agent IS NULL OR agent = :agent)
    GROUP BY agent, model ORDER BY agent, model
"""
_LAST = """
    SELECT agent, at, adapter, session FROM agent_runs AS run
    WHERE key = (SELECT key FROM agent_runs WHERE agent = run.agent ORDER BY at DESC, key DESC LIMIT 1)
    ORDER BY agent
"""

_values = attrgetter(*_COLUMNS)


def add(db: sqlite3.Connection, run: AgentRun, at: str) -> Written[bool]:
    """As the port's `add_run`."""
    return Written(db.execute(_INSERT, (*_values(run), at)).rowcount == 1)


def spending(db: sqlite3.Connection, since: str, agent: str | None) -> list[Spending]:
    """As the port's `spending`."""
    return [Spending(**row) for row in db.execute(_SUMS, {"since": since, "agent": agent})]


def last_runs(db: sqlite3.Connection) -> list[LastRun]:
    """As the port's `last_runs`."""
    return [LastRun(**row) for row in db.execute(_LAST)]
