"""Artifacts over the API: put, told by the job, fetched by whoever may see it (M-81, M-84, M-89)."""

from __future__ import annotations

from typing import Any

import pytest

from messaging import ArtifactRef, verify_artifact

PAGE = b"<script>alert(1)</script>"

# A box-ctl program that prints 70 KB: more than a read shows.
LONG_WINDED = """#!/bin/sh
printf '{"data": {"rows": ['
seq -s, 10000 20000 | tr -d '\\n'
printf '], "t": "'
head -c 9000 /dev/zero | tr '\\0' x
printf '"}}'
"""

UNUSABLE = [{"path": "x", "content_type": "text/html\r\nx: y"}, {"path": ""}, {"path": "\x00"}]


def address(daemon: Any, path: str) -> ArtifactRef:
    answer = daemon.exec("operator", "artifact.put", {"path": path}).json()
    return ArtifactRef.from_json(answer["result"]["artifact"])


@pytest.fixture
def put(daemon: Any) -> Any:
    """An operator's artifact: the answer of the call, and the reference in it."""
    (daemon.home / "outbox" / "report.html").write_bytes(PAGE)
    answer = daemon.exec("operator", "artifact.put", {"path": "report.html"}).json()
    return answer, ArtifactRef.from_json(answer["result"]["artifact"])


def test_a_file_that_was_put_is_fetched_by_its_address(daemon: Any, put: Any) -> None:  # M-84
    _, ref = put
    fetched = daemon.client("operator").get(ref.uri)
    assert (fetched.status_code, verify_artifact(ref, fetched.content)) == (200, PAGE)


def test_a_page_is_a_download_of_its_own_type_that_nothing_guesses_or_runs(daemon: Any, put: Any) -> None:
    _, ref = put
    headers = daemon.client("operator").get(ref.uri).headers
    assert headers["content-type"] == "text/html"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-disposition"] == f'attachment; filename="{ref.sha256[:16]}.html"'
    assert headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert headers["repr-digest"].startswith("sha-256=:")
    assert headers["content-length"] == str(len(PAGE))


def test_the_events_of_the_job_name_the_artifact_at_its_end(daemon: Any, put: Any) -> None:  # M-89
    answer, ref = put
    events = daemon.client("operator").get(f"/jobs/{answer['job_id']}/events").json()["events"]
    assert [one.get("artifacts") for one in events] == [None, [ref.to_json()]]


def test_an_alias_and_its_argument_names_do_as_well(daemon: Any, put: Any) -> None:  # O-20
    answer = daemon.exec("operator", "upload", {"file": "report.html", "mime": "text/plain"}).json()
    assert answer["result"]["artifact"]["content_type"] == "text/plain"


@pytest.mark.parametrize("who", ["viewer/eve", "harvester"])
def test_who_sees_all_sees_every_artifact(daemon: Any, put: Any, who: str) -> None:
    assert daemon.client(who).get(put[1].uri).content == PAGE


def test_what_is_foreign_and_what_is_missing_answer_alike(daemon: Any, put: Any) -> None:  # O-46
    heron = daemon.agent("heron")
    foreign, missing = heron.get(put[1].uri), heron.get("/artifacts/" + "0" * 64)
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert foreign.json()["detail"].replace(put[1].sha256, "0" * 64) == missing.json()["detail"]


@pytest.mark.parametrize("name", ["x", "..%2f..%2fca.key", "A" * 64, "%00"])
def test_what_is_no_hash_is_not_found(daemon: Any, name: str) -> None:
    assert daemon.client("operator").get(f"/artifacts/{name}").status_code == 404


def test_the_role_of_agents_does_not_include_it(daemon: Any, put: Any) -> None:
    daemon.agent("heron")
    answer = daemon.exec("agent/heron", "artifact.put", {"path": "report.html"})
    assert answer.json()["error"]["code"] == "FORBIDDEN"


@pytest.mark.parametrize("args", UNUSABLE)
def test_arguments_that_no_header_or_path_can_hold_are_refused(daemon: Any, args: dict[str, str]) -> None:
    assert daemon.exec("operator", "artifact.put", args).json()["error"]["code"] == "INVALID_ARGS"


def test_a_damaged_file_is_not_sent(daemon: Any) -> None:  # M-84
    (daemon.home / "outbox" / "other").write_bytes(b"whole")
    ref = address(daemon, "other")
    path = daemon.home / "artifacts" / "sha256" / ref.sha256[:2] / ref.sha256
    path.write_bytes(b"who")
    assert daemon.client("operator").get(ref.uri).json()["code"] == "UNAVAILABLE"
    path.unlink()
    gone = daemon.client("operator").get(ref.uri).json()
    assert (gone["code"], "made room" in gone["detail"]) == ("NOT_FOUND", True)


def test_a_result_that_is_too_large_comes_as_an_artifact_of_its_asker(daemon: Any) -> None:  # M-81
    heron = daemon.agent("heron")
    for _ in range(18):
        sent = daemon.exec("operator", "dm.send", {"to": "heron", "text": "x" * 16_000})
        assert sent.status_code == 200, sent.text
    result = daemon.exec("agent/heron", "dm.read", {"limit": 50}).json()["result"]
    ref = ArtifactRef.from_json(result["artifact"])
    assert set(result) == {"artifact"}
    fetched = heron.get(ref.uri)
    assert fetched.headers["content-type"] == "application/json"
    verify_artifact(ref, fetched.content)
    assert fetched.json()["thread"] == "heron"


def test_the_whole_of_a_reading_that_was_cut_is_an_artifact(start_daemon: Any, tmp_path: Any) -> None:
    # M-81, O-45
    program = tmp_path / "box-ctl"
    program.write_text(LONG_WINDED)
    program.chmod(0o755)
    daemon = start_daemon(box_ctl=program)
    reading = daemon.exec("operator", "box.exec", {"action": "disk"}).json()["result"]
    assert reading["truncated"] is True
    ref = ArtifactRef.from_json(reading["artifact"])
    whole = daemon.client("operator").get(ref.uri)
    verify_artifact(ref, whole.content)
    assert len(whole.json()["t"]) == 9000
    assert whole.json()["rows"] == list(range(10000, 20001))
