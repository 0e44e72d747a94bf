"""`job.get`: a job's head on one line, then what it was asked and what it ended with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harvester.formatters.plain import compact, lines, plain, scalar


def job(data: Any) -> str:
    """Head, arguments, result or error."""
    if not isinstance(data, dict) or not {"id", "op", "state"} <= data.keys():
        return plain(data)
    return "\n".join(line.rstrip() for line in _job(data))


def _job(data: Mapping[str, Any]) -> Iterator[str]:
    took = data.get("duration_ms")
    ran = f", {scalar(took)} ms" if took is not None else ""
    yield f"{data['id']}: {data['op']} {data['state']}{ran}, started {data.get('created_at')}"
    if data.get("args"):
        yield f"args: {compact(data['args'])}"
    if data.get("error"):
        yield from lines({"error": data["error"]})
    elif data.get("result") is not None:
        yield from lines({"result": data["result"]})
