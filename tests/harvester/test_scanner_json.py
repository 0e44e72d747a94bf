"""The JSON of a directive is as strict as JSONTestSuite asks: each file as a value in it (GRAMMAR 4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvester.events import Directive
from harvester.scanner import scan_reply
from messaging import StrictJsonError, loads

_FOLDER = Path(__file__).parents[1] / "cases" / "json_test_suite"


def utf8_texts() -> dict[str, str]:
    """The files that are text at all."""
    texts = {}
    for path in sorted(_FOLDER.glob("*.json")):
        data = path.read_bytes()
        if data.decode("utf-8", "ignore").encode() == data:
            texts[path.stem] = data.decode()
    return texts


def accepted(text: str) -> bool:
    try:
        loads(text)
    except StrictJsonError:
        return False
    return True


# O-12
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in utf8_texts().items()])
def test_a_directive_runs_where_its_value_is_strict_json_and_only_there(text: str) -> None:
    events = scan_reply(f'[TOOL x {{"v": {text}}}]')
    args = [event.args for event in events if isinstance(event, Directive)]
    assert args == ([{"v": loads(text)}] if accepted(text) else [])
