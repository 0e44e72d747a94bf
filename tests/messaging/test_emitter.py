"""`JobEmitter`: numbering, order, and what happens to free text (M-01 to M-13, M-44 to M-47)."""

from __future__ import annotations

import re
from typing import Any, Literal

import pytest

from messaging import ArtifactRef, BadJobId, EventType, JobEmitter, OutOfOrder, Phase, read_event
from messaging.event_order import after
from tests.messaging._events import Kept, Ticks

Stage = Literal["classify", "extract"]
Code = Literal["usage", "general"]
Emitter = JobEmitter[dict[str, Any] | None, Stage, Code]

ARTIFACT = ArtifactRef(uri="file:///a", sha256="0" * 64, bytes=3, content_type="text/plain")


def emitter(sink: Kept, **more: Any) -> Emitter:
    return JobEmitter("job-1", sink, clock=Ticks(), **more)


async def test_a_job_is_told_from_accepted_to_its_end() -> None:  # M-01, M-02, M-03, M-05 to M-08, M-13
    kept = Kept()
    job = emitter(kept)
    await job.accepted("https://a.example/x")
    await job.progress("classify", pct=10, message="half")
    await job.warning("slow")
    await job.progress("extract")  # M-10: progress after a warning
    await job.succeeded({"title": "x"}, [ARTIFACT])
    assert [one.to_json() for one in kept.events] == [
        {"job_id": "job-1", "seq": 0, "ts": "2026-11-30T12:00:00.000Z", "type": "accepted"}
        | {"url": "https://a.example/x"},
        {"job_id": "job-1", "seq": 1, "ts": "2026-11-30T12:00:00.001Z", "type": "progress"}
        | {"stage": "classify", "pct": 10, "message": "half"},
        {"job_id": "job-1", "seq": 2, "ts": "2026-11-30T12:00:00.002Z", "type": "warning", "message": "slow"},
        {
            "job_id": "job-1",
            "seq": 3,
            "ts": "2026-11-30T12:00:00.003Z",
            "type": "progress",
            "stage": "extract",
        },
        {"job_id": "job-1", "seq": 4, "ts": "2026-11-30T12:00:00.004Z", "type": "succeeded"}
        | {"result": {"title": "x"}, "artifacts": [ARTIFACT.to_json()]},
    ]
    assert job.ended
    for one in kept.events:
        assert read_event(one.to_json()) == one
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", one.ts)


async def test_a_result_that_is_null_stays_while_absent_fields_are_left_out() -> None:  # M-08, M-19
    kept = Kept()
    job = emitter(kept)
    await job.accepted("u")
    await job.succeeded(None)
    assert kept.events[1].to_json() == {
        "job_id": "job-1", "seq": 1, "ts": "2026-11-30T12:00:00.001Z", "type": "succeeded", "result": None,
    }  # fmt: skip


@pytest.mark.parametrize("result", [{"x": object()}, {"x": float("nan")}, {1, 2}])
async def test_a_result_that_is_no_json_does_not_end_the_job(result: Any) -> None:  # M-08
    kept = Kept()
    job = emitter(kept)
    await job.accepted("u")
    with pytest.raises((TypeError, ValueError)):
        await job.succeeded(result)
    assert (await job.failed("general", "the result is no JSON")).seq == 1


async def test_a_bad_invocation_fails_without_being_accepted() -> None:  # M-12
    kept = Kept()
    await emitter(kept).failed("usage", "no URL given")
    assert [(one.seq, one.type, one.payload["code"]) for one in kept.events] == [
        (0, EventType.FAILED, "usage")
    ]


async def test_nothing_comes_after_the_end() -> None:  # M-11
    kept = Kept()
    job = emitter(kept)
    await job.accepted("u")
    await job.failed("general", "no")
    for telling in (
        job.warning("late"),
        job.succeeded({}),
        job.failed("general", "again"),
        job.accepted("u"),
    ):
        with pytest.raises(OutOfOrder):
            await telling
    assert len(kept.events) == 2


@pytest.mark.parametrize("kind", [EventType.PROGRESS, EventType.WARNING, EventType.SUCCEEDED])
def test_a_job_that_was_not_accepted_takes_no_step(kind: EventType) -> None:  # M-10
    with pytest.raises(OutOfOrder) as raised:
        after(Phase.NEW, kind)
    assert (raised.value.phase, raised.value.event) == (Phase.NEW, kind)


@pytest.mark.parametrize("pct", [-1, 101, float("nan")])
async def test_a_percentage_is_between_0_and_100(pct: float) -> None:  # M-06
    job = emitter(Kept())
    await job.accepted("u")
    with pytest.raises(ValueError, match="pct"):
        await job.progress("extract", pct=pct)
    assert (await job.progress("extract", pct=100)).seq == 1


@pytest.mark.parametrize("job_id", ["", "a.b", "a b", "a*", "a>", "x" * 129, "a\n"])
def test_a_job_id_that_breaks_a_subject_is_refused(job_id: str) -> None:  # M-27
    with pytest.raises(BadJobId):
        JobEmitter(job_id, Kept(), clock=Ticks())


async def test_free_text_loses_its_secrets_before_it_is_clipped() -> None:  # M-44, M-45
    kept = Kept()
    job = emitter(kept)
    secret = "sk-" + "a" * 40
    await job.accepted("https://user:hunter2@a.example/x")
    await job.progress("extract", message="x" * 480 + " " + secret)
    await job.warning("y" * 501)
    await job.failed("general", "z" * 2001)
    url, progress, warning, failed = (one.payload for one in kept.events)
    assert "hunter2" not in url["url"]
    assert progress["message"] == "x" * 480 + " [REDACTED]"
    assert warning["message"] == "y" * 500 + "…"
    assert failed["message"] == "z" * 2000 + "…"


async def test_the_sanitiser_is_the_emitters_own_and_sees_every_free_text() -> None:  # M-47
    kept = Kept()
    job = emitter(kept, sanitise=str.upper)
    await job.accepted("u")
    await job.progress("extract", message="a")
    await job.warning("b")
    await job.failed("general", "c")
    assert [one.payload.get("message") for one in kept.events] == [None, "A", "B", "C"]


async def test_an_event_that_the_sink_lost_keeps_its_number() -> None:  # M-02
    class Broken(Kept):
        async def emit(self, one):
            await super().emit(one)
            if len(self.events) == 2:
                raise OSError("full")

    kept = Broken()
    job = emitter(kept)
    await job.accepted("u")
    with pytest.raises(OSError, match="full"):
        await job.warning("lost")
    assert (await job.warning("next")).seq == 2


async def test_a_type_checker_refuses_a_word_that_is_not_the_tools_own() -> None:  # M-13
    job = emitter(Kept())
    await job.accepted("u")
    await job.progress("bake")  # type: ignore[arg-type]
    await job.failed("burnt", "no")  # type: ignore[arg-type]
