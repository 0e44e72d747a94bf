"""A reading as a person reads it: values in aligned columns, lists of objects as tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# Wider cells break the table on any screen; `--json` has the whole text.
_CELL_CHARS: Final = 60
# What a row is called by stands first, whichever way the JSON came: its objects have no order.
_NAMING: Final = (
    "level",
    "session",
    "id",
    "name",
    "key",
    "unit",
    "pid",
    "mount",
    "protocol",
    "port",
    "commit",
    "seq",
)
_WORDS: Final = {True: "yes", False: "no", None: "-"}


def lines_of_reading(document: Mapping[str, Any]) -> Iterator[str]:
    """The document of a read (O-45), line by line without line ends."""
    yield f"{document['action']} on {document['host']}, {document['at']}"
    data = {key: value for key, value in document["data"].items() if key != "available"}
    if document["data"].get("available") is False:
        yield "not available here"
    yield from _pairs(_flat(data))
    for title, rows in _blocks(data):
        yield from ("", title, *(f"  {line}" for line in rows))
    for note in document.get("notes", ()):
        yield from ("", f"note: {_cell('', note, 10 * _CELL_CHARS)}")
    if document.get("truncated"):
        yield from ("", "There was more than is shown.")


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Single values, those of nested objects under `outer.inner`."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        elif not _is_block(value):
            yield f"{prefix}{key}", value


def _is_block(value: Any) -> bool:
    """Lists of objects and lists of lines stand below; short lists of words stand in a cell."""
    return isinstance(value, list) and any(isinstance(item, Mapping) or " " in str(item) for item in value)


def _blocks(data: Mapping[str, Any]) -> Iterator[tuple[str, Iterable[str]]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _blocks(value)
        elif _is_block(value):
            objects = all(isinstance(item, Mapping) for item in value)
            yield key, _table(value) if objects else map(str, value)


def _pairs(pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    shown = [(_heading(key), _cell(key, value)) for key, value in pairs]
    width = max((len(key) for key, _ in shown), default=0)
    for key, text in shown:
        yield f"{key.ljust(width)}  {text}"


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    columns = sorted(dict.fromkeys(key for row in rows for key in row), key=_column_order)
    cells = [[_cell(key, row.get(key)) for key in columns] for row in rows]
    cells.insert(0, [_heading(key) for key in columns])
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    for row in cells:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _column_order(key: str) -> int:
    return _NAMING.index(key) if key in _NAMING else len(_NAMING)


def _heading(key: str) -> str:
    """The key without the unit that its cells show."""
    return key.removesuffix("_bytes")


def _cell(key: str, value: Any, most_chars: int = _CELL_CHARS) -> str:
    text = " ".join(_text(key, value).split())
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"


def _text(key: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(name, item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(_text(key, item) for item in value) or _WORDS[None]
    if key.endswith("_bytes"):
        return _size(value)
    return str(value)


def _size(count: float) -> str:
    """Bytes in the largest binary unit of which there is one."""
    for unit in _UNITS[:-1]:
        if abs(count) < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"
