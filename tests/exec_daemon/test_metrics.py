"""What the daemon counts, and what nobody can make it count."""

from __future__ import annotations

from typing import Any

from exec_daemon.metrics import Metrics


def scraped(daemon: Any) -> str:
    answer = daemon.client("operator").get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    text: str = answer.text
    return text


def test_calls_are_counted_by_op_and_code(daemon: Any) -> None:
    daemon.agent("heron")
    daemon.exec("agent/heron", "tools.list", {})
    daemon.exec("agent/heron", "job.get", {"id": "job-none"})
    daemon.exec("agent/heron", "no.such.op", {})
    text = scraped(daemon)
    assert 'inband_calls_total{code="OK",op="tools.list"} 1.0' in text
    assert 'inband_calls_total{code="NOT_FOUND",op="job.get"} 1.0' in text
    assert 'inband_calls_total{code="UNKNOWN_OP",op="other"} 1.0' in text
    assert 'inband_call_seconds_count{op="tools.list"} 1.0' in text


def test_a_replay_counts_as_a_call_but_takes_no_time_of_an_op(daemon: Any) -> None:
    daemon.agent("heron")
    for _ in range(2):
        daemon.client("agent/heron").post(
            "/exec", json={"op": "dm.send", "args": {"to": "heron", "text": "x"}, "call_id": "c1"}
        )
    text = scraped(daemon)
    assert 'inband_calls_total{code="OK",op="dm.send"} 2.0' in text
    assert 'inband_call_seconds_count{op="dm.send"} 1.0' in text


def test_requests_are_counted_by_row_and_made_up_paths_are_one(daemon: Any) -> None:
    client = daemon.client("operator")
    for number in range(5):
        client.get(f"/made/up/{number}")
        client.get(f"/threads/none-{number}")
    text = scraped(daemon)
    assert 'inband_requests_total{method="GET",path="/threads/{id}",status="404"} 5.0' in text
    assert 'inband_requests_total{method="other",path="other",status="404"} 5.0' in text


def test_an_agent_may_not_read_the_metrics(daemon: Any) -> None:
    daemon.agent("heron")
    assert daemon.client("agent/heron").get("/metrics").status_code == 403
    assert daemon.client("agent/heron").post("/harvests", json={}).status_code == 403


def test_what_harvesters_tell_is_counted_under_few_names() -> None:
    metrics = Metrics(frozenset({"dm.send"}))
    metrics.harvested("F1", "OK", 2)
    metrics.harvested("F9", "MADE_UP", 3)
    for number in range(1000):
        metrics.skipped(f"reason_{number}", 1)
    lines = metrics.text({}).decode().split("\n")
    assert 'inband_directives_total{form="F1",outcome="OK"} 2.0' in lines
    assert 'inband_directives_total{form="other",outcome="other"} 3.0' in lines
    assert sum(line.startswith("inband_skipped_total{") for line in lines) <= 65
