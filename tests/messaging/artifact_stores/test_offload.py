"""What is large goes to the store, and the event holds a reference (M-81, M-89)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from messaging import ArtifactRef, JobEmitter, read_event
from messaging.artifact_stores import (
    MOST_RESULT_BYTES,
    ArtifactTooLarge,
    Attachment,
    LocalStore,
    Produced,
    offload,
)
from messaging.sinks import run_tool

LARGE = "ö" * (MOST_RESULT_BYTES // 2)
FITS = "x" * (MOST_RESULT_BYTES - 2)  # and two quotes


async def test_a_result_of_256_kib_stays_in_the_event(tmp_path: Path) -> None:  # M-81
    told = await offload(Produced(FITS), LocalStore(tmp_path))
    assert (told.result, told.artifacts) == (FITS, ())


async def test_a_larger_one_is_referenced(tmp_path: Path) -> None:  # M-81
    store = LocalStore(tmp_path)
    told = await offload(Produced({"text": LARGE}), store)
    (ref,) = told.artifacts
    assert told.result == {"artifact": ref.to_json()}
    assert (ref.content_type, json.loads(await store.get(ref))) == ("application/json", {"text": LARGE})


async def test_attachments_stand_beside_the_result(tmp_path: Path) -> None:  # M-81
    store, page = LocalStore(tmp_path), Attachment(b"<p>", "text/html")
    told = await offload(Produced({"a": 1}, [page]), store)
    assert told.result == {"a": 1}
    assert [(ref.bytes, ref.content_type) for ref in told.artifacts] == [(3, "text/html")]
    assert (await offload(Produced({"a": 1}, [page]), None)).artifacts == ()


async def test_a_large_result_without_a_store_is_refused() -> None:  # M-81
    with pytest.raises(ArtifactTooLarge):
        await offload(Produced(LARGE), None)


def events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def run(tmp_path: Path, result: Any, **environment: str) -> tuple[int, list[dict[str, Any]], list[str]]:
    said: list[str] = []

    async def work(job: JobEmitter[Any, Any, Any]) -> Any:
        await job.accepted("https://a.example/")
        return result

    path = tmp_path / "events.ndjson"
    given = {"BOX_TRANSPORT": "file", "BOX_EVENTS_PATH": str(path), **environment}
    return await run_tool(given, work, said.append), events(path), said


async def test_a_tool_with_a_store_succeeds_with_a_reference(tmp_path: Path) -> None:  # M-81, M-89
    code, told, said = await run(tmp_path, LARGE, BOX_ARTIFACTS=str(tmp_path / "store"))
    assert (code, said) == (0, [])
    ref = ArtifactRef.from_json(told[-1]["artifacts"][0])
    assert json.loads(await LocalStore(tmp_path / "store").get(ref)) == LARGE
    assert read_event(told[-1]).payload["result"] == {"artifact": ref.to_json()}
    assert "artifacts" not in told[0]


async def test_a_tool_without_one_fails_with_usage(tmp_path: Path) -> None:  # M-81
    code, told, said = await run(tmp_path, LARGE)
    assert (code, told[-1]["type"], told[-1]["code"]) == (2, "failed", "usage")
    assert "BOX_ARTIFACTS" in said[0]


async def test_a_store_that_cannot_be_used_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    code, told, _ = await run(tmp_path, LARGE, BOX_ARTIFACTS=str(tmp_path / "file" / "x"))
    assert (code, told[-1]["code"]) == (1, "general")


async def test_two_stores_at_once_end_before_any_work(tmp_path: Path) -> None:
    said: list[str] = []
    environment = {"BOX_ARTIFACTS": str(tmp_path), "BOX_UPLOADS": "[]"}
    assert await run_tool(environment, lambda _: pytest.fail("it ran"), said.append) == 2
