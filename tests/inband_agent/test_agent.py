"""The reference agent as its host sees it: a process with stdin, frames and a directory of follow-ups."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inband_agent.model import ScriptedModel, Turn
from messaging.container import NANOCLAW, SCHEDULED_PREFIX, ContainerOutput, FileNames, Status
from tests.inband_agent._agent import ROOT, START, Agent

NAMES = [f"1796040000{number:03d}-abcdef.json" for number in range(5)]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(tmp_path)
    yield agent
    if agent.process:
        agent.process.kill()
        agent.process.wait()


def results(outputs: list[ContainerOutput]) -> list[str]:
    return [one.result for one in outputs if one.result is not None]


@pytest.mark.parametrize("stdin", ["", "{nope", "[]", json.dumps({"prompt": "x"}), '{"prompt": "\udc80"}'])
def test_bad_input_is_an_error_frame_and_exit_code_1(agent: Agent, stdin: str) -> None:
    # T-15
    stdin = stdin.encode("utf-8", "replace").decode()
    assert agent.start(stdin, agent.script()).ended() == 1
    (said,) = agent.outputs
    assert (said.status, said.result) == (Status.ERROR, None)
    assert said.error is not None
    assert said.error.startswith("Failed to parse input: ")


def test_a_session_answers_says_that_it_is_idle_takes_follow_ups_and_is_closed(agent: Agent) -> None:
    # T-25, T-26, T-27, T-29
    (agent.input / "_close").touch()  # of a session that is over
    agent.tell(NAMES[1], "second")
    agent.tell(NAMES[0], "first")
    agent.start(START, agent.script({"say": "got {prompt}", "pause_s": 0.3}))
    found = agent.idle()
    assert results(found) == ["got hello\nfirst\nsecond"]
    assert found[0].consumed_inputs == (NAMES[0], NAMES[1])  # T-10
    assert list(agent.input.iterdir()) == []

    agent.tell(NAMES[2], "third")
    found = agent.until(lambda found: len(results(found)) == 2 and found[-1].is_idle)
    assert results(found)[1] == "third"
    assert [one.consumed_inputs for one in found if one.result] == [(NAMES[0], NAMES[1]), (NAMES[2],)]
    assert {one.new_session_id for one in found} == {found[0].new_session_id}
    agent.close()
    assert agent.ended() == 0
    assert list(agent.input.iterdir()) == []


def test_follow_ups_during_a_turn_are_the_next_turn_without_idleness_between(agent: Agent) -> None:
    # T-27, T-29
    thinking = {"in": "tasks", "document": {}}
    agent.start(START, agent.script({"say": "one", "files": [thinking], "pause_s": 0.5}))
    agent.until(lambda _: (agent.root / "ipc" / "tasks").exists())
    agent.tell(NAMES[0], "a")
    agent.tell(NAMES[1], "b")
    found = agent.idle()
    assert [one.result for one in found] == ["one", "a\nb", None]
    agent.close()
    assert agent.ended() == 0


def test_a_scripted_turn_waits_for_the_words_that_it_answers() -> None:
    turns = [{"when": "room", "say": "done"}, {"when": "health", "say": "look"}, {"say": "whatever"}]
    model = ScriptedModel(turns, Path("/nowhere"), FileNames(lambda: 0, "0".zfill))
    told = ("health, please", "health", "there is room", "echo")
    assert [model.reply([Turn("user", one)]).text for one in told] == ["look", "whatever", "done", "echo"]


def test_what_arrives_with_the_end_of_the_session_stays_for_the_next_one(agent: Agent) -> None:
    # T-28
    agent.start(START, agent.script({"say": "one"}, {"say": "two"}))
    agent.idle()
    agent.close()
    agent.tell(NAMES[0], "late")
    agent.ended()
    left = [path.name for path in agent.input.iterdir()]
    assert left == [NAMES[0]] or len(results(agent.outputs)) == 2


def test_a_malformed_or_oversized_follow_up_is_put_away_once(agent: Agent, tmp_path: Path) -> None:
    # T-30, T-40
    outside = tmp_path / "outside"
    outside.write_text(json.dumps({"type": "message", "text": "secret"}))
    (agent.input / "1.json").write_text("{nope")
    (agent.input / "2.json").write_bytes(b'{"type":"message","text":"' + b"x" * (1 << 20) + b'"}')
    (agent.input / "3.json").symlink_to(outside)
    (agent.input / "4.json").mkdir()
    agent.tell(NAMES[0], "good")
    agent.start(START, agent.script())
    assert results(agent.idle()) == ["hello\ngood"]
    assert {path.name for path in (agent.input / "errors").iterdir()} == {
        "1.json",
        "2.json",
        "3.json",
        "4.json",
    }
    assert outside.exists()
    assert agent.log.count("no follow-up") == 4


def test_a_session_goes_on_where_it_was_and_an_ephemeral_one_leaves_nothing(agent: Agent) -> None:
    # T-16, T-19
    agent.close()
    agent.start(START, agent.script({"say": "one"}))
    session = agent.idle()[0].new_session_id
    agent.close()
    assert agent.ended() == 0
    kept = agent.root / "state" / "sessions" / f"{session}.jsonl"
    assert len(kept.read_text().splitlines()) == 2

    again = START | {"sessionId": session, "ephemeral": True}
    agent.start(again, agent.script({"say": "two"}))
    found = agent.idle()
    assert found[0].new_session_id == session
    assert found[0].usage is not None
    assert found[0].usage.input_tokens == 4  # the system's words, the turn of before, the question
    agent.close()
    assert agent.ended() == 0
    assert len(kept.read_text().splitlines()) == 2
    assert len(list(kept.parent.iterdir())) == 1


@pytest.mark.parametrize("session", ["gone", "../../etc/passwd", ""])
def test_a_session_that_is_lost_is_an_error_and_no_fresh_one(agent: Agent, session: str) -> None:
    assert agent.start(START | {"sessionId": session}, agent.script()).ended() == 1
    assert agent.outputs[0].error is not None
    assert "session" in agent.outputs[0].error


def test_a_prompt_of_a_timer_is_marked(agent: Agent) -> None:
    # T-21
    agent.start(START | {"isScheduledTask": True}, agent.script())
    assert results(agent.idle()) == [f"{SCHEDULED_PREFIX}\n\nhello"]


def test_the_other_dialect_of_markers_is_spoken_on_demand(agent: Agent) -> None:
    # T-01
    agent.start(START, agent.script(), "--markers=nanoclaw")
    agent.idle()
    assert (agent.root / "stdout").read_text().startswith(f"{NANOCLAW.start}\n")


def test_a_model_that_fails_ends_the_run_and_names_no_follow_up(agent: Agent) -> None:
    # T-10, T-28
    agent.tell(NAMES[0], "please")
    assert agent.start(START, agent.script({"fail": "model unreachable"})).ended() == 1
    (said,) = agent.outputs
    assert (said.status, said.error, said.consumed_inputs) == (Status.ERROR, "model unreachable", None)


def test_a_failure_names_no_session_that_is_not_there_for_the_next_try(agent: Agent) -> None:
    # T-10, T-28
    failing = agent.script({"fail": "model unreachable"})
    assert agent.start(START, failing).ended() == 1
    assert agent.outputs[0].new_session_id is None
    agent.tell(NAMES[0], "again")
    agent.start(START, agent.script({"say": "heard"}, {"fail": "model unreachable"}))
    agent.idle()
    agent.tell(NAMES[1], "more")
    assert agent.ended() == 1
    heard, _, failed = agent.outputs
    assert failed.new_session_id == heard.new_session_id is not None


def test_without_a_model_the_error_says_how_to_get_one(agent: Agent) -> None:
    # T-16
    assert agent.start(START).ended() == 1
    assert "llm" in (agent.outputs[0].error or "")


def test_a_script_of_a_model_that_is_none_is_named(agent: Agent) -> None:
    file = agent.root / "bad.json"
    file.write_text('{"turns": 3}')
    assert agent.start(START, f"--script={file}").ended() == 1
    assert str(file) in (agent.outputs[0].error or "")


def files_in(agent: Agent, *documents: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"in": "tasks", "document": document} for document in documents]


def test_a_scripted_agent_writes_files_as_an_agent_with_tools_does(agent: Agent) -> None:
    # T-35, T-36
    turn = {"say": "done", "files": files_in(agent, {"type": "refresh_groups"}, {"type": "x"})}
    agent.start(START, agent.script(turn))
    agent.idle()
    written = sorted((agent.root / "ipc" / "tasks").iterdir())
    assert [json.loads(path.read_text())["type"] for path in written] == ["refresh_groups", "x"]


def test_an_agent_whose_host_dies_ends_and_takes_nothing_more(agent: Agent) -> None:
    # T-28, T-86
    (agent.root / "stdin").write_text(json.dumps(START))
    reading, writing = os.pipe()
    with (agent.root / "stdin").open() as given:
        agent.process = subprocess.Popen(
            agent.argv(agent.script()), stdin=given, stdout=writing, stderr=subprocess.DEVNULL, cwd=ROOT
        )
    os.close(writing)
    with os.fdopen(reading, "rb") as frames:
        until = iter(frames.readline, b"")
        assert list(itertools.islice(until, 6))[4].startswith(b'{"status": "success", "result": null')
    assert agent.ended() == 0
    agent.tell(NAMES[0], "too late")
    assert len(list(agent.input.iterdir())) == 1
