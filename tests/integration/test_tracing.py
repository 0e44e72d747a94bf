"""Spans of a harvested reply reach a collector: one trace over both processes."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.patience import PATIENCE_S
from tests.serving import Serving, Silent
from tests.soak._parts import Parts, wait_until


class Collector(Serving):
    """An OTLP receiver over HTTP that keeps all spans."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        super().__init__(self._receiver())
        self.url = f"http://{self.authority}"

    def _receiver(self) -> type[Silent]:
        spans = self.spans

        class Receiver(Silent, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    import gzip

                    body = gzip.decompress(body)
                sent = ExportTraceServiceRequest.FromString(body)
                spans.extend(
                    one for part in sent.resource_spans for scope in part.scope_spans for one in scope.spans
                )
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

        return Receiver

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as running:
        yield running


def attributes(span: Span) -> dict[str, str]:
    return {one.key: one.value.string_value for one in span.attributes}


def test_a_reply_is_one_trace_from_the_harvest_to_the_op(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "inband").mkdir()
    (tmp_path / "inband" / "box.toml").write_text(f'[traces]\nendpoint = "{collector.url}"\n')
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "200")
    with Parts(tmp_path) as parts, parts.client() as client:
        client.add_agent("heron")
        reply = client.post_message(
            "heron", '[TOOL dm.send {"to": "heron", "text": "secret words"}]', as_agent="heron"
        ).message
        wait_until(
            lambda: bool(collector.named("inband.op") and collector.named("inband.harvest")),
            PATIENCE_S,
            "spans",
        )
    spans = {span.name: span for span in collector.spans if attributes(span).get("inband.op") != "box.exec"}
    chain = [spans[f"inband.{name}"] for name in ("harvest", "call", "exec", "op")]
    assert len({span.trace_id for span in chain}) == 1
    assert [child.parent_span_id for child in chain[1:]] == [parent.span_id for parent in chain[:-1]]
    assert attributes(chain[0]) == {"inband.thread": "heron", "inband.reply": reply.id}
    assert attributes(chain[2])["inband.job_id"] == attributes(chain[3])["inband.job_id"]
    assert "secret words" not in "".join(map(str, collector.spans))
