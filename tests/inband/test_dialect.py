"""`box harvest --dialect` and the setting: native calls of a reply, from the command line (GRAMMAR 9)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.inband.conftest import Box

REPLY = '<tool_call>{"name": "dm_send", "arguments": {"to": "ada", "text": "hi"}}</tool_call>\n'


def test_native_calls_are_taken_where_a_dialect_is_named(box: Box, tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_text(REPLY)
    assert box.json("harvest", str(file), "--dry-run")["calls"] == []
    for dialect in ("auto", "qwen3-hermes"):
        (call,) = box.json("harvest", str(file), "--dry-run", "--dialect", dialect)["calls"]
        assert (call["op"], call["args"]) == ("dm.send", {"to": "ada", "text": "hi"})
        assert (call["form"], call["span"]) == ("native", [0, len(REPLY) - 1])


def test_explain_marks_a_native_call(box: Box, tmp_path: Path) -> None:
    file = tmp_path / "reply.txt"
    file.write_text(REPLY)
    assert "native: calls dm.send" in box.run("harvest", str(file), "--explain", "--dialect", "auto").stdout


def test_a_thread_shows_the_content_of_a_native_reply_and_its_markup_only_in_json(running: Box) -> None:
    running.json("thread", "create", "natives", "--agent", "heron")
    running.run("thread", "post", "natives", f"<think>hm</think>I tell her.\n{REPLY}", "--as", "heron")
    reader = replace(running, variables={**running.variables, "BOX_HARVEST_DIALECT": "auto"})
    native = reader.run("thread", "show", "natives").stdout
    assert "I tell her." in native
    assert "(calls dm_send)" in native
    assert "tool_call" not in native
    assert "hm" not in native.split("heron", 1)[1]
    assert "<tool_call>" in running.json("thread", "show", "natives")["messages"][0]["body"]


def test_a_dialect_that_does_not_exist_is_named_with_those_that_do(box: Box) -> None:
    done = box.run("harvest", "--dry-run", "--dialect", "klingon", stdin=REPLY)
    assert (done.returncode, "no dialect 'klingon'; there are gpt-oss" in done.stderr) == (2, True), (
        done.stderr
    )
