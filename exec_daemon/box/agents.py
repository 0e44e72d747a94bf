"""agents, agent, workers and worker: who works here."""

from __future__ import annotations

from typing import Any

from exec_daemon.box.errors import not_found
from exec_daemon.box.hygiene import clean_lines
from exec_daemon.box.jobs import job_row
from exec_daemon.box.ports import BoxContext, Scope, StoreFacts
from exec_daemon.box.reading import Reading, absent, row
from exec_daemon.box.tmux import PANE_LINES, pane_text

_NO_WORKERS = "this daemon has no workers"
_RECENT_JOBS = 10


def agents(facts: StoreFacts, _context: BoxContext) -> Reading:
    """Every agent; what it may do and its session are shown for one agent."""
    rows = [row(agent) for agent in facts.agents()]
    return Reading({"agents": [_without(each, "permissions", "session") for each in rows]})


def _without(shown: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name not in names}


def agent(facts: StoreFacts, context: BoxContext, name: str) -> Reading:
    """One agent's profile; its usage and jobs only for those who may see them (O-46)."""
    found = facts.agent(name)
    if found is None:
        raise not_found("agent", name)
    if not context.scope.covers_agent(name):
        shown = _without(row(found), "session")
        return Reading({"agent": shown}, ("session, usage and jobs of another agent are not shown",))
    its_own = Scope(f"agent/{name}")
    usage = facts.usage(its_own)
    jobs = facts.ended_jobs(its_own, _RECENT_JOBS)
    return Reading(
        {
            "agent": row(found),
            "usage": None if usage is None else [row(each) for each in usage],
            "recent_jobs": [job_row(job) for job in jobs],
        }
    )


def workers(facts: StoreFacts, context: BoxContext) -> Reading:
    """The workers that the asker may see."""
    found = facts.workers(context.scope)
    return absent(_NO_WORKERS) if found is None else Reading({"workers": [row(worker) for worker in found]})


def worker(facts: StoreFacts, context: BoxContext, worker_id: str) -> Reading:
    """One worker and the last lines on its screen."""
    if facts.workers(context.scope) is None:
        return absent(_NO_WORKERS, worker=None)
    found = facts.worker(worker_id, context.scope)
    if found is None:
        raise not_found("worker", worker_id)
    text = pane_text(context, found.tmux_target) if found.tmux_target else None
    lines = clean_lines(text or "", context.secrets, PANE_LINES)
    notes = () if text is not None else ("its pane is gone or there is no tmux",)
    return Reading({"worker": row(found), "lines": lines}, notes)
