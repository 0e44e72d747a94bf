"""A reply without a complete call leaves nothing behind: no answer, no row, no audit line."""

from __future__ import annotations

from pathlib import Path

from messaging import Message
from tests.soak._parts import Parts, wait_until

BROKEN = """\
[TOOL dm.send {"to": "ada", "text": "half}]

[TOOL dm.send {"to": "ada", "text": 'x'}]

[DM hello]

> [DM {"to": "ada", "text": "quoted"}]

```json
[DM {"to": "ada", "text": "fenced"}]
```"""
GOOD = '[DM {"to": "ada", "text": "good"}]'


def rows(parts: Parts) -> dict[str, int]:
    """How many rows each table of the store has."""
    tables = [name for (name,) in parts.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: parts.rows(f'SELECT count(*) FROM "{name}"')[0][0] for name in tables}


def reply(parts: Parts, body: str) -> Message:
    """A reply of heron that the watcher has dealt with."""
    with parts.client() as client, parts.client("harvester") as harvester:
        posted = client.post_message("heron", body, as_agent="heron").message
        wait_until(lambda: harvester.cursor("watcher") >= posted.position, 30.0, "the watcher")
        return posted


def test_broken_quoted_and_bare_directives_leave_the_reply_itself_and_nothing_else(tmp_path: Path) -> None:
    # O-10, O-09, O-15
    with Parts(tmp_path) as parts:
        with parts.client() as client:
            for name in ("heron", "ada"):
                client.add_agent(name)
        reply(parts, "Nothing to do.")
        before = rows(parts)
        broken = reply(parts, BROKEN)
        after = rows(parts)
        assert {name: after[name] - before[name] for name in after if after[name] != before[name]} == {
            "messages": 1
        }
        reply(parts, f"{BROKEN}\n\n{GOOD}")
        with parts.client() as client:
            assert [one.body for one in client.messages("ada")] == ["good"]
            assert [one.kind for one in client.messages("heron", after=broken.seq)] == [
                "text",
                "directive_result",
            ]
