"""Spans to an OpenTelemetry collector, by OTLP over HTTP. Needs the extra `otel`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inband.errors import InputError
from messaging.tracing import HEADER, Attributes, Note, trace_with

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

MISSING = "traces.endpoint is set, but OpenTelemetry is not installed. Mend it: pip install 'inband[otel]'"


class OpenTelemetrySpans:
    """`messaging.tracing.Spans` on a provider of OpenTelemetry's SDK."""

    def __init__(self, provider: TracerProvider) -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._tracer = provider.get_tracer("inband")
        self._headers = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, attributes: Attributes, parent: str | None) -> Iterator[Note]:
        context = self._headers.extract({HEADER: parent}) if parent else None
        with self._tracer.start_as_current_span(name, context, attributes=_set(attributes)) as made:

            def note(key: str, value: str | None) -> None:
                made.set_attributes(_set({key: value}))

            yield note

    def traceparent(self) -> str | None:
        carrier: dict[str, str] = {}
        self._headers.inject(carrier)
        return carrier.get(HEADER)


def _set(attributes: Attributes) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value is not None}


@contextmanager
def tracing(endpoint: str, service: str) -> Iterator[None]:
    """Sends this process's spans to `endpoint` (`http://127.0.0.1:4318`); nothing for an empty one.

    Spans are sent in the background; a collector that is away costs spans and nothing else. Raises
    `InputError` where OpenTelemetry is not installed.
    """
    if not endpoint:
        yield
        return
    provider = _provider(endpoint, service)
    trace_with(OpenTelemetrySpans(provider))
    try:
        yield
    finally:
        provider.shutdown()


def _provider(endpoint: str, service: str) -> TracerProvider:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InputError(MISSING) from None
    provider = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=2))
    )
    return provider
