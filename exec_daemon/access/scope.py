"""Who sees which threads and jobs (O-46). What is foreign is answered like what is missing: NOT_FOUND."""

from __future__ import annotations

from exec_daemon.access.identity import Identity, Role
from messaging import Job, Thread

SEE_ALL = frozenset({Role.OPERATOR, Role.VIEWER, Role.HARVESTER})


def sees_all(identity: Identity) -> bool:
    """Is the whole store open to it?"""
    return identity.role in SEE_ALL


def sees_thread(identity: Identity, thread: Thread) -> bool:
    """An agent sees the threads that it is bound to, its home among them."""
    return sees_all(identity) or (identity.role is Role.AGENT and thread.agent == identity.name)


def sees_job(identity: Identity, job: Job) -> bool:
    """Everybody sees the jobs of its own calls."""
    return sees_all(identity) or job.identity == str(identity)
