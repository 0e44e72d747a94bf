"""Content that jobs have kept (M-81, M-89): what any store promises."""

from __future__ import annotations

from exec_daemon.store import Artifact, KeepArtifact, New, Outcome, Store
from messaging import ArtifactRef, EventType
from tests.contracts.samples import job

HASH = "a" * 64
REF = ArtifactRef(uri=f"/artifacts/{HASH}", sha256=HASH, bytes=3, content_type="text/plain")


async def kept(store: Store, identity: str, call_id: str = "c1", ref: ArtifactRef = REF) -> str:
    """A job of `identity` that ended with the artifact twice."""
    begun = await store.begin(job(call_id, identity=identity))
    assert isinstance(begun, New)
    result = {"artifact": ref.to_json()}
    await store.finish(begun.job.id, Outcome(data=result), (KeepArtifact(ref), KeepArtifact(ref)))
    return begun.job.id


async def test_what_a_job_kept_belongs_to_its_identity(store: Store) -> None:
    job_id = await kept(store, "agent/heron")
    found = Artifact(sha256=HASH, bytes=3, content_type="text/plain", job_id=job_id, identity="agent/heron")
    assert await store.artifact(HASH) == found
    assert await store.artifact(HASH, "agent/heron") == found
    assert await store.artifact(HASH, "agent/crane") is None
    assert await store.artifact("b" * 64) is None


async def test_the_same_content_of_two_is_seen_by_both_each_as_its_own(store: Store) -> None:
    await kept(store, "agent/heron")
    as_html = ArtifactRef(uri=REF.uri, sha256=HASH, bytes=3, content_type="text/html")
    newer = await kept(store, "agent/crane", ref=as_html)
    found = [await store.artifact(HASH, who) for who in ("agent/heron", "agent/crane", None)]
    assert [one and one.content_type for one in found] == ["text/plain", "text/html", "text/html"]
    assert found[2] is not None
    assert found[2].job_id == newer


async def test_a_job_that_has_ended_keeps_nothing_more(store: Store) -> None:
    begun = await store.begin(job())
    assert isinstance(begun, New)
    await store.finish(begun.job.id, Outcome(data=1))
    await store.finish(begun.job.id, Outcome(data=1), (KeepArtifact(REF),))
    assert await store.artifact(HASH) is None


async def test_the_last_event_names_the_artifact_of_the_result(store: Store) -> None:  # M-89
    job_id = await kept(store, "agent/heron")
    first, last = await store.events(job_id)
    assert (last.type, last.payload["artifacts"]) == (EventType.SUCCEEDED, [REF.to_json()])
    assert "artifacts" not in first.payload
