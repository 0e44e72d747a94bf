"""What each role may post and who then counts as the author; and who sees which thread and job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exec_daemon.access.authors import AUTHORSHIP, RECORDED, RECORDERS, author_name
from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.scope import sees_job, sees_thread
from messaging import AuthorKind, Job, JobState, MessageKind, Thread

HERON = Identity(Role.AGENT, "heron")


def test_only_an_agents_own_token_or_a_record_makes_a_reply() -> None:  # O-83, O-15
    made = {
        (role, kind)
        for role, authorship in AUTHORSHIP.items()
        for kind in authorship.kinds
        if (authorship.kind, kind) == (AuthorKind.AGENT, MessageKind.TEXT)
    }
    assert made == {(Role.AGENT, MessageKind.TEXT)}
    assert (RECORDED.kind, RECORDED.kinds) == (AuthorKind.AGENT, (MessageKind.TEXT,))
    assert set(Role) - RECORDERS == {Role.AGENT, Role.VIEWER, Role.WORKER}


def test_an_agent_posts_words_and_nothing_that_starts_a_new_count_of_rounds() -> None:  # O-16
    assert AUTHORSHIP[Role.AGENT].kinds == (MessageKind.TEXT,)
    assert AUTHORSHIP.keys().isdisjoint({Role.VIEWER, Role.WORKER})


@pytest.mark.parametrize(
    ("role", "shown"), [(Role.OPERATOR, "heron"), (Role.AGENT, "heron"), (Role.HARVESTER, "harvester")]
)
def test_a_person_and_an_agent_have_their_names_and_the_system_has_its_role(role: Role, shown: str) -> None:
    assert author_name(Identity(role, "heron"), AUTHORSHIP[role]) == shown


def test_an_agent_sees_the_threads_that_it_is_bound_to() -> None:  # O-46
    own = Thread(id="ops", title="", agent="heron", created_at="2026-12-01T09:00:00.000Z")
    assert sees_thread(HERON, own)
    assert not sees_thread(HERON, replace(own, agent="wren"))
    assert not sees_thread(HERON, replace(own, agent=None))
    assert not sees_thread(Identity(Role.WORKER, "heron"), own)
    assert all(sees_thread(Identity(role, "x"), own) for role in (Role.OPERATOR, Role.VIEWER, Role.HARVESTER))


def test_everybody_sees_the_jobs_of_its_own_calls() -> None:  # O-46
    job = Job(
        id="job-1",
        op="tools.list",
        args={},
        call_id="c",
        identity="agent/heron",
        state=JobState.RUNNING,
        created_at="2026-12-01T09:00:00.000Z",
        side_effecting=False,
    )
    assert sees_job(HERON, job)
    assert not sees_job(Identity(Role.AGENT, "wren"), job)
    assert not sees_job(Identity(Role.WORKER, "heron"), job)
    assert sees_job(Identity(Role.VIEWER, "x"), job)
