"""`box.exec`: what a look at the machine shows (O-45: `{action, host, at, data, truncated?, notes?}`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from harvester.formatters.plain import lines, plain
from messaging import artifact_in

LEFT_OUT: Final = "(the box left out more)"


def look(data: Any) -> str:
    """Where and when, then the data; lines of a log stand as they are."""
    if not isinstance(data, dict) or "data" not in data:
        return plain(data)
    return "\n".join(line.rstrip() for line in _look(data))


def _look(data: dict[str, Any]) -> Iterator[str]:
    where = [str(data[key]) for key in ("host", "at") if data.get(key)]
    if where:
        yield ", ".join(where)
    yield from _seen(data["data"])
    if data.get("truncated"):
        whole = artifact_in(data)
        yield f"(the box left out more; all of it: artifact {whole.sha256})" if whole else LEFT_OUT
    notes = data.get("notes") or []
    for note in notes if isinstance(notes, list) else [notes]:
        yield f"note: {note}"


def _seen(seen: Any) -> Iterator[str]:
    if isinstance(seen, dict) and isinstance(seen.get("available"), bool):
        if not seen["available"]:
            yield "not available on this box"
        seen = {key: value for key, value in seen.items() if key != "available"}
    if isinstance(seen, dict) and isinstance(seen.get("lines"), list):
        yield from lines({key: value for key, value in seen.items() if key != "lines"})
        yield from lines("\n".join(map(str, seen["lines"])))
    else:
        yield from lines(seen)
